# teaches: all guards of one must hold
ANSWERS = {
    "construction": ["f", "__init__"],
    "a_property": ["f", "area"],
    "recursion_below_c": ["depth", "depth", "depth", "depth"],
    "generator": ["f", "twice", "twice"],
    "star_arguments": [1, 2, 3, (), {"d": 4}],
    "skipped": ["f", "inner", "inner"],
    "first_that_fits": ["above 5", "between", "between", "Python"],
    "another_region": ["replaced", "Python"],
    "replacement": ["other", "helper"],
}

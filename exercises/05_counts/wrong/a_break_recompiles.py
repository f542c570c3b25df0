# teaches: A break is part of what was compiled
ANSWERS = {
    "graphs of plain": 1,
    "breaks of plain": 0,
    "graphs of branch": 3,
    "breaks of branch": 3,
    "graphs of branch, another size": 4,
    "recompiles of branch, another size": 1,
    "graphs of at_the_end": 1,
    "recompiles of at_the_end": 0,
    "graphs of loop": 2,
    "breaks of outer": 2,
    "graphs of outer": 4,
    "graphs of scaled": 4,
    "recompiles of scaled": 2,
}

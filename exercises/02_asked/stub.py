"""What is the hook asked, and what runs? Replace each None by what the function returns.

(`abs(-1)`, as Python 3.12 has nothing to replace in a function that returns a constant only.)
"""

from minicompiler.capture import frame_hook

ANSWERS = {
    "construction": None,  # a list of names
    "a_property": None,
    "recursion_below_c": None,
    "generator": None,
    "star_arguments": None,  # the vector, a list
    "skipped": None,
    "first_that_fits": None,
    "another_region": None,
    "replacement": None,
}


def python(code, function, vector):
    """A callback that lets Python run each frame."""


def see(f, *args):
    """Names of the frames that are offered while f runs."""
    seen = []
    frame_hook.run(lambda code, function, vector: seen.append(code.co_name), "mine", f, *args)
    return seen


def construction():
    class Point:
        def __init__(self, x):
            self.x = x

    def f():
        return Point(3)

    return see(f)


def a_property():
    class Square:
        side = 3

        @property
        def area(self):
            return self.side**2

    def f(square):
        return square.area + square.side

    return see(f, Square())


def recursion_below_c():
    def depth(tree):
        return 1 + max(map(depth, tree), default=0)

    return see(depth, [[], [[]]])


def generator():
    def twice(n):
        return 2 * n

    def f():
        def numbers():
            yield twice(1)
            yield twice(2)

        return list(numbers())

    return see(f)


def star_arguments():
    def f(a, b=2, *rest, c=3, **named):
        return a

    found = []
    frame_hook.run(lambda code, function, vector: found.extend(vector), "mine", f, 1, d=4)
    return found


def skipped():
    def inner():
        return abs(-1)

    def middle():
        return inner()

    def f():
        return middle() + inner()

    frame_hook.skip(middle.__code__)
    return see(f)


def first_that_fits():
    def f(x):
        return "Python".strip()

    entries = [
        ("mine", (lambda x: x > 5,), lambda x: "above 5"),
        ("mine", (lambda x: x > 3, lambda x: x < 10), lambda x: "between"),
        ("mine", (lambda x: x > 0,), lambda x: "positive"),
    ]
    frame_hook.replace(f.__code__, entries)
    return [frame_hook.run(python, "mine", f, x) for x in (7, 4, 1, -1)]


def another_region():
    def f():
        return "Python".strip()

    frame_hook.replace(f.__code__, [("mine", (), lambda: "replaced")])
    return [frame_hook.run(python, region, f) for region in ("mine", "yours")]


def replacement():
    def helper():
        return abs(-1)

    def other():
        return helper()

    def f():
        return abs(-2)

    frame_hook.replace(f.__code__, [("mine", (), other)])
    return see(f)


if __name__ == "__main__":
    for name in ANSWERS:
        print(name, globals()[name]())

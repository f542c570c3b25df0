"""A compiler without a hook: it sees the function it is given, and no other."""

import functools


def compile(f):
    @functools.wraps(f)
    def run(*args):
        print("could compile", f.__name__)
        return f(*args)

    return run


def scale(x):
    return x * 2


@compile
def f(x):
    return scale(x) + 1


if __name__ == "__main__":
    print(f(3))

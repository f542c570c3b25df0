"""Constants that are equal, or are not, to Python and to a program."""

CALLS = 4

HEAD = """
import math
import torch

"""

CASES = [
    (
        "Equal numbers of different types are different constants; equal ones of one type are one.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2, dtype=torch.int64), (1, True, 1.0, 1)[k]

def f(x, k):
    return x * k
""",
    ),
    (
        "A set with True is equal to one with 1, and yet another constant.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), {(1, True, 1.0, 1)[k]}

def f(x, numbers):
    return x + 1, [type(n).__name__ for n in numbers]
""",
    ),
    (
        "0.0 and -0.0 are equal, and yet a program can tell them apart.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), (0.0, -0.0, 0.0, -0.0)[k]

def f(x, k):
    return x + 1, math.copysign(1.0, k)
""",
    ),
    (
        "A nan equals nothing, not even itself, and is the same constant at each call.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), float("nan")

def f(x, k):
    return x * k
""",
    ),
    (
        "There are nans with a sign, and no == tells it.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), math.copysign(float("nan"), (-1) ** k)

def f(x, k):
    return x + 1, math.copysign(1.0, k)
""",
    ),
    (
        "A complex number is two floats, and either may be a zero with a sign.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), complex(1.0, (0.0, -0.0, 0.0, -0.0)[k])

def f(x, k):
    return x + 1, math.copysign(1.0, k.imag)
""",
    ),
    (
        "Inside of a container a constant is compared as it is alone.",
        HEAD
        + """
def inputs(k):
    return torch.ones(2), {(0.0, -0.0, 0.0, -0.0)[k]}

def f(x, numbers):
    return x + 1, [math.copysign(1.0, n) for n in numbers]
""",
    ),
]

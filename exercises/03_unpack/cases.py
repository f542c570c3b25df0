"""Programs from simple to hard; the lesson of each is told where it goes wrong."""

HEAD = """
import torch

seen = []

def inputs(k):
    return torch.arange(4.0) + k, [1, 2, 3, 4 + k]
"""

CASES = [
    (
        "The names before the star take the first items, in order.",
        HEAD
        + """
def f(x, items):
    a, b, *rest = items
    return x * a + b, rest
""",
    ),
    (
        "The names after the star take the last items, in order.",
        HEAD
        + """
def f(x, items):
    a, *rest, y, z = items
    return x * y, a, z, rest
""",
    ),
    (
        "The star makes a list, whatever the iterable is, and another one each time.",
        HEAD
        + """
def f(x, items):
    a, *rest = (x, x + 1, 3)
    rest.append(a)
    seen.append(type(rest).__name__)
    return rest
""",
    ),
    (
        "The middle may be empty.",
        HEAD
        + """
def f(x, items):
    a, *rest, b = items[:2]
    return x + a, b, rest
""",
    ),
    (
        "Any iterable is unpacked, and a generator is asked for one item after the other.",
        HEAD
        + """
def numbers(n):
    for k in range(n):
        seen.append(k)
        yield k

def f(x, items):
    a, *rest, b = numbers(4)
    return x * b, a, rest
""",
    ),
    (
        "Too few items raise ValueError, at this place and no other.",
        HEAD
        + """
def f(x, items):
    y = x * 2
    try:
        a, b, *rest, c = items[:2]
    except ValueError as error:
        seen.append(str(error))
        return y
    return y + a
""",
    ),
]

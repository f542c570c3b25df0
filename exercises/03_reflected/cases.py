"""Programs from simple to hard; the lesson of each is told where it goes wrong."""

HEAD = """
import torch

seen = []

def inputs(k):
    return (torch.arange(4.0) + k,)

class Base:
    def __init__(self, n):
        self.n = n

    def ask(self, name, other):
        seen.append((type(self).__name__, name, getattr(other, "n", other)))
        return NotImplemented if self.n < 0 else self.n

    def __add__(self, other):
        return self.ask("add", other)

    def __radd__(self, other):
        return self.ask("radd", other)

    def __lt__(self, other):
        return self.ask("lt", other)

    def __gt__(self, other):
        return self.ask("gt", other)

    def __eq__(self, other):
        return self.ask("eq", other)

class Plain(Base):
    pass

class Own(Base):
    def __radd__(self, other):
        return self.ask("own radd", other)

class Other(Base):
    pass

class Grows(Base):
    def __iadd__(self, other):
        seen.append("iadd")
        return self if self.n > 1 else NotImplemented
"""

CASES = [
    (
        "The left operand is asked first; what it answers is the result.",
        HEAD
        + """
def f(x):
    return x * (Base(2) + 3), x + (Base(4) < 1)
""",
    ),
    (
        "Where the left operand has no answer, the reflected method of the right one is asked.",
        HEAD
        + """
def f(x):
    return x * (1 + Base(2)), x * (Plain(-1) + Other(5)), x * (1 < Base(3))
""",
    ),
    (
        "For arithmetic, a subclass on the right is asked first.",
        HEAD
        + """
def f(x):
    return x * (Base(2) + Own(3))
""",
    ),
    (
        "It is asked first only with a reflected method of its own.",
        HEAD
        + """
def f(x):
    return x * (Base(2) + Plain(3))
""",
    ),
    (
        "Of two of one class the left one alone is asked.",
        HEAD
        + """
def f(x):
    try:
        return x * (Base(-1) + Base(3))
    except TypeError:
        return x - 1
""",
    ),
    (
        "A comparison of two of one class may ask both.",
        HEAD
        + """
def f(x):
    y = x.sin()
    return y * (Base(-1) < Base(3))
""",
    ),
    (
        "A method for += is asked before all others.",
        HEAD
        + """
def f(x):
    a, b = Grows(2), Grows(1)
    a += 5
    b += 6
    return x * a.n, x * b
""",
    ),
    (
        "Without any answer, == compares identity.",
        HEAD
        + """
def f(x):
    a = Base(-1)
    return x * (a == a) + (a == Base(-2)), a != a
""",
    ),
    (
        "A comparison asks the right one first if it is of a subclass, whoever defines the method.",
        HEAD
        + """
def f(x):
    return x * (Base(2) < Plain(3)), Base(1) == Plain(4)
""",
    ),
]

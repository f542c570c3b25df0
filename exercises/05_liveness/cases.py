"""Functions that break, and what is read behind it."""

HEAD = """
import minicompiler
import torch

seen = []

def inputs(k):
    return (torch.arange(3.0) + k,)

"""

CASES = [
    (
        "What is read behind a break is handed over.",
        HEAD
        + """
def f(x):
    y, z = x + 1, x * 2
    seen.append(y.sum().item())
    return y - z
""",
    ),
    (
        "What one of two ways writes anew, the other way still reads.",
        HEAD
        + """
def f(x):
    y, z = x + 1, x * 2
    if y.sum() > 7:
        z = y * 3
    return y - z
""",
    ),
    (
        "What is not read any more is not handed over, so nobody has to be able to make it again.",
        HEAD
        + """
def numbers(n):
    for i in range(n):
        yield i

def f(x):
    steps = numbers(4)
    y = x + next(steps) + next(steps)
    if y.sum() > 0:
        y = y * 2
    return y.sin()
""",
    ),
    (
        "A store ends the life of what was there before; and a new one begins.",
        HEAD
        + """
def numbers(n):
    for i in range(n):
        yield i

def f(x):
    x = x * 2
    a = numbers(4)
    y = x + next(a)
    if y.sum() > 0:
        y = y * 2
    a = y * 3
    return y + a
""",
    ),
    (
        "In a loop the next turn may read it.",
        HEAD
        + """
def f(x):
    step, y = x * 2, x + 1
    for k in range(3):
        if y.sum() > 5 * k:
            y = y + step
        step = step + 1
    return y.sin()
""",
    ),
    (
        "An exception handler may read it, too.",
        HEAD
        + """
@minicompiler.disable
def check(y):
    if y.sum() > 0:
        raise ValueError("positive")

def f(x):
    y, z = x * 2, x - 1
    try:
        check(y)
    except ValueError as error:
        seen.append(str(error))
        return z
    return y + 1
""",
    ),
    (
        "`del` needs the variable that it deletes.",
        HEAD
        + """
def f(x):
    y, z = x + 1, x * 2
    if y.sum() > 0:
        y = y * 2
    del z
    return y.sin()
""",
    ),
    (
        "super() reads the first argument, and no instruction says so.",
        HEAD
        + """
class Base:
    def scale(self, x):
        return x * 2

class Module(Base):
    def scale(self, x):
        y = x + 1
        seen.append(y.sum().item())
        return super().scale(y)

module = Module()

def f(x):
    return module.scale(x) + 1
""",
    ),
]

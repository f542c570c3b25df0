"""Functions whose graph breaks, where more and more is at hand."""

HEAD = """
import sys
import minicompiler
import torch

seen = []

def inputs(k):
    return (torch.arange(3.0) + k,)

@minicompiler.disable
def say(value):
    seen.append(value)
    return value

"""

CASES = [
    (
        "The live variables are arguments, and each way behind the break is a graph of its own.",
        HEAD
        + """
def f(x):
    y, z = x + 1, x * 2
    if y.sum() > 7:
        return y.sin() - z
    return y.cos() + z
""",
    ),
    (
        "What waits on the stack is pushed again, the lowest first, and so is an empty slot.",
        HEAD
        + """
def f(x):
    y = [x + 1, (x * 2, say("told")), {"k": x - 1}]
    return y, x.sin()
""",
    ),
    (
        "Values and empty slots may lie in any order.",
        HEAD
        + """
def both(a, b, c):
    return a - b, c

def f(x):
    return both(x + 1, x * 2, say("told")), x.sin()
""",
    ),
    (
        "The made function takes each of its arguments by itself, whatever the program's takes.",
        HEAD
        + """
def f(*args, **named):
    (x,) = args
    y = x * 2
    say(len(named))
    return y + x, named
""",
    ),
    (
        "A variable that an inner function shares is shared behind the break as well.",
        HEAD
        + """
def outer(total):
    def f(x):
        nonlocal total
        count = x * 2

        def add(y):
            nonlocal count
            count = count + y
            return count

        total = total + x
        say("told")
        add(x)
        total = total + count
        return add(total), count

    return f

f = outer(torch.zeros(3))
""",
    ),
    (
        "What is raised in the landing meets the handlers that were written around it.",
        HEAD
        + """
@minicompiler.disable
def check(y):
    if y.sum() > 7:
        raise ValueError("more than 7")

def f(x):
    y = x + 1
    for z in (1, 2):
        pass
    try:
        check(y * z)
    except ValueError as error:
        say(str(error))
        return y - 1
    finally:
        y = y * 3
    return y.sin()
""",
    ),
    (
        "A loop that breaks runs in the landing as a whole, and is left by exits of its own.",
        HEAD
        + """
def f(x):
    y = x + 1
    for k in range(4):
        y = y * 2
        if y.sum() > 60:
            break
    else:
        return y.cos() - 1
    return y.sin() + 1
""",
    ),
    (
        "In a traceback the made function is the program's: its name, its file, its lines.",
        HEAD
        + """
@minicompiler.disable
def who():
    frame = sys._getframe(0)
    while frame is not None:
        if frame.f_code.co_filename == "<program>":
            seen.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back

def last(x):
    y = x * 2
    who()
    return y - x

def f(x):
    y = last(x + 1)
    return y.sin()
""",
    ),
]

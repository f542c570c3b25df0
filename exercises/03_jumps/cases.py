"""Programs from simple to hard; the lesson of each is told where it goes wrong."""

HEAD = """
import torch

seen = []

def inputs(k):
    return torch.arange(4.0) + k, k
"""

CASES = [
    (
        "A branch goes to one side: what the side not taken does is not in the graph.",
        HEAD
        + """
def f(x, k):
    if k < 1:
        y = x * 2
    else:
        y = x - 1
    return y.sin()
""",
    ),
    (
        "A loop is unrolled: one turn for each item, then it goes on after the loop.",
        HEAD
        + """
def f(x, k):
    for n in (1, 2, 3):
        x = x * n
    return x + k
""",
    ),
    (
        "At the end of a loop its iterator leaves the stack; what lies below is on top again.",
        HEAD
        + """
def f(x, k):
    for a in (1, 2):
        for b in (3, 4):
            if b > a + 2:
                continue
            x = x * a + b
    else:
        x = x.cos()
    return x
""",
    ),
    (
        "`or` and `and` have a value: the one that decided stays, the other one is popped.",
        HEAD
        + """
def f(x, k):
    scale = k or 3.0
    shift = k and 5.0
    return x * scale + shift, (k or None), (k > 5 and x)
""",
    ),
    (
        "Whether something is None is another question than whether it is true.",
        HEAD
        + """
def f(x, k):
    def scaled(by=None):
        return x.exp() if by is None else x * by
    return scaled(), scaled(0), scaled([]) if k is None else scaled(2)
""",
    ),
    (
        "Each value is asked once, in the order of the program.",
        HEAD
        + """
class Full:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        seen.append(("bool", self.n))
        return self.n > 1

class Sized:
    def __len__(self):
        seen.append("len")
        return 0

def f(x, k):
    if Full(1) or Full(2) and not Full(3):
        x = x * 2
    while not Sized():
        x = x + 1
        break
    return x
""",
    ),
    (
        "A branch on the value of a tensor breaks the graph, and takes the side that eager takes.",
        HEAD
        + """
def f(x, k):
    y = x * 2
    if y.sum() > 13:
        return y.sin()
    return y.cos()
""",
    ),
    (
        "An assertion on a tensor need not break the graph: the graph checks it.",
        HEAD
        + """
def f(x, k):
    y = x * 2
    assert y.sum() > 1
    return y.sin()
""",
    ),
    (
        "Where the assumption does not hold, the exception is eager's.",
        HEAD
        + """
def f(x, k):
    y = x * 2
    assert y.sum() < 13, "large"
    return y.sin()
""",
    ),
    (
        "The side that raises may be the one for True: then the graph checks that it is false.",
        HEAD
        + """
def f(x, k):
    if (x > 3.5).any():
        raise ValueError("large")
    return x.sin()
""",
    ),
    (
        "A tensor of several elements has no truth, and Python says so.",
        HEAD
        + """
def f(x, k):
    y = x * 2
    try:
        assert y > 1
    except RuntimeError as error:
        seen.append(str(error)[:20])
    return y
""",
    ),
]

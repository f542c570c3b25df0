"""What a frame meets, and what changes of it between two calls."""

CALLS = 4

HEAD = """
import torch

seen = []
x = torch.ones(2)

class Box:
    def __init__(self, value):
        self.value = value

    def scale(self, x):
        return x * self.value

"""

CASES = [
    (
        "A tensor is an input of the graph, as long as it looks the same.",
        HEAD
        + """
def inputs(k):
    return (torch.ones(2 + k // 2, dtype=(torch.float32, torch.float64)[k % 2]),)

def f(x):
    return x * len(x)
""",
    ),
    (
        "Another object of the class serves as well; only what is read of it is compared.",
        HEAD
        + """
def inputs(k):
    return x + k, Box((2.0, 2.0, 3.0, 2.0)[k])

def f(x, box):
    return x * box.value
""",
    ),
    (
        "An object of another class is another matter, whatever is in it.",
        HEAD
        + """
def inputs(k):
    return x + k, ([2.0, 3.0], (2.0, 3.0))[k % 2]

def f(x, items):
    return x * items[0] if isinstance(items, list) else x - items[1]
""",
    ),
    (
        "A function is evaluated where it is called. Another one of its name is another program.",
        HEAD
        + """
def double(x):
    return x * 2

def negate(x):
    return -x

def inputs(k):
    global helper
    helper = (double, double, negate, double)[k]
    return (x + k,)

def f(x):
    return helper(x)
""",
    ),
    (
        "A class or a module is known by what it is, not by its type.",
        HEAD
        + """
class Other(Box):
    def scale(self, x):
        return x - self.value

def inputs(k):
    global cls
    cls = (Box, Other)[k % 2]
    return (x + k,)

def f(x):
    return cls(3.0).scale(x)
""",
    ),
    (
        "A bound method is a function and an object, each read by a way of its own.",
        HEAD
        + """
def inputs(k):
    global method
    method = Box((2.0, 2.0, 3.0, 3.0)[k]).scale
    return (x + k,)

def f(x):
    return method(x)
""",
    ),
    (
        "A bound method of C's is one, too; its name says which, and its object may be another.",
        HEAD
        + """
def inputs(k):
    global take
    items = [1.0, 5.0]
    take = (items.count, items.index)[k // 2]
    return (x + k,)

def f(x):
    return x * take(5.0)
""",
    ),
    (
        "Sequences: the length is compared where it is known, items where they are read.",
        HEAD
        + """
def inputs(k):
    return x + k, [2.0, k], (3.0, Box(k), *range(k // 2))

def f(x, items, more):
    return x * items[0] + more[0]
""",
    ),
    (
        "Dictionaries are read key by key.",
        HEAD
        + """
def inputs(k):
    return x + k, {"scale": 2.0 + k // 2, f"key {k}": k}

def f(x, options):
    return x * options.get("scale", 1.0)
""",
    ),
    (
        "A set is compared as a whole: it has no way to each of its items.",
        HEAD
        + """
def inputs(k):
    return x + k, {1.0, 2.0 + k // 2}

def f(x, numbers):
    return x * 2 if 3.0 in numbers else x
""",
    ),
    (
        "A function made anew is another one, though its code is the same.",
        HEAD
        + """
def make(scale):
    def f(x):
        return x * scale

    return f

def inputs(k):
    global scaled
    scaled = make((2.0, 2.0, 3.0, 2.0)[k])
    return (x + k,)

def f(x):
    return scaled(x)
""",
    ),
]

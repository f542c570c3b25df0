"""What a frame writes, of each kind that there is."""

CALLS = 3

HEAD = """
import logging
from collections import deque

import torch

seen = []
x = torch.ones(2)

"""

CASES = [
    (
        "A dictionary, and the attributes of an object, which lie in one.",
        HEAD
        + """
class Box:
    pass

table, box = {"a": 1, "b": 2}, Box()

def inputs(k):
    seen.append((dict(table), dict(vars(box))))
    return (x + k,)

def f(x):
    table["c"] = x + 1
    box.value = x * 2
    return x
""",
    ),
    (
        "A list keeps its identity and gets new contents, in place of the old.",
        HEAD
        + """
items = [3, 1, 2]
same = items

def inputs(k):
    seen.append(list(same))
    return (x + k,)

def f(x):
    items.sort()
    items[0] = 5 - items[2]
    items.insert(1, items.pop())
    return x + items[0]
""",
    ),
    (
        "What was only appended to was not read: what is in it, and how much, is no matter.",
        HEAD
        + """
items = [1]

def inputs(k):
    seen.append(len(items))
    return (x + k,)

def f(x):
    items.append(x + 1)
    items.extend([2, 3])
    return x * 2
""",
    ),
    (
        "The methods of a subclass ran while evaluating; replaying is for the builtin's.",
        HEAD
        + """
class Noisy(list):
    def clear(self):
        seen.append("clear")
        super().clear()

    def append(self, item):
        seen.append("append")
        super().append(item)

    def extend(self, items):
        seen.append("extend")
        super().extend(items)

items = Noisy([1, 2])

def inputs(k):
    seen.append(len(items))
    return (x + k,)

def f(x):
    items.append(3)
    items.reverse()
    return x + len(items)
""",
    ),
    (
        "A queue is a list, too, and has methods of its own class.",
        HEAD
        + """
queue = deque([1, 2, 3], maxlen=3)

def inputs(k):
    seen.append((list(queue), queue.maxlen))
    return (x + k,)

def f(x):
    queue.appendleft(4)
    queue.rotate(1)
    return x + queue[0]
""",
    ),
    (
        "A set is led through the steps that the program took.",
        HEAD
        + """
names = {"a", "b"}

def inputs(k):
    seen.append(set(names))
    return (x + k,)

def f(x):
    names.add("c")
    names.discard("a")
    names.update(["d", "e"])
    names.remove("e")
    return x + len(names)
""",
    ),
    (
        "A variable that closures share is a cell, which is written like an object.",
        HEAD
        + """
def make(total):
    def f(x):
        nonlocal total
        total = total + x
        return total * 2

    def look():
        seen.append(total)

    return f, look

f, look = make(torch.zeros(2))

def inputs(k):
    look()
    return (x + k,)
""",
    ),
    (
        "A cell can also be left empty.",
        HEAD
        + """
def make(total):
    def f(x):
        nonlocal total
        y = x + total
        del total
        return y

    def put(k):
        nonlocal total
        try:
            seen.append(total)
        except NameError:
            seen.append("unbound")
        total = 5

    return f, put

f, put = make(1)

def inputs(k):
    put(k)
    return (x + k,)
""",
    ),
    (
        "Slots are fields of the object, and lie in no dictionary.",
        HEAD
        + """
class Point:
    __slots__ = ("x", "y")

point = Point()
point.x, point.y = 1, 2

def inputs(k):
    seen.append((point.x, point.y))
    return (x + k,)

def f(x):
    point.y = x + point.x
    point.x = 7
    return x * 2
""",
    ),
    (
        "`__setattr__` of the program's ran while evaluating, and does not run again.",
        HEAD
        + """
class Point:
    __slots__ = ("x",)

    def __setattr__(self, name, value):
        seen.append(name)
        object.__setattr__(self, name, value)

point = Point()

def inputs(k):
    return (x + k,)

def f(x):
    point.x = x + 1
    return x * 2
""",
    ),
    (
        "A call whose only result is output waits until the graph has run, and is made then.",
        HEAD
        + """
class Keep:
    level = 0

    def handle(self, record):
        seen.append(record.getMessage())

log = logging.Logger("exercise", logging.INFO)
log.addHandler(Keep())

def inputs(k):
    return (x + k,)

def f(x):
    y = x + 1
    log.info("first")
    log.info("then")
    return y * 2
""",
    ),
]

"""What a frame writes to dictionaries and to attributes, which lie in dictionaries."""

CALLS = 3

HEAD = """
import torch

seen = []
x = torch.ones(2)

class Box:
    pass

"""

CASES = [
    (
        "Keys that were stored are stored again, in the order of the first time.",
        HEAD
        + """
table = {}

def inputs(k):
    seen.append(list(table))
    return (x + k,)

def f(x):
    table["c"] = x + 1
    table["b"] = 5
    table["c"] = x * 2
    return x
""",
    ),
    (
        "What the frame did not look at stays, whatever it is.",
        HEAD
        + """
table, box = {"a": 1}, Box()

def inputs(k):
    table[f"key {k}"] = k
    setattr(box, f"name_{k}", k)
    seen.append((dict(table), list(vars(box))))
    return (x + k,)

def f(x):
    table["b"] = x + 1
    box.value = x * 2
    return x
""",
    ),
    (
        "What was deleted is gone.",
        HEAD
        + """
table, box = {}, Box()

def inputs(k):
    seen.append((list(table), list(vars(box))))
    table.update(a=1, b=2)
    box.value = 3
    return (x + k,)

def f(x):
    del table["a"], box.value
    table["c"] = x + 1
    return x
""",
    ),
    (
        "What was deleted and stored again comes last.",
        HEAD
        + """
table, box = {"a": 1, "b": 2}, Box()
box.first, box.second = 1, 2

def inputs(k):
    seen.append((list(table), list(vars(box))))
    return (x + k,)

def f(x):
    table["a"] = table.pop("a")
    first = box.first
    del box.first
    box.first = x + first
    return x
""",
    ),
    (
        "The methods of a subclass ran while evaluating; replaying is for the builtin's.",
        HEAD
        + """
class Noisy(dict):
    def __setitem__(self, key, value):
        seen.append(key)
        dict.__setitem__(self, key, value)

table = Noisy(a=1)

def inputs(k):
    return (x + k,)

def f(x):
    table["b"] = x + 1
    return x
""",
    ),
    (
        "`__setattr__` of the program's ran while evaluating, and does not run again.",
        HEAD
        + """
class Logged:
    def __setattr__(self, name, value):
        seen.append(name)
        object.__setattr__(self, name, value)

box = Logged()

def inputs(k):
    return (x + k,)

def f(x):
    box.a = x + 1
    box.b = box.a * 2
    return x
""",
    ),
    (
        "An object's dictionary may have a key that an attribute of the class hides.",
        HEAD
        + """
class Hiding:
    @property
    def a(self):
        return "of the class"

    @a.setter
    def a(self, value):
        seen.append("set")

box = Hiding()

def inputs(k):
    seen.append(list(vars(box)))
    return (x + k,)

def f(x):
    vars(box)["a"] = x + 1
    return x
""",
    ),
]

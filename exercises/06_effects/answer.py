import random
from collections import deque

import torch


class World:
    """What a program may write to, and what was heard of it."""

    def __init__(self):
        self.heard = []
        self.items, self.queue = [3.0, 1.0, 2.0], deque([1, 2], maxlen=3)
        self.table, self.names = {"a": 1, "b": 2, "c": 3}, {"a", "b"}
        self.noisy, self.logged, self.point = Noisy(self), Logged(self), Point()
        self.box = Box()


class Box:
    pass


class Noisy(dict):
    def __init__(self, world):
        self.world = world

    def __setitem__(self, key, value):
        self.world.heard.append(key)
        dict.__setitem__(self, key, value)


class Logged:
    def __init__(self, world):
        object.__setattr__(self, "world", world)

    def __setattr__(self, name, value):
        self.world.heard.append(name)
        object.__setattr__(self, name, value)


class Point:
    __slots__ = ("x", "y")


def lists(x, w):
    w.items.sort()
    w.items.append(x + 1)
    return w.items


def queues(x, w):
    w.queue.append(5)
    made = deque([x + 1], maxlen=1)
    made.append(2)
    return made


def tables(x, w):
    w.table["a"] = w.table.pop("a")
    w.table["d"] = x + 1
    return {"kept": w.table, "again": w.table}


def deletes(x, w):
    del w.table["c"]
    return x + 1


def sets(x, w):
    w.names.add("c")
    w.names.discard("a")
    return x * len(w.names)


def hooks(x, w):
    w.noisy["key"] = x * 2
    w.logged.name = x * 3
    return x + 1


def slots(x, w):
    w.point.x = x + 1
    w.point.y = 2
    return x * 2


def made(x, w):
    box, inner = Box(), [x + 1]
    box.first, box.second = inner, inner
    box.itself = box
    w.box.made = box
    return [box, box, [x + 1]]


def shared(x, w):
    count, other = x, x + 1

    def add(y):
        nonlocal count, other
        count = count + y
        other = other * 2
        return count

    def look():
        return count, other

    add(x * 2)
    return add, look, add(x)


def half(x, w):
    steps = iter([1, 2, 3])
    return x + next(steps), steps


def used(found):
    """What can be learned of a result by using it."""
    if isinstance(found, tuple) and callable(found[0]):
        return [found[0](torch.ones(2)), found[1](), found[2]]
    if isinstance(found, tuple) and hasattr(found[1], "__next__"):
        return [found[0], *found[1]]
    if isinstance(found, deque):
        return [*found, found.maxlen]
    return found


def seen(of, numbers):
    """All that can be seen from an object; one that is met again is only numbered."""
    if isinstance(of, (int, float, str, type(None), torch.Tensor)):
        return str(of)
    if id(of) in numbers:
        return f"object {numbers[id(of)]}"
    numbers[id(of)] = len(numbers)
    held = [type(of).__name__]
    if isinstance(of, dict):
        held += [(seen(k, numbers), seen(v, numbers)) for k, v in of.items()]
    elif isinstance(of, (list, tuple, deque)):
        held += [seen(i, numbers) for i in of]
    elif isinstance(of, set):
        held += sorted(map(str, of))
    for name, value in vars(of).items() if hasattr(of, "__dict__") else ():
        held.append((name, seen(value, numbers)))
    for name in getattr(type(of), "__slots__", ()):
        held.append((name, seen(getattr(of, name, None), numbers)))
    return held


def check(compile, rng: random.Random) -> None:
    for f in (lists, queues, tables, deletes, sets, hooks, slots, made, shared, half):
        compiled = compile(f)
        for k in range(3):
            worlds = World(), World()
            x = torch.ones(2) * k
            found = [used(g(x, w)) for g, w in zip((compiled, f), worlds)]
            mine, right = (seen([r, w], {}) for r, w in zip(found, worlds))
            assert mine == right, f"{f.__name__}: {mine} for {right}"

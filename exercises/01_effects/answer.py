import contextlib
import io

import torch


class Thing:
    pass


class World:
    def __init__(self):
        self.items, self.table, self.thing = [3, 4], {"a": 1, "b": 2, "c": 3}, Thing()
        self.set = {1, 2}
        self.count, self.counts = counter()
        self.out = io.StringIO()

    def __str__(self):
        parts = self.items, list(self.table.items()), vars(self.thing), sorted(self.set)
        return str((*parts, self.counts(), self.out.getvalue()))


def counter():
    n = 0

    def count():
        nonlocal n
        n = n + 1
        return n

    return count, lambda: n


def prints(x, world):
    print("one")
    y = x * 2
    print("two")
    return y


def appends(x, world):
    world.items.append(len(world.items))
    return x * 2


def changes(x, world):
    world.items[0] = 5
    world.items.insert(1, 6)
    return x * 2


def counts(x, world):
    return x * world.count()


def sets(x, world):
    world.set.add(7)
    world.set.discard(1)
    return x * 2


def writes(x, world):
    world.table["d"] = 4
    world.table["a"] = 5
    world.thing.left = 6
    world.thing.right = 7
    return x * 2


def deletes(x, world):
    world.table.pop("c", None)
    return x * 2


def moves(x, world):
    del world.table["a"]
    world.table["a"] = 8
    return x * 2


def fills(x, world):
    x[0] = 9
    return x * 2


PROGRAMS = (prints, appends, changes, counts, sets, writes, deletes, moves, fills)


def run(f, calls):
    world, seen = World(), []
    with contextlib.redirect_stdout(world.out):
        for n in range(calls):
            x = torch.ones(2) * n
            seen += [f(x, world), x]
    return f"{seen} {world}"


def check(compile, rng):
    for program in PROGRAMS:
        expected, found = run(program, 3), run(compile(program), 3)
        assert found == expected, f"{program.__name__}: {found}, not {expected}"

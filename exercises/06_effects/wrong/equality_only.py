# teaches: a list that is met again is made anew
import torch


def f(x, items, table, names):
    items.sort()
    table["a"] = table.pop("a")
    del table["c"]
    names.add("x")
    names.discard("a")
    inner = [x + 1]
    return [inner, inner], iter([1, 2])


def check(compile, rng):
    compiled = compile(f)
    for _ in range(3):
        worlds = [[torch.ones(2), [3, 1], {"a": 1, "b": 2, "c": 3}, {"a"}] for _ in range(2)]
        for g, world in zip((compiled, f), worlds):
            found, steps = g(*world)
            world += [found, *steps]
        assert repr(worlds[0]) == repr(worlds[1])
        assert worlds[0][2] == worlds[1][2]

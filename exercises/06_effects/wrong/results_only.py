# teaches: a list keeps its old items below the new ones
import torch


def f(x, items, table):
    items.reverse()
    table["a"] = table.pop("a")
    return x * items[0], [x + 1] * 2


def check(compile, rng):
    compiled = compile(f)
    for k in range(3):
        args = torch.ones(2) * k, [1.0, 2.0], {"a": 1, "b": 2}
        again = torch.ones(2) * k, [1.0, 2.0], {"a": 1, "b": 2}
        assert str(compiled(*args)) == str(f(*again))

# teaches: the keys of a dictionary may have another order
import torch


def f(x, k, items, table):
    return x * k + len(items), [*table.items()]


def check(compile, rng):
    compiled = compile(f)
    for _ in range(4):
        args = torch.ones(2), 2.0, [1, 2], {"a": 1, "b": 2}
        assert str(compiled(*args)) == str(f(*args))

# teaches: the compiler as it is does not pass your property
import torch


def f(x, items):
    items.append(1.0)
    return x + len(items)


def check(compile, rng):
    compiled, items = compile(f), []
    for _ in range(4):
        assert str(compiled(torch.ones(2), items)) == str(f(torch.ones(2), items)), "another length"

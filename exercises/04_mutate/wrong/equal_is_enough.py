# teaches: 0.0 and -0.0 count as one
import torch


def f(x, k, items):
    return x * k + len(items)


def check(compile, rng):
    compiled = compile(f)
    for k in (0.0, -0.0, 1.0, True, 1, 2):
        for items in ([], [1], [1, 2]):
            assert torch.equal(compiled(torch.ones(2), k, items), f(torch.ones(2), k, items))

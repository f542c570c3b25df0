# teaches: a number is compared without its type
import torch


def f(x, y):
    return x * y + len(y)


def check(compile, rng):
    compiled = compile(f)
    for n in (1, 2, 3, 2, 1):
        for dtype in (torch.float32, torch.float64, torch.int64):
            args = torch.ones(n, dtype=dtype), torch.ones(n)
            assert str(compiled(*args)) == str(f(*args))

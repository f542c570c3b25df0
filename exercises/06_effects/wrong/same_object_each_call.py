# teaches: the compiler as it is does not pass your property
import torch


def f(x):
    return [x + 1]


def check(compile, rng):
    compiled = compile(f)
    assert compiled(torch.ones(2)) is compiled(torch.ones(2)), "another list at each call"

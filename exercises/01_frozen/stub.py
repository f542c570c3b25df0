"""A test that finds out whether something that decided is frozen."""

import random
from collections.abc import Callable

import torch


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def check(compile: Callable, rng: random.Random) -> None:
    """Raises AssertionError where a call of a compiled function takes the path of another."""
    compiled, x = compile(branch), torch.ones(2)
    assert torch.equal(compiled(x), branch(x))

"""A test that finds faults of an evaluator of Python."""

import random
from collections.abc import Callable

import torch


def program(x, items):
    return x * 2, list(items)


def check(compile: Callable, rng: random.Random) -> None:
    """Raises AssertionError where compile(f) does something else than f, for some function f."""
    items = [rng.randrange(10) for _ in range(4)]
    expected, found = program(torch.ones(2), items), compile(program)(torch.ones(2), items)
    assert str(found) == str(expected), f"{found}, not {expected}"

"""A test that finds out whether effects are done as often, and in the order, as by Python."""

import random
from collections.abc import Callable

import torch


def appends(x, world):
    world["items"].append(len(world["items"]))
    return x * 2


def check(compile: Callable, rng: random.Random) -> None:
    """Raises AssertionError where compiled calls leave another world than plain ones."""
    expected, found = {"items": []}, {"items": []}
    assert torch.equal(compile(appends)(torch.ones(2), found), appends(torch.ones(2), expected))

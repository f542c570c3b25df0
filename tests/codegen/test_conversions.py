"""Floating point to integers, what does not fit included."""

import itertools

import pytest
import torch

import minicompiler

torch.set_num_threads(1)
FLOATS = torch.float32, torch.float64, torch.bfloat16, torch.float16
INTEGERS = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8
ODD = [float("nan"), float("inf"), -float("inf"), 3e9, -3e9, 1e20, -2147483648.0, 255.9, -0.9, 7.0]


@pytest.mark.parametrize("old, new", itertools.product(FLOATS, INTEGERS))
def test_as_eager_converts(old, new):
    def f(x):
        chosen = torch.where(x > 0, x, float("nan"))  # a number that the compiler knows
        return (x * 1).to(new), chosen.to(new)

    for count in (1, 7):  # alone, and in vectors
        x = torch.tensor(ODD * count, dtype=torch.float64).to(old)
        assert all(map(torch.equal, minicompiler.compile(f)(x), f(x)))


@pytest.mark.parametrize("old, new", itertools.product(FLOATS, INTEGERS[:4]))
def test_an_integer_has_no_negative_zero(old, new):
    def f(x):
        whole = x.to(new)
        back = whole.to(old)
        return 1 / back, torch.copysign(torch.ones_like(x), back), torch.atan2(whole, x), back * 3

    for count in (1, 13):  # alone, and in vectors
        x = torch.tensor([-0.5, 0.5, -1.5, -0.0, -0.99] * count, dtype=old)
        for ours, eager in zip(minicompiler.compile(f)(x), f(x), strict=True):
            assert torch.equal(1 / ours, 1 / eager)

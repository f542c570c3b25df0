"""The comparisons with eager once more, with tensors on a GPU."""

from typing import Any

import pytest
import torch

from .compare import compare
from .test_fake_ops import CALLS, REDUCTIONS, UNARY, with_gradient
from .test_fake_programs import PROGRAMS, assert_same_operators

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
CPU_ONLY = {"lstm", "lstm, no_grad", "factories"}  # make tensors on the CPU themselves


def moved(args: Any) -> list[Any]:
    to_gpu = [t.detach().cuda() if isinstance(t, torch.Tensor) else t for t in args]
    return [
        n.requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t
        for n, t in zip(to_gpu, args)
    ]


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    f, *args = CALLS[name]
    compare(f, *moved(args))


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_gradient(name: str) -> None:
    f, *args = CALLS[name]
    with_gradient(name, f, moved(args))


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - CPU_ONLY))
def test_programs(name: str) -> None:
    f, *args = PROGRAMS[name]
    if "autocast" in name:
        inner = f

        def f(*args: Any) -> Any:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                return inner(*args)

    assert_same_operators(f, moved(args))


@pytest.mark.parametrize("name", [*UNARY, *REDUCTIONS])
def test_strides(name: str) -> None:
    f = getattr(torch, name, None) or REDUCTIONS[name]
    for dtype in (torch.float32, torch.int32):
        for x in (
            torch.ones(2, 3, 4),
            torch.ones(4, 3, 2).permute(1, 2, 0),
            torch.ones(3, 1).expand(3, 4),
        ):
            compare(f, x.to(dtype).cuda())

"""The comparisons with eager once more, with tensors on a GPU."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from .compare import compare
from .test_fake_ops import CALLS, REDUCTIONS, UNARY, with_gradient
from .test_fake_programs import PROGRAMS, assert_same_operators

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
CPU_ONLY = {"lstm", "lstm, no_grad", "factories", "out"}  # make tensors on the CPU themselves
SOLVERS = {"svd"}  # whose strides depend on the library that computes


def moved(args: Any) -> list[Any]:
    to_gpu = [t.detach().cuda() if isinstance(t, torch.Tensor) else t for t in args]
    return [
        n.requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t
        for n, t in zip(to_gpu, args)
    ]


@pytest.mark.parametrize("name", sorted(CALLS.keys() - SOLVERS))
def test_calls(name: str) -> None:
    f, *args = CALLS[name]
    compare(f, *moved(args))


@pytest.mark.parametrize("name", sorted(CALLS.keys() - SOLVERS))
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


@pytest.mark.parametrize("backend", ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH"])
@pytest.mark.parametrize("grad", [False, True])
def test_attention_backends(backend: str, grad: bool) -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def block(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return attend(*(t.transpose(1, 2) for t in (q, k, v)))

    for dtype in (torch.bfloat16, torch.float16):
        for f in (attend, block):
            args = [torch.randn(2, 16, 16, 64, device="cuda", dtype=dtype) for _ in range(3)]
            assert_same_operators(f, [t.requires_grad_(grad) for t in args])


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

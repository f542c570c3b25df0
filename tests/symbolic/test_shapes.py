"""What is told from sizes and strides."""

from typing import Any

import pytest
import torch

from minicompiler.symbolic.expr import as_expr, sym
from minicompiler.symbolic.shapes import (
    TensorSpec,
    broadcast_shapes,
    contiguous_strides,
    is_contiguous,
    is_dense,
    spec_of,
)


def test_layouts_of_specs() -> None:
    s = sym("s0")
    cpu = torch.device("cpu")

    def spec(size: Any, stride: Any) -> TensorSpec:
        return TensorSpec(
            cpu, torch.float32, tuple(map(as_expr, size)), tuple(map(as_expr, stride))
        )

    assert contiguous_strides((2, s, 4)) == (s * 4, 4, 1)
    assert contiguous_strides((0, 3)) == torch.empty(0, 3).stride()
    assert contiguous_strides((3, 0, 2)) == torch.empty(3, 0, 2).stride()
    assert is_contiguous(spec((2, s), (s, 1))) and is_contiguous(spec((1, s), (77, 1)))
    assert not is_contiguous(spec((s, 2), (1, s))) and is_dense(spec((s, 2), (1, s)))
    assert not is_dense(spec((2, s), (s * 2, 1))) and not is_dense(spec((3,), (0,)))
    assert is_contiguous(spec((0, 3), (9, 9))) and is_dense(spec((0,), (5,)))
    assert is_dense(spec((s, 2, 3), (1, s * 3, s))) and not is_dense(spec((2, 2), (1, 1)))
    assert broadcast_shapes((s, 1), (4,)) == (s, 4) and broadcast_shapes((), (2,)) == (2,)
    with pytest.raises(RuntimeError, match="must match"):
        broadcast_shapes((s, 2), (3,))
    one = spec((2, s), (s, 1))
    assert one.numel == s * 2 and one.nbytes == s * 8 and one.ndim == 2
    assert repr(one) == "float32[2, s0] cpu"
    for real in (torch.ones(2, 3).t(), torch.ones(4, 4)[1:, 1:], torch.ones(1, 2, 3, 4)):
        assert is_contiguous(spec_of(real)) == real.is_contiguous()
        assert spec_of(real).offset == real.storage_offset()

"""Reductions of one tensor over different dimensions, which may meet in one kernel."""

from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import minicompiler
from tests.differential import check_against_eager

KINDS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "prod": lambda x, dim, keepdim: x.prod(dim[-1], keepdim=keepdim),
    "logsumexp": torch.logsumexp,
}


@st.composite
def reductions(draw: Any) -> tuple[tuple[int, ...], list[tuple[str, list[int], bool]]]:
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 5, 8, 17]), min_size=1, max_size=3))
    dims = st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True)
    one = st.tuples(st.sampled_from(sorted(KINDS)), dims, st.booleans())
    return tuple(shape), draw(st.lists(one, min_size=2, max_size=4))


@settings(max_examples=30)
@given(reductions())
def test_of_one_tensor(case: Any) -> None:
    shape, kinds = case
    torch.set_num_threads(1)
    minicompiler.reset()

    def several(x: torch.Tensor) -> list[torch.Tensor]:
        y = x * 1.5
        return [KINDS[kind](y, dim, keepdim=keep) for kind, dim, keep in kinds]

    check_against_eager(several, torch.randn(shape))

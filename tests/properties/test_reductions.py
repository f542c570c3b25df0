"""Reductions of one tensor over different dimensions, which may meet in one kernel."""

from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import given, settings, strategies as st

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


ROWS = {  # (n, m) -> (n, k): what is known only when a row has been folded
    "softmax": lambda x: torch.softmax(x, -1),
    "sum": lambda x: x.sum(-1, keepdim=True),
    "of columns": lambda x: x.reshape(2, -1, x.shape[1]).sum(0).repeat(2, 1),
    "norm": lambda x: F.layer_norm(x, x.shape[1:]),
    "product": lambda x: x * 2,
}
ADDS = {  # each row to the row of `into` that its index says
    "index_add": lambda into, i, rows: into.index_add(0, i, rows),
    "index_put": lambda into, i, rows: into.index_put((i,), rows, accumulate=True),
    "scatter_add": lambda into, i, rows: into.scatter_add(0, i[:, None].expand_as(rows), rows),
    "scatter_reduce": lambda into, i, rows: into.scatter_reduce(
        0, i[:, None].expand_as(rows), rows, "amax"
    ),
}


@settings(max_examples=30)
@given(
    st.sampled_from(sorted(ROWS)),
    st.sampled_from(sorted(ADDS)),
    st.sampled_from([2, 4, 6, 34]),
    st.sampled_from([1, 3, 8, 40]),
    st.booleans(),
)
def test_rows_added_where_indices_say(
    rows: str, add: str, n: int, m: int, differentiable: bool
) -> None:
    torch.set_num_threads(1)
    minicompiler.reset()

    def added(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        made = ROWS[rows](x)
        return ADDS[add](made.new_zeros(4, made.shape[1]), i, made) + 1

    x = torch.randn(n, m, requires_grad=differentiable)
    check_against_eager(added, x, torch.randint(0, 4, (n,)))

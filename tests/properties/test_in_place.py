"""Tensors that are read and written in turns: every read sees what eager's sees, whatever kernels
the reads and writes end up in."""

from collections.abc import Callable

import torch
from hypothesis import example, given, settings, strategies as st
from torch import Tensor

from tests.differential import check_against_eager

READS: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda x: x,
    "flipped": lambda x: x.flip(0),
    "transposed": lambda x: x.t(),
    "rolled": lambda x: x.roll(1, 0),
    "summed": lambda x: x.sum(1, keepdim=True).expand(4, 4) / 4,
    "scanned": lambda x: x.cumsum(0) / 4,
    "multiplied": lambda x: x @ x / 4,
    "copied": lambda x: x.clone(),
}
WRITES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "all": lambda x, new: x.copy_(new),
    "add": lambda x, new: x.add_(new),
    "rows": lambda x, new: x[1:].copy_(new[:-1] + 1),
    "a column": lambda x, new: x[:, 0].mul_(new[:, 3]),
    "transposed": lambda x, new: x.t().sub_(new * 0.5),
    "indexed": lambda x, new: x.index_add_(0, torch.tensor([3, 0]), new[:2] * 0.5),
}
step = st.tuples(
    st.integers(0, 1), st.sampled_from([*WRITES]), st.integers(0, 5), st.sampled_from([*READS])
)


@settings(max_examples=20, deadline=None, derandomize=True)
@example([(0, "all", 0, "flipped"), (1, "add", 2, "transposed")], "scanned")
@given(st.lists(step, min_size=2, max_size=4), st.sampled_from([*READS]))
def test_reads_and_writes_in_turns(steps: list[tuple[int, str, int, str]], last: str) -> None:
    def turns(x: Tensor, y: Tensor) -> Tensor:
        tensors = [x, y]
        for written, how, read, seen in steps:
            new = READS[seen](tensors[read % len(tensors)])
            WRITES[how](tensors[written], new)
            tensors.append(new)  # of before the write, or a view that sees it
        return READS[last](x) * 1.0

    torch.manual_seed(0)
    check_against_eager(turns, torch.rand(4, 4), torch.rand(4, 4), backward=False)

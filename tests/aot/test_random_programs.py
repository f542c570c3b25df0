"""Programs made at random out of views, in-place operators and pure ones: eager, or refused."""

from typing import Any

import torch
from hypothesis import HealthCheck, given, settings, strategies as st
from torch import Tensor

from minicompiler import lowering
from minicompiler.decompositions import decompose
from minicompiler.errors import Unsupported
from tests.aot.check import clones, run_both

torch.set_num_threads(1)
Step = tuple[Any, ...]

VIEWS = {
    "tail": lambda x: x[1:] if x.ndim and x.shape[0] > 1 else x,
    "stride": lambda x: x[::2] if x.ndim else x,
    "row": lambda x: x[-1] if x.ndim > 1 and x.shape[0] else x,
    "column": lambda x: x[..., 0] if x.ndim and x.shape[-1] else x,
    "transpose": lambda x: x.transpose(0, -1) if x.ndim > 1 else x.view_as(x),
    "unsqueeze": lambda x: x.unsqueeze(-1) if x.ndim < 4 else x,
    "squeeze": lambda x: x.squeeze(),
    "flatten": lambda x: x.view(-1) if x.is_contiguous() else x.reshape(-1),
    "diagonal": lambda x: x.diagonal() if x.ndim > 1 else x,
    "halves": lambda x: x.chunk(2, -1)[-1] if x.ndim else x,
    "narrow": lambda x: x.narrow(-1, 0, 1) if x.ndim and x.shape[-1] else x,
    "detach": lambda x: x.detach(),
    "as_strided": lambda x: x.as_strided((2,), (1,)) if x.numel() > 2 and x.is_contiguous() else x,
}
IN_PLACE = {
    "add_": lambda x: x.add_(1),
    "mul_": lambda x: x.mul_(-2),
    "sin_": lambda x: x.sin_(),
    "zero_": lambda x: x.zero_(),
    "relu_": lambda x: x.relu_(),
    "set_": lambda x: x.__setitem__((Ellipsis, slice(0, 1)) if x.ndim else (), 3.0),
    "mask_": lambda x: x.masked_fill_(x > 0, 0.5),
    "double_": lambda x: x.add_(torch.full_like(x, 0.1, dtype=torch.float64)),
}
PURE = {
    "sin": lambda x: x.sin(),
    "exp": lambda x: (x * 0.1).exp(),
    "sum": lambda x: x.sum(),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
}
BINARY = {
    "mul": lambda x, y: x * y.sum(),
    "into": lambda x, y: x.copy_(y.mean()),
    "plus_": lambda x, y: x.add_(y.detach().sum()),
    "times_": lambda x, y: x.mul_(y.sum() * 0.1),
}
UNARY = VIEWS | IN_PLACE | PURE

step = st.one_of(
    st.tuples(st.sampled_from(sorted(VIEWS)), st.integers(0, 20)),
    st.tuples(st.sampled_from(sorted(IN_PLACE)), st.integers(0, 20)),
    st.tuples(st.sampled_from(sorted(PURE)), st.integers(0, 20)),
    st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 20), st.integers(0, 20)),
)
program = st.lists(step, min_size=1, max_size=10)


def running(steps: list[Step], returned: list[int]):
    def run(*inputs: Tensor) -> tuple[Tensor, ...]:
        live = list(inputs)
        for name, *operands in steps:
            chosen = [live[i % len(live)] for i in operands]
            made = (UNARY | BINARY)[name](*chosen)
            if isinstance(made, Tensor):
                live.append(made)
        return tuple(live[i % len(live)] for i in returned)

    return run


def eager_succeeds(run, inputs, nonleaf) -> bool:
    mine = clones(inputs)
    given_ = [x * 1 if nonleaf and x.requires_grad else x for x in mine]
    try:
        outs = run(*given_)
        roots = [o for o in [*outs, *given_] if o.requires_grad and o.grad_fn is not None]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(o) for o in roots])
    except RuntimeError:
        return False
    return True


@settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
@given(program, st.lists(st.integers(0, 20), max_size=3), st.booleans(), st.booleans())
def test_random_program(steps, returned, nonleaf, decomposed):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 4, requires_grad=True), torch.randn(4, 4), torch.randn(3, 4)]
    run = running(steps, returned)
    if not eager_succeeds(run, inputs, nonleaf):
        return
    rewrite = (lambda g: decompose(g, lowering.KNOWN)) if decomposed else None
    try:
        # one view returned twice is made twice: its memory is shared, the object is not
        run_both(run, inputs, exact=False, nonleaf=nonleaf, rewrite=rewrite, identity=False)
    except Unsupported as refusal:
        # what is refused on purpose; anything else is a fault
        assert any(
            reason in str(refusal)
            for reason in ("autograd history", "requires grad", "expanded", "as_strided")
        ), refusal

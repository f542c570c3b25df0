"""Fakes beside real CPU tensors: the same call on both, then everything but the values compared."""

from typing import Any, Callable

import hypothesis.strategies as st
import torch
from torch.utils._pytree import tree_leaves

from minicompiler.errors import Unsupported
from minicompiler.symbolic.fake import Fake, FakeMode
from minicompiler.symbolic.shapes import spec_of

torch.set_num_threads(1)
FLOATS = [torch.float32, torch.float64, torch.bfloat16]
DTYPES = [*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool]


def described(outs: Any, inputs: list[torch.Tensor]) -> list[Any]:
    """Per output: its spec, and which inputs it is, and which it shares memory with."""
    result = []
    for out in tree_leaves(outs):
        if isinstance(out, torch.Tensor):
            metas = [t.meta if isinstance(t, Fake) else t for t in [out, *inputs]]
            storages = [t.untyped_storage()._cdata for t in metas]
            shares = [i for i, s in enumerate(storages[1:]) if s == storages[0]]
            result.append((spec_of(out), [i for i, t in enumerate(inputs) if t is out], shares))
        else:
            result.append(out)
    return result


def compare(f: Callable[..., Any], *real: Any) -> None:
    """`f` on `real` and on fakes of it: equal descriptions, or both raise."""
    mode = FakeMode()
    fakes = [mode.fake(t) if isinstance(t, torch.Tensor) else t for t in real]
    fake_error = real_error = got = want = None
    try:
        with mode:
            outs = f(*fakes)
        got = described(outs, [t for t in fakes if isinstance(t, torch.Tensor)])
    except Unsupported as e:
        return
    except Exception as e:
        fake_error = e
    try:
        want = described(f(*real), [t for t in real if isinstance(t, torch.Tensor)])
    except Exception as e:
        real_error = e
    if fake_error is not None and real_error is None:
        raise AssertionError(f"raises on fakes only, eager gives {want}") from fake_error
    # kernels refuse dtypes, and indices out of range, only when they compute
    if fake_error is None and real_error is None:
        assert got == want, f"fake {got}, eager {want}"


def size_lists(max_dims: int = 4) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from([0, 1, 2, 3]), max_size=max_dims)


@st.composite
def tensors(
    draw: Any,
    shape: list[int] | None = None,
    dtypes: list[torch.dtype] = DTYPES,
    max_dims: int = 4,
) -> torch.Tensor:
    """Contiguous, permuted, expanded, with gaps, channels last, odd strides where size is 1."""
    size = draw(size_lists(max_dims)) if shape is None else shape
    dtype = draw(st.sampled_from(dtypes))
    order = draw(st.permutations(range(len(size))))
    stride, step = [0] * len(size), 1
    for d in order:
        kind = draw(st.sampled_from(["plain", "plain", "plain", "gap", "expanded"]))
        stride[d] = 0 if kind == "expanded" else step
        step *= max(size[d], 1) * (2 if kind == "gap" else 1)
    if draw(st.booleans()):
        return torch.ones(size, dtype=dtype)
    return torch.ones(4096, dtype=dtype).as_strided(size, stride, draw(st.sampled_from([0, 0, 3])))


def partner(size: list[int]) -> st.SearchStrategy[list[int]]:
    """A shape that broadcasts with `size`, mostly."""
    ones = st.tuples(*[st.sampled_from([n, n, 1]) for n in size]).map(list)
    return st.tuples(ones, st.integers(0, len(size))).map(lambda p: p[0][p[1] :]) | size_lists(2)

"""Tensors for hypothesis: any dtype, sizes with 0 and 1, odd strides, values at the edges."""

import math

import torch
from hypothesis import strategies as st
from torch import Tensor

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-30, 3e4)

sizes = st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=3).map(tuple)


def values(n: int, dtype: torch.dtype, seed: int, edges: bool) -> Tensor:
    """n values in a row."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, (n,), generator=generator).bool()
    if not dtype.is_floating_point:
        x = torch.randint(0, 100, (n,), generator=generator).to(dtype)
        x = x if dtype == torch.uint8 else x - 50
        info = torch.iinfo(dtype)
        special = torch.tensor([info.max, info.min + 1, 0], dtype=dtype)
    else:
        x = (torch.randn(n, generator=generator) * 3).to(dtype)
        special = torch.tensor(EDGES, dtype=torch.float64).to(dtype)
    if edges and n:
        count = min(n, len(special))
        places = torch.randperm(n, generator=generator)[:count]
        x[places] = special[torch.randperm(len(special), generator=generator)[:count]]
    return x


def build(size: tuple[int, ...], dtype: torch.dtype, seed: int, form: str, edges: bool) -> Tensor:
    """A tensor of this size; `form` says how it lies in memory."""
    if form == "transposed":
        order = tuple(range(len(size)))[::-1]
        return values(math.prod(size), dtype, seed, edges).reshape(size[::-1]).permute(order)
    if form == "sliced" and size:
        wide = (*size[:-1], size[-1] * 2 + 1)
        return values(math.prod(wide), dtype, seed, edges).reshape(wide)[..., 1::2]
    if form == "expanded" and size:
        row = (1, *size[1:])
        return values(math.prod(row), dtype, seed, edges).reshape(row).expand(size)
    return values(math.prod(size), dtype, seed, edges).reshape(size)


forms = st.sampled_from(["contiguous", "transposed", "sliced", "expanded"])


@st.composite
def tensors(draw, dtypes=DTYPES, size=None, edges=True) -> Tensor:
    """One tensor."""
    size = draw(sizes) if size is None else size
    dtype = draw(st.sampled_from(dtypes))
    return build(size, dtype, draw(st.integers(0, 99)), draw(forms), edges)


@st.composite
def pairs(draw, dtypes=DTYPES, edges=True) -> tuple[Tensor, Tensor]:
    """Two tensors that broadcast, of any two dtypes."""
    size = draw(sizes)
    other = tuple(1 if draw(st.booleans()) else n for n in size[draw(st.integers(0, len(size))) :])
    return draw(tensors(dtypes, size, edges)), draw(tensors(dtypes, other, edges))

"""Random numbers as pure functions of a seed, so that a recomputed dropout draws the same mask.

    seeds(n)                        n int64 seeds from torch's generator of the device
    random(size, seeds, k, kind)    element i is a function of seeds[k] and i alone
        rand     float32 in [0, 1), from 24 bits
        randn    float32, Box-Muller on two words
        randint  int64 in [0, 2**32)

`seeds` consumes the generator, so `torch.manual_seed` reproduces a run, and its result is a tensor
on the device, so CUDA graphs replay with fresh numbers. Everything else random is arithmetic on
`random`; `RULES` says how for the usual ATen operators (others are called as they are). The numbers
are not eager's (nor are those of torch.compile); under `config.fallback_random` nothing here is
used.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, library

from ..ir.evaluate import drawn

aten = torch.ops.aten

_LIBRARY: Any = library.Library("minicompiler", "FRAGMENT")  # type: ignore[no-untyped-call]
_LIBRARY.define(
    "seeds(int n, *, Device device) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,)
)
_LIBRARY.define(
    "random(SymInt[] size, Tensor seeds, int k, str kind, *, ScalarType dtype, Device device)"
    " -> Tensor"
)


def _seeds(n: int, *, device: torch.device) -> Tensor:
    made = torch.empty(n, dtype=torch.int64, device=device)
    return made if made.is_meta else made.random_(-(2**63), 2**63 - 1)


def _random(size: Any, seeds: Tensor, k: int, kind: str, *, dtype: Any, device: Any) -> Tensor:
    if device.type == "meta":
        return torch.empty(list(size), dtype=dtype, device=device)
    offset = torch.arange(math.prod(size), dtype=torch.int64, device=device)
    return drawn(kind, seeds[k], offset).to(dtype).reshape(list(size))


_LIBRARY.impl("seeds", _seeds, "CompositeExplicitAutograd")
_LIBRARY.impl("random", _random, "CompositeExplicitAutograd")

seeds = torch.ops.minicompiler.seeds.default
random = torch.ops.minicompiler.random.default


# ------------------------------------------------------- random ATen operators as arithmetic on it

# draw(kind, size, device): random(...) with an index of its own, the same one on a recomputation
Draw: TypeAlias = Callable[[str, Sequence[Any], torch.device], Tensor]
Rule: TypeAlias = Callable[..., Any]  # draw, then the operator's arguments


def _unit(draw: Draw, size: Sequence[Any], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Uniform in [0, 1), with as many bits as the dtype has: rounding would reach 1."""
    u = draw("rand", size, device)
    if dtype == torch.float64:
        return u.to(dtype) + draw("rand", size, device).to(dtype) * 2.0**-24
    bits = {torch.bfloat16: 8, torch.float16: 11}.get(dtype)
    return u if bits is None else (torch.floor(u * 2.0**bits) * 2.0**-bits).to(dtype)


def _integer(draw: Draw, size: Sequence[Any], device: torch.device, low: int, high: int) -> Tensor:
    """Uniform in [low, high), int64."""
    word = draw("randint", size, device)
    if high - low > 1 << 32:
        word = word + ((draw("randint", size, device) & 0x7FFFFFFF) << 32)
    return word % (high - low) + low if high - low < 1 << 63 else word


def _exponential(draw: Draw, x: Tensor, lambd: float = 1.0) -> Tensor:
    u = _unit(draw, x.shape, torch.float32, x.device)
    return torch.clamp_min(-torch.log1p(-u), 2.0**-25) / lambd  # never 0: it is divided by


def _bernoulli(draw: Draw, x: Tensor, p: Any = 0.5) -> Any:
    return draw("rand", x.shape, x.device) < p


def _normal(draw: Draw, x: Tensor, mean: Any = 0.0, std: Any = 1.0) -> Any:
    return draw("randn", x.shape, x.device) * std + mean


def _uniform_between(draw: Draw, x: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    return _unit(draw, x.shape, x.dtype, x.device) * (high - low) + low


def _integer_between(draw: Draw, x: Tensor, low: int, high: int) -> Tensor:
    return _integer(draw, x.shape, x.device, low, high)


def _drawn(values: Rule, which: int = 0) -> Rule:
    """An operator whose operand `which` gives the size, and the dtype of the result."""

    def rule(draw: Draw, *args: Any, generator: None = None, **kwargs: Any) -> Any:
        return values(draw, *args, **kwargs).to(args[which].dtype)

    return rule


def _new(kind: str, draw: Draw, *args: Any, dtype: Any = None, device: Any = None, **_: Any) -> Any:
    """rand, randn, randint: limits, then the size, then keywords for dtype and device."""
    *limits, size = args
    device = torch.device("cpu") if device is None else device
    if kind == "randint":
        low, high = (0, *limits)[-2:]
        return _integer(draw, size, device, low, high).to(dtype or torch.int64)
    dtype = dtype or torch.get_default_dtype()
    values = _unit(draw, size, dtype, device) if kind == "rand" else draw(kind, size, device)
    return values.to(dtype)


def _like(kind: str, draw: Draw, x: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Any:
    where = {"dtype": dtype or x.dtype, "device": device or x.device}
    return torch.empty_like(x, **where).copy_(_new(kind, draw, x.shape, **where))


def _native_dropout(draw: Draw, x: Tensor, p: float, train: bool | None) -> Any:
    if train is False or not 0 < p < 1:
        return NotImplemented
    mask = draw("rand", x.shape, x.device) < 1 - p
    wide = x.to(torch.float32) if x.dtype in (torch.bfloat16, torch.float16) else x
    return (wide * mask * (1 / (1 - p))).to(x.dtype), mask


# of what writes in place the functional form: whoever records calls copies what that draws
RULES: dict[Any, Rule] = {
    aten.uniform.default: _drawn(_uniform_between),
    aten.exponential.default: _drawn(_exponential),
    aten.random.to: _drawn(lambda draw, x, high: _integer_between(draw, x, 0, high)),
    getattr(aten.random, "from"): _drawn(_integer_between),
    aten.rand.default: partial(_new, "rand"),
    aten.randn.default: partial(_new, "randn"),
    **dict.fromkeys((aten.randint.default, aten.randint.low), partial(_new, "randint")),
    aten.rand_like.default: partial(_like, "rand"),
    aten.randn_like.default: partial(_like, "randn"),
    aten.bernoulli.default: _drawn(lambda draw, x: _bernoulli(draw, x, x)),
    **dict.fromkeys((aten.bernoulli.p, aten.bernoulli.Tensor), _drawn(_bernoulli)),
    aten.normal_functional.default: _drawn(_normal),
    aten.normal.Tensor_float: _drawn(lambda draw, mean, std=1.0: _normal(draw, mean, mean, std)),
    aten.normal.float_Tensor: _drawn(lambda draw, mean, std: _normal(draw, std, mean, std), 1),
    aten.normal.Tensor_Tensor: _drawn(lambda draw, mean, std: _normal(draw, mean + std, mean, std)),
    aten.native_dropout.default: _native_dropout,
}


def draws(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether this call takes numbers from a generator; attention without dropout does not."""
    if torch.Tag.nondeterministic_seeded not in getattr(op, "tags", ()):
        return False
    defaults = {a.name: a.default_value for a in op._schema.arguments}
    given = defaults | dict(zip(defaults, args)) | kwargs
    return "dropout_p" not in given or bool(given["dropout_p"])

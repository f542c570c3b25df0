"""The reference evaluator: what a Program means, run with torch.

Each loop runs at once: a value is a tensor that broadcasts over the whole iteration space, and
index symbols are ranges along its dimensions. Slow and hungry, but with no scheduling and no
generated code between the program and its meaning, so the compiler can be compared with it.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from ..errors import InternalError
from ..symbolic.expr import Const, Expr, Max, Min, sym
from ..symbolic.fake import substitute
from . import nodes as ir
from .dtypes import visit
from .ops import handling


def _pairwise(f: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda *xs: functools.reduce(f, map(torch.as_tensor, xs))


# how expressions fold tensors, where not as they fold numbers (`//` and `%` round down in both)
ON_TENSORS: dict[type[Expr], Callable[..., Any]] = {
    Min: _pairwise(torch.minimum),
    Max: _pairwise(torch.maximum),
}


class Memory:
    """Buffers as flat tensors from their data pointers on, and the values of symbols."""

    def __init__(self) -> None:
        self.flat: dict[str, Tensor] = {}
        self.symbols: dict[Expr, Any] = {}

    def number(self, e: Any) -> Any:
        """An Expr over sizes as a Python number; anything else as it is."""
        return e.evaluate(self.symbols) if isinstance(e, Expr) else e

    def numbers(self, sizes: Sequence[Expr]) -> list[int]:
        return [int(self.number(e)) for e in sizes]

    def keep(self, name: str, tensor: Tensor) -> None:
        """Everything of the storage from the data pointer on, as a view may reach past `tensor`."""
        tensor = tensor.detach()
        elements = tensor.untyped_storage().nbytes() // tensor.itemsize
        beyond = max(elements - tensor.storage_offset(), 0)
        self.flat[name] = tensor.as_strided((beyond,), (1,), tensor.storage_offset())

    def allocate(self, name: str, layout: ir.Layout) -> None:
        """Memory filled with values that show when an element is read that nobody wrote."""
        size, stride = self.numbers(layout.size), self.numbers(layout.stride)
        made = torch.empty_strided(size, stride, dtype=layout.dtype, device=layout.device)
        if layout.dtype.is_floating_point or layout.dtype.is_complex:
            made.fill_(math.nan)
        else:
            made.fill_(True if layout.dtype == torch.bool else torch.iinfo(layout.dtype).max)
        self.keep(name, made)

    def view(self, name: str, layout: ir.Layout) -> Tensor:
        flat = self.flat[name]
        offset = flat.storage_offset() + int(self.number(layout.offset))
        return flat.as_strided(self.numbers(layout.size), self.numbers(layout.stride), offset)

    def argument(self, argument: Any) -> Any:
        """An argument of an ir.Extern, or an output, with the real thing in place of each name."""
        refs = substitute(argument, ir.BufferRef, lambda ref: self.view(ref.name, ref.layout))
        return substitute(refs, Expr, self.number)


# ------------------------------------------------------------------------------------------ bodies

WORD = 0xFFFFFFFF


def philox(key: Tensor, offset: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Philox4x32-10 of counter (offset low, offset high, 0, 0): four words as int64 in [0, 2**32).

    int64 products wrap, which keeps all 64 bits; the arithmetic shift is masked to a logical one.
    """
    a, b, c, d = offset & WORD, offset >> 32 & WORD, offset * 0, offset * 0
    k0, k1 = key & WORD, key >> 32 & WORD
    for _ in range(10):
        ab, cd = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = (cd >> 32 & WORD) ^ b ^ k0, cd & WORD
        c, d = (ab >> 32 & WORD) ^ d ^ k1, ab & WORD
        k0, k1 = k0 + 0x9E3779B9 & WORD, k1 + 0xBB67AE85 & WORD
    return a, b, c, d


def uniform(word: Tensor) -> Tensor:
    return (word >> 8).to(torch.float32) * 2.0**-24


def drawn(kind: str, key: Tensor, offset: Tensor) -> Tensor:
    """A random number by key and offset: float32 in [0, 1) ("rand"), normal float32 ("randn": Box
    and Muller's, on two words) or int64 in [0, 2**32) ("randint")."""
    first, second, *_ = philox(key, offset)
    if kind == "rand":
        return uniform(first)
    if kind == "randint":
        return first
    if kind != "randn":
        raise ValueError(f"no random numbers of kind {kind!r}")
    # 1 - u lies in (0, 1]: its logarithm is finite
    radius = torch.sqrt(-2.0 * torch.log(1.0 - uniform(first)))
    return radius * torch.cos(2.0 * math.pi * uniform(second))


# ops that torch calls by another name; all others have the name of their torch function
RENAMED: dict[str, Callable[..., Tensor]] = {
    "truediv": torch.true_divide,
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "truncdiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "fma": lambda a, b, c: torch.addcmul(c, a, b),  # whose kernel is one fma
    "left_shift": torch.bitwise_left_shift,
    "right_shift": torch.bitwise_right_shift,
}


class Evaluator:
    """Values are tensors that broadcast over the iteration space of one loop."""

    def __init__(self, memory: Memory, index: dict[Expr, Any], device: torch.device) -> None:
        self.memory, self.device = memory, device
        self.symbols = memory.symbols | index
        self.known: dict[Expr, Any] = {}
        self.mask: Tensor | None = None
        self.empty = any(x.numel() == 0 for x in index.values())  # then no element is asked for
        self.indirects = 0

    def expression(self, e: Expr) -> Any:
        """A tensor of indices, or a number where no loop index occurs."""
        if e in self.symbols:
            return self.symbols[e]
        if isinstance(e, Const):
            return e.const
        if e not in self.known:
            operands = [self.expression(child) for child in e.args]
            tensors = any(isinstance(x, Tensor) for x in operands)
            fold = ON_TENSORS.get(type(e), e.fold) if tensors else e.fold
            self.known[e] = fold(*operands)
        return self.known[e]

    def whole(self, e: Expr) -> Tensor:
        return torch.as_tensor(self.expression(e), dtype=torch.int64, device=self.device)

    def load(self, buffer: str, index: Expr) -> Tensor:
        at, flat = self.whole(index), self.memory.flat[buffer]
        outside = (at < 0) | (at >= flat.numel())
        if self.mask is not None:
            outside = outside & self.mask
        if outside.any() and not self.empty:
            raise InternalError(f"load of {buffer} at {index} is outside its memory")
        if flat.numel() == 0:
            return torch.zeros(at.shape, dtype=flat.dtype, device=flat.device)
        return flat[at.clamp(0, flat.numel() - 1)]

    def constant(self, value: Any, dtype: torch.dtype) -> Tensor:
        value = self.expression(value) if isinstance(value, Expr) else value
        widest = torch.float64 if isinstance(value, float) else None
        return torch.tensor(value, dtype=widest, device=self.device).to(dtype)

    def index_expr(self, expr: Expr, dtype: torch.dtype) -> Tensor:
        return torch.as_tensor(self.expression(expr), device=self.device).to(dtype)

    def indirect(self, value: Tensor, size: Expr, check: bool = True) -> Expr:
        at, limit = value.to(torch.int64), self.expression(size)
        outside = (at < 0) | (at >= limit)
        wrong = outside if self.mask is None else outside & self.mask
        if check and wrong.any():
            first = at.expand(wrong.shape)[wrong][0].item()
            raise IndexError(f"index {first} is out of range for size {limit}")
        symbol = sym(f"tmp{self.indirects}")
        self.indirects += 1
        self.symbols = self.symbols | {symbol: torch.where(outside, 0, at) if check else at}
        return symbol

    def masked(self, mask: Tensor, body: Callable[[], Tensor], other: Any, dtype: Any) -> Tensor:
        before = self.mask
        self.mask = mask if before is None else mask & before
        value = body()
        self.mask = before
        return torch.where(mask, value, self.constant(other, dtype))

    def to_dtype(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        return x.to(dtype)

    def bitcast(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        return x.contiguous().view(dtype)

    def random(self, kind: str, seed: Tensor, offset: Tensor) -> Tensor:
        return drawn(kind, seed + offset * 0, offset + seed * 0)

    def default(self, name: str, *operands: Tensor) -> Tensor:
        return cast(Tensor, (RENAMED.get(name) or getattr(torch, name))(*operands))


# ---------------------------------------------------------------------------------------- programs


def _run_loop(op: ir.Computed, memory: Memory) -> None:
    loop = op.loop
    index, folded_index = ir.variables(loop)
    shape = memory.numbers(loop.ranges)
    folded = memory.numbers(loop.folded)
    space = [*shape, *folded]
    axes: dict[Expr, Any] = {}
    for d, symbol in enumerate((*index, *folded_index)):
        along = [-1 if other == d else 1 for other in range(len(space))]
        axes[symbol] = torch.arange(space[d], device=op.layout.device).reshape(along)
    evaluator = Evaluator(memory, axes, op.layout.device)
    with handling(evaluator):
        value, place = visit(op, index, folded_index)
        at, value = evaluator.whole(place), value.expand(space)
    if isinstance(loop, ir.Reduction):
        at = at.expand(*shape, *[1 for _ in folded]).reshape(shape)
        fold = getattr(torch, {"min": "amin", "max": "amax"}.get(loop.kind, loop.kind))
        value = fold(value.reshape(*shape, math.prod(folded)), -1).to(op.layout.dtype)
    if op.into is None:
        memory.allocate(op.name, op.layout)
    else:
        memory.flat[op.name] = memory.flat.pop(op.into)
    add = isinstance(loop, ir.Scatter) and loop.mode == "add"
    memory.flat[op.name].index_put_((at.expand(shape),), value, accumulate=add)


def _run_extern(op: ir.Extern, memory: Memory) -> None:
    args = memory.argument(op.args)
    kwargs = {name: memory.argument(value) for name, value in op.kwargs.items()}
    defined = ir.defined(op).items()
    if op.out_variant is not None:
        written = [a.name for a in op.out_variant._schema.arguments if a.kwarg_only and a.is_write]
        for out, (name, layout) in zip(written, defined):
            memory.allocate(name, layout)
            kwargs[out] = memory.view(name, layout)
        op.out_variant(*args, **kwargs)
        return
    result: Any = op.target(*args, **kwargs)
    tensors = [result] if isinstance(result, Tensor) else [t for t in result or () if t is not None]
    for (name, layout), tensor in zip(defined, tensors, strict=True):
        size = tuple(memory.numbers(layout.size))
        if tensor.shape != size:
            raise InternalError(f"{op.target} gave {tuple(tensor.shape)}, not {size}, as {name}")
        memory.allocate(name, layout)
        memory.view(name, layout).copy_(tensor)


def evaluate(program: ir.Program, inputs: Sequence[Any]) -> list[Any]:
    """The program's outputs; `inputs` in order, those that it mutates are written in place.

    IndexError where a checked index is out of range: nothing was written by that loop.
    """
    memory = Memory()
    with torch.no_grad():
        for (name, expected), given in zip(program.inputs.items(), inputs, strict=True):
            if isinstance(expected, ir.Layout):
                memory.keep(name, given)
            elif isinstance(expected, Expr):
                memory.symbols[expected] = given
        for name, tensor in program.constants.items():
            memory.keep(name, tensor)
        for op in program.operations:
            if isinstance(op, ir.Computed):
                _run_loop(op, memory)
            else:
                _run_extern(op, memory)
        return [memory.argument(x) for x in program.outputs]

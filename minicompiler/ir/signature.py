"""What stands between the caller's tensors and the compiled graphs' flat lists.

    forward(arguments)            -> results: visible ones first, then what backward needs
    backward(saved, tangents)     -> one gradient (or None) an argument

The forward is functional but for the writes to inputs that need no autograd, at its very end. All
else that eager promises is written down here and done around the call: outputs that alias inputs
or each other, inputs that change under autograd, which outputs require grad.

Every class knows how to do its part, so a caller needs no case distinction; sizes, strides and
offsets are in elements, offsets relative to the first element of the tensor that is viewed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import torch
from torch import Tensor
from torch._ops import OpOverload

from ..symbolic.shapes import TensorSpec

Layouts: TypeAlias = tuple[tuple[int, ...] | None, ...]  # strides by tangent; None: undefined


# ---------------------------------------------------------------- how forward's arguments are made


@dataclass(frozen=True, slots=True)
class Input:
    """The caller's input `index` as it is; as an output, the caller's own object."""

    index: int

    def take(self, inputs: Sequence[Any]) -> Any:
        return inputs[self.index]

    def make(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        return inputs[self.index]


@dataclass(frozen=True, slots=True)
class Storage:
    """All memory behind input `index` as one flat tensor of its dtype, `numel` elements long.

    Several inputs share it and one of them is written to: the graph sees the memory, and the
    inputs as views of it.
    """

    index: int
    numel: int

    def take(self, inputs: Sequence[Any]) -> Any:
        return inputs[self.index].detach().as_strided((self.numel,), (1,), 0)


Argument: TypeAlias = Input | Storage


# -------------------------------------------------------------------- what the user's function gets


@dataclass(frozen=True, slots=True)
class Fresh:
    """Result `index` of the forward. Two outputs of one index are one object."""

    index: int

    def make(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        return results[self.index]


@dataclass(frozen=True, slots=True)
class Step:
    """One view of a tensor, `op(base, *args, **kwargs)`. The places of as_strided count from the
    base's first element."""

    op: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def look(self, base: Tensor) -> Tensor:
        args = self.args
        if self.op is torch.ops.aten.as_strided.default:
            args = (*args[:2], base.storage_offset() + args[2])
        return cast(Tensor, self.op(base, *args, **self.kwargs))


@dataclass(frozen=True, slots=True)
class View:
    """What the program itself did to look at an input, or at a result that other outputs see too:
    autograd and in-place writes see the views that they see in eager. Cut off from autograd where
    `detached`."""

    of: Input | Fresh
    steps: tuple[Step, ...]
    detached: bool

    def make(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        base: Tensor = self.of.make(results, inputs)
        seen = base.detach() if self.detached else base
        for step in self.steps:
            seen = step.look(seen)
        return base.view_as(base) if seen is base else seen


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python value; never a tensor, which would be the same object at every call."""

    value: Any

    def make(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        return self.value


Output: TypeAlias = Fresh | Input | View | Constant


# ------------------------------------------------------------------- what happens to inputs, saved


@dataclass(frozen=True, slots=True)
class Mutation:
    """Input `index` is written to.

    `result`: the forward's result to copy into it under autograd, so that the input gets a
    grad_fn; None where the graph itself writes it. `versions`: by how much the version counter
    remains to be advanced, as eager writes each time (but batch normalization's statistics
    silently).
    """

    index: int
    result: int | None
    versions: int

    def finish(self, results: Sequence[Any], inputs: Sequence[Any]) -> None:
        if self.result is not None:
            inputs[self.index].copy_(results[self.result])
        if self.versions and not inputs[self.index].is_inference():
            torch.autograd.graph.increment_version([inputs[self.index]] * self.versions)


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor that backward reads: argument `argument` of the forward, or its result `result`.

    `checked`: the user can reach its memory, so autograd's version counter must guard it.
    `readers`: the tangents whose way back reads it.
    """

    argument: int | None
    result: int | None
    checked: bool
    readers: frozenset[int]

    def take(self, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
        return results[self.result] if self.result is not None else arguments[self.argument or 0]


@dataclass(frozen=True, slots=True)
class Signature:
    """`visible` results come first; `differentiable` are those of them that get a tangent, in the
    order of `tangents`, whose layout the backward was traced for. By tangent, `frees` names those
    that autograd cannot send back any more once this one went, as it frees what they share, and
    `inside` those on whose way back its result lies. By argument, `gradients` names those that its
    gradient comes from; it has none where they are none."""

    arguments: tuple[Argument, ...]
    outputs: tuple[Output, ...]
    mutations: tuple[Mutation, ...]
    visible: int
    differentiable: tuple[int, ...] = ()
    tangents: tuple[TensorSpec, ...] = ()
    frees: tuple[frozenset[int], ...] = ()
    inside: tuple[frozenset[int], ...] = ()
    gradients: tuple[frozenset[int], ...] = ()
    saved: tuple[Saved, ...] = ()

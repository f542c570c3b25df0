"""Output shapes of ATen operators, computed by ATen.

Most operators are *structured*: a C++ function checks the operands and allocates the outputs, then
calls the operator's out= form to fill them. We call exactly that function, on meta tensors, and
stop at the filling; dtype promotion, strides and error messages are therefore eager's own. (The
kernels registered for meta tensors compute the same in Python, but import sympy and torch._dynamo,
and take a hundred times longer.) Composite operators run their C++ body in the same way. Views run
on meta tensors as they are. What remains is in rules.py, or comes from the meta kernels after all.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from ..errors import Unsupported

META = torch.device("meta")
Run: TypeAlias = Callable[[Any, Any, torch.device], Any]
Rule: TypeAlias = Callable[..., Any]
# (device, *args, **kwargs) -> meta tensors, by operator with or without overload; see rules.py
RULES: dict[str, Rule] = {}


class Stop(Exception):
    """Here a shape does not follow; the caller asks the meta kernel."""


class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode of ours."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch wraps our __torch_dispatch__ and imports 2 s of modules


class _Body(Mode):  # type: ignore[no-untyped-call]
    """Runs a C++ body for its allocations: what writes into a tensor does nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        how, kwargs = plan(func), kwargs or {}
        if not how.writes:
            return how.run(args, kwargs, META)
        if torch.Tag.inplace_view in func.tags:
            return func(*args, **kwargs)
        if self is COMPOSITE and any(t.shape == (0,) for t in how.written(args, kwargs)):
            raise Stop(f"{func} would resize its output")
        return _in_place(func, args, kwargs, META)


STRUCTURED, COMPOSITE = _Body(), _Body()  # type: ignore[no-untyped-call]
BODIES = {
    "CompositeExplicitAutogradNonFunctional": STRUCTURED,
    "CompositeExplicitAutograd": COMPOSITE,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How one operator finds its shapes. `run(args, kwargs, device)`: meta tensors in and out."""

    run: Run
    writes: tuple[str | int, ...]  # positions and names of the operands that it writes to
    decomposes: bool  # a composite that autograd would have taken apart
    takes_device: bool

    def written(self, args: Any, kwargs: Any) -> list[torch.Tensor]:
        found = [kwargs.get(w) if isinstance(w, str) else args[w] for w in self.writes]
        flat = [t for x in found for t in (x if isinstance(x, list | tuple) else [x])]
        return [t for t in flat if t is not None]


def _body(
    func: OpOverload, key: Any, body: _Body, args: Any, kwargs: Any, device: torch.device
) -> Any:
    _push_mode(body)
    try:
        out = func._op_dk(key, *args, **kwargs)
        loops = torch.Tag.pointwise in func.tags and not plan(func).writes
        if loops and device.type == "cpu" and isinstance(out, torch.Tensor):
            cast = cast_operands(args, out.dtype)
            out = out if cast is None else func._op_dk(key, *cast, **kwargs)
        return out
    except Stop:
        pass
    finally:
        _pop_mode()
    return func(*args, **kwargs)


def cast_operands(args: Sequence[Any], dtype: torch.dtype) -> list[Any] | None:
    """On the CPU a loop first casts its operands to the dtype that it computes in, which packs
    those with gaps and so changes the strides of the result. None where it changes nothing."""
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if all(t.is_contiguous() for t in tensors):
        return None
    if dtype == torch.bool:  # a comparison computes in the common dtype of its operands
        dtype = functools.reduce(torch.promote_types, [t.dtype for t in tensors])
    pack = plan(torch.ops.aten.empty_like.default).run
    odd = [isinstance(a, torch.Tensor) and a.dtype != dtype for a in args]
    return [pack((a,), {"dtype": dtype}, META) if o else a for a, o in zip(args, odd)]


def _meta(func: OpOverload, args: Any, kwargs: Any, device: torch.device) -> Any:
    try:
        return func(*args, **kwargs)
    except RuntimeError as e:
        # a custom operator without register_fake tells it by its message only
        if isinstance(e, NotImplementedError) or "no fake impl" in str(e):
            raise Unsupported(f"{func} has no shape rule", "register_fake gives it one") from e
        raise


def _refuse(reason: str, hint: str, args: Any, kwargs: Any, device: torch.device) -> Any:
    raise Unsupported(reason, hint)


def _rule(rule: Rule, func: OpOverload, args: Any, kwargs: Any, device: torch.device) -> Any:
    try:
        return rule(device, *args, **kwargs)
    except Stop:
        return func(*args, **kwargs)


def _name(func: OpOverload) -> str:
    """Such as aten::add.Tensor, or aten::relu for the default overload."""
    return func.name()  # type: ignore[no-untyped-call, no-any-return]


def _has(func: OpOverload, key: str) -> bool:
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(_name(func), key)
    except RuntimeError:  # an operator of TorchScript, such as aten::size
        return False


def _writes(func: OpOverload) -> tuple[str | int, ...]:
    """Positions, of keyword-only arguments names, of the operands that it writes to."""
    return tuple(
        a.name if a.kwarg_only else i
        for i, a in enumerate(func._schema.arguments)
        if a.alias_info is not None and a.alias_info.is_write
    )


def _choose(func: OpOverload) -> Run:
    if any(a.is_out for a in func._schema.arguments):
        return partial(_filled, func)
    rule = RULES.get(_name(func).removeprefix("aten::"))
    if rule is not None:
        return partial(_rule, rule, func)
    if {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & {*func.tags}:
        return partial(_refuse, f"{func} depends on data", "keep it in tensors of known shape")
    if torch.Tag.inplace_view in func.tags:
        return partial(_refuse, f"{func} changes its operand's shape", "use the form without _")
    return from_aten(func)


def from_aten(func: OpOverload) -> Run:
    """By the C++ body if there is one that allocates before it computes."""
    if func.namespace != "aten" or func.is_view:
        return partial(_meta, func)
    for key, body in BODIES.items():
        if _has(func, key):
            return partial(_body, func, getattr(torch._C.DispatchKey, key), body)
    if _writes(func) and all(r.alias_info is not None for r in func._schema.returns):
        return partial(_in_place, func)
    return partial(_meta, func)


def _filled(func: OpOverload, args: Any, kwargs: Any, device: torch.device) -> Any:
    """The kernel checks what it is given for a result, and resizes it where the shape is another:
    a copy here, as nobody else would know."""
    outs = {w: torch.empty_like(kwargs[w]) for w in _writes(func)}
    _meta(func, args, {**kwargs, **outs}, device)
    if any(out.shape != kwargs[w].shape for w, out in outs.items()):
        raise Unsupported(f"{func} resizes its output", "give it one of the right shape")
    return _in_place(func, args, kwargs, device)


def _in_place(func: OpOverload, args: Any, kwargs: Any, device: torch.device) -> Any:
    """Without a check of its own: the operands stay what they are."""
    returned = plan(func).written(args, kwargs)[: len(func._schema.returns)]
    return returned[0] if len(returned) == 1 else tuple(returned) or None


@functools.cache
def plan(func: OpOverload) -> Plan:
    """Decided once an operator."""
    decomposes = _has(func, "CompositeImplicitAutograd")
    takes_device = any(a.name == "device" for a in func._schema.arguments)
    return Plan(_choose(func), _writes(func), decomposes, takes_device)

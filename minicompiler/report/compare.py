"""Eager is the judge: run a program both ways and compare everything a user could see.

Values (against eager, within what eager itself loses against float64), dtypes, shapes, strides,
which outputs alias which inputs and each other, mutated arguments, gradients, exceptions.
"""

import contextlib
import copy
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

DEEP = 4  # objects within objects that are taken apart to be compared


@dataclass
class Run:
    """What one run of a program did."""

    outputs: Any = None
    error: BaseException | None = None
    inputs: Any = None  # after the call
    gradients: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Difference:
    """What a user could tell apart; for values, at the element where it is largest."""

    place: str  # outputs[0], inputs[1], gradients[2], aliases, error
    what: str
    eager: Any = None
    other: Any = None
    largest: float = math.nan

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def visible(tree: Any, deep: int = DEEP) -> Any:
    """With modules and other objects taken apart into what can be seen of them."""

    def apart(leaf: Any) -> Any:
        if isinstance(leaf, nn.Module):
            plain = {k: v for k, v in vars(leaf).items() if not k.startswith("_")}
            return {**plain, **dict(leaf.named_parameters()), **dict(leaf.named_buffers())}
        if isinstance(leaf, types.MethodType):
            return {"method": leaf.__func__, "self": visible(leaf.__self__, deep)}
        if deep and opaque(leaf) and hasattr(leaf, "__dict__"):
            return {"class": type(leaf), **visible(dict(vars(leaf)), deep - 1)}
        return leaf

    return tree_map(apart, tree)


def opaque(leaf: Any) -> bool:
    """Equal to nothing but itself, so that a copy must be compared otherwise."""
    named = callable(leaf) or isinstance(leaf, types.ModuleType)
    return getattr(type(leaf), "__eq__") is object.__eq__ and not named  # noqa: B009  (for mypy)


def tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(visible(tree)) if isinstance(leaf, torch.Tensor)]


def original(fn: Any) -> Any:
    """What `compile` was given, where `fn` is what it gave back: that is compiled by itself, so
    neither what eager does nor how it is made could be seen on it."""
    if type(fn).__name__ == "CompiledModule":
        return vars(fn)["_original"]
    name = getattr(getattr(fn, "__code__", None), "co_qualname", "")
    ours = name == "under_hook.<locals>.call" and "_torchdynamo_disable" not in vars(fn)
    return vars(fn)["__wrapped__"] if ours else fn


def clone(inputs: Any, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy that keeps strides, aliasing among the inputs, and which of them require grad:
    what was computed from others becomes a leaf. Copies with one `memo` alias as the originals."""
    memo = {} if memo is None else memo
    for leaf in tree_leaves(inputs):
        if isinstance(leaf, torch.Tensor) and not leaf.is_leaf and id(leaf) not in memo:
            made = copy.deepcopy(leaf.detach(), memo)
            memo[id(leaf)] = made.requires_grad_(leaf.requires_grad)
    return copy.deepcopy(inputs, memo)


@contextlib.contextmanager
def ambient_kept() -> Iterator[None]:
    """Whatever the block does to grad mode and autocast ends with it."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.set_grad_enabled(torch.is_grad_enabled()))
        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            enabled, dtype = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
            stack.enter_context(torch.autocast(device, dtype=dtype, enabled=enabled))
        yield


def run(fn: Callable[..., Any], inputs: Sequence[Any], backward: bool = True) -> Run:
    """Call, then backpropagate a fixed cotangent through every output that wants one."""
    done = Run(inputs=inputs)
    torch.manual_seed(0)
    try:
        done.outputs = fn(*inputs)
        wants = [t for t in tensors(done.outputs) if t.requires_grad]
        leaves = [t for t in tensors(inputs) if t.requires_grad and t.is_leaf]
        if backward and wants and leaves:
            cotangents = [cotangent(t) for t in wants]
            done.gradients = list(torch.autograd.grad(wants, leaves, cotangents, allow_unused=True))
    except Exception as error:
        done.error = error
    return done


def cotangent(t: torch.Tensor) -> torch.Tensor:
    """Numbers that differ from element to element, the same in both runs."""
    flat = torch.cos(torch.arange(t.numel(), dtype=torch.float64) + 1)
    return flat.reshape(t.shape).to(t)


def aliases(done: Run) -> list[tuple[int, int]]:
    """Pairs of outputs and inputs (in one list, outputs first) that share storage."""
    together = [*tensors(done.outputs), *tensors(done.inputs)]
    storages = [t.untyped_storage()._cdata for t in together]
    n = len(tensors(done.outputs))
    return [
        (i, j)
        for i in range(n)
        for j in range(i + 1, len(together))
        if storages[i] == storages[j] and together[i].numel()
    ]


def differences(
    eager: Run, other: Run, exact: Run | None = None, epsilons: Mapping[str, float] | None = None
) -> list[Difference]:
    """Empty: nothing. `exact` is eager's run in float64, where there is one; `epsilons` tells by
    place of tensors that are less exact than their dtype, as they came by way of another."""
    if eager.error is not None or other.error is not None:
        if type(eager.error) is type(other.error):
            return []
        what = f"raised {other.error!r}, eager {eager.error!r}"
        return [Difference("error", what, eager.error, other.error)]
    found = []
    for name in ("outputs", "inputs", "gradients"):
        left, structure = tree_flatten(visible(getattr(eager, name)))
        right, second = tree_flatten(visible(getattr(other, name)))
        if structure != second:
            found.append(Difference(name, f"structure {second}, eager {structure}"))
            continue
        truth = tree_leaves(visible(getattr(exact, name))) if exact is not None else left
        truth = truth if len(truth) == len(left) else left
        for i, (x, y, z) in enumerate(zip(left, right, truth)):
            place = f"{name}[{i}]"
            found += _differ(place, x, y, z, (epsilons or {}).get(place, 0.0))
    if aliases(eager) != aliases(other):
        found.append(Difference("aliases", f"{aliases(other)}, eager {aliases(eager)}"))
    return found


def _differ(place: str, eager: Any, other: Any, exact: Any, epsilon: float) -> list[Difference]:
    if not isinstance(eager, torch.Tensor) or not isinstance(other, torch.Tensor):
        same = type(eager) is type(other) and (
            eager == other or (eager != eager and other != other) or opaque(eager)
        )
        return [] if same else [Difference(place, f"{other!r}, eager {eager!r}", eager, other)]
    traits = ["dtype", "shape", "device", "requires_grad", "is_leaf"]
    if eager.numel() > 1 and eager.shape == other.shape:
        traits.append("stride")
    for trait in traits:
        a, b = getattr(eager, trait), getattr(other, trait)
        a, b = (a(), b()) if callable(a) else (a, b)
        if trait == "stride" and place.startswith("gradients"):
            # along a dimension of size 1 eager's own differ with how the tangent is laid out
            a, b = (tuple(s for s, n in zip(c, eager.shape) if n > 1) for c in (a, b))
        if a != b:
            return [Difference(place, f"{trait} {b}, eager {a}", a, b)]
    return _differ_in_value(place, eager.detach(), other.detach(), exact, epsilon)


def _differ_in_value(
    place: str, eager: torch.Tensor, other: torch.Tensor, exact: Any, epsilon: float
) -> list[Difference]:
    if not eager.numel():
        return []
    inexact = eager.is_floating_point() or eager.is_complex()
    if not inexact and torch.equal(eager, other):
        return []
    wide = torch.complex128 if eager.is_complex() else torch.float64
    e, o = eager.to(wide), other.to(wide)
    usable = inexact and isinstance(exact, torch.Tensor) and exact.shape == e.shape
    truth = exact.detach().to(wide) if usable else e
    odd = (e.isnan() != o.isnan()) | ((e.isinf() | o.isinf()) & (e != o) & ~e.isnan())
    finite = e.isfinite() & o.isfinite() & truth.isfinite()
    lost = torch.where(finite, e - truth, 0).abs().max().item()
    scale = max(torch.where(finite, truth, 0).abs().max().item(), 1e-30)
    epsilon = max(epsilon, torch.finfo(eager.dtype).eps) if inexact else 0.0
    allowed = 4 * lost + 32 * epsilon * scale
    off = torch.where(finite, o - truth, 0).abs()
    if not odd.any() and off.max().item() <= allowed and inexact:
        return []
    off = off.masked_fill(odd, math.inf)
    if not inexact:
        off = (o - e).abs().masked_fill(eager != other, 1.0).maximum((o - e).abs())
    flat = int(off.argmax())
    at = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), off.shape))
    left, right = eager[at].item(), other[at].item()
    largest = off.max().item()
    what = f"{right!r} at {at}, eager {left!r}; off by {largest:.3g}, allowed {allowed:.3g}"
    return [Difference(place, what, left, right, largest)]


def in_float64(inputs: Any) -> Any:
    """The same inputs with every tensor of less precision in float64 (aliasing is lost)."""

    def wide(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x.dtype in (torch.float32, torch.bfloat16, torch.half):
            return x.detach().double().requires_grad_(x.requires_grad)
        return x

    return tree_map(wide, inputs)

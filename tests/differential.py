"""Eager is the judge: run a program both ways and compare everything a user could see.

Values (against eager, within what eager itself loses against float64), dtypes, shapes, strides,
which outputs alias which inputs and each other, mutated arguments, gradients, exceptions.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_map

import minicompiler


@dataclass
class Run:
    """What one run of a program did."""

    outputs: Any = None
    error: BaseException | None = None
    inputs: Any = None  # after the call
    gradients: list[Any] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def graphs(self) -> int:
        return self.stats["graphs"]

    @property
    def breaks(self) -> int:
        return self.stats["breaks"]

    @property
    def reasons(self) -> list[str]:
        return self.stats["reasons"]


def visible(tree: Any) -> Any:
    """With modules and other objects taken apart into what can be seen of them."""

    def apart(leaf: Any) -> Any:
        if isinstance(leaf, nn.Module):
            plain = {k: v for k, v in vars(leaf).items() if not k.startswith("_")}
            return {**plain, **dict(leaf.named_parameters()), **dict(leaf.named_buffers())}
        return leaf

    return tree_map(apart, tree)


def tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(visible(tree))[0] if isinstance(leaf, torch.Tensor)]


def clone(inputs: Any) -> Any:
    """A deep copy that keeps strides, aliasing among the inputs, and which of them are leaves."""
    return copy.deepcopy(inputs)


def run(fn: Callable[..., Any], inputs: tuple[Any, ...], backward: bool = True) -> Run:
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
    return flat.reshape(t.shape).to(t.dtype)


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


def differences(eager: Run, compiled: Run, exact: Run | None = None) -> list[str]:
    """What a user could tell apart, in words; empty: nothing."""
    if eager.error is not None or compiled.error is not None:
        if type(eager.error) is type(compiled.error):
            return []
        return [f"raised {compiled.error!r}, eager {eager.error!r}"]
    found = []
    for name in ("outputs", "inputs", "gradients"):
        a, b = visible(getattr(eager, name)), visible(getattr(compiled, name))
        (left, structure), (right, other) = tree_flatten(a), tree_flatten(b)
        if structure != other:
            found.append(f"{name}: structure {other}, eager {structure}")
            continue
        truth = tree_flatten(visible(getattr(exact, name)))[0] if exact is not None else left
        truth = truth if len(truth) == len(left) else left
        for i, (x, y, z) in enumerate(zip(left, right, truth)):
            found += [f"{name}[{i}]: {text}" for text in _differ(x, y, z)]
    if aliases(eager) != aliases(compiled):
        found.append(f"aliases {aliases(compiled)}, eager {aliases(eager)}")
    return found


def _differ(eager: Any, compiled: Any, exact: Any) -> list[str]:
    if not isinstance(eager, torch.Tensor):
        same = type(eager) is type(compiled) and (
            eager == compiled or (eager != eager and compiled != compiled)
        )
        return [] if same else [f"{compiled!r}, eager {eager!r}"]
    if not isinstance(compiled, torch.Tensor):
        return [f"{compiled!r}, eager a tensor"]
    found = []
    for what in ("dtype", "shape", "device", "requires_grad", "is_leaf"):
        if getattr(eager, what) != getattr(compiled, what):
            found.append(f"{what} {getattr(compiled, what)}, eager {getattr(eager, what)}")
    if not found and eager.numel() > 1 and eager.stride() != compiled.stride():
        found.append(f"strides {compiled.stride()}, eager {eager.stride()}")
    if found:
        return found
    e, c = eager.detach(), compiled.detach()
    if not (e.is_floating_point() or e.is_complex()):
        return [] if torch.equal(e, c) else [f"{c.tolist()}, eager {e.tolist()}"]
    exact = exact.detach() if isinstance(exact, torch.Tensor) and exact.shape == e.shape else e
    wide = torch.complex128 if e.is_complex() else torch.float64
    e, c, exact = e.to(wide), c.to(wide), exact.to(wide)
    if not torch.equal(e.isnan(), c.isnan()) or not torch.equal(e.isinf(), c.isinf()):
        return [f"not finite elsewhere: {c.tolist()}, eager {e.tolist()}"]
    finite = e.isfinite() & exact.isfinite()
    e, c, exact = e[finite], c[finite], exact[finite]
    epsilon = torch.finfo(eager.dtype).eps
    scale = max(exact.abs().max().item() if exact.numel() else 0.0, 1e-30)
    allowed = 4 * (e - exact).abs().max().item() + 32 * epsilon * scale if e.numel() else 0.0
    worst = (c - exact).abs().max().item() if e.numel() else 0.0
    return [] if worst <= allowed else [f"off by {worst:.3g}, allowed {allowed:.3g}"]


def in_float64(inputs: Any) -> Any:
    """The same inputs with every float32 tensor in float64 (aliasing among them is lost)."""

    def wide(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x.dtype in (torch.float32, torch.bfloat16):
            return x.detach().double().requires_grad_(x.requires_grad)
        return x

    return tree_map(wide, inputs)


def check_against_eager(
    fn: Callable[..., Any], *inputs: Any, backward: bool = True, calls: int = 1, **options: Any
) -> Run:
    """Compile `fn`, call it, raise AssertionError with the differences. `calls` times in a row, on
    equal inputs: the second call runs what the first one compiled."""
    minicompiler.reset()
    compiled_fn = minicompiler.compile(fn, **options)
    for _ in range(calls):
        eager = run(fn, clone(inputs), backward)
        compiled = run(compiled_fn, clone(inputs), backward)
        found = differences(eager, compiled)
        assert not found, "\n".join(found)
    compiled.stats = minicompiler.stats()
    return compiled

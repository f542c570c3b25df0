"""Compiled graphs as something that autograd knows: the form without the run-time extension.

What the compiled forward and backward leave open is in the signature: copies into inputs under
autograd, outputs that are views, saved inputs whose version autograd must check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

if TYPE_CHECKING:
    from ..aot.signature import Signature
    from ..symbolic.shapes import TensorSpec

Flat: TypeAlias = Callable[[list[Any]], Sequence[Any]]  # takes and empties a list

DOUBLE_BACKWARD = (
    b"minicompiler: the gradient of a compiled graph has no gradient of its own; call the function "
    b"uncompiled where create_graph=True is needed"
)


def bind(signature: Signature, forward: Flat, backward: Flat | None) -> Callable[..., Any]:
    """-> f(*inputs), which returns the tuple that the captured function returns. Where `backward`
    has an attribute `without`, that gives the backward for when some tangents are undefined; else
    these are taken to be zero."""
    run = quietly(forward)
    if backward is not None:
        run = differentiable(signature, run, backward)

    def call(*inputs: Any) -> tuple[Any, ...]:
        results = run([argument.take(inputs) for argument in signature.arguments])
        for mutation in signature.mutations:
            mutation.finish(results, inputs)
        return tuple(output.make(results, inputs) for output in signature.outputs)

    return call


def quietly(run: Flat) -> Flat:
    """Autograd and autocast have had their say when the graph was traced."""

    def call(arguments: list[Any]) -> Sequence[Any]:
        with torch.no_grad(), torch._C._DisableAutocast():
            return run(arguments)

    return call


def differentiable(signature: Signature, forward: Flat, backward: Flat) -> Flat:
    """The forward with a grad_fn that runs the backward."""

    class Compiled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> tuple[Any, ...]:
            results = list(forward(list(arguments)))
            ctx.save_for_backward(*(s.take(arguments, results) for s in signature.saved))
            ctx.symbols = results[len(results) - len(signature.symbols) :]
            visible = results[: signature.visible]
            ctx.mark_non_differentiable(
                *(r for i, r in enumerate(visible) if i not in signature.differentiable)
            )
            ctx.set_materialize_grads(False)
            return tuple(visible)

        @staticmethod
        def backward(ctx: Any, *grads: Tensor | None) -> Any:
            tangents = [grads[i] for i in signature.differentiable]
            defined = {i for i, t in enumerate(tangents) if t is not None}
            missing = frozenset(range(len(tangents))) - defined
            special = getattr(backward, "without", None) if missing else None
            run = quietly(special(missing) if special else backward)
            given = [
                None if special and t is None else as_traced(t, spec)
                for t, spec in zip(tangents, signature.tangents)
            ]
            gradients = run([*ctx.saved_tensors, *ctx.symbols, *given])
            reached = [
                g if needs is not None and needs & defined else None
                for g, needs in zip(gradients, signature.gradients)
            ]
            return tuple(once_only(reached) if torch.is_grad_enabled() else reached)

    apply: Any = Compiled.apply
    return lambda arguments: apply(*arguments)


def as_traced(tangent: Tensor | None, spec: TensorSpec) -> Tensor:
    """The tangent in the layout that backward was traced for; zeros where autograd has none."""
    size, stride = [int(n) for n in spec.size], [int(n) for n in spec.stride]
    if tangent is not None and tangent.dtype == spec.dtype and tangent.stride() == tuple(stride):
        return tangent
    memory = torch.empty_strided(size, stride, dtype=spec.dtype, device=spec.device)
    return memory.zero_() if tangent is None else memory.copy_(tangent)


def once_only(gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Gradients that raise when they are differentiated, as torch.compile's do."""
    raising: Any = torch._C._functions.DelayedError(DOUBLE_BACKWARD, 1)
    return [None if g is None else raising(g.detach().requires_grad_()) for g in gradients]

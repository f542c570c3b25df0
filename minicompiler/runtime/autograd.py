"""Compiled graphs as something that autograd knows: the form without the run-time extension.

What the compiled forward and backward leave open is in the signature: copies into inputs under
autograd, outputs that are views, saved inputs whose version autograd must check.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ..ir.signature import Layouts, Signature
from .python_runtime import Flat, laid_out

# for tangents like these: the strides that they must be copied to, if they differ, and what then
# runs on the saved values and the tangents
Backward: TypeAlias = Callable[[Layouts], tuple[Layouts, Flat]]

TWICE = (
    "Trying to backward through the graph a second time: what a compiled graph saved is freed by "
    "the first. Specify retain_graph=True there."
)
DOUBLE_BACKWARD = (
    b"minicompiler: the gradient of a compiled graph has no gradient of its own; call the function "
    b"uncompiled where create_graph=True is needed"
)


def bind(signature: Signature, forward: Flat, backward: Backward | None) -> Callable[..., Any]:
    """-> f(*inputs), which returns the tuple that the captured function returns."""
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

    def call(arguments: list[Any]) -> Any:
        with torch.no_grad(), torch._C._DisableAutocast():
            return run(arguments)

    return call


def differentiable(signature: Signature, forward: Flat, backward: Backward) -> Flat:
    """The forward with a grad_fn that runs the backward."""

    class Compiled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> tuple[Any, ...]:
            results = list(forward(list(arguments)))
            ctx.save_for_backward(*(s.take(arguments, results) for s in signature.saved))
            ctx.spent, ctx.kept = set[int](), None
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
            if not defined:
                return (None,) * len(signature.arguments)
            if ctx.spent & defined:
                raise RuntimeError(TWICE)
            saved = _saved(ctx, signature, defined)
            used, run = backward(tuple(None if t is None else t.stride() for t in tangents))
            given = [
                t if t is None or stride is None else laid_out(t, stride)
                for t, stride in zip(tangents, used)
            ]
            gradients = quietly(run)([*saved, *given])
            return tuple(once_only(gradients) if torch.is_grad_enabled() else gradients)

    apply: Any = Compiled.apply
    return lambda arguments: apply(*arguments)


def _saved(ctx: Any, signature: Signature, defined: set[int]) -> list[Tensor | None]:
    """What was saved, as far as it is read on the way back of these tangents. The engine lets go of
    it, so what others will read is kept beside, and the versions checked as autograd would."""
    values = ctx.kept
    if values is None:
        values = [(x, x._version) for x in ctx.saved_tensors] if signature.saved else []
    if not torch._C._autograd._get_current_graph_task_keep_graph():
        ctx.spent.update(*(signature.frees[i] for i in defined))
        ctx.kept = [
            (None, 0) if s.readers <= ctx.spent or x is None else (x.detach(), version)
            for s, (x, version) in zip(signature.saved, values)
        ]
    read = [bool(s.readers & defined) for s in signature.saved]
    for s, needed, (x, version) in zip(signature.saved, read, values):
        if needed and s.checked and x._version != version:
            raise RuntimeError("a saved tensor has been modified by an inplace operation")
    return [x if needed else None for needed, (x, _) in zip(read, values)]


def once_only(gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Gradients that raise when they are differentiated, as torch.compile's do."""
    raising: Any = torch._C._functions.DelayedError(DOUBLE_BACKWARD, 1)
    return [None if g is None else raising(g.detach().requires_grad_()) for g in gradients]

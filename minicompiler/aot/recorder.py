"""ATen calls on fakes, written down in order: the forward, then what the autograd engine does."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from ..errors import Unsupported
from ..settings import config
from ..symbolic.fake import Fake, FakeMode, aten, look_as, substitute, tensors
from . import rng
from .schema import Form, functional_form, view_form


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """`outs = op(*args, **kwargs)`, tensors as Fakes; an in-place call returns its operand."""

    op: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: Any
    phase: str  # "forward" or "backward"
    stack: str  # the user's line
    effect: bool  # takes numbers from a generator: keeps its place

    @property
    def given(self) -> dict[str, Any]:
        """The arguments by name."""
        return dict(zip((a.name for a in self.op._schema.arguments), self.args)) | self.kwargs

    @property
    def form(self) -> Form | None:
        """How to do without writing; None where nothing is written. Batch normalization in training
        updates its running statistics, which its schema does not say."""
        form, given = functional_form(self.op), self.given
        if form is None or self.op._schema.is_mutable:
            return form
        return form if given["training"] and given["running_mean"] is not None else None

    @property
    def written(self) -> list[Fake]:
        form, given = self.form, self.given
        return tensors([given.get(name) for name in form.written]) if form else []


def _batch_norm(x: Tensor, *rest: Any) -> Any:
    return *aten.native_batch_norm.default(x, *rest), torch.empty(0, device=x.device)


def _batch_norm_backward(x: Tensor, grad: Tensor, *rest: Any) -> Any:
    *operands, eps, _reserve = rest
    return aten.native_batch_norm_backward.default(grad, x, *operands, True, eps, [True] * 3)


# what a library's kernel computes, said without the library
DEVICE_NEUTRAL = {
    aten.cudnn_batch_norm.default: _batch_norm,
    aten.cudnn_batch_norm_backward.default: _batch_norm_backward,
}


class Recorder(FakeMode):  # type: ignore[no-untyped-call]
    """Records what happens within it to `calls`.

    Random operators become arithmetic on `minicompiler::random`; those that have no such rule, or
    all of them under `config.fallback_random`, stay calls with an effect. Either way a draw has an
    identity: a token from torch's real generator. Activation checkpointing restores the generator
    before it computes anew, gets the same token, and so the same numbers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.phase, self.stack = "forward", ""
        self.seeds: dict[torch.device, Fake] = {}  # its length is known at the end: see drawn
        # the indices of seeds: the same token and number of a draw give the same seed
        self.drawn: dict[torch.device, dict[tuple[int, int], int]] = {}
        self._values: dict[int, Tensor] = {}  # token -> what an operator without a rule drew
        self._effect = False

    def record(self, func: OpOverload, args: Any, kwargs: Any, outs: Any) -> None:
        if func._schema.is_mutable and func._schema.name.startswith("aten::_foreach_"):
            # for lists the version is counted in the kernels, which do not run here
            torch.autograd.graph.increment_version(args[0])
        stack = self.stack
        if self.phase == "backward":
            node: Any = torch._C._current_autograd_node()
            stack = node.metadata.get("stack", stack) if node is not None else stack
        checks = not func._schema.returns and not func._schema.is_mutable  # what it does is raise
        effect = self._effect or checks
        self.calls.append(Call(func, tuple(args), dict(kwargs), outs, self.phase, stack, effect))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        form = view_form(func)
        if form is not None:
            before = self._as_it_was(args[0])
            seen = super().__torch_dispatch__(form, types, (before, *args[1:]), kwargs)
            look_as(args[0], seen.meta)
            return args[0]
        if func is torch.ops.aten._linalg_check_errors.default:  # its result is its exception
            raise Unsupported("an error of torch.linalg depends on data", "use its _ex form")
        if func in DEVICE_NEUTRAL:
            with self:
                return DEVICE_NEUTRAL[func](*args, **kwargs)
        if rng.draws(func, args, kwargs) and func is not rng.seeds:
            return self._random(func, args, kwargs)
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _as_it_was(self, x: Fake) -> Fake:
        """A stand-in for `x`, whose shape is about to change, in the calls so far."""
        if self.phase == "backward":
            raise Unsupported("a shape is changed in place during backward")
        before = Fake(x.meta, x.device)

        def swap(part: Any) -> Any:
            return substitute(part, Fake, lambda f: before if f is x else f)

        self.calls = [
            replace(c, args=swap(c.args), kwargs=swap(c.kwargs), outs=swap(c.outs))
            for c in self.calls
        ]
        return before

    def _random(self, func: OpOverload, args: Any, kwargs: dict[str, Any]) -> Any:
        """In place, a copy of what the functional form draws, so that it has a name of its own."""
        if kwargs.get("generator") is not None:
            raise Unsupported("a random generator as an argument", "use the default generator")
        token = int(torch.randint(2**62, ()))  # the mode is off here: torch's own generator
        form = functional_form(func)
        if form is None or len(form.written) != 1 or func._schema.name[-1] != "_":
            return self._drawn(func, args, kwargs, token)
        target, args = args[0], form.arguments(args, kwargs)
        drawn = self._drawn(form.op, args, kwargs, token, target.is_contiguous())
        with self:
            return target.copy_(drawn)

    def _drawn(
        self, func: OpOverload, args: Any, kwargs: Any, token: int, in_order: bool = True
    ) -> Any:
        """What the operator gives, by its rule, else the call as it is; not `in_order`: that draws
        in another order than the operator in place."""
        if not config.fallback_random and func in rng.RULES:
            with self:
                result = rng.RULES[func](self._drawing(token), *args, **kwargs)
            if result is not NotImplemented:
                return result
        if not in_order:
            raise Unsupported(f"{func} of memory with gaps or another order", "clone() it")
        if token not in self._values:
            self._effect = True
            drawn = super().__torch_dispatch__(func, (), args, kwargs)
            self._effect = False
            if not isinstance(drawn, Tensor):  # several results: attention, recurrent layers
                return drawn
            with self:
                self._values[token] = drawn.clone()  # what is returned may be written to
        with self:
            return self._values[token].clone()

    def _drawing(self, token: int) -> rng.Draw:
        """Draws of one random operator, numbered."""
        numbers = itertools.count()

        def draw(kind: str, size: Sequence[Any], device: torch.device) -> Tensor:
            if device not in self.seeds:
                with _disable_current_modes():
                    meta = torch.empty(1, dtype=torch.int64, device="meta")
                self.seeds[device], self.drawn[device] = Fake(meta, device), {}
            drawn = self.drawn[device]
            index = drawn.setdefault((token, next(numbers)), len(drawn))
            where = {"dtype": torch.int64 if kind == "randint" else torch.float32, "device": device}
            return cast(Tensor, rng.random(list(size), self.seeds[device], index, kind, **where))

        return draw

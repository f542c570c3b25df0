"""Random tensor programs agree with eager, and where one does not, the first stage is named."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import minicompiler
from minicompiler.report.bisecting import nudged
from minicompiler.report.compare import Run, tensors, visible
from tests.differential import differences, run
from tests.properties.tensor_programs import Program, tensor_programs

SLOW = dict(deadline=None, suppress_health_check=list(HealthCheck))
STAGES = ("capture", "aot", "lower", "codegen", None)


class Exactness(TorchDispatchMode):
    """How exact tensors are, by storage: a float64 that was a float32 on its way is no more exact
    than that."""

    def __init__(self) -> None:
        super().__init__()
        self.epsilon = dict[int, float]()
        self.alive = list[Any]()  # a storage's number is given again when it dies

    def of(self, tree: Any) -> float:
        keys = [t.untyped_storage()._cdata for t in tensors(tree)]
        return max((self.epsilon.get(key, 0.0) for key in keys), default=0.0)

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = op(*args, **(kwargs or {}))
        before = self.of((args, kwargs))
        for t in tensors(out):
            own = torch.finfo(t.dtype).eps if t.is_floating_point() else 0.0
            key = t.untyped_storage()._cdata
            self.epsilon[key] = max(self.epsilon.get(key, 0.0), before, own)
            self.alive.append(t)
        return out

    def places(self, done: Run) -> dict[str, float]:
        return {
            f"{name}[{i}]": self.of(leaf)
            for name in ("outputs", "inputs", "gradients")
            for i, leaf in enumerate(tree_leaves(visible(getattr(done, name))))
        }


def first_stage_that_differs(program: Any, check: Callable[..., list[str]]) -> str:
    """Run the real code part of the way, further and further."""
    for stage in STAGES:
        if found := check(program, {"stop_after": stage, "verify": True}):
            return f"after {stage or 'the run time'}:\n" + "\n".join(found)
    return "none, when compiled again"


def exact(inputs: Any) -> Any:
    """The inputs in float64."""

    def wide(x: Any) -> Any:
        is_single = isinstance(x, torch.Tensor) and x.dtype == torch.float32
        return x.detach().double().requires_grad_(x.requires_grad) if is_single else x

    return tree_map(wide, inputs)


def check(program: Program, options: dict[str, object]) -> list[str]:
    minicompiler.reset()
    compiled = minicompiler.compile(program.function(), options=options)
    eager = run(program.function(), program.inputs())
    with Exactness() as exactness:
        epsilons = exactness.places(run(program.function(), program.inputs()))
    try:
        other = run(compiled, program.inputs())
        if differences(eager, other, epsilons=epsilons):
            # where terms cancel, the last bit of the inputs matters more than that of the results,
            # and an operator may be far from what float64 gives (the tail of gelu)
            found = [
                differences(eager, other, run(program.function(), inputs), epsilons)
                for inputs in (nudged(program.inputs()), exact(program.inputs()))
            ]
            return list(map(str, min(found, key=len)))
        return []
    except minicompiler.CompilerError as error:
        return [f"{type(error).__name__}: {error}"]


def agrees(program: Program) -> None:
    found = check(program, {"verify": True})
    if found:
        note(repr(program))
        note(str(minicompiler.bisect(program.function(), *program.inputs())))
    assert not found, found


@settings(max_examples=40, **SLOW)
@given(tensor_programs())
def test_programs(program: Program) -> None:
    agrees(program)


@pytest.mark.slow
@settings(max_examples=1000, **SLOW)
@given(tensor_programs(statements=14))
def test_long_programs(program: Program) -> None:
    agrees(program)


def test_no_result_is_more_exact_than_what_it_came_from() -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = torch.tanh(y).double() + x
        return z, x * 2, z.long()

    inputs = torch.rand(3).double().requires_grad_(), torch.rand(3).requires_grad_()
    with Exactness() as exactness:
        done = run(f, inputs)
    single, double = (torch.finfo(t).eps for t in (torch.float32, torch.float64))
    found = exactness.places(done)
    assert [found[f"outputs[{i}]"] for i in range(3)] == [single, double, single]
    assert found["gradients[1]"] == single

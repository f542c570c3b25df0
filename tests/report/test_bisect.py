"""A fault is planted in a stage; `bisect` names the stage and shows a program of few operations."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from typer.testing import CliRunner

import minicompiler
from minicompiler import decompositions, lowering, runtime, schedule
from minicompiler.capture import data_model
from minicompiler.codegen import cpp_ops
from minicompiler.decompositions.table import RULES
from minicompiler.ir import ops
from minicompiler.lowering.lazy import each
from minicompiler.lowering.table import LOWERINGS
from minicompiler.report import Divergence
from minicompiler.report.compare import clone
from minicompiler.tools.cli import app

aten = torch.ops.aten
Fault = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return torch.randn(3, 5, requires_grad=True), torch.randn(5)


def block(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Every operator that a fault is planted in, among others."""
    y = torch.tanh(x) * w
    z = F.softplus(y + 1)
    a = torch.sin(z) - torch.exp(-y)
    return a * a.sum(-1, keepdim=True), a.detach().mean()


def wrong_rule(patch: pytest.MonkeyPatch) -> None:
    wrong = lambda x, beta=1, threshold=20: torch.log1p(torch.exp(x)) + 1
    patch.setitem(RULES, aten.softplus.default, wrong)


def wrong_rule_of_a_gradient(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(RULES, aten.tanh_backward.default, lambda grad, y: grad * y)


def wrong_lowering(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(LOWERINGS, aten.sin.default, lambda x: each(ops.cos, x))


def wrong_text(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(cpp_ops.OPS, "sin", "cos({all})")


def wrong_fusion(patch: pytest.MonkeyPatch) -> None:
    right = schedule.kernel

    def kernel(group: Any, name: str, needed: Any) -> Any:
        made = right(group, name, needed)
        if len(group.nodes) == 1:
            return made
        *others, last = made.nodes
        inner = last.loop.inner
        more = lambda *index: ops.add(inner(*index), ops.constant(1, last.layout.dtype))
        return replace(made, nodes=(*others, replace(last, loop=replace(last.loop, inner=more))))

    patch.setattr(schedule, "kernel", kernel)


def wrong_plan(patch: pytest.MonkeyPatch) -> None:
    right = runtime.load

    def load(*args: Any) -> Any:
        run = right(*args)
        native = runtime.extension.module() is not None
        return (lambda given: [x * 2 for x in run(given)]) if native else run

    patch.setattr(runtime, "load", load)


def wrong_bytecode(patch: pytest.MonkeyPatch) -> None:
    right = data_model.binary
    swapped = lambda ev, symbol, a, b, inplace=False: right(
        ev, "+" if symbol == "-" else symbol, a, b, inplace
    )
    patch.setattr(data_model, "binary", swapped)


def error_in(where: Any, name: str) -> Fault:
    def plant(patch: pytest.MonkeyPatch) -> None:
        def broken(*args: Any, **kwargs: Any) -> Any:
            raise KeyError("planted")

        patch.setattr(where, name, broken)

    return plant


def refused_text(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(cpp_ops.OPS, "sin", "there is no such function({all})")


FAULTS: list[tuple[Fault, str, int, str]] = [
    # fault, the stage, operations that it takes to show it, a word of what to look at
    (wrong_bytecode, "capture", 1, "graph"),
    (wrong_rule, "aot", 1, "log1p"),
    (wrong_rule_of_a_gradient, "aot", 1, "tangents_1"),
    (wrong_lowering, "lower", 1, "cos"),
    (wrong_text, "codegen", 1, "cos("),
    (wrong_fusion, "schedule", 2, "launch"),
    (wrong_plan, "runtime", 1, "def call"),
    (error_in(decompositions, "decompose"), "aot", 1, ""),
    (error_in(lowering.graph, "_call"), "lower", 1, ""),
    (refused_text, "codegen", 1, "no such function"),
]


@pytest.mark.parametrize(
    ("plant", "stage", "operations", "word"), FAULTS, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_planted_fault(
    plant: Fault, stage: str, operations: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = minicompiler.bisect(block, *inputs())
    assert found is not None
    print(found)
    assert found.stage == stage
    assert found.operations <= operations
    assert word in found.look
    if stage != "capture":  # whose fault is in what comes before the graph
        assert shows_it(found) == stage


def shows_it(found: Divergence) -> str | None:
    """The stage that the program of a divergence differs in, when it is run by itself."""
    scope: dict[str, Any] = {"__name__": "shown"}
    exec(found.source, scope)
    again = minicompiler.bisect(scope["f"], *scope["inputs"])
    return again and again.stage


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(5, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        y = F.dropout(self.norm(self.linear(x)), 0.5, self.training)
        print(end="")  # breaks the graph
        return y + torch.rand_like(y)


def test_agreement_leaves_no_trace() -> None:
    torch.manual_seed(0)
    net, x = Net(), torch.randn(4, 5, requires_grad=True)
    before, state = clone(dict(net.state_dict())), torch.get_rng_state()
    assert minicompiler.bisect(net, x) is None
    assert net.calls == 0 and x.grad is None
    assert torch.equal(state, torch.get_rng_state())
    after = net.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def writes(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x[0] = 1
    x.mul_(2)
    return x[i] + 1


def test_writes_and_errors_are_compared() -> None:
    x = torch.randn(3, 4)
    assert minicompiler.bisect(writes, x, torch.tensor([2, -1])) is None
    assert minicompiler.bisect(writes, x, torch.tensor([2, 7])) is None  # raises IndexError


def test_a_random_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own random numbers are judged by ourselves."""
    right = ops.random
    wrong = lambda kind, seed, offset: right("rand" if kind == "randn" else kind, seed, offset)
    monkeypatch.setattr(ops, "random", wrong)
    found = minicompiler.bisect(lambda x: (torch.randn(5) + x).exp().sum(), torch.ones(5))
    assert found is not None and found.stage == "lower" and found.operations == 1
    assert "randn" in found.source


def test_large_inputs_are_written_in_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_lowering(monkeypatch)
    found = minicompiler.bisect(lambda x: torch.sin(x.t() + 1) * 2, torch.randn(40, 50))
    assert found is not None and found.stage == "lower"
    assert len(found.source) < 20_000 and shows_it(found) == "lower"


SOURCE = """
import torch

def f(x):
    return torch.sin(x) + 1

example_inputs = torch.ones(3),
"""


@pytest.mark.parametrize("faulty", [False, True])
def test_from_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faulty: bool) -> None:
    (tmp_path / "program.py").write_text(SOURCE)
    if faulty:
        wrong_lowering(monkeypatch)
    done = CliRunner().invoke(app, ["bisect", f"{tmp_path / 'program.py'}:f"])
    assert done.exit_code == int(faulty), done.output
    assert ("lower differs from eager" if faulty else "every stage agrees") in done.output

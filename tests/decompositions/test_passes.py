"""Dead code, common subexpressions, constants: fewer nodes, the same values, no new aliases."""

from typing import Any

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from minicompiler import lowering
from minicompiler.decompositions import decompose
from tests.aot.check import compiled, run_both

torch.set_num_threads(1)
aten = torch.ops.aten


def graph(f: Any, *inputs: Any) -> Any:
    run = run_both(f, list(inputs), exact=False, rewrite=lambda g: decompose(g, lowering.KNOWN))
    return run.joint.graph


def targets(g: Any) -> list[str]:
    return [n.target._schema.name[6:] for n in g.nodes if hasattr(n.target, "_schema")]


def test_equal_calls_become_one():
    g = graph(lambda x: (x.sin() + x.sin()) * (x.sin() + x.sin()), torch.randn(3))
    assert targets(g) == ["sin", "add", "mul"]


def test_equal_results_stay_apart():
    g = graph(lambda x: (x + 1, x + 1, (x + 1).sin(), (x + 1)[0]), torch.randn(3))
    assert targets(g).count("add") == 3  # the third is a view's base


def test_numbers_of_different_type_are_different():
    g = graph(lambda x: x.to(torch.int64) * 1 + (x * 1.0).to(torch.int64) * True, torch.randn(3))
    assert targets(g).count("mul") == 3


def test_draws_are_never_shared():
    run = compiled(
        lambda: torch.rand(3) + torch.rand(3), [], lambda g: decompose(g, lowering.KNOWN)
    )
    assert [str(n.target) for n in run.joint.graph.nodes].count("minicompiler.random.default") == 2


def test_checkpointed_code_is_not_shared_with_what_it_repeats():
    def f(x, w):
        return checkpoint(lambda x: (x @ w).tanh() @ w, x, use_reentrant=False).sin()

    g = graph(f, torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True))
    assert targets(g).count("mm") == 3 + 4


def test_arithmetic_on_constants():
    def f(x):
        c = torch.ones(3) * 2 + torch.full((3,), 0.5)
        return x * c.exp().to(torch.float64).float(), torch.zeros(2, 2).view(4) + 1

    g = graph(f, torch.randn(3))
    assert targets(g) == ["full", "mul", "full"]


def test_folding_keeps_the_dtypes_arithmetic():
    g = graph(lambda x: x + (torch.full((3,), 200, dtype=torch.uint8) + 100), torch.zeros(3))
    (full,) = [n for n in g.nodes if n.target is aten.full.default]
    assert full.args[1] == 44
    g = graph(lambda x: x + torch.full((3,), 2.7).to(torch.int64), torch.zeros(3))
    (full,) = [n for n in g.nodes if n.target is aten.full.default]
    assert full.args[1] == 2


def test_operands_that_give_a_shape_are_forgotten():
    g = graph(lambda x: torch.zeros_like(x.sin()) + x.exp().new_ones(2, 1), torch.randn(2, 3))
    assert not {"sin", "exp"} & set(targets(g))


def test_nothing_dead_remains():
    g = graph(lambda x: (x.sin(), x.cos().exp())[0], torch.randn(3, requires_grad=True))
    assert all(n.users for n in g.nodes if n.op == "call_function")


def test_decomposed_operators_carry_the_users_line():
    run = compiled(
        lambda x: F.layer_norm(x, (4,)),
        [torch.randn(3, 4, requires_grad=True)],
        lambda g: decompose(g, lowering.KNOWN),
    )
    calls = [n for n in run.joint.graph.nodes if n.op == "call_function"]
    assert calls and all("test.py:1" in n.meta["stack"] for n in calls)

"""The cut between forward and backward: what is saved, what is computed again, and why."""

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from minicompiler import lowering, report
from minicompiler.decompositions import decompose
from minicompiler.settings import overriding
from tests.aot.check import compiled

torch.set_num_threads(1)
aten = torch.ops.aten


class Block(nn.Module):
    """A transformer block with attention written out."""

    def __init__(self, d: int = 32, heads: int = 4, p: float = 0.1) -> None:
        super().__init__()
        self.heads, self.p = heads, p
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.f1, self.f2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, C = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.dropout(((q @ k.transpose(-1, -2)) / 8).softmax(-1), self.p) @ v
        x = x + F.dropout(self.o(a.transpose(1, 2).reshape(B, T, C)), self.p)
        return x + F.dropout(self.f2(F.gelu(self.f1(self.n2(x)))), self.p)


def block(x, *parameters):
    names = [name for name, _ in BLOCK.named_parameters()]
    return torch.func.functional_call(BLOCK, dict(zip(names, parameters)), (x,))


torch.manual_seed(0)
BLOCK = Block()


def inputs(batch=4, time=16):
    torch.manual_seed(1)
    x = torch.randn(batch, time, 32, requires_grad=True)
    return [x, *(p.detach().clone().requires_grad_() for p in BLOCK.parameters())]


def saved_bytes(run):
    """Memory that outlives the forward because of the backward."""
    graph = run.parts.backward.graph
    kept = [n for n in graph.nodes if n.op == "placeholder" and not n.name.startswith("tangents")]
    specs = [n.meta["val"] for n in kept if not n.name.startswith("primals")]
    return sum(int(s.nbytes) for s in specs)


def eager_bytes(fn, args):
    seen, own = {}, {x.untyped_storage()._cdata for x in args}

    def pack(t):
        storage = t.untyped_storage()
        if storage._cdata not in own:
            seen[storage._cdata] = storage.nbytes(), t
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = fn(*args)
    return sum(size for size, _ in seen.values())


def gradients(run, args):
    torch.manual_seed(3)
    out = run.call(*args)[0]
    return torch.autograd.grad(out.sin().sum(), args)


def compile_block(budget=1.0, args=None):
    with overriding({"memory_budget": budget}):
        return compiled(block, args or inputs(), lambda g: decompose(g, lowering.KNOWN))


def test_saves_less_than_eager():
    run = compile_block()
    assert saved_bytes(run) < 0.85 * eager_bytes(block, inputs())


def test_budget_buys_memory_with_work_and_changes_no_value():
    runs = [compile_block(b) for b in (1.0, 0.7, 0.4, 0.1, 0.0)]
    sizes = [saved_bytes(run) for run in runs]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) >= 4, sizes
    for run, budget in zip(runs[1:-1], (0.7, 0.4)):
        assert saved_bytes(run) <= budget * sizes[0]
    assert sizes[-1] <= 64, "the seeds at most"
    reference = gradients(runs[0], inputs())
    for run in runs[1:]:
        for a, b in zip(reference, gradients(run, inputs())):
            torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-5)


def calls(graph, *targets):
    return [n for n in graph.nodes if n.target in targets]


def test_costly_operators_run_once():
    run = compile_block()
    products = (aten.mm.default, aten.addmm.default, aten.bmm.default)
    forward = len(calls(run.parts.forward.graph, *products))
    # each product has two in backward, one an operand
    assert forward == 6 and len(calls(run.parts.backward.graph, *products)) == 2 * forward


def test_checkpointed_region_is_not_saved():
    def f(x, w1, w2):
        return checkpoint(lambda x: F.gelu(x @ w1) @ w2, x, use_reentrant=False).sin()

    args = [torch.randn(n, n, requires_grad=True) for n in (16, 16, 16)]
    run = compiled(f, args, lambda g: decompose(g, lowering.KNOWN))
    # sin needs the region's result, the region nothing but its inputs
    assert saved_bytes(run) == 16 * 16 * 4
    assert len(calls(run.parts.backward.graph, aten.mm.default)) == 1 + 4


def test_random_draws_without_a_rule_are_never_repeated():
    with overriding({"fallback_random": True, "memory_budget": 0.0}):
        run = compiled(
            lambda x: F.dropout(x.sin(), 0.5).exp(), [torch.randn(64, requires_grad=True)]
        )
    assert len(calls(run.parts.forward.graph, aten.bernoulli.p)) == 1
    assert not calls(run.parts.backward.graph, aten.bernoulli.p)


def test_a_written_input_is_not_read_by_backward():
    def f(x, b):
        y = x * b.clone()
        b.add_(1)
        return y

    run = compiled(f, [torch.randn(8, requires_grad=True), torch.randn(8)])
    assert all(s.argument != 1 for s in run.parts.signature.saved)


def test_half_precision_copies_of_parameters_are_kept_as_eager_keeps_them():
    def f(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return F.linear(x, w)

    run = compiled(
        f, [torch.randn(8, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)]
    )
    kinds = {
        str(n.meta["val"].dtype) for n in run.parts.backward.graph.nodes if n.op == "placeholder"
    }
    assert kinds == {"torch.bfloat16"}


def test_recomputation_waits_until_it_is_needed():
    def f(x):
        for _ in range(4):
            x = (x * 2).sin().cos() @ x
        return x

    run = compiled(f, [torch.eye(8).requires_grad_()])
    order = [n.target for n in run.parts.backward.graph.nodes if n.op == "call_function"]
    sines = [i for i, target in enumerate(order) if target is aten.sin.default]
    first_product = order.index(aten.mm.default)
    assert sum(i > first_product for i in sines) >= 3


def test_what_is_saved_is_reported_with_the_users_line():
    record = report.Record()
    with report.recording(record):
        run = compile_block()
    assert record.counts["saved_bytes"] == saved_bytes(run)
    whys = [w for w in record.whys if w.stage == "aot" and w.verdict == "saved"]
    assert len(whys) == len(run.parts.signature.saved)
    assert all(w.reason and "stack" in w.data for w in whys)


def test_inference_has_no_backward():
    with torch.no_grad():
        run = compiled(block, inputs())
    assert run.parts.backward is None and not run.parts.signature.differentiable
    run = compiled(lambda x: x.sin(), [torch.randn(3)])
    assert run.parts.backward is None


def test_stacks_reach_the_backward():
    run = compiled(lambda x: (x @ x).sin(), [torch.randn(3, 3, requires_grad=True)])
    late = [n for n in run.parts.backward.graph.nodes if n.target is aten.mm.default]
    assert late and all("test.py:1" in n.meta["stack"] for n in late)


@pytest.mark.parametrize("n", [3])
def test_symmetric_cuts_prefer_what_the_user_cannot_write(n):
    """`y` is returned and the user may write to it: what backward needs is saved beside it."""

    def f(x):
        y = x.exp()
        return y, (y + 1).sin()

    run = compiled(f, [torch.randn(n, requires_grad=True)])
    x = torch.randn(n, requires_grad=True)
    y, z = run.call(x)
    y.detach().mul_(1)
    assert z.requires_grad

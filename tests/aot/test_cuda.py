"""The same programs on a GPU: other kernels are chosen, other generators are used."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from minicompiler import lowering
from minicompiler.decompositions import decompose
from tests.aot import test_mutation, test_programs
from tests.aot.check import compiled, run_both

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
aten = torch.ops.aten
# programs that make their tensors on the CPU
HERE = {"factories", "autocast", "lstm", "index_put", "index_put_and_mask", "scatter_in_place"}
HERE |= {"out_argument", "rows_and_columns", "written_constant", "constants_are_fresh"}
HERE |= {"integers_and_booleans", "buffer_becomes_differentiable", "shapes_changed_in_place"}
PROGRAMS = {
    name: program
    for name, program in (test_programs.PROGRAMS | test_mutation.PROGRAMS).items()
    if name not in HERE
}


def on_gpu(inputs):
    moved = [x.detach().cuda().requires_grad_(x.requires_grad) for x in inputs]
    return [
        y if x.is_contiguous() else y.as_strided(x.shape, y.stride()) for x, y in zip(inputs, moved)
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    fn, inputs = PROGRAMS[name]
    for rewrite in (None, lambda g: decompose(g, lowering.KNOWN)):
        run_both(fn, on_gpu(inputs()), exact=False, rewrite=rewrite)


def test_dropout_and_checkpointing():
    def f(x):
        y = checkpoint(lambda x: F.dropout(x, 0.5), x, use_reentrant=False)
        return F.dropout(y, 0.5), y

    x = torch.ones(400, device="cuda", requires_grad=True)
    run = compiled(f, [x])
    torch.manual_seed(0)
    z, y = run.call(x)
    (z.sum() + y.sum()).backward()
    assert torch.equal(x.grad, z + y) and 0 < (z != 0).sum() < (y != 0).sum() < 400
    torch.manual_seed(0)
    assert torch.equal(run.call(x)[0], z)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_stays_one_operator(dtype):
    q = torch.randn(2, 4, 128, 64, device="cuda", dtype=dtype, requires_grad=True)
    run = compiled(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), [q])
    names = [str(n.target) for n in run.parts.forward.graph.nodes]
    assert any("scaled_dot_product" in name for name in names), names


def test_autocast():
    def f(x, w):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return F.layer_norm(F.linear(x, w), (8,)).sum(1)

    inputs = [torch.randn(n, 8, device="cuda", requires_grad=True) for n in (4, 8)]
    for rewrite in (None, lambda g: decompose(g, lowering.KNOWN)):
        run_both(f, inputs, exact=False, rewrite=rewrite)

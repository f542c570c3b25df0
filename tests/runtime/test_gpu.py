"""Plans on a GPU: launches repeated from C++ wherever Triton would have launched the same."""

import pytest
import torch
from torch import fx, nn

import minicompiler
from minicompiler import pipeline, report
from minicompiler.runtime import extension
from minicompiler.settings import overriding

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


class Program(nn.Module):
    def forward(self, x, w):
        return (torch.relu(x @ w).sin() * w.sum(0), x.softmax(-1))


def inputs(rows=32, **kwargs):
    return [torch.randn(rows, 64, device="cuda", **kwargs), torch.randn(64, 64, device="cuda")]


@pytest.fixture(params=["python", "extension"])
def compiled(request):
    with overriding({"python_runtime": request.param == "python"}):
        return pipeline.compile_graph(fx.symbolic_trace(Program()), inputs())


def check(compiled, given):
    for ours, eager in zip(compiled(*given), Program()(*given)):
        torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-4)


def test_other_values_each_time(compiled):
    for _ in range(4):
        check(compiled, inputs())


def test_buffers_that_are_less_aligned(compiled):
    x, w = inputs()
    for _ in range(2):
        check(compiled, [torch.randn(32 * 64 + 1, device="cuda")[1:].view(32, 64), w])
        check(compiled, [x, w])


def test_the_stream_of_the_caller(compiled):
    given = inputs()
    check(compiled, given)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        given[0].add_(1)
        outputs = compiled(*given)
    stream.synchronize()
    for ours, eager in zip(outputs, Program()(*given)):
        torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-4)


def test_training(compiled):
    x, w = (t.requires_grad_() for t in inputs())
    with overriding({"python_runtime": False}):
        trained = pipeline.compile_graph(fx.symbolic_trace(Program()), [x, w])
    for _ in range(3):
        sums = [sum(o.sum() for o in f(x, w)) for f in (trained, Program())]
        ours, eager = (torch.autograd.grad(s, (x, w)) for s in sums)
        for a, b in zip(ours, eager):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_peak_memory_is_no_higher_than_eagers(compiled):
    given = inputs(1 << 14)
    with report.recording(report.Record()):
        large = pipeline.compile_graph(fx.symbolic_trace(Program()), given)

    def peak(f):
        f(*given)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        f(*given)
        return torch.cuda.max_memory_allocated() - before

    assert extension.module() is not None
    assert peak(large) <= peak(Program())


def test_a_tensor_that_is_none():
    """The backward of attention without a mask gets None where its schema says Tensor."""
    attend = nn.functional.scaled_dot_product_attention
    given = [torch.randn(2, 4, 12, 8, device="cuda", requires_grad=True) for _ in range(3)]
    gradients = []
    for f in (attend, minicompiler.compile(attend)):
        gradients.append(torch.autograd.grad(f(*given).sin().sum(), given))
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)

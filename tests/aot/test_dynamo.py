"""As a backend of torch.compile: Dynamo captures, and guards less than our own capture does."""

import pytest
import torch

import minicompiler

torch.set_num_threads(1)


@pytest.mark.parametrize("apart_first", [True, False])
def test_inputs_that_overlap_later(apart_first: bool) -> None:
    def write(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return a + b

    def seen(f):
        memory, outs = torch.zeros(6), []
        for step in (0, 1, 2, 3, 0, 2):
            step = step if apart_first else 3 - step
            apart = torch.zeros(3), torch.zeros(3)
            outs.append(f(*(apart if step == 0 else (memory[:3], memory[step : step + 3]))))
        return [*outs, memory]

    compiled = torch.compile(write, backend=minicompiler.dynamo_backend)
    for a, b in zip(seen(write), seen(compiled), strict=True):
        assert torch.equal(a, b)


def test_training() -> None:
    layer = torch.nn.Linear(4, 2)
    x = torch.rand(3, 4)
    compiled = torch.compile(layer, backend=minicompiler.dynamo_backend)
    compiled(x).sum().backward()
    mine = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer(x).sum().backward()
    for a, p in zip(mine, layer.parameters(), strict=True):
        torch.testing.assert_close(a, p.grad)


SIZED = {
    "pointwise": lambda x: x * 2,
    "everything": lambda x: (x * 2).mean(),
    "rows": lambda x: torch.nn.functional.layer_norm(x, (6,)).relu().cumsum(0),
    "product": lambda x: torch.relu(x @ x.T),
    "a size": lambda x: x * x.shape[0],
}


@pytest.mark.parametrize("dynamic", [None, True, False])
@pytest.mark.parametrize("name", sorted(SIZED))
def test_sizes_that_dynamo_leaves_open(name, dynamic):
    torch._dynamo.reset()
    f = SIZED[name]
    compiled = torch.compile(f, backend="minicompiler", dynamic=dynamic)
    for n in (8, 3, 5, 11, 8):
        x = torch.randn(n, 6, requires_grad=n != 5)
        y = x.detach().clone().requires_grad_(x.requires_grad)
        expected, found = f(x), compiled(y)
        torch.testing.assert_close(found, expected)
        if x.requires_grad:
            expected.sum().backward()
            found.sum().backward()
            torch.testing.assert_close(y.grad, x.grad)


def test_options_and_mode_are_those_of_compile():
    f = lambda x: x.sin()
    x = torch.ones(2)
    for more in ({"options": {"fusion": False}}, {"mode": "default"}):
        torch._dynamo.reset()
        found = torch.compile(f, backend="minicompiler", **more)(x)
        torch.testing.assert_close(found, f(x))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="the option fusion is of type bool, not 'maybe'"):
        torch.compile(f, backend="minicompiler", options={"fusion": "maybe"})(x)

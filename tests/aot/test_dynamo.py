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

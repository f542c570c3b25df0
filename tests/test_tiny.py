"""The whole path in seconds: every stage of the real compiler on programs a person can follow."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import minicompiler
from tests.differential import check_against_eager


def rand(*shape: int, grad: bool = False) -> torch.Tensor:
    numbers = torch.Generator().manual_seed(len(shape))
    return torch.randn(*shape, generator=numbers).requires_grad_(grad)


class Block(nn.Module):
    """Normalisation, two linear layers, an activation, a residual connection."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.down(F.gelu(self.up(self.norm(x))))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "interpret", "auto"])
def test_every_backend_trains_a_block(backend: str) -> None:
    torch.manual_seed(0)
    block = Block()
    run = check_against_eager(
        lambda x, block: F.mse_loss(block(x), torch.tanh(x)), rand(4, 16), block, backend=backend
    )
    assert run.graphs == 1 and run.breaks == 0


def test_pointwise_operators_become_one_kernel() -> None:
    run = check_against_eager(lambda x, y: torch.tanh(x * y + 1).sin() * x, rand(8, 8), rand(8))
    assert run.stats["kernels"] == 1 and run.stats["fallback_ops"] == 0


def test_softmax_is_one_kernel() -> None:
    run = check_against_eager(lambda x: torch.softmax(x, -1), rand(6, 33))
    assert run.stats["kernels"] == 1 and run.stats["fallback_ops"] == 0


def test_a_branch_on_a_tensor_breaks_the_graph() -> None:
    def branchy(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y - 1

    run = check_against_eager(branchy, rand(4), calls=2)
    assert run.graphs == 2 and run.breaks == 1
    assert "branches on the value of a tensor" in run.reasons[0]


def test_side_effects_happen_once_and_in_order() -> None:
    def effects(x: torch.Tensor, log: list[Any], seen: dict[str, Any]) -> torch.Tensor:
        y = x.sin()
        log.append(y)
        seen["last"] = len(log)
        x.add_(1)
        return y * len(log)

    run = check_against_eager(effects, rand(3), [], {})
    assert run.breaks == 0


def test_another_size_compiles_again_and_says_why() -> None:
    minicompiler.reset()
    double = minicompiler.compile(lambda x: x * 2 + 1)
    for n in (3, 4, 3):
        assert torch.equal(double(torch.ones(n)), torch.full((n,), 3.0))
    assert minicompiler.stats()["recompiles"] == 1
    assert "size" in minicompiler.stats()["recompile_reasons"][0]


def test_dropout_repeats_under_a_seed_and_its_backward_sees_the_same_mask() -> None:
    minicompiler.reset()
    drop = minicompiler.compile(lambda x: F.dropout(x, 0.5))
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        x = torch.ones(64, requires_grad=True)
        y = drop(x)
        y.sum().backward()
        assert torch.equal(x.grad, y.detach())
        results.append(y.detach())
    assert torch.equal(*results) and 0 < (results[0] == 0).sum() < 64


def test_fullgraph_names_the_line_and_the_way_out() -> None:
    @minicompiler.compile(fullgraph=True)
    def f(x: torch.Tensor) -> torch.Tensor:
        print("value", x)
        return x + 1

    with pytest.raises(minicompiler.Unsupported, match="test_tiny.py"):
        f(torch.ones(2))


def test_a_compiled_module_stays_a_module() -> None:
    block = Block()
    compiled = minicompiler.compile(block)
    assert isinstance(compiled, Block)
    assert list(compiled.state_dict()) == list(block.state_dict())
    assert not compiled.eval().training and not block.training
    compiled(rand(2, 16))
    assert block.calls == 1

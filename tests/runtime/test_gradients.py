"""What a user can do with the gradients of compiled functions, held against eager: both the node of
the extension and autograd.Function."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import minicompiler
from minicompiler.report.compare import Run, differences
from minicompiler.settings import config

torch.set_num_threads(1)


@pytest.fixture(params=["python", "extension"], autouse=True)
def run_time(request, monkeypatch):
    monkeypatch.setattr(config, "python_runtime", request.param == "python")
    return request.param


def both(use: Callable[[Callable[..., Any]], Any], fn: Callable[..., Any]) -> None:
    """`use(fn)` must give the same, or raise the same, with `fn` compiled."""
    runs = []
    for f in (fn, minicompiler.compile(fn)):
        minicompiler.reset()
        run = Run()
        try:
            run.outputs = use(f)
        except Exception as error:
            run.error = error
        runs.append(run)
    assert not minicompiler.stats()["reasons"]
    assert not differences(*runs), "\n".join(map(str, differences(*runs)))


def leaf(*size: int, seed: int = 0) -> Tensor:
    made = torch.rand(size, generator=torch.Generator().manual_seed(seed))
    return made.requires_grad_()


def parts(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    h = x.exp()
    return h * 2, h.log() + x, (y * y).sin(), x + 1


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("order", [(0, 2), (2, 0), (0, 1), (3, 3), (3, 0, 3), (2, 2), (2, 3, 2)])
def test_backwards_through_outputs_one_by_one(order, keep):
    """Autograd frees what an output's history saved; other outputs may share it or not."""

    def use(f):
        x, y = leaf(3), leaf(3, seed=1)
        outs = f(x, y)
        for i in order:
            outs[i].sum().backward(retain_graph=keep)
        return x.grad, y.grad

    both(use, parts)


def test_an_output_that_took_no_part_contributes_nothing():
    def use(f):
        x = torch.zeros(3, requires_grad=True)
        f(x)[0].sum().backward()
        return x.grad

    both(use, lambda x: (x * 2, x.log()))


def test_a_saved_tensor_of_another_output_may_change():
    def use(f):
        x, y = leaf(3) * 1, leaf(3, seed=1) * 1
        x.retain_grad()
        a, b = f(x, y)
        with torch.no_grad():
            y.mul_(2)
        a.sum().backward()
        return x.grad, b.sum().backward()

    both(use, lambda x, y: (x * x, y * y))


TANGENTS = {
    "contiguous": lambda t: torch.rand_like(t, memory_format=torch.contiguous_format),
    "expanded": lambda t: torch.ones(()).expand(t.shape),
    "row": lambda t: torch.rand(t.shape[-1]).expand(t.shape),
    "transposed": lambda t: torch.rand(t.shape[::-1]).permute(*range(t.ndim)[::-1]),
    "sliced": lambda t: torch.rand(*t.shape, 2)[..., 0],
}
PROGRAMS = {
    "pointwise": lambda x, w: x.sin() * 2,
    "view": lambda x, w: (x * 2).view(2, 6),
    "matmul": lambda x, w: x @ w,
    "linear": lambda x, w: torch.nn.functional.linear(x, w.t()),
    "transposed": lambda x, w: (x.t() * 2).exp(),
    "reduction": lambda x, w: (x @ w).softmax(1),
    "norm": lambda x, w: torch.nn.functional.layer_norm(x, (4,)),
    "cat": lambda x, w: torch.cat([x, w.t()[:3, :4]]),
    "slice": lambda x, w: x[1:] * 3,
}


@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_tangents_of_any_layout(program, tangent):
    def use(f):
        torch.manual_seed(0)
        x, w = leaf(3, 4), leaf(4, 5, seed=1)
        y = f(x, w)
        return torch.autograd.grad(y, (x, w), TANGENTS[tangent](y), allow_unused=True)

    both(use, PROGRAMS[program])


def test_many_layouts_are_compiled_up_to_a_limit():
    def use(f):
        x = leaf(2, 3)
        y = f(x)
        for step in range(1, 12):
            tangent = torch.rand(2, 3, step, generator=torch.Generator().manual_seed(step))[..., 0]
            y.backward(tangent, retain_graph=True)
        return x.grad

    both(use, lambda x: x.sin() * 2)


def test_what_autograd_offers():
    def use(f):
        x, y = leaf(3), leaf(3, seed=1)
        unused = torch.autograd.grad(f(x, y)[0].sum(), (x, y), allow_unused=True)
        f(x, y)[2].sum().backward(inputs=[y])
        out = f(x, y)[0]
        out.register_hook(lambda g: g * 3)
        out.retain_grad()
        out.sum().backward()
        return unused, x.grad, y.grad, out.grad

    both(use, parts)
    both(lambda f: torch.autograd.grad(f(leaf(3), leaf(3))[0].sum(), leaf(3)), parts)


def test_gradcheck():
    compiled = minicompiler.compile(parts)
    x, y = (leaf(3, seed=i).detach().double().requires_grad_() for i in range(2))
    assert torch.autograd.gradcheck(compiled, (x, y))

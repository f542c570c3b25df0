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
    assert run.error or not minicompiler.stats()["reasons"]
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
    "reduction": lambda x, w: (x @ w).softmax(1) * w[:3],
    "norm": lambda x, w: torch.nn.functional.layer_norm(x, (4,)) * w.t()[:3],
    "cat": lambda x, w: torch.cat([x, w.t()[:3, :4]]),
    "slice": lambda x, w: x[1:] * 3,
    "complex": lambda x, w: torch.view_as_real(torch.view_as_complex(x.view(3, 2, 2) * 2).exp())[0],
    "strided": lambda x, w: (x * 2).as_strided((2, 3), (1, 2), 1),
    "heads": lambda x, w: (x @ w[:, :4]).view(3, 2, 2).transpose(0, 1).sin(),
}


@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_tangents_of_any_layout(program, tangent):
    def use(f):
        torch.manual_seed(7)
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
    minicompiler.reset()
    compiled = minicompiler.compile(parts)
    x, y = (leaf(3, seed=i).detach().double().requires_grad_() for i in range(2))
    assert torch.autograd.gradcheck(compiled, (x, y))


def test_views_of_inputs_are_those_of_the_program():
    def use(f):
        x = leaf(3, 4)
        outs = f(x)
        names = [y.grad_fn.name() for y in outs]
        based = [y._base is x for y in outs]
        gradients = [torch.autograd.grad(y, x, torch.rand_like(y), retain_graph=True) for y in outs]
        return names, based, [g.stride() for (g,) in gradients], outs

    both(use, lambda x: (x.t(), x[1:, 0], x.view(2, 6), x.unsqueeze(0).expand(2, 3, 4), x.view(-1)))
    both(use, lambda x: (x.diagonal(), x.permute(1, 0)[None], x[1].unfold(0, 2, 1)))


@pytest.mark.parametrize("way", ["hook", "retain_grad", "grad", "unused", "inputs"])
def test_gradients_of_outputs_that_others_are_made_of(way, run_time):
    """Only the compiled backward knows them, so they are refused, never given in part."""
    if run_time == "python":
        pytest.skip("the debug path does not see who asks")

    def program(x):
        y = x * 2
        return y, y * 3

    minicompiler.reset()
    y, z = minicompiler.compile(program)(leaf(3))
    asked = {
        "hook": lambda: (y.register_hook(lambda g: g), z.sum().backward()),
        "retain_grad": lambda: (y.retain_grad(), z.sum().backward()),
        "grad": lambda: torch.autograd.grad(z.sum(), y),
        "unused": lambda: torch.autograd.grad(z.sum(), y, allow_unused=True),
        "inputs": lambda: z.sum().backward(inputs=[y]),
    }[way]
    with pytest.raises(NotImplementedError, match="other outputs of the same compiled graph"):
        asked()


def test_gradients_of_outputs_that_no_other_is_made_of():
    def use(f):
        x = leaf(3)
        y, z = f(x)
        z.register_hook(lambda g: g * 5)
        z.retain_grad()
        (z.sum() + y.sum()).backward()
        y, _ = f(x)
        y.register_hook(lambda g: g * 7)
        y.sum().backward()
        return x.grad, z.grad, torch.autograd.grad(f(x)[0].sum(), x)

    both(use, lambda x: (x * 2, (x * 2) * 3))


def test_no_gradient_of_a_gradient_and_none_in_batches(run_time):
    minicompiler.reset()
    x = leaf(3)
    y = minicompiler.compile(lambda x: x.sin() ** 3)(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no gradient of its own"):
        g.sum().backward()
    if run_time == "extension":
        with pytest.raises(NotImplementedError, match="no batched gradient"):
            torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)


@pytest.mark.parametrize("grad_of_target", [False, True])
@pytest.mark.parametrize("name", ["huber_loss", "binary_cross_entropy", "smooth_l1_loss"])
def test_losses_of_two_dtypes(name, grad_of_target):
    def use(f):
        x, y = leaf(5), leaf(5, seed=1).detach().double().requires_grad_(grad_of_target)
        loss = f(x, y)
        loss.backward()
        return loss, x.grad, y.grad

    def program(x, y):
        return getattr(torch.nn.functional, name)(x, y)

    both(use, program)


@pytest.mark.parametrize("sizes", [((4,), (4,)), ((3, 4), (4,)), ((3,), (3, 4)), ((2, 3, 4), (4,))])
def test_vectors_in_matmul(sizes):
    def use(f):
        a, b = leaf(*sizes[0]), leaf(*sizes[1], seed=1)
        out = f(a, b)
        return out, torch.autograd.grad(out.sum(), (a, b))

    both(use, torch.matmul)
    both(use, lambda a, b: a @ b)


@pytest.mark.parametrize("op", ["%", "//", "fmod", "trunc"])
@pytest.mark.parametrize("zero", [0, torch.tensor([1, 0])])
def test_integers_divided_by_zero(op, zero):
    programs = {
        "%": lambda a: a % zero,
        "//": lambda a: a // zero,
        "fmod": lambda a: torch.fmod(a, zero),
        "trunc": lambda a: torch.div(a, zero, rounding_mode="trunc"),
    }
    both(lambda f: f(torch.tensor([1, 2])), programs[op])


def test_an_input_is_transposed_in_place():
    def use(f):
        x = torch.rand(2, 3)
        return f(x), x.shape, x.stride()

    minicompiler.reset()
    torch.manual_seed(0)
    eager = use(transposes)
    torch.manual_seed(0)
    compiled = use(minicompiler.compile(transposes))
    assert eager[1:] == compiled[1:] and torch.equal(eager[0], compiled[0])


def transposes(x):
    y = x.sin()
    x.t_()
    return x + y.t()


@pytest.mark.parametrize("taken", [(0,), (1,), (0, 1), (2,), (0, 2)])
def test_a_gradient_of_zeros_is_one(taken: tuple[int, ...]) -> None:
    def several(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.sign(), x * 2, y.exp()

    minicompiler.reset()
    seen = []
    for fn in (several, minicompiler.compile(several)):
        leaves = [torch.ones(3, requires_grad=True) for _ in range(2)]
        outs = fn(*leaves)
        sum(outs[i].sum() for i in taken).backward()  # type: ignore[union-attr]
        seen.append([t.grad if t.grad is None else t.grad.tolist() for t in leaves])
    assert repr(seen[0]) == repr(seen[1])


@pytest.mark.parametrize("python_runtime", [False, True])
@pytest.mark.parametrize("taken", [(0,), (1,), (0, 1), (2,), (0, 1, 2)])
def test_a_gradient_made_of_no_tangent_comes_with_those_that_lead_to_it(
    taken: tuple[int, ...], python_runtime: bool
) -> None:
    def several(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.pow(0), y.exp(), y.norm(0)  # zeros for x, and none at all by way of the norm

    minicompiler.reset()
    seen = []
    for fn in (several, minicompiler.compile(several, options={"python_runtime": python_runtime})):
        leaves = [torch.ones(3, requires_grad=True) for _ in range(2)]
        outs = fn(*leaves)
        sum(outs[i].sum() for i in taken).backward()  # type: ignore[union-attr]
        grads = [t.grad if t.grad is None else t.grad.tolist() for t in leaves]
        seen.append((grads, [o.requires_grad for o in outs]))
    assert repr(seen[0]) == repr(seen[1])


def test_a_result_without_any_gradient_requires_grad() -> None:
    x = torch.ones(3, requires_grad=True)
    minicompiler.reset()
    out = minicompiler.compile(lambda x: x.norm(0))(x)
    assert out.requires_grad
    out.backward()
    assert x.grad is None


@pytest.mark.parametrize("python_runtime", [False, True])
@pytest.mark.parametrize("write", ["z", "detached", "view", "argument", "indices", "none"])
def test_what_backward_reads_may_not_have_been_written(write: str, python_runtime: bool) -> None:
    def squares(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = x @ w
        largest, indices = z.max(1)
        return z, z[1:], z * z + largest, indices

    minicompiler.reset()
    seen = []
    for fn in (squares, minicompiler.compile(squares, options={"python_runtime": python_runtime})):
        x, w = torch.eye(3, requires_grad=True), torch.ones(3, 3)
        z, part, square, indices = fn(x, w)
        places = {"z": z, "detached": z.detach(), "view": part.detach(), "argument": w}
        places["indices"] = indices
        if write in places:
            places[write].mul_(2)
        try:
            square.sum().backward()
        except RuntimeError as error:
            seen.append("modified by an inplace operation" in str(error))
        else:
            seen.append(x.grad.tolist())  # type: ignore[union-attr]
    assert seen[0] == seen[1]


class Weighs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):  # type: ignore[no-untyped-def]
        return torch.add(a, b, alpha=3)


class Ignores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x.sin())
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):  # type: ignore[no-untyped-def]
        return ctx.saved_tensors[0].clone()


@pytest.mark.parametrize("function", [Weighs, Ignores])
@pytest.mark.parametrize("taken", [(0,), (1,), (0, 1)])
def test_a_sum_without_one_operand_and_a_gradient_of_no_tangent(
    taken: tuple[int, ...], function: type[torch.autograd.Function]
) -> None:
    minicompiler.reset()
    seen = []
    for fn in (function.apply, minicompiler.compile(lambda x: function.apply(x))):
        x = torch.ones(3, requires_grad=True)
        outs = fn(x)
        sum(outs[i].sum() for i in taken).backward()  # type: ignore[union-attr]
        seen.append(x.grad.tolist())  # type: ignore[union-attr]
    assert seen[0] == pytest.approx(seen[1])

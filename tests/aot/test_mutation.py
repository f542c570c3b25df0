"""In-place operators, views, out=, mutated and overlapping inputs: all a user could notice."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import minicompiler
from minicompiler.errors import Unsupported
from minicompiler.settings import overriding
from tests.aot.check import as_tuple, clones, compiled, run_both, same

torch.set_num_threads(1)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {}


class Buffer(tuple):
    """The shape of an input that does not require grad."""


def program(*inputs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def make() -> list[Any]:
        torch.manual_seed(0)
        new = lambda x: torch.randn(x) if isinstance(x, Buffer) else torch.randn(x).requires_grad_()
        return [new(x) if isinstance(x, tuple) else x.clone() for x in inputs]

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = fn, make
        return fn

    return register


B = Buffer


@program((3, 4))
def views_see_each_other(x):
    y = x * 2
    v = y.t()[1:]
    w = y[0]
    v.mul_(3)
    return w.exp(), v.cos(), y


@program((3, 4), B((4,)))
def moving_average(x, b):
    b.mul_(0.9).add_(x.detach().mean(0))
    return x * b


@program((3, 4))
def narrow_halves(x):
    y = x.clone()
    a, b = y[:, :2], y.narrow(1, 2, 2)
    a.sin_()
    b.copy_(a * 2)
    a.add_(b)
    return y


@program((4, 4))
def strided_and_diagonal(x):
    y = x * 2
    y.view(-1)[::3] = 0.0
    y.diagonal().mul_(2)
    return y.sum(1)


@program((4, 3), (3, 3))
def index_put_and_mask(x, v):
    y = x.clone()
    y.index_put_((torch.tensor([0, 2, 0]),), v, accumulate=True)
    y[y > 1] = 0.5
    return y.tanh()


@program((4, 3, 5), (3,), (3,), torch.zeros(3), torch.ones(3))
def batch_norm_then_relu_(x, w, b, mean, var):
    return F.relu_(F.batch_norm(x, mean, var, w, b, training=True))


@program((3, 4))
def rows_and_columns(x):
    out = torch.zeros(3, 4)
    for i, r in enumerate((x * 1).unbind(0)):
        out[i] = r * i
        out[:, i] += r[i]
    return out


@program(B((3, 4)))
def views_of_a_written_input(b):
    v = b[1:]
    b.add_(1)
    v.mul_(2)
    return v, b.sum(), v[0]


@program((3, 4, 5))
def permuted(x):
    y = (x * 1).permute(2, 0, 1)
    y[1].unsqueeze(-1).squeeze(-1).clamp_(min=0)
    z = y.reshape(-1)
    z.add_(1)
    return y, z


@program((3, 4), B((3, 4)))
def out_argument(x, b):
    torch.add(x.detach(), 1, out=b)
    torch.mul(b, 2, out=b[0:3])
    return x * b


@program((3, 4))
def pointwise_in_place(x):
    y = x.sigmoid()
    m = torch.empty_like(y).fill_(2.0).masked_fill_(y > 0.5, 0.0)
    z = y * 1
    z += m
    z /= 3
    return z


@program(B((3, 4)), torch.randn(3, 4, dtype=torch.float64))
def wider_operand_rounds_back(b, d):
    b.add_(d)
    b.zero_()
    b[0] = d[0]
    return b + 1


@program(B((3, 4)), B((3, 4)))
def foreach_in_place(a, b):
    torch._foreach_mul_([a, b], 0.9)
    torch._foreach_addcmul_([a], [b], [b], 2.0)
    return a + b


@program((3, 4))
def as_strided(x):
    y = x * 1
    v = y[:, :2]
    v.add_(v.detach().sin())
    w = y.as_strided((2, 2), (4, 1), 1)
    w.add_(v[:2].clone())
    return y + v.sum()


@program((3, 4))
def complex_view(x):
    c = torch.view_as_real(torch.view_as_complex((x * 1).view(3, 2, 2)))
    c[..., 0].mul_(2)
    return c


@program((3, 4))
def detached_alias(x):
    y = x * 1
    v = y[0]
    with torch.no_grad():
        y.detach()[1].fill_(7.0)
    return v * 2, y.sum() + y[1].sum()


@program((3, 4))
def written_constant(x):
    k = torch.tensor([1.0, 2.0, 3.0, 4.0])
    k.add_(1)
    y = x + k
    y.t().triu_()
    return y, y[1]


@program((3, 4))
def constants_are_fresh(x):
    return torch.tensor([1.0, 2.0]), torch.tensor(3.0), torch.arange(3), x * 1


@program((3, 4), (4,))
def buffer_becomes_differentiable(x, w):
    b = torch.zeros(3, 4)
    b[0] = x[0] * w
    return b


@program((3, 4), B((3, 4)))
def input_becomes_differentiable(x, b):
    b.mul_(2)
    b.add_(x)
    return b.sin()


@program((3, 4), B((3, 4)))
def view_of_input_becomes_differentiable(x, b):
    b[0].copy_(x[1])
    return b[0] * 2, b


@program((3, 4))
def saved_before_the_write(x):
    y = x.exp()
    z = y.clone()
    z.add_(1)
    return y * z, z


@program((3, 4), B((3, 4)))
def a_clone_is_saved_not_the_input(x, b):
    kept = b.clone()
    y = x * kept
    b.add_(1)
    return y, b


@program(B((3, 4)), B((3, 4)))
def swapped(a, b):
    t = a.clone()
    a.copy_(b)
    b.copy_(t)
    return a - b


@program(B((3, 4)))
def written_and_returned(b):
    b.relu_()
    return b, b.view(-1), b.detach(), b * 1


@program((3, 4))
def intermediate_and_its_views(x):
    y = x * 2
    return y[0], y[1:], y.detach()


@program((3, 4))
def one_output_twice(x):
    y = x.sin()
    return y, y, y.cos()


@program((3, 4))
def equal_but_distinct(x):
    return x + 1, x + 1, x.clone(), x.contiguous(), x.detach(), x.detach().clone()


@program((4, 4))
def expanded_output(x):
    return (x.sum(0) * 2).expand(3, 4), x.sum().expand(5)


@program((2, 3, 4, 4))
def channels_last_in_place(x):
    y = x.to(memory_format=torch.channels_last) * 2
    y[:, 1].mul_(3)
    y.add_(1)
    return y


@program(torch.randn(4, 6)[:, ::2])
def strided_input(b):
    b.mul_(2)
    b[1:].add_(1)
    return b.sum(0), b.t()


@program(torch.randn(10)[3:])
def input_with_an_offset(b):
    v = b[1:4]
    v.add_(1)
    return v, v * 2, b.view(7, 1)


@program(torch.tensor([3, 1, 2]), torch.tensor([True, False, True]))
def integers_and_booleans(i, m):
    i.mul_(2)
    i += 1
    m.logical_not_()
    i[m] = 7
    return i, m, i.sort()[0]


@program(B((3, 4)))
def bitcast(b):
    v = (b * 1).view(torch.int32)
    v.bitwise_and_(0x7FFFFFFF)
    return v.view(torch.float32)


@program((3, 4))
def shapes_changed_in_place(x):
    y = (x * 2).unsqueeze_(0).sin()
    z = x * 3
    z.t_().add_(y[0].t())
    z.transpose_(0, 1)[1:].add_(1)
    return y.squeeze_(0), z, torch.ones(2, 3, 4) @ x[0]


@program(B((3, 4)))
def scatter_in_place(b):
    y = b * 1
    y.scatter_(1, torch.tensor([[0], [1], [2]]), 5.0)
    y.index_fill_(0, torch.tensor([1]), -1.0)
    y.index_add_(0, torch.tensor([0, 0]), torch.ones(2, 4))
    y.fill_diagonal_(9.0)
    return y


@pytest.mark.parametrize("nonleaf", [False, True], ids=["leaf", "nonleaf"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, nonleaf):
    fn, inputs = PROGRAMS[name]
    # a view of an input is made around the graph: the engine adds its gradient in another order
    run_both(fn, inputs(), nonleaf=nonleaf, exact=name != "equal_but_distinct")


NONLEAF: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {}


def nonleaf_program(*inputs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        program(*inputs)(fn)
        NONLEAF[fn.__name__] = PROGRAMS.pop(fn.__name__)
        return fn

    return register


@nonleaf_program((3, 4), (4,))
def written_input_requires_grad(x, w):
    x.mul_(w)
    y = x * 3
    x[0].add_(1)
    return y.sin()


@nonleaf_program((3, 4), (4,))
def view_of_written_input_requires_grad(x, w):
    v = x[1:]
    v.mul_(w)
    return v, x, v.sum()


@nonleaf_program((3, 4))
def only_the_write_matters(x):
    x.sin_()
    return ()


@nonleaf_program((3, 4), (3, 4))
def two_written_inputs(x, y):
    x.add_(y)
    y.mul_(x)
    return x - y


@nonleaf_program((3, 4))
def written_without_grad(x):
    y = x.sin()
    with torch.no_grad():
        x.detach().add_(0)
    return y.detach()


@pytest.mark.parametrize("name", NONLEAF)
def test_inputs_in_the_middle_of_autograd(name):
    fn, inputs = NONLEAF[name]
    run_both(fn, inputs(), nonleaf=True, exact=not name.startswith("view"))


def test_parameter_written_without_grad():
    def step(p, g):
        with torch.no_grad():
            p.add_(g, alpha=-0.1)
        return p.sum()

    run = run_both(step, [torch.randn(3, requires_grad=True), torch.randn(3)])
    assert run.parts.signature.mutations[0].result is None, "the graph writes it itself"


def test_writes_to_lists_count_as_eager_counts_them():
    run = run_both(PROGRAMS["foreach_in_place"][0], PROGRAMS["foreach_in_place"][1]())
    assert [m.versions for m in run.parts.signature.mutations] == [2, 1]
    fn, inputs = PROGRAMS["batch_norm_then_relu_"]
    assert not any(m.versions for m in run_both(fn, inputs()).parts.signature.mutations)


def test_overlapping_inputs():
    big = torch.randn(6, 4)

    def f(a, b):
        a.add_(1)
        b.mul_(2)
        return a + b.sum(), a[1:], b

    run = run_both(f, [big[:4], big[2:]])
    assert len(run.parts.signature.arguments) == 1


def test_overlapping_inputs_that_are_only_read_stay_apart():
    big = torch.randn(6, 4)
    run = run_both(lambda a, b: (a.sum() + b, a[0]), [big[:4], big[2:]])
    assert len(run.parts.signature.arguments) == 2


def test_the_same_input_twice():
    x = torch.randn(3)

    def f(a, b):
        a.add_(1)
        return b * 2

    run_both(f, [x, x])


@pytest.mark.parametrize(
    "refused",
    [
        lambda x: x.unsqueeze_(0),  # the input's own shape
        lambda x: (x * 2).resize_(2, 2),
        lambda x: x.add_(1),  # a leaf that requires grad: eager raises
        lambda x: (lambda y, s: (y.add_(1), s)[1])(y := x.exp(), y.sin()),  # version error
        lambda x: torch.randn(3, requires_grad=True),
        lambda x: torch.randn(3, generator=torch.Generator()),
    ],
)
def test_refused(refused):
    with pytest.raises(Unsupported):
        compiled(refused, [torch.randn(3, 4, requires_grad=True)])


def test_random_in_place_gives_eagers_numbers():
    def f(x):
        y = F.dropout(x, 0.5)
        z = torch.empty(3, 4).uniform_() + torch.empty(3, 4).normal_()
        z[0].bernoulli_(0.3)
        z[1].random_(5)
        return z.lerp_(y, 0.3)

    with overriding({"fallback_random": True}):
        run_both(f, [torch.randn(3, 4, requires_grad=True)])


def test_inference_mode_around():
    with torch.inference_mode():
        x = torch.randn(3, 4)
        run = compiled(lambda x: (x.add_(1), F.linear(x, x), x[0]), [x])
        a, b = clones([x])[0], clones([x])[0]
        for mine, eager in zip(
            run.call(a), as_tuple(lambda x: (x.add_(1), F.linear(x, x), x[0]))(b)
        ):
            same(eager, mine)


def test_version_error_as_eager_when_a_saved_input_changes():
    run = compiled(lambda x, w: (x * w).sin(), [torch.randn(3, requires_grad=True), torch.randn(3)])
    x, w = torch.randn(3, requires_grad=True), torch.randn(3)
    out = run.call(x, w)[0]
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_no_version_error_when_an_output_changes_that_backward_does_not_need():
    run = compiled(lambda x: (x.sin() + 1,), [torch.randn(3, requires_grad=True)])
    x = torch.randn(3, requires_grad=True)
    run.call(x)[0].mul_(2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach().cos())


def test_double_backward_raises_clearly():
    run = compiled(lambda x: x.sin(), [torch.randn(3, requires_grad=True)])
    x = torch.randn(3, requires_grad=True)
    (g,) = torch.autograd.grad(run.call(x)[0].sum(), x, create_graph=True)
    torch.testing.assert_close(g.detach(), x.detach().cos())
    with pytest.raises(RuntimeError, match="minicompiler.*create_graph"):
        g.sum().backward()


def test_gradients_that_no_tangent_reaches_are_none():
    run = compiled(
        lambda x, y: (x.sin(), y.exp() * x),
        [torch.randn(3, requires_grad=True)] * 1 + [torch.randn(3, requires_grad=True)],
    )
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    run.call(x, y)[0].sum().backward()
    assert y.grad is None
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_tangents_of_another_layout():
    run = compiled(lambda x: x * 2, [torch.randn(3, 4, requires_grad=True)])
    x = torch.randn(3, 4, requires_grad=True)
    run.call(x)[0].backward(torch.randn(4, 3).t())
    run.call(x)[0].sum().backward()


def test_backward_twice_with_retain_graph():
    run = compiled(lambda x: x.sin().exp(), [torch.randn(3, requires_grad=True)])
    x = torch.randn(3, requires_grad=True)
    out = run.call(x)[0].sum()
    out.backward(retain_graph=True)
    first = x.grad.clone()
    out.backward()
    torch.testing.assert_close(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        out.backward()


def test_an_expanded_input_copied_to_itself():
    """The one write to it that eager allows."""

    def f(x):
        x.copy_(x)
        return x + 1

    x = torch.ones(1).expand(5)
    with overriding({"verify": True}):
        assert torch.equal(minicompiler.compile(f)(x), f(x))

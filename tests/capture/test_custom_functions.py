"""autograd.Function under capture: one node where its methods only compute, else as Python runs it.
Values, gradients, side effects and errors are eager's."""

import warnings

import pytest
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import minicompiler

torch.set_num_threads(1)
SCALE = torch.tensor(2.0)
CALLS: list[str] = []
COUNT = torch.zeros(())


class Power(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**k

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return ctx.k * x ** (ctx.k - 1) * grad, None


class Masked(Function):
    @staticmethod
    def forward(ctx, x, y):
        mask = x > y
        ctx.save_for_backward(x, y, mask)
        ctx.mark_non_differentiable(mask)
        return x * y * SCALE, mask

    @staticmethod
    def backward(ctx, grad, _):
        x, y, mask = ctx.saved_tensors
        to_x = grad * y * SCALE if ctx.needs_input_grad[0] else None
        to_y = grad * x * 10 * mask if ctx.needs_input_grad[1] else None
        return to_x, to_y


class Rounded(Function):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad


class Reversed(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return -grad


class Noted(Function):
    @staticmethod
    def forward(ctx, x):
        CALLS.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        CALLS.append("backward")
        return grad * 3


class Counting(Function):
    @staticmethod
    def forward(ctx, x):
        COUNT.add_(1)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Unfilled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 if second is None else first * 2 + second * 3


class Outer(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.twice = x * 2
        return Power.apply(ctx.twice, 2)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.twice * 4


class Wrong(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


PROGRAMS = {
    "power": (lambda x, y: Power.apply(x.sin(), 3) + 1, True),
    "power of a leaf": (lambda x, y: Power.apply(x, 2), True),
    "masked": (lambda x, y: Masked.apply(x, y), True),
    "masked, one twice": (lambda x, y: Masked.apply(x, x), True),
    "masked, one constant": (lambda x, y: Masked.apply(x, y.detach()), True),
    "rounded": (lambda x, y: Rounded.apply(x * 3) * y, True),
    "reversed": (lambda x, y: Reversed.apply(x) * y, False),  # returns its input
    "nested": (lambda x, y: Outer.apply(x) + y, True),
    "in a loop": (lambda x, y: [Power.apply(x, k) for k in (2, 3)], True),
    "noted": (lambda x, y: Noted.apply(x + y), False),
    "counting": (lambda x, y: Counting.apply(x + y) * COUNT, False),
    "in place": (lambda x, y: InPlace.apply(x + y) * x, False),
    "not filled": (lambda x, y: Unfilled.apply(x)[0], False),
    "too many gradients": (lambda x, y: Wrong.apply(x), False),
    "not filled, under no_grad": (torch.no_grad()(lambda x, y: Unfilled.apply(x)[0]), True),
    "under no_grad": (torch.no_grad()(lambda x, y: Power.apply(x, 2)), True),
}


def outcome(f, calls=2):
    CALLS.clear()
    COUNT.zero_()
    seen = []
    torch.manual_seed(0)
    x, y = (torch.randn(3, 4, requires_grad=True) for _ in range(2))
    for call in range(calls):
        SCALE.fill_(2.0 + call)  # read by a method, written between calls
        found = f(x, y)
        found = list(found) if isinstance(found, tuple | list) else [found]
        seen += [(o.detach().clone(), o.requires_grad, o._is_view()) for o in found]
        outs = [o for o in found if o.requires_grad]
        try:
            seen += torch.autograd.grad(
                outs, (x, y), [o.detach().cos() for o in outs], allow_unused=True
            )
        except RuntimeError as error:
            CALLS.append(str(error)[:60])
    return seen, list(CALLS)


@pytest.mark.parametrize("backend", ["eager", "auto"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_as_eager_does(name, backend):
    minicompiler.reset()
    f, whole = PROGRAMS[name]
    expected, calls = outcome(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found, our_calls = outcome(minicompiler.compile(f, backend=backend))
    assert calls == our_calls
    torch.testing.assert_close(found, expected)
    stats = minicompiler.stats()
    if whole:
        assert (stats["graphs"], stats["breaks"]) == (1, 0), stats["reasons"]


def test_a_second_derivative():
    def f(x):
        return Power.apply(x, 3) * 2

    seen = []
    for g in (f, minicompiler.compile(f, backend="eager")):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (first,) = torch.autograd.grad(g(x).sum(), x, create_graph=True)
        seen.append(torch.autograd.grad(first.sum(), x)[0])
    assert torch.equal(*seen)


def test_what_a_method_reads_is_guarded():
    class Scaled(Function):
        by = 2.0

        @staticmethod
        def forward(ctx, x):
            return x * Scaled.by

        @staticmethod
        def backward(ctx, grad):
            return grad * Scaled.by

    def f(x):
        return Scaled.apply(x).sum()

    compiled = minicompiler.compile(f)
    for by in (2.0, 3.0):
        Scaled.by = by
        seen = []
        for g in (f, compiled):
            x = torch.ones(2, requires_grad=True)
            g(x).backward()
            seen.append(x.grad)
        assert torch.equal(*seen)

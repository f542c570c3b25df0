"""Programs that once differed from eager, each with the kind of mistake it stands for."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import minicompiler
from tests.differential import check_against_eager

Places = tuple[tuple[int, int], tuple[int, int]]


@pytest.mark.parametrize("backend", ["aot_eager", "auto"])
@pytest.mark.parametrize(
    "calls",
    [
        [((0, 2), (2, 4)), ((2, 4), (0, 2))],  # rows of one buffer, swapped
        [((0, 2), (4, 6)), ((2, 4), (0, 2))],  # other rows
        [((0, 3), (1, 4)), ((2, 5), (3, 6))],  # they overlap alike, elsewhere
        [((0, 3), (1, 4)), ((1, 4), (0, 3))],
    ],
)
def test_inputs_that_share_a_storage_are_guarded_by_place(
    calls: list[Places], backend: str
) -> None:
    def write(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return a + b

    def seen(fn: Callable[..., Any]) -> list[Any]:
        memory = torch.zeros(6)
        outs = [fn(memory[slice(*a)], memory[slice(*b)]).tolist() for a, b in calls]
        apart = torch.zeros(3), torch.zeros(3)
        outs.append(fn(*apart).tolist())
        return [outs, memory.tolist(), [t.tolist() for t in apart]]

    minicompiler.reset()
    assert seen(minicompiler.compile(write, backend=backend)) == seen(write)


def test_an_error_of_linalg_is_raised_where_eager_raises_it() -> None:
    def root(x: torch.Tensor) -> Any:
        try:
            return torch.linalg.cholesky(x) + 1
        except torch.linalg.LinAlgError:
            return "not positive definite"

    minicompiler.reset()
    compiled = minicompiler.compile(root)
    assert torch.equal(compiled(torch.eye(2)), root(torch.eye(2)))
    assert compiled(-torch.eye(2)) == "not positive definite"


def test_a_class_that_gets_getattr_later() -> None:
    class Bare:
        pass

    bare: Any = Bare()
    minicompiler.reset()
    scaled = minicompiler.compile(lambda x: x * getattr(bare, "scale", 7))
    assert scaled(torch.ones(2)).tolist() == [7, 7]
    Bare.__getattr__ = lambda self, name: 11  # type: ignore[attr-defined]
    assert scaled(torch.ones(2)).tolist() == [11, 11]


def test_one_hot_checks_its_classes() -> None:
    check_against_eager(lambda i: torch.nn.functional.one_hot(i, 3) * 2, torch.tensor([1, 2]))
    check_against_eager(lambda i: torch.nn.functional.one_hot(i, 3) * 2, torch.tensor([5]))


def test_a_number_is_first_what_its_dtype_holds_of_it() -> None:
    def filled(x: torch.Tensor) -> torch.Tensor:
        return x.clone().fill_(1.5).float() * 2 + torch.full_like(x, 2.7) * 0.5

    for dtype in (torch.int64, torch.bool, torch.uint8, torch.float16):
        check_against_eager(filled, torch.arange(4).to(dtype))


@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_hooks_on_saved_tensors_see_what_eager_saves(backend: str) -> None:
    layer = torch.nn.Linear(3, 3)
    fn = lambda x: torch.tanh(layer(x))
    minicompiler.reset()
    compiled = minicompiler.compile(fn, backend=backend)
    x = torch.ones(2, 3, requires_grad=True)

    def saved(fn: Callable[..., Any]) -> list[Any]:
        seen: list[Any] = []
        pack = lambda t: (seen.append((type(t), t.shape)), t)[1]
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            fn(x).sum().backward()
        return seen

    assert saved(compiled) == saved(fn)
    assert torch.allclose(compiled(x), fn(x)) and minicompiler.stats()["graphs"] == 1
    assert saved(compiled) == saved(fn)


@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_checkpoints_of_closures(backend: str) -> None:
    layer = torch.nn.Linear(3, 3)

    def checkpointed(x: torch.Tensor) -> torch.Tensor:
        inner = lambda t: torch.tanh(layer(t))
        return torch.utils.checkpoint.checkpoint(inner, x, use_reentrant=False).sum()

    minicompiler.reset()
    grads = []
    for fn in (checkpointed, minicompiler.compile(checkpointed, backend=backend)):
        x = torch.ones(2, 3, requires_grad=True)
        fn(x).backward()
        grads.append(x.grad)
    assert torch.allclose(*grads)


def test_dispatch_modes_see_what_eager_calls() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    compiled = minicompiler.compile(lambda x: x @ x)
    x = torch.ones(4, 4)
    compiled(x)
    with FlopCounterMode(display=False) as counter:
        compiled(x)
    assert counter.get_total_flops() == 128


@pytest.mark.parametrize("value", [2.5, float("nan"), 10**6])
def test_identity_of_literals_from_outside(value: Any) -> None:
    def same(a: Any, b: Any, x: torch.Tensor) -> Any:
        return (x if a is b else x * 2), [a].count(b), b in [a], a == b

    again = lambda: type(value)(repr(value))
    minicompiler.reset()
    compiled = minicompiler.compile(same, backend="eager")
    p, q, x = again(), again(), torch.ones(1)
    for pair in [(p, p), (p, q), (q, q), (value, value), (value, p)]:
        assert repr(compiled(*pair, x)) == repr(same(*pair, x))


@pytest.mark.parametrize("backend", ["aot_eager", "auto"])
@pytest.mark.parametrize("place", ["before", "after", "within", "another"])
def test_inputs_are_written_when_all_indices_are_checked(place: str, backend: str) -> None:
    def write(x: torch.Tensor, i: torch.Tensor) -> Any:
        try:
            if place == "within":
                return x.copy_(x[i] + 1)
            if place == "before":
                y = x[i]
                return x.add_(1), y
            x.add_(1)
            return x.exp()[i] if place == "another" else x[i]
        except IndexError:
            return "caught"

    minicompiler.reset()
    compiled = minicompiler.compile(write, backend=backend)
    for index in ([0, 1, 2], [0, 1, 7], [2, 1, 0]):
        x, y, i = torch.zeros(3), torch.zeros(3), torch.tensor(index)
        assert repr(compiled(x, i)) == repr(write(y, i)) and torch.equal(x, y)


def test_ignored_targets_have_no_gradient_even_where_nothing_counts() -> None:
    nothing, one = torch.full((3,), -100), torch.tensor([-100, 2, -100])
    for reduction in ("mean", "sum", "none"):
        for target in (nothing, one):
            check_against_eager(
                lambda x, t: torch.nn.functional.cross_entropy(x, t, reduction=reduction),
                torch.randn(3, 4, requires_grad=True),
                target,
            )


Sizes = tuple[int, ...]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool])
@pytest.mark.parametrize("size", [(3, 4), (0,), (2,)])
def test_out_is_resized_checked_and_computed_in_as_in_eager(size: Sizes, dtype: Any) -> None:
    fills: list[Callable[..., Any]] = [
        lambda x, o: torch.sin(x, out=o),
        lambda x, o: torch.add(x, x, out=o),
        lambda x, o: torch.cat([x, x], out=o),
        lambda x, o: torch.matmul(x, x.t(), out=o),
        lambda x, o: torch.sum(x, 0, out=o),
        lambda x, o: torch.where(x > 0, x, 1.0, out=o),
    ]
    for fill in fills:

        def filled(x: torch.Tensor, o: torch.Tensor) -> Any:
            try:
                fill(x, o)
            except (RuntimeError, TypeError) as error:
                return type(error).__name__, o * 2
            return o.shape, o * 2

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is resized should be empty, eager says
            check_against_eager(filled, torch.randn(3, 4), torch.zeros(size, dtype=dtype))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[:-1].copy_(x[1:]),
        lambda x: x[:-1].add_(x[1:]),
        lambda x: torch.add(x[1:], 1, out=x[:-1]),
        lambda x: x[1:].index_put_((torch.tensor([0, 1]),), x[:2]),
        lambda x: x.view(2, 3).t().copy_(x.view(3, 2)),
        lambda x: x[:3].copy_(x[3:]),
        lambda x: x.view(3, 2)[:, 0].copy_(x.view(3, 2)[:, 1]),
        lambda x: x.mul_(x),
    ],
)
def test_what_is_written_may_not_be_read_shifted(write: Callable[..., Any]) -> None:
    check_against_eager(lambda x: write(x) + 0, torch.arange(6.0))
    check_against_eager(lambda x: write(x.clone()) + 0, torch.arange(6.0))


def test_the_compiler_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backward is compiled when the engine asks for it, which is within a compiled region."""
    seen, convert = set(), minicompiler.api.convert.convert

    def watched(code: Any, *args: Any, **kwargs: Any) -> Any:
        seen.add(code.co_filename)
        return convert(code, *args, **kwargs)

    def step(w: torch.Tensor) -> torch.Tensor:
        w.sin().sum().backward()
        return w * 2

    monkeypatch.setattr(minicompiler.api.convert, "convert", watched)
    minicompiler.reset()
    minicompiler.compile(step)(torch.ones(3, requires_grad=True))
    assert __file__ in seen and not any("minicompiler/" in name for name in seen - {__file__})


@pytest.mark.parametrize("dim", [0, 1])
def test_deviations_that_are_small_beside_their_mean(dim: int) -> None:
    x = torch.rand(3000, 3000) + 1e5
    exact = x.double().var(dim)
    minicompiler.reset()
    var = minicompiler.compile(lambda x: torch.var_mean(x, dim)[0] + x.std(dim) * 0)(x)
    assert torch.allclose(var.double(), exact, rtol=1e-5)


@pytest.mark.parametrize("fold", [torch.max, torch.min, torch.amax, torch.argmax, torch.median])
def test_an_extreme_of_nothing_is_no_fault_of_ours(fold: Callable[..., Any]) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_against_eager(lambda x: fold(x) * 2, torch.empty(0, 3))
        check_against_eager(lambda x: fold(x[:, :0]) + x.sum(), torch.ones(2, 3))
    assert not said


@pytest.mark.parametrize("caught", [False, True])
def test_a_graph_that_raises_has_drawn_what_eager_draws(caught: bool) -> None:
    def picked(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        dropped = torch.nn.functional.dropout(x, 0.5)
        if not caught:
            return dropped[i] + torch.rand(3)
        try:
            return dropped[i] + torch.rand(3)
        except IndexError:
            return dropped

    seen: list[Any] = []
    for fn in (picked, minicompiler.compile(picked, options={"fallback_random": True})):
        torch.manual_seed(0)
        for i in (1, 9, 2):
            try:
                seen.append(fn(torch.ones(3), torch.tensor([i, 0, 0])).tolist())
            except IndexError:
                seen.append("out of range")
        seen.append(torch.rand(1).item())
    assert seen[:4] == seen[4:]


def test_values_that_only_the_graph_holds_count_against_the_limit() -> None:
    """What differs in a number is compiled again, and that must end."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return x * x.mean().item() + 1

    compiled = minicompiler.compile(f)
    with pytest.warns(UserWarning, match="f_resume_.* was compiled 8 times"):
        for k in range(12):
            x = torch.full((3,), k + 0.5)
            assert torch.equal(compiled(x), f(x))


@pytest.mark.parametrize(
    "options, said",
    [
        (["fusion"], "options is a dict"),
        ({"fusion": "maybe"}, "fusion is of type bool"),
        ({"recompile_limit": True}, "recompile_limit is of type int"),
        ({"memory_budget": -5}, "from 0 to 1"),
    ],
)
def test_options_are_checked(options: Any, said: str) -> None:
    with pytest.raises(minicompiler.UserError, match=said):
        minicompiler.compile(torch.sin, options=options)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
def test_reductions_of_what_must_be_converted_first(dtype: torch.dtype) -> None:
    """torch's own formula of logsumexp subtracts booleans."""

    def f(x: torch.Tensor) -> list[torch.Tensor]:
        return [x.logsumexp(0), x.nansum(0), x.count_nonzero(0), x.deg2rad(), x.sum(0)]

    x = torch.tensor([[3, 0, 2], [1, 0, 5]]).to(dtype)
    compiled = minicompiler.compile(f, options={"verify": True})  # raises where it would warn
    for mine, eager in zip(compiled(x), f(x)):
        torch.testing.assert_close(mine, eager)


@pytest.mark.parametrize("backend", ["aot_eager", "auto"])
def test_an_operator_without_a_result_is_a_check_that_stays(backend: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        torch._assert_async((y > 0).all())
        return y + 1

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend=backend)
    assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 3.0))
    for x in (-torch.ones(3), -torch.ones(3, requires_grad=True)):
        with pytest.raises(RuntimeError, match="single nonzero value"):
            compiled(x)


def test_storages_that_share_memory_are_one_memory():
    numpy = pytest.importorskip("numpy")

    def f(a, b):
        a.add_(1)
        return a * b

    def inputs():
        array = numpy.arange(6, dtype=numpy.float32)
        return torch.from_numpy(array), torch.from_numpy(array)

    assert torch.equal(minicompiler.compile(f)(*inputs()), f(*inputs()))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: torch._foreach_mul_([x, x], 2.0),
        lambda x: torch._foreach_add_([x[0], x[1]], [x[1], x[0]]),
        lambda x: x[1:].copy_(x[:-1]),
        lambda x: x[:, 1:].mul_(x[:, :-1]),
        lambda x: x.add_(x.t()),
        lambda x: x.as_strided((3, 3), (1, 1)).add_(1),
        lambda x: x.expand(2, *x.shape).add_(1),
        lambda x: x[::2].add_(x[1::2]),
        lambda x: x.add_(x),
        lambda x: torch._foreach_mul_([x[0], x[1]], 2.0),
    ],
)
def test_the_order_of_reads_and_writes_of_one_memory(f):
    def g(x):
        f(x)
        return x * 2

    def run(g, x):
        try:
            return g(x), x
        except RuntimeError as error:
            return type(error), x

    for make in (lambda: torch.rand(4, 4), lambda: torch.rand(8, 8)[::2, ::2]):
        torch.manual_seed(0)
        expected = run(g, make())
        torch.manual_seed(0)
        assert str(run(minicompiler.compile(g), make())) == str(expected)


def test_tensors_whose_gradients_are_elsewhere_are_told_apart():
    compiled = minicompiler.compile(lambda x: x * 2)
    compiled(torch.ones(2))
    base = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        view = base.view(2)
    assert compiled(view).requires_grad
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        found = torch.autograd.forward_ad.unpack_dual(compiled(dual)).tangent
        assert found is not None and found.tolist() == [2.0, 2.0]
    zero = torch._efficientzerotensor(2)
    assert (compiled(zero) + 1).tolist() == [1.0, 1.0]


def test_formulas_of_real_numbers_leave_integers_to_the_operator():
    big = torch.iinfo(torch.int64).max
    x = torch.tensor([big, 2**24 + 1, -5])
    threshold = lambda x: torch.nn.functional.threshold(x, 0.1, 20.0)  # noqa: E731
    assert torch.equal(minicompiler.compile(threshold)(x), threshold(x))
    for dtype in (torch.int8, torch.uint8, torch.int16):
        limits = torch.tensor([torch.iinfo(dtype).min, 0, torch.iinfo(dtype).max], dtype=dtype)
        compiled = minicompiler.compile(lambda x: x.logsumexp(0))
        torch.testing.assert_close(compiled(limits), limits.logsumexp(0))


def test_what_does_not_fit_a_dtype_is_not_written():
    a, b = torch.tensor([7, 8]), torch.tensor([2.0, 2.0])
    with pytest.raises(RuntimeError, match="can't be cast"):
        minicompiler.compile(lambda a, b: a.floor_divide_(b))(a, b)
    assert a.tolist() == [7, 8]


@pytest.mark.parametrize("found", [ValueError("no"), 3, None])
def test_a_backend_of_the_users_that_fails_is_told_to_the_user(found: Any) -> None:
    def mine(gm: Any, inputs: Any) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    too_few: Any = lambda gm: gm
    for backend in (mine, too_few):
        minicompiler.reset()
        with pytest.raises(minicompiler.BackendError, match="mine|lambda") as caught:
            minicompiler.compile(lambda x: x + 1, backend=backend)(torch.ones(1))
        assert isinstance(caught.value.__cause__, ValueError | TypeError)


@pytest.mark.parametrize("write", [lambda x: x[1:].add_(x[:1]), lambda x: x[0].mul_(2) + x[-1]])
@pytest.mark.parametrize("place", [((2, 1), (0, 1)), ((6, 3), (1, 1)), ((3, 4), (0, 1))])
@pytest.mark.parametrize("inside", [False, True])
def test_a_write_to_part_of_what_overlaps_itself(write: Any, place: Any, inside: bool) -> None:
    def f(x: torch.Tensor) -> Any:
        y = (x * 2).as_strided(*place) if inside else x
        return write(y), y

    minicompiler.reset()
    for g in (f, minicompiler.compile(f)):
        x = torch.arange(1.0, 9.0) if inside else torch.arange(1.0, 9.0).as_strided(*place)
        try:
            found = [t.tolist() for t in (*g(x), x)]
        except RuntimeError as error:
            found = [str(error)]
        if g is f:
            expected = found
    assert found == expected


INTEGERS = torch.tensor([1, 0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: torch.where(x, torch.ones(2), 0),
        lambda x: torch.ones(2).masked_fill(x, 3),
        lambda x: torch.nn.functional.gelu(x),
        lambda x: torch.nn.functional.mse_loss(x, x),
        lambda x: x.softmax(0),
        lambda x: x.bool().relu(),
        lambda x: torch.nn.functional.pad(x.to(torch.uint8), (1, 1), value=-3),
        lambda x: x.to(torch.uint8).scatter(0, x, 300),
        lambda x: x.cfloat().nansum(),
    ],
)
def test_dtypes_that_eager_refuses(f: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError) as wanted:
        f(INTEGERS)
    with pytest.raises(type(wanted.value)) as found:
        minicompiler.compile(f)(INTEGERS)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(
    "dead",
    [
        lambda x, i: x[torch.tensor([9])],
        lambda x, i: x[None][0][i] * 2,
        lambda x, i: x.gather(0, i),
        lambda x, i: torch.nn.functional.embedding(i, x[:, None]).sum(),
        lambda x, i: x.scatter(0, i, 1.0),
        lambda x, i: i // (i - i),
        lambda x, i: torch.nn.functional.nll_loss(x[None].log_softmax(1), i),
    ],
)
@pytest.mark.parametrize("grad", [False, True])
def test_what_nobody_reads_may_raise(dead: Callable[..., Any], grad: bool) -> None:
    def f(x: torch.Tensor, i: torch.Tensor) -> Any:
        dead(x, i)
        return x * 2

    x, out, fine = torch.ones(3, requires_grad=grad), torch.tensor([9]), torch.tensor([1])
    with pytest.raises((IndexError, RuntimeError)) as wanted:
        f(x, out)
    compiled = minicompiler.compile(f)
    for _ in range(2):
        with pytest.raises(type(wanted.value)) as found:
            compiled(x, out)
        assert str(found.value) == str(wanted.value)
    if "//" not in str(wanted.value) and "Zero" not in str(wanted.value):
        with contextlib.suppress(IndexError):
            f(x, fine)
            assert torch.equal(compiled(x, fine), x * 2)

"""What fuses, what does not and why; a fused plan gives what the loops apart give."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings, strategies as st

from minicompiler import schedule
from minicompiler.errors import InternalError
from minicompiler.ir import ops
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import Computed, Pointwise, Reduction
from minicompiler.ir.plan import Launch
from minicompiler.report.record import Record, recording
from minicompiler.schedule import verify_plan
from minicompiler.schedule.spaces import Space, joined, permutation, refined
from minicompiler.symbolic.expr import as_expr, sym
from tests.codegen.running import (
    generated,
    launches,
    layout,
    outputs,
    planned,
    pointwise,
    program,
)

aten = torch.ops.aten
randn = torch.randn
SIZES = st.lists(st.sampled_from([1, 2, 3, 4, 6, 12]), max_size=4)


def sizes(*numbers: int):
    return tuple(map(as_expr, numbers))


def points(space_sizes, symbols, table):
    """The values of renamed symbols, in the order in which the new space is visited."""
    for place in itertools.product(*(range(int(n)) for n in space_sizes)):
        values = dict(zip(symbols, place))
        yield tuple(int(e.subs(values)) for e in table.values())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SIZES, SIZES)
def test_two_spaces_are_visited_in_their_own_order(a: list[int], b: list[int]) -> None:
    one, other = Space(sizes(*a)), Space(sizes(*b))
    fit = joined(one, other)
    if fit is None:
        flat = [p for p in itertools.accumulate([n for n in a if n > 1], lambda x, y: x * y)]
        assert math.prod(a) != math.prod(b) or flat  # both cut at places that do not divide
        return
    assert math.prod(a) == math.prod(b)
    for space, table in ((one, fit.first), (other, fit.second)):
        visited = list(points(fit.space.sizes, fit.space.symbols, table))
        assert visited == list(itertools.product(*(range(int(n)) for n in space.sizes)))


def test_a_split_and_a_merged_shape_meet() -> None:
    assert refined(sizes(4, 6), sizes(24)) == sizes(4, 6)
    assert refined(sizes(4, 6), sizes(2, 12)) == sizes(2, 2, 6)
    assert refined(sizes(4, 6), sizes(6, 4)) is None
    n = sym("s0")
    assert refined((n, as_expr(6)), (n * 6,)) == (n, as_expr(6))


def test_loops_over_rows_and_over_everything_join_a_reduction() -> None:
    fold = Space(sizes(4, 5), sizes(6))
    everything, rows = joined(Space(sizes(20, 6)), fold), joined(Space(sizes(20)), fold)
    assert everything and not everything.rows and everything.space.folded == sizes(6)
    assert rows and rows.rows and rows.space == Space(sizes(4, 5), sizes(6))
    assert joined(Space(sizes(6)), fold) is None


def test_an_order_that_follows_memory() -> None:
    assert permutation([12, 4, 1], [4, 1, 12]) == [1, 2, 0]
    assert permutation([0, 1, 0], [1, 0]) == [1, 0, 2]  # what stands still goes last


def why(f, *inputs) -> tuple[list, int]:
    """What the scheduler said of pairs that stay apart, and the number of launches."""
    record = Record()
    with recording(record):
        plan = planned(f, *inputs)
    return [(w.reason, w.data) for w in record.whys if w.verdict == "not fused"], launches(plan)


@pytest.mark.parametrize(
    "reason, f, inputs",
    [
        ("call of a library", lambda x: (x + 1) @ (x + 1), [randn(8, 8)]),
        ("iteration spaces differ", lambda x: (x.sum(1), x[:3] + 1), [randn(8, 8)]),
        ("different iterations", lambda x: (lambda y: y + y.flip(0))(x.erfc().tan()), [randn(8)]),
        ("must run between", lambda x: (lambda y: y + y @ y)(x.tan().tan()), [randn(8, 8)]),
        ("where indices say", lambda x, i: x.tan().index_add(0, i, x), [randn(3), torch.arange(3)]),
        (
            "only after the last row",
            lambda x: (lambda s: (x.sum(0) * 2, (x - x.sum(1, keepdim=True)).exp()))(0),
            [randn(70, 80)],
        ),
    ],
)
def test_reasons(reason: str, f, inputs) -> None:
    said, number = why(f, *inputs)
    assert number >= 1 and any(reason in text for text, _ in said), said
    assert all(data["bytes_saved"] > 0 for _, data in said)


def test_fusion_is_a_switch() -> None:
    f = lambda x: (x.tan() + 1, x.sum(1), x * 2)
    assert launches(planned(f, randn(8, 8))) == 1
    assert launches(planned(f, randn(8, 8), fusion=False)) == 3


def test_counts() -> None:
    record = Record()
    with recording(record):
        planned(lambda x: (x + 1, x * 2), randn(8))
    assert record.counts["fusions"] == 1 and record.counts["kernels"] == 1


def test_a_gelu_mlp_is_two_products_and_two_kernels() -> None:
    def mlp(x, w, b, v, c):
        return x + aten.addmm(c, aten.gelu(aten.addmm(b, x, w)), v)

    inputs = [randn(16, 32), randn(32, 64), randn(64), randn(64, 32), randn(32)]
    plan = planned(mlp, *inputs)
    assert launches(plan) == 2
    torch.testing.assert_close(generated(plan)[1](list(inputs))[0], mlp(*inputs))


def test_an_update_of_many_parameters() -> None:
    """Each parameter, its gradient and its moment are touched by one kernel."""

    def step(p, g, m):
        m = m.mul(0.9).add(g)
        return p.sub(m * 0.1), m

    plan = planned(step, randn(100), randn(100), randn(100))
    (kernel,) = plan.kernels
    assert launches(plan) == 1 and len(kernel.reads) == 3 and len(kernel.writes) == 2


def test_no_load_more_than_needed() -> None:
    """Layer norm reads its row three times from the cache, once from memory; softmax twice."""
    x = randn(8, 64)
    sources, _ = generated(planned(lambda x: aten._softmax(x, 1, False), x))
    text = sources[0].text[sources[0].text.index('extern "C"') :]
    assert text.count("= in_ptr0[") == 2 and text.count("out_ptr0[") == 1


def test_what_is_overwritten_is_read_before() -> None:
    """x += 1 must wait for y = x * 2, and not for what reads the new value."""

    def f(x, w):
        y = x * 2
        z = (x @ w).tan()
        x.copy_(x + y)
        return y, z

    inputs = [randn(8, 8), randn(8, 8)]
    got, wanted = [x.clone() for x in inputs], [x.clone() for x in inputs]
    for a, b in zip([*outputs(f, *got), *got], [*f(*wanted), *wanted]):
        torch.testing.assert_close(a, b)


def test_random_calls_keep_their_order() -> None:
    from minicompiler.ir.nodes import Extern
    from minicompiler.schedule.dependencies import dependencies, successors

    draw = torch.ops.aten.rand.default
    where = layout([3])
    calls = [Extern((f"r{k}",), (where,), draw, ([3],), {}, kind="fallback") for k in range(3)]
    made = program(calls, ["r2", "r0", "r1"])
    assert successors(dependencies(made)) == [{1}, {2}, set()]


def test_verify_finds_a_kernel_that_cannot_be() -> None:
    load = lambda name, shift: lambda i: ops.load(name, i[0] + shift)
    made = program(
        [
            pointwise("a", [8], torch.float32, load("x", 0)),
            pointwise("b", [8], torch.float32, load("a", 0)),
        ],
        ["b"],
        x=randn(8),
    )
    plan = planned(made)
    verify_plan(plan)
    (launch,) = (step for step in plan.steps if isinstance(step, Launch))
    a, b = launch.kernel.nodes
    object.__setattr__(b.loop, "inner", load("a", 1))
    with pytest.raises(InternalError, match="another iteration"):
        verify_plan(plan)
    plan.steps = [step for step in plan.steps if not isinstance(step, Launch)]
    with pytest.raises(InternalError, match="not in memory"):
        verify_plan(plan)


def test_verify_finds_a_store_that_stands_still() -> None:
    plan = planned(lambda x: x.exp(), randn(4, 6))
    (kernel,) = plan.kernels
    (node,) = kernel.nodes
    still = replace(node.layout, stride=tuple(0 * step for step in node.layout.stride))
    object.__setattr__(node, "layout", still)
    with pytest.raises(InternalError, match="at one place"):
        verify_plan(plan)


# ------------------------------------------------------------------------------------- any program


@st.composite
def programs(draw: st.DrawFn):
    """Loops over [4, 6] (or its rows, or columns) that read one another in whatever way fits."""
    where, row, column = layout([4, 6]), layout([4]), layout([6])
    buffers = {"x": where, "y": where, "u": row}
    operations = []
    for number in range(draw(st.integers(2, 7))):
        name = f"buf{number}"
        kind = draw(st.sampled_from(["map", "map", "map", "sum", "max", "down", "row map"]))
        full = [b for b, at in buffers.items() if at is where]
        rows = [b for b, at in buffers.items() if at is row]
        first, second = draw(st.sampled_from(full)), draw(st.sampled_from(full))
        thin, turned = draw(st.sampled_from(rows)), draw(st.booleans())

        def value(i, first=first, second=second, thin=thin, turned=turned):
            a = ops.load(first, where.index(i))
            place = where.index((as_expr(3) - i[0], i[1])) if turned else where.index(i)
            b = ops.load(second, place)
            return ops.add(
                ops.mul(a, ops.constant(0.5, torch.float32)), ops.sub(b, ops.load(thin, i[0]))
            )

        if kind == "map":
            operations.append(pointwise(name, [4, 6], torch.float32, value))
            buffers[name] = where
        elif kind == "row map":
            inner = lambda i, thin=thin: ops.sin(ops.load(thin, i[0]))
            operations.append(pointwise(name, [4], torch.float32, inner))
            buffers[name] = row
        elif kind == "down":
            inner = lambda i, r, value=value: value((r[0], i[0]))
            loop = Reduction(column.size, row.size, "sum", inner)
            operations.append(Computed(name, column, loop))
            buffers[name] = column
        else:
            inner = lambda i, r, value=value: value((i[0], r[0]))
            loop = Reduction(row.size, column.size, kind, inner)
            operations.append(Computed(name, row, loop))
            buffers[name] = row
    written = draw(st.booleans())
    if written:  # an input is overwritten in the end
        last = draw(st.sampled_from([b for b, at in buffers.items() if at is where]))
        inner = lambda i: ops.add(ops.load(last, where.index(i)), ops.load("x", where.index(i)))
        operations.append(Computed("after", where, Pointwise(where.size, inner), into="x"))
    made = [operation.name for operation in operations]
    chosen = draw(st.lists(st.sampled_from(made), min_size=1, max_size=3, unique=True))
    return program(operations, chosen, x=where, y=where, u=row)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_fused_or_not_the_values_are_those_of_the_evaluator(made) -> None:
    torch.manual_seed(0)
    inputs = [randn(4, 6), randn(4, 6), randn(4)]
    copies = [[x.clone() for x in inputs] for _ in range(3)]
    wanted = [*evaluate(made, copies[0]), *copies[0]]
    for fusion in (True, False):
        plan = planned(made, fusion=fusion)
        got = [*generated(plan)[1](list(copies[1 + fusion])), *copies[1 + fusion]]
        for a, b in zip(got, wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_scheduling_twice_gives_the_same_plan() -> None:
    f = lambda x: (x.tan() + 1, x.sum(1), (x * 2).sum(0), x @ x)
    texts = {str([type(s).__name__ for s in planned(f, randn(8, 8)).steps]) for _ in range(3)}
    assert len(texts) == 1
    assert schedule.schedule is not None


def test_two_pairs_that_would_wait_for_each_other() -> None:
    """`b` reads `a` and `d` reads `c`, each elsewhere: once b and c are one, a and d may not be."""

    def f(x, y):
        a, c = x.tan(), y.exp()
        return a, a.flip(0) + y, c, c.flip(0) + x

    inputs = [randn(64, 64), randn(64, 64)]
    for got, wanted in zip(outputs(f, *inputs), f(*inputs), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    assert launches(planned(f, *inputs)) == 3

"""When memory is taken, handed on and given back."""

import pytest
import torch
from hypothesis import given, settings, strategies as st

from minicompiler.ir import ops
from minicompiler.ir.plan import Alloc, Call, Free, Launch, Reuse
from tests.codegen.running import generated, outputs, planned, pointwise, program

aten = torch.ops.aten
randn = torch.randn


def steps(plan, kind):
    return [step for step in plan.steps if isinstance(step, kind)]


def products(x, *weights):
    for w in weights:
        x = torch.tan(x @ w)
    return x


def test_what_dies_in_a_kernel_is_written_over() -> None:
    plan = planned(lambda x, w: torch.tan(x @ w), randn(8, 8), randn(8, 8))
    (reuse,) = steps(plan, Reuse)
    (launch,) = steps(plan, Launch)
    assert len(steps(plan, Alloc)) == 1 and launch.kernel.mutated == (reuse.old,)
    assert launch.args == (reuse.name,) and not steps(plan, Free)


def test_an_input_and_what_is_returned_are_never_written_over() -> None:
    f = lambda x, w: (lambda y: (y, torch.tan(y)))(x @ w)
    plan = planned(f, randn(8, 8), randn(8, 8))
    assert not steps(plan, Reuse) and len(steps(plan, Alloc)) == 2
    plan = planned(lambda x: torch.tan(x), randn(8, 8))
    assert not steps(plan, Reuse)


def test_what_an_unknown_operator_has_seen_is_not_handed_on() -> None:
    """Nor is what it returned, which may be a view of it."""

    def f(x, w):
        seen = torch.linalg.svdvals(torch.tan(x @ w)).sum()
        return torch.sin(torch.tanh((x + seen) @ w) @ w) @ w

    plan = planned(f, randn(8, 8), randn(8, 8))
    called = [step.extern for step in steps(plan, Call) if step.extern.kind == "fallback"]
    seen = {ref.name for extern in called for ref in extern.reads()}
    made = {name for extern in called for name in extern.names}
    assert seen and made and not (seen | made) & {step.old for step in steps(plan, Reuse)}


def test_a_chain_of_products_needs_two_buffers() -> None:
    plan = planned(products, *(randn(16, 16) for _ in range(7)))
    assert len(steps(plan, Alloc)) == 2 and plan.peak_bytes == 2 * 16 * 16 * 4


def test_memory_of_another_size_is_given_back() -> None:
    plan = planned(lambda x, w, v: (x @ w) @ v, randn(4, 4), randn(4, 9), randn(9, 5))
    assert [type(step) for step in plan.steps] == [Alloc, Call, Alloc, Call, Free]
    assert plan.peak_bytes == 4 * (4 * 9 + 4 * 5)


def test_memory_waits_for_its_size_only_where_that_costs_nothing() -> None:
    """The first product could serve the last one; to keep it would raise the peak in between."""

    def f(x, w, big, v):
        a = (x @ w).sum(0)  # small, then dead
        b = (w @ big) @ v  # large in between
        return (b @ x) @ w + a

    inputs = [randn(8, 8), randn(8, 8), randn(8, 400), randn(400, 8)]
    plan = planned(f, *inputs)
    live, peak = {}, 0
    for step in plan.steps:
        if isinstance(step, Alloc):
            live[step.name] = int(step.layout.numel) * 4
        elif isinstance(step, Reuse):
            live[step.name] = live.pop(step.old)
        elif isinstance(step, Free):
            del live[step.name]
        peak = max(peak, sum(live.values()))
    assert peak == plan.peak_bytes
    torch.testing.assert_close(
        generated(plan)[1](list(inputs))[0], f(*inputs), rtol=1e-4, atol=1e-3
    )


def test_other_elements_of_what_is_written_over_are_not_lost() -> None:
    f = lambda x, w: (lambda y: torch.tan(y) + y.flip(0))(x @ w)
    inputs = [randn(8, 8), randn(8, 8)]
    plan = planned(f, *inputs)
    assert not any(step.kernel.mutated for step in steps(plan, Launch))
    torch.testing.assert_close(generated(plan)[1](list(inputs))[0], f(*inputs))


def test_other_dtypes_do_not_share_within_a_kernel() -> None:
    f = lambda x, w: torch.tan(x @ w).to(torch.int32)
    plan = planned(f, randn(8, 8), randn(8, 8))
    assert not any(step.kernel.mutated for step in steps(plan, Launch))


def test_loops_that_nobody_reads_are_not_run() -> None:
    load = lambda name: lambda i: ops.load(name, i[0])
    nodes = [
        pointwise("dead", [8], torch.float32, load("x")),
        pointwise("deader", [8], torch.float32, load("dead")),
        pointwise("out", [8], torch.float32, load("x")),
    ]
    plan = planned(program(nodes, ["out"], x=randn(8)))
    assert [node.name for kernel in plan.kernels for node in kernel.nodes] == ["out"]


def test_within_one_kernel_nothing_is_allocated() -> None:
    plan = planned(lambda x: torch.tan(torch.tan(x) + x.sum(1, keepdim=True)), randn(8, 8))
    assert len(steps(plan, Alloc)) == 1


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from("mat"), st.integers(0, 5), st.integers(0, 5)), max_size=9)
)
def test_any_program_of_products(made) -> None:
    """Products and loops over earlier results; all of the last three are returned."""

    def f(x, w):
        values = [x, w]
        for kind, i, j in made:
            a, b = values[i % len(values)], values[j % len(values)]
            values.append(
                {"m": lambda: a @ b, "a": lambda: a + b, "t": lambda: torch.tanh(a)}[kind]()
            )
        return tuple(v + 0 for v in values[-3:])

    x, w = randn(6, 6) / 3, randn(6, 6) / 3
    for got, wanted in zip(outputs(f, x.clone(), w.clone()), f(x, w), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layers", [1, 4])
def test_the_peak_of_a_backward(layers: int) -> None:
    """Fused or not, the peak of the plan is no higher than that of loops apart."""

    def f(x, g, *weights):
        saved = [x]
        for w in weights:
            saved.append(torch.tanh(saved[-1] @ w))
        grads = []
        for w, y, below in zip(weights[::-1], saved[:0:-1], saved[-2::-1]):
            g = g * (1 - y * y)
            grads.append(below.t() @ g)
            g = g @ w.t()
        return (g, *grads)

    inputs = [randn(32, 16), randn(32, 16), *(randn(16, 16) for _ in range(layers))]
    fused, apart = planned(f, *inputs), planned(f, *inputs, fusion=False)
    assert fused.peak_bytes <= apart.peak_bytes

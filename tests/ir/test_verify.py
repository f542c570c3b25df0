"""Every invariant, broken once; the error names the operation and the rule."""

from dataclasses import replace

import pytest
import torch

from minicompiler.errors import InternalError
from minicompiler.ir import ops
from minicompiler.ir.nodes import BufferRef, Extern
from minicompiler.ir.verify import INVARIANTS, verify
from minicompiler.symbolic.expr import as_expr, sym
from tests.ir.programs import F32, I64, layout, loads, pointwise, program, reduction, scatter

X = layout(4)
aten = torch.ops.aten
copy = pointwise("buf0", loads("x", 4), 4)


def constant(value, dtype):
    return lambda i: ops.constant(value, dtype)


def fold(kind, dtype=F32, body=lambda i, r: ops.load("x", r[0]), folded=(4,)):
    return reduction("buf0", kind, body, (2,), folded, dtype)


def mm(*names, layouts=None, out=aten.mm.out, of="x"):
    square = layout(2, 2)
    given = [square] * len(names) if layouts is None else layouts
    ref = BufferRef(of, square)
    return Extern(names, tuple(given), aten.mm.default, (ref, ref), {}, out)


FAULTS = [
    ("defines new names", [copy, copy]),
    ("defines new names", [pointwise("x", constant(0.0, F32), 4)]),
    ("describes each dimension", [mm("buf0", layouts=[None])]),
    ("describes each dimension", [mm("buf0", layouts=[])]),
    ("describes each dimension", [mm("buf0", layouts=[replace(X, stride=())])]),
    ("body is well typed", [replace(copy, layout=layout(4, dtype=I64))]),
    ("loop fills the layout", [replace(copy, layout=layout(5))]),
    ("reduction folds something", [fold("sum", folded=())]),
    ("reduction folds something", [fold("max", folded=(0,))]),
    ("reduction folds something", [fold("any")]),
    ("reduction folds something", [fold("argmax")]),
    ("reduction folds something", [fold("sum", torch.bfloat16)]),
    ("writes into equal memory", [pointwise("buf0", constant(0.0, F32), 4, into="nothing")]),
    ("writes into equal memory", [pointwise("buf0", constant(0.0, F32), 2, into="x")]),
    ("body is well typed", [pointwise("buf0", constant(0, I64), 4)]),
    ("body is well typed", [pointwise("buf0", loads("nothing", 4), 4)]),
    ("body is well typed", [pointwise("buf0", lambda i: ops.load("x", i[0] + 1), 4)]),
    ("body is well typed", [pointwise("buf0", lambda i: ops.load("x", i[0] - 1), 4)]),
    ("body is well typed", [pointwise("buf0", lambda i: ops.load("x", i[0] * 0 + sym("s7")), 4)]),
    ("body is well typed", [pointwise("buf0", lambda i: ops.load("x", 3 - i[0]), 4, into="x")]),
    ("body is well typed", [fold("argmax", I64, lambda i, r: ops.constant(0, torch.float16))]),
    (
        "body is well typed",
        [scatter("buf0", lambda i: (i[0], i[0]), constant(0.0, F32), (4,), (4,))],
    ),
    (
        "body is well typed",
        [scatter("buf0", lambda i: (sym("s7"),), constant(0.0, F32), (4,), (4,))],
    ),
    ("reads live buffers", [mm("buf0", of="nothing")]),
    ("reads live buffers", [replace(mm("buf0"), args=(BufferRef("x", layout(5)),))]),
    ("reads live buffers", [replace(mm("buf0"), args=(BufferRef("x", layout(4, dtype=I64)),))]),
    ("has an out argument per name", [mm("buf0", "buf1")]),
]

MISTYPED = [
    lambda x: ops.add(x, ops.constant(1, I64)),
    lambda x: ops.add(x),
    lambda x: ops.bitwise_and(x, x),
    lambda x: ops.logical_not(x),
    lambda x: ops.to_dtype(ops.exp(ops.to_dtype(x, I64)), F32),
    lambda x: ops.to_dtype(ops.exp(ops.to_dtype(x, torch.float16)), F32),
    lambda x: ops.where(x, x, x),
    lambda x: ops.masked(x, lambda: x, 0.0, F32),
    lambda x: ops.masked(ops.isnan(x), lambda: ops.constant(0, I64), 0.0, F32),
    lambda x: ops.load("x", ops.indirect(x, as_expr(4))),
    lambda x: ops.random("rand", x, x),
]


@pytest.mark.parametrize("rule, operations", FAULTS)
def test_a_broken_rule_is_named(rule, operations):
    with pytest.raises(InternalError, match=rf"graph: (buf\d|x): {rule}: "):
        verify(program(*operations, x=X))


@pytest.mark.parametrize("body", MISTYPED)
def test_operands_follow_the_table(body):
    wrong = pointwise("buf0", lambda i: body(ops.load("x", i[0])), 4)
    with pytest.raises(InternalError, match="body is well typed"):
        verify(program(wrong, x=X))


def test_what_was_overwritten_is_not_read_again():
    zero = pointwise("buf1", constant(0.0, F32), 4, into="buf0")
    after = pointwise("buf2", loads("buf0", 4), 4)
    with pytest.raises(InternalError, match="buf2: body is well typed: loads buf0"):
        verify(program(copy, zero, after, x=X))
    verify(program(copy, zero, pointwise("buf2", loads("buf1", 4), 4), x=X))
    with pytest.raises(InternalError, match="output"):
        verify(program(copy, zero, outputs=[("buf0", X)], x=X))


def test_a_loop_may_read_the_element_it_overwrites():
    verify(program(pointwise("buf0", lambda i: ops.neg(ops.load("x", i[0])), 4, into="x"), x=X))


def test_reads_are_bounded_only_where_they_happen():
    guarded = lambda i: ops.masked(
        ops.lt(ops.index_expr(i[0], I64), ops.constant(3, I64)),
        lambda: ops.load("x", i[0] + 1),
        0.0,
        F32,
    )
    verify(program(pointwise("buf0", guarded, 4), x=X))
    verify(program(pointwise("buf0", lambda i: ops.load("x", i[0] + 9), 0), x=X))
    checked = lambda i: ops.load("x", ops.indirect(ops.index_expr(i[0], I64), as_expr(4)))
    verify(program(pointwise("buf0", checked, 9), x=X))


def test_every_rule_is_broken_by_some_case():
    rules = {rule.__name__.replace("_", " ") for _, rule in INVARIANTS}
    assert rules == {rule for rule, _ in FAULTS}

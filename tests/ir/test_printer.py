"""Programs as text, whole: what a reader of `explain` sees."""

import textwrap

import torch

from minicompiler.ir import ops
from minicompiler.ir.nodes import BufferRef, Extern
from minicompiler.symbolic.expr import as_expr, sym
from tests.ir.programs import F32, I64, layout, loads, pointwise, program, reduction, scatter, sizes


def expect(p, text):
    assert repr(p) == textwrap.dedent(text).strip()


def test_pointwise():
    x, w = loads("x", 2, 3), loads("w", 3)
    body = lambda i: ops.maximum(ops.add(x(i), w(i[1:])), ops.mul(x(i), ops.constant(0.5, F32)))
    p = program(pointwise("buf0", body, 2, 3), x=layout(2, 3), w=layout(3))
    p.origins["buf0"] = ["add", "leaky", "model.py:7 in forward"]
    expect(
        p,
        """
        def graph(x: float32[2, 3], w: float32[3]):
            # add, leaky, model.py:7 in forward
            buf0 = empty(float32[2, 3])
            for i0, i1 in grid(2, 3):
                tmp0 = load(x, i0*3 + i1)
                tmp1 = load(w, i1)
                tmp2 = add(tmp0, tmp1)
                tmp3 = mul(tmp0, float32(0.5))
                tmp4 = maximum(tmp2, tmp3)
                buf0[i0*3 + i1] = tmp4
            return buf0
        """,
    )


def test_reduction_and_call():
    where = layout(2, 3)
    total = reduction("buf0", "sum", lambda i, r: ops.load("x", where.index(i + r)), (2,), (3,))
    transposed = BufferRef("x", layout(3, 2, stride=(1, 3)))
    call = Extern(
        ("buf1",),
        (layout(3, 1),),
        torch.ops.aten.mm.default,
        (transposed, BufferRef("buf0", layout(2, 1))),
        {},
        torch.ops.aten.mm.out,
    )
    p = program(total, call, outputs=[BufferRef("buf1", layout(3, 1)), None, 7], x=where)
    expect(
        p,
        """
        def graph(x: float32[2, 3]):
            buf0 = empty(float32[2])
            for i0 in grid(2):
                for r0 in grid(3):
                    tmp0 = load(x, i0*3 + r0)
                    result = sum(result, tmp0)
                buf0[i0] = result
            buf1 = aten.mm.out(x as float32[3, 2].strided(1, 3), buf0 as float32[2, 1])  # extern: float32[3, 1]
            return buf1, None, 7
        """,  # noqa: E501
    )


def test_scatter_with_checked_index_and_mask():
    def target(i):
        return (ops.indirect(ops.load("index", i[0]), as_expr(4)),)

    def value(i):
        small = ops.lt(ops.index_expr(i[0], I64), ops.constant(1, I64))
        return ops.masked(small, lambda: ops.load("x", i[0] + 1), 0.0, F32)

    p = program(
        pointwise("buf0", loads("x", 4), 4),
        scatter("buf1", target, value, (2,), (4,), "add", into="buf0"),
        x=layout(4),
        index=layout(2, dtype=I64),
    )
    expect(
        p,
        """
        def graph(x: float32[4], index: int64[2]):
            buf0 = empty(float32[4])
            for i0 in grid(4):
                tmp0 = load(x, i0)
                buf0[i0] = tmp0
            buf1 = buf0
            for i0 in grid(2):
                tmp0 = load(index, i0)
                tmp1 = indirect(tmp0, 4)
                tmp2 = lt(int64(i0), int64(1))
                tmp3 = float32(0.0)
                if tmp2:
                    tmp4 = load(x, i0 + 1)
                    tmp3 = tmp4
                buf1[tmp1] += tmp3
            return buf1
        """,
    )


def test_sizes_that_are_symbols_and_conversions():
    s0 = sym("s0")
    where = layout(1)
    whole = type(where)(where.device, torch.bfloat16, (s0,), sizes(1))
    body = lambda i: ops.to_dtype(ops.neg(ops.to_dtype(ops.load("x", i[0]), F32)), torch.bfloat16)
    made = pointwise("buf0", body, 1, dtype=torch.bfloat16)
    loop = type(made.loop)((s0,), body)
    p = program(type(made)("buf0", whole, loop), size=s0, x=whole)
    expect(
        p,
        """
        def graph(size: int, x: bfloat16[s0]):
            buf0 = empty(bfloat16[s0])
            for i0 in grid(s0):
                tmp0 = load(x, i0)
                tmp1 = to_dtype(tmp0, float32)
                tmp2 = neg(tmp1)
                tmp3 = to_dtype(tmp2, bfloat16)
                buf0[i0] = tmp3
            return buf0
        """,
    )

"""The handler protocol and the table of ops."""

import threading

import pytest
import torch

from minicompiler.ir import ops
from minicompiler.ir.dtypes import DtypeHandler
from minicompiler.symbolic.expr import as_expr
from tests.ir.programs import F32, I64, layout


class Words:
    """Values are texts."""

    def load(self, buffer, index):
        return f"{buffer}[{index}]"

    def default(self, name, *args):
        return f"{name}({', '.join(args)})"


def body(i):
    return ops.mul(ops.load("x", i), ops.exp(ops.load("w", i)))


def test_one_body_has_many_readings():
    with ops.handling(Words()):
        assert body(as_expr(3)) == "mul(x[3], exp(w[3]))"
    with ops.handling(DtypeHandler({"x": layout(4), "w": layout(4)})):
        assert body(as_expr(3)) == F32


def test_handlers_nest_and_are_restored_when_a_body_raises():
    outer = Words()
    with ops.handling(outer):
        with pytest.raises(ZeroDivisionError), ops.handling(object()):
            raise ZeroDivisionError
        assert ops.current() is outer
    assert ops.current() is None


def test_each_thread_has_its_own_handler():
    seen = []
    with ops.handling(Words()):
        thread = threading.Thread(target=lambda: seen.append(ops.current()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_only_ops_of_the_table_exist():
    assert callable(ops.add) and ops.add is ops.add
    with pytest.raises(AttributeError, match="frobnicate"):
        ops.frobnicate


@pytest.mark.parametrize(
    "operands, dtype, allowed",
    [
        ("float", F32, True),
        ("float", I64, False),
        ("float", torch.bool, False),
        ("integer", torch.uint8, True),
        ("integer", F32, False),
        ("integer", torch.bool, False),
        ("number", I64, True),
        ("number", torch.bool, False),
        ("bool", torch.bool, True),
        ("bool", torch.uint8, False),
        ("any", torch.bool, True),
    ],
)
def test_operand_rules(operands, dtype, allowed):
    assert ops.allows(operands, dtype) is allowed


def test_result_rules():
    assert ops.result_dtype("lt", I64, I64) == torch.bool
    assert ops.result_dtype("where", torch.bool, F32, F32) == F32
    handler = DtypeHandler({})
    with ops.handling(handler):
        assert ops.random("randint", I64, I64) == I64 and ops.random("rand", I64, I64) == F32
        assert ops.to_dtype(F32, torch.bfloat16) == torch.bfloat16
        assert ops.masked(torch.bool, lambda: F32, 0.0, F32) == F32
        assert [str(ops.indirect(I64, as_expr(4))) for _ in range(2)] == ["tmp0", "tmp1"]

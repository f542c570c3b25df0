"""The node inside torch.SymInt, SymFloat and SymBool: an expression and the facts around it.

torch calls these methods by name when Python or C++ computes with a symbolic number. Those of
arithmetic are two tables. A node whose expression is a constant says that it is not symbolic, and
torch then takes it for the number.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import expr as ex
from .env import ShapeEnv
from .expr import Expr, ExprLike, Value, as_expr
from .shapes import TensorSpec, is_channels_last, is_contiguous, is_dense

PYTHON_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool}


class SymNode:
    """Immutable: arithmetic makes new nodes."""

    def __init__(self, env: ShapeEnv, e: ExprLike) -> None:
        self.shape_env, self._written = env, as_expr(e)

    @property
    def expr(self) -> Expr:
        """Simplified by all that is known by now."""
        return self.shape_env.simplify(self._written)

    def new(self, e: ExprLike) -> "SymNode":
        return SymNode(self.shape_env, e)

    # --- what it is

    @property
    def pytype(self) -> type:
        return PYTHON_TYPES[self._written.sort]

    def is_int(self) -> bool:
        return self.pytype is int

    def is_float(self) -> bool:
        return self.pytype is float

    def is_bool(self) -> bool:
        return self.pytype is bool

    def is_symbolic(self) -> bool:
        return not self.expr.is_const

    def is_constant(self) -> bool:
        return self.expr.is_const

    def is_nested_int(self) -> bool:
        return False

    def nested_int(self) -> None:
        return None

    def has_hint(self) -> bool:
        return self.hint is not None

    @property
    def hint(self) -> Value | None:
        return self.shape_env.hint(self.expr)

    _hint = hint  # torch's guard_or_false looks here

    @property
    def constant(self) -> Value | None:
        return self.expr.const if self.expr.is_const else None

    def _constant_of(self, kind: type) -> Any:
        return self.constant if self.pytype is kind else None

    def maybe_as_int(self) -> int | None:
        return self._constant_of(int)  # type: ignore[no-any-return]

    def maybe_as_float(self) -> float | None:
        return self._constant_of(float)  # type: ignore[no-any-return]

    def maybe_as_bool(self) -> bool | None:
        return self._constant_of(bool)  # type: ignore[no-any-return]

    constant_int, constant_bool = maybe_as_int, maybe_as_bool

    def clone(self) -> "SymNode":
        return self

    def str(self) -> str:
        return repr(self.expr)

    __repr__ = __str__ = _graph_repr = str

    def wrap_int(self, value: int) -> "SymNode":
        return self.new(value)

    wrap_float = wrap_bool = wrap_int

    # --- where the program needs an answer

    def guard_int(self, file: str = "", line: int = 0) -> int:
        return int(self.shape_env.value(self.expr))

    def guard_float(self, file: str = "", line: int = 0) -> float:
        return float(self.shape_env.value(self.expr))

    def guard_bool(self, file: str = "", line: int = 0) -> bool:
        return self.shape_env.evaluate(self.expr)

    int_, float_, bool_ = guard_int, guard_float, guard_bool

    def _guard_or(self, default: bool) -> bool:
        if self.has_hint():
            return self.guard_bool()
        known = self.shape_env.known(self.expr)
        return default if known is None else known

    def guard_or_false(self, file: str = "", line: int = 0) -> bool:
        return self._guard_or(False)

    guard_size_oblivious = guard_or_false

    def guard_or_true(self, file: str = "", line: int = 0) -> bool:
        return self._guard_or(True)

    def statically_known_true(self, file: str = "", line: int = 0) -> bool:
        return self.shape_env.known(self.expr) is True

    def expect_true(self, file: str = "", line: int = 0) -> bool:
        self.shape_env.check(self.expr)
        return True

    def expect_size(self, file: str = "", line: int = 0) -> bool:
        self.shape_env.check(ex.ge(self.expr, 0))
        return True

    # --- arithmetic that is no plain operator

    def sym_ite(self, then: "SymNode", otherwise: "SymNode") -> "SymNode":
        return then if self.guard_bool() else otherwise

    def sym_sum(self, nodes: Sequence["SymNode"]) -> "SymNode":
        return self.new(ex.add_all(n.expr for n in nodes))

    def _layout(self, test: Callable[[TensorSpec], bool], sizes: Any, strides: Any) -> "SymNode":
        """Evident from the expressions, or else False, which is safe: nothing relies on a no."""
        size, stride = (tuple(n.expr for n in nodes) for nodes in (sizes, strides))
        return self.new(test(TensorSpec(torch.uint8, torch.device("meta"), size, stride)))


def _abs(a: Expr) -> Expr:
    return ex.max_(a, -a)


def _bitwise(logical: Callable[..., Expr]) -> Callable[[Expr, Expr], Expr]:
    def build(a: Expr, b: Expr) -> Expr:
        if a.sort == b.sort == "bool":
            return logical(a, b)
        raise TypeError("bitwise operations on symbolic ints are not expressed symbolically")

    return build


BINARY: dict[str, Callable[..., Expr]] = {
    **{"add": ex.add, "sub": ex.subtract, "mul": ex.mul, "mod": ex.mod},
    **dict.fromkeys(("floordiv", "int_floordiv"), ex.floordiv),
    **dict.fromkeys(("truediv", "int_truediv", "float_truediv"), ex.truediv),
    **dict.fromkeys(("pow", "pow_by_natural", "float_pow"), ex.power),
    **{"eq": ex.eq, "ne": ex.ne, "lt": ex.lt, "le": ex.le, "gt": ex.gt, "ge": ex.ge},
    **{"sym_min": ex.min_, "sym_max": ex.max_, "sym_and": ex.and_, "sym_or": ex.or_},
    **{"and_": _bitwise(ex.and_), "or_": _bitwise(ex.or_), "bitwise_and": _bitwise(ex.and_)},
}
UNARY: dict[str, Callable[..., Expr]] = {
    **{"neg": lambda a: -a, "pos": lambda a: a, "abs": _abs, "sym_not": ex.not_},
    **{"ceil": ex.ceil, "floor": ex.floor, "trunc": ex.trunc, "sym_float": ex.to_float},
    **{"sym_sqrt": ex.sqrt, "sym_int": ex.trunc},
}
LAYOUTS: dict[str, Callable[[TensorSpec], bool]] = {
    "is_contiguous": is_contiguous,
    **dict.fromkeys(
        ("is_non_overlapping_and_dense", "is_non_overlapping_and_dense_indicator"), is_dense
    ),
    "is_channels_last_contiguous_2d": lambda t: t.ndim == 4 and is_channels_last(t),
    "is_channels_last_contiguous_3d": lambda t: t.ndim == 5 and is_channels_last(t),
    "is_channels_last_strides_2d": lambda t: t.ndim == 4 and is_channels_last(t),
    "is_channels_last_strides_3d": lambda t: t.ndim == 5 and is_channels_last(t),
}


def _install() -> None:
    def binary(build: Callable[..., Expr]) -> Any:
        return lambda self, other: self.new(build(self.expr, other.expr))

    def unary(build: Callable[..., Expr]) -> Any:
        return lambda self: self.new(build(self.expr))

    def layout(test: Callable[[TensorSpec], bool]) -> Any:
        return lambda self, sizes, strides: self._layout(test, sizes, strides)

    for table, wrap in ((BINARY, binary), (UNARY, unary), (LAYOUTS, layout)):
        for name, f in table.items():
            setattr(SymNode, name, wrap(f))


_install()


def to_torch(env: ShapeEnv, e: Expr) -> Any:
    """A Python number for a constant, else a torch.SymInt, SymFloat or SymBool."""
    e = env.simplify(e)
    if e.is_const:
        return e.const
    kind = {"int": torch.SymInt, "float": torch.SymFloat, "bool": torch.SymBool}[e.sort]
    return kind(SymNode(env, e))

"""The node inside torch.SymInt, SymFloat and SymBool: an expression and the facts around it.

torch calls nodes by method name whenever Python or C++ computes with a symbolic number. The tables
below say what each answers. A node whose expression is a constant says that it is not symbolic, and
torch then takes it for the number.
"""

from collections.abc import Callable
from typing import Any

import torch

from . import expr as ex
from .env import ShapeEnv
from .expr import Expr, ExprLike, Value, as_expr
from .shapes import TensorSpec, is_channels_last, is_contiguous, is_dense


class SymNode:
    """Immutable: arithmetic makes new nodes."""

    def __init__(self, env: ShapeEnv, e: ExprLike) -> None:
        self.shape_env, self._written = env, as_expr(e)

    @property
    def expr(self) -> Expr:
        """Simplified by all that is known by now."""
        return self.shape_env.simplify(self._written)

    @property
    def pytype(self) -> type:
        return {"int": int, "float": float, "bool": bool}[self._written.sort]

    @property
    def hint(self) -> Value | None:
        return self.shape_env.hint(self.expr)

    _hint = hint  # torch's guard_or_false looks here

    @property
    def constant(self) -> Value | None:
        return self.expr.const if self.expr.is_const else None

    def __repr__(self) -> str:
        return repr(self.expr)

    def new(self, e: ExprLike) -> "SymNode":
        return SymNode(self.shape_env, e)

    def guard(self, file: str = "", line: int = 0) -> Any:
        """The number, where the program needs one."""
        return self.shape_env.value(self.expr)

    def guard_or(self, default: bool) -> bool:
        """For a shortcut: only what is known counts where there is no hint."""
        return self.shape_env.evaluate_sym_node(self, fallback_value=default)

    def expect(self, condition: Expr) -> bool:
        self.shape_env.check(condition)
        return True

    def layout(self, test: Callable[[TensorSpec], bool], sizes: Any, strides: Any) -> "SymNode":
        """Evident from the expressions, or else False, which is safe: nothing relies on a no."""
        size, stride = (tuple(n.expr for n in nodes) for nodes in (sizes, strides))
        return self.new(test(TensorSpec(torch.uint8, torch.device("meta"), size, stride)))


def _logical(connect: Callable[..., Expr]) -> Callable[[Expr, Expr], Expr]:
    def build(a: Expr, b: Expr) -> Expr:
        if a.sort == b.sort == "bool":
            return connect(a, b)
        raise TypeError("bitwise operations on symbolic ints are not expressed symbolically")

    return build


ANSWERS: dict[str, Callable[..., Any]] = {
    "is_int": lambda n: n.pytype is int,
    "is_float": lambda n: n.pytype is float,
    "is_bool": lambda n: n.pytype is bool,
    "is_symbolic": lambda n: n.constant is None,
    "is_constant": lambda n: n.constant is not None,
    "is_nested_int": lambda n: False,
    "nested_int": lambda n: None,
    "has_hint": lambda n: n.hint is not None,
    "maybe_as_int": lambda n: n.constant if n.pytype is int else None,
    "maybe_as_float": lambda n: n.constant if n.pytype is float else None,
    "maybe_as_bool": lambda n: n.constant if n.pytype is bool else None,
    "constant_int": lambda n: n.constant if n.pytype is int else None,
    "constant_bool": lambda n: n.constant if n.pytype is bool else None,
    "clone": lambda n: n,
    **dict.fromkeys(("str", "_graph_repr"), SymNode.__repr__),
    **dict.fromkeys(("wrap_int", "wrap_float", "wrap_bool"), SymNode.new),
    **dict.fromkeys(("guard_int", "guard_float", "guard_bool", "int_", "bool_"), SymNode.guard),
    "guard_or_false": lambda n, file, line: n.guard_or(False),
    "guard_size_oblivious": lambda n, file, line: n.guard_or(False),
    "guard_or_true": lambda n, file, line: n.guard_or(True),
    "statically_known_true": lambda n, file, line: n.shape_env.known(n.expr) is True,
    "expect_true": lambda n, file, line: n.expect(n.expr),
    "expect_size": lambda n, file, line: n.expect(ex.ge(n.expr, 0)),
    "sym_ite": lambda n, yes, no: yes if n.guard() else no,
    "sym_sum": lambda n, nodes: n.new(ex.add_all(other.expr for other in nodes)),
}
ARITHMETIC: dict[str, Callable[..., Expr]] = {
    **{"add": ex.add, "sub": ex.subtract, "mul": ex.mul, "mod": ex.mod},
    **dict.fromkeys(("floordiv", "int_floordiv"), ex.floordiv),
    **dict.fromkeys(("truediv", "int_truediv", "float_truediv"), ex.truediv),
    **dict.fromkeys(("pow", "pow_by_natural", "float_pow"), ex.power),
    **{"eq": ex.eq, "ne": ex.ne, "lt": ex.lt, "le": ex.le, "gt": ex.gt, "ge": ex.ge},
    **{"sym_min": ex.min_, "sym_max": ex.max_, "sym_and": ex.and_, "sym_or": ex.or_},
    **{"and_": _logical(ex.and_), "or_": _logical(ex.or_), "sym_not": ex.not_},
    **{"ceil": ex.ceil, "floor": ex.floor, "trunc": ex.trunc, "sym_float": ex.to_float},
    **{"neg": lambda a: -a, "abs": lambda a: ex.max_(a, -a), "sym_sqrt": ex.sqrt},
}
LAYOUTS: dict[str, Callable[[TensorSpec], bool]] = {
    "is_contiguous": is_contiguous,
    "is_non_overlapping_and_dense": is_dense,
    "is_non_overlapping_and_dense_indicator": is_dense,
    "is_channels_last_contiguous_2d": lambda t: t.ndim == 4 and is_channels_last(t),
    "is_channels_last_contiguous_3d": lambda t: t.ndim == 5 and is_channels_last(t),
    "is_channels_last_strides_2d": lambda t: t.ndim == 4 and is_channels_last(t),
    "is_channels_last_strides_3d": lambda t: t.ndim == 5 and is_channels_last(t),
}


def _arithmetic(build: Callable[..., Expr]) -> Callable[..., SymNode]:
    return lambda n, *others: n.new(build(n.expr, *(other.expr for other in others)))


def _layout(test: Callable[[TensorSpec], bool]) -> Callable[..., SymNode]:
    return lambda n, sizes, strides: n.layout(test, sizes, strides)


_METHODS = ANSWERS | {k: _arithmetic(f) for k, f in ARITHMETIC.items()}
_METHODS |= {k: _layout(f) for k, f in LAYOUTS.items()}
for _name, _method in _METHODS.items():
    setattr(SymNode, _name, _method)


def to_torch(env: ShapeEnv, e: Expr) -> Any:
    """A Python number for a constant, else a torch.SymInt, SymFloat or SymBool."""
    e = env.simplify(e)
    if e.is_const:
        return e.const
    wrap: Any = {"int": torch.SymInt, "float": torch.SymFloat, "bool": torch.SymBool}[e.sort]
    return wrap(SymNode(env, e))

# teaches: a subclass on the right
import operator

import torch

from minicompiler.capture.data_model import (
    COMPARE,
    OPERATORS,
    call_special,
    first_answer,
    fold,
    identical,
    run,
)
from minicompiler.capture.facts import ARRAY
from minicompiler.capture.frame_hook import MISSING, type_lookup
from minicompiler.capture.values import (
    NONE,
    Const,
    E,
    Obj,
    Sequence,
    Tensor,
    Tuple,
    Value,
    const_bool,
    constant,
    describe,
    operators,
    refuse,
)


def binary(ev: E, symbol: str, a: Value, b: Value, inplace: bool = False) -> Value:
    """Arithmetic and comparison."""
    name, reflected = OPERATORS[symbol]
    number = isinstance(b, Obj) and issubclass(b.cls, int | float | complex)
    if number and isinstance(a, Const | Tensor) and not issubclass(b.cls, a.cls):
        refuse(f"{describe(a)} {symbol} {describe(b)}")  # of which C takes the number
    op, compares = getattr(operator, f"__{name}__"), symbol in COMPARE
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        other = b if isinstance(a, Tensor) else a
        if compares:
            in_graph = isinstance(other, Tensor | Const) and constant(other) is not None
        else:
            known = [type_lookup(other.cls, f"__{n}__") is not MISSING for n in (name, f"r{name}")]
            unknown = not isinstance(other, Sequence) and not any(known)
            in_graph = isinstance(other, Tensor | Const) or unknown
        if in_graph:
            own = inplace and isinstance(a, Tensor) and hasattr(torch.Tensor, f"__i{name}__")
            return ev.graph.call(ev, getattr(operator, f"i{name}") if own else op, [a, b])
        asked = type_lookup(other.cls, "__torch_function__") is not MISSING
        if asked or (compares and symbol not in ("==", "!=")):
            refuse(f"{symbol} of a tensor and {describe(other)}")
    formats = isinstance(a.real, str | bytes) and symbol == "%"
    if isinstance(a, Const) and isinstance(b, Const):
        if inplace and a.cls is ARRAY:
            refuse("writes to an array of numpy")
        methods = {f"__{name}__", f"__{reflected}__", f"__i{name}__"}
        if formats or methods.isdisjoint(operators(a.cls) | operators(b.cls)):
            op = getattr(operator, f"i{name}") if inplace else op
            return (fold if formats else run)(ev, op, a.value, b.value)
    if formats:  # of a tuple of any class C reads the items
        b = Tuple(b.read(ev)) if isinstance(b, Tuple) else b
        return call_special(ev, a, "__mod__", b) or NONE
    tries = [(a, f"__{name}__", b), (b, f"__{reflected}__", a)]
    own = type_lookup(b.cls, f"__{reflected}__") is not type_lookup(a.cls, f"__{reflected}__")
    if a.cls in b.cls.__mro__[1:] and compares:
        tries.reverse()
    if b.cls is a.cls and not compares:
        del tries[1]
    if inplace:
        tries.insert(0, (a, f"__i{name}__", b))
    if (found := first_answer(ev, tries)) is not None:
        return found
    if symbol in ("==", "!="):
        return const_bool(identical(ev, a, b) == (symbol == "=="))
    refuse(f"{describe(a)} {symbol} {describe(b)}")  # C asks in more ways: numbers, sequences

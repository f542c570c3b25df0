"""What the evaluator knows about one Python object.

`Const` is an immutable literal, `Tensor` a node of the graph, `Obj` everything with identity. An
`Obj` with `real` stands for an object that exists outside; writes go to the value and are replayed
after the graph. An `Obj` without is new: it is built only if it escapes.
"""

import enum
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias

import torch

from ...errors import Unsupported
from ..facts import ATOMS, NUMBERS, numpy
from ..frame_hook import MISSING, type_lookup
from ..source import Source

if TYPE_CHECKING:
    from ..evaluator import Evaluation

E: TypeAlias = "Evaluation"

TRUSTED = frozenset(sys.stdlib_module_names) | {"torch", "minicompiler", "typing_extensions"}
# Not "test": CPython's own tests are user code like any other.


def trusted(module: Any) -> bool:
    """Functions and classes of these modules are taken as they are, without a guard."""
    return isinstance(module, str) and module.partition(".")[0] in TRUSTED and module != "__main__"


ABSENT: Any = object()  # there is no real object, no such attribute, no such item

LITERALS = (*ATOMS, float, complex, range)


def is_literal(real: object) -> bool:
    """Immutable, without identity worth keeping, equal by value: evaluated as itself."""
    if isinstance(real, slice):
        return all(map(is_literal, (real.start, real.stop, real.step)))
    member = isinstance(real, enum.Enum) and not operators(type(real)) & {"__eq__", "__hash__"}
    return member or type(real) in LITERALS or isinstance(real, NUMBERS)


def operators(cls: type) -> set[str]:
    """The special methods of a class that the program has written, but for making objects."""
    found = [f for base in cls.__mro__ if not trusted(base.__module__) for f in vars(base).items()]
    written = {n for n, f in found if n[:2] == "__" == n[-2:] and _written(f)}
    return written - {"__new__", "__init__"}


def _written(f: Any) -> bool:
    """Methods need not be functions; an enum has copies of functions of its module."""
    other = not is_fixed(f) and (callable(f) or hasattr(type(f), "__get__"))
    return not trusted(f.__module__) if type(f) is types.FunctionType else other


def calls_back(real: Any) -> bool:
    """Can what C does with this object, or with one inside, run code of the program's?"""
    if isinstance(real, slice):
        real = (real.start, real.stop, real.step)
    if type(real) in (list, tuple, set, frozenset, dict):
        return any(map(calls_back, (*real, *real.values()) if type(real) is dict else real))
    return bool(operators(type(real)))


class Value:
    """Base of all. `source` says how to reach the object again; None for what is new or fixed."""

    cls: type = types.NoneType
    source: Source | None = None
    real: Any = ABSENT
    born: int = 0  # step of the outermost frame at which evaluation made it
    last_write: int = 0  # how manieth of all

    def constant(self) -> Any:
        """A fresh Python object, if this is made of constants, functions and types only."""
        raise NotConstant

    def force(self, ev: E) -> "Value":
        """This, read and guarded."""
        return self

    def outside(self, real: Any, source: Source | None) -> Self:
        """This value, standing for an object that exists."""
        self.real, self.source = real, source
        return self

    def __bool__(self) -> bool:
        return True  # it is there, whatever it stands for

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source or self.cls.__name__})"


class NotConstant(Exception):
    """Some part of a value is no constant."""


class Const(Value):
    def __init__(self, value: Any, source: Source | None = None) -> None:
        self.value = self.real = value
        self.cls, self.source = type(value), source

    def constant(self) -> Any:
        return self.value

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


NONE, TRUE, FALSE = Const(None), Const(True), Const(False)


def const_bool(value: bool) -> Const:
    return TRUE if value else FALSE


NULL = Value()  # the empty stack slot below (3.13: above) a callable; also an unbound cell


class Obj(Value):
    """An object of any class that has no closer value class."""

    def __init__(self, cls: type, real: Any = ABSENT, source: Source | None = None) -> None:
        self.cls, self.real, self.source = cls, real, source
        self.fields: dict[str, Value] = {}  # slots and C-level fields known or written
        self.written: dict[str, None] = {}  # the written ones, in order
        self.attributes: Any = None  # Dict of the instance __dict__, made at first use
        self.raised: tuple[int, str] | None = None  # an exception: step and line of its raise

    @property
    def is_new(self) -> bool:
        return self.real is ABSENT

    def constant(self) -> Any:
        fixed = isinstance(self.real, (*FIXED, types.FunctionType))
        return self.real if fixed else super().constant()


class Tensor(Value):
    """A tensor of the graph: a node, and the fake that knows its metadata."""

    def __init__(self, node: torch.fx.Node, fake: Any, cls: type = torch.Tensor) -> None:
        self.node, self.fake, self.cls = node, fake, cls
        self.attributes: Any = None
        self.grad: Value | None = None


class Lazy(Value):
    """An item of an outside container: nothing is guarded until it is read."""

    def __init__(self, real: Any, source: Source | None) -> None:
        self.real, self.source = real, source

    def force(self, ev: E) -> Value:
        return ev.wrap(self.real, self.source)


class Raised(Exception):
    """A Python exception of the evaluated program. `value` is the exception object."""

    def __init__(self, ev: E, value: Obj) -> None:
        if ev.handled not in (None, value, value.fields.get("__context__")):
            if value.raised or not value.is_new:
                refuse("raises an exception again while another is handled")
            value.fields["__context__"] = ev.handled
        # Raised again, it still counts as raised where it was first: there the graph can break.
        first = value.raised = value.raised or (ev.at, ev.where())
        self.value, (self.step, self.where) = value, first
        super().__init__(value)


def refuse(reason: str, hint: str = "") -> NoReturn:
    raise Unsupported(reason, hint)


class Unbuildable(Unsupported):
    """A value that cannot be made again; the graph may break at the step that made it instead."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step = step


def python_value(v: Value) -> Any:
    """The value as a Python object; raises Unsupported unless it is made of constants only."""
    found = constant(v)
    if found is ABSENT:
        refuse(f"needs a constant, got {describe(v)}", "print or format it outside")
    return found


def constant(v: Value) -> Any:
    """`v` as a fresh Python object if it is made of constants, functions and types, else ABSENT."""
    try:
        return v.constant()
    except NotConstant:
        return ABSENT


def describe(v: Value) -> str:
    """For messages: what the user would call it."""
    where = f" ({v.source!r})" if v.source is not None else ""
    if isinstance(v, Const):
        return repr(v.value)[:60]
    name = getattr(v.real, "__qualname__", None) if v.real is not ABSENT else None
    return f"{name or 'a ' + v.cls.__qualname__}{where}"


# Objects whose identity is all that a guard needs to know. They are passed as they are to pure
# functions that run while evaluating.
FIXED: tuple[type, ...] = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType)
FIXED += (types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType)
FIXED += (types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType)
FIXED += (staticmethod, classmethod, property)
FIXED += (type(numpy.sqrt), type(numpy.prod)) if numpy else ()


def is_fixed(real: Any) -> bool:
    return isinstance(real, FIXED)


def c_method(real: Any) -> Any:
    """What the class of its `__self__` has for a bound method written in C; else MISSING."""
    bound = isinstance(real, types.BuiltinFunctionType | types.MethodWrapperType)
    if not bound or isinstance(real.__self__, type | types.ModuleType | None):
        return MISSING
    return type_lookup(type(real.__self__), real.__name__)

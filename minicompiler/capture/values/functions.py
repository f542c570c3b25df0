"""Functions, bound methods, cells, super objects, generators and iterators."""

import types
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType
from typing import TYPE_CHECKING, Any, cast

from ..facts import is_empty
from ..source import Const as ConstSource, Contents, Field, Item, Source, field
from .base import ABSENT, NONE, E, Obj, Value
from .containers import Dict

if TYPE_CHECKING:
    from ..frame import Frame


class Cell(Obj):
    """A closure cell. `content` is None while the variable is unbound."""

    def __init__(self, real: Any = ABSENT, source: Source | None = None) -> None:
        super().__init__(CellType, real, source)
        self.content: Value | None = None
        self.was_read = real is ABSENT

    def get(self, ev: E) -> Value | None:
        if not self.was_read:
            self.was_read = True
            if not is_empty(self.real):
                held = self.source and Contents(self.source)
                self.content = ev.wrap(self.real.cell_contents, held)
            elif self.source is not None:
                ev.assume("EMPTY_CELL", self.source, True)
        return self.content

    def set(self, ev: E, value: Value | None) -> None:
        ev.effects.touch(self)
        self.was_read = True
        self.content = value


class Function(Obj):
    """A Python function, outside (`real`) or made by evaluated code."""

    defaults: Value = NONE
    kwdefaults: Value = NONE
    annotations: Value | None = None
    closure: tuple[Cell, ...] = ()

    def __init__(self, code: CodeType, globals: Dict, name: str) -> None:
        super().__init__(FunctionType)
        self.code, self.globals, self.name = code, globals, name

    @staticmethod
    def of(ev: E, real: FunctionType, source: Source | None) -> "Function":
        """Code and defaults may be exchanged on a function: guarded, unless it is fixed."""
        if source is not None:
            ev.assume("ID", Field(source, "__code__"), real.__code__)
        space = ev.globals_of(real.__globals__, field(source, "__globals__"))
        made = Function(real.__code__, space, real.__qualname__).outside(real, source)
        made.defaults = ev.wrap(real.__defaults__, field(source, "__defaults__"))
        made.kwdefaults = ev.wrap(real.__kwdefaults__, field(source, "__kwdefaults__"))
        for i, cell in enumerate(real.__closure__ or ()):
            at = source and Item(Field(source, "__closure__"), i)
            made.closure += (cast(Cell, ev.wrap(cell, at or ConstSource(cell))),)
        return made


class Method(Obj):
    """A function bound to an object; `function` may be a builtin's method descriptor too."""

    def __init__(self, function: Value, self_value: Value) -> None:
        super().__init__(BOUND.get(function.cls, MethodType))
        self.function, self.self_value = function, self_value


BOUND: dict[type, type] = {types.WrapperDescriptorType: types.MethodWrapperType}
BOUND[types.MethodDescriptorType] = BOUND[types.ClassMethodDescriptorType] = type(len)


class Super(Obj):
    """super(start, of): looks behind `start` in the MRO of `of` (an object or a class)."""

    def __init__(self, start: Value, of: Value) -> None:
        super().__init__(super)
        self.start, self.of = start, of


class Generator(Obj):
    """A generator whose frame is evaluated step by step. `origin` re-creates it while unstarted."""

    def __init__(self, frame: "Frame", origin: tuple[Value, list[Value], dict[str, Value]]) -> None:
        super().__init__(GeneratorType)
        self.frame, self.origin = frame, origin
        self.started = self.finished = self.running = False


class Iterator(Obj):
    """Steps through what may grow meanwhile: `read` gives the item at a place, None at the end."""

    way: Any = iter

    def __init__(self, cls: type, read: Callable[[int], Value | None], of: Value) -> None:
        super().__init__(cls)
        self.read, self.of = read, of
        self.index = 0
        self.exhausted = False

    def next(self) -> Value | None:
        """None at the end, and from then on."""
        found = None if self.exhausted else self.read(self.index)
        self.exhausted = found is None
        self.index += 1
        return found


class Stepped(Iterator):
    """One of Python's own iterators at work on values; `origin` makes it again while unstarted."""

    origin: tuple[Value, Any, Any]
    made_after: int  # so many writes

    @property
    def started(self) -> bool:
        return self.index > 0

"""Sources: how a value of the frame is reached again.

Everything that evaluation reads from outside has a `Source`: a path from what the frame was called
with (arguments, closure cells), its globals or a constant. One path has two readings: Python text
(`python`), of the guard and of the replacement, which loads the value by it, and what a person
reads in a why-record (`repr`, as in L['self'].fc.weight).

Reading never runs user code: no property, `__getattr__`, `__getattribute__` or `__getitem__`. So a
path names the mechanism that answered (own `__dict__`, slot, class lookup, item of a list), and
guards on the types along it make sure that the same mechanism answers again.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, dataclass_transform

from .frame_hook import MISSING, own_dict, type_lookup


class Scope(Protocol):
    """What a source needs to become text."""

    def read(self, source: "Source") -> str:
        """Name of a variable that holds the value of `source` (each path is read once)."""

    def vector(self, name: str) -> str:
        """Name of the parameter that holds this argument or closure cell."""

    def const(self, value: object) -> str:
        """The value itself as text, or a name under which it is in scope."""


class Source:
    """A path. Frozen and hashable; equal paths are equal sources."""

    shown: ClassVar[str]  # format of the repr, given the source

    def __repr__(self) -> str:
        return self.shown.format(self)

    @property
    def base(self) -> "Source | None":
        """The source this one is read from; None for a root."""
        return None

    @cached_property
    def parents(self) -> "tuple[Source, ...]":
        """All sources that reading this one reads."""
        return (self.base,) if self.base else ()

    @cached_property
    def above(self) -> "frozenset[Source]":
        """Everything that reading this one reads on its way."""
        return frozenset(self.parents).union(*(p.above for p in self.parents))

    def python(self, scope: Scope) -> str:
        """An expression that reads the value; raises where the path no longer exists."""
        raise NotImplementedError(type(self).__name__)

    @property
    def root(self) -> "Source":
        """The argument, cell, namespace or constant where the path begins."""
        return self.base.root if self.base else self


@dataclass_transform(frozen_default=True)
def path(cls: type[Source]) -> type[Source]:
    """Class decorator: a frozen dataclass that computes the hash of its (long) path once."""
    made = dataclass(frozen=True, repr=False)(cls)
    plain = cls.__hash__

    def __hash__(self: Any) -> int:
        if "_hash" not in self.__dict__:
            self.__dict__["_hash"] = plain(self)
        known: int = self.__dict__["_hash"]
        return known

    made.__hash__ = __hash__  # type: ignore[method-assign]
    return made


# ---------------------------------------------------------------- readers that no class can fool
class_mro = type.__dict__["__mro__"].__get__
class_dict = type.__dict__["__dict__"].__get__


def item_as(container: Any, key: object, kind: type) -> object:
    """`container[key]` as the builtin type has it; for dicts without `__missing__`."""
    if kind is not dict:
        reader: Any = kind
        return reader.__getitem__(container, key)
    found = dict.get(container, key, MISSING)
    if found is MISSING:
        raise KeyError(key)
    return found


def keys_of(container: Any) -> Iterator[Any]:
    """Keys in order, as the builtin type reads them; OrderedDict keeps an order of its own."""
    for builtin in (OrderedDict, dict, MappingProxyType):
        if issubclass(type(container), builtin):
            return iter(builtin.__iter__(container))
    raise TypeError(f"{type(container).__name__} has no keys")


def key_at(container: Any, position: int) -> object:
    return next(islice(keys_of(container), position, None))


# ---------------------------------------------------------------- roots: where every path begins
@path
class Local(Source):
    """An argument of the frame, `*args` and `**kwargs` included (a tuple and a dict)."""

    name: str
    shown = "L[{0.name!r}]"

    def python(self, scope: Scope) -> str:
        return scope.vector(self.name)


@path
class Cell(Source):
    """A closure cell of the frame's function: the cell itself. `index` counts in co_freevars.
    What the variable holds is `Contents(Cell(...))`."""

    name: str
    index: int
    shown = "cell[{0.name!r}]"

    def python(self, scope: Scope) -> str:
        return scope.vector(self.name)


@path
class Globals(Source):
    """The dictionary of the frame's globals."""

    shown = "G"

    def python(self, scope: Scope) -> str:
        return "G"


@path
class Global(Source):
    """A global of the frame. (Those of an inlined function lie below its `__globals__` Field.)"""

    name: str
    shown = "G[{0.name!r}]"

    @property
    def base(self) -> Source:
        return Globals()

    def python(self, scope: Scope) -> str:
        return f"{scope.read(Globals())}[{self.name!r}]"


@dataclass(frozen=True, repr=False, eq=False)
class Const(Source):
    """An object captured by reference: the same one at every call, whatever names change. Only for
    objects that outlive the function anyway (modules, functions of torch, types, constants)."""

    value: object

    def python(self, scope: Scope) -> str:
        return scope.const(self.value)

    def __eq__(self, other: object) -> bool:  # identity: `value` may have an __eq__ of its own
        return type(other) is Const and other.value is self.value

    def __hash__(self) -> int:
        return hash((Const, id(self.value)))

    def __repr__(self) -> str:
        name = getattr(self.value, "__name__", None) if callable(self.value) else None
        return f"const({name or type(self.value).__name__})"


# ---------------------------------------------------------------- steps: one read further


@path
class Step(Source):
    of: Source

    @property
    def base(self) -> Source:
        return self.of


@path
class Attr(Step):
    """An attribute that the object's own `__dict__` holds (instances and modules). That no data
    descriptor of the class comes before it is for a guard on the class to say."""

    name: str
    shown = "{0.of!r}.{0.name}"

    @cached_property
    def base(self) -> Source:
        return OwnDict(self.of)

    def python(self, scope: Scope) -> str:
        return f"{scope.read(self.base)}[{self.name!r}]"


@path
class ModuleItem(Step):
    """A submodule, parameter or buffer: `of.__dict__[table][name]`, where table is "_modules",
    "_parameters" or "_buffers"."""

    table: str
    name: str

    @cached_property
    def base(self) -> Source:
        return Attr(self.of, self.table)

    def python(self, scope: Scope) -> str:
        return f"{scope.read(self.base)}[{self.name!r}]"

    def __repr__(self) -> str:
        number = self.name.isdigit()  # children of Sequential and ModuleList
        return f"{self.of!r}[{self.name}]" if number else f"{self.of!r}.{self.name}"


@path
class Field(Step):
    """An attribute that a C descriptor of a builtin type answers, read as `of.name`: function
    `__code__`, `__defaults__`, `__closure__`, `__globals__`; method `__self__`, `__func__`;
    partial `func`, `args`; property `fget`; tensor `grad`. Guard the type of `of`."""

    name: str
    shown = "{0.of!r}.{0.name}"

    def python(self, scope: Scope) -> str:
        return f"{scope.read(self.of)}.{self.name}"


def field(of: Source | None, name: str) -> Field | None:
    """None for what is reached without a source."""
    return None if of is None else Field(of, name)


@path
class Contents(Field):
    """What a cell holds; raises while the variable is unbound. `of` is a Cell or `closure(...)`."""

    name: str = "cell_contents"

    def __repr__(self) -> str:
        return f"C[{self.of.name!r}]" if isinstance(self.of, Cell) else super().__repr__()


@path
class Item(Step):
    """`of[key]` for an exact list, tuple, dict, mappingproxy or deque; key is a constant."""

    key: Any
    shown = "{0.of!r}[{0.key!r}]"

    def python(self, scope: Scope) -> str:
        return f"{scope.read(self.of)}[{scope.const(self.key)}]"


# -- steps that are a call: reader(value of `of`, constants...)


@path
class Called(Step):
    """`reader(of, constants...)`, the constants being the fields after `of`."""

    reader: ClassVar[Any]

    @property
    def constants(self) -> list[Any]:
        return [getattr(self, f.name) for f in fields(self) if f.name != "of"]

    def python(self, scope: Scope) -> str:
        arguments = ", ".join([scope.read(self.of), *map(scope.const, self.constants)])
        return f"{scope.const(self.reader)}({arguments})"


@path
class OwnDict(Called):
    """The instance dictionary `of.__dict__`, whatever the class makes of that name."""

    reader = staticmethod(own_dict)
    shown = "{0.of!r}.__dict__"


@path
class Slot(Called):
    """A `__slots__` entry of a user class, read past its `__getattribute__` and `__getattr__`."""

    name: str
    reader = staticmethod(object.__getattribute__)
    shown = "{0.of!r}.{0.name}"


@path
class ItemAs(Called):
    """An item of a subclass of a builtin container (OrderedDict, defaultdict, namedtuple, ...),
    read as that builtin type reads it, for dicts without `__missing__` (which would insert)."""

    key: Any
    kind: Any  # the builtin type
    reader = staticmethod(item_as)
    shown = "{0.of!r}[{0.key!r}]"


@path
class KeyedBy(Called):
    """The item of dict `of` whose key has itself a source (an object, found by identity)."""

    key: Source
    shown = "{0.of!r}[{0.key!r}]"

    @cached_property
    def parents(self) -> tuple[Source, ...]:
        return self.of, self.key

    def python(self, scope: Scope) -> str:
        return f"{scope.const(item_as)}({scope.read(self.of)}, {scope.read(self.key)}, dict)"


@path
class DictKey(Called):
    """The key at a position of a dict: for keys that are objects, which no constant can name."""

    position: int
    reader = staticmethod(key_at)
    shown = "list({0.of!r})[{0.position}]"


@path
class TypeOf(Called):
    """The real type of the object (not what a `__class__` property says)."""

    reader = staticmethod(type)
    shown = "type({0.of!r})"


@path
class ClassAttr(Called):
    """What a class look-up along the MRO finds, unbound (function, property, slot wrapper, ...), or
    MISSING. `of` is a source of the class. An ID guard on it says that nobody patched the class or
    one of its bases."""

    name: str
    reader = staticmethod(type_lookup)
    shown = "{0.of!r}.{0.name}"


@path
class Mro(Called):
    """The tuple `__mro__` of a class; with ClassDict it answers what `super()` finds."""

    reader = staticmethod(class_mro)
    shown = "{0.of!r}.__mro__"


@path
class ClassDict(Called):
    """The class's own dictionary (a mappingproxy), without its bases."""

    reader = staticmethod(class_dict)
    shown = "{0.of!r}.__dict__"


def closure(function: Source, index: int) -> Source:
    """The index-th closure cell (itself) of a function object; see `Contents`."""
    return Item(Field(function, "__closure__"), index)

"""Sources: how a value of the frame is reached again.

Everything that evaluation reads from outside has a `Source`: a path from what the frame was called
with (arguments, closure cells), its globals or a constant. One path has two readings: Python text
(`python`), of the guard and of the replacement, which loads the value by it, and what a person
reads in a why-record (`repr`, as in L['self'].fc.weight).

Reading never runs user code: no property, `__getattr__`, `__getattribute__` or `__getitem__`. So a
path names the mechanism that answered (own `__dict__`, slot, class lookup, item of a list), and
guards on the types along it make sure that the same mechanism answers again.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, dataclass_transform
from weakref import ref

from .frame_hook import MISSING, own_dict, type_lookup


class Scope(Protocol):
    """What a source needs to become text."""

    def read(self, source: "Source") -> str:
        """Name of a variable that holds the value of `source` (each path is read once)."""

    parameters: dict[str, str]  # what hold the arguments and closure cells, by their names

    def const(self, value: object) -> str:
        """The value itself as text, or a name under which it is in scope."""


@dataclass_transform(frozen_default=True, eq_default=False)
class Source:
    """A path, frozen. Equal paths are equal sources. A kind has fields and two formats: `text` is
    given the text of each field (of a source: the variable that holds it) and of `reader`, `shown`
    is given the source."""

    text: ClassVar[str] = "{reader}({all})"
    shown: ClassVar[str]
    reader: ClassVar[Any] = None  # called with the fields
    __match_args__: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, repr=False, eq=False)(cls)

    @cached_property
    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__match_args__}

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        return type(self), *self.fields.values()

    @cached_property
    def hash(self) -> int:  # paths are long
        return hash(self.identity)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.identity == other.identity

    def __repr__(self) -> str:
        return self.shown.format(self)

    @cached_property
    def parents(self) -> "tuple[Source, ...]":
        """All sources that reading this one reads."""
        return tuple(part for part in self.fields.values() if isinstance(part, Source))

    @cached_property
    def above(self) -> "frozenset[Source]":
        """Everything that reading this one reads on its way."""
        return frozenset(self.parents).union(*(p.above for p in self.parents))

    @property
    def root(self) -> "Source":
        """The argument, cell, namespace or constant where the path begins."""
        return self.parents[0].root if self.parents else self

    def python(self, scope: Scope) -> str:
        """An expression that reads the value; raises where the path no longer exists."""
        of: Any = lambda part: scope.read(part) if isinstance(part, Source) else scope.const(part)
        texts = {name: of(part) for name, part in self.fields.items()}
        reader = scope.const(self.reader)
        return self.text.format(self, all=", ".join(texts.values()), reader=reader, **texts)


# ---------------------------------------------------------------- readers that no class can fool
CONTAINERS = (OrderedDict, dict, list, tuple, set, frozenset, deque, str, bytes, MappingProxyType)


def builtin_of(cls: type) -> Any:
    """The builtin container that a class is or derives from; None for others."""
    return next((b for b in CONTAINERS if issubclass(cls, b)), None)


def empty(cls: type) -> Any:
    """An empty one of that kind; for a mappingproxy what it shows."""
    base = builtin_of(cls)
    return {} if base is MappingProxyType else base()


def item_as(container: Any, key: object, kind: Any) -> object:
    """`container[key]` as the builtin type has it; for dicts without `__missing__`."""
    if not issubclass(kind, dict):
        return kind.__getitem__(container, key)
    found = dict.get(container, key, MISSING)
    if found is MISSING:
        raise KeyError(key)
    return found


def keys_of(container: Any) -> Any:
    """Keys in order, as the builtin type reads them; OrderedDict keeps an order of its own."""
    return builtin_of(type(container)).__iter__(container)


# ---------------------------------------------------------------- roots: where every path begins
class Local(Source):
    """An argument of the frame, `*args` and `**kwargs` included (a tuple and a dict)."""

    name: str
    shown = "L[{0.name!r}]"

    def python(self, scope: Scope) -> str:
        return scope.parameters[self.name]


class Cell(Local):
    """A closure cell of the frame's function: the cell itself. What the variable holds is
    `Contents(Cell(...))`."""

    shown = "cell[{0.name!r}]"


class Globals(Source):
    """The dictionary of the frame's globals. (A global of an inlined function is an item of the
    Field `__globals__` of that.)"""

    text = shown = "G"


class Const(Source):
    """An object captured by reference: the same one at every call, whatever names change. Only for
    objects that outlive the function anyway (modules, functions of torch, types, constants)."""

    value: object
    text = "{value}"

    @cached_property
    def identity(self) -> tuple[Any, ...]:  # `value` may have an __eq__ of its own
        return Const, id(self.value)

    def __repr__(self) -> str:
        name = getattr(self.value, "__name__", None) if callable(self.value) else None
        return f"const({name or type(self.value).__name__})"


# ---------------------------------------------------------------- steps: one read further
class Step(Source):
    of: Source


class Item(Step):
    """`of[key]` for an exact builtin container; key is a constant. In the dictionaries of objects:
    attributes, submodules, parameters, buffers."""

    key: Any
    text = "{of}[{key}]"

    def __repr__(self) -> str:
        match self:
            case Item(Item(OwnDict(owner), "_modules" | "_parameters" | "_buffers"), str(name)):
                # children of Sequential and ModuleList have numbers
                return f"{owner!r}[{name}]" if name.isdigit() else f"{owner!r}.{name}"
            case Item(OwnDict(owner), name):
                return f"{owner!r}.{name}"
        return f"{self.of!r}[{self.key!r}]"


class Field(Step):
    """An attribute that a C descriptor of a builtin type answers, read as `of.name`: function
    `__code__`, `__defaults__`, `__closure__`, `__globals__`; method `__self__`, `__func__`;
    partial `func`, `args`; property `fget`; tensor `grad`. Guard the type of `of`."""

    name: str
    text, shown = "{of}.{0.name}", "{0.of!r}.{0.name}"


def field(of: Source | None, name: str) -> Field | None:
    """None for what is reached without a source."""
    return None if of is None else Field(of, name)


class Contents(Field):
    """What a cell holds; raises while the variable is unbound. `of` leads to the cell itself."""

    name: str = "cell_contents"

    def __repr__(self) -> str:
        return f"C[{self.of.name!r}]" if isinstance(self.of, Cell) else super().__repr__()


class OwnDict(Step):
    """The instance dictionary `of.__dict__`, whatever the class makes of that name. That no data
    descriptor of the class comes before its items is for a guard on the class to say."""

    reader = staticmethod(own_dict)
    shown = "{0.of!r}.__dict__"


class Slot(Step):
    """A `__slots__` entry of a user class, read past its `__getattribute__` and `__getattr__`."""

    name: str
    reader = staticmethod(object.__getattribute__)
    shown = "{0.of!r}.{0.name}"


class ItemAs(Step):
    """An item of a subclass of a builtin container (defaultdict, namedtuple, ...), read as that
    builtin type reads it, for dicts without `__missing__` (which would insert). Also one of a dict
    whose key is an object, which has itself a source."""

    key: Any
    kind: Any  # the builtin type
    reader = staticmethod(item_as)
    shown = "{0.of!r}[{0.key!r}]"


class DictKey(Step):
    """The key at a position of a dict: for keys that are objects, which no constant can name."""

    position: int
    reader = staticmethod(lambda of, position: next(islice(keys_of(of), position, None)))
    shown = "list({0.of!r})[{0.position}]"


class Answer(Step):
    """What a weak reference refers to (None once it has died) or a ContextVar holds."""

    reader = staticmethod(lambda of: of() if isinstance(of, ref) else of.get())
    shown = "{0.of!r}()"


class TypeOf(Step):
    """The real type of the object (not what a `__class__` property says)."""

    reader = staticmethod(type)
    shown = "type({0.of!r})"


class ClassAttr(Step):
    """What a class look-up along the MRO finds, unbound (function, property, slot wrapper, ...), or
    MISSING. `of` is a source of the class. An ID guard on it says that nobody patched the class or
    one of its bases."""

    name: str
    reader = staticmethod(type_lookup)
    shown = "{0.of!r}.{0.name}"


class Mro(Step):
    """The tuple `__mro__` of a class; with ClassDict it answers what `super()` finds."""

    reader = staticmethod(type.__dict__["__mro__"].__get__)
    shown = "{0.of!r}.__mro__"


class ClassDict(Step):
    """The class's own dictionary (a mappingproxy), without its bases."""

    reader = staticmethod(type.__dict__["__dict__"].__get__)
    shown = "{0.of!r}.__dict__"


def item(of: Source, key: Any, cls: type) -> Source:
    """`of[key]` as the builtin container has it that `cls`, the class of `of`, derives from."""
    base = builtin_of(cls)
    return Item(of, key) if cls is base else ItemAs(of, key, base)

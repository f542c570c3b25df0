"""Tuples, lists, dicts, sets, slices: contents are values, outside ones are read lazily."""

# ruff: noqa: I001  (imports fill their lines)

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from ..frame_hook import type_lookup
from ..source import Const as ConstSource, Source, builtin_of, empty, keys_of
from .base import ABSENT, E, NULL, Const, Lazy, NotConstant, Obj, Tensor, Value, calls_back
from .base import is_literal, refuse


class Sequence(Obj):
    kind: type

    def __init__(self, items: Iterable[Value], cls: type | None = None) -> None:
        """`items` of a bounded deque come in one."""
        super().__init__(cls or self.kind)
        maxlen, queue = getattr(items, "maxlen", None), issubclass(self.cls, deque)
        self.held: Any = deque(items, maxlen) if queue else list(items)
        self.unread: Callable[[], list[Lazy]] | None = None
        self.changed = 0

    @property
    def contents(self) -> Any:
        """What it holds. An outside list that was only appended to is read, and guarded, now."""
        if self.unread:
            before, self.unread = self.unread, None
            self.held[:0] = before()
        return self.held

    def read(self, ev: E) -> list[Value]:
        """All items; what was not read yet is guarded now."""
        return [self.at(ev, i) for i in range(len(self.contents))]

    def at(self, ev: E, i: int) -> Value:
        self.contents[i] = item = self.contents[i].force(ev)
        return item  # type: ignore[no-any-return]

    def constant(self) -> Any:
        items = [i.constant() for i in self.contents]
        if self.attributes is None and self.cls in (tuple, list, torch.Size):
            return self.cls(items)
        if self.attributes is None and issubclass(self.cls, tuple):
            return tuple.__new__(self.cls, items)
        raise NotConstant

    def __len__(self) -> int:
        return len(self.contents)


class Tuple(Sequence):
    """tuple, namedtuple, torch.Size, torch.return_types: immutable."""

    kind = tuple


class List(Sequence):
    """list and deque, subclasses too."""

    kind = list

    def touch(self, ev: E, at_end: bool = False) -> Any:
        """The contents, to be changed; where that is only at their end, what is known of them."""
        ev.effects.touch(self)
        self.changed += 1
        return self.held if at_end else self.contents


class Slice(Obj):
    def __init__(self, parts: list[Value]) -> None:
        super().__init__(slice)
        self.fields = dict(zip(("start", "stop", "step"), parts))

    def constant(self) -> Any:
        return slice(*(p.constant() for p in self.fields.values()))


@dataclass(frozen=True, slots=True)
class Identity:
    """Dictionary key of an object that is equal only to itself."""

    value: Value = field(compare=False)  # kept alive, so that its id stays its own
    key: int


HASHED_BY_ID = (object.__hash__, type.__hash__, type(len).__hash__, torch.Tensor.__hash__)


def key_of(v: Value, ev: "E | None" = None) -> Any:
    """A hashable stand-in that is equal exactly when Python would call the keys equal."""
    hashed = type_lookup(v.cls, "__hash__")
    if isinstance(v, Const) and hashed is not None:
        return v.value
    if isinstance(v, Tuple) and hashed is tuple.__hash__:
        return tuple(key_of(i, ev) for i in (v.read(ev) if ev else v.contents))
    if isinstance(v, Set) and v.cls is frozenset:
        return frozenset(v.items)
    if isinstance(v, Tensor | Obj) and hashed in HASHED_BY_ID:
        return Identity(v, id(v) if v.real is ABSENT else id(v.real))
    return refuse(f"a key of class {v.cls.__qualname__}, which hashes in its own way")


def real_key(real: Any) -> Any:
    """The same stand-in for a key of an outside dictionary; one that key_of refuses stays itself,
    as it may be equal to a literal, unless it is the program that says to what."""
    hashed = type_lookup(type(real), "__hash__")
    if hashed in (tuple.__hash__, frozenset.__hash__):
        base = builtin_of(type(real))
        return base(map(real_key, base.__iter__(real)))
    by_id = not is_literal(real) and (hashed in HASHED_BY_ID or calls_back(real))
    return Identity(NULL, id(real)) if by_id else real


def keyed(items: Iterable[Value]) -> dict[Any, Value]:
    """Values by their keys: of equal ones the first, as in a set."""
    known: dict[Any, Value] = {}
    for item in items:
        known.setdefault(key_of(item), item)
    return known


class Dict(Obj):
    """dict, OrderedDict, defaultdict, mappingproxy, instance and module namespaces.

    `unread` is the outside dictionary while only single keys were looked up (each guarded); once
    its order or size matters all keys are guarded and it is None. `items` keeps keys beside values.
    """

    def __init__(self, cls: type = dict, real: Any = ABSENT, source: Source | None = None) -> None:
        super().__init__(cls, real, source)
        self.items: dict[Any, tuple[Value, Value]] = {}
        self.unread = None if real is ABSENT else real
        self.stored: dict[Any, None] = {}
        self.changed = 0  # how often were keys taken away?
        self.owner: Callable[[], Obj | None] = lambda: None  # whose attributes these are; weak

    # ------------------------------------------------------------ reading
    def get(self, ev: E, key: Value) -> Value | None:
        k = key_of(key, ev)
        if (found := self.items.get(k)) is None:
            return self._look_up(ev, key, k)
        value = found[1].force(ev)
        self.items[k] = (found[0], value)
        return value

    def _look_up(self, ev: E, key: Value, k: Any) -> Value | None:
        if self.unread is None or (key.real is ABSENT and isinstance(k, Identity)):
            return None  # a new object is in no outside dictionary; a tuple is equal to others
        if not isinstance(key, Const):
            self.list_all(ev)
            return self.get(ev, key)
        found, source = ev.item_of(self.unread, raw := key.real), ev.item_source(self, key.real)
        if found is ABSENT:
            if source is not None and self.source is not None:
                ev.assume("HAS_KEY", self.source, (raw, False))
            return None
        value = ev.wrap(found, source)
        self.items[k] = (key, value)
        return value

    def list_all(self, ev: E) -> None:
        """From here on order and size matter: every key is guarded."""
        if self.unread is None:
            return
        unread, known, self.items, self.unread = self.unread, self.items, {}, None
        keys = list(keys_of(unread))
        if self.source is not None:
            ev.assume("DICT_KEYS", self.source, keys)
        for position, raw in enumerate(keys):
            # where it was looked up, by its own key: what it was asked by may only be equal to that
            if (found := known.pop(k := real_key(raw), (NULL, None))[1]) is None:
                found = Lazy(ev.item_of(unread, raw), ev.item_source(self, raw, position))
            self.items[k] = ev.lazy_key(self, raw, position), found
        self.items.update(known)

    def constant(self) -> Any:
        if self.unread is not None or self.cls is not dict:
            raise NotConstant
        return {k.constant(): v.constant() for k, v in self.items.values()}

    def keys(self, ev: E) -> list[Value]:
        self.list_all(ev)
        self.items = {k: (key.force(ev), value) for k, (key, value) in self.items.items()}
        return [key for key, _ in self.items.values()]

    def values(self, ev: E) -> list[Value]:
        return [v for v in (self.get(ev, k) for k in self.keys(ev)) if v is not None]

    # ------------------------------------------------------------ writing
    def set(self, ev: E, key: Value, value: Value) -> None:
        ev.effects.touch(self)
        k = key_of(key, ev)
        self.stored[k] = None
        self.items[k] = (self.items[k][0] if k in self.items else key, value)

    def delete(self, ev: E, key: Value) -> Value | None:
        """The value that was there; None where there is no such key."""
        if (found := self.get(ev, key)) is not None:
            self.list_all(ev)  # a later store of this key comes last: order is ours from here on
            k = key_of(key, ev)
            self.rebuild(ev, {other: pair for other, pair in self.items.items() if other != k})
        return found

    def rebuild(self, ev: E, items: dict[Any, tuple[Value, Value]]) -> None:
        """Replace the contents, order included."""
        ev.effects.touch(self)
        self.items, self.changed = items, self.changed + 1

    def __len__(self) -> int:
        return len(self.items)


class View(Obj):
    """keys(), values() or items() of a dict, alive as in Python."""

    def __init__(self, of: Dict, kind: str) -> None:
        super().__init__(type(getattr(empty(of.cls), kind)()))
        self.of, self.kind = of, kind

    def read(self, ev: E) -> list[Value]:
        return [self.shown(ev, key) for key in self.of.keys(ev)]

    def shown(self, ev: E, key: Value) -> Value:
        value = key if self.kind == "keys" else self.of.get(ev, key)
        assert value is not None
        return Tuple([key, value]) if self.kind == "items" else value


class Set(Obj):
    """set and frozenset. `python` holds the keys and goes through the same operations, so that for
    literals its order is the order in which the program's own set is iterated over."""

    def __init__(self, items: Iterable[Value], cls: type = set, python: Any = None) -> None:
        super().__init__(cls)
        known = keyed(items)
        base: Any = frozenset if issubclass(cls, frozenset) else set
        self.python = base(list(known)) if python is None else python
        self.items = {k: known[k] for k in self.python}
        self.changed = 0
        self.steps: list[tuple[str, list[Value]]] = []  # how a set from outside was changed

    def change(self, ev: E, act: Callable[[set[Any]], Any], more: dict[Any, Value]) -> Any:
        """`act` on the keys; `more` has the values of keys that are new."""
        ev.effects.touch(self)
        if not self.is_new and not self.changed:
            self.python = set(self.python)
        self.changed += 1
        found = act(self.python)
        known = more | self.items
        self.items = {k: known[k] for k in self.python}
        return found

    def constant(self) -> Any:
        if self.cls not in (set, frozenset):
            raise NotConstant
        items = [i.constant() for i in self.items.values()]
        # of literals the very set, as a copy may have another order: what reads it changes nothing
        literal = all(isinstance(v, Const) for v in self.items.values())
        return self.python if literal else self.cls(items)

    def ordered(self) -> list[Value]:
        """Items in Python's order. An outside set has an order that no guard speaks of."""
        fixed = self.is_new or (isinstance(self.source, ConstSource) and not self.changed)
        literal = fixed and all(isinstance(v, Const) for v in self.items.values())
        if len(self.items) > 1 and not literal:
            refuse("the order of a set", "sort it")
        return list(self.items.values())

    def __len__(self) -> int:
        return len(self.items)


def new_exception(cls: type[BaseException], *args: Any, **fields: Value) -> Obj:
    made = Obj(cls)
    values = [a if isinstance(a, Value) else Const(a) for a in args]
    made.fields = {"args": Tuple(values), **fields}
    return made

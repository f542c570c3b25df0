"""Tuples, lists, dicts, sets, slices: contents are values, outside ones are read lazily."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..frame_hook import type_lookup
from ..source import Const as ConstSource
from ..source import Source, keys_of
from .base import ABSENT, Const, Lazy, Obj, Value, is_literal, refuse

if TYPE_CHECKING:
    from ..evaluator import Evaluation

Items = list["Value | Lazy"]


class Sequence(Obj):
    kind: type

    def __init__(
        self,
        items: Iterable[Value | Lazy],
        cls: type | None = None,
        real: Any = ABSENT,
        source: Source | None = None,
    ) -> None:
        super().__init__(cls or self.kind, real, source)
        self.contents: Items = list(items)
        self.changed = False
        self.maxlen: int | None = getattr(real, "maxlen", None)

    def read(self, ev: "Evaluation") -> list[Value]:
        """All items; what was not read yet is guarded now."""
        return [self.at(ev, i) for i in range(len(self.contents))]

    def at(self, ev: "Evaluation", i: int) -> Value:
        item = self.contents[i]
        if isinstance(item, Lazy):
            item = self.contents[i] = ev.wrap(item.real, item.source)
        return item

    def known(self) -> list[Value]:
        """Items for constant folding: unread ones stand for something not constant."""
        return [UNREAD if isinstance(i, Lazy) else i for i in self.contents]

    def __len__(self) -> int:
        return len(self.contents)


class Tuple(Sequence):
    """tuple, namedtuple, torch.Size, torch.return_types: immutable."""

    kind = tuple


class List(Sequence):
    """list and deque, subclasses too."""

    kind = list

    def change(self, ev: "Evaluation", items: Items) -> None:
        ev.effects.touch(self)
        self.changed = True
        self.contents = items


class Slice(Obj):
    def __init__(self, parts: list[Value]) -> None:
        super().__init__(slice)
        self.parts = parts


class Identity:
    """Dictionary key of an object that is equal only to itself."""

    __slots__ = ("value", "key")

    def __init__(self, value: Value, key: int) -> None:
        self.value, self.key = value, key  # the value is kept alive, so its id stays its own

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def key_of(v: Value) -> Any:
    """A hashable stand-in that is equal exactly when Python would call the keys equal."""
    from .tensor import Tensor

    if isinstance(v, Const):
        try:
            hash(v.value)
        except TypeError:
            refuse(f"unhashable key {v.value!r}")
        return v.value
    if isinstance(v, Tuple) and type_lookup(v.cls, "__hash__") is tuple.__hash__:
        return tuple(key_of(i) for i in v.known())
    if isinstance(v, Set) and v.cls is frozenset:
        return frozenset(v.items)
    if isinstance(v, Tensor):
        return Identity(v, id(v) if v.real is ABSENT else id(v.real))
    if isinstance(v, Obj) and type_lookup(v.cls, "__hash__") in HASHED_BY_ID:
        return Identity(v, id(v) if v.real is ABSENT else id(v.real))
    return refuse(f"a key of class {v.cls.__qualname__}, which hashes in its own way")


def real_key(real: Any) -> Any:
    """The same stand-in for a key of an outside dictionary."""
    if is_literal(real):
        return real
    if type(real) is tuple:
        return tuple(real_key(k) for k in real)
    if type(real) is frozenset:
        return frozenset(real_key(k) for k in real)
    return Identity(UNREAD, id(real))


HASHED_BY_ID = (object.__hash__, type.__hash__, type(len).__hash__)


class Dict(Obj):
    """dict, OrderedDict, defaultdict, mappingproxy, instance and module namespaces.

    `unread` is the outside dictionary while only single keys were looked up (each guarded); once
    its order or size matters all keys are guarded and it is None. `items` keeps keys beside values.
    """

    def __init__(
        self,
        cls: type = dict,
        real: Any = ABSENT,
        source: Source | None = None,
        unread: Any = None,
    ) -> None:
        super().__init__(cls, real, source)
        self.items: dict[Any, tuple[Value | Lazy, Value | Lazy]] = {}
        self.unread = unread
        self.deleted: dict[Any, Value] = {}
        self.stored: dict[Any, None] = {}
        self.rebuilt = False
        self.owner: Obj | None = None  # whose attributes these are

    # ------------------------------------------------------------ reading
    def get(self, ev: "Evaluation", key: Value) -> Value | None:
        k = key_of(key)
        if (found := self.items.get(k)) is None:
            return self._look_up(ev, key, k)
        stored_key, value = found
        if isinstance(value, Lazy):
            value = ev.wrap(value.real, value.source)
            self.items[k] = (stored_key, value)
        return value

    def _look_up(self, ev: "Evaluation", key: Value, k: Any) -> Value | None:
        if self.unread is None:
            return None
        if key.real is ABSENT:
            return None  # a new object is in no outside dictionary
        raw = key.real
        found = ev.item_of(self.unread, raw)
        present = found is not ABSENT
        if self.source is not None and not isinstance(key, Const):
            self.list_all(ev)
            return self.get(ev, key)
        if not present:
            if ev.item_source(self, raw) is not None:
                assert self.source is not None
                ev.assume("HAS_KEY", self.source, (raw, False))
            return None
        value = ev.wrap(found, ev.item_source(self, raw))
        self.items[k] = (key, value)
        return value

    def list_all(self, ev: "Evaluation") -> None:
        """From here on order and size matter: every key is guarded."""
        if self.unread is None:
            return
        unread, known, self.items, self.unread = self.unread, self.items, {}, None
        keys = list(keys_of(unread))
        if self.source is not None:
            ev.assume("DICT_KEYS", self.source, keys)
        for position, raw in enumerate(keys):
            k = real_key(raw)
            if (found := known.pop(k, None)) is None:
                source = ev.item_source(self, raw, position)
                found = (ev.lazy_key(self, raw, position), Lazy(ev.item_of(unread, raw), source))
            self.items[k] = found
        self.items.update(known)

    def pairs(self) -> Iterator[tuple[Value, Value]]:
        for key, value in list(self.items.values()):
            yield (
                UNREAD if isinstance(key, Lazy) else key,
                UNREAD if isinstance(value, Lazy) else value,
            )

    def keys(self, ev: "Evaluation") -> list[Value]:
        self.list_all(ev)
        return [self._key(ev, k) for k in list(self.items)]

    def _key(self, ev: "Evaluation", k: Any) -> Value:
        key, value = self.items[k]
        if isinstance(key, Lazy):
            key = ev.wrap(key.real, key.source)
            self.items[k] = (key, value)
        return key

    def values(self, ev: "Evaluation") -> list[Value]:
        return [v for v in (self.get(ev, k) for k in self.keys(ev)) if v is not None]

    # ------------------------------------------------------------ writing
    def set(self, ev: "Evaluation", key: Value, value: Value) -> None:
        ev.effects.touch(self)
        k = key_of(key)
        self.stored[k] = None
        self.items[k] = (self.items[k][0] if k in self.items else key, value)

    def delete(self, ev: "Evaluation", key: Value) -> bool:
        """False where there is no such key."""
        if self.get(ev, key) is None:
            return False
        ev.effects.touch(self)
        k = key_of(key)
        if self.unread is not None:
            self.list_all(ev)  # a later store of this key comes last: order is ours from here on
        del self.items[k]
        self.stored.pop(k, None)
        if not self.is_new and k in map(real_key, keys_of(self.real)):
            self.deleted[k] = key
        return True

    def rebuild(
        self, ev: "Evaluation", items: dict[Any, tuple[Value | Lazy, Value | Lazy]]
    ) -> None:
        """Replace the contents, order included."""
        ev.effects.touch(self)
        self.items, self.rebuilt = items, True

    def __len__(self) -> int:
        return len(self.items)


class View(Obj):
    """keys(), values() or items() of a dict, alive as in Python."""

    def __init__(self, of: Dict, kind: str) -> None:
        super().__init__({"keys": KEYS, "values": VALUES, "items": ITEMS}[kind])
        self.of, self.kind = of, kind

    def read(self, ev: "Evaluation") -> list[Value]:
        if self.kind == "keys":
            return self.of.keys(ev)
        values = self.of.values(ev)
        if self.kind == "values":
            return values
        return [Tuple([k, v]) for k, v in zip(self.of.keys(ev), values)]


EMPTY: dict[Any, Any] = {}
KEYS, VALUES, ITEMS = type(EMPTY.keys()), type(EMPTY.values()), type(EMPTY.items())


class Set(Obj):
    """set and frozenset. `python` holds the keys and goes through the same operations, so that for
    literals its order is the order in which the program's own set is iterated over."""

    def __init__(
        self,
        items: Iterable[Value],
        cls: type = set,
        real: Any = ABSENT,
        source: Source | None = None,
        python: Any = None,
    ) -> None:
        super().__init__(cls, real, source)
        known: dict[Any, Value] = {}
        for item in items:
            known.setdefault(key_of(item), item)
        self.python: set[Any] = set(list(known)) if python is None else python
        self.items = {k: known[k] for k in self.python}
        self.changed = False

    def change(
        self, ev: "Evaluation", act: Callable[[set[Any]], Any], more: dict[Any, Value] | None = None
    ) -> None:
        """`act` on the keys; `more` has the values of keys that are new."""
        ev.effects.touch(self)
        if not self.is_new and not self.changed:
            self.python = set(self.python)
        self.changed = True
        act(self.python)
        known = (more or {}) | self.items
        self.items = {k: known[k] for k in self.python}

    def ordered(self) -> list[Value]:
        """Items in Python's order. An outside set has an order that no guard speaks of."""
        fixed = self.is_new or (isinstance(self.source, ConstSource) and not self.changed)
        literal = fixed and all(isinstance(v, Const) for v in self.items.values())
        if len(self.items) > 1 and not literal:
            refuse("the order of a set", "sort it")
        return list(self.items.values())

    def __len__(self) -> int:
        return len(self.items)


class Unread(Value):
    """Stands for an item that was not read; equal to nothing, not constant."""

    @property
    def cls(self) -> type:
        return object


UNREAD = Unread()

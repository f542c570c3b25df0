"""Rules for the methods of list, tuple, dict, set, deque and their relatives.

A rule serves subclasses too: it is found through the class like any method. Whatever is not
particular to the representation is a polyfill (polyfills.py).
"""

# ruff: noqa: I001  (imports fill their lines)

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from . import attributes
from . import data_model as model
from .frame_hook import MISSING, type_lookup
from .calls import RULES, rule
from .values import ABSENT, FALSE, NONE, TRUE, Const, Dict, Items, List, Sequence, Set, Tuple
from .values import Value, View, const_bool, constant, key_of, python_value, refuse
from .values.containers import ITEMS, KEYS, VALUES

if TYPE_CHECKING:
    from .evaluator import Evaluation as E

NOT_IMPLEMENTED, LAST = Const(NotImplemented), Const(-1)


# ---------------------------------------------------------------- making them
rule(list)(lambda ev, *items: List(model.unpack(ev, items[0]) if items else []))


@rule(tuple)
def _tuple(ev: "E", *items: Value) -> Value:
    if items and isinstance(items[0], Tuple) and items[0].cls is tuple:
        return items[0]
    return Tuple(model.unpack(ev, items[0]) if items else [])


rule(torch.Size)(lambda ev, *items: Tuple(model.unpack(ev, items[0]) if items else [], torch.Size))


@rule(tuple.__new__)
def _tuple_new(ev: "E", cls: Value, *items: Value) -> Value:
    return Tuple(model.unpack(ev, items[0]) if items else [], cls.real)


rule(list.__new__)(lambda ev, cls, *args, **kwargs: List([], cls.real))


@rule(list.__init__)
def _list_init(ev: "E", self: List, *items: Value) -> None:
    self.change(ev, list(model.unpack(ev, items[0])) if items else [])


rule(set)(lambda ev, *items: Set(model.unpack(ev, items[0]) if items else []))
rule(frozenset)(lambda ev, *items: Set(model.unpack(ev, items[0]) if items else [], frozenset))
rule(set.__new__)(lambda ev, cls, *items: Set([], cls.real))


@rule(set.__init__)
def _set_init(ev: "E", self: Set, *items: Value) -> None:
    self.change(ev, set.clear)
    _set_update(ev, self, *items)


@rule(dict, OrderedDict)
def _dict(ev: "E", *items: Value, **kwargs: Value) -> Value:
    made = Dict()
    _dict_update(ev, made, *items, **kwargs)
    return made


RULES[OrderedDict] = lambda ev, *items, **kwargs: _as(OrderedDict, _dict(ev, *items, **kwargs))


def _as(cls: type, made: Any) -> Value:
    made._cls = cls
    found: Value = made
    return found


rule(dict.__new__)(lambda ev, cls, *args, **kwargs: Dict(cls.real))


@rule(dict.__init__, OrderedDict.__init__)
def _dict_init(ev: "E", self: Dict, *items: Value, **kwargs: Value) -> None:
    _dict_update(ev, self, *items, **kwargs)


@rule(dict.__dict__["fromkeys"], OrderedDict.__dict__["fromkeys"])
def _fromkeys(ev: "E", cls: Value, keys: Value, value: Value = NONE) -> Value:
    made = Dict(cls.real)
    for key in model.unpack(ev, keys):
        made.set(ev, key, value)
    return made


rule(dict.fromkeys)(lambda ev, *args: _fromkeys(ev, ev.wrap(dict, None), *args))


@rule(defaultdict)
def _defaultdict(ev: "E", factory: Value = NONE, *items: Value, **kwargs: Value) -> Value:
    made = Dict(defaultdict)
    made.fields["default_factory"] = factory
    _dict_update(ev, made, *items, **kwargs)
    return made


@rule(deque)
def _deque(ev: "E", items: Value | None = None, maxlen: Value = NONE) -> Value:
    made = List(model.unpack(ev, items) if items is not None else [], deque)
    made.maxlen = python_value(maxlen)
    trim(made)
    return made


def trim(of: List, left: bool = False) -> None:
    """What a bounded deque drops when it is full."""
    if of.maxlen is not None and len(of) > of.maxlen:
        extra = len(of) - of.maxlen
        of.contents = of.contents[: of.maxlen] if left else of.contents[extra:]


# ---------------------------------------------------------------- sequences
rule(list.__len__, tuple.__len__, deque.__len__)(lambda ev, self: Const(len(self)))


@rule(list.__iter__, tuple.__iter__, deque.__iter__, dict.__iter__, OrderedDict.__iter__)
def _native_iter(ev: "E", self: Value) -> Value:
    return model.native_iter(ev, self)


for _of in (set, frozenset, MappingProxyType, KEYS, VALUES, ITEMS):
    rule(_of.__iter__)(_native_iter)


def position(ev: "E", self: Sequence, key: Value, what: str) -> int:
    found = key if isinstance(key, Const) else model.call_special(ev, key, "__index__")
    i = python_value(found) if found is not None else None
    if not isinstance(i, int):
        refuse(f"{what} indices that are no integers")
    if not -len(self) <= i < len(self):
        ev.throw(IndexError, f"{what} index out of range")
    return i % len(self) if len(self) else 0


@rule(list.__getitem__, tuple.__getitem__, deque.__getitem__, torch.Size.__getitem__)
def _sequence_getitem(ev: "E", self: Sequence, key: Value) -> Value:
    if isinstance(key, Const) and isinstance(key.value, slice):
        part = [self.at(ev, i) for i in range(len(self))[key.value]]
        if isinstance(self, List):
            return List(part)
        return Tuple(part, torch.Size if self.cls is torch.Size else tuple)
    return self.at(ev, position(ev, self, key, base_name(self)))


def base_name(self: Sequence) -> str:
    return next(b.__name__ for b in (tuple, list, deque) if issubclass(self.cls, b))


@rule(list.__setitem__, deque.__setitem__)
def _list_setitem(ev: "E", self: List, key: Value, value: Value) -> None:
    items: Items = list(self.contents)
    if isinstance(key, Const) and isinstance(key.value, slice):
        new = model.unpack(ev, value)
        if key.value.step not in (None, 1) and len(range(len(self))[key.value]) != len(new):
            refuse("assigns a sequence of another size to an extended slice")
        items[key.value] = new
    else:
        what = "list assignment" if base_name(self) == "list" else "deque"
        items[position(ev, self, key, what)] = value
    self.change(ev, items)


@rule(list.__delitem__, deque.__delitem__)
def _list_delitem(ev: "E", self: List, key: Value) -> None:
    items = list(self.contents)
    if isinstance(key, Const) and isinstance(key.value, slice):
        del items[key.value]
    else:
        del items[position(ev, self, key, "list assignment")]
    self.change(ev, items)


@rule(list.append, deque.append)
def _append(ev: "E", self: List, item: Value) -> None:
    self.change(ev, [*self.contents, item] if not self.is_new else self.contents)
    if self.is_new:
        self.contents.append(item)
    trim(self)


@rule(deque.appendleft)
def _appendleft(ev: "E", self: List, item: Value) -> None:
    self.change(ev, [item, *self.contents])
    trim(self, left=True)


@rule(list.extend, list.__iadd__, deque.extend, deque.__iadd__)
def _extend(ev: "E", self: List, items: Value) -> None:
    self.change(ev, [*self.contents, *model.unpack(ev, items)])
    trim(self)


for _method in (list.__iadd__, deque.__iadd__):
    RULES[_method] = lambda ev, self, items: (_extend(ev, self, items), self)[1]


@rule(list.insert, deque.insert)
def _insert(ev: "E", self: List, at: Value, item: Value) -> None:
    items: Items = list(self.contents)
    items.insert(python_value(at), item)
    self.change(ev, items)


@rule(list.pop, deque.pop)
def _pop(ev: "E", self: List, at: Value = LAST) -> Value:
    if not len(self):
        ev.throw(
            IndexError,
            "pop from empty list" if base_name(self) == "list" else "pop from an empty deque",
        )
    i = position(ev, self, at, "pop")
    found = self.at(ev, i)
    self.change(ev, self.contents[:i] + self.contents[i + 1 :])
    return found


@rule(deque.popleft)
def _popleft(ev: "E", self: List) -> Value:
    if not len(self):
        ev.throw(IndexError, "pop from an empty deque")
    return _pop(ev, self, Const(0))


rule(list.clear, deque.clear)(lambda ev, self: self.change(ev, []))
rule(list.reverse, deque.reverse)(lambda ev, self: self.change(ev, self.contents[::-1]))


@rule(list.copy, deque.copy)
def _copy(ev: "E", self: List) -> Value:
    made = List(self.read(ev), deque if base_name(self) == "deque" else list)
    made.maxlen = self.maxlen
    return made


@rule(list.__add__, tuple.__add__, torch.Size.__add__)
def _add(ev: "E", self: Sequence, other: Value) -> Value:
    base = list if isinstance(self, List) else tuple
    if not isinstance(other, Sequence) or not issubclass(other.cls, base):
        return NOT_IMPLEMENTED
    items = [*self.read(ev), *other.read(ev)]
    size = self.cls is torch.Size and other.cls in (torch.Size, tuple)
    return List(items) if base is list else Tuple(items, torch.Size if size else tuple)


@rule(list.__mul__, list.__rmul__, tuple.__mul__, tuple.__rmul__, torch.Size.__mul__)
def _mul(ev: "E", self: Sequence, n: Value) -> Value:
    if not isinstance(n, Const) or not isinstance(n.value, int):
        return NOT_IMPLEMENTED
    items = self.read(ev) * n.value
    return (
        List(items)
        if isinstance(self, List)
        else Tuple(items, torch.Size if self.cls is torch.Size else tuple)
    )


if torch.Size.__rmul__ not in RULES:
    rule(torch.Size.__rmul__)(_mul)


def _size_radd(ev: "E", self: Sequence, other: Value) -> Value:
    if not isinstance(other, Tuple):
        return NOT_IMPLEMENTED
    return Tuple([*other.read(ev), *self.read(ev)], torch.Size)


if hasattr(torch.Size, "__radd__"):  # newer torch
    rule(torch.Size.__radd__)(_size_radd)


@rule(list.__imul__)
def _imul(ev: "E", self: List, n: Value) -> Value:
    self.change(ev, list(self.read(ev) * python_value(n)))
    return self


@rule(torch.Size.numel)
def _size_numel(ev: "E", self: Sequence) -> Value:
    return Const(torch.Size(python_value(Tuple(self.read(ev)))).numel())


@rule(list.sort)
def _sort(ev: "E", self: List, key: Value = NONE, reverse: Value = FALSE) -> None:
    self.change(ev, list(sort(ev, self.read(ev), key, reverse)))


@rule(sorted)
def _sorted(ev: "E", items: Value, key: Value = NONE, reverse: Value = FALSE) -> Value:
    # the keys of a set differ, so its own order does not matter
    if isinstance(items, Set) and constant(key) is None:
        return List(sort(ev, list(items.items.values()), key, reverse))
    return List(sort(ev, model.unpack(ev, items), key, reverse))


def sort(ev: "E", items: list[Value], key: Value, reverse: Value) -> list[Value]:
    """Stable; keys must be constants."""
    plain = key is NONE or constant(key) is None
    keys = [i if plain else model.call(ev, key, [i], {}) for i in items]
    values = [model.python_of(ev, k) for k in keys]
    if any(v is ABSENT for v in values):
        refuse("sorts by keys that are not constant")
    try:
        order = sorted(range(len(items)), key=lambda i: values[i], reverse=model.truth(ev, reverse))
    except TypeError as error:
        ev.throw(TypeError, *error.args)
    return [items[i] for i in order]


# ---------------------------------------------------------------- dictionaries
@rule(dict.__len__, OrderedDict.__len__, MappingProxyType.__len__)
def _dict_len(ev: "E", self: Dict) -> Value:
    self.list_all(ev)
    return Const(len(self))


@rule(dict.__contains__, MappingProxyType.__contains__)
def _dict_contains(ev: "E", self: Dict, key: Value) -> Value:
    return const_bool(self.get(ev, key) is not None)


@rule(dict.__getitem__, MappingProxyType.__getitem__)
def _dict_getitem(ev: "E", self: Dict, key: Value) -> Value:
    found = self.get(ev, key)
    if found is None:
        found = model.call_special(ev, self, "__missing__", key)
    if found is None:
        ev.throw(KeyError, key)
    return found


@rule(defaultdict.__missing__)
def _missing(ev: "E", self: Dict, key: Value) -> Value:
    factory = attributes.getattr_(ev, self, "default_factory")
    if constant(factory) is None:
        ev.throw(KeyError, key)
    made = model.call(ev, factory, [], {})
    self.set(ev, key, made)
    return made


@rule(dict.get, MappingProxyType.get)
def _get(ev: "E", self: Dict, key: Value, default: Value = NONE) -> Value:
    found = self.get(ev, key)
    return default if found is None else found


@rule(dict.__setitem__, OrderedDict.__setitem__)
def _dict_setitem(ev: "E", self: Dict, key: Value, value: Value) -> None:
    self.set(ev, key, value)


@rule(dict.__delitem__, OrderedDict.__delitem__)
def _dict_delitem(ev: "E", self: Dict, key: Value) -> None:
    if not self.delete(ev, key):
        ev.throw(KeyError, key)


@rule(dict.setdefault, OrderedDict.setdefault)
def _setdefault(ev: "E", self: Dict, key: Value, default: Value = NONE) -> Value:
    found = self.get(ev, key)
    if found is not None:
        return found
    self.set(ev, key, default)
    return default


@rule(dict.pop, OrderedDict.pop)
def _dict_pop(ev: "E", self: Dict, key: Value, *default: Value) -> Value:
    found = self.get(ev, key)
    if found is None:
        return default[0] if default else ev.throw(KeyError, key)
    self.delete(ev, key)
    return found


@rule(dict.popitem, OrderedDict.popitem)
def _popitem(ev: "E", self: Dict, last: Value = TRUE) -> Value:
    keys = self.keys(ev)
    if not keys:
        ev.throw(KeyError, "popitem(): dictionary is empty")
    key = keys[-1 if model.truth(ev, last) else 0]
    return Tuple([key, _dict_pop(ev, self, key)])


@rule(OrderedDict.move_to_end)
def _move_to_end(ev: "E", self: Dict, key: Value, last: Value = TRUE) -> None:
    if self.get(ev, key) is None:
        ev.throw(KeyError, key)
    self.list_all(ev)
    k = key_of(key)
    moved = {k: self.items[k]}
    rest = {other: item for other, item in self.items.items() if other != k}
    self.rebuild(ev, rest | moved if model.truth(ev, last) else moved | rest)


@rule(dict.clear, OrderedDict.clear)
def _dict_clear(ev: "E", self: Dict) -> None:
    self.unread = None  # whatever it held, it is empty now
    self.rebuild(ev, {})
    self.stored.clear()


@rule(dict.update, OrderedDict.update, dict.__ior__)
def _dict_update(ev: "E", self: Dict, *items: Value, **kwargs: Value) -> None:
    for source in items:
        keyed = isinstance(source, Dict) or type_lookup(source.cls, "keys") is not MISSING
        if keyed:
            pairs = model.mapping_items(ev, source)
        else:
            pairs = []
            for pair in model.unpack(ev, source):
                key, value = model.unpack(ev, pair)
                pairs.append((key, value))
        for key, value in pairs:
            self.set(ev, key, value)
    for name, value in kwargs.items():
        self.set(ev, Const(name), value)


RULES[dict.__ior__] = lambda ev, self, other: (_dict_update(ev, self, other), self)[1]


@rule(dict.__or__)
def _dict_or(ev: "E", self: Dict, other: Value) -> Value:
    if not isinstance(other, Dict):
        return NOT_IMPLEMENTED
    made = Dict(self.cls if self.cls in (dict, OrderedDict) else dict)
    _dict_update(ev, made, self, other)
    return made


@rule(dict.copy, OrderedDict.copy, defaultdict.copy, MappingProxyType.copy)
def _dict_copy(ev: "E", self: Dict) -> Value:
    made = Dict(self.cls if issubclass(self.cls, OrderedDict | defaultdict) else dict)
    made.fields.update(self.fields)
    if isinstance(self.real, defaultdict):
        made.fields["default_factory"] = attributes.getattr_(ev, self, "default_factory")
    _dict_update(ev, made, self)
    return made


def view(kind: str) -> Callable[..., Value]:
    return lambda ev, self: View(self, kind)


for _kind in ("keys", "values", "items"):
    for _mapping in (dict, OrderedDict, MappingProxyType):
        RULES[getattr(_mapping, _kind)] = view(_kind)


rule(KEYS.__len__, VALUES.__len__, ITEMS.__len__)(lambda ev, self: Const(len(self.of.keys(ev))))
rule(KEYS.__contains__)(lambda ev, self, key: _dict_contains(ev, self.of, key))


# ---------------------------------------------------------------- sets
rule(set.__len__, frozenset.__len__)(lambda ev, self: Const(len(self)))


@rule(set.__contains__, frozenset.__contains__)
def _set_contains(ev: "E", self: Set, item: Value) -> Value:
    return const_bool(key_of(item) in self.items)


@rule(set.add)
def _set_add(ev: "E", self: Set, item: Value) -> None:
    k = key_of(item)
    self.change(ev, lambda s: s.add(k), {k: item})


@rule(set.discard)
def _discard(ev: "E", self: Set, item: Value) -> None:
    self.change(ev, lambda s: s.discard(key_of(item)))


@rule(set.remove)
def _remove(ev: "E", self: Set, item: Value) -> None:
    if key_of(item) not in self.items:
        ev.throw(KeyError, item)
    _discard(ev, self, item)


rule(set.clear)(lambda ev, self: self.change(ev, set.clear))


@rule(set.update)
def _set_update(ev: "E", self: Set, *others: Value) -> None:
    for other in others:
        more = as_set(ev, other)
        keys = more.python if isinstance(other, Set) else list(more.items)
        self.change(ev, lambda s, keys=keys: s.update(keys), more.items)  # type: ignore[misc]


def as_set(ev: "E", v: Value) -> Set:
    """For what does not depend on order."""
    return v if isinstance(v, Set) else Set(model.unpack(ev, v))


RULES[set.__ior__] = lambda ev, self, other: (_set_update(ev, self, other), self)[1]


@rule(set.copy, frozenset.copy)
def _set_copy(ev: "E", self: Set) -> Value:
    return Set(self.items.values(), self.cls, python=self.python.copy())


def _set_algebra() -> None:
    """Union, difference, ...: on keys, so that any hashable values take part."""
    combine = {"union": "or", "intersection": "and", "difference": "sub"}
    combine["symmetric_difference"] = "xor"
    relate: dict[str, Callable[[Any, Any], bool]] = {
        "issubset": lambda a, b: a <= b,
        "issuperset": lambda a, b: a >= b,
        "isdisjoint": lambda a, b: not a & b,
        "__le__": lambda a, b: a <= b,
        "__lt__": lambda a, b: a < b,
        "__ge__": lambda a, b: a >= b,
        "__gt__": lambda a, b: a > b,
        "__eq__": lambda a, b: a == b,
        "__ne__": lambda a, b: a != b,
    }

    def combining(name: str, operator: bool) -> Callable[..., Value]:
        def made(ev: "E", self: Value, *others: Value) -> Value:
            if operator and not isinstance(others[0], Set | View):
                return NOT_IMPLEMENTED
            sets = [as_set(ev, v) for v in (self, *others)]
            python = getattr(set(sets[0].python), name)(*(s.python for s in sets[1:]))
            values = [v for s in sets for v in s.items.values() if key_of(v) in python]
            frozen = issubclass(sets[0].cls, frozenset)
            return Set(values, frozenset if frozen else set, python=python)

        return made

    def relating(f: Any, operator: bool) -> Callable[..., Value]:
        def made(ev: "E", self: Value, other: Value) -> Value:
            if operator and not isinstance(other, Set | View):
                return NOT_IMPLEMENTED
            return const_bool(f(as_set(ev, self).items.keys(), as_set(ev, other).items.keys()))

        return made

    for of in (set, frozenset, KEYS):
        for name, sign in combine.items():
            if hasattr(of, name):
                rule(getattr(of, name))(combining(name, False))
            rule(getattr(of, f"__{sign}__"))(combining(name, True))
        for name, g in relate.items():
            if hasattr(of, name):
                rule(getattr(of, name))(relating(g, name.startswith("__")))


_set_algebra()

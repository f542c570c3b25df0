"""Rules for the methods of list, tuple, dict, set, deque and their relatives.

A rule serves subclasses too: it is found through the class like any method. Methods of sequences
and sets are Python's own, run on containers of values: they look at no item. What is not particular
to the representation is a polyfill (polyfills.py).
"""

# ruff: noqa: I001  (imports fill their lines)

import functools
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import torch

from . import data_model as model
from .frame_hook import MISSING, type_lookup
from .calls import PURE, RULES, rule
from .source import builtin_of, empty
from .values import E, FALSE, NONE, TRUE, Const, Dict, Lazy, List, Sequence, Set, Tuple, Value, View
from .values import Raised, calls_back, const_bool, constant, key_of, keyed, python_value, refuse

NO, NOT_IMPLEMENTED = NotImplemented, Const(NotImplemented)
VIEWED = ("keys", "values", "items")
VIEWS: Any = [type(getattr(of(), name)()) for of in (dict, OrderedDict) for name in VIEWED]
KEYS, VALUES, ITEMS = VIEWS[:3]


# ---------------------------------------------------------------- making them
rule(list.__new__)(lambda ev, cls, /, *args, **kwargs: List([], cls.real))
rule(set.__new__)(lambda ev, cls, *args: Set([], cls.real))
rule(dict.__new__)(lambda ev, cls, /, *args, **kwargs: Dict(cls.real))


@rule(tuple.__new__, torch.Size.__new__, frozenset.__new__)
def _frozen_new(ev: E, cls: Value, *items: Value) -> Any:
    if items and cls.real is items[0].cls and cls.real in (tuple, frozenset):
        return items[0]
    kind: Any = Set if issubclass(cls.real, frozenset) else Tuple
    return kind(model.unpack(ev, items[0], kind is Tuple) if items else [], cls.real)


@rule(deque.__new__)
def _deque_new(ev: E, cls: Value, *args: Value, maxlen: Value = NONE) -> Value:
    if cls.real is not deque:
        refuse("makes a deque of a class of its own")
    return List(deque((), python_value(args[1] if len(args) > 1 else maxlen)), deque)


@rule(list.__init__, deque.__init__)
def _list_init(ev: E, self: List, items: Value | None = None, maxlen: Value = NONE) -> None:
    hint = not issubclass(self.cls, deque)
    new = model.unpack(ev, items, hint) if items is not None else []
    self.touch(ev).clear()
    self.contents.extend(new)


@rule(set.__init__)
def _set_init(ev: E, self: Set, *items: Value) -> None:
    RULES[set.clear](ev, self)
    new = [v if isinstance(v, MANY) else Tuple(model.unpack(ev, v)) for v in items]
    RULES[set.update](ev, self, *new)


@rule(defaultdict.__init__)
def _default(ev: E, self: Dict, factory: Value = NONE, /, *items: Value, **named: Value) -> None:
    self.fields["default_factory"] = factory
    _dict_update(ev, self, *items, **named)


# ---------------------------------------------------------------- sequences
def _index(ev: E, self: Sequence, v: Value) -> Any:
    whole = isinstance(constant(v), slice | int) or issubclass(v.cls, int)  # C knows its value
    found = v if whole else model.call_special(ev, v, "__index__")
    index = python_value(found or v)
    fits = isinstance(index, int) and (found is v or abs(index) <= sys.maxsize)
    if calls_back(index) or (not fits and (found is not v or issubclass(self.cls, deque))):
        refuse("an index that does not fit: what CPython says of it depends on who asks")
    return index


def _contents(self: Sequence) -> Any:
    return self.contents if isinstance(self, List) else tuple(self.contents)


def _like(self: Any, v: Value) -> bool:
    if isinstance(self, Dict):
        return isinstance(v, Dict) and v.cls is not MappingProxyType
    return isinstance(v, Sequence) and isinstance(_contents(v), type(_contents(self)))


class Compared:
    """A value inside one of Python's own containers or functions: the evaluator compares it."""

    def __init__(self, ev: E, v: Value | Lazy) -> None:
        self.ev, self.v = ev, v

    def compare(self, symbol: str, other: "Compared") -> bool:
        a, b = self.v.force(self.ev), other.v.force(self.ev)
        literals = isinstance(a, Const) and isinstance(b, Const) and a.value == b.value
        if symbol in ("==", "!=") and not literals and model.identical(self.ev, a, b):
            return symbol == "=="
        return model.truth(self.ev, model.binary(self.ev, symbol, a, b))

    def __repr__(self) -> str:
        return model.text(model.call_real(self.ev, repr, self.v.force(self.ev)))


for _symbol, (_name, _) in model.COMPARE.items():
    setattr(Compared, f"__{_name}__", functools.partialmethod(Compared.compare, _symbol))


def compared(ev: E, self: Any) -> Any:
    if isinstance(self, Dict):
        self.list_all(ev)
        return builtin_of(self.cls)((k, Compared(ev, v)) for k, (_, v) in self.items.items())
    return type(_contents(self))(Compared(ev, i) for i in self.contents)


_ITERATED: tuple[Any, ...] = (list, tuple, deque, dict, OrderedDict, set, frozenset, str, bytes)
_ITERATED += (range, MappingProxyType, *VIEWS)
rule(*(_cls.__iter__ for _cls in _ITERATED))(model.native_iter)
_ITERATED = (list, deque, dict, OrderedDict, range, *VIEWS)
rule(*(_cls.__reversed__ for _cls in _ITERATED))(lambda ev, v: model.native_iter(ev, v, reversed))

# What each takes: i an index or slice, x an item, * the items of an iterable, n a number of times,
# + a sequence of the same kind; = an item and ~ such a sequence, to be compared.
READING = {"__len__": "", "__getitem__": "i", "__add__": "+", "__mul__": "n", "__rmul__": "n"}
READING |= {"copy": "", "index": "=ii", "count": "=", "__contains__": "="}
READING |= {f"__{name}__": "~" for name, _ in model.COMPARE.values()}
WRITING = {"__setitem__": "ix", "__delitem__": "i", "__iadd__": "*", "__imul__": "n", "append": "x"}
WRITING |= {"appendleft": "x", "extend": "*", "extendleft": "*", "insert": "ix", "pop": "i"}
WRITING |= {"popleft": "", "clear": "", "reverse": "", "rotate": "i", "remove": "="}
ARGUMENTS: dict[str, Callable[[E, Sequence, Value], Any]] = {
    "i": _index,
    "x": lambda ev, self, v: v,
    "*": lambda ev, self, v: model.one_by_one(ev, v, hint=not issubclass(self.cls, deque)),
    "n": lambda ev, self, v: v.real if isinstance(v.real, int) else NO,
    "+": lambda ev, self, v: type(_contents(self))(model.read(ev, v)) if _like(self, v) else NO,
    "=": lambda ev, self, v: Compared(ev, v),
    "~": lambda ev, self, v: compared(ev, v) if _like(self, v) else NO,
}


def _sequence_rule(method: Any, takes: str, writes: bool, ev: E, self: Any, *args: Value) -> Any:
    if len(args) > len(takes):
        refuse(f"this way of calling {method.__qualname__}")
    given = [ARGUMENTS[kind](ev, self, v) for kind, v in zip(takes, args)]
    if method.__name__ == "__setitem__" and isinstance(given[0], slice):
        given[1] = model.unpack(ev, args[1], hint=True)
    if any(g is NO for g in given):
        return NOT_IMPLEMENTED if takes == "~" else refuse(f"{method.__name__} of other things")
    if takes[:1] in ("=", "~"):
        items = compared(ev, self)
        found = model.attempt(ev, method, items, *given)
        if writes:
            contents = self.touch(ev)
            contents.clear()
            contents.extend(item.v for item in items)
        return Const(found)
    appends = method.__name__ in ("append", "extend", "__iadd__")
    contents = self.touch(ev, appends) if writes and isinstance(self, List) else _contents(self)
    found = model.attempt(ev, method, contents, *given)
    if found is contents and (isinstance(self, List) or self.cls is tuple):
        return self
    if isinstance(found, Value):
        return found.force(ev)
    if not isinstance(found, list | tuple | deque):
        return Const(found)
    made = List(found, type(found)) if isinstance(self, List) else Tuple(found)
    made.cls = torch.Size if self.cls is torch.Size else made.cls
    made.read(ev)
    return made


for _cls in (list, tuple, deque, torch.Size):
    for _name, _takes in (READING | WRITING).items():
        if (_own := getattr(_cls, _name, None)) and _own not in RULES:  # it may be inherited
            _method = getattr(tuple if _cls is torch.Size else _cls, _name)
            rule(_own)(functools.partial(_sequence_rule, _method, _takes, _name in WRITING))
for _method in (dict.__eq__, dict.__ne__, OrderedDict.__eq__, OrderedDict.__ne__):
    rule(_method)(functools.partial(_sequence_rule, _method, "~", False))
PURE.add(torch.Size.numel)


@rule(list.sort)
def _sort(ev: E, self: List, key: Value = NONE, reverse: Value = FALSE) -> None:
    before, down = self.changed, python_value(reverse)
    items = model.attempt(ev, sorted, self.read(ev), key=by(ev, key), reverse=down)
    if self.changed != before:
        refuse("a list changes while it is sorted")
    self.touch(ev)[:] = items


@rule(sorted)
def _sorted(ev: E, items: Any, key: Value = NONE, reverse: Value = FALSE) -> Value:
    # the keys of a set differ, so its own order does not matter
    any_order = isinstance(items, Set) and constant(key) is None
    made = List(items.items.values() if any_order else model.unpack(ev, items, hint=True))
    _sort(ev, made, key, reverse)
    return made


def by(ev: E, key: Value) -> Callable[[Value], Compared]:
    plain = constant(key) is None
    return lambda v: Compared(ev, v if plain else model.call(ev, key, [v], {}))


@rule(max, min, told=True)
def _extreme(function: Any, ev: E, *args: Value, key: Value = NONE, **default: Value) -> Any:
    items: Any = model.Pulled(ev, args[0]) if len(args) == 1 else args
    return model.attempt(ev, function, items, key=by(ev, key), **default)


# ---------------------------------------------------------------- dictionaries
@rule(dict.__len__, OrderedDict.__len__, MappingProxyType.__len__)
def _dict_len(ev: E, self: Dict) -> Value:
    self.list_all(ev)
    return Const(len(self))


@rule(dict.__contains__, MappingProxyType.__contains__)
def _dict_contains(ev: E, self: Dict, key: Value) -> Value:
    return const_bool(self.get(ev, key) is not None)


@rule(dict.__getitem__, MappingProxyType.__getitem__)
def _dict_getitem(ev: E, self: Dict, key: Value) -> Value:
    found = self.get(ev, key) or model.call_special(ev, self, "__missing__", key)
    return found or ev.throw(KeyError, key)


rule(dict.get, MappingProxyType.get)(lambda ev, self, k, default=NONE: self.get(ev, k) or default)
rule(dict.__setitem__, OrderedDict.__setitem__)(lambda ev, self, k, v: self.set(ev, k, v))


@rule(dict.pop, OrderedDict.pop)
def _dict_pop(ev: E, self: Dict, key: Value, default: Value | None = None) -> Value:
    return self.delete(ev, key) or default or ev.throw(KeyError, key)


@rule(dict.popitem, OrderedDict.popitem)
def _popitem(ev: E, self: Dict, last: Value = TRUE) -> Value:
    keys = self.keys(ev) or model.attempt(ev, builtin_of(self.cls)().popitem)
    key = keys[-1 if model.truth(ev, last) else 0]
    return Tuple([key, _dict_pop(ev, self, key)])


rule(dict.__delitem__, OrderedDict.__delitem__)(lambda ev, self, k: _dict_pop(ev, self, k) and NONE)


@rule(OrderedDict.move_to_end)
def _move_to_end(ev: E, self: Dict, key: Value, last: Value = TRUE) -> None:
    self.list_all(ev)
    moved = {k: pair for k, pair in self.items.items() if k == key_of(key)}
    _dict_pop(ev, self, key)
    self.rebuild(ev, self.items | moved if model.truth(ev, last) else moved | self.items)


@rule(dict.clear, OrderedDict.clear)
def _dict_clear(ev: E, self: Dict) -> None:
    self.unread = None  # whatever it held, it is empty now
    self.rebuild(ev, {})
    self.stored.clear()


@rule(dict.update, OrderedDict.update, dict.__init__, OrderedDict.__init__)
def _dict_update(ev: E, self: Dict, /, *items: Value, **kwargs: Value) -> None:
    plain = None if issubclass(self.cls, OrderedDict) else dict.__iter__
    for source in items:
        keyed = type_lookup(source.cls, "keys") is not MISSING
        pairs: Any = model.mapping_items(ev, source, plain) if keyed else model.Pulled(ev, source)
        for pair in pairs:
            key, value = pair if keyed else model.unpack(ev, pair)
            self.set(ev, key, value)
    for name, value in kwargs.items():
        self.set(ev, Const(name), value)


rule(dict.__ior__, OrderedDict.__ior__)(lambda ev, d, of: RULES[dict.update](ev, d, of) or d)
rule(dict.copy, MappingProxyType.copy)(lambda ev, self: model.call_real(ev, dict, self))


@rule(*(getattr(c, n) for c in (dict, OrderedDict, MappingProxyType) for n in VIEWED), told=True)
def _view(method: Any, ev: E, self: Dict) -> Value:
    return View(self, method.__name__)


rule(KEYS.__len__, VALUES.__len__, ITEMS.__len__)(lambda ev, self: _dict_len(ev, self.of))
rule(KEYS.__contains__)(lambda ev, self, key: _dict_contains(ev, self.of, key))


# ---------------------------------------------------------------- sets
COMPARING = [f"__{name}__" for name, _ in model.COMPARE.values()]
MANY = (Set, Dict, Sequence, View, Const)
PARTLY = "update difference_update intersection intersection_update isdisjoint issuperset".split()
ONE_KEY = ("add", "discard", "remove", "__contains__")
ONE_BY_ONE = {"update": "add", "difference_update": "discard", "__isub__": "discard"}
READING_SETS = """__len__ __contains__ copy isdisjoint issubset issuperset union intersection
difference symmetric_difference __or__ __and__ __sub__ __xor__ __eq__ __ne__ __lt__ __le__ __gt__
__ge__ __ror__ __rand__ __rsub__ __rxor__"""
WRITING_SETS = """add discard remove pop clear update difference_update intersection_update
symmetric_difference_update __ior__ __iand__ __isub__ __ixor__"""


def _set_rule(name: str, writes: bool, ev: E, self: Any, *args: Value) -> Any:
    """Python's own method, on the keys: any hashable values take part."""
    operates = name.startswith("__") and name not in ("__len__", "__contains__")
    # a set is combined with sets, a view with any iterable and compared with sets and views
    takes: Any = Set if isinstance(self, Set) else Set | View if name in COMPARING else Value
    if operates and not isinstance(args[0], takes):
        return NOT_IMPLEMENTED
    if name in PARTLY and not all(isinstance(v, MANY) for v in args):
        if name != "update" or len(args) > 1:
            refuse("iterables that may look at the set meanwhile, or are asked for some items only")
        for item in model.one_by_one(ev, args[0]):  # this may, too
            _set_rule("add", True, ev, self, item)
        return None
    own = self.items if isinstance(self, Set) else keyed(model.unpack(ev, self))
    if name in ONE_KEY:
        known = keyed(args)
        given: list[Any] = list(known)
    else:
        try:
            tables = [v.items if isinstance(v, Set) else keyed(model.unpack(ev, v)) for v in args]
        except Raised:
            refuse("an iterable that raises, of which a set may keep the first items")
        known = {k: v for table in reversed(tables) for k, v in table.items()}
        given = [in_order(v, table) for v, table in zip(args, tables)]
    known |= own
    if name == "remove" and given[0] not in own:
        ev.throw(KeyError, args[0])
    if name == "pop":
        self.ordered()
    if writes and not self.is_new:  # its order tells how it came about
        step = ONE_BY_ONE.get(name, name)
        in_bulk = name == "update" and not all(isinstance(v, Sequence) for v in args)
        if in_bulk or step not in (*ONE_KEY, "clear"):
            refuse("changes a set from outside all at once", "add to it one by one")
        each = list(args) if name in ONE_KEY else [v for t in tables for v in t.values()]
        self.steps += [(step, [v]) for v in each] if step != "clear" else [(step, [])]
    act: Callable[[Any], Any] = lambda keys: model.attempt(ev, getattr(keys, name), *given)
    found = self.change(ev, act, known) if writes else act(in_order(self, own))
    if not isinstance(found, set | frozenset):
        return known[found] if name == "pop" else Const(found)
    if writes or (isinstance(self, Set) and found is self.python):
        return self
    return Set([known[k] for k in found], type(found), python=found)


def in_order(v: Value, keys: dict[Any, Value]) -> Any:
    """The keys of `v` as what Python goes through: a set has its own order, a view its dict's."""
    if isinstance(v, Set):
        return v.python
    if isinstance(v, View) and v.kind == "keys":
        return empty(v.of.cls).fromkeys(keys).keys()
    return list(keys)


for _of in (set, frozenset, KEYS):
    for _name in (READING_SETS + " " + WRITING_SETS).split():
        if (_method := getattr(_of, _name, None)) and _method not in RULES:
            rule(_method)(functools.partial(_set_rule, _name, _name in WRITING_SETS.split()))

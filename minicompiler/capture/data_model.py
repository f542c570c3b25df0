"""Python's data model on values: calls, operators, iteration.

Special methods are looked up on the class and called like any other function; what builtin classes
do is in tables (calls.RULES, by the real function or slot), so that subclasses, `super()` and
direct calls such as `list.append(x, 1)` all take the same way.
"""

# ruff: noqa: I001  (imports fill their lines)

import builtins
import operator
from abc import ABCMeta, get_cache_token
from collections import abc, deque
from collections.abc import Callable
from contextlib import nullcontext
from enum import EnumType
from itertools import islice
from types import BuiltinFunctionType, FunctionType, UnionType
from typing import Any

import torch

from ..errors import Unsupported
from . import attributes, calls, frame, source as sources
from .facts import ARRAY, numpy, signature
from .frame_hook import MISSING, trust, type_lookup
from .source import CONTAINERS, empty
from .values import ABSENT, E, NONE, Const, Dict, Generator, Iterator, Method, Obj, Raised, Sequence
from .values import Set, Slice, Tensor, Tuple, Value, View, const_bool, constant, describe, is_fixed
from .values import TRUE, calls_back, new_exception, operators, python_value, refuse, trusted

# symbol -> the name of the operator, and that of the other operand's
COMPARE = {"<": ("lt", "gt"), "<=": ("le", "ge"), "==": ("eq", "eq"), "!=": ("ne", "ne")}
COMPARE |= {">": ("gt", "lt"), ">=": ("ge", "le")}
SYMBOLS = "+ - * / // % ** @ & | ^ << >>".split()
NAMES = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
OPERATORS = COMPARE | {symbol: (name, f"r{name}") for symbol, name in zip(SYMBOLS, NAMES)}


# ---------------------------------------------------------------- calls
def special(ev: E, v: Value, name: str) -> Value | None:
    """A special method bound to `v`, looked up on the class only."""
    raw, source = attributes.class_attribute(ev, v, v.cls, name)
    if raw is MISSING or raw is None:
        known = raw is MISSING or name == "__hash__"  # who asks for a hash says that there is none
        return None if known else refuse(f"{v.cls.__name__}.{name} is None")
    return attributes.bind(ev, raw, source, v, ev.class_of(v), name)


# what Python insists on that these return
ANSWERS = dict(bool=bool, len=int, hash=int, int=int, index=int, float=float, str=str, repr=str)
ANSWERS = {f"__{name}__": cls for name, cls in ANSWERS.items()} | {"__init__": type(None)}
ANSWERS["__format__"] = str


def call_special(ev: E, v: Value, name: str, /, *args: Value, **named: Value) -> Value | None:
    """None where the class has no such method."""
    found = special(ev, v, name)
    return None if found is None else answered(name, call(ev, found, list(args), named))


def answered(name: str, found: Value) -> Value:
    """`found`, if Python takes it as it is for what a special method returned."""
    if name in ANSWERS:
        value: Any = found.value if isinstance(found, Const) else ABSENT
        low = {"__len__": 0, "__hash__": -(2**63)}.get(name)
        odd = low is not None and type(value) is int and (value == -1 or not low <= value < 2**63)
        if odd or type(value) is not ANSWERS[name]:
            refuse(f"{name} returns {describe(found)}")
    return found


def call_method(ev: E, v: Value, name: str, *args: Value) -> Value:
    return call(ev, attributes.getattr_(ev, v, name), list(args), {})


def call_real(ev: E, function: Callable[..., Any], /, *args: Value, **kwargs: Value) -> Value:
    return call(ev, ev.wrap(function, None), list(args), kwargs)


def call(ev: E, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return calls.call(ev, fn, args, kwargs)


# ---------------------------------------------------------------- operators
def attempt(ev: E, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a pure function of Python now; what it raises, the program raises."""
    try:
        return fn(*args, **kwargs)
    except (Raised, Unsupported):  # of the evaluator, which `fn` has called
        raise
    except FloatingPointError:
        refuse("numpy warns")
    except Exception as error:
        ev.throw(type(error), *[ev.wrap(a, None) for a in error.args])


def fold(ev: E, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    """Run a pure function on constants now, if it can run no code of the program's."""
    own = isinstance(fn, attributes.METHOD_DESCRIPTORS) and not isinstance(args[0], CONTAINERS)
    if any(map(calls_back, (*args[own:], *kwargs.values()))):
        refuse(f"{getattr(fn, '__name__', fn)} of what has special methods of its own")
    return run(ev, fn, *args, **kwargs)


def run(ev: E, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    with numpy.errstate(all="raise") if numpy else nullcontext():
        return ev.wrap_fresh(attempt(ev, fn, *args, **kwargs))


def is_plain(*values: Value) -> bool:
    """Literals that Python itself may compute with."""
    return all(isinstance(v, Const) and not calls_back(v.value) for v in values)


def unary(ev: E, op: Callable[[Any], Any], method: str, v: Value) -> Value:
    if isinstance(v, Tensor):
        return ev.graph.call(ev, op, [v])
    if is_plain(v):
        return fold(ev, op, v.real)
    return call_special(ev, v, method) or refuse(f"bad operand type for unary {method}")


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
    if a.cls in b.cls.__mro__[1:] and (own or compares):
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


def first_answer(ev: E, tries: list[tuple[Value, str, Value]]) -> Value | None:
    """What the first method returns that is not NotImplemented; None if there is none."""
    for of, method, other in tries:
        plain = isinstance(of, Const) and type(type_lookup(of.cls, method)) is not FunctionType
        if (plain and not isinstance(other, Const)) or isinstance(of, Tensor):
            continue  # a literal's own operator knows literals only
        found = call_special(ev, of, method, other)
        if found is not None and found.real is not NotImplemented:
            return found
    return None


def read(ev: E, v: Value) -> list[Value]:
    """What iteration over a container gives."""
    if isinstance(v, Dict):
        return v.keys(ev)
    return v.read(ev) if isinstance(v, Sequence | View) else []


def read_all(ev: E, v: Value) -> None:
    """To the bottom."""
    for item in v.values(ev) if isinstance(v, Dict) else read(ev, v):
        read_all(ev, item)


def identical(ev: E, a: Value, b: Value) -> bool:
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        same, sources = a.value is b.value, [v.source for v in (a, b) if v.source is not None]
        if signature(a.value) == signature(b.value) and type(a.value) not in (bool, type(None)):
            if len(sources) == 2:  # equal, but are they one object the next time?
                ev.assume("ALIASED" if same else "NOT_ALIASED", *sources)
            elif sources and not same:
                refuse("compares the identity of a literal with that of an equal one")
            elif sources:
                ev.assume("ID", sources[0], a.value)
        return same
    if isinstance(a, Method) or isinstance(b, Method):
        return False
    if a.cls is b.cls and not is_fixed(a.real) and a.source is not None and b.source is not None:
        ev.assume("NOT_ALIASED", a.source, b.source)
    return a.real is not ABSENT and a.real is b.real


def truth(ev: E, v: Value) -> bool:
    if is_plain(v):
        return bool(v.real)
    if isinstance(v, Tensor):
        refuse("branches on the value of a tensor", "use torch.where, or move the branch outside")
    found = call_special(ev, v, "__bool__") or call_special(ev, v, "__len__")
    return found is None or bool(python_value(found))


def length(ev: E, v: Value) -> int:
    return int(python_value(call_special(ev, v, "__len__") or refuse(f"len() of {describe(v)}")))


def contains(ev: E, of: Value, item: Value) -> bool:
    found = call_special(ev, of, "__contains__", item)
    return truth(ev, found or call_real(ev, abc.Sequence.__contains__, of, item))


def getitem(ev: E, of: Value, key: Value) -> Value:
    if isinstance(of, Tensor):
        return ev.graph.call(ev, operator.getitem, [of, key])
    own = isinstance(of.real, type) and type_lookup(of.real, "__class_getitem__")
    own = own if type_lookup(of.cls, "__getitem__") is MISSING else None
    if isinstance(own, classmethod) and not trusted(own.__func__.__module__):
        return call_method(ev, of, "__class_getitem__", key)
    if isinstance(of, Const) or isinstance(of.real, type) and not operators(of.cls):
        return fold(ev, operator.getitem, of.real, python_value(key))
    return call_special(ev, of, "__getitem__", key) or refuse(f"an item of {describe(of)}")


def setitem(ev: E, of: Value, key: Value, value: Value) -> None:
    if isinstance(of, Tensor):
        ev.graph.call(ev, operator.setitem, [of, key, value], keep=True)
    elif call_special(ev, of, "__setitem__", key, value) is None:
        refuse(f"sets an item of {describe(of)}")


def delitem(ev: E, of: Value, key: Value) -> None:
    call_special(ev, of, "__delitem__", key) or refuse(f"deletes an item of {describe(of)}")


def make_slice(*parts: Value) -> Value:
    made = Slice(list(parts))
    found = constant(made)
    return made if found is ABSENT else Const(found)


# ---------------------------------------------------------------- iteration
def iter_(ev: E, v: Value) -> Value:
    if isinstance(v, Iterator | Generator):
        return v
    if isinstance(v.real, EnumType):
        return iter_(ev, Tuple(map(ev.wrap_fresh, v.real)))
    if (found := call_special(ev, v, "__iter__")) is not None:
        if type_lookup(found.cls, "__next__") is MISSING:
            refuse(f"{describe(v)} has no iterator")
        return found
    if type_lookup(v.cls, "__getitem__") is not MISSING:
        return call_real(ev, abc.Sequence.__iter__, v)
    refuse(f"iterates over {describe(v)}")  # who asks decides what the error says


def native_iter(ev: E, v: Value, way: Any = iter) -> Value:
    """`__iter__` of the builtin containers, of ranges and text; with `reversed` their other way."""
    of: Any = v.of if isinstance(v, View) else v
    items: Any = of.contents if isinstance(of, Sequence) else of.real
    if isinstance(of, Dict | Set):
        items = of.keys(ev) if isinstance(of, Dict) else of.ordered()
    last = len(items) - 1
    lists = isinstance(of, Sequence) and not isinstance(items, deque)  # these may grow
    inside: Callable[[], Any] = lambda: isinstance(of, Const) or (len(of), of.changed)
    before = inside()

    def next_item(i: int) -> Value | None:
        if inside() != before and not (lists and way is iter):
            refuse("a container changes while it is iterated over")
        at = i if way is iter else last - i
        if not 0 <= at < len(items):
            return None
        item = v.at(ev, at) if isinstance(v, Sequence) else items[at]
        if isinstance(v, View):
            return v.shown(ev, item)
        return item if isinstance(item, Value) else Const(item)

    like = items if isinstance(of, Const) else empty(of.cls)
    like = getattr(like, v.kind)() if isinstance(v, View) else like
    made = Iterator(type(way(like)), next_item, v)
    made.way = way
    return made


def next_(ev: E, it: Value) -> Value | None:
    """The next item, or None at the end."""
    try:
        return it.next() if isinstance(it, Iterator) else advance(ev, it)
    except Raised as raised:
        if issubclass(raised.value.cls, StopIteration):
            return None
        raise


def advance(ev: E, it: Value) -> Value:
    """The next item; at the end the StopIteration that says so is raised into the program."""
    if isinstance(it, Generator):
        return send(ev, it, NONE)
    if isinstance(it, Iterator):
        return it.next() or ev.throw(StopIteration)
    return call_special(ev, it, "__next__") or refuse(f"advances {describe(it)}")


def send(ev: E, it: Value, value: Value, error: Obj | None = None) -> Value:
    """generator.send or .throw; raises StopIteration into the program at the end."""
    if not isinstance(it, Generator):
        if error is None and value is NONE:
            return advance(ev, it)
        return refuse(f"sends into {describe(it)}")
    if it.finished or (error and not it.started and error.cls is not StopIteration):
        it.finished = it.started = True
        raise Raised(ev, error or new_exception(StopIteration))
    if it.running or not (it.started or (error is None and value is NONE)):
        refuse(f"{describe(it)} cannot go on")
    if any(isinstance(v, frame.Handled) for v in it.frame.stack):
        refuse("a generator goes on inside of an except clause")
    it.running, handled = True, ev.handled
    try:
        if error is None:
            it.frame.push(value)
        elif it.frame.code.instructions[max(it.frame.index - 2, 0)].opname == "SEND":
            refuse("an exception thrown into `yield from`")
        else:
            it.frame.throw_in(error)
        found_value = it.frame.run()
    except Raised as raised:
        it.finished, ev.handled = True, raised.value
        if raised.value.cls is StopIteration:
            raise Raised(ev, late(raised.value)) from None
        raise
    finally:
        it.running, it.started = False, True
        ev.handled = handled
    if isinstance(found_value, frame.Yielded):
        return found_value.value
    it.finished = True
    ev.throw(StopIteration, *([] if constant(found_value) is None else [found_value]))


def late(cause: Obj) -> Obj:
    shown = dict(__context__=cause, __cause__=cause, __suppress_context__=TRUE)
    return new_exception(RuntimeError, "generator raised StopIteration", **shown)


def stop_value(ev: E, exception: Obj) -> Value:
    args = exception.fields["args"]
    return args.at(ev, 0) if isinstance(args, Tuple) and len(args) else NONE


def unpack(ev: E, v: Value, hint: bool = False) -> list[Value]:
    """All items of an iterable."""
    items = list(islice(one_by_one(ev, v, hint), 100_001))
    return items if len(items) < 100_001 else refuse("unpacks more than 100,000 items")


def one_by_one(ev: E, v: Value, hint: bool = False) -> Any:
    """The items, at once where nothing can happen between them. `hint`: whoever makes a list or a
    tuple asks first how many will come."""
    plain = isinstance(v, Sequence) and type_lookup(v.cls, "__iter__") in NATIVE_ITERS
    return v.read(ev) if plain else Pulled(ev, v, hint)  # type: ignore[attr-defined]


class Pulled:
    """The items of an iterable, for functions of Python that only pass them on."""

    def __init__(self, ev: E, of: Value, hint: bool = False) -> None:
        self.ev, self.of, self.hint = ev, of, hint

    def __iter__(self) -> Any:
        it = iter_(self.ev, self.of)
        if self.hint and isinstance(type_lookup(self.of.cls, "__length_hint__"), FunctionType):
            refuse("a length hint of the program's")
        if self.hint and isinstance(type_lookup(self.of.cls, "__len__"), FunctionType):
            try:
                call_special(self.ev, self.of, "__len__")
            except Raised:
                refuse("a length that raises while a list or tuple is made")
        return iter(lambda: next_(self.ev, it), None)


NATIVE_ITERS = (list.__iter__, tuple.__iter__)


def mapping_items(ev: E, v: Value, plain: Any = dict.__iter__) -> list[tuple[Value, Value]]:
    """What CPython takes from a mapping: of a dict its items, unless its class says more about them
    in Python and does not keep `plain` for its iterator."""
    ways = [type_lookup(v.cls, name) for name in ("__iter__", "keys", "__getitem__")]
    if isinstance(v, Dict) and (ways[0] is plain or FunctionType not in map(type, ways)):
        return list(zip(v.keys(ev), v.values(ev)))
    if ways[1] is MISSING:
        refuse(f"takes {describe(v)} for a mapping")
    return [(k, getitem(ev, v, k)) for k in unpack(ev, call_method(ev, v, "keys"))]


# ---------------------------------------------------------------- text, classes, imports
EMPTY = Const("")


def text(v: Value) -> str:
    found = python_value(v)
    return str.__str__(found) if isinstance(found, str) else refuse("a name that is no string")


def format_(ev: E, v: Value, spec: Value = EMPTY) -> Value:
    if is_plain(v):
        return fold(ev, format, v.real, python_value(spec))
    if isinstance(v, Tensor):
        refuse("formats a tensor")
    if type_lookup(v.cls, "__format__") is object.__format__ and text(spec) == "":
        return call_real(ev, str, v)
    return call_special(ev, v, "__format__", spec) or refuse(f"formats {describe(v)}")


LEGACY_TENSOR = type(torch.FloatTensor)


def of_abstract(ev: E, cls: type) -> None:
    """Which classes an abstract one takes for its own can change at any time."""
    if type_lookup(cls, "_is_protocol") is True:
        refuse(f"a class or object is compared with the protocol {cls.__name__}")
    if isinstance(cls, ABCMeta):
        import networkx  # noqa: F401  (what compiles needs it, and its import registers classes)

        ev.guards.add("ABC", None, get_cache_token())


def is_instance(ev: E, v: Value, classes: Value) -> bool:
    cls = classes.real
    if isinstance(cls, UnionType):
        classes = Tuple(map(ev.wrap_fresh, cls.__args__))
    if isinstance(classes, Tuple):
        return any(is_instance(ev, v, c) for c in classes.read(ev))
    if not isinstance(cls, type) or type(cls) is LEGACY_TENSOR:
        refuse(f"isinstance with {describe(classes)}", "for a tensor compare dtype and device")
    of_abstract(ev, cls)
    if v.cls is cls:
        return True  # C asks nothing else
    custom = type_lookup(type(cls), "__instancecheck__")
    users = type(cls).__module__.partition(".")[0] not in ("abc", "typing", "torch")
    if isinstance(custom, FunctionType) and users:
        return truth(ev, call_real(ev, custom, classes, v))
    if isinstance(v, Tensor):
        return isinstance(v.fake.meta if v.real is ABSENT else v.real, cls)
    asked = attributes.overridden(ev, v, "__getattribute__", Const("__class__"))
    if asked is not None and not issubclass(v.cls, cls):
        return isinstance(asked.real, type) and issubclass(asked.real, cls)
    return issubclass(v.cls, cls) if v.real is ABSENT else isinstance(v.real, cls)


def exception(ev: E, v: Value) -> Obj:
    """An exception object from what `raise` was given."""
    if isinstance(v.real, type) and issubclass(v.real, BaseException):
        v = call(ev, v, [], {})
    if not isinstance(v, Obj) or not issubclass(v.cls, BaseException):
        refuse(f"raises {describe(v)}")
    return v


def import_(f: Any, name: str, level: Value, names: Value) -> Value:
    """Only modules that are loaded already: an import runs code."""
    import importlib.util
    import sys

    full = importlib.util.resolve_name("." * level.real + name, f.space.real.get("__package__"))
    wanted = full if names is not NONE and constant(names) is not None else full.partition(".")[0]
    trust(vars(builtins), "__import__", importer := vars(builtins)["__import__"])
    loaded = {name: sys.modules.get(name) for name in (full, wanted)}
    if None in loaded.values() or not isinstance(importer, BuiltinFunctionType):
        refuse(f"imports {full}", "import it at the top of the file")
    of = sources.Const(sys.modules)
    found: dict[str, Value] = {n: f.ev.wrap(m, sources.Item(of, n)) for n, m in loaded.items()}
    return found[wanted]

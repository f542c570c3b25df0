"""Rules for builtin functions and for the methods of `object` and `type`."""

# ruff: noqa: I001  (imports fill their lines)

import builtins
import functools
import inspect
import io
import itertools
import logging
import operator
import warnings
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from types import FunctionType, GeneratorType, MethodType
from typing import Any
from weakref import ref

import torch

from . import attributes, data_model as model, source as sources
from .attributes import generic_attribute, generic_delattr, generic_setattr
from .calls import POLYFILLS, PURE, RULES, fold, instantiate, readable, refused, rule
from .frame_hook import MISSING, type_lookup
from .side_effects import Call
from .values import ABSENT, E, FALSE, NONE, NULL, TRUE, Const, Dict, Generator, Method, Obj, Raised
from .values import Stepped, Super, Tuple, Value, const_bool, constant, describe, is_literal
from .values import new_exception, python_value, refuse

PURE |= {abs, ascii, bin, chr, divmod, format, hex, oct, ord, pow, round, int, float, str, bool}
PURE |= {complex, bytes, slice, range, type.__or__, type.__ror__}
PURE |= {torch.promote_types, torch.result_type, torch.broadcast_shapes, torch.finfo, torch.iinfo}
PURE |= {torch.typename, torch.can_cast, torch.device, torch.cuda.is_available}
PURE |= {inspect.isfunction, inspect.isclass, inspect.ismodule}
PURE |= {inspect.getmro, inspect.isgeneratorfunction, inspect.iscoroutinefunction}
PURE |= {torch.Generator.device.__get__, int.from_bytes, str.maketrans, float.fromhex}
rule(exec, eval)(refused("runs code from a string"))
rule(globals, locals)(refused("takes a namespace"))
rule(id)(refused("asks for the id of an object"))
rule(warnings.warn)(refused("warns"))
rule(torch.device.__enter__, torch.device.__exit__)(refused("sets the default device"))
ZERO, NOT_IMPLEMENTED = Const(0), Const(NotImplemented)


# ---------------------------------------------------------------- objects and attributes
def shown(v: Value) -> Value:
    """`v`, where its class is the program's: a polyfill's generator stands for another iterator."""
    if isinstance(v, Generator) and v.origin[0].real in POLYFILLS.values():
        refuse("the class of an iterator")
    return v


rule(isinstance)(lambda ev, v, classes: const_bool(model.is_instance(ev, shown(v), classes)))


@rule(issubclass)
def _issubclass(ev: E, cls: Value, classes: Value) -> Value:
    for of in classes.read(ev) if isinstance(classes, Tuple) else [classes]:
        if isinstance(of.real, type):
            model.of_abstract(ev, of.real)
    return fold(ev, issubclass, [cls, classes], {})


rule(type.__instancecheck__)(lambda ev, cls, v: const_bool(cls.real in v.cls.__mro__))


rule(type)(lambda ev, v, *more: refuse("a class is defined") if more else ev.class_of(shown(v)))


@rule(getattr)
def _getattr(ev: E, v: Value, name: Value, *default: Value) -> Value:
    try:
        return attributes.getattr_(ev, v, model.text(name))
    except Raised as raised:
        if default and issubclass(raised.value.cls, AttributeError):
            return default[0]
        raise


rule(hasattr)(lambda ev, v, name: const_bool(_getattr(ev, v, name, NULL) is not NULL))
rule(setattr)(lambda ev, v, name, value: attributes.setattr_(ev, v, model.text(name), value))
rule(delattr)(lambda ev, v, name: attributes.delattr_(ev, v, model.text(name)))


rule(object.__getattribute__)(lambda ev, v, name: generic_attribute(ev, v, model.text(name)))
rule(object.__setattr__)(lambda ev, v, n, value: generic_setattr(ev, v, model.text(n), value))
rule(object.__delattr__)(lambda ev, v, name: generic_delattr(ev, v, model.text(name)))


EXCEPTIONS = [c for c in vars(builtins).values() if isinstance(c, type)]
EXCEPTIONS = [c for c in EXCEPTIONS if issubclass(c, BaseException) and "Group" not in c.__name__]


@rule(*(c.__init__ for c in EXCEPTIONS), told=True)  # type: ignore[misc]
def _exception_init(init: Any, ev: E, v: Obj, /, *args: Value, **kwargs: Value) -> None:
    named = next((names for cls, names in NAMED_FIELDS.items() if issubclass(v.cls, cls)), ())
    values = tuple(map(constant, args))
    with suppress(Exception):  # it may not take these, or read more from them than we do
        init(made := init.__objclass__.__new__(v.cls, *values), *values)
        if v.is_new and kwargs.keys() <= set(named) and len(made.args) == len(args):
            kept = {name: field for name, field in v.fields.items() if name not in named}
            v.fields = kept | kwargs | {"args": Tuple(args)}
            return
    refuse(f"this way of calling {v.cls.__name__}.__init__")


NAMED_FIELDS: dict[type, tuple[str, ...]] = {ImportError: ("name", "path"), NameError: ("name",)}
NAMED_FIELDS[AttributeError] = ("name", "obj")


@rule(*(c.__new__ for c in EXCEPTIONS), told=True)
def _exception_new(new: Any, ev: E, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    """The number of an OSError says of which class it is."""
    made = model.attempt(ev, new, cls.real, *map(constant, args))
    return new_exception(type(made), *args[: len(made.args)])


rule(BaseException.with_traceback)(lambda ev, v, tb: v)


@rule(object.__new__, object.__init__, told=True)
def _object_takes(function: Any, ev: E, of: Value, /, *args: Value, **named: Value) -> Value:
    """Arguments are for the other method, where the class has one of its own and not this one."""
    new = function is object.__new__
    cls = of.real if new else of.cls
    own = [type_lookup(cls, name) is not getattr(object, name) for name in ("__new__", "__init__")]
    if (args or named) and own != [not new, new]:
        refuse(f"{cls.__name__}.{function.__name__} takes no arguments")
    return Obj(cls) if new else NONE


rule(object.__eq__)(lambda ev, a, b: TRUE if model.identical(ev, a, b) else NOT_IMPLEMENTED)
_ordering = [getattr(object, f"__{name}__") for name in ("lt", "le", "gt", "ge")]
rule(*_ordering)(lambda ev, a, b: NOT_IMPLEMENTED)
rule(type.__call__)(lambda ev, cls, /, *args, **named: instantiate(ev, cls, list(args), named))


@rule(super)
def _super(ev: E, *args: Value | None) -> Value:
    if not args:
        frame = ev.frames[-1]
        code, cell = frame.code.code, frame.cells.get("__class__")
        name = code.co_varnames[0]
        of = frame.cells[name].get(ev) if name in code.co_cellvars else frame.local(name)
        args = (cell and cell.get(ev), of)
    start, of = args
    if start is None or of is None:
        refuse("super() without a class around it")
    if not any(isinstance(c, type) and start.real in c.__mro__ for c in (of.cls, of.real)):
        refuse(f"super() of {describe(of)}, which is no {describe(start)}")
    return Super(start, of)


@rule(functools.partial)
def _partial(ev: E, function: Value, /, *args: Value, **kwargs: Value) -> Value:
    made, named = Obj(functools.partial), Dict()
    if function.cls is functools.partial:
        parts = (attributes.getattr_(ev, function, n) for n in ("func", "args", "keywords"))
        function, first, keywords = parts
        args = (*model.unpack(ev, first), *args)
        RULES[dict.update](ev, named, keywords)
    RULES[dict.update](ev, named, **kwargs)
    made.fields = {"func": function, "args": Tuple(args), "keywords": named}
    return made


# ---------------------------------------------------------------- what refers to something
@rule(ref.__new__)
def _ref(ev: E, cls: Value, of: Value) -> Value:
    made = Obj(cls.real)
    if cls.real is not ref or of.source is None:  # else it may die at any time
        refuse("a weak reference to what is made here, or of a class of its own")
    made.fields["of"] = of
    return made


@rule(ref.__call__, ContextVar.get)
def _answer(ev: E, v: Value) -> Value:
    if isinstance(v, Obj) and "of" in v.fields:
        return v.fields["of"]
    source = v.source and sources.Answer(v.source)
    return ev.wrap(model.attempt(ev, sources.Answer.reader, v.real), source)


rule(ref.__init__, property.__init__)(lambda ev, v, *of: NONE)
rule(property.__new__)(lambda ev, cls, *accessors: Obj(cls.real))


@rule(attributes.LRU_CACHE.__call__)
def _cached_call(ev: E, v: Obj, *args: Value, **kwargs: Value) -> Value:
    """What it returns may have been made long ago, so the wrapper itself is called, once a call
    and, for an object, here: before the graph, which stands for this one answer; where that is a
    constant of the arguments, after it, with the output of its function. Evaluating the function,
    in a world where nothing was read or written yet, shows that the time does not matter."""
    trial = type(ev)(ev.guards, ev.f_globals, None)
    trial.frames, trial.step = list(ev.frames), ev.step
    again: Callable[[Value], Value] = lambda a: trial.wrap(a.real, a.source) if a.source else a
    try:
        wrapped = attributes.getattr_(trial, again(v), "__wrapped__")
        named = {name: again(a) for name, a in kwargs.items()}
        found = model.call(trial, wrapped, list(map(again, args)), named)
    except Raised:
        refuse("a cached function that raises")
    written = {id(of.real) for of in ev.effects.order.values() if isinstance(of, Obj)}
    by_name = isinstance(found, Const) and all(kind == "ID" for kind, *_ in trial.assumed)
    later = by_name or found is NONE
    known = {v.source, *(a.source for a in (*args, *kwargs.values()))}  # and what is below them
    others = {
        kind
        for kind, at, *_ in trial.assumed
        if not known & {at, *at.above} or any(isinstance(s, sources.Contents) for s in at.above)
    } - {"ID"}
    literal = isinstance(found, Const) and is_literal(found.real)
    acts = [of for of in trial.effects.order.values() if isinstance(of, Obj) or not later]
    unsteady = trial.memo.keys() & written or trial.graph.mutated() or trial.graph.mode.draws
    switched = any(trial.ambient_now[key] != was for key, (_, was) in trial.ambient.items())
    checks = ev.graph.graph.find_nodes(op="call_function", target=torch._assert_async)
    if acts or unsteady or switched or checks or (literal and others and not later):
        refuse("a cached function that does more than compute, or reads what was written")
    plain: Any = lambda a: a if a.source else Const(readable(ev, Tuple([a]), v.real)[0])
    args, kwargs = tuple(map(plain, args)), {name: plain(a) for name, a in kwargs.items()}
    if later:
        ev.effects.later(ev, v, args, kwargs, checked=len(args))
        return found
    real = {name: a.real for name, a in kwargs.items()}
    answer = found.real if literal else model.attempt(ev, v.real, *(a.real for a in args), **real)
    if is_literal(answer) and not literal:
        refuse("a cached function that answers otherwise than it would now")
    ev.cached.append((Call(v, args, kwargs), answer))
    return Const(answer) if is_literal(answer) else ev.wrap(answer, sources.Const(answer))


# ---------------------------------------------------------------- what builtins ask of objects
rule(len)(lambda ev, v: Const(model.length(ev, v)))


rule(iter)(lambda ev, v, *end: refuse("iter() with a sentinel") if end else model.iter_(ev, v))


@rule(next)
def _next(ev: E, it: Value, *default: Value) -> Value:
    return (model.next_(ev, it) or default[0]) if default else model.advance(ev, it)


rule(bool)(lambda ev, v=FALSE: const_bool(model.truth(ev, v)))
rule(abs)(lambda ev, v: model.unary(ev, abs, "__abs__", v))


@rule(int, float, str, repr, hash, operator.index, told=True)
def _ask(function: Any, ev: E, *args: Value, **kwargs: Value) -> Value:
    """Objects are asked through their classes, as by Python; what has no such method, and other
    ways of calling the function, Python itself is left to judge."""
    asked = len(args) == 1 and not kwargs and not model.is_plain(*args)
    asked = asked and not (function is operator.index and issubclass(args[0].cls, int))
    found = model.call_special(ev, args[0], f"__{function.__name__}__") if asked else None
    return found or fold(ev, function, list(args), kwargs)


_PLAIN = (list, tuple, torch.Size, dict, set, frozenset, type)
PURE |= {*(kind.__repr__ for kind in _PLAIN), tuple.__hash__, frozenset.__hash__}
rule(object.__str__)(lambda ev, v: RULES[repr](ev, v))
rule(object.__repr__)(lambda ev, v: refuse(f"the text of {describe(v)}, which names its address"))
rule(object.__hash__)(lambda ev, v: refuse(f"the hash of {describe(v)}"))


@rule(*(text for c in EXCEPTIONS for text in (c.__str__, c.__repr__)), told=True)
def _exception_text(original: Any, ev: E, v: Obj) -> Value:
    made = v.cls.__new__(v.cls, *readable(ev, attributes.getattr_(ev, v, "args"), original))
    return model.fold(ev, original, made)


@rule(sum)
def _sum(ev: E, items: Value, start: Value = ZERO) -> Value:
    """Item by item, as each may be computed when it is asked for; numbers in front by Python
    itself, which since 3.12 adds floats with more care than `+`."""
    pulled, literals, rest = iter(model.Pulled(ev, items)), list[Value](), list[Value]()
    numbers = {bool, int, float, complex}  # nothing that would raise behind the item it is about
    if isinstance(start, Const) and start.cls in numbers:
        while not rest and (item := next(pulled, None)) is not None:
            (literals if isinstance(item, Const) and item.cls in numbers else rest).append(item)
        start = fold(ev, sum, [Tuple(literals), start], {})
    elif issubclass(start.cls, str | bytes | bytearray):
        refuse("sum() of text")
    add: Callable[[Value, Value], Value] = lambda a, b: model.binary(ev, "+", a, b)
    return functools.reduce(add, itertools.chain(rest, pulled), start)


@rule(pow)
def _pow(ev: E, a: Value, b: Value, *mod: Value) -> Value:
    return fold(ev, pow, [a, b, *mod], {}) if mod else model.binary(ev, "**", a, b)


rule(format)(model.format_)


rule(str.join)(lambda ev, v, of: fold(ev, str.join, [v, Tuple(model.unpack(ev, of, True))], {}))


@rule(inspect.signature, inspect.getfullargspec, told=True)
def _signature(of: Any, ev: E, fn: Value) -> Value:
    """Of a method: its function's without `self`, whatever that is."""
    function = fn.function if isinstance(fn, Method) else fn
    if function.cls is FunctionType and function.source:
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            part = attributes.getattr_(ev, function, name)
            for v in part.read(ev) if isinstance(part, Tuple) else [part]:
                python_value(v)
    bound = isinstance(fn, Method) and MethodType(function.real, fn)
    return model.fold(ev, of, bound or python_value(fn))


rule(callable)(lambda ev, v: const_bool(model.special(ev, v, "__call__") is not None))


@rule(vars)
def _vars(ev: E, v: Value) -> Value:
    found = _getattr(ev, v, Const("__dict__"), NULL)
    return found if found is not NULL else refuse(f"vars() of {describe(v)}")


@rule(reversed)
def _reversed(ev: E, of: Value) -> Value:
    if type_lookup(of.cls, "__reversed__") is not MISSING:
        return model.call_special(ev, of, "__reversed__") or refuse(f"reverses {describe(of)}")
    if type_lookup(of.cls, "__getitem__") is MISSING:
        refuse(f"reverses {describe(of)}")
    return model.call_real(ev, POLYFILLS[reversed], of)


# ---------------------------------------------------------------- generators and iterators
def _function(ev: E, f: Value) -> Callable[..., Value]:
    return lambda *args: model.call(ev, f, list(args), {})


def _predicate(ev: E, f: Value) -> Callable[[Value], bool]:
    return lambda v: model.truth(ev, v if f is NONE else model.call(ev, f, [v], {}))


rule(any)(lambda ev, v: const_bool(any(map(_predicate(ev, NONE), model.Pulled(ev, v)))))
rule(all)(lambda ev, v: const_bool(all(map(_predicate(ev, NONE), model.Pulled(ev, v)))))


@rule(functools.reduce)
def _reduce(ev: E, f: Value, items: Value, *first: Value) -> Any:
    return model.attempt(ev, functools.reduce, _function(ev, f), model.Pulled(ev, items), *first)


# Python's own iterators and what they take: * an iterable, + an iterable of iterables, f a
# function, p a predicate, c a constant, x any value. The last one repeats.
STEPPED: dict[Any, str] = {zip: "*", map: "f*", filter: "p*", enumerate: "*c", itertools.chain: "*"}
STEPPED |= {itertools.chain.from_iterable: "+", itertools.starmap: "f+", itertools.repeat: "xc"}
STEPPED |= {itertools.islice: "*c", itertools.product: "*", itertools.zip_longest: "*"}
STEPPED |= {itertools.permutations: "*c", itertools.combinations: "*c", itertools.pairwise: "*"}
STEPPED |= {itertools.takewhile: "p*", itertools.dropwhile: "p*", itertools.filterfalse: "p*"}
STEPPED |= {itertools.count: "c", itertools.cycle: "*", itertools.accumulate: "*f"}
NAMED = {"fillvalue": "x", "initial": "x", "object": "x", "iterable": "*", "func": "f"}
GIVEN: dict[str, Callable[[E, Value], Any]] = {
    "*": model.Pulled,
    "+": lambda ev, v: map(functools.partial(model.Pulled, ev), model.Pulled(ev, v)),
    "f": _function,
    "p": _predicate,
    "c": lambda ev, v: v.real if model.is_plain(v) else refuse(f"counts with {describe(v)}"),
    "x": lambda ev, v: None if v is NONE else v,
}


@rule(*STEPPED, told=True)
def _stepped(function: Any, ev: E, *args: Value, **kwargs: Value) -> Value:
    if function is itertools.accumulate and len(args) == 1 and "func" not in kwargs:
        args = (*args, ev.wrap(operator.add, None))
    kinds = itertools.chain(STEPPED[function], itertools.repeat(STEPPED[function][-1]))
    given = [GIVEN[kind](ev, v) for kind, v in zip(kinds, args)]
    named = {n: GIVEN[NAMED.get(n, "c")](ev, v) for n, v in kwargs.items()}
    steps = model.attempt(ev, function, *given, **named)

    def read(i: int) -> Value | None:
        found = model.attempt(ev, next, steps, ABSENT)
        return None if found is ABSENT else lifted(ev, found)

    made = Stepped(type(steps), read, of := ev.wrap(function, None))
    made.origin, made.born, made.made_after = (of, args, kwargs), ev.at, ev.effects.writes
    return made


def lifted(ev: E, found: Any) -> Value:
    if isinstance(found, tuple):
        return Tuple([lifted(ev, item) for item in found])
    return found if isinstance(found, Value) else ev.wrap(found, None)


_chained = RULES[itertools.chain.from_iterable]
rule(vars(itertools.chain)["from_iterable"])(lambda ev, cls, items: _chained(ev, items))


@rule(GeneratorType.__next__, type(iter([])).__next__, type(iter(())).__next__)
def _generator_next(ev: E, it: Value) -> Value:  # the frame of a real one is Python's
    return model.advance(ev, it) if it.real is ABSENT else refuse(f"advances {describe(it)}")


rule(GeneratorType.__iter__, type(iter([])).__iter__, type(iter(())).__iter__)(lambda ev, it: it)
rule(GeneratorType.send)(lambda ev, it, value: model.send(ev, it, value))


@rule(GeneratorType.throw)
def _throw(ev: E, it: Value, kind: Value, *rest: Value) -> Value:
    error = rest[0] if rest and rest[0].cls is not type(None) else kind
    return model.send(ev, it, NONE, model.exception(ev, error))


# ---------------------------------------------------------------- what has no effect we keep
_LOGS = [getattr(logging.Logger, n) for n in "debug info warning error critical log".split()]


@rule(print, *_LOGS, told=True)
def _later(function: Any, ev: E, *args: Value, **kwargs: Value) -> None:
    for inside in (v for v in args if v.source is None):  # sizes, and what was made here
        model.read_all(ev, inside)
    if function is print:  # what it does not take, it raises now
        named = {name: python_value(v) for name, v in kwargs.items()}
        model.attempt(ev, print, *map(python_value, args), **named | {"file": io.StringIO()})
    elif kwargs.keys() - {"extra"}:
        refuse("logs what is handled, or who calls")
    frame = next(f for f in reversed(ev.frames) if f.code.code.co_filename != logging.__file__)
    here = function if function is print else frame.as_caller(function)
    ev.effects.later(ev, ev.wrap(here, None), args, kwargs, checked=function is not print)


@rule(logging.Logger.isEnabledFor)
def _is_enabled(ev: E, logger: Value, level: Value) -> Value:
    enabled = logger.real is ABSENT or logger.real.isEnabledFor(python_value(level))
    return refuse("logs") if enabled else FALSE

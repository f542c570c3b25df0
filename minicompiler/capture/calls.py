"""What calling a value means.

In order: the table of builtins (by the real callable), polyfills, torch operators, classes, Python
functions to inline, pure builtins to fold. What is none of these is refused.
"""

# ruff: noqa: I001  (imports fill their lines)

from collections.abc import Callable
from enum import EnumType
from functools import partial
from types import BuiltinFunctionType
from typing import Any, TypeVar

import torch

from . import attributes, data_model as model
from .facts import ARRAY
from .frame_hook import MISSING, type_lookup
from .values import ABSENT, E, NONE, Const, Function, Generator, Iterator, Method, Tensor, Tuple
from .values import Unbuildable, Value, c_method, constant, describe, is_literal, refuse

Rule = Callable[..., Value | None]
R = TypeVar("R", bound=Rule)
RULES: dict[Any, Rule] = {}  # the real callable -> rule(ev, *args, **kwargs)
POLYFILLS: dict[Any, Callable[..., Any]] = {}  # the real callable -> Python code to inline instead
PURE: set[Any] = set()  # builtins that may run while evaluating, given constants


def rule(*functions: Any, told: bool = False) -> Callable[[R], R]:
    """Register the rule for one or several real callables; twice for one is a mistake. `told`: the
    rule's first argument is the callable."""

    def register(made: R) -> R:
        for function in dict.fromkeys(functions):  # a type may inherit another's slot
            assert function not in RULES, function
            RULES[function] = partial(made, function) if told else made
        return made

    return register


def refused(reason: str, hint: str = "") -> Rule:
    """The rule for what no graph can hold."""
    return lambda ev, /, *args, **kwargs: refuse(reason, hint)


def found_in(table: Any, real: Any) -> bool:
    try:
        return real in table
    except TypeError:  # unhashable
        return False


def call(ev: E, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if isinstance(fn, Method):
        return call(ev, fn.function, [fn.self_value, *args], kwargs)
    real = fn.real
    if real is ABSENT:
        if isinstance(fn, Function):
            return ev.inline(fn, args, kwargs)
        return call_object(ev, fn, *args, **kwargs)
    if found_in(RULES, real):
        return apply(ev, real, args, kwargs)
    if found_in(POLYFILLS, real):
        return call(ev, ev.wrap(POLYFILLS[real], None), args, kwargs)
    from . import torch_calls

    if torch_calls.is_operator(real):
        return torch_calls.call_operator(ev, real, args, kwargs)
    if isinstance(real, EnumType) and type_lookup(real, "_missing_").__module__ != "enum":
        members = real._value2member_map_
        if not any(model.is_plain(v) and found_in(members, constant(v)) for v in args[:1]):
            refuse(f"{real.__name__}._missing_ may be called")
    if found_in(PURE, real) or isinstance(real, EnumType):  # Enum("name")
        return fold(ev, real, args, kwargs)
    if isinstance(real, torch.jit.ScriptFunction):
        return call_scripted(ev, fn, args, kwargs)
    if isinstance(fn, Function):
        torch_calls.refuse_disabled(real)
        return ev.inline(fn, args, kwargs)
    if (unbound := c_method(real)) is not MISSING:
        method = Method(ev.wrap(unbound, None), ev.wrap(real.__self__, None))
        return call(ev, method, args, kwargs)
    if is_pure(real, args):
        return fold(ev, real, args, kwargs)
    if isinstance(real, BuiltinFunctionType | type(list.append) | type(int.__add__)):
        refuse(f"calls {describe(fn)}, which is not Python code")
    return call_object(ev, fn, *args, **kwargs)


def apply(ev: E, real: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    try:
        return RULES[real](ev, *args, **kwargs) or NONE
    except TypeError as error:
        # where the call does not fit the rule's own parameters
        if getattr(error.__traceback__, "tb_next", None) is None:
            refuse(f"this way of calling {getattr(real, '__name__', real)}")
        raise


def call_scripted(ev: E, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Inline the Python of a script. It means the same where numbers and tensors come in as they
    are declared, and tensors go out: scripts copy lists, and take powers of ints to be floats."""
    declared = {a.name: str(a.type) for a in fn.real.schema.arguments}
    of = attributes.getattr_(ev, fn, "_torchdynamo_inline")
    same = "is_scripting" not in of.real.__code__.co_names
    for name, v in (*zip(declared, args), *kwargs.items()):
        given = "Tensor" if isinstance(v, Tensor) else v.cls.__name__
        same = same and declared.get(name) in (given, f"Optional[{given}]")
    if not same or fn.real.inlined_graph.findNode("aten::pow"):
        refuse("a script that may mean something else in Python")
    found = call(ev, of, args, kwargs)
    parts = found.contents if isinstance(found, Tuple) else [found]
    return found if all(isinstance(v, Tensor) for v in parts) else refuse("what a script returns")


def call_object(ev: E, fn: Value, /, *args: Value, **named: Value) -> Value:
    return model.call_special(ev, fn, "__call__", *args, **named) or refuse(f"calls {describe(fn)}")


def is_pure(real: Any, args: list[Value]) -> bool:
    if type(real) in attributes.METHOD_DESCRIPTORS:  # of a literal: str.join, int.bit_length
        literal = bool(args) and isinstance(args[0], Const) and real.__objclass__ is not object
        return literal and (args[0].cls is not ARRAY or real.__name__ in OF_ARRAYS)
    own = isinstance(real, BuiltinFunctionType)
    return own and (is_literal(real.__self__) or getattr(real, "__module__", None) in PURE_MODULES)


OF_ARRAYS = "__getitem__ __len__ astype copy reshape tolist item sum mean max min prod".split()
PURE_MODULES = ("math", "cmath", "_struct", "binascii", "unicodedata")


def fold(ev: E, real: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Run a pure function now, on constants."""
    values = [readable(ev, a, real) for a in args]
    named = {k: readable(ev, a, real) for k, a in kwargs.items()}
    return model.fold(ev, real, *values, **named)


def readable(ev: E, v: Value, real: Any) -> Any:
    """`v` as a Python object that a pure function may read, an iterator as far as it asks."""
    model.read_all(ev, v)
    found = constant(v)
    if found is ABSENT and isinstance(v, Iterator | Generator) and real is not str.format:
        return (readable(ev, Tuple([item]), real)[0] for item in model.Pulled(ev, v))
    if found is ABSENT:
        refuse(f"{getattr(real, '__name__', real)} of {describe(v)}")
    return found


# ---------------------------------------------------------------- making objects
def instantiate(ev: E, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    cls = fn.real
    new = type_lookup(cls, "__new__")
    # Behind a break, what has a __del__ would live longer than in Python.
    if isinstance(new, classmethod) or hasattr(cls, "__del__") or cls.__flags__ & 1 << 20:
        raise Unbuildable(0, f"makes a {cls.__name__}: abstract, with a __del__ or an odd __new__")
    if (source := ev.class_source(fn, "__new__")) is not None:
        ev.assume("ID", source, new)
    made = call(ev, ev.wrap(getattr(new, "__func__", new), None), [fn, *args], kwargs)
    made.born = ev.at
    if issubclass(made.cls, cls):
        init, source = attributes.class_attribute(ev, made, made.cls, "__init__")
        model.answered("__init__", call(ev, ev.wrap(init, source), [made, *args], kwargs))
    return made

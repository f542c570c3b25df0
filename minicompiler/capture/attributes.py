"""Attribute look-up on values, as `object`, `type`, `super` and modules do it."""

# ruff: noqa: I001  (imports fill their lines)

import collections
import functools
import threading
import weakref
from enum import Enum
from types import CellType, ClassMethodDescriptorType, FunctionType, GetSetDescriptorType
from types import MemberDescriptorType, ModuleType, TracebackType
from typing import Any, NoReturn, cast

from . import data_model as model, source as sources
from .frame_hook import MISSING, c_name, generic, own_dict, type_lookup
from .source import field
from .values import ABSENT, E, FALSE, NONE, Cell, Const, Dict, Function, Method, Obj, Raised, Super
from .values import Tensor, Tuple, Value, describe, is_fixed, new_exception, refuse, trusted


def namespace(ev: E, v: Obj | Tensor) -> Dict | None:
    """The instance dictionary as a value, shared with `v.__dict__`."""
    if v.attributes is None:
        if issubclass(v.cls, threading.local):
            refuse("what threading.local holds depends on the thread")
        source = v.source and sources.OwnDict(v.source)
        if isinstance(v.real, ModuleType):
            v.attributes = ev.globals_of(v.real.__dict__, source)
        elif v.real is not ABSENT:
            try:
                real = own_dict(v.real)
            except AttributeError:
                return None
            old = id(real) in ev.memo  # known as `vars(v)`, or as that of another object
            v.attributes = ev.wrap(real, source) if old else ev.keep(real, Dict(dict, real, source))
        elif v.cls.__dictoffset__ != 0:
            v.attributes = Dict()
        if v.attributes is not None and isinstance(v, Obj) and not isinstance(v.real, ModuleType):
            v.attributes.owner = weakref.ref(v)
    return v.attributes


def class_attribute(ev: E, v: Value, cls: type, name: str) -> tuple[Any, Any]:
    """What the class look-up finds (or MISSING), guarded, and its source."""
    raw = type_lookup(cls, name)
    literal = isinstance(v, Const) and not isinstance(v.value, Enum)
    source = None if literal else ev.class_source(ev.class_of(v), name)
    return raw, guarded(ev, raw, source)


def guarded(ev: E, raw: Any, source: Any) -> Any:
    if source is not None and is_descriptor(raw):
        ev.assume("ID", source, raw)
    return source


def comes_first(ev: E, raw: Any, source: Any) -> None:
    """An instance's own attribute, as long as its class has no property or the like."""
    if source is not None and not is_descriptor(raw):
        ev.assume("TYPE", source, type(raw))


def is_descriptor(raw: Any) -> bool:
    """Also nothing: what the class look-up answers must stay the same. (Functions and plain values
    are guarded when they are wrapped.)"""
    return raw is MISSING or (hasattr(type(raw), "__get__") and type(raw) is not FunctionType)


def getattr_(ev: E, v: Value, name: str) -> Value:
    """`v.name`; raises AttributeError into the program where there is none."""
    from . import torch_calls

    if isinstance(v, Tensor):
        return torch_calls.tensor_attribute(ev, v, name)
    if v.cls is super:
        return super_attribute(ev, v, name) if isinstance(v, Super) else refuse("a kept super()")
    if isinstance(v, Method) and type_lookup(v.cls, name) is MISSING:
        return getattr_(ev, v.function, name)
    if isinstance(v.real, ModuleType):
        return module_attribute(ev, v, name)
    if isinstance(v.real, type):
        return type_attribute(ev, v, name)
    try:
        return overridden(ev, v, "__getattribute__", Const(name)) or generic_attribute(ev, v, name)
    except Raised as raised:
        if not issubclass(raised.value.cls, AttributeError):
            raise
        absent = raised.value  # what was raised would keep its frames alive, and they it
    try:
        if (found := model.call_special(ev, v, "__getattr__", Const(name))) is not None:
            return found
        raise Raised(ev, absent)
    except Raised as raised:  # C notes what was asked for, and of what
        own = raised.value.fields
        if issubclass(raised.value.cls, AttributeError) and not {"name", "obj"} & own.keys():
            raised.value.is_new or refuse("an AttributeError from outside, on which C notes this")
            own |= {"name": Const(name), "obj": v}
        raise


def overridden(ev: E, v: Value, method: str, *args: Value) -> Value | None:
    """What a class that has the method in Python answers; None where it is C's own."""
    raw, _ = class_attribute(ev, v, v.cls, method)
    known = isinstance(v, Method) or generic(getattr(raw, "__objclass__", object))
    if method == "__getattribute__" and not known:
        refuse(f"an attribute of {describe(v)}, which C looks up in a way of its own")
    return model.call_special(ev, v, method, *args) if isinstance(raw, FunctionType) else None


def generic_attribute(ev: E, v: Value, name: str) -> Value:
    """object.__getattribute__"""
    raw, source = class_attribute(ev, v, v.cls, name)
    if source is not None and not trusted(type(raw).__module__):
        for method in ("__get__", "__set__", "__delete__"):  # what makes a descriptor of it
            found, at = class_attribute(ev, ev.wrap(raw, source), type(raw), method)
            found is MISSING or ev.wrap(found, at)
    first = is_data_descriptor(raw) and hasattr(type(raw), "__get__")
    if isinstance(v.real, Enum) and not first and name in vars(v.real):
        source = sources.Item(sources.OwnDict(sources.Const(v.real)), name)
        return ev.wrap(vars(v.real)[name], source)
    space = namespace(ev, v) if isinstance(v, Obj) and not first else None
    if space is not None and (found := space.get(ev, Const(name))) is not None:
        comes_first(ev, raw, source)
        return found
    if raw is MISSING:
        no_attribute(ev, v, name)
    return bind(ev, raw, source, v, ev.class_of(v), name)


def no_attribute(ev: E, v: Value, name: str) -> NoReturn:
    text = f"'{c_name(v.cls)}' object has no attribute '{name}'"
    raise Raised(ev, new_exception(AttributeError, text, name=Const(name), obj=v))


def is_data_descriptor(raw: Any) -> bool:
    return hasattr(type(raw), "__set__") or hasattr(type(raw), "__delete__")


METHOD_DESCRIPTORS = (type(list.append), type(int.__add__))
TUPLE_GETTER = type(vars(collections.namedtuple("_", "field"))["field"])
LRU_CACHE = type(functools.lru_cache(lambda: 0))


def bind(ev: E, raw: Any, source: Any, v: Value | None, owner: Value, name: str) -> Value:
    """What an attribute of the class `owner` gives for its instance `v`, or for the class."""
    kind = type(raw)
    if kind in (classmethod, staticmethod):
        source = field(source, "__func__")
        function = ev.wrap(raw.__func__, source)
        if kind is staticmethod:
            return function
        if isinstance(function, Function) or not hasattr(function.cls, "__get__"):
            return Method(function, owner)
        return bind(ev, raw.__func__, source, owner, owner, name)  # 3.13: refused
    if kind is ClassMethodDescriptorType:
        return Method(ev.wrap(raw, None), owner)
    getter = type_lookup(kind, "__get__")
    if getter is MISSING:
        return ev.wrap(raw, source)
    # None: __get__(None, ...) binds nothing
    if v and v.real is not None and kind in (FunctionType, LRU_CACHE, *METHOD_DESCRIPTORS):
        return Method(ev.wrap(raw, source), v)
    if v is not None and kind is property and raw.fget is not None:
        return model.call(ev, ev.wrap(raw.fget, field(source, "fget")), [v], {})
    if isinstance(v, Const):
        return ev.wrap(getattr(v.value, name), None)
    if isinstance(getter, FunctionType):
        return model.call_special(ev, ev.wrap(raw, source), "__get__", v or NONE, owner) or NONE
    if v is None:
        found = raw.__get__(None, owner.real)
        return ev.wrap(found, source if found is raw else None)
    if kind in (MemberDescriptorType, GetSetDescriptorType):
        return c_attribute(ev, cast(Obj, v), name)
    if kind is TUPLE_GETTER and isinstance(v, Tuple):
        return v.at(ev, raw.__reduce__()[1][0])
    return refuse(f"the descriptor {kind.__name__} behind .{name}")


def c_attribute(ev: E, v: Obj, name: str) -> Value:
    """Slots, and what C types keep outside of any dictionary."""
    if name == "__class__":
        return ev.class_of(v)
    if name == "__dict__":
        return namespace(ev, v) or refuse(f"{describe(v)}.__dict__")
    if name in v.fields:
        return v.fields[name]
    if (known := KEPT.get((type(v), name))) is not None:
        return cast(Value, getattr(v, known))
    if isinstance(v, Function) and name == "__closure__":
        return Tuple(v.closure) if v.closure else NONE
    if isinstance(v, Method) and name in ("__doc__", "__name__", "__qualname__"):
        return getattr_(ev, v.function, name)
    if isinstance(v, Cell):
        return v.get(ev) or refuse("an empty cell")
    if isinstance(v, Function) and name in OF_CODE:
        return ev.wrap(getattr(from_code(v) if v.is_new else v.real, name), field(v.source, name))
    fields = getattr(v.cls, "__match_args__", ())
    if isinstance(v, Tuple) and v.real is ABSENT and name in fields:  # torch.return_types
        return v.at(ev, fields.index(name))
    if isinstance(v.real, BaseException):
        refuse("attributes of an exception from outside")
    if v.real is not ABSENT:
        try:
            real = model.attempt(ev, object.__getattribute__, v.real, name)
        except Raised:  # of which no guard would tell
            refuse(f"an empty slot {name} of an object from outside")
        user = isinstance(type_lookup(v.cls, name), MemberDescriptorType)
        source = v.source and (sources.Slot if user else sources.Field)(v.source, name)
        v.fields[name] = ev.wrap(real, source)
        return v.fields[name]
    if issubclass(v.cls, BaseException) and name in EXCEPTION_FIELDS:
        return EXCEPTION_FIELDS[name]
    if issubclass(v.cls, StopIteration) and name == "value":
        return model.stop_value(ev, v)
    if trusted(type_lookup(v.cls, name).__objclass__.__module__):
        refuse(f"{describe(v)}.{name}")
    no_attribute(ev, v, name)  # an empty slot


TRACEBACK = Obj(TracebackType)  # there is one, of frames that only Python's own run would have
EXCEPTION_FIELDS: dict[str, Value] = dict.fromkeys(("__cause__", "__context__"), NONE)
EXCEPTION_FIELDS |= {"__suppress_context__": FALSE, "__traceback__": TRACEBACK}


OF_CODE = ("__name__", "__qualname__", "__code__", "__doc__", "__module__")


def from_code(f: Function) -> FunctionType:
    """A function that has what `f`, made by evaluated code, has from its code and module."""
    cells = tuple(CellType() for _ in f.code.co_freevars)
    return FunctionType(f.code, {"__name__": f.globals.real.get("__name__")}, closure=cells)


# C-level fields that a value keeps under a name of its own.
KEPT: Any = {(Function, f"__{name}__"): name for name in ("defaults", "kwdefaults", "globals")}
KEPT |= {(Method, "__func__"): "function", (Method, "__self__"): "self_value"}


def module_attribute(ev: E, v: Any, name: str) -> Value:
    space = namespace(ev, v)
    if space is not None and (found := space.get(ev, Const(name))) is not None:
        return found
    real = model.attempt(ev, getattr, v.real, name)  # a lazy module imports it now
    if not is_fixed(real) and not isinstance(real, FunctionType):
        refuse(f"the module {v.real.__name__} computes its attribute {name}")
    return ev.wrap(real, None)


def type_attribute(ev: E, v: Value, name: str) -> Value:
    """type.__getattribute__: metaclass, then the class and its bases."""
    if name == "__dict__" or type(type_lookup(v.cls, "__getattribute__")) is FunctionType:
        refuse(f"{v.real.__name__}.{name}")
    meta, raw = type_lookup(type(v.real), name), type_lookup(v.real, name)
    if not is_data_descriptor(meta) or not hasattr(type(meta), "__get__"):
        source = guarded(ev, raw, ev.class_source(v, name))
        if raw is not MISSING:
            return bind(ev, raw, source, None, v, name)
    of = ev.class_of(v)
    source = guarded(ev, meta, ev.class_source(of, name))
    if type(meta) in (property, FunctionType, *METHOD_DESCRIPTORS) or not is_descriptor(meta):
        return bind(ev, meta, source, v, of, name)
    if meta is MISSING and (found := overridden(ev, v, "__getattr__", Const(name))) is not None:
        return found
    of_class: Any = ev.class_source(v, name)
    read_again = of_class and field(of_class.of, name)
    return ev.wrap(model.attempt(ev, getattr, v.real, name), read_again)


def super_attribute(ev: E, v: Super, name: str) -> Value:
    of, start = v.of, v.start.real
    if name == "__class__":
        return ev.wrap(super, None)  # what super() says of itself
    is_class = isinstance(of.real, type) and issubclass(of.real, start)
    owner = of if is_class else ev.class_of(of)
    mro = owner.real.__mro__
    for i in range(mro.index(start) + 1, len(mro)):
        source: Any = None
        if owner.source is not None and not trusted(mro[i].__module__):
            table = sources.ClassDict(sources.Item(sources.Mro(owner.source), i))
            source = sources.Item(table, name)
            if name not in vars(mro[i]):
                ev.assume("HAS_KEY", table, (name, False))
        if name in vars(mro[i]):
            raw = vars(mro[i])[name]
            return bind(ev, raw, guarded(ev, raw, source), None if is_class else of, owner, name)
    ev.throw(AttributeError, f"'super' object has no attribute '{name}'")


def setattr_(ev: E, v: Value, name: str, value: Value) -> None:
    if overridden(ev, v, "__setattr__", Const(name), value) is None:
        generic_setattr(ev, v, name, value)


def generic_setattr(ev: E, v: Value, name: str, value: Value) -> None:
    """object.__setattr__"""
    if not isinstance(v, Obj) or isinstance(v.real, type):
        refuse(f"sets the attribute {name} of {describe(v)}")
    raw, source = class_attribute(ev, v, v.cls, name)
    setter = type_lookup(type(raw), "__set__")
    slot = isinstance(raw, MemberDescriptorType) and "__slots__" in vars(raw.__objclass__)
    factory = raw is vars(collections.defaultdict)["default_factory"]
    plain = name in EXCEPTION_FIELDS and name != "__cause__"  # which writes another one
    kept = slot or factory or (plain and issubclass(v.cls, BaseException))  # the rest may be fixed
    if not is_data_descriptor(raw):
        space = namespace(ev, v)
        if space is None:
            refuse(f"sets the attribute {name} of {describe(v)}, which has no dictionary")
        comes_first(ev, raw, source)
        space.set(ev, Const(name), value)
    elif isinstance(raw, property) and raw.fset is not None:
        model.call(ev, ev.wrap(raw.fset, field(source, "fset")), [v, value], {})
    elif isinstance(setter, FunctionType):
        model.call_special(ev, ev.wrap(raw, source), "__set__", v, value)
    elif isinstance(v, Cell) and name == "cell_contents":
        v.set(ev, value)
    elif kept or (isinstance(v, Function) and name in WRAPPED_FIELDS):
        ev.effects.touch(v)
        v.fields[name] = value
        v.written[name] = None
    else:
        refuse(f"sets the attribute {name} of {describe(v)}")


WRAPPED_FIELDS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")


def delattr_(ev: E, v: Value, name: str) -> None:
    if overridden(ev, v, "__delattr__", Const(name)) is None:
        generic_delattr(ev, v, name)


def generic_delattr(ev: E, v: Value, name: str) -> None:
    space = namespace(ev, v) if isinstance(v, Obj) and not isinstance(v.real, type) else None
    if space is None or is_data_descriptor(type_lookup(v.cls, name)):
        refuse(f"deletes the attribute {name} of {describe(v)}")
    if not space.delete(ev, Const(name)):
        no_attribute(ev, v, name)

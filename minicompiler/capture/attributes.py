"""Attribute look-up on values, as `object`, `type`, `super` and modules do it."""

# ruff: noqa: I001  (imports fill their lines)

import collections
import functools
from collections.abc import Callable
from types import ClassMethodDescriptorType, FunctionType, GetSetDescriptorType
from types import MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any

from . import data_model as model
from . import source as sources
from .frame_hook import MISSING, own_dict, type_lookup
from .source import field
from .values import ABSENT, FALSE, NONE, Cell, Const, Dict, Function, Method, Obj, Raised, Slice
from .values import Super, Tensor, Tuple, Value, describe, new_exception, refuse, trusted

if TYPE_CHECKING:
    from .evaluator import Evaluation


def namespace(ev: "Evaluation", v: Obj | Tensor) -> Dict | None:
    """The instance dictionary as a value, shared with `v.__dict__`."""
    if v.attributes is None:
        if v.real is not ABSENT:
            try:
                real = v.real.__dict__ if isinstance(v.real, ModuleType) else own_dict(v.real)
            except AttributeError:
                return None
            if isinstance(v.real, ModuleType):
                v.attributes = ev.globals_of(real, None if v.source is None else v.source)
            else:
                source = None if v.source is None else sources.OwnDict(v.source)
                v.attributes = Dict(dict, real, source, unread=real)
                ev.memo[id(real)] = v.attributes
                ev.kept.append(real)
        elif v.cls.__dictoffset__ != 0:
            v.attributes = Dict()
        if v.attributes is not None and isinstance(v, Obj):
            v.attributes.owner = v
    found: Dict | None = v.attributes
    return found


def class_attribute(ev: "Evaluation", v: Value, cls: type, name: str) -> tuple[Any, Any]:
    """What the class look-up finds (or MISSING), guarded, and its source."""
    raw = type_lookup(cls, name)
    source = ev.class_attr_source(v, cls, name)
    if source is not None and is_descriptor(raw):
        ev.assume("ID", source, raw)
    return raw, source


def is_descriptor(raw: Any) -> bool:
    """Also nothing: what the class look-up answers must stay the same. (Functions and plain values
    are guarded when they are wrapped.)"""
    return raw is MISSING or (hasattr(type(raw), "__get__") and type(raw) is not FunctionType)


def getattr_(ev: "Evaluation", v: Value, name: str) -> Value:
    """`v.name`; raises AttributeError into the program where there is none."""
    from . import torch_calls

    if isinstance(v, Tensor):
        return torch_calls.tensor_attribute(ev, v, name)
    if isinstance(v, Super):
        return super_attribute(ev, v, name)
    if isinstance(v, Obj) and v.real is not ABSENT:
        if isinstance(v.real, ModuleType):
            return module_attribute(ev, v, name)
        if isinstance(v.real, type):
            return type_attribute(ev, v, name)
    custom = type_lookup(v.cls, "__getattribute__")
    try:
        if isinstance(custom, FunctionType):
            return model.call(ev, ev.wrap(custom, None), [v, Const(name)], {})
        return generic_attribute(ev, v, name)
    except Raised as raised:
        fallback = type_lookup(v.cls, "__getattr__")
        if not issubclass(raised.value.cls, AttributeError):
            raise
        _, source = class_attribute(ev, v, v.cls, "__getattr__")
        if fallback is MISSING:
            raise
        return model.call(ev, ev.wrap(fallback, source), [v, Const(name)], {})


def generic_attribute(ev: "Evaluation", v: Value, name: str) -> Value:
    """object.__getattribute__"""
    raw, source = class_attribute(ev, v, v.cls, name)
    if raw is not MISSING and is_data_descriptor(raw):
        return bind(ev, raw, source, v, name)
    if isinstance(v, Obj):
        space = namespace(ev, v)
        if space is not None and (found := space.get(ev, Const(name))) is not None:
            return found
    if raw is not MISSING:
        return bind(ev, raw, source, v, name)
    message = f"'{v.cls.__name__}' object has no attribute '{name}'"
    error = new_exception(AttributeError, message)
    error.fields["name"], error.fields["obj"] = Const(name), v
    raise Raised(error, ev.at, ev.where())


def is_data_descriptor(raw: Any) -> bool:
    cls = type(raw)
    return hasattr(cls, "__set__") or hasattr(cls, "__delete__")


def bind(ev: "Evaluation", raw: Any, source: Any, v: Value, name: str) -> Value:
    """What a descriptor found on the class of `v` gives for `v`."""
    kind = type(raw)
    if kind is FunctionType:
        return Method(ev.wrap(raw, source), v)
    if kind is classmethod:
        return Method(ev.wrap(raw.__func__, field(source, "__func__")), ev.class_of(v))
    if kind is staticmethod:
        return ev.wrap(raw.__func__, field(source, "__func__"))
    if kind is property:
        if raw.fget is None:
            refuse(f"the property {name} has no getter")
        return model.call(ev, ev.wrap(raw.fget, field(source, "fget")), [v], {})
    if kind in (MemberDescriptorType, GetSetDescriptorType):
        return c_attribute(ev, v, name)
    if kind in METHOD_DESCRIPTORS:
        return Method(ev.wrap(raw, None), v)
    if kind is TUPLE_GETTER and isinstance(v, Tuple):
        return v.at(ev, raw.__reduce__()[1][0])
    if kind is LRU_CACHE:
        return Method(ev.wrap(raw, source), v)
    getter = type_lookup(kind, "__get__")
    if getter is MISSING:
        return ev.wrap(raw, source)
    if isinstance(v, Const):
        return ev.wrap(getattr(v.value, name), None)
    if isinstance(getter, FunctionType):
        return model.call(ev, ev.wrap(getter, None), [ev.wrap(raw, source), v, ev.class_of(v)], {})
    if kind is ClassMethodDescriptorType:
        return Method(ev.wrap(raw, None), ev.class_of(v))
    return refuse(f"the descriptor {kind.__name__} behind .{name}")


TUPLE_GETTER = type(vars(collections.namedtuple("_", "field"))["field"])
LRU_CACHE = type(functools.lru_cache(lambda: 0))
METHOD_DESCRIPTORS = (type(list.append), type(int.__add__))


def c_attribute(ev: "Evaluation", v: Value, name: str) -> Value:
    """Slots, and what C types keep outside of any dictionary."""
    if isinstance(v, Const):
        return ev.wrap(getattr(v.value, name), None)
    assert isinstance(v, Obj)
    if name == "__class__":
        return ev.class_of(v)
    if name == "__dict__":
        found = namespace(ev, v)
        return found if found is not None else refuse(f"{describe(v)}.__dict__")
    if name in v.fields:
        return v.fields[name]
    if isinstance(v, Function | Method) and name in FUNCTION_FIELDS:
        return FUNCTION_FIELDS[name](ev, v)
    if isinstance(v, Cell) and name == "cell_contents":
        return v.get(ev) or refuse("an empty cell")
    if isinstance(v, Slice) and name in ("start", "stop", "step"):
        return v.parts[("start", "stop", "step").index(name)]
    fields = getattr(v.cls, "__match_args__", ())
    if isinstance(v, Tuple) and v.real is ABSENT and name in fields:  # torch.return_types
        return v.at(ev, fields.index(name))
    if isinstance(v.real, BaseException):
        refuse("attributes of an exception from outside")
    if v.real is not ABSENT:
        try:
            real = object.__getattribute__(v.real, name)
        except AttributeError as error:
            ev.throw(AttributeError, *error.args)
        user = isinstance(type_lookup(v.cls, name), MemberDescriptorType)
        source = v.source and (sources.Slot if user else sources.Field)(v.source, name)
        found_value = v.fields[name] = ev.wrap(real, source)
        return found_value
    if issubclass(v.cls, BaseException):
        if name in ("__cause__", "__context__", "__traceback__"):
            return NONE
        if name == "__suppress_context__":
            return FALSE
        args = v.fields["args"]
        if name == "value" and isinstance(args, Tuple):  # StopIteration
            return args.at(ev, 0) if len(args) else NONE
    message = f"'{v.cls.__name__}' object has no attribute '{name}'"
    ev.throw(AttributeError, message)


FUNCTION_FIELDS: dict[str, Callable[["Evaluation", Any], Value]] = {
    "__name__": lambda ev, f: Const(function_name(f).rpartition(".")[2]),
    "__qualname__": lambda ev, f: Const(function_name(f)),
    "__defaults__": lambda ev, f: f.defaults,
    "__kwdefaults__": lambda ev, f: f.kwdefaults,
    "__code__": lambda ev, f: ev.wrap(f.code, None),
    "__globals__": lambda ev, f: f.globals,
    "__closure__": lambda ev, f: Tuple(f.closure) if f.closure else NONE,
    "__func__": lambda ev, m: m.function,
    "__self__": lambda ev, m: m.self_value,
    "__doc__": lambda ev, f: Const(f.real.__doc__ if f.real is not ABSENT else None),
    "__module__": lambda ev, f: Const(getattr(f.real, "__module__", None)),
}


def function_name(f: Function | Method) -> str:
    if isinstance(f, Method):
        return function_name(f.function) if isinstance(f.function, Function) else "method"
    if "__qualname__" in f.fields or "__name__" in f.fields:
        refuse("the name of a renamed function")
    return f.name


def module_attribute(ev: "Evaluation", v: Obj, name: str) -> Value:
    space = namespace(ev, v)
    assert space is not None
    if (found := space.get(ev, Const(name))) is not None:
        return found
    try:
        real = getattr(v.real, name)  # a lazy module imports it now
    except AttributeError as error:
        ev.throw(AttributeError, *error.args)
    if not isinstance(real, type | ModuleType | FunctionType):
        refuse(f"the module {v.real.__name__} computes its attribute {name}")
    return ev.wrap(real, None)


def type_attribute(ev: "Evaluation", v: Obj, name: str) -> Value:
    """type.__getattribute__: metaclass, then the class and its bases."""
    cls = v.real
    meta = type_lookup(type(cls), name)
    if name == "__dict__":
        return refuse(f"{cls.__name__}.__dict__")
    if meta is not MISSING and is_data_descriptor(meta):
        if isinstance(meta, property) and isinstance(meta.fget, FunctionType):
            return model.call(ev, ev.wrap(meta.fget, None), [v], {})
        return ev.wrap(getattr(cls, name), None)
    raw = type_lookup(cls, name)
    source = ev.class_source(v, name)
    if raw is not MISSING:
        if source is not None and is_descriptor(raw):
            ev.assume("ID", source, raw)
        kind = type(raw)
        if kind is classmethod:
            return Method(ev.wrap(raw.__func__, field(source, "__func__")), v)
        if kind is staticmethod:
            return ev.wrap(raw.__func__, field(source, "__func__"))
        if isinstance(raw, ClassMethodDescriptorType):
            return Method(ev.wrap(raw, None), v)
        if name == "__new__" or not hasattr(kind, "__get__") or kind is FunctionType:
            return ev.wrap(raw, source)
        found = getattr(cls, name)
        getter = type_lookup(kind, "__get__")
        if isinstance(getter, FunctionType) and found is not raw:
            return model.call(ev, ev.wrap(getter, None), [ev.wrap(raw, source), NONE, v], {})
        return ev.wrap(found, source if found is raw else None)
    if meta is not MISSING:
        if type(meta) in (FunctionType, *METHOD_DESCRIPTORS):
            return Method(ev.wrap(meta, None), v)
        return ev.wrap(getattr(cls, name), None)
    try:
        return ev.wrap(getattr(cls, name), None)  # members of an enum, on old Pythons
    except AttributeError as error:
        ev.throw(AttributeError, *error.args)


def super_attribute(ev: "Evaluation", v: Super, name: str) -> Value:
    of = v.of
    is_class = isinstance(of, Obj) and isinstance(of.real, type)
    start = v.start.real
    is_class = is_class and issubclass(of.real, start)
    mro = list((of.real if is_class else of.cls).__mro__)
    owner = of if is_class else ev.class_of(of)
    for i, base in list(enumerate(mro))[mro.index(start) + 1 :]:
        source: Any = None
        if owner.source is not None and not trusted(base.__module__):
            table = sources.ClassDict(sources.Item(sources.Mro(owner.source), i))
            source = sources.Item(table, name)
            if name not in vars(base):
                ev.assume("HAS_KEY", table, (name, False))
        if name not in vars(base):
            continue
        raw = vars(base)[name]
        if source is not None and is_descriptor(raw):
            ev.assume("ID", source, raw)
        if is_class and type(raw) is FunctionType:
            return ev.wrap(raw, source)
        if is_class and type(raw) is classmethod:
            return Method(ev.wrap(raw.__func__, None), of)
        if name == "__new__":
            return ev.wrap(raw.__func__ if type(raw) is staticmethod else raw, None)
        return bind(ev, raw, source, of, name)
    ev.throw(AttributeError, f"'super' object has no attribute '{name}'")


def setattr_(ev: "Evaluation", v: Value, name: str, value: Value) -> None:
    if isinstance(v, Obj) and not isinstance(v.real, ModuleType | type):
        custom = type_lookup(v.cls, "__setattr__")
        if isinstance(custom, FunctionType):
            _, source = class_attribute(ev, v, v.cls, "__setattr__")
            model.call(ev, ev.wrap(custom, source), [v, Const(name), value], {})
            return
    generic_setattr(ev, v, name, value)


def generic_setattr(ev: "Evaluation", v: Value, name: str, value: Value) -> None:
    """object.__setattr__"""
    if not isinstance(v, Obj) or isinstance(v.real, type):
        refuse(f"sets the attribute {name} of {describe(v)}")
    raw = MISSING
    if not isinstance(v.real, ModuleType):
        raw, source = class_attribute(ev, v, v.cls, name)
    if raw is not MISSING and is_data_descriptor(raw):
        setter = type_lookup(type(raw), "__set__")
        if isinstance(raw, property):
            if raw.fset is None:
                refuse(f"the property {name} has no setter")
            model.call(ev, ev.wrap(raw.fset, field(source, "fset")), [v, value], {})
        elif isinstance(setter, FunctionType):
            model.call(ev, ev.wrap(setter, None), [ev.wrap(raw, source), v, value], {})
        elif (
            isinstance(raw, MemberDescriptorType)
            or issubclass(v.cls, BaseException)
            or isinstance(v, Function)
            and name in WRAPPED_FIELDS
        ):
            set_field(ev, v, name, value)
        elif isinstance(v, Cell) and name == "cell_contents":
            v.set(ev, value)
        else:
            refuse(f"sets the attribute {name} of {describe(v)}")
        return
    space = namespace(ev, v)
    if space is None:
        message = f"'{v.cls.__name__}' object has no attribute '{name}'"
        ev.throw(AttributeError, message)
    space.set(ev, Const(name), value)


WRAPPED_FIELDS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")


def set_field(ev: "Evaluation", v: Obj, name: str, value: Value) -> None:
    ev.effects.touch(v)
    v.fields[name] = value
    v.written[name] = None


def delattr_(ev: "Evaluation", v: Value, name: str) -> None:
    custom = type_lookup(v.cls, "__delattr__")
    if isinstance(custom, FunctionType):
        model.call(ev, ev.wrap(custom, None), [v, Const(name)], {})
        return
    generic_delattr(ev, v, name)


def generic_delattr(ev: "Evaluation", v: Value, name: str) -> None:
    space = namespace(ev, v) if isinstance(v, Obj) and not isinstance(v.real, type) else None
    if space is None or is_data_descriptor(type_lookup(v.cls, name)):
        refuse(f"deletes the attribute {name} of {describe(v)}")
    if not space.delete(ev, Const(name)):
        ev.throw(AttributeError, f"'{v.cls.__name__}' object has no attribute '{name}'")

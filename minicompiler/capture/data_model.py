"""Python's data model on values: attribute look-up, calls, operators, iteration.

Special methods are looked up on the class and called like any other function; what builtin classes
do is in the tables of `builtins_table` (by the real function or slot), so that subclasses, `super()`
and direct calls such as `list.append(x, 1)` all take the same way.
"""

import collections
import functools
import operator
from collections.abc import Callable
from types import ClassMethodDescriptorType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any

from . import source as sources
from .frame_hook import MISSING, own_dict, type_lookup
from .values import (
    ABSENT,
    FALSE,
    NONE,
    TRUE,
    Cell,
    Const,
    Dict,
    Function,
    Generator,
    Iterator,
    Method,
    Obj,
    Raised,
    Sequence,
    Set,
    Slice,
    Super,
    Tensor,
    Tuple,
    Value,
    View,
    constant,
    constant_iterator,
    describe,
    is_fixed,
    new_exception,
    python_value,
    refuse,
    sequence_iterator,
    snapshot_iterator,
)

if TYPE_CHECKING:
    from .evaluator import Evaluation

BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "+": (operator.add, "add"),
    "-": (operator.sub, "sub"),
    "*": (operator.mul, "mul"),
    "/": (operator.truediv, "truediv"),
    "//": (operator.floordiv, "floordiv"),
    "%": (operator.mod, "mod"),
    "**": (operator.pow, "pow"),
    "@": (operator.matmul, "matmul"),
    "&": (operator.and_, "and"),
    "|": (operator.or_, "or"),
    "^": (operator.xor, "xor"),
    "<<": (operator.lshift, "lshift"),
    ">>": (operator.rshift, "rshift"),
}
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    symbol: getattr(operator, f"i{name}") for symbol, (_, name) in BINARY.items()
}
COMPARE: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}


# ---------------------------------------------------------------- attributes
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
            return call(ev, ev.wrap(custom, None), [v, Const(name)], {})
        return generic_attribute(ev, v, name)
    except Raised as raised:
        fallback = type_lookup(v.cls, "__getattr__")
        if not issubclass(raised.value.cls, AttributeError) or fallback is MISSING:
            raise
        _, source = class_attribute(ev, v, v.cls, "__getattr__")
        return call(ev, ev.wrap(fallback, source), [v, Const(name)], {})


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
        return bind_class(ev, ev.wrap(raw.__func__, field(source, "__func__")), ev.class_of(v))
    if kind is staticmethod:
        return ev.wrap(raw.__func__, field(source, "__func__"))
    if kind is property:
        if raw.fget is None:
            refuse(f"the property {name} has no getter")
        return call(ev, ev.wrap(raw.fget, field(source, "fget")), [v], {})
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
        return call(ev, ev.wrap(getter, None), [ev.wrap(raw, source), v, ev.class_of(v)], {})
    if kind is ClassMethodDescriptorType:
        return Method(ev.wrap(raw, None), ev.class_of(v))
    return refuse(f"the descriptor {kind.__name__} behind .{name}")


TUPLE_GETTER = type(vars(collections.namedtuple("_", "field"))["field"])
LRU_CACHE = type(functools.lru_cache(lambda: 0))
METHOD_DESCRIPTORS = (type(list.append), type(int.__add__))


def bind_class(ev: "Evaluation", function: Value, cls: Value) -> Value:
    return Method(function, cls)


def field(source: Any, name: str) -> Any:
    return None if source is None else sources.Field(source, name)


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
    if isinstance(v, Tuple) and v.real is ABSENT:  # torch.return_types: fields by position
        for i in range(len(v)):
            if (
                getattr(v.cls, name, None) is MEMBERS(v.cls).get(name)
                and field_at(v.cls, name) == i
            ):
                return v.at(ev, i)
    if isinstance(v.real, BaseException):
        refuse("attributes of an exception from outside")
    if v.real is not ABSENT:
        try:
            real = object.__getattribute__(v.real, name)
        except AttributeError as error:
            return ev.throw(AttributeError, *error.args)
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
    return ev.throw(AttributeError, message)


def MEMBERS(cls: type) -> dict[str, Any]:
    return {k: x for k, x in vars(cls).items() if isinstance(x, MemberDescriptorType)}


def field_at(cls: type, name: str) -> int:
    names = list(MEMBERS(cls))
    return names.index(name) if name in names else -1


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
        return ev.throw(AttributeError, *error.args)
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
            return call(ev, ev.wrap(meta.fget, None), [v], {})
        return ev.wrap(getattr(cls, name), None)
    raw = type_lookup(cls, name)
    source = ev.class_source(v, name)
    if raw is not MISSING:
        if source is not None and is_descriptor(raw):
            ev.assume("ID", source, raw)
        kind = type(raw)
        if kind is classmethod:
            return bind_class(ev, ev.wrap(raw.__func__, field(source, "__func__")), v)
        if kind is staticmethod:
            return ev.wrap(raw.__func__, field(source, "__func__"))
        if isinstance(raw, ClassMethodDescriptorType):
            return Method(ev.wrap(raw, None), v)
        if name == "__new__" or not hasattr(kind, "__get__") or kind is FunctionType:
            return ev.wrap(raw, source)
        found = getattr(cls, name)
        getter = type_lookup(kind, "__get__")
        if isinstance(getter, FunctionType) and found is not raw:
            return call(ev, ev.wrap(getter, None), [ev.wrap(raw, source), NONE, v], {})
        return ev.wrap(found, source if found is raw else None)
    if meta is not MISSING:
        if isinstance(meta, FunctionType):
            return Method(ev.wrap(meta, None), v)
        if type(meta) in METHOD_DESCRIPTORS:
            return Method(ev.wrap(meta, None), v)
        return ev.wrap(getattr(cls, name), None)
    try:
        return ev.wrap(getattr(cls, name), None)  # members of an enum, on old Pythons
    except AttributeError as error:
        return ev.throw(AttributeError, *error.args)


def super_attribute(ev: "Evaluation", v: Super, name: str) -> Value:
    of = v.of
    is_class = isinstance(of, Obj) and isinstance(of.real, type)
    start = v.start.real
    is_class = is_class and issubclass(of.real, start)
    mro = list((of.real if is_class else of.cls).__mro__)
    for base in mro[mro.index(start) + 1 :]:
        if name not in vars(base):
            continue
        raw = vars(base)[name]
        source = ev.class_source(ev.wrap(base, None), name)
        if is_class and type(raw) is FunctionType:
            return ev.wrap(raw, source)
        if is_class and type(raw) is classmethod:
            return bind_class(ev, ev.wrap(raw.__func__, None), of)
        if name == "__new__":
            return ev.wrap(raw.__func__ if type(raw) is staticmethod else raw, None)
        return bind(ev, raw, source, of, name)
    return ev.throw(AttributeError, f"'super' object has no attribute '{name}'")


def setattr_(ev: "Evaluation", v: Value, name: str, value: Value) -> None:
    if isinstance(v, Obj) and not isinstance(v.real, ModuleType | type):
        custom = type_lookup(v.cls, "__setattr__")
        if isinstance(custom, FunctionType):
            _, source = class_attribute(ev, v, v.cls, "__setattr__")
            call(ev, ev.wrap(custom, source), [v, Const(name), value], {})
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
            call(ev, ev.wrap(raw.fset, field(source, "fset")), [v, value], {})
        elif isinstance(setter, FunctionType):
            call(ev, ev.wrap(setter, None), [ev.wrap(raw, source), v, value], {})
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
    assert space is not None
    space.set(ev, Const(name), value)


WRAPPED_FIELDS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")


def set_field(ev: "Evaluation", v: Obj, name: str, value: Value) -> None:
    ev.effects.touch(v)
    v.fields[name] = value
    v.written[name] = None


def delattr_(ev: "Evaluation", v: Value, name: str) -> None:
    custom = type_lookup(v.cls, "__delattr__")
    if isinstance(custom, FunctionType):
        call(ev, ev.wrap(custom, None), [v, Const(name)], {})
        return
    generic_delattr(ev, v, name)


def generic_delattr(ev: "Evaluation", v: Value, name: str) -> None:
    space = namespace(ev, v) if isinstance(v, Obj) and not isinstance(v.real, type) else None
    if space is None or is_data_descriptor(type_lookup(v.cls, name)):
        refuse(f"deletes the attribute {name} of {describe(v)}")
    if not space.delete(ev, Const(name)):
        ev.throw(AttributeError, f"'{v.cls.__name__}' object has no attribute '{name}'")


# ---------------------------------------------------------------- calls
def special(ev: "Evaluation", v: Value, name: str) -> Value | None:
    """A special method bound to `v`, looked up on the class only."""
    raw, source = class_attribute(ev, v, v.cls, name)
    if raw is MISSING or raw is None:
        return None
    return bind(ev, raw, source, v, name)


def call_special(ev: "Evaluation", v: Value, name: str, *args: Value) -> Value | None:
    """None where the class has no such method."""
    found = special(ev, v, name)
    return None if found is None else call(ev, found, list(args), {})


def call_method(ev: "Evaluation", v: Value, name: str, *args: Value) -> Value:
    return call(ev, getattr_(ev, v, name), list(args), {})


def call(ev: "Evaluation", fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from . import calls

    return calls.call(ev, fn, args, kwargs)


# ---------------------------------------------------------------- operators
def fold(ev: "Evaluation", fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    """Run a pure function on Python objects; what it raises, the program raises."""
    try:
        result = fn(*args, **kwargs)
    except Exception as error:
        made = new_exception(type(error), *[ev.wrap(a, None) for a in error.args])
        raise Raised(made, ev.at, ev.where()) from None
    return ev.wrap_fresh(result)


def unary(ev: "Evaluation", op: Callable[[Any], Any], method: str, v: Value) -> Value:
    if isinstance(v, Tensor):
        return ev.graph.call(ev, op, [v])
    if isinstance(v, Const):
        return fold(ev, op, v.value)
    found = call_special(ev, v, method)
    return found if found is not None else refuse(f"bad operand type for unary {method}")


def binary(ev: "Evaluation", symbol: str, a: Value, b: Value, inplace: bool = False) -> Value:
    op, name = BINARY[symbol]
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        other = b if isinstance(a, Tensor) else a
        if isinstance(other, Tensor | Const) or special(ev, other, f"__r{name}__") is None:
            if not (isinstance(other, Sequence) and symbol in "+*%"):
                target = INPLACE[symbol] if inplace and isinstance(a, Tensor) else op
                return ev.graph.call(ev, target, [a, b])
    if isinstance(a, Const) and isinstance(b, Const):
        return fold(ev, op, a.value, b.value)
    if isinstance(a, Const) and isinstance(a.value, str | bytes) and symbol == "%":
        return fold(ev, op, a.value, printable(ev, b))
    tries = [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
    if issubclass(b.cls, a.cls) and b.cls is not a.cls:
        if type_lookup(b.cls, f"__r{name}__") is not type_lookup(a.cls, f"__r{name}__"):
            tries.reverse()
    if b.cls is a.cls:
        del tries[1]
    if inplace:
        tries.insert(0, (a, f"__i{name}__", b))
    for of, method, other in tries:
        if isinstance(of, Tensor):
            continue
        if isinstance(of, Const) and type(type_lookup(of.cls, method)) is not FunctionType:
            continue  # a literal's own operator knows literals only
        found = call_special(ev, of, method, other)
        if found is not None and not is_not_implemented(found):
            return found
    ev.throw(
        TypeError,
        f"unsupported operand type(s) for {symbol}{'=' if inplace else ''}: "
        f"'{a.cls.__name__}' and '{b.cls.__name__}'",
    )
    raise AssertionError


def is_not_implemented(v: Value) -> bool:
    return isinstance(v, Const) and v.value is NotImplemented


def python_of(ev: "Evaluation", v: Value) -> Any:
    """`v`, read to the bottom, as a fresh Python object; ABSENT if it holds more than constants."""
    read_all(ev, v)
    return constant(v)


def read_all(ev: "Evaluation", v: Value) -> None:
    if isinstance(v, Sequence):
        for item in v.read(ev):
            read_all(ev, item)
    elif isinstance(v, Dict):
        for item in v.values(ev):
            read_all(ev, item)


def printable(ev: "Evaluation", v: Value) -> Any:
    """The right side of `str % ...`: constants only."""
    found = python_of(ev, v)
    return refuse(f"formats {describe(v)}") if found is ABSENT else found


def compare(ev: "Evaluation", symbol: str, a: Value, b: Value) -> Value:
    op, method, reflected = COMPARE[symbol]
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        other = b if isinstance(a, Tensor) else a
        if isinstance(other, Tensor | Const) and getattr(other, "value", 0) is not None:
            return ev.graph.call(ev, op, [a, b])
        if symbol in ("==", "!="):  # Tensor.__eq__ of something strange is False
            return FALSE if symbol == "==" else TRUE
        refuse(f"compares a tensor with {describe(other)}")
    if isinstance(a, Const) and isinstance(b, Const):
        return fold(ev, op, a.value, b.value)
    tries = [(a, method, b), (b, reflected, a)]
    if issubclass(b.cls, a.cls) and b.cls is not a.cls:
        tries.reverse()
    for of, name, other in tries:
        if isinstance(of, Const) and type(type_lookup(of.cls, name)) is not FunctionType:
            continue
        found = call_special(ev, of, name, other)
        if found is not None and not is_not_implemented(found):
            return found
    if symbol in ("==", "!="):
        return TRUE if identical(ev, a, b) == (symbol == "==") else FALSE
    ev.throw(
        TypeError,
        f"'{symbol}' not supported between instances of '{a.cls.__name__}' and '{b.cls.__name__}'",
    )
    raise AssertionError


def identical(ev: "Evaluation", a: Value, b: Value) -> bool:
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return a.value is b.value
    if isinstance(a, Method) or isinstance(b, Method):
        return False
    if a.source is not None and b.source is not None and a.cls is b.cls:
        if a.real is not ABSENT and b.real is not ABSENT and not is_fixed(a.real):
            ev.assume("NOT_ALIASED", a.source, b.source)
    return a.real is not ABSENT and a.real is b.real


def truth(ev: "Evaluation", v: Value) -> bool:
    if isinstance(v, Const):
        return bool(v.value)
    if isinstance(v, Tensor):
        refuse("branches on the value of a tensor", "use torch.where, or move the branch outside")
    if (found := call_special(ev, v, "__bool__")) is not None:
        return bool(python_value(found))
    if isinstance(v, Obj) and type_lookup(v.cls, "__len__") is not MISSING:
        return length(ev, v) != 0
    return True


def length(ev: "Evaluation", v: Value) -> int:
    if isinstance(v, Tensor):
        if v.fake.ndim == 0:
            ev.throw(TypeError, "len() of a 0-d tensor")
        return int(v.fake.shape[0])
    if isinstance(v, Const):
        return int(python_value(fold(ev, len, v.value)))
    found = call_special(ev, v, "__len__")
    if found is None:
        ev.throw(TypeError, f"object of type '{v.cls.__name__}' has no len()")
    assert found is not None
    return int(python_value(found))


def contains(ev: "Evaluation", of: Value, item: Value) -> bool:
    if isinstance(of, Const):
        if isinstance(item, Const):
            return bool(python_value(fold(ev, operator.contains, of.value, item.value)))
        refuse(f"{describe(item)} in {describe(of)}")
    if isinstance(of, Tensor):
        refuse("`in` on a tensor depends on its data")
    if (found := call_special(ev, of, "__contains__", item)) is not None:
        return truth(ev, found)
    return any(truth(ev, compare(ev, "==", i, item)) for i in unpack(ev, of))


def getitem(ev: "Evaluation", of: Value, key: Value) -> Value:
    if isinstance(of, Tensor):
        return ev.graph.call(ev, operator.getitem, [of, key])
    if isinstance(of, Const):
        return fold(ev, operator.getitem, of.value, python_value(key))
    if isinstance(of.real, type):
        return fold(ev, operator.getitem, of.real, python_value(key))
    found = call_special(ev, of, "__getitem__", key)
    if found is None:
        ev.throw(TypeError, f"'{of.cls.__name__}' object is not subscriptable")
    assert found is not None
    return found


def setitem(ev: "Evaluation", of: Value, key: Value, value: Value) -> None:
    if isinstance(of, Tensor):
        ev.graph.call(ev, operator.setitem, [of, key, value], keep=True)
    elif call_special(ev, of, "__setitem__", key, value) is None:
        ev.throw(TypeError, f"'{of.cls.__name__}' object does not support item assignment")


def delitem(ev: "Evaluation", of: Value, key: Value) -> None:
    if call_special(ev, of, "__delitem__", key) is None:
        ev.throw(TypeError, f"'{of.cls.__name__}' object doesn't support item deletion")


def make_slice(start: Value, stop: Value, step: Value) -> Value:
    parts = [constant(p) for p in (start, stop, step)]
    if any(p is ABSENT for p in parts):
        return Slice([start, stop, step])
    return Const(slice(*parts))


# ---------------------------------------------------------------- iteration
def iter_(ev: "Evaluation", v: Value) -> Value:
    if isinstance(v, Iterator | Generator):
        return v
    if isinstance(v, Tensor):
        if v.fake.ndim == 0:
            ev.throw(TypeError, "iteration over a 0-d tensor")
        return iter_(ev, ev.graph.call(ev, "unbind", [v, Const(0)]))
    if isinstance(v, Const):
        if isinstance(v.value, str | bytes | range):
            return constant_iterator(v.value)
        if isinstance(v.value, type):
            refuse(f"iterates over {v.value.__name__}")
        ev.throw(TypeError, f"'{v.cls.__name__}' object is not iterable")
    if isinstance(v.real, type):
        return iter_(ev, Tuple([ev.wrap(m, None) for m in fold_list(ev, v.real)]))
    found = call_special(ev, v, "__iter__")
    if found is not None:
        return found
    if type_lookup(v.cls, "__getitem__") is not MISSING:
        from . import polyfills

        return call(ev, ev.wrap(polyfills.iterate_by_index, None), [v], {})
    ev.throw(TypeError, f"'{v.cls.__name__}' object is not iterable")
    raise AssertionError


def fold_list(ev: "Evaluation", cls: Any) -> list[Any]:
    import enum

    return list(cls) if issubclass(cls, enum.Enum) else refuse(f"iterates over {cls.__name__}")


def native_iter(ev: "Evaluation", v: Value) -> Value:
    """`__iter__` of the builtin containers."""
    if isinstance(v, Sequence):
        return sequence_iterator(ev, v)
    if isinstance(v, Dict | View):
        of = v.of if isinstance(v, View) else v
        items = v.read(ev) if isinstance(v, View) else v.keys(ev)
        keys = set(of.items)
        return snapshot_iterator(ev, type(iter({})), items, v, lambda: set(of.items) == keys)
    if isinstance(v, Set):
        seen = dict(v.items)
        return snapshot_iterator(
            ev, type(iter(set())), list(seen.values()), v, lambda: v.items.keys() == seen.keys()
        )
    return refuse(f"iterates over {describe(v)}")


def next_(ev: "Evaluation", it: Value) -> Value | None:
    """The next item, or None at the end."""
    if isinstance(it, Iterator):
        return it.next()
    try:
        if isinstance(it, Generator):
            return send(ev, it, NONE)
        found = call_special(ev, it, "__next__")
    except Raised as raised:
        if issubclass(raised.value.cls, StopIteration):
            return None
        raise
    return found if found is not None else refuse(f"advances {describe(it)}")


def send(ev: "Evaluation", it: Value, value: Value, error: Raised | None = None) -> Value:
    """generator.send or .throw; raises StopIteration into the program at the end."""
    from .frame import Yielded

    if not isinstance(it, Generator):
        if error is None and value is NONE:
            found = next_(ev, it)
            return found if found is not None else ev.throw(StopIteration)
        return refuse(f"sends into {describe(it)}")
    if it.finished:
        if error is not None:
            raise error
        return ev.throw(StopIteration)
    if it.running:
        return ev.throw(ValueError, "generator already executing")
    it.running, handled = True, ev.handled
    try:
        if error is None:
            found_value = it.frame.resume(value)
        elif not it.started:
            it.finished = True
            raise error
        else:
            found_value = throw_into(ev, it, error)
    except Raised as raised:
        it.finished = True
        if raised.value.cls is StopIteration and raised is not error:
            return ev.throw(RuntimeError, "generator raised StopIteration")
        raise
    finally:
        it.running, it.started = False, True
        ev.handled = handled
    if isinstance(found_value, Yielded):
        return found_value.value
    it.finished = True
    if found_value is NONE or (isinstance(found_value, Const) and found_value.value is None):
        return ev.throw(StopIteration)
    return ev.throw(StopIteration, found_value)


def throw_into(ev: "Evaluation", it: Generator, error: Raised) -> Value:
    frame = it.frame
    before = frame.code.instructions[max(frame.index - 2, 0)]
    if before.opname == "SEND":
        refuse("an exception thrown into `yield from`")
    return frame.throw_in(error)


def stop_value(exception: Obj) -> Value:
    args = exception.fields["args"]
    items = args.contents if isinstance(args, Tuple) else []
    found = items[0] if items else NONE
    return found if isinstance(found, Value) else NONE


def unpack(ev: "Evaluation", v: Value) -> list[Value]:
    """All items of an iterable."""
    if isinstance(v, Sequence) and type_lookup(v.cls, "__iter__") in NATIVE_ITERS:
        return v.read(ev)
    it = iter_(ev, v)
    items = []
    while (item := next_(ev, it)) is not None:
        items.append(item)
        if len(items) > 100_000:
            refuse("unpacks more than 100,000 items")
    return items


NATIVE_ITERS = (list.__iter__, tuple.__iter__)


def mapping_items(ev: "Evaluation", v: Value) -> list[tuple[Value, Value]]:
    if isinstance(v, Dict):
        return list(zip(v.keys(ev), v.values(ev)))
    keys = unpack(ev, call_method(ev, v, "keys"))
    return [(k, getitem(ev, v, k)) for k in keys]


# ---------------------------------------------------------------- text, classes, imports
def text(v: Value) -> str:
    return str(python_value(v))


def format_(ev: "Evaluation", v: Value, convert: Any, spec: Value) -> Value:
    if convert is not None:
        v = call(ev, ev.wrap(convert, None), [v], {})
    if isinstance(v, Const):
        return fold(ev, format, v.value, python_value(spec))
    if isinstance(v, Tensor):
        refuse("formats a tensor")
    if type_lookup(v.cls, "__format__") is object.__format__ and text(spec) == "":
        return call(ev, ev.wrap(str, None), [v], {})
    found = call_special(ev, v, "__format__", spec)
    return found if found is not None else refuse(f"formats {describe(v)}")


def is_instance(ev: "Evaluation", v: Value, classes: Value) -> bool:
    if isinstance(classes, Tuple):
        return any(is_instance(ev, v, c) for c in classes.read(ev))
    cls = classes.real
    if not isinstance(cls, type):
        if type(cls).__name__ == "UnionType":
            return any(is_instance(ev, v, ev.wrap(c, None)) for c in cls.__args__)
        refuse(f"isinstance with {describe(classes)}")
    custom = type_lookup(type(cls), "__instancecheck__")
    if isinstance(v, Tensor):
        if v.real is not ABSENT and isinstance(v.real, cls):
            return True
        return issubclass(v.cls, cls) if v.real is not ABSENT else isinstance(v.fake.meta, cls)
    if isinstance(custom, FunctionType) and type(cls).__module__ not in ("abc", "typing"):
        if type(cls).__module__.partition(".")[0] != "torch":
            return truth(ev, call(ev, ev.wrap(custom, None), [classes, v], {}))
    if isinstance(v, Const):
        return isinstance(v.value, cls)
    if v.real is not ABSENT:
        return isinstance(v.real, cls)
    return issubclass(v.cls, cls)


def exception(ev: "Evaluation", v: Value) -> Obj:
    """An exception object from what `raise` was given."""
    if isinstance(v.real, type) and issubclass(v.real, BaseException):
        v = call(ev, v, [], {})
    if not isinstance(v, Obj) or not issubclass(v.cls, BaseException):
        ev.throw(TypeError, "exceptions must derive from BaseException")
    assert isinstance(v, Obj)
    return v


def match_class(ev: "Evaluation", v: Value, cls: Value, n: int, names: list[Value]) -> Value:
    if not is_instance(ev, v, cls):
        return NONE
    found: list[Value] = []
    wanted = [text(name) for name in names]
    if n:
        match_args = getattr(cls.real, "__match_args__", None)
        if match_args is None:
            if n != 1 or cls.real not in MATCHES_SELF:
                refuse("a positional class pattern without __match_args__")
            found.append(v)
        else:
            wanted = [*match_args[:n], *wanted]
    try:
        return Tuple(found + [getattr_(ev, v, name) for name in wanted])
    except Raised as raised:
        if issubclass(raised.value.cls, AttributeError):
            return NONE
        raise


MATCHES_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def import_(ev: "Evaluation", space: Dict, name: str, level: Value, names: Value) -> Value:
    """Only modules that are loaded already: an import runs code."""
    import importlib.util
    import sys

    package = space.real.get("__package__") if level.real else None
    full = importlib.util.resolve_name("." * level.real + name, package) if level.real else name
    wanted = full if names is not NONE and constant(names) is not None else full.partition(".")[0]
    if full not in sys.modules or wanted not in sys.modules:
        refuse(f"imports {full}", "import it at the top of the file")
    return ev.wrap(sys.modules[wanted], None)

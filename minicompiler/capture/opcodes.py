"""One handler for each opcode, named as the opcode.

A handler gets the frame and the instruction; what it returns ends the run of the frame (a return
value or `Yielded`). `REFUSED` says why an opcode is not followed. A test checks that every opcode
of the running Python is handled, refused or stripped.
"""

# ruff: noqa: I001  (imports fill their lines)

import opcode as interpreter
import operator
from collections.abc import Callable
from typing import Any

from . import attributes
from . import data_model as model
from .decode import PREFIXES, VERSION, Instruction
from .frame import Frame, Handled, Yielded
from .values import NONE, NULL, TRUE, Cell, Const, Dict, Function, List, Obj, Raised, Set, Tuple
from .values import Value, const_bool, new_exception, refuse

Handler = Callable[[Frame, Instruction], Value | None]

STRIPPED = PREFIXES | {"RESERVED", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "EXIT_INIT_CHECK"}
REFUSED = {
    "ASYNC_GEN_WRAP": "asynchronous generators run eagerly",
    "BEFORE_ASYNC_WITH": "`async with` runs eagerly",
    "BINARY_OP_INPLACE_ADD_UNICODE": "specialised by the interpreter",
    "BUILD_INTERPOLATION": "template strings run eagerly",
    "BUILD_TEMPLATE": "template strings run eagerly",
    "CHECK_EG_MATCH": "`except*` runs eagerly",
    "CLEANUP_THROW": "exceptions thrown into a generator's `yield from`",
    "END_ASYNC_FOR": "`async for` runs eagerly",
    "GET_AITER": "`async for` runs eagerly",
    "GET_ANEXT": "`async for` runs eagerly",
    "GET_AWAITABLE": "`await` runs eagerly",
    "IMPORT_STAR": "`from module import *`",
    "LOAD_BUILD_CLASS": "a class is defined",
    "LOAD_LOCALS": "names of a class body",
    "LOAD_NAME": "names of a class or module body",
    "LOAD_FROM_DICT_OR_DEREF": "names of a class body",
    "LOAD_FROM_DICT_OR_GLOBALS": "names of a class body",
    "LOAD_CLASSDEREF": "names of a class body",
    "STORE_NAME": "names of a class or module body",
    "DELETE_NAME": "names of a class or module body",
    "PREP_RERAISE_STAR": "`except*` runs eagerly",
    "PRINT_EXPR": "interactive mode",
    "SETUP_ANNOTATIONS": "annotations of a class or module body",
    "ANNOTATIONS_PLACEHOLDER": "annotations of a class or module body",
}


# ---------------------------------------------------------------- nothing to do
def nothing(f: Frame, inst: Instruction) -> None:
    """For the interpreter's own book-keeping."""


RESUME = NOP = COPY_FREE_VARS = MAKE_CELL = NOT_TAKEN = nothing


# ---------------------------------------------------------------- stack
def POP_TOP(f: Frame, inst: Instruction) -> None:
    f.pop()  # what a handler returns ends the frame


POP_ITER = POP_TOP
PUSH_NULL: Handler = lambda f, inst: f.push(NULL)
COPY: Handler = lambda f, inst: f.push(f.stack[-inst.arg])


def SWAP(f: Frame, inst: Instruction) -> None:
    f.stack[-1], f.stack[-inst.arg] = f.stack[-inst.arg], f.stack[-1]


# ---------------------------------------------------------------- names
LOAD_CONST: Handler = lambda f, inst: f.push(f.ev.wrap(inst.argval, None))


LOAD_SMALL_INT = LOAD_CONST_IMMORTAL = LOAD_CONST_MORTAL = LOAD_CONST


RETURN_CONST: Handler = lambda f, inst: f.ev.wrap(inst.argval, None)
LOAD_FAST: Handler = lambda f, inst: f.push(f.local(inst.argval))


LOAD_FAST_CHECK = LOAD_FAST_BORROW = LOAD_FAST


def LOAD_FAST_AND_CLEAR(f: Frame, inst: Instruction) -> None:
    f.push(f.local(inst.argval) if inst.argval in f.locals else NULL)
    f.locals.pop(inst.argval, None)


def LOAD_FAST_LOAD_FAST(f: Frame, inst: Instruction) -> None:
    for name in inst.argval:
        f.push(f.local(name))


LOAD_FAST_BORROW_LOAD_FAST_BORROW = LOAD_FAST_LOAD_FAST


def STORE_FAST(f: Frame, inst: Instruction) -> None:
    value = f.pop()
    if value is NULL:  # the name that an inlined comprehension had hidden was unbound
        f.locals.pop(inst.argval, None)
    else:
        f.locals[inst.argval] = value


STORE_FAST_MAYBE_NULL = STORE_FAST


def STORE_FAST_LOAD_FAST(f: Frame, inst: Instruction) -> None:
    stored, loaded = inst.argval
    f.locals[stored] = f.pop()
    f.push(f.local(loaded))


def STORE_FAST_STORE_FAST(f: Frame, inst: Instruction) -> None:
    for name in inst.argval:
        f.locals[name] = f.pop()


def DELETE_FAST(f: Frame, inst: Instruction) -> None:
    f.local(inst.argval)
    del f.locals[inst.argval]


def LOAD_GLOBAL(f: Frame, inst: Instruction) -> None:
    value = f.ev.load_global(f.space, inst.argval)
    callee(f, value) if inst.arg & 1 else f.push(value)


def callee(f: Frame, value: Value) -> None:
    """Push something to be called with its NULL, where this Python expects it."""
    f.stack += [NULL, value] if VERSION < (3, 13) else [value, NULL]


STORE_GLOBAL: Handler = lambda f, inst: f.space.set(f.ev, Const(inst.argval), f.pop())


def DELETE_GLOBAL(f: Frame, inst: Instruction) -> None:
    if not f.space.delete(f.ev, Const(inst.argval)):
        f.ev.throw(NameError, f"name '{inst.argval}' is not defined")


LOAD_CLOSURE: Handler = lambda f, inst: f.push(f.cells[inst.argval])


def LOAD_DEREF(f: Frame, inst: Instruction) -> None:
    if (found := f.cells[inst.argval].get(f.ev)) is None:
        free = inst.argval in f.code.code.co_freevars
        f.ev.throw(
            NameError if free else UnboundLocalError,
            f"cannot access free variable '{inst.argval}' where it is not associated with a value"
            " in enclosing scope"
            if free
            else f"cannot access local variable '{inst.argval}' where it is not associated with"
            " a value",
        )
    assert found is not None
    f.push(found)


STORE_DEREF: Handler = lambda f, inst: f.cells[inst.argval].set(f.ev, f.pop())


def DELETE_DEREF(f: Frame, inst: Instruction) -> None:
    LOAD_DEREF(f, inst)
    f.pop()
    f.cells[inst.argval].set(f.ev, None)


LOAD_ASSERTION_ERROR: Handler = lambda f, inst: f.push(f.ev.wrap(AssertionError, None))


COMMON = (AssertionError, NotImplementedError, tuple, all, any, list, set)


LOAD_COMMON_CONSTANT: Handler = lambda f, inst: f.push(f.ev.wrap(COMMON[inst.arg], None))


def LOAD_SPECIAL(f: Frame, inst: Instruction) -> None:
    """3.14: a special method of a context manager, ready to be called."""
    name = ("__enter__", "__exit__", "__aenter__", "__aexit__")[inst.arg]
    callee(f, special(f, f.pop(), name))


# ---------------------------------------------------------------- attributes
def LOAD_ATTR(f: Frame, inst: Instruction) -> None:
    name = inst.argval
    value = attributes.getattr_(f.ev, f.pop(), name)
    callee(f, value) if VERSION >= (3, 12) and inst.arg & 1 else f.push(value)


LOAD_METHOD: Handler = lambda f, inst: callee(f, attributes.getattr_(f.ev, f.pop(), inst.argval))


def LOAD_SUPER_ATTR(f: Frame, inst: Instruction) -> None:
    super_type, cls, obj = f.popn(3)
    found = model.call(f.ev, super_type, [cls, obj], {})
    value = attributes.getattr_(f.ev, found, f.code.code.co_names[inst.arg >> 2])
    callee(f, value) if inst.arg & 1 else f.push(value)


def STORE_ATTR(f: Frame, inst: Instruction) -> None:
    value, obj = f.popn(2)
    attributes.setattr_(f.ev, obj, inst.argval, value)


DELETE_ATTR: Handler = lambda f, inst: attributes.delattr_(f.ev, f.pop(), inst.argval)


# ---------------------------------------------------------------- operators
def unary(op: Callable[[Any], Any], method: str) -> Handler:
    return lambda f, inst: f.push(model.unary(f.ev, op, method, f.pop()))


UNARY_NOT: Handler = lambda f, inst: f.push(const_bool(not model.truth(f.ev, f.pop())))


UNARY_NEGATIVE, UNARY_POSITIVE = unary(operator.neg, "__neg__"), unary(operator.pos, "__pos__")
UNARY_INVERT = unary(operator.invert, "__invert__")


TO_BOOL: Handler = lambda f, inst: f.push(const_bool(model.truth(f.ev, f.pop())))


SYMBOLS: list[str] = [symbol for _, symbol in interpreter._nb_ops]  # type: ignore[attr-defined]


def BINARY_OP(f: Frame, inst: Instruction) -> None:
    left, right = f.popn(2)
    symbol = SYMBOLS[inst.arg]
    if symbol == "[]":  # 3.14
        f.push(model.getitem(f.ev, left, right))
    else:
        f.push(model.binary(f.ev, symbol.removesuffix("="), left, right, symbol[-1] == "="))


def BINARY_SUBSCR(f: Frame, inst: Instruction) -> None:
    of, key = f.popn(2)
    f.push(model.getitem(f.ev, of, key))


def STORE_SUBSCR(f: Frame, inst: Instruction) -> None:
    value, of, key = f.popn(3)
    model.setitem(f.ev, of, key, value)


def DELETE_SUBSCR(f: Frame, inst: Instruction) -> None:
    of, key = f.popn(2)
    model.delitem(f.ev, of, key)


def BINARY_SLICE(f: Frame, inst: Instruction) -> None:
    of, start, stop = f.popn(3)
    f.push(model.getitem(f.ev, of, model.make_slice(start, stop, NONE)))


def STORE_SLICE(f: Frame, inst: Instruction) -> None:
    value, of, start, stop = f.popn(4)
    model.setitem(f.ev, of, model.make_slice(start, stop, NONE), value)


COMPARISONS = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "!=": "__ne__"}
COMPARISONS |= {">": "__gt__", ">=": "__ge__"}


def COMPARE_OP(f: Frame, inst: Instruction) -> None:
    left, right = f.popn(2)
    text = inst.argval
    symbol = text.removeprefix("bool(").removesuffix(")")
    found = model.compare(f.ev, symbol, left, right)
    f.push(const_bool(model.truth(f.ev, found)) if symbol != text else found)


def IS_OP(f: Frame, inst: Instruction) -> None:
    left, right = f.popn(2)
    f.push(const_bool(model.identical(f.ev, left, right) != bool(inst.arg)))


def CONTAINS_OP(f: Frame, inst: Instruction) -> None:
    item, of = f.popn(2)
    f.push(const_bool(model.contains(f.ev, of, item) != bool(inst.arg)))


# ---------------------------------------------------------------- jumps
def JUMP_FORWARD(f: Frame, inst: Instruction) -> None:
    f.index = inst.target


JUMP_BACKWARD = JUMP_BACKWARD_NO_INTERRUPT = JUMP_FORWARD


def branch(test: Callable[[Frame, Value], bool], on: bool, keep: bool = False) -> Handler:
    def handler(f: Frame, inst: Instruction) -> None:
        if test(f, f.stack[-1]) == on:
            f.index = inst.target
            if keep:
                return
        f.pop()

    return handler


def truth(f: Frame, value: Value) -> bool:
    return model.truth(f.ev, value)


def is_none(f: Frame, value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


POP_JUMP_IF_TRUE, POP_JUMP_IF_FALSE = branch(truth, on=True), branch(truth, on=False)
POP_JUMP_IF_NONE, POP_JUMP_IF_NOT_NONE = branch(is_none, on=True), branch(is_none, on=False)
POP_JUMP_FORWARD_IF_TRUE = POP_JUMP_BACKWARD_IF_TRUE = POP_JUMP_IF_TRUE
POP_JUMP_FORWARD_IF_FALSE = POP_JUMP_BACKWARD_IF_FALSE = POP_JUMP_IF_FALSE
POP_JUMP_FORWARD_IF_NONE = POP_JUMP_BACKWARD_IF_NONE = POP_JUMP_IF_NONE
POP_JUMP_FORWARD_IF_NOT_NONE = POP_JUMP_BACKWARD_IF_NOT_NONE = POP_JUMP_IF_NOT_NONE
JUMP_IF_TRUE_OR_POP = branch(truth, on=True, keep=True)
JUMP_IF_FALSE_OR_POP = branch(truth, on=False, keep=True)


def GET_ITER(f: Frame, inst: Instruction) -> None:
    f.push(model.iter_(f.ev, f.pop()))
    if VERSION >= (3, 15):
        f.push(NULL)


GET_YIELD_FROM_ITER: Handler = lambda f, inst: f.push(model.iter_(f.ev, f.pop()))


def FOR_ITER(f: Frame, inst: Instruction) -> None:
    found = model.next_(f.ev, f.stack[-1])
    if found is not None:
        f.push(found)
        return
    f.index = inst.target
    if VERSION < (3, 12):
        f.pop()  # later versions have END_FOR (and POP_TOP) there
    else:
        f.push(NONE)


def END_FOR(f: Frame, inst: Instruction) -> None:
    if VERSION < (3, 13):
        f.pop()
    f.pop()


RETURN_VALUE: Handler = lambda f, inst: f.pop()


# ---------------------------------------------------------------- building
def building(kind: Callable[[list[Value]], Value]) -> Handler:
    return lambda f, inst: f.push(kind(f.popn(inst.arg)))


BUILD_TUPLE, BUILD_LIST, BUILD_SET = building(Tuple), building(List), building(Set)


def build_dict(f: Frame, keys: list[Value], values: list[Value]) -> None:
    made = Dict()
    for key, value in zip(keys, values):
        made.set(f.ev, key, value)
    f.push(made)


def BUILD_MAP(f: Frame, inst: Instruction) -> None:
    items = f.popn(2 * inst.arg)
    build_dict(f, items[::2], items[1::2])


def BUILD_CONST_KEY_MAP(f: Frame, inst: Instruction) -> None:
    *values, keys = f.popn(inst.arg + 1)
    assert isinstance(keys, Tuple)
    build_dict(f, keys.read(f.ev), values)


def BUILD_SLICE(f: Frame, inst: Instruction) -> None:
    start, stop, *step = f.popn(inst.arg)
    f.push(model.make_slice(start, stop, step[0] if step else NONE))


def BUILD_STRING(f: Frame, inst: Instruction) -> None:
    f.push(Const("".join(model.text(p) for p in f.popn(inst.arg))))


CONVERSIONS = {0: None, 1: str, 2: repr, 3: ascii}


def FORMAT_VALUE(f: Frame, inst: Instruction) -> None:
    spec = f.pop() if inst.arg & 4 else Const("")
    f.push(model.format_(f.ev, f.pop(), CONVERSIONS[inst.arg & 3], spec))


def CONVERT_VALUE(f: Frame, inst: Instruction) -> None:
    convert = CONVERSIONS[inst.arg]
    assert convert is not None
    f.push(model.call(f.ev, f.ev.wrap(convert, None), [f.pop()], {}))


FORMAT_SIMPLE: Handler = lambda f, inst: f.push(model.format_(f.ev, f.pop(), None, Const("")))


def FORMAT_WITH_SPEC(f: Frame, inst: Instruction) -> None:
    value, spec = f.popn(2)
    f.push(model.format_(f.ev, value, None, spec))


def into_method(name: str) -> Handler:
    """The top of the stack is given to a method of the container `arg` items below."""

    def handler(f: Frame, inst: Instruction) -> None:
        item = f.pop()
        model.call_method(f.ev, f.stack[-inst.arg], name, item)

    return handler


LIST_APPEND, LIST_EXTEND = into_method("append"), into_method("extend")
SET_ADD, SET_UPDATE, DICT_UPDATE = into_method("add"), into_method("update"), into_method("update")


def MAP_ADD(f: Frame, inst: Instruction) -> None:
    key, value = f.popn(2)
    into = f.stack[-inst.arg]
    assert isinstance(into, Dict)
    into.set(f.ev, key, value)


def DICT_MERGE(f: Frame, inst: Instruction) -> None:
    mapping = f.pop()
    into = f.stack[-inst.arg]
    assert isinstance(into, Dict)
    for key, value in model.mapping_items(f.ev, mapping):
        if into.get(f.ev, key) is not None:
            refuse("a keyword argument given twice")
        into.set(f.ev, key, value)


def LIST_TO_TUPLE(f: Frame, inst: Instruction) -> None:
    made = f.pop()
    assert isinstance(made, List)
    f.push(Tuple(made.contents))


def UNPACK_SEQUENCE(f: Frame, inst: Instruction) -> None:
    items = model.unpack(f.ev, f.pop())
    if len(items) != inst.arg:
        more = f"too many values to unpack (expected {inst.arg})"
        less = f"not enough values to unpack (expected {inst.arg}, got {len(items)})"
        f.ev.throw(ValueError, more if len(items) > inst.arg else less)
    f.stack += reversed(items)


def UNPACK_EX(f: Frame, inst: Instruction) -> None:
    before, after = inst.arg & 0xFF, inst.arg >> 8
    items = model.unpack(f.ev, f.pop())
    if len(items) < before + after:
        f.ev.throw(
            ValueError,
            f"not enough values to unpack (expected at least {before + after}, got {len(items)})",
        )
    middle = List(items[before : len(items) - after])
    f.stack += reversed([*items[:before], middle, *items[len(items) - after :]])


# ---------------------------------------------------------------- calls
CALL: Handler = lambda f, inst: call(f, inst.arg, inst.kwnames)


def CALL_KW(f: Frame, inst: Instruction) -> None:
    names = f.pop()
    assert isinstance(names, Tuple)
    call(f, inst.arg, tuple(n.value for n in names.read(f.ev) if isinstance(n, Const)))


def call(f: Frame, n: int, names: tuple[str, ...]) -> None:
    args = f.popn(n)
    first, second = f.popn(2)
    if VERSION >= (3, 13):
        first, second = second, first  # (callable, self or NULL)
        function, args = second, args if first is NULL else [first, *args]
    elif first is NULL:
        function = second
    else:
        function, args = first, [second, *args]
    split = len(args) - len(names)
    f.push(model.call(f.ev, function, args[:split], dict(zip(names, args[split:]))))


def CALL_FUNCTION_EX(f: Frame, inst: Instruction) -> None:
    kwargs = f.pop() if inst.arg & 1 or VERSION >= (3, 14) else NULL
    args = f.pop()
    first, second = f.popn(2)
    function = first if VERSION >= (3, 13) else second
    named: dict[str, Value] = {}
    if kwargs is not NULL:
        for key, value in model.mapping_items(f.ev, kwargs):
            if not isinstance(key, Const) or not isinstance(key.value, str):
                refuse("keyword arguments whose names are no strings")
            named[key.value] = value
    f.push(model.call(f.ev, function, model.unpack(f.ev, args), named))


INTRINSICS_1: dict[str, Callable[[Frame, Value], Value]] = {
    "INTRINSIC_UNARY_POSITIVE": lambda f, v: model.unary(f.ev, operator.pos, "__pos__", v),
    "INTRINSIC_LIST_TO_TUPLE": lambda f, v: Tuple(model.unpack(f.ev, v)),
}


def CALL_INTRINSIC_1(f: Frame, inst: Instruction) -> None:
    name = interpreter._intrinsic_1_descs[inst.arg]  # type: ignore[attr-defined]
    if name == "INTRINSIC_STOPITERATION_ERROR":
        exception = f.pop()
        if exception.cls is StopIteration:
            exception = new_exception(RuntimeError, "generator raised StopIteration")
        f.push(exception)
        return
    if name not in INTRINSICS_1:
        refuse(f"the instruction {name}")
    f.push(INTRINSICS_1[name](f, f.pop()))


CALL_INTRINSIC_2: Handler = lambda f, inst: refuse("type parameters and `except*` run eagerly")


def MAKE_FUNCTION(f: Frame, inst: Instruction) -> None:
    code = f.pop()
    flags = inst.arg if VERSION < (3, 13) else 0
    closure = f.pop() if flags & 8 else Tuple([])
    annotations = f.pop() if flags & 4 else None
    kwdefaults = f.pop() if flags & 2 else NONE
    defaults = f.pop() if flags & 1 else NONE
    assert isinstance(closure, Tuple)
    real = code.real
    cells = tuple(c for c in closure.contents if isinstance(c, Cell))
    made = Function(real, f.space, real.co_qualname, defaults, kwdefaults, cells)
    made.annotations = annotations
    f.push(made)


def SET_FUNCTION_ATTRIBUTE(f: Frame, inst: Instruction) -> None:
    value, made = f.popn(2)
    assert isinstance(made, Function)
    if inst.arg == 8 and isinstance(value, Tuple):
        made.closure = tuple(c for c in value.contents if isinstance(c, Cell))
    elif inst.arg in (1, 2):
        setattr(made, "defaults" if inst.arg == 1 else "kwdefaults", value)
    else:
        made.annotations = value
    f.push(made)


def IMPORT_NAME(f: Frame, inst: Instruction) -> None:
    level, names = f.popn(2)
    f.push(model.import_(f.ev, f.space, inst.argval, level, names))


IMPORT_FROM: Handler = lambda f, inst: f.push(attributes.getattr_(f.ev, f.stack[-1], inst.argval))


# ---------------------------------------------------------------- generators
def RETURN_GENERATOR(f: Frame, inst: Instruction) -> None:
    refuse("a generator's frame runs eagerly; its consumer is compiled")


YIELD_VALUE: Handler = lambda f, inst: Yielded(f.pop())


def SEND(f: Frame, inst: Instruction) -> None:
    sent = f.pop()
    try:
        found = model.send(f.ev, f.stack[-1], sent)
    except Raised as raised:
        if raised.value.cls is not StopIteration:
            raise
        if VERSION < (3, 12):
            f.pop()
        f.push(model.stop_value(raised.value))
        f.index = inst.target
        return
    f.push(found)


def END_SEND(f: Frame, inst: Instruction) -> None:
    value = f.pop()
    f.pop()
    f.push(value)


# ---------------------------------------------------------------- exceptions and `with`
def RAISE_VARARGS(f: Frame, inst: Instruction) -> None:
    cause = f.pop() if inst.arg == 2 else None
    if inst.arg == 0:
        if f.ev.handled is None:
            f.ev.throw(RuntimeError, "No active exception to reraise")
        assert f.ev.handled is not None
        raise Raised(f.ev.handled, f.ev.at, f.ev.where())
    exception = model.exception(f.ev, f.pop())
    if cause is not None:
        exception.fields["__cause__"] = cause if cause is NONE else model.exception(f.ev, cause)
        exception.fields["__suppress_context__"] = TRUE
    raise Raised(exception, f.ev.at, f.ev.where())


def RERAISE(f: Frame, inst: Instruction) -> None:
    exception = f.pop()
    assert isinstance(exception, Obj)
    raise Raised(exception, f.ev.at, f.ev.where())


def PUSH_EXC_INFO(f: Frame, inst: Instruction) -> None:
    exception = f.pop()
    assert isinstance(exception, Obj)
    f.stack += [Handled(f.ev.handled), exception]
    f.ev.handled = exception


def POP_EXCEPT(f: Frame, inst: Instruction) -> None:
    previous = f.pop()
    assert isinstance(previous, Handled)
    f.ev.handled = previous.previous


def CHECK_EXC_MATCH(f: Frame, inst: Instruction) -> None:
    classes = f.pop()
    f.push(const_bool(model.is_instance(f.ev, f.stack[-1], classes)))


def BEFORE_WITH(f: Frame, inst: Instruction) -> None:
    manager = f.pop()
    enter = special(f, manager, "__enter__")
    f.push(special(f, manager, "__exit__"))
    f.push(model.call(f.ev, enter, [], {}))


def special(f: Frame, of: Value, name: str) -> Value:
    found = model.special(f.ev, of, name)
    if found is None:
        refuse(f"{of.cls.__name__} has no {name}")
    return found


def WITH_EXCEPT_START(f: Frame, inst: Instruction) -> None:
    exception = f.stack[-1]
    if VERSION >= (3, 14):
        function, self_or_null = f.stack[-5], f.stack[-4]
        first = [] if self_or_null is NULL else [self_or_null]
    else:
        function, first = f.stack[-4], []
    args = [*first, f.ev.class_of(exception), exception, NONE]
    f.push(model.call(f.ev, function, args, {}))


# ---------------------------------------------------------------- match statements
GET_LEN: Handler = lambda f, inst: f.push(Const(model.length(f.ev, f.stack[-1])))


def MATCH_SEQUENCE(f: Frame, inst: Instruction) -> None:
    f.push(const_bool(bool(f.stack[-1].cls.__flags__ & 1 << 5)))


def MATCH_MAPPING(f: Frame, inst: Instruction) -> None:
    f.push(const_bool(bool(f.stack[-1].cls.__flags__ & 1 << 6)))


def MATCH_KEYS(f: Frame, inst: Instruction) -> None:
    keys, subject = f.stack[-1], f.stack[-2]
    if not isinstance(keys, Tuple) or not isinstance(subject, Dict) or subject.cls is not dict:
        refuse("a mapping pattern on something other than a dict")
    found = [subject.get(f.ev, k) for k in keys.read(f.ev)]
    values = [v for v in found if v is not None]
    f.push(Tuple(values) if len(values) == len(found) else NONE)


def MATCH_CLASS(f: Frame, inst: Instruction) -> None:
    subject, cls, names = f.popn(3)
    assert isinstance(names, Tuple)
    f.push(model.match_class(f.ev, subject, cls, inst.arg, names.read(f.ev)))


HANDLERS: dict[str, Handler] = {
    name: found for name, found in list(globals().items()) if name.isupper() and callable(found)
}

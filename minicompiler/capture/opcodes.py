"""One handler for each opcode, named as the opcode.

A handler gets the frame and the instruction; what it returns ends the run of the frame (a return
value or `Yielded`). `REFUSED` says why an opcode is not followed. A test checks that every opcode
of the running Python is handled, refused or never met.
"""

# ruff: noqa: I001  (imports fill their lines)

import itertools
import opcode as interpreter
import operator
from collections.abc import Callable
from typing import Any

import torch

from . import attributes, data_model as model
from .decode import FAST, VERSION, Instruction
from .frame import Frame, Handled, Yielded
from .polyfills import match_class
from .values import NONE, NULL, TRUE, Cell, Const, Dict, Function, Generator, List, Raised, Set
from .values import Tensor, Tuple, Value, const_bool, new_exception, python_value, refuse

Handler = Callable[[Frame, Instruction], Value | None]

REFUSED = {
    "LOAD_BUILD_CLASS": "a class is defined",
    "CHECK_EG_MATCH": "`except*` runs eagerly",
    "CALL_INTRINSIC_2": "type parameters and `except*` run eagerly",
    "BUILD_TEMPLATE": "template strings run eagerly",
    "CLEANUP_THROW": "an exception is thrown into the `yield from` of a generator",
}


# ---------------------------------------------------------------- families
def pushes(n: int, compute: Callable[..., Value]) -> Handler:
    """n values are popped, what is computed of them is pushed."""
    return lambda f, inst: f.push(compute(f.ev, *f.popn(n)))


def does(n: int, act: Callable[..., object]) -> Handler:
    def handler(f: Frame, inst: Instruction) -> None:
        act(f.ev, *f.popn(n))  # what a handler returns would end the frame

    return handler


# ---------------------------------------------------------------- nothing to do
def nothing(f: Frame, inst: Instruction) -> None:
    """For the interpreter's own book-keeping."""


RESUME = NOP = COPY_FREE_VARS = MAKE_CELL = NOT_TAKEN = END_FOR = nothing


# ---------------------------------------------------------------- stack
POP_TOP = POP_ITER = does(1, lambda ev, value: None)

PUSH_NULL: Handler = lambda f, inst: f.push(NULL)
COPY: Handler = lambda f, inst: f.push(f.stack[-inst.arg])


def SWAP(f: Frame, inst: Instruction) -> None:
    f.stack[-1], f.stack[-inst.arg] = f.stack[-inst.arg], f.stack[-1]


# ---------------------------------------------------------------- names
LOAD_CONST: Handler = lambda f, inst: f.push(f.ev.wrap(inst.argval, None))


LOAD_SMALL_INT = LOAD_CONST_IMMORTAL = LOAD_CONST_MORTAL = LOAD_CONST


RETURN_CONST: Handler = lambda f, inst: f.ev.wrap(inst.argval, None)


def LOAD_FAST(f: Frame, inst: Instruction) -> None:
    then = f.code.instructions[inst.index + 1]
    if then.opname == "JUMP_FORWARD":  # as at the start of a resume function
        then = f.code.instructions[then.target]
    if then.opname in ("POP_TOP", "STORE_FAST") and inst.argval in f.locals:
        f.push(f.locals[inst.argval])  # what is only moved is not read
    else:
        f.push(f.cells.get(inst.argval) or f.local(inst.argval))


LOAD_FAST_CHECK = LOAD_FAST_BORROW = LOAD_FAST


def LOAD_FAST_AND_CLEAR(f: Frame, inst: Instruction) -> None:
    if inst.argval in f.cells:
        refuse("a comprehension hides a variable that closures share")
    f.push(f.local(inst.argval) if inst.argval in f.locals else NULL)
    f.locals.pop(inst.argval, None)


def STORE_FAST(f: Frame, inst: Instruction) -> None:
    f.locals[inst.argval] = f.pop()
    if f.locals[inst.argval] is NULL:  # what an inlined comprehension had hidden was unbound
        del f.locals[inst.argval]


STORE_FAST_MAYBE_NULL = STORE_FAST


def STORE_FAST_LOAD_FAST(f: Frame, inst: Instruction) -> None:
    for does, name in zip(FAST.findall(inst.opname), inst.argval):
        if does == "STORE":
            f.locals[name] = f.pop()
        else:
            f.push(f.local(name))


STORE_FAST_STORE_FAST = LOAD_FAST_LOAD_FAST = STORE_FAST_LOAD_FAST
LOAD_FAST_BORROW_LOAD_FAST_BORROW = STORE_FAST_LOAD_FAST


def DELETE_FAST(f: Frame, inst: Instruction) -> None:
    if f.locals.pop(inst.argval, None) is None:
        f.local(inst.argval)  # refuses


def loaded(f: Frame, value: Value, called: int = 1) -> None:
    """Push what was loaded; what is to be called with a NULL where this Python expects it."""
    null = [NULL] if called else []
    f.stack += [*null, value] if VERSION < (3, 13) else [value, *null]


def LOAD_GLOBAL(f: Frame, inst: Instruction) -> None:
    loaded(f, f.ev.load_global(f.space, inst.argval), inst.arg & 1)


STORE_GLOBAL: Handler = lambda f, inst: f.space.set(f.ev, Const(inst.argval), f.pop())


def DELETE_GLOBAL(f: Frame, inst: Instruction) -> None:
    f.space.delete(f.ev, Const(inst.argval)) or refuse(f"there is no global {inst.argval}")


LOAD_CLOSURE = LOAD_FAST  # as it is called from 3.13 on


def LOAD_DEREF(f: Frame, inst: Instruction) -> None:
    f.push(f.cells[inst.argval].get(f.ev) or refuse(f"reads {inst.argval}, which is unbound"))


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
    loaded(f, special(f, f.pop(), name))


# ---------------------------------------------------------------- attributes
def LOAD_ATTR(f: Frame, inst: Instruction) -> None:
    called = VERSION >= (3, 12) and inst.arg & 1
    loaded(f, attributes.getattr_(f.ev, f.pop(), inst.argval), called)


LOAD_METHOD: Handler = lambda f, inst: loaded(f, attributes.getattr_(f.ev, f.pop(), inst.argval))


def LOAD_SUPER_ATTR(f: Frame, inst: Instruction) -> None:
    super_type, *args = f.popn(3)
    name = f.code.code.co_names[inst.arg >> 2]
    found = attributes.getattr_(f.ev, model.call(f.ev, super_type, args, {}), name)
    loaded(f, found, inst.arg & 1)


STORE_ATTR: Handler = lambda f, inst: attributes.setattr_(f.ev, f.pop(), inst.argval, f.pop())
DELETE_ATTR: Handler = lambda f, inst: attributes.delattr_(f.ev, f.pop(), inst.argval)


# ---------------------------------------------------------------- operators
TO_BOOL: Handler = lambda f, inst: f.push(const_bool(truth(f, f.pop())))
UNARY_NOT = pushes(1, lambda ev, v: const_bool(not model.truth(ev, v)))
UNARY_NEGATIVE = pushes(1, lambda ev, v: model.unary(ev, operator.neg, "__neg__", v))
UNARY_POSITIVE = pushes(1, lambda ev, v: model.unary(ev, operator.pos, "__pos__", v))
UNARY_INVERT = pushes(1, lambda ev, v: model.unary(ev, operator.invert, "__invert__", v))


SYMBOLS: list[str] = [symbol for _, symbol in interpreter._nb_ops]  # type: ignore[attr-defined]


def BINARY_OP(f: Frame, inst: Instruction) -> None:
    left, right = f.popn(2)
    symbol = SYMBOLS[inst.arg]
    if symbol == "[]":  # 3.14
        f.push(model.getitem(f.ev, left, right))
    else:
        f.push(model.binary(f.ev, symbol.removesuffix("="), left, right, symbol[-1] == "="))


BINARY_SUBSCR = pushes(2, model.getitem)
BINARY_SLICE = pushes(3, lambda ev, of, a, b: model.getitem(ev, of, model.make_slice(a, b, NONE)))
STORE_SUBSCR = does(3, lambda ev, value, of, key: model.setitem(ev, of, key, value))
DELETE_SUBSCR = does(2, model.delitem)
STORE_SLICE = does(4, lambda ev, v, of, *ab: model.setitem(ev, of, model.make_slice(*ab, NONE), v))


def COMPARE_OP(f: Frame, inst: Instruction) -> None:
    left, right = f.popn(2)
    found = model.binary(f.ev, inst.argval.removeprefix("bool(").removesuffix(")"), left, right)
    as_bool = VERSION >= (3, 13) and inst.arg & 16  # a jump follows that knows True and False only
    f.push(const_bool(truth(f, found)) if as_bool else found)


def or_not(holds: Callable[..., bool]) -> Handler:
    return lambda f, inst: f.push(const_bool(holds(f.ev, *f.popn(2)) != bool(inst.arg)))


IS_OP = or_not(model.identical)
CONTAINS_OP = or_not(lambda ev, item, of: model.contains(ev, of, item))


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


def truth(f: Frame, value: Any) -> bool:
    """What a branch is decided by. Of a tensor: whatever does not lead to `raise`. The graph checks
    that the tensor says so; where it does not, Python runs the frame, and raises."""
    jump = f.inst if f.inst.target >= 0 else f.code.instructions[f.index]
    one = isinstance(value, Tensor) and value.fake.numel() == 1 and value.fake.is_cpu
    if one and jump.target > 0:
        on = "TRUE" in jump.opname
        for side, answer in ((jump.target, not on), (jump.index + 1, on)):
            if f.code.raises(side):
                holds = value if answer else f.ev.graph.call(f.ev, torch.logical_not, [value])
                f.ev.graph.call(f.ev, torch._assert_async, [holds])
                return answer
    return model.truth(f.ev, value)


is_none: Callable[[Frame, Value], bool] = lambda f, v: isinstance(v, Const) and v.value is None
POP_JUMP_IF_TRUE, POP_JUMP_IF_FALSE = branch(truth, on=True), branch(truth, on=False)
POP_JUMP_IF_NONE, POP_JUMP_IF_NOT_NONE = branch(is_none, on=True), branch(is_none, on=False)
JUMP_IF_TRUE_OR_POP = branch(truth, on=True, keep=True)
JUMP_IF_FALSE_OR_POP = branch(truth, on=False, keep=True)


GET_ITER = GET_YIELD_FROM_ITER = pushes(1, model.iter_)


def FOR_ITER(f: Frame, inst: Instruction) -> None:
    found = model.next_(f.ev, f.stack[-1])
    if found is not None:
        f.push(found)
        return
    f.index = inst.target
    if VERSION < (3, 14):  # later versions have POP_ITER there
        f.pop()


RETURN_VALUE: Handler = lambda f, inst: f.pop()


# ---------------------------------------------------------------- building
def building(kind: Callable[[list[Value]], Value]) -> Handler:
    return lambda f, inst: f.push(kind(f.popn(inst.arg)))


BUILD_TUPLE, BUILD_LIST, BUILD_SET = building(Tuple), building(List), building(Set)


def BUILD_MAP(f: Frame, inst: Instruction) -> None:
    items = f.popn(2 * inst.arg)
    f.push(made := Dict())
    for key, value in zip(items[::2], items[1::2]):
        made.set(f.ev, key, value)


def BUILD_CONST_KEY_MAP(f: Frame, inst: Instruction) -> None:
    *values, keys = f.popn(inst.arg + 1)
    f.stack += itertools.chain(*zip(model.unpack(f.ev, keys), values))
    BUILD_MAP(f, inst)


BUILD_SLICE = building(lambda parts: model.make_slice(*[*parts, NONE][:3]))
BUILD_STRING = building(lambda parts: Const("".join(map(model.text, parts))))


CONVERSIONS: dict[int, Any] = {1: str, 2: repr, 3: ascii}


def FORMAT_VALUE(f: Frame, inst: Instruction) -> None:
    spec = [f.pop()] if inst.arg & 4 else []
    if kind := inst.arg & 3:
        f.push(model.call_real(f.ev, CONVERSIONS[kind], f.pop()))
    f.push(model.format_(f.ev, f.pop(), *spec))


CONVERT_VALUE: Handler = lambda f, i: f.push(model.call_real(f.ev, CONVERSIONS[i.arg], f.pop()))
FORMAT_SIMPLE, FORMAT_WITH_SPEC = pushes(1, model.format_), pushes(2, model.format_)


def into_method(name: str) -> Handler:
    """The top of the stack is given to a method of the container `arg` items below."""

    def handler(f: Frame, inst: Instruction) -> None:
        item = f.pop()
        model.call_method(f.ev, f.stack[-inst.arg], name, item)

    return handler


LIST_APPEND, LIST_EXTEND = into_method("append"), into_method("extend")
SET_ADD, SET_UPDATE = into_method("add"), into_method("update")


def MAP_ADD(f: Frame, inst: Instruction) -> None:
    key, value = f.popn(2)
    model.setitem(f.ev, f.stack[-inst.arg], key, value)


def DICT_MERGE(f: Frame, inst: Instruction) -> None:
    mapping = f.pop()
    into: Any = f.stack[-inst.arg]
    for key, value in model.mapping_items(f.ev, mapping):
        if inst.opname == "DICT_MERGE" and into.get(f.ev, key) is not None:
            refuse("a keyword argument given twice")
        into.set(f.ev, key, value)


DICT_UPDATE = DICT_MERGE


LIST_TO_TUPLE = pushes(1, lambda ev, made: Tuple(model.unpack(ev, made)))


def UNPACK_SEQUENCE(f: Frame, inst: Instruction) -> None:
    items = model.unpack(f.ev, f.pop())
    if len(items) != inst.arg:
        refuse(f"unpacks {len(items)} items into {inst.arg} variables")
    f.stack += reversed(items)


def UNPACK_EX(f: Frame, inst: Instruction) -> None:
    before, after = inst.arg & 0xFF, inst.arg >> 8
    it = model.iter_(f.ev, f.pop())
    first = list(itertools.islice(iter(lambda: model.next_(f.ev, it), None), before))
    items = model.unpack(f.ev, it, hint=True)  # makes a list of the rest
    if len(first) < before or (rest := len(items) - after) < 0:
        refuse(f"unpacks too few items into at least {before + after} variables")
    f.stack += reversed([*first, List(items[:rest]), *items[rest:]])


# ---------------------------------------------------------------- calls
CALL: Handler = lambda f, inst: call(f, inst.arg, inst.kwnames)


def CALL_KW(f: Frame, inst: Instruction) -> None:
    call(f, inst.arg, tuple(map(python_value, model.unpack(f.ev, f.pop()))))


def call(f: Frame, n: int, names: tuple[str, ...]) -> None:
    function, own, *args = f.popn(n + 2)
    if function is NULL:  # before 3.13 the callable lies above it
        function, own = own, NULL
    if own is not NULL:
        args.insert(0, own)
    split = len(args) - len(names)
    f.push(model.call(f.ev, function, args[:split], dict(zip(names, args[split:]))))


def CALL_FUNCTION_EX(f: Frame, inst: Instruction) -> None:
    kwargs = f.pop() if inst.arg & 1 or VERSION >= (3, 14) else NULL
    args = f.pop()
    first, second = f.popn(2)
    function = first if VERSION >= (3, 13) else second
    pairs = [] if kwargs is NULL else model.mapping_items(f.ev, kwargs)
    named = {model.text(key): value for key, value in pairs}
    f.push(model.call(f.ev, function, model.unpack(f.ev, args, hint=True), named))


STOPITERATION_ERROR = pushes(1, lambda ev, v: model.late(v) if v.cls is StopIteration else v)


def CALL_INTRINSIC_1(f: Frame, inst: Instruction) -> None:
    name = interpreter._intrinsic_1_descs[inst.arg]  # type: ignore[attr-defined]
    handler = HANDLERS.get(name.removeprefix("INTRINSIC_"))  # some were instructions in 3.11
    handler(f, inst) if handler else refuse(f"the instruction {name}")


PARTS = {1: "defaults", 2: "kwdefaults", 4: "annotations", 16: "annotations"}


def attach(made: Value, flag: int, part: Value) -> None:
    if flag == 8:
        part = tuple(c for c in part.contents if isinstance(c, Cell))  # type: ignore
    setattr(made, PARTS.get(flag, "closure"), part)


def MAKE_FUNCTION(f: Frame, inst: Instruction) -> None:
    code = f.pop().real
    made = Function(code, f.space, code.co_qualname)
    for flag in (8, 4, 2, 1):
        if VERSION < (3, 13) and inst.arg & flag:
            attach(made, flag, f.pop())
    f.push(made)


def SET_FUNCTION_ATTRIBUTE(f: Frame, inst: Instruction) -> None:
    part, made = f.popn(2)
    attach(made, inst.arg, part)
    f.push(made)


IMPORT_NAME: Handler = lambda f, inst: f.push(model.import_(f, inst.argval, *f.popn(2)))
IMPORT_FROM: Handler = lambda f, inst: f.push(attributes.getattr_(f.ev, f.stack[-1], inst.argval))


# ---------------------------------------------------------------- generators
def RETURN_GENERATOR(f: Frame, inst: Instruction) -> Value:
    made = Generator(f, f.call)
    made.born = f.ev.at
    f.ev.generators.append(made)
    return made


YIELD_VALUE: Handler = lambda f, inst: Yielded(f.pop())


def SEND(f: Frame, inst: Instruction) -> None:
    sent = f.pop()
    try:
        f.push(model.send(f.ev, f.stack[-1], sent))
    except Raised as raised:
        if raised.value.cls is not StopIteration:
            raise
        if VERSION < (3, 12):
            f.pop()
        f.push(model.stop_value(f.ev, raised.value))
        f.index = inst.target


END_SEND = pushes(2, lambda ev, iterator, value: value)


# ---------------------------------------------------------------- exceptions and `with`
def RAISE_VARARGS(f: Frame, inst: Instruction) -> None:
    cause = f.pop() if inst.arg == 2 else None
    if inst.arg == 0:
        raise Raised(f.ev, f.ev.handled or refuse("raises again what its caller may be handling"))
    exception = model.exception(f.ev, f.pop())
    if cause is not None:
        exception.is_new or refuse("gives a cause to an exception from outside")
        exception.fields["__cause__"] = cause if cause is NONE else model.exception(f.ev, cause)
        exception.fields["__suppress_context__"] = TRUE
    raise Raised(f.ev, exception)


def RERAISE(f: Frame, inst: Instruction) -> None:
    raise Raised(f.ev, model.exception(f.ev, f.pop()))


def PUSH_EXC_INFO(f: Frame, inst: Instruction) -> None:
    exception: Any = f.pop()
    f.stack += [Handled(f.ev.handled), exception]
    f.ev.handled = exception


def POP_EXCEPT(f: Frame, inst: Instruction) -> None:
    handled: Any = f.pop()
    f.ev.handled = handled.previous


def CHECK_EXC_MATCH(f: Frame, inst: Instruction) -> None:
    of = f.pop()
    classes = [c.real for c in (of.read(f.ev) if isinstance(of, Tuple) else [of])]
    if not all(isinstance(c, type) and issubclass(c, BaseException) for c in classes):
        text = "catching classes that do not inherit from BaseException is not allowed"
        raise Raised(f.ev, new_exception(TypeError, Const(text)))
    f.push(const_bool(any(c in f.stack[-1].cls.__mro__ for c in classes)))


def BEFORE_WITH(f: Frame, inst: Instruction) -> None:
    manager = f.pop()
    enter = special(f, manager, "__enter__")
    f.push(special(f, manager, "__exit__"))
    f.push(model.call(f.ev, enter, [], {}))


def special(f: Frame, of: Value, name: str) -> Value:
    return model.special(f.ev, of, name) or refuse(f"{of.cls.__name__} has no {name}")


def WITH_EXCEPT_START(f: Frame, inst: Instruction) -> None:
    exception = f.stack[-1]
    function, own = f.stack[-5:-3] if VERSION >= (3, 14) else (f.stack[-4], NULL)
    args = [f.ev.class_of(exception), exception, attributes.TRACEBACK]
    f.push(model.call(f.ev, function, args if own is NULL else [own, *args], {}))


# ---------------------------------------------------------------- match statements
def matches(flag: int) -> Handler:
    return lambda f, inst: f.push(const_bool(bool(f.stack[-1].cls.__flags__ & flag)))


GET_LEN: Handler = lambda f, inst: f.push(Const(model.length(f.ev, f.stack[-1])))
MATCH_SEQUENCE, MATCH_MAPPING = matches(1 << 5), matches(1 << 6)  # Py_TPFLAGS_SEQUENCE, _MAPPING


def MATCH_KEYS(f: Frame, inst: Instruction) -> None:
    subject, keys = f.stack[-2:]
    if not isinstance(keys, Tuple) or not isinstance(subject, Dict) or subject.cls is not dict:
        refuse("a mapping pattern on something other than a dict")
    found = [subject.get(f.ev, k) for k in keys.read(f.ev)]
    f.push(NONE if None in found else Tuple(v for v in found if v is not None))


def MATCH_CLASS(f: Frame, inst: Instruction) -> None:
    subject, cls, names = f.popn(3)
    f.push(model.call_real(f.ev, match_class, subject, cls, Const(inst.arg), names))


HANDLERS: dict[str, Handler] = {n: h for n, h in [*vars().items()] if n.isupper() and callable(h)}

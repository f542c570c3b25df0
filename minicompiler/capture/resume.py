"""Code that enters a function in the middle.

Around a graph break there are two such functions. The *landing* runs the original bytecode,
eagerly, from the instruction that could not be captured; so the exceptions that it raises meet the
original handlers. Right after that instruction (after a loop that breaks: at the loop's exits) it
calls the *resume function*, which starts there, is captured like any function, and whose result it
returns.

Both take the live locals and the stack as arguments, what super() reads first of all, and all
variables shared with closures as free variables. NULLs on the stack are pushed again, never passed.
"""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from bytecode import Bytecode, CompilerFlags, Instr, Label
from bytecode.instr import CellVar, FreeVar, TryBegin, TryEnd

from . import frame_hook
from .decode import VERSION, Code, Instruction, decode

IF_TRUE = "POP_JUMP_FORWARD_IF_TRUE" if VERSION < (3, 12) else "POP_JUMP_IF_TRUE"
FAST_ONE = re.compile("(?:LOAD|STORE)_FAST(?:_BORROW)?")
VALUE, NULL_SLOT = True, False
Layout = tuple[bool, ...]  # what each stack slot holds, bottom first

# With an odd argument they push a NULL, too.
CALLEES = {"LOAD_GLOBAL", *(("LOAD_ATTR", "LOAD_SUPER_ATTR") if VERSION >= (3, 12) else ())}


@dataclass(frozen=True)
class Entry:
    """Where and how a function is entered."""

    code: CodeType
    index: int
    layout: Layout
    live: tuple[str, ...]  # locals that are passed


def cells(code: CodeType) -> tuple[str, ...]:
    """All variables that live in cells, in the order of the closure of code made here."""
    return (*code.co_cellvars, *code.co_freevars)


def after(inst: Instruction, layout: Layout, depth: int) -> Layout:
    """Stack layout, `depth` high, behind an instruction that runs in Python. Only calls take NULLs
    away."""
    layout = (*layout, *[VALUE] * depth)[:depth]
    if "CALL" in inst.opname:
        return (*layout[:-1], VALUE)
    if inst.opname == "LOAD_METHOD" or (inst.opname in CALLEES and inst.arg & 1):
        return (*layout[:-2], *((NULL_SLOT, VALUE) if VERSION < (3, 13) else (VALUE, NULL_SLOT)))
    return layout


def call(function: Iterable[Instr], arguments: list[Instr], n: int) -> Iterable[Instr]:
    null = Instr("PUSH_NULL")
    yield from [null, *function] if VERSION < (3, 13) else [*function, null]
    yield from arguments
    if VERSION == (3, 11):
        yield Instr("PRECALL", n)
    yield Instr("CALL", n)


def enter(entry: Entry, exits: dict[int, Entry] | None, space: dict[str, Any]) -> CodeType:
    """The code of a function that starts at `entry`. With `exits` (index -> entry of the resume
    function that goes on from there) it is a landing and runs eagerly, else a resume function."""
    code, decoded = entry.code, decode(entry.code)
    original = Bytecode.from_code(code, conserve_exception_block_stackdepth=True)
    stack = [f"stack_{i}" for i in range(sum(entry.layout))]
    made = Bytecode()
    made.name = code.co_name  # in tracebacks it is the program's function
    made.filename, made.first_lineno = code.co_filename, code.co_firstlineno
    made.docstring = None
    made.argnames = [*entry.live, *stack]
    made.argcount = len(made.argnames)
    made.freevars = list(cells(code))
    made.flags = original.flags & ~(CompilerFlags.VARARGS | CompilerFlags.VARKEYWORDS)
    target, start = Label(), Label()
    made.extend(_head(entry, stack, target, start))
    behind = exits or {}
    tails = {index: Label() for index in behind}
    made.extend(_body(original, decoded, entry, target, tails))
    for index, label in tails.items():
        made.append(label)
        for item in _tail(behind[index], space):  # in tracebacks it is where the graph broke
            item.lineno = decoded.instructions[index - 1].line
            made.append(item)
    result = made.to_code(compute_exception_stack_depths=False)  # as CPython computed them
    kind = "resume" if exits is None else "eager"
    result = result.replace(co_qualname=f"{code.co_qualname}_{kind}_{entry.index}")
    if exits is not None:
        frame_hook.skip(result)
    return result


def _head(entry: Entry, stack: list[str], target: Label, start: Label) -> Iterable[Any]:
    if names := cells(entry.code):
        yield Instr("COPY_FREE_VARS", len(names))
    yield Instr("RESUME", 0)
    # Never taken. It keeps the code before the entry reachable, so that every protected region
    # gets its stack depth.
    yield from [Instr("LOAD_CONST", False), Instr(IF_TRUE, start)]
    names_left = iter(stack)
    for slot in entry.layout:
        yield Instr("LOAD_FAST", next(names_left)) if slot else Instr("PUSH_NULL")
    yield from [Instr("JUMP_FORWARD", target), start]


def _body(
    original: Bytecode, code: Code, entry: Entry, target: Label, tails: dict[int, Label]
) -> Iterable[Any]:
    """The original instructions: entered at `target`, left at the `tails`."""
    entry_raw = code.instructions[entry.index].raw
    leave = {code.instructions[i].raw: label for i, label in tails.items()}
    raw = -1
    open_try: TryBegin | None = None
    renamed: dict[int, TryBegin] = {}
    for item in original:
        if isinstance(item, TryBegin):
            open_try = item
        elif isinstance(item, TryEnd):
            item = TryEnd(renamed.get(id(item.entry), item.entry))
            open_try = None
        if isinstance(item, Instr):
            raw += 1
            if raw == entry_raw:
                if open_try is not None:  # split the region: it is entered in its middle
                    again = TryBegin(open_try.target, open_try.push_lasti, open_try.stack_depth)
                    renamed[id(open_try)] = again
                    yield from [TryEnd(open_try), target, again]
                else:
                    yield target
            if raw in leave:
                yield from [Instr("LOAD_CONST", True), Instr(IF_TRUE, leave[raw])]
            parts = [_closed(part, code.code.co_cellvars) for part in _apart(item)]
            if tails and raw == entry_raw:
                parts[:1] = _without_method(parts[0])
            yield from parts
        else:
            yield item


def _apart(item: Instr) -> list[Instr]:
    """What works on two variables takes four bits for each, too few where arguments were added."""
    both: Any = item.arg if "_FAST_" in item.name and isinstance(item.arg, tuple) else ()
    parts = zip(FAST_ONE.findall(item.name), both)
    return [Instr(name, arg, location=item.location) for name, arg in parts] or [item]


def _closed(item: Instr, cells: tuple[str, ...]) -> Instr:
    """A variable in a cell of the function's own lies in its closure now."""
    closed = item.arg if item.name == "LOAD_FAST" else None  # 3.13: a parameter's cell
    name: Any = item.arg.name if isinstance(item.arg, CellVar) else closed
    is_cell = isinstance(name, str) and name in cells
    return Instr(item.name, FreeVar(name), location=item.location) if is_cell else item


def _without_method(item: Instr) -> Iterable[Instr]:
    """Load a method as a bound object, so that the stack behind it has a known layout."""
    bound, null, location = item.arg, Instr("PUSH_NULL"), item.location
    if item.name == "LOAD_METHOD":
        yield from [null, Instr("SWAP", 2), Instr("LOAD_ATTR", bound, location=location)]
    elif item.name == "LOAD_ATTR" and isinstance(bound, tuple) and bound[0]:
        load = Instr("LOAD_ATTR", (False, bound[1]), location=location)
        yield from [null, Instr("SWAP", 2), load] if VERSION < (3, 13) else [load, null]
    else:
        yield item


def _tail(entry: Entry, space: dict[str, Any]) -> Iterable[Instr]:
    """Hand stack and locals to the resume function and return what it returns."""
    code = enter(entry, None, space)
    names = []
    for i, slot in reversed(list(enumerate(entry.layout))):
        yield Instr("STORE_FAST", f"left_{i}")  # a NULL, too, leaves the stack this way
        if slot:
            names.append(f"left_{i}")
    if code.co_freevars:
        load = "LOAD_CLOSURE" if VERSION < (3, 13) else "LOAD_FAST"
        closure = [Instr(load, FreeVar(name)) for name in code.co_freevars]
        closure.append(Instr("BUILD_TUPLE", len(closure)))
        make = functools.partial(FunctionType, code, space, None, None)
        function = call([Instr("LOAD_CONST", make)], closure, 1)
    else:
        function = [Instr("LOAD_CONST", FunctionType(code, space))]
    arguments = [Instr("LOAD_FAST", name) for name in (*entry.live, *reversed(names))]
    yield from call(function, arguments, len(arguments))
    yield Instr("RETURN_VALUE")

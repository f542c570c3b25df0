# teaches, until 3.12: the lowest first
from collections.abc import Iterator
from types import CodeType
from typing import Any

from bytecode import Bytecode, CompilerFlags, Instr, Label

from minicompiler.capture import frame_hook
from minicompiler.capture.decode import decode
from minicompiler.capture.resume import IF_TRUE, Entry, _body, _tail, cells


def enter(entry: Entry, exits: dict[int, Entry] | None, space: dict[str, Any]) -> CodeType:
    code, decoded = entry.code, decode(entry.code)
    original = Bytecode.from_code(code, conserve_exception_block_stackdepth=True)
    stack = [f"stack_{i}" for i in range(sum(entry.layout))]
    target = Label()
    tails = {index: Label() for index in exits or {}}

    made = Bytecode()
    made.name, made.filename = code.co_name, code.co_filename
    made.first_lineno, made.docstring = code.co_firstlineno, None
    made.argnames = [*entry.live, *reversed(stack)]
    made.argcount = len(made.argnames)
    made.freevars = list(cells(code))
    made.flags = original.flags & ~(CompilerFlags.VARARGS | CompilerFlags.VARKEYWORDS)
    made.extend(head(entry, stack, target))
    made.extend(_body(original, decoded, entry, target, tails))
    for index, label in tails.items():
        made.append(label)
        for instruction in _tail((exits or {})[index], space):
            instruction.lineno = decoded.instructions[index - 1].line
            made.append(instruction)
    result = made.to_code(compute_exception_stack_depths=False)
    if exits is not None:
        frame_hook.skip(result)
    return result


def head(entry: Entry, stack: list[str], target: Label) -> Iterator[Any]:
    if names := cells(entry.code):
        yield Instr("COPY_FREE_VARS", len(names))
    yield Instr("RESUME", 0)
    start = Label()
    yield from [Instr("LOAD_CONST", False), Instr(IF_TRUE, start)]
    values = iter(stack)
    for filled in entry.layout:
        yield Instr("LOAD_FAST", next(values)) if filled else Instr("PUSH_NULL")
    yield from [Instr("JUMP_FORWARD", target), start]

"""Bytecode as the evaluator reads it: instructions, exception table, loops, liveness.

In: a code object. Out: `Code`, computed once for each code object.
Invariant: a prefix (EXTENDED_ARG, KW_NAMES, PRECALL) is part of the instruction it belongs to, so
every `Instruction` can be entered with nothing but a stack and locals.
"""

import dis
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

VERSION = sys.version_info[:2]
# What only prepares the next instruction: never a place to enter code.
PREFIXES = frozenset({"CACHE", "EXTENDED_ARG", "KW_NAMES", "PRECALL"})
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
READS_LOCAL = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "DELETE_FAST"})
READS_LOCAL |= {"LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}

WRITES_LOCAL = frozenset({"STORE_FAST", "STORE_FAST_MAYBE_NULL", "STORE_FAST_STORE_FAST"})


def parameters(code: CodeType) -> tuple[str, ...]:
    """Names of the arguments, `*args` and `**kwargs` included."""
    star = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + star]


@dataclass(slots=True)
class Instruction:
    """`index` counts instructions without prefixes; `raw` counts them as `bytecode` lists them."""

    opname: str
    opcode: int
    arg: int
    argval: Any
    offset: int  # of the first prefix
    index: int
    raw: int
    line: int
    target: int = -1  # index a jump goes to
    kwnames: tuple[str, ...] = ()

    @property
    def unconditional(self) -> bool:
        return self.target >= 0 and (
            self.opname.startswith("JUMP_") and not self.opname.startswith("JUMP_IF")
        )

    def effect(self, jump: bool) -> int:
        """By how much the stack grows."""
        if self.opname == "CALL" and VERSION == (3, 11):
            return -self.arg - 1  # together with PRECALL
        argument = self.arg if self.opcode >= dis.HAVE_ARGUMENT else None
        return dis.stack_effect(self.opcode, argument, jump=jump)


@dataclass(frozen=True, slots=True)
class Handler:
    """Instructions first..last (inclusive) are covered; `depth` items stay on the stack."""

    first: int
    last: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """A backward jump's span: `head` is entered each time round, `last` jumps back to it."""

    head: int
    last: int


class Code:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions: list[Instruction] = []
        self.at: dict[int, int] = {}  # offset -> index
        self._decode()
        self.handlers = list(self._exception_table())

    def _decode(self) -> None:
        line, raw, kwnames = self.code.co_firstlineno, 0, ()
        first: int | None = None  # offset of the first prefix
        first_raw = 0
        for inst in dis.get_instructions(self.code):
            line = (inst.positions.lineno if inst.positions else None) or line
            if first is None:
                first, first_raw = inst.offset, raw
            if inst.opname not in ("CACHE", "EXTENDED_ARG"):
                raw += 1
            if inst.opname in PREFIXES:
                if inst.opname == "KW_NAMES":
                    kwnames = self.code.co_consts[inst.arg or 0]
                elif inst.opname == "CACHE":
                    first = None
                continue
            index = len(self.instructions)
            made = Instruction(
                inst.opname, inst.opcode, inst.arg or 0, inst.argval, first, index, first_raw, line
            )
            made.kwnames, kwnames, first = kwnames, (), None
            self.at[made.offset] = self.at[inst.offset] = index
            self.instructions.append(made)
        jumps = set(dis.hasjrel) | set(dis.hasjabs)
        for made in self.instructions:
            if made.opcode in jumps:
                made.target = self.at[made.argval]

    def _exception_table(self) -> Iterator[Handler]:
        for entry in dis._parse_exception_table(self.code):  # type: ignore[attr-defined]
            covered = [i for offset, i in self.at.items() if entry.start <= offset < entry.end]
            if covered:
                target = self.at[entry.target]
                yield Handler(min(covered), max(covered), target, entry.depth, entry.lasti)

    def handler(self, index: int) -> Handler | None:
        return next((h for h in self.handlers if h.first <= index <= h.last), None)

    def successors(self, index: int) -> list[int]:
        """Indices that may run after this one, exception handlers apart."""
        inst = self.instructions[index]
        after = [] if inst.target < 0 else [inst.target]
        if inst.opname not in ENDS and not inst.unconditional:
            after.append(index + 1)
        return after

    @cached_property
    def loops(self) -> list[Loop]:
        """Outermost loops; overlapping spans count as one."""
        merged: list[Loop] = []
        jumps = [i for i in self.instructions if 0 <= i.target <= i.index]
        # A jump back out of an exception handler (continue) leads to a head that others have too.
        for inst in sorted(jumps, key=lambda i: i.target):
            if inst.opname == "JUMP_BACKWARD_NO_INTERRUPT":
                continue  # yield from
            if merged and inst.target <= merged[-1].last:
                merged[-1] = Loop(merged[-1].head, max(merged[-1].last, inst.index))
            else:
                merged.append(Loop(inst.target, inst.index))
        return merged

    def loop_around(self, index: int) -> Loop | None:
        return next((loop for loop in self.loops if loop.head <= index <= loop.last), None)

    @cached_property
    def live(self) -> list[frozenset[str]]:
        """Local names (not cells) that may be read at or after each instruction."""
        reads: list[frozenset[str]] = []
        writes: list[frozenset[str]] = []
        for inst in self.instructions:
            names = inst.argval if isinstance(inst.argval, tuple) else (inst.argval,)
            stored = names if inst.opname in WRITES_LOCAL else ()
            loaded = names if inst.opname in READS_LOCAL else ()
            if inst.opname == "STORE_FAST_LOAD_FAST":
                stored, loaded = names[:1], names[1:]
            writes.append(frozenset(stored))
            reads.append(frozenset(loaded) - frozenset(stored))
        n = len(self.instructions)
        live: list[frozenset[str]] = [frozenset()] * (n + 1)
        before: list[frozenset[str]] = []
        while live != before:
            before = list(live)
            for i in reversed(range(n)):
                handler = self.handler(i)
                after = [*self.successors(i), *([handler.target] if handler else [])]
                out = frozenset[str]().union(*(live[j] for j in after))
                live[i] = reads[i] | (out - writes[i])
        return live

    def depths(self, index: int, depth: int, last: int) -> dict[int, int]:
        """Stack depth at every instruction reached from `index` by jumps, within the span up to
        `last` and one step out of it."""
        found, todo = {index: depth}, [index]
        while todo:
            i = todo.pop()
            if not index <= i <= last:
                continue
            inst = self.instructions[i]
            for j in self.successors(i):
                if j not in found:
                    found[j] = found[i] + inst.effect(jump=j == inst.target)
                    todo.append(j)
        return found


@lru_cache(maxsize=4096)
def _decoded(code: CodeType, identity: int) -> Code:
    return Code(code)


def decode(code: CodeType) -> Code:
    """The instructions of `code`; equal but distinct code objects are kept apart."""
    return _decoded(code, id(code))

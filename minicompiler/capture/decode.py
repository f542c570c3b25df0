"""Bytecode as the evaluator reads it: instructions, exception table, loops, liveness.

In: a code object. Out: `Code`, computed once for each code object.
Invariant: a prefix (EXTENDED_ARG, KW_NAMES, PRECALL) is part of the instruction it belongs to, so
every `Instruction` can be entered with nothing but a stack and locals.
"""

import dis
import re
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

VERSION = sys.version_info[:2]
# How much of END_FOR, POP_TOP lies at the target of FOR_ITER but is jumped over.
SKIPPED = {(3, 11): 0, (3, 13): 2}.get(VERSION, 1)
# What only prepares the next instruction: never a place to enter code.
PREFIXES = frozenset({"CACHE", "EXTENDED_ARG", "KW_NAMES", "PRECALL"})
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
ENDS |= {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}


# 3.11 has conditional jumps for either way; here they are named as later ones.
EITHER_WAY = re.compile("(?<=POP_JUMP)_(FORWARD|BACKWARD)(?=_IF)")
# what LOAD_FAST, STORE_FAST_LOAD_FAST etc. do, one after the other
FAST = re.compile("(LOAD|STORE|DELETE)_(?:FAST|DEREF)")


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

    def effect(self, jump: bool) -> int:
        """By how much the stack grows."""
        if self.opname == "FOR_ITER" and jump:
            return -1 if VERSION < (3, 14) else 0
        if self.opname == "CALL" and VERSION == (3, 11):
            return -self.arg - 1  # together with PRECALL
        argument = self.arg if self.opcode >= dis.HAVE_ARGUMENT else None
        return dis.stack_effect(self.opcode, argument, jump=jump)


class Code:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions: list[Instruction] = []
        self.at: dict[int, int] = {}  # offset -> index
        named = [names for names in code.co_consts if type(names) is tuple]  # some of arguments
        self.differentiates_twice = any("create_graph" in names for names in named)
        asks = {"__class__", "super"} <= {*code.co_freevars, *code.co_names}
        self.first = frozenset(code.co_varnames[:asks])  # what super() reads, if it may be called
        self._decode()
        hides = {i.argval for i in self.instructions if i.opname == "LOAD_FAST_AND_CLEAR"}
        # of an inlined comprehension: variables that closures share outside of it
        self.hidden = hides.intersection((*code.co_cellvars, *code.co_freevars))
        table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        self.handlers = [entry._replace(target=self.at[entry.target]) for entry in table]

    def _decode(self) -> None:
        line, raw = self.code.co_firstlineno, 0
        parts: list[dis.Instruction] = []  # prefixes, then the instruction
        for inst in dis.get_instructions(self.code):
            line = (inst.positions.lineno if inst.positions else None) or line
            parts.append(inst)
            if inst.opname in PREFIXES:
                continue
            index, first = len(self.instructions), parts[0].offset
            name, arg = EITHER_WAY.sub("", inst.opname), inst.arg or 0
            made = Instruction(name, inst.opcode, arg, inst.argval, first, index, raw, line)
            for names in (part.arg for part in parts if part.opname == "KW_NAMES"):
                made.kwnames = self.code.co_consts[names or 0]
            raw += sum(part.opname != "EXTENDED_ARG" for part in parts)
            self.at[first] = self.at[inst.offset] = index
            self.instructions.append(made)
            parts = []
        jumps = set(dis.hasjrel) | set(dis.hasjabs)
        for made in self.instructions:
            if made.opcode in jumps:
                made.target = self.at[made.argval]
            if made.opname == "FOR_ITER":
                made.target += SKIPPED

    def handler(self, index: int) -> Any:
        """Where exceptions go: `target` (an index), with `depth` items left on the stack, and
        `lasti`, the place, if that is true; None: out of the frame."""
        at = self.instructions[index].offset
        return next((h for h in self.handlers if h.start <= at < h.end), None)

    def successors(self, index: int) -> list[int]:
        """Indices that may run after this one, exception handlers apart."""
        inst = self.instructions[index]
        after = [] if inst.target < 0 else [inst.target]
        if inst.opname not in ENDS:
            after.append(index + 1)
        return after

    def raises(self, index: int) -> bool:
        """Does what begins here always end in `raise`?"""
        while (inst := self.instructions[index]).target < 0 and inst.opname not in ENDS:
            index += 1
        return inst.opname == "RAISE_VARARGS"

    @cached_property
    def loops(self) -> list[range]:
        """Outermost loops, from where each is entered to its last jump back; overlapping ones count
        as one. A jump out of an exception handler (continue) counts where its head has no other:
        from 3.12 on handlers lie behind everything else."""
        merged: list[range] = []
        jumps = [i for i in self.instructions if 0 <= i.target <= i.index]
        plain = self.depths(0, 0, range(len(self.instructions)))
        heads = {i.target for i in jumps if i.index in plain}
        jumps = [i for i in jumps if i.index in plain or i.target not in heads]
        for inst in sorted(jumps, key=lambda i: i.target):
            if inst.opname == "JUMP_BACKWARD_NO_INTERRUPT":
                continue  # yield from
            start, stop = inst.target, inst.index + 1
            if merged and start < merged[-1].stop:
                start, stop = merged[-1].start, max(merged.pop().stop, stop)
            merged.append(range(start, stop))
        return merged

    @cached_property
    def live(self) -> list[frozenset[str]]:
        """Names of the function's own that may be read at or after each instruction."""
        none = frozenset[str]()
        live, before = [none] * (len(self.instructions) + 1), [none]
        while live != before:
            before = list(live)
            for i, inst in reversed(list(enumerate(self.instructions))):
                handler = self.handler(i)
                after = [*self.successors(i), *([handler.target] if handler else [])]
                live[i] = none.union(*(live[j] for j in after))
                names = inst.argval if isinstance(inst.argval, tuple) else (inst.argval,)
                for does, name in reversed(list(zip(FAST.findall(inst.opname), names))):
                    if (name in self.code.co_cellvars) != ("DEREF" in inst.opname):
                        continue  # 3.13 loads the cell itself; a variable of another function
                    live[i] = live[i] - {name} if does == "STORE" else live[i] | {name}
                live[i] |= self.first
        return live

    def depths(self, index: int, depth: int, span: range) -> dict[int, int]:
        """Stack depth at every instruction reached from `index` by jumps, within the span and
        one step out of it."""
        found, todo = {index: depth}, [index]
        for i in todo:
            inst = self.instructions[i]
            for j in self.successors(i):
                if j not in found:
                    found[j] = found[i] + inst.effect(jump=j == inst.target)
                    todo += [j] if j in span else []
        return found


@lru_cache(maxsize=4096)
def _decoded(code: CodeType, identity: int) -> Code:
    return Code(code)


def decode(code: CodeType) -> Code:
    """The instructions of `code`; equal but distinct code objects are kept apart."""
    return _decoded(code, id(code))

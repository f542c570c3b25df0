"""What the front half has to say of one frame: bytecode, graph, guards, breaks, resume functions.

In: the record of a frame. Out: blocks for `display`. Each decision comes with the user's line that
led to it, and with its why.
"""

import dis
import linecache
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType
from typing import Any

import torch

from .display import Block, Code, Rows
from .record import Record, Why

JUMPS = {*dis.hasjrel, *dis.hasjabs}
MADE = re.compile(r"_(resume|eager)_\d+$")  # functions that enter another in its middle


def line(place: str) -> str:
    """`file:line in name` as a person finds it, and what is written there."""
    if not (found := re.fullmatch(r"(?s)(.*):(\d+)(.*)", place)):
        return place
    text = linecache.getline(found[1], int(found[2])).strip()
    return f"{found[1].rpartition('/')[2]}:{found[2]}{found[3]}" + (f":  {text}" if text else "")


def near(text: str) -> str:
    """Paths below the working directory as they are written there."""
    return text.replace(os.path.join(os.getcwd(), ""), "")


def decided(record: Record, verdict: str) -> list[Why]:
    return [w for w in record.whys if w.stage == "capture" and w.verdict == verdict]


def of_a_library(record: Record) -> bool:
    return any(w.reason.startswith("code of ") for w in decided(record, "left to Python"))


def title(record: Record) -> str:
    """The frame, and where the user finds it."""
    made = record.stages.get("bytecode")
    return f"{record.name} ({place(made[0]).rpartition('/')[2]})" if made else record.name


# ---------------------------------------------------------------------------------------- bytecode


def entered(code: CodeType) -> dis.Instruction | None:
    """Where a function enters another in its middle."""
    instructions = list(dis.get_instructions(code))
    jump = next((i.argval for i in instructions if i.opname == "JUMP_FORWARD"), 0)
    found = (i for i in instructions if i.offset >= jump)
    return next(found) if MADE.search(code.co_qualname) else None


def place(code: CodeType) -> str:
    at = entered(code)
    number = (at and at.positions and at.positions.lineno) or code.co_firstlineno
    return f"{code.co_filename}:{number}"


def listing(code: CodeType) -> str:
    """Bytecode under the user's lines. Of a function that enters another in its middle: how it
    does, and what may run from there on."""
    instructions, at = list(dis.get_instructions(code)), entered(code)
    entry = at.offset if at else 0
    back = [i.argval for i in instructions if i.offset >= entry and i.opcode in JUMPS]
    start, lines, last = min([entry, *back]), list[str](), 0  # a loop leads back
    if at:  # up to the jump
        count = [i.opname for i in instructions].index("JUMP_FORWARD") + 1
        lines += map(instruction, instructions[:count])
    for i in (i for i in instructions if i.offset >= start):
        number = (i.positions and i.positions.lineno) or last
        if number != last:
            lines.append(f"{number:4}  {linecache.getline(code.co_filename, number).strip()}")
        lines.append(instruction(i))
        last = number
    return "\n".join(lines)


def instruction(i: dis.Instruction) -> str:
    label = getattr(i, "label", None)  # what jumps name from 3.13 on; before, they name offsets
    mark = f"L{label}:" if label else ">>" if i.is_jump_target else ""
    return f"{mark:>5} {i.offset:4} {i.opname:20} {i.argrepr}".rstrip()


def bytecode(record: Record) -> Iterator[Block]:
    """The user's, beside what runs instead."""
    for code in record.stages.get("bytecode", ()):
        user, made = Code(listing(code)), record.stages.get("replacement")
        yield (user, Code(made[-1], "python")) if made else user


# ------------------------------------------------------------------------------------------- graph


def graph(record: Record) -> Iterator[Block]:
    for gm in record.stages.get("graph", ()):
        rows = [node(n) for n in gm.graph.nodes]
        repeated = [False, *(a[3] == b[3] for a, b in pairwise(rows))]
        rows = [(*row[:3], "" if same else row[3]) for same, row in zip(repeated, rows)]
        yield Rows(rows, ("value", "is", "of", "from"))


def node(n: torch.fx.Node) -> tuple[str, str, str, str]:
    args = [*map(repr, n.args), *(f"{name}={value!r}" for name, value in n.kwargs.items())]
    call = f"{getattr(n.target, '__name__', n.target)}({', '.join(args)})"
    call = f"input {written(n.meta['source'])}" if "source" in n.meta else call
    return n.name, call, kind(n.meta.get("val")), line(n.meta.get("stack", ""))


def kind(value: Any) -> str:
    """float32[4, 8] for a tensor, and where it is if not on the CPU; nothing for what is none."""
    if isinstance(value, torch.Tensor):
        device = f" on {value.device}" * (value.device.type != "cpu")
        return f"{value.dtype}{list(value.shape)}{device}".removeprefix("torch.")
    return ", ".join(map(kind, value if isinstance(value, tuple | list) else ()))


# ------------------------------------------------------------------------------------------ guards

# what `KIND path: expectation` looks like -> why that is assumed; the first that fits
WHY = {
    r"^(ALIASED|NOT_ALIASED|DISTINCT|OVERLAPS)": "a write to one must show, or not, in the others",
    r"^TENSOR": "what was compiled is for such a tensor",
    r"\.__(code|defaults|kwdefaults|closure|globals)__": "the function was inlined as it was",
    r"_hooks(_\w+)?\b": "hooks run around the call of a module: these, and no others",
    r"^HAS_KEY .*: no key": "not found here, so the search went on: to a class, or to builtins",
    r"^ID .*: absent": "the class has no such name, which would come before the object's own",
    r"^ID type\(": "what the class answers; a patched class would answer otherwise",
    r"^ID .*: the same function": "it was called, and inlined",
    r"^ID": "taken as it is: a constant of what was compiled",
    r"^TYPE": "its class says what reading, calling and comparing it means",
    r"^EQUALS": "a constant of what was compiled",
    r"^(LENGTH|DICT_KEYS)": "its items were taken one by one, or searched",
    r"": "the answer decided what was captured",
}


def written(path: object) -> str:
    """A path as the user would write it: self.norm.weight for L['self'].norm.weight."""
    text = re.sub(r"const\(dict\)\['(\w+)'\]", r"\1 of a library", str(path))
    text = re.sub(r"(?<![\w\]])(?:[LCG]|cell)\['(\w+)'\]", r"\1", text)
    return re.sub(r"^G\b", "the module", text)


def expects(guard: Any) -> str:
    e = guard.expected
    if guard.kind == "TENSOR":
        text = f"{e.dtype}{list(e.size)} on {e.device}, strides {e.stride}".removeprefix("torch.")
        return f"{text}{', requires grad' if e.requires_grad else ''}"
    if guard.kind == "DISTINCT":
        return f"different objects: {', '.join(map(written, e))}"
    told = repr(guard).removeprefix(f"{guard.kind} {guard.source or ''} ")
    return written(told.replace("the same nothing", "absent"))


def guards(record: Record) -> Iterator[Block]:
    """By the user's line; equal expectations of one line in one row."""
    for made in record.stages.get("guards", ())[-1:]:
        lines: dict[str, dict[tuple[str, str], list[str]]] = {}
        state = [f"{g.kind} {expects(g)}" for g in made.rows if not (g.source or g.where)]
        for g in (g for g in made.rows if g.source or g.where):
            path, told = written(g.source or g.kind.lower()), expects(g)
            look = f"{g.kind} {path}: {told}"
            why = next(why for pattern, why in WHY.items() if re.search(pattern, look))
            lines.setdefault(g.where, {}).setdefault((told, why), []).append(path)
        yield Rows([(f"{len(made)} guards. State of torch: {', '.join(state)}",)])
        # a resume function reads what it is handed before it enters the user's lines
        first = MADE.search(record.name) and f":{record.stages['bytecode'][0].co_firstlineno} in "
        for where, groups in lines.items():
            yield Rows([(line(where) if where and not (first and first in where) else "on entry",)])
            yield Rows([(", ".join(paths), *told) for told, paths in groups.items()])


# ------------------------------------------------------------------------------ breaks, recompiles


def breaks(record: Record) -> Iterator[Block]:
    """Where the graph ends, why, what is handed over, and what goes on; or why there is none."""
    whys = decided(record, "break")
    yield from (Code(near(w.reason)) for w in whys if not w.data)  # a graph that runs as captured
    for refusal, landing in (w.data.values() for w in whys if w.data):
        then = [f"{called(c)} at {line(place(c))}" for c in behind(landing)]
        rows = [
            ("breaks at", line(place(landing))),
            ("because it", f"{refusal.reason}, at {line(refusal.where)}"),
            ("instead", refusal.hint),
            ("eagerly", called(landing)),
            *[("then", text) for text in then or ["Python, to the end of the function"]],
        ]
        yield Rows([row for row in rows if row[1]])
    left = decided(record, "left to Python")
    yield from (Code(f"left to Python: {near(w.reason)}") for w in left)


def behind(landing: CodeType) -> list[CodeType]:
    """The resume functions that a landing calls; with a closure it makes them first."""
    found = [getattr(c, "args", (c,))[0] for c in landing.co_consts]
    codes = [getattr(c, "__code__", c) for c in found]
    return [c for c in codes if isinstance(c, CodeType) and "_resume_" in c.co_qualname]


def called(code: CodeType) -> str:
    """The function and what it is given: locals, what lay on the stack, variables in cells."""
    cells = f"; cells {', '.join(code.co_freevars)}" if code.co_freevars else ""
    return f"{code.co_qualname}({', '.join(code.co_varnames[: code.co_argcount])}{cells})"


def resume(record: Record) -> Iterator[Block]:
    """What each takes, where it enters the user's function, its bytecode."""
    for why in decided(record, "break"):
        for code in behind(why.data["landing"]) if why.data else ():
            yield Rows([(f"{called(code)} enters {line(place(code))}",)])
            yield Code(listing(code))


def recompiles(record: Record) -> Iterator[Block]:
    """The guard that failed, both values, the user's line that assumed it."""
    for failed in (why.data["failed"] for why in decided(record, "recompile")):
        if isinstance(failed, tuple):
            guard, expected, found = failed
            told = guard.source or guard.kind.lower(), expected, found, line(guard.where)
            yield Rows(list(zip(("guard", "expected", "found", "assumed"), map(written, told))))

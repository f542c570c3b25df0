"""What evaluation did to the world outside: the list to be replayed after the graph."""

import logging
import sys
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from torch.utils._pytree import tree_leaves

from .frame_hook import type_lookup
from .values import ABSENT, E, Obj, Unbuildable, Value, constant, describe, refuse, trusted

Args = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose only result is output: it can wait until the graph has run."""

    function: Value
    args: Args
    kwargs: dict[str, Value]


def takers() -> tuple[Any, ...]:
    """What takes output, so far as it can be asked at each call."""
    handlers: Any = logging._handlerList  # type: ignore[attr-defined]
    return type(sys.stdout), type(sys.stderr), len(handlers)


def output_is_watched() -> bool:
    """Does code of the program's take output? It may look at what else the program does."""
    handlers: Any = [at() for at in logging._handlerList]  # type: ignore[attr-defined]
    parts = [p for h in handlers if h for p in (h, h.formatter, *h.filters) if p]
    loggers = logging.root.manager.loggerDict.values()
    parts += [f for logger in loggers for f in getattr(logger, "filters", ())]
    streams = [sys.stdout, sys.stderr, *(getattr(h, "stream", None) for h in handlers)]
    writes = [type_lookup(type(stream), "write") for stream in streams]
    return FunctionType in map(type, writes) or not all(trusted(p.__module__) for p in parts)


class Effects:
    """Objects in the order of their first write, and calls that wait. Each object keeps its own
    final state; writes to one object that a program cannot tell apart any more (a list's
    intermediate contents, an attribute written twice) happen once."""

    def __init__(self) -> None:
        self.order: dict[int, Obj | Call] = {}
        self.told: int | None = None  # the step of a call that waits and is watched
        self.writes = 0

    def touch(self, of: Value) -> None:
        """`of` is about to be written. New objects cost nothing: they are built as they end up."""
        self.writes = of.last_write = self.writes + 1
        if isinstance(of, Obj) and not of.is_new:
            if self.told is not None:
                raise Unbuildable(self.told, "output before a write: who takes it may look there")
            self.order.setdefault(id(of), of)

    def later(self, ev: E, of: Value, args: Args, kwargs: dict[str, Value], checked: int) -> None:
        """Call `of` after the graph. Raises Unsupported unless all arguments are constants
        (the first `checked`: outside objects), or where something was written on which what takes
        output, or where it goes, may depend."""
        if any(v.real is ABSENT for v in args[:checked]):
            refuse(f"{describe(of)} of an object made while evaluating")
        now = [constant(v) for v in (*args[checked:], *kwargs.values())]
        # a copy of a set may have another order
        if any(v is ABSENT or type(v) is set for v in tree_leaves(now)):
            refuse("output of something that is computed", "print or log outside")
        watched = output_is_watched()
        ev.guards.add("STATE", None, (takers, (), takers()), ev.where())
        if any(watched or o.real is vars(sys) for o in self.order.values() if isinstance(o, Obj)):
            refuse("output after a write: who takes it may look there")
        self.told = ev.at if watched else self.told
        args = *args[:checked], *map(ev.wrap_fresh, now[: len(args) - checked])
        call = Call(of, args, kwargs)
        self.order[id(call)] = call

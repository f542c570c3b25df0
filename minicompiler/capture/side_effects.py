"""What evaluation did to the world outside: the list to be replayed after the graph."""

import sys
from dataclasses import dataclass

from .values import ABSENT, Obj, Value, constant, refuse


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose only result is output: it can wait until the graph has run."""

    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


class Effects:
    """Objects in the order of their first write, and calls that wait. Each object keeps its own
    final state; writes to one object that a program cannot tell apart any more (a list's
    intermediate contents, an attribute written twice) happen once."""

    def __init__(self) -> None:
        self.order: dict[int, Obj | Call] = {}

    def touch(self, of: Value) -> None:
        """`of` is about to be written. New objects cost nothing: they are built as they end up."""
        if isinstance(of, Obj) and not of.is_new:
            self.order.setdefault(id(of), of)

    def later(
        self,
        function: Value,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        checked: int = 0,
    ) -> None:
        """Call `function` after the graph. Raises Unsupported unless all arguments (but the first
        `checked`) are constants, or where output may have been redirected."""
        for v in (*args[checked:], *kwargs.values()):
            if constant(v) is ABSENT:
                refuse("output of something that is computed", "print or log outside")
        if any(isinstance(o, Obj) and o.real is vars(sys) for o in self.order.values()):
            refuse("output while sys.stdout may be redirected")
        call = Call(function, args, kwargs)
        self.order[id(call)] = call

    def calls(self) -> int:
        return sum(isinstance(of, Call) for of in self.order.values())

    def drop_calls(self, keep: int) -> None:
        """Forget the calls after the first `keep`."""
        waiting = [key for key, of in self.order.items() if isinstance(of, Call)]
        for key in waiting[keep:]:
            del self.order[key]

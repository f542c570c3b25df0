"""What evaluation did to the world outside: the list to be replayed after the graph."""

from dataclasses import dataclass

from .values import ABSENT, Obj, Unbuildable, Value, constant, describe, refuse

Args = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose only result is output: it can wait until the graph has run."""

    function: Value
    args: Args
    kwargs: dict[str, Value]


class Effects:
    """Objects in the order of their first write, and calls that wait. Each object keeps its own
    final state; writes to one object that a program cannot tell apart any more (a list's
    intermediate contents, an attribute written twice) happen once."""

    def __init__(self) -> None:
        self.order: dict[int, Obj | Call] = {}
        self.told: int | None = None  # the step of the first call that waits

    def touch(self, of: Value) -> None:
        """`of` is about to be written. New objects cost nothing: they are built as they end up."""
        if isinstance(of, Obj) and not of.is_new:
            if self.told is not None:
                raise Unbuildable(self.told, "output before a write: who takes it may look there")
            self.order.setdefault(id(of), of)

    def later(
        self, at: int, function: Value, args: Args, kwargs: dict[str, Value], checked: int
    ) -> None:
        """Call `function` after the graph. Raises Unsupported unless all arguments are constants
        (the first `checked`: outside objects), or where something was written that handlers of
        output, or where it goes, may depend on."""
        if any(v.real is ABSENT for v in args[:checked]):
            refuse(f"{describe(function)} of an object made while evaluating")
        if any(constant(v) is ABSENT for v in (*args[checked:], *kwargs.values())):
            refuse("output of something that is computed", "print or log outside")
        if any(isinstance(o, Obj) for o in self.order.values()):
            refuse("output after a write: who takes it may look there")
        self.told = at
        call = Call(function, args, kwargs)
        self.order[id(call)] = call

"""What evaluation wrote to objects that exist outside: the list to be replayed after the graph."""

from .values import Obj, Value


class Effects:
    """Objects in the order of their first write. Each keeps its own final state; writes to one
    object that a program cannot tell apart any more (a list's intermediate contents, an attribute
    written twice) happen once."""

    def __init__(self) -> None:
        self.order: dict[int, Obj] = {}

    def touch(self, of: Value) -> None:
        """`of` is about to be written. New objects cost nothing: they are built as they end up."""
        if isinstance(of, Obj) and not of.is_new:
            self.order.setdefault(id(of), of)

"""What is known about the symbols of one graph.

A symbol stands for a size (or number) that may differ at the next call; its *hint* is the value of
this call. Where the program branches on a condition, the hint decides, and the condition becomes a
*guard*: the graph holds for all sizes that satisfy the guards. Conditions that follow from what is
known already cost no guard. A symbol without a hint (a size that depends on data) cannot decide.
"""

import math
from collections.abc import Iterable
from typing import Any

from ..errors import Unsupported
from .expr import And, Const, Eq, Expr, Le, Mod, Symbol, Value, as_expr, eq, not_, sym
from .ranges import Interval, simplify


class ShapeEnv:
    """Symbols, hints, ranges, and facts: the guards taken so far, and what `check` was told."""

    def __init__(self) -> None:
        self.hints: dict[Expr, Value] = {}
        self.ranges: dict[Expr, Interval] = {}
        self.guards: list[Expr] = []
        self.checks: list[Expr] = []  # to be asserted at run time: about symbols without hint
        self._facts: set[Expr] = set()
        self._equal: dict[Expr, Expr] = {}  # replaced wherever met, by an equality that holds
        self._known: dict[Expr, Expr] = {}

    def size(self, hint: int, low: int = 2, high: float = math.inf) -> Expr:
        """A symbol for a size; sizes with equal hints share it. 0 and 1 stay constants."""
        if hint in (0, 1):
            return as_expr(hint)
        sizes = {value: s for s, value in self.hints.items() if s.sort == "int"}
        if hint in sizes:
            return sizes[hint]
        return self.symbol(f"s{len(sizes)}", hint, low, high)

    def symbol(
        self, name: str, hint: Value | None = None, low: float = -math.inf, high: float = math.inf
    ) -> Expr:
        """A new symbol of the hint's sort; without a hint an int."""
        new = sym(name, "int" if hint is None else type(hint).__name__)
        if hint is not None:
            self.hints[new] = hint
        self.ranges[new] = Interval(low, high)
        return new

    def hint(self, e: Expr) -> Value | None:
        return e.evaluate(self.hints) if e.free <= self.hints.keys() else None

    def simplify(self, e: Expr) -> Expr:
        if e not in self._known:
            replaced = e
            for old, new in self._equal.items():
                replaced = replaced.subs({old: new})
            self._known[e] = simplify(replaced, self.ranges)
        return self._known[e]

    def known(self, condition: Expr) -> bool | None:
        """Whether it holds for all values that the graph is for; None when that is open."""
        e = self.simplify(condition)
        if e.is_const:
            return bool(e)
        return True if e in self._facts else False if not_(e) in self._facts else None

    def evaluate(self, condition: Expr) -> bool:
        """Decided by what is known, or else by the hints under a guard."""
        known = self.known(condition)
        if known is None:
            hint = self.hint(condition)
            if hint is None:
                raise Unsupported(
                    f"the program branches on {condition}, which depends on data",
                    "state what holds with torch._check(...)",
                )
            known = bool(hint)
            fact = self.simplify(condition if known else not_(condition))
            self.guards.append(fact)
            self._learn(fact)
        return known

    def value(self, e: Expr) -> Value:
        """The number itself, where the program needs one: guards that it stays so."""
        e = self.simplify(e)
        hint = self.hint(e)
        if hint is None:
            raise Unsupported(f"the program needs the value of {e}, which depends on data")
        if e.sort == "bool":
            return self.evaluate(e)
        self.evaluate(eq(e, hint))
        return hint

    def check(self, condition: Expr) -> None:
        """Holds, or the program is in error: at run time for what has no hint."""
        if self.known(condition) is None and self.hint(condition) is None:
            self.checks.append(condition)
            self._learn(self.simplify(condition))
        elif not self.evaluate(condition):
            raise RuntimeError(f"expected {condition} to hold")

    def evaluate_sym_node(
        self, node: Any, size_oblivious: bool = False, fallback_value: bool | None = None
    ) -> bool:
        """As torch's own meta kernels ask; the fallback is for what has no hint."""
        known = self.known(node.expr)
        if known is None and fallback_value is not None and self.hint(node.expr) is None:
            return fallback_value
        return self.evaluate(node.expr)

    def _learn(self, fact: Expr) -> None:
        for part in fact.args if type(fact) is And else ():
            self._learn(part)
        self._known.clear()
        self._facts.add(fact)
        if type(fact) is Eq:
            a, b = fact.args
            for old, new in ((a, b), (b, a)):
                if type(old) in (Symbol, Mod) and not (old.free & new.free):
                    self._equal[old] = new
                    return
        if type(fact) is Le:
            self._narrow(*fact.args)

    def _narrow(self, a: Expr, b: Expr) -> None:
        """Ranges from a <= b, where one side is a symbol and the other a number."""
        for s, end, low in ((b, a, True), (a, b, False)):
            r = self.ranges.get(s)
            if r is not None and isinstance(end, Const):
                lo, hi = (max(r.lo, end.value), r.hi) if low else (r.lo, min(r.hi, end.value))
                self.ranges[s] = Interval(lo, hi)

    def free(self, exprs: Iterable[Expr]) -> list[Expr]:
        """The symbols of `exprs`, in a fixed order."""
        return sorted({s for e in exprs for s in self.simplify(e).free}, key=lambda s: s.key)

"""Bindings: the fast form of a check, for frames that work on an object full of parameters.

Guards below one root object (usually `self`) that only read dictionaries hold until one of those
changes. So they are checked in full once for each root, and a walk is bound to it (`_walk.c`): a
few loads for each dictionary tell whether anything moved. If so, the guards are checked in full
again and the walk is bound anew; that never recompiles by itself. What changes without a trace in
a dictionary is checked at every call: metadata of tensors, `__class__`, lists, sets, slots, cells.

Several roots share one check and one compiled frame: 24 equal blocks, or a second instance of a
model, are bindings, not recompiles. Roots are known by weak reference.
"""

import sys
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain
from types import FunctionType
from typing import Any
from weakref import ref

import torch

from .facts import AMBIENT
from .frame_hook import Walk
from .guards import Guard, GuardSet, TensorGuard
from .source import ClassAttr, Const, Field, Item, Local, OwnDict, Source, TypeOf

OWN_DICT, ITEM, NO_ITEM, WHOLE, CLASS_ITEM, FIELD, CONSTANT = range(7)  # as in _walk.c
FIELDS = ("__code__", "__defaults__", "__kwdefaults__")  # of functions, as there
TUPLES = (tuple, torch.Size)
FEWEST = 8  # guards below a root that make up for a binding

tensor_guard: TensorGuard | None = None  # the run-time extension's, handed in by the pipeline,
frame_guard: Any = None  # as is this


def build(guards: GuardSet, bound: "Binding | None" = None) -> tuple[Callable[..., Any], ...]:
    """Checks of the vector, the fastest that there are: all hold where every guard does. The last
    may answer with what a replacement made with `bound` takes as its last argument."""
    rows, checks = list(guards), []
    if tensor_guard is not None and frame_guard is not None:
        alone = [g for g in rows if g.alone]
        tensors = [(g.source.name, g.expected) for g in alone if isinstance(g.source, Local)]
        places = [guards.vector.index(name) for name, _ in tensors]
        state = [AMBIENT[g.kind].question(g.expected) for g in alone if g.source is None]
        on_tensors = tensor_guard([facts.row() for _, facts in tensors])
        checks.append(frame_guard(state, places, on_tensors))
        rows = [g for g in rows if not g.alone]
    if bound := bound or of(guards):
        checks.append(bound.check(rows))
    elif rows or not checks:
        checks.append(guards.build(tensor_guard, rows))
    return tuple(checks)


def found(checks: Iterable[Callable[..., Any]], vector: tuple[Any, ...]) -> Any:
    """What the last check answers; False where one before it does not hold."""
    return reduce(lambda held, check: held and check(*vector), checks, True)


def of(guards: GuardSet) -> "Binding | None":
    """For the module that most guards are about, if any."""
    below: dict[Source, int] = {}
    for guard in guards.rows:
        for source in guard.sources:
            for step in source.above:
                below[step] = below.get(step, 0) + 1
    classes = guards.classes()
    often = [s for s, n in below.items() if n >= FEWEST]
    modules = [s for s in often if issubclass(classes.get(s, object), torch.nn.Module)]
    root = max(modules, key=lambda s: below[s], default=None)
    return None if root is None else Binding(guards, root)


class Binding:
    """What is assumed below one root, and for which root objects it was found to hold.

    `place` says where a replacement finds what a check has read, so that it need not read it again.
    """

    def __init__(self, guards: GuardSet, root: Source) -> None:
        self.guards, self.root = guards, root
        self.steps: list[tuple[int, int, Any]] = []
        self.numbers: dict[Source, int | None] = {root: -1}
        self.lookups: dict[tuple[Any, str], int | None] = {}
        self.classes = guards.classes()
        self.known: dict[int, tuple[ref[Any], Callable[[Any], tuple[Any, ...] | None]]] = {}
        self.bound = dict.fromkeys(filter(self.binds, guards))  # a walk sees to these
        tensors = [g for g in self.bound if g.kind == "TENSOR"]
        self.tensors = {g.source: g.expected.row() for g in tensors if g.source}
        self.guard: tuple[Any, ...] = ()  # of all tensors, and how many
        # places: tensors from the front, in the order of their guard, others from the back
        self.front: dict[Source, int] = {}
        self.back: dict[Source, int] = {}

    def place(self, source: Source) -> str:
        """`found[i]` for what a walk leads to anyway; empty for anything else."""
        if not self.is_below(source) or self.numbers.get(source) is None:
            return ""
        order = self.front if source in self.tensors else self.back
        at = order.setdefault(source, len(order))
        return f"found[{at if order is self.front else ~at}]"

    def check(self, rows: list[Guard]) -> Callable[..., Any]:
        """check(*vector) -> whether the rows hold: False, or what was found, or True where nobody
        asked for a place."""
        result = "found" if self.front or self.back else "True"
        first: list[Guard] = []  # not about the root
        last: list[Guard] = []  # about what a walk leads to
        for guard in rows:
            if guard not in self.bound or (guard.kind == "TENSOR" and tensor_guard is None):
                (last if any(map(self.is_below, guard.sources)) else first).append(guard)

        in_full = self.guards.text(vector=("root",))
        in_full.variables[self.root] = in_full.parameters["root"]
        in_full.require_all(self.bound, tensor_guard)
        modes = any(g.kind == "FUNCTION_MODES" and g.expected for g in self.guards.rows)
        self.in_full = in_full.check(modes)

        text = self.guards.text()
        text.require_all(first, tensor_guard)
        text.lines.append(f"found = {text.const(self.find)}({text.read(self.root)})")
        text.lines.append("if found is None: return False")
        wanted = (*self.tensors, *(source for guard in last for source in guard.sources))
        for at in chain.from_iterable(map(self.reached, wanted)):
            text.variables[at] = self.place(at)
        text.require_all(last, tensor_guard)

        if tensor_guard is not None:
            facts = [self.tensors[source] for source in self.front]
            self.guard = tensor_guard(facts), len(facts)
        self.wanted = tuple(map(self.number, (*self.front, *reversed(self.back))))
        return text.check(modes, result)

    # ---------------------------------------------------------------- sources as steps
    def is_below(self, source: Source) -> bool:
        return self.root in source.above

    def may_reach(self, source: Source) -> bool:
        return self.is_below(source) or (source != self.root and isinstance(source.root, Const))

    def number(self, source: Source) -> int | None:
        """The step that leads to the value of the source; -1 for the root, None where none can."""
        if source not in self.numbers:
            number = None
            match source if self.may_reach(source) else None:
                case Const(value):
                    number = self.step(CONSTANT, self.root, value)
                case OwnDict(of):
                    number = self.step(OWN_DICT, of)
                case Item(of, str(key)) if self.is_dict(of):
                    number = self.step(ITEM, of, key)
                case Field(of, name) if name in FIELDS and self.classes.get(of) is FunctionType:
                    number = self.step(FIELD, of, name)
                case ClassAttr(TypeOf(of), name) if self.number(of) is not None:
                    shared = self.classes.get(of, of), name  # by all objects of a class
                    if shared not in self.lookups:
                        self.lookups[shared] = self.step(CLASS_ITEM, of, name)
                    number = self.lookups[shared]
            self.numbers[source] = number
        return self.numbers[source]

    def step(self, kind: int, start: Source, key: Any = "") -> int | None:
        if (parent := self.number(start)) is None:
            return None
        self.steps.append((kind, parent, key))
        return len(self.steps) - 1

    def is_dict(self, source: Source) -> bool:
        of = type(source.value) if isinstance(source, Const) else self.classes.get(source, object)
        return isinstance(source, OwnDict) or issubclass(of, dict)

    def is_fixed(self, source: Source) -> bool:
        """Does a walk say that a constant here is the same? Items of tuples stay."""
        while isinstance(source, Item) and self.classes.get(source.of) in TUPLES:
            source = source.of
        return source != self.root and self.number(source) is not None

    def binds(self, guard: Guard) -> bool:
        """Does a walk see to this guard, once it was found to hold?"""
        source, expected = guard.source, guard.expected
        if source is None or not self.may_reach(source):
            return False
        if guard.kind == "ID" and isinstance(source, TypeOf) and source.of != self.root:
            return self.number(source.of) is not None  # each step compares the type
        if guard.kind in ("TYPE", "ID", "TENSOR"):
            return self.number(source) is not None
        if guard.kind == "EQUALS" and type(expected.value) is not set:
            return self.is_fixed(source)
        if guard.kind == "HAS_KEY" and type(expected[0]) is str and self.is_dict(source):
            return self.step(ITEM if expected[1] else NO_ITEM, source, expected[0]) is not None
        if guard.kind == "LENGTH" and self.classes.get(source) in TUPLES:
            return self.is_fixed(source)
        if guard.kind in ("DICT_KEYS", "LENGTH") and self.is_dict(source):
            return sys.version_info < (3, 14) and self.step(WHOLE, source) is not None
        return False

    def reached(self, source: Source) -> list[Source]:
        """From where on the way to the source a walk can no longer lead."""
        if source == self.root or not self.is_below(source):
            return []
        if self.number(source) is not None:
            return [source]
        return [found for parent in source.parents for found in self.reached(parent)]

    # ---------------------------------------------------------------- roots
    def find(self, root: Any) -> tuple[Any, ...] | None:
        """The values wanted, if what is assumed of this root holds."""
        known, key = self.known, id(root)
        at, walk = known.get(key, (None, None))
        found = walk(root) if walk is not None and at is not None and at() is root else None
        if found is None and self.in_full(root):
            walk = Walk(tuple(self.steps), self.wanted, root, *self.guard)
            known[key] = ref(root, lambda _: known.pop(key, None)), walk
            found = walk(root)
        return found

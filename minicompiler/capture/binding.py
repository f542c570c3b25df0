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
from collections.abc import Callable
from typing import Any
from weakref import ref

import torch

from .frame_hook import Walk
from .guards import Guard, GuardSet, TensorGuard
from .source import ClassAttr, Item, OwnDict, Source, TypeOf

OWN_DICT, ITEM, NO_ITEM, WHOLE, CLASS_ITEM = range(5)  # kinds of steps, as in _walk.c
TUPLES = (tuple, torch.Size)
FEWEST = 8  # guards below a root that make up for a binding

tensor_guard: TensorGuard | None = None  # the run-time extension's, handed in by the pipeline


def build(guards: GuardSet) -> Callable[..., bool]:
    """check(*vector) -> whether every guard holds, the fastest way there is."""
    root = best_root(guards)
    return guards.build(tensor_guard) if root is None else Binding(guards, root).check


def best_root(guards: GuardSet) -> Source | None:
    """The module that most guards are about, if any."""
    if Walk is None:
        return None
    below: dict[Source, int] = {}
    for guard in guards.rows:
        for source in guard.sources:
            for step in source.above:
                below[step] = below.get(step, 0) + 1
    classes = guards.classes()
    often = [s for s, n in below.items() if n >= FEWEST]
    modules = [s for s in often if issubclass(classes.get(s, object), torch.nn.Module)]
    return max(modules, key=lambda s: below[s], default=None)


class Binding:
    """What is assumed below one root, and for which root objects it was found to hold.

    check(*vector)   all guards, the others included
    """

    def __init__(self, guards: GuardSet, root: Source) -> None:
        self.guards, self.root = guards, root
        self.steps: list[tuple[int, int, str]] = []
        self.numbers: dict[Source, int | None] = {root: -1}
        self.classes = guards.classes()
        self.known: dict[int, tuple[ref[Any], Callable[[Any], tuple[Any, ...] | None]]] = {}

        rows = list(guards)
        first: list[Guard] = []  # not about the root
        bound: list[Guard] = []  # the walk sees to them
        last: list[Guard] = []  # about what the walk leads to
        for guard in rows:
            if binds := self.binds(guard):
                bound.append(guard)
            if not binds or guard.kind == "TENSOR":
                (last if any(map(self.is_below, guard.sources)) else first).append(guard)
        tensors = [g for g in bound if g.kind == "TENSOR"]
        wanted = dict.fromkeys(g.source for g in tensors if g.source)
        for guard in last:
            for source in guard.sources:
                wanted.update(dict.fromkeys(self.reached(source)))
        self.wanted = tuple(self.number(source) for source in wanted)

        in_full = guards.text(vector=("root",))
        in_full.variables[root] = in_full.vector("root")
        in_full.require_all(bound, tensor_guard)
        modes = any(g.kind == "FUNCTION_MODES" and g.expected for g in rows)
        self.in_full = in_full.check(modes)

        text = guards.text()
        text.require_all(first, tensor_guard)
        text.lines.append(f"found = {text.const(self.find)}({text.read(root)})")
        text.lines.append("if found is None: return False")
        text.variables.update((source, f"found[{i}]") for i, source in enumerate(wanted))
        if tensor_guard is not None and tensors:
            check = text.const(tensor_guard([g.expected.row() for g in tensors]))
            text.lines.append(f"if not {check}(*found[:{len(tensors)}]): return False")
            checked = set(map(id, tensors))
            last = [g for g in last if id(g) not in checked]
        text.require_all(last, tensor_guard)
        self.check = text.check(modes)

    # ---------------------------------------------------------------- sources as steps
    def is_below(self, source: Source) -> bool:
        return self.root in source.above

    def number(self, source: Source) -> int | None:
        """The step that leads to the value of the source; -1 for the root, None where none can."""
        if source not in self.numbers:
            number = None
            match source if self.is_below(source) else None:
                case OwnDict(of):
                    number = self.step(OWN_DICT, of)
                case Item(of, str(key)) if self.is_dict(of):
                    number = self.step(ITEM, of, key)
                case ClassAttr(TypeOf(of), name):
                    number = self.step(CLASS_ITEM, of, name)
            self.numbers[source] = number
        return self.numbers[source]

    def step(self, kind: int, start: Source, key: str = "") -> int | None:
        if (parent := self.number(start)) is None:
            return None
        self.steps.append((kind, parent, key))
        return len(self.steps) - 1

    def is_dict(self, source: Source) -> bool:
        return isinstance(source, OwnDict) or issubclass(self.classes.get(source, object), dict)

    def is_fixed(self, source: Source) -> bool:
        """Does a walk say that a constant here is the same? Items of tuples stay."""
        while isinstance(source, Item) and self.classes.get(source.of) in TUPLES:
            source = source.of
        return source != self.root and self.number(source) is not None

    def binds(self, guard: Guard) -> bool:
        """Does a walk see to this guard, once it was found to hold?"""
        source, expected = guard.source, guard.expected
        if source is None or source == self.root or not self.is_below(source):
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
            walk = Walk(tuple(self.steps), self.wanted, root)
            known[key] = ref(root, lambda _: known.pop(key, None)), walk
            found = walk(root)
        return found

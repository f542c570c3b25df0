"""Which loops run as one kernel.

Greedy: of all pairs of groups that share memory, the one that saves most bytes is fused first.
`can_fuse` says what a fusion saves or why it cannot be. It is legal when both groups have one
iteration space, when what one reads of the other lies at the element of the same iteration, and
when no third group must run between the two.
"""

import heapq
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import torch

from ..ir.nodes import Computed, Extern, Loop, Program, Reduction, Scatter, references, variables
from ..report.record import Why, current
from ..symbolic.expr import Expr, as_expr, polynomial, product
from ..symbolic.ranges import simplify
from .dependencies import Node, successors
from .spaces import Renaming, Space, joined, permutation

Names: TypeAlias = Set[str]  # of buffers
MOST_NODES, MOST_BUFFERS = 64, 48  # of one kernel: beyond, compilers slow down and registers spill
NEIGHBOURS = 8  # readers of one buffer that are tried with one another
WIDEST = 4096  # columns that are summed while a kernel walks along the rows
FAR = 128  # operations between two loops that share only what they read


@dataclass(frozen=True, slots=True)
class Yes:
    """`fused` saves so many bytes of memory traffic."""

    bytes_saved: int
    fused: "Group"


@dataclass(frozen=True, slots=True)
class No:
    reason: str
    bytes_saved: int = 0


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes in program order that run as one kernel over `space`; or one Extern, without loops."""

    nodes: tuple[Node, ...]
    space: Space

    @property
    def name(self) -> str:
        return "+".join(node.name for node in self.nodes)

    @property
    def position(self) -> int:
        return self.nodes[-1].position

    @cached_property
    def own(self) -> int:
        """The bit set of its operations' positions."""
        return sum(1 << node.position for node in self.nodes)

    @property
    def device(self) -> torch.device:
        return next(x.device for x in self.nodes[0].operation.layouts if x is not None)

    @cached_property
    def loops(self) -> list[Loop]:
        return [n.operation.loop for n in self.nodes if isinstance(n.operation, Computed)]

    @cached_property
    def makes(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes for name in node.makes)

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes for name in node.reads)

    @cached_property
    def writes(self) -> frozenset[str]:
        """By the new names and by the older ones."""
        return frozenset(name for node in self.nodes for name in node.writes)

    def places(self, buffer: str, *kinds: Literal["reads", "writes"]) -> set[Expr | None]:
        """Where it reads or writes `buffer`, in the symbols of the space; None: anywhere."""
        return {
            None if index is None else simplify(index.subs(node.renaming), self.space.limits)
            for node in self.nodes
            for kind in kinds
            for index in getattr(node, kind).get(buffer, ())
        }

    @property
    def columns(self) -> bool:
        """Only sums, which may as well be gathered while another kernel walks along the rows."""
        sums = (isinstance(x, Reduction) and x.kind == "sum" and x.ranges for x in self.loops)
        return all(sums) and self.device.type == "cpu" and not any(n.down for n in self.nodes)

    def turned(self) -> "Group":
        """Sums as a part of a kernel that has what they fold as its rows."""
        space = Space(self.space.folded, self.space.ranges)
        table = dict(zip(self.space.symbols, (*space.y, *space.x)))
        return self.moved(space, table, down=True)

    def moved(self, space: Space, table: Renaming, **flags: Any) -> "Group":
        """The same nodes, with these flags, over another space."""
        tables = ({symbol: e.subs(table) for symbol, e in n.renaming.items()} for n in self.nodes)
        nodes = (replace(n, renaming=t, **flags) for n, t in zip(self.nodes, tables))
        return Group(tuple(nodes), space)


Pair: TypeAlias = tuple[Group, Group]


def single(node: Node) -> Group:
    """A group of one operation."""
    operation = node.operation
    if isinstance(operation, Extern):
        return Group((node,), Space(()))
    loop = operation.loop
    space = Space(loop.ranges, loop.folded)
    table = dict(zip((s for part in variables(loop) for s in part), space.symbols))
    if isinstance(loop, Reduction) and not loop.folded:
        space = replace(space, folded=(as_expr(1),))
    return Group((replace(node, renaming=table),), space)


class Fusion:
    """The groups of a program while they grow."""

    def __init__(self, program: Program, nodes: list[Node], siblings: bool = True) -> None:
        self.siblings = siblings  # whether loops that only share what they read may fuse
        self.layouts = program.layouts()
        self.outputs = frozenset(ref.name for ref in references(program.outputs))
        self.readers: dict[str, set[int]] = {}  # positions, by the buffer that they read
        for node in nodes:
            for name in node.reads:
                self.readers.setdefault(name, set()).add(node.position)
        self.writer = {name: node.position for node in nodes for name in node.makes}
        self.home = {node.position: node.position for node in nodes}  # the group of an operation
        self.groups: dict[int, Group] = {node.position: single(node) for node in nodes}
        later = successors(nodes)
        # bit sets of positions: all that must run before and after a group
        self.after = dict.fromkeys(self.groups, 0)
        self.before = dict.fromkeys(self.groups, 0)
        for k in reversed(range(len(nodes))):
            for l in later[k]:
                self.after[k] |= 1 << l | self.after[l]
        for k in self.groups:  # in order, so what comes before k is complete
            for l in later[k]:
                self.before[l] |= 1 << k | self.before[k]
        self.refused: dict[tuple[int, int], No] = {}

    def run(self) -> list[Group]:
        """Fuse while there is something to save; the groups in an order that runs."""
        heap: list[tuple[int, int, int, int]] = []

        def propose(a: int, b: int) -> None:
            answer = self.can_fuse(a, b)
            if isinstance(answer, Yes):
                heapq.heappush(heap, (-answer.bytes_saved, b - a, a, b))
            elif answer.bytes_saved:
                self.refused[a, b] = answer

        for a, b in sorted(self.pairs(self.groups)):
            propose(a, b)
        fresh = len(self.groups)
        while heap:
            _, _, a, b = heapq.heappop(heap)
            if a not in self.groups or b not in self.groups:
                continue
            answer = self.can_fuse(a, b)  # what was fused since may lie between them
            if isinstance(answer, No):
                self.refused[a, b] = answer
                continue
            self.fuse(a, b, fresh, answer)
            for pair in sorted(self.pairs([fresh])):
                propose(*pair)
            fresh += 1
        self.explain()
        return self.in_order()

    # ------------------------------------------------------------------------------------ decisions

    def can_fuse(self, a: int, b: int) -> Yes | No:
        """What fusing the groups `a` and `b` saves, or why they stay apart."""
        first, second = self.groups[a], self.groups[b]
        shared = first.reads & second.reads
        flows = (first.makes & second.reads) | (second.makes & first.reads)
        gain = sum(map(self.bytes, shared | flows))
        if reason := self.obstacle(a, b, first, second):
            return No(reason, gain)
        made = self.together(first, second, flows, shared)
        if isinstance(made, str):
            return No(made, gain)
        one, other = made
        nodes = sorted((*one.nodes, *other.nodes), key=lambda node: node.position)
        both = Group(tuple(nodes), one.space)
        meets = (n for n in shared - flows if one.places(n, "reads") & other.places(n, "reads"))
        vanish = (name for name in flows if self.vanishes(name, both))
        saved = sum(map(self.bytes, [*flows, *vanish, *meets]))
        return Yes(saved, both) if saved else No("they read different elements", gain)

    def obstacle(self, a: int, b: int, first: Group, second: Group) -> str:
        """What forbids fusion whatever the loops look like; "" if nothing does."""
        if not first.loops or not second.loops:
            return "one of them is a call of a library"
        if first.device != second.device:
            return "they run on different devices"
        if len(first.nodes) + len(second.nodes) > MOST_NODES:
            return f"the kernel would have more than {MOST_NODES} loops"
        if len(first.reads | first.makes | second.reads | second.makes) > MOST_BUFFERS:
            return f"the kernel would touch more than {MOST_BUFFERS} buffers"
        scatters = [any(isinstance(x, Scatter) for x in g.loops) for g in (first, second)]
        folds = any(isinstance(x, Reduction) for x in first.loops)  # its loops are not to be moved
        if scatters[0] or (scatters[1] and (folds or not first.makes & second.reads)):
            return "one of them writes where indices say"
        nodes = (*first.nodes, *second.nodes)
        if any(node.commits for node in nodes) and any(node.fails for node in nodes):
            return "inputs are written when all indices are checked"
        down = {node.name for node in nodes if node.down}
        if down & (first.reads | second.reads):
            return "a sum of columns is known only after the last row"
        own = first.own | second.own
        if (self.after[a] & self.before[b] | self.after[b] & self.before[a]) & ~own:
            return "something else must run between them"
        flows = first.makes & second.reads or second.makes & first.reads
        far = abs(first.position - second.position) > FAR
        if not flows and (far or not self.siblings):
            return "they are far apart, and what they share would live long"
        return ""

    def together(self, first: Group, second: Group, flows: Names, shared: Names) -> Pair | str:
        """Both over one space, in which they meet memory at the same iterations."""
        reason = "their iteration spaces differ"
        for one, other in self.arrangements(first, second, sorted(flows), shared):
            if (fit := joined(one.space, other.space)) is None:
                continue
            once = {"over_all": False} if fit.rows else {}  # for the one that folds nothing
            a = one.moved(fit.space, fit.first, **({} if one.space.folded else once))
            b = other.moved(fit.space, fit.second, **({} if other.space.folded else once))
            if (bad := next(self.conflicts(a, b), None)) is None:
                return a, b
            reason = f"they need {bad} at different iterations"
        return reason

    def arrangements(
        self, first: Group, second: Group, links: list[str], shared: Names
    ) -> Iterator[Pair]:
        """As they are; then with the dimensions of one in the order of memory in the other; then
        with sums of columns as a part of what walks along the rows."""
        yield first, second
        for name in links[:2]:
            steps = [self.steps(group, name) for group in (first, second)]
            if steps[0] is None or steps[1] is None:
                continue
            for k, group in enumerate((first, second)):
                order = permutation(steps[k] or [], steps[1 - k] or [])
                if group.space.folded or order == sorted(order):
                    continue
                space = Space(tuple(group.space.ranges[d] for d in order))
                table = {group.space.x[d]: space.x[at] for at, d in enumerate(order)}
                moved = group.moved(space, table)
                yield (moved, second) if k == 0 else (first, moved)
                break
        for rows, sums in ((first, second), (second, first)):
            unread = sums.columns and not sums.makes & rows.reads
            if unread and self.along_rows(rows, {*shared, *links}):
                yield rows, sums.turned()

    def along_rows(self, group: Group, names: Iterable[str]) -> bool:
        """Is memory contiguous along what the group folds, and small enough to be summed over?"""
        folded = group.space.folded
        if not folded or int(product(folded)) > WIDEST:
            return False
        steps = [self.steps(group, name) for name in names]
        return any(s and s[-1] == 1 for s in steps) and int(product(group.space.ranges)) > 1

    def steps(self, group: Group, buffer: str) -> list[int] | None:
        """The strides of the group's dimensions in `buffer`, where it goes there in even steps."""
        places = group.places(buffer, "reads", "writes")
        if len(places) != 1 or (place := next(iter(places))) is None:
            return None
        found = [polynomial(place).get((symbol,), 0) for symbol in group.space.symbols]
        used = {symbol for symbol, step in zip(group.space.symbols, found) if step}
        return found if place.free <= used else None

    def conflicts(self, a: Group, b: Group) -> Iterator[str]:
        """Buffers that one writes and the other accesses at another iteration."""
        for one, other in ((a, b), (b, a)):
            for name in one.writes & (other.reads | other.writes):
                both = one.places(name, "writes") | other.places(name, "reads", "writes")
                if len(both) != 1 or None in both:
                    yield name

    def vanishes(self, name: str, group: Group) -> bool:
        """Does nobody outside of the group read it?"""
        readers = self.readers.get(name, ())
        return name not in self.outputs and all(group.own >> k & 1 for k in readers)

    def bytes(self, name: str) -> int:
        return int(self.layouts[name].nbytes)

    # --------------------------------------------------------------------------------------- groups

    def pairs(self, ids: Iterable[int]) -> set[tuple[int, int]]:
        """The groups of `ids`, each with those that read or make what it reads or makes."""
        found = set()
        for k in ids:
            group = self.groups[k]
            for name in group.reads | group.makes:
                readers = self.readers.get(name, set())
                if name not in group.makes and len(readers) > NEIGHBOURS:
                    far = lambda p, at=group.position: abs(p - at)
                    readers = set(heapq.nsmallest(2 * NEIGHBOURS, readers, far))
                others = {self.home[p] for p in readers}
                if name in self.writer:
                    others.add(self.home[self.writer[name]])
                found |= {(min(k, l), max(k, l)) for l in others - {k}}
        return found

    def fuse(self, a: int, b: int, fresh: int, answer: Yes) -> None:
        """Groups `a` and `b` are the group `fresh` from now on."""
        own = answer.fused.own
        before = (self.before[a] | self.before[b]) & ~own
        after = (self.after[a] | self.after[b]) & ~own
        for k in (a, b):
            del self.groups[k], self.before[k], self.after[k]
        for k, group in self.groups.items():
            if group.own & before:
                self.after[k] |= own | after
            if group.own & after:
                self.before[k] |= own | before
        self.groups[fresh], self.before[fresh], self.after[fresh] = answer.fused, before, after
        self.home |= {node.position: fresh for node in answer.fused.nodes}
        current().count("fusions")
        data = {"bytes_saved": answer.bytes_saved}
        current().why(Why("schedule", answer.fused.name, "fused", "", data))

    def in_order(self) -> list[Group]:
        """By the place of their last operation, as far as dependencies allow."""
        order, done = [], 0
        pending = sorted(self.groups, key=lambda k: self.groups[k].position)
        while pending:
            k = next(k for k in pending if not self.before[k] & ~done)
            pending.remove(k)
            done |= self.groups[k].own
            order.append(self.groups[k])
        return order

    def explain(self) -> None:
        """Say of all that was refused and is still apart why, and what it would have saved."""
        for (a, b), no in sorted(self.refused.items()):
            if a in self.groups and b in self.groups:
                subject = f"{self.groups[a].name} with {self.groups[b].name}"
                data = {"bytes_saved": no.bytes_saved}
                current().why(Why("schedule", subject, "not fused", no.reason, data))

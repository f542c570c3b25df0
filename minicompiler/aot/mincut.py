"""The joint graph cut in two, where the least memory crosses.

Backward may read a value that forward computed (it is saved) or compute it again from others. What
to save is a minimum cut: an edge a value, as wide as its bytes; the source is what forward alone
can provide, the sink what backward reads. Random draws, writes and costly operators are on the
source's side, so that the cut never asks for them again; a chain of cheap ones is free to be
recomputed, where it fuses into the loop that needs it.
"""

import bisect
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import fx
from torch._ops import OpOverload
from torch.fx._lazy_graph_module import _LazyGraphModule

from .. import report
from ..ir.signature import Input, Saved, Signature
from ..settings import config
from ..symbolic.emitter import is_view
from ..symbolic.shapes import TensorSpec
from . import rng
from .joint import Joint
from .tangents import readers

aten = torch.ops.aten

# cheap besides what PyTorch tags as pointwise: they move or make values, loops absorb them
CHEAP = frozenset(
    """_reshape_alias _to_copy _unsafe_view arange cat clone constant_pad_nd copy embedding empty
    empty_like empty_permuted empty_strided fill flip full full_like gather index index_select
    new_empty new_full new_ones new_zeros ones ones_like reshape scalar_tensor select_scatter
    slice_scatter zeros zeros_like""".split()
)


@dataclass(frozen=True, slots=True)
class Partitioned:
    """`backward` maps what the signature says is saved, then the tangents, to the gradients.
    `traced` is the joint graph of the operators that autograd called."""

    forward: fx.GraphModule
    backward: fx.GraphModule | None
    signature: Signature
    traced: fx.GraphModule


def partition(joint: Joint) -> Partitioned:
    return _Partition(joint).run()


def is_cheap(node: fx.Node) -> bool:
    """Whether a loop that needs the value can as well compute it."""
    if node.op != "call_function" or node.meta.get("effect"):
        return node.op == "get_attr"
    if node.target is operator.getitem or node.target is rng.random or is_view(node):
        return True
    op = node.target
    if not isinstance(op, OpOverload):
        return False
    return torch.Tag.pointwise in op.tags or op._schema.name.removeprefix("aten::") in CHEAP


def size_of(node: fx.Node) -> int:
    """Bytes of the value."""
    val = node.meta.get("val")
    return int(val.nbytes) if isinstance(val, TensorSpec) else 0


class _Partition:
    def __init__(self, joint: Joint) -> None:
        self.joint, self.graph, self.signature = joint, joint.graph, joint.signature
        outputs = list(self.graph.output_node().args[0])  # type: ignore[arg-type]
        visible, writes = self.signature.visible, len(joint.writes)
        self.results: list[fx.Node] = outputs[:visible]
        self.new_values: list[fx.Node] = outputs[visible : visible + writes]
        self.gradients: list[fx.Node | None] = outputs[visible + writes :]
        places = [n for n in self.graph.nodes if n.op == "placeholder"]
        count = len(self.signature.arguments)
        self.primals, self.tangents = places[:count], places[count:]
        copied = (Input(m.index) for m in self.signature.mutations if m.result is not None)
        written = {*joint.writes, *map(self.signature.arguments.index, copied)}
        self.written = {self.primals[i] for i in written}
        self.order = {n: i for i, n in enumerate(self.graph.nodes)}

    def run(self) -> Partitioned:
        if not self.signature.differentiable:
            return Partitioned(self._forward([]), None, self.signature, self.joint.traced)
        self.late = self._backward_only()
        self.needed = self._needed()
        self.early = ancestors(self.needed, stop=self.late)
        saved = self._choose()
        forward = self._forward(saved)
        self._report(saved)
        backward = self._backward(saved)
        signature = replace(self.signature, saved=tuple(self._describe(saved, backward)))
        return Partitioned(forward, backward, signature, self.joint.traced)

    # --------------------------------------------------------------------------- what to save

    def _backward_only(self) -> set[fx.Node]:
        """What depends on a tangent, or is computed anew on purpose."""
        late = set(self.tangents)
        for node in self.graph.nodes:
            again = node.meta.get("recomputed") or not late.isdisjoint(node.all_input_nodes)
            if again and node.op != "output":
                late.add(node)
        return late

    def _needed(self) -> set[fx.Node]:
        """What backward reads of the forward's side."""
        live = ancestors([g for g in self.gradients if g is not None], stop=set())
        read = {n for g in live & self.late for n in g.all_input_nodes if n not in self.late}
        return read | {g for g in self.gradients if g is not None and g not in self.late}

    def _choose(self) -> list[fx.Node]:
        fixed = {n for n in self.graph.nodes if n not in self.late and not is_cheap(n)}
        fixed |= self._materialized()
        saved = self._cut(fixed)
        if config.memory_budget < 1.0:
            saved = self._within_budget(saved, fixed)
        return sorted(saved, key=self.order.__getitem__)

    def _materialized(self) -> set[fx.Node]:
        """What an operator with a kernel of its own reads in backward: recomputing it would take
        a kernel too, so it is kept, as eager keeps it."""
        read = [
            view_root(node)
            for node in self.needed
            if any(n in self.late and not is_cheap(n) for n in through_views(node))
        ]
        return {node for node in read if node.all_input_nodes}

    def _cut(self, fixed: set[fx.Node]) -> set[fx.Node]:
        import networkx  # 0.3 s, and graphs without backward do not need it
        from networkx.algorithms.flow import boykov_kolmogorov

        flow = networkx.DiGraph()
        for node in self.early:
            into, out = (node, "in"), (node, "out")
            if node in fixed:
                flow.add_edge("source", into)
            weight = self._weight(node)
            flow.add_edge(into, out, **({} if weight is None else {"capacity": weight}))
            for source in node.all_input_nodes:
                flow.add_edge((source, "out"), into)
            if node in self.needed:
                flow.add_edge(out, "sink")
        if "source" not in flow or "sink" not in flow:
            return set()
        _, (kept, _) = networkx.minimum_cut(flow, "source", "sink", flow_func=boykov_kolmogorov)
        return {n for n in self.early if (n, "in") in kept and (n, "out") not in kept}

    def _weight(self, node: fx.Node) -> int | None:
        """The price of saving a value; None where it cannot be saved by itself."""
        if is_view(node) or not isinstance(node.meta.get("val"), TensorSpec):
            return None
        if node.op == "placeholder" and node.meta.get("kept") and node not in self.written:
            return 1  # the caller holds it anyway
        # of two equals not the one that the user can write to before backward
        return size_of(node) + 1 + (node in self.results)

    def _within_budget(self, saved: set[fx.Node], fixed: set[fx.Node]) -> set[fx.Node]:
        """Allow costly operators to run again, those first that free most for the work, until the
        saved bytes are at most the budget's share."""
        target = config.memory_budget * self._bytes(saved)
        given = {n for n in self.early if n.op == "placeholder" or n.target is rng.seeds}
        candidates = sorted(
            (n for n in fixed & self.early - given if not n.meta.get("effect")),
            key=lambda n: (work(n) / max(size_of(n), 1), self.order[n]),
        )

        def saved_with(again: int) -> set[fx.Node]:
            return self._cut(fixed - set(candidates[:again]))

        # the more may be computed again, the less is saved
        fits = lambda again: self._bytes(saved_with(again)) <= target
        return saved_with(bisect.bisect_left(range(len(candidates)), True, key=fits))

    def _bytes(self, saved: Iterable[fx.Node]) -> int:
        """Memory that lives from forward to backward because of these values."""
        return sum(size_of(n) for n in saved if not n.meta.get("kept"))

    # -------------------------------------------------------------------------- the two graphs

    def _forward(self, saved: Sequence[fx.Node]) -> fx.GraphModule:
        early = (n for n in self.graph.nodes if n.meta.get("phase") != "backward")
        effects = [n for n in early if n.meta.get("effect")]
        live = ancestors([*self.results, *self.new_values, *saved, *effects], stop=set())
        graph = fx.Graph()
        env: dict[fx.Node, fx.Node] = {}
        for node in self.graph.nodes:
            if node in live or node in self.primals:
                env[node] = graph.node_copy(node, env.__getitem__)
        extra = []
        for node in self._as_results(saved):
            value = env[node]
            if node in self.written:  # the input will have changed by the time of backward
                value = graph.call_function(aten.clone.default, (value,))
                value.meta = dict(node.meta)
            extra.append(value)
        for argument, value in zip(self.joint.writes, self.new_values):
            target = env[self.primals[argument]]
            copied = graph.call_function(aten.copy_.default, (target, env[value]))
            copied.meta = dict(target.meta)
        graph.output((*(env[n] for n in self.results), *extra))
        return _LazyGraphModule(self.joint.module, graph)

    def _as_results(self, saved: Sequence[fx.Node]) -> list[fx.Node]:
        """The saved values that the forward must return besides the visible ones."""
        given = {*self.results, *self.primals} - self.written
        return [n for n in saved if n not in given]

    def _describe(self, saved: Sequence[fx.Node], backward: fx.GraphModule) -> Iterable[Saved]:
        returned = [*self.results, *self._as_results(saved)]
        reachable = {view_root(n) for n in self.results}
        for node, read in zip(saved, readers(backward.graph, len(saved))):
            if node in returned:
                yield Saved(None, returned.index(node), view_root(node) in reachable, read)
            else:
                yield Saved(self.primals.index(node), None, True, read)

    def _backward(self, saved: Sequence[fx.Node]) -> fx.GraphModule:
        graph = fx.Graph()
        env: dict[fx.Node, fx.Node] = {}
        for node in [*saved, *self.tangents]:
            env[node] = graph.placeholder(node.name)
            env[node].meta = dict(node.meta)
        wanted = [g for g in self.gradients if g is not None]
        live = ancestors(wanted, stop=set(env))

        def bring(node: fx.Node) -> None:
            """Recomputation happens where it is first needed, so that its results live shortly."""
            missing = ancestors([node], stop=set(env))
            for n in sorted(missing - env.keys(), key=self.order.__getitem__):
                env[n] = graph.node_copy(n, env.__getitem__)

        for node in self.graph.nodes:
            if node in live and node in self.late:
                bring(node)
        for node in wanted:
            bring(node)
        graph.output(tuple(None if g is None else env[g] for g in self.gradients))
        return _LazyGraphModule(self.joint.module, graph)

    def _report(self, saved: Sequence[fx.Node]) -> None:
        record = report.current()
        record.count("saved_bytes", self._bytes(saved))
        for node in saved:
            reason = "backward reads it" if node in self.needed else "backward recomputes from it"
            data = {"bytes": size_of(node), "stack": node.meta.get("stack", "")}
            record.why(report.Why("aot", node.name, "saved", reason, data))


# ------------------------------------------------------------------------------- walking the graph


def ancestors(nodes: Iterable[fx.Node], stop: set[fx.Node]) -> set[fx.Node]:
    """The nodes and all they are computed from, without passing through `stop`."""
    found: set[fx.Node] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            if node not in stop:
                pending += node.all_input_nodes
    return found - stop if stop else found


def through_views(node: fx.Node) -> Iterable[fx.Node]:
    """The users of a value, those of views of it included."""
    for user in node.users:
        yield user
        if is_view(user):
            yield from through_views(user)


def view_root(node: fx.Node) -> fx.Node:
    while is_view(node):
        node = node.all_input_nodes[0]
    return node


def work(node: fx.Node) -> int:
    """A measure of what computing the value takes: elements, times what each of them folds."""
    operands = [size_of(n) for n in node.all_input_nodes]
    own = size_of(node) or sum(size_of(n) for n in node.users)
    if node.target in (aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default):
        return own * int(node.all_input_nodes[-1].meta["val"].size[-2])
    return own + sum(operands)

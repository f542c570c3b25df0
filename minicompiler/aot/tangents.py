"""The backward for the tangents that arrive.

It was traced as if all results took part in the loss, with a tangent each that lies in memory as
its result does. A result that took no part has no tangent, which is not a tangent of zeros: what
depends on nothing else is not computed (0 * inf would be NaN), and a gradient that nothing reaches
is None. And tangents have strides of their own: `sum()` sends one number, expanded.
"""

import itertools
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import Tensor, fx
from torch.fx._lazy_graph_module import _LazyGraphModule

from ..errors import Unsupported
from ..ir.signature import Layouts
from ..symbolic.emitter import Emitter
from ..symbolic.expr import as_expr
from ..symbolic.fake import aten, substitute
from ..symbolic.shapes import TensorSpec, is_dense, same_places

if TYPE_CHECKING:
    from .mincut import Partitioned


# their arguments are places in memory, which are others when the strides are
PLACES = {aten.as_strided.default, aten.as_strided_scatter.default, aten.view.dtype}


def backward_for(parts: "Partitioned", layouts: Layouts) -> fx.GraphModule:
    """The backward of `parts` for tangents of these strides. It keeps the places of those that are
    undefined among its arguments, and ignores what it is given there. Raises Unsupported where it
    cannot take other strides than it was traced for."""
    assert parts.backward is not None
    traced = zip(layouts, parts.signature.tangents)
    eager: Any = parts.traced.graph.output_node().args[0]
    present = {i for i, strides in enumerate(layouts) if strides is not None}
    reached = [bool(sent & present) for sent in parts.signature.gradients]
    if all(strides is None or strides == tuple(map(int, t.stride)) for strides, t in traced):
        return _Arriving(layouts, reached).run(parts.backward)
    # decompositions keep the strides of what was traced: only the traced operators know others
    eager = _Arriving(layouts, [True] * len(eager)).run(parts.traced).graph.output_node().args[0]
    specs = [g and g.meta["val"] for g in eager[-len(reached) :]]
    return _Arriving(layouts, reached, specs).run(parts.backward)


class _Arriving:
    """`reached`: whether eager has a gradient there, be it one of zeros alone. `results`: what the
    outputs shall look like, if that matters."""

    def __init__(
        self, layouts: Layouts, reached: Sequence[bool], results: Sequence[TensorSpec | None] = ()
    ) -> None:
        self.layouts, self.reached, self.results = layouts, reached, results
        self.emit = Emitter()
        self.graph = self.emit.graph
        self.new: dict[fx.Node, Any] = {}  # by node of the old graph
        self.changed: set[fx.Node] = set()  # of the new graph: strides are not those traced

    def run(self, backward: fx.GraphModule) -> fx.GraphModule:
        self.sent, layouts = sent_on(backward.graph), iter(self.layouts)
        for node in backward.graph.nodes:
            if node.op == "placeholder":
                self.new[node] = new = self.graph.node_copy(node)
                if self.sent[node] and (strides := next(layouts)) is not None:
                    spec = node.meta["val"]
                    self.describe(new, replace(spec, stride=tuple(map(as_expr, strides))), spec)
            elif node.op == "output":
                outputs: Any = node.args[0]
                made = [g and self.operand(g) if r else None for g, r in zip(outputs, self.reached)]
                self.graph.output(tuple(map(self.result, made, self.results or [None] * len(made))))
            else:
                self.step(node)
        self.graph.eliminate_dead_code()
        return _LazyGraphModule(backward, self.graph)

    def describe(self, new: fx.Node, spec: Any, traced: Any) -> None:
        new.meta = {**new.meta, "val": spec}
        if spec != traced:
            self.changed.add(new)

    def result(self, node: fx.Node | None, spec: TensorSpec | None) -> fx.Node | None:
        """`node` with the strides of `spec`."""
        if node is None or spec is None or not is_dense(spec):
            return node
        if same_places(spec.size, spec.stride, node.meta["val"].stride):
            return node
        self.emit.marks = node.meta
        return self.emit.layout(node, spec)

    def step(self, node: fx.Node) -> None:
        parts = [n for n in node.all_input_nodes if self.sent[n]]
        defined = [n for n in parts if not self.undefined(n)]
        if parts and not defined:
            return
        if len(defined) < len(parts) and _is_sum_like(defined[0], node):
            self.new[node] = new = self.new[defined[0]]  # the engine skips what is missing, too
            self.describe(new, new.meta["val"], node.meta["val"])
        else:
            self.new[node] = new = self.graph.node_copy(node, self.operand)
            if not self.changed.isdisjoint(new.all_input_nodes):
                self.describe(new, self.infer(new), node.meta["val"])

    def undefined(self, node: fx.Node) -> bool:
        """Whether it depends on missing tangents alone."""
        sent = self.sent[node]
        return bool(sent) and all(self.layouts[i] is None for i in sent)

    def operand(self, node: fx.Node) -> Any:
        """An operator that needs all its operands gets zeros for one that is undefined."""
        if not self.undefined(node):
            return self.new[node]
        spec = node.meta["val"]
        self.emit.marks = node.meta
        zeros: fx.Node = self.emit.call(aten.full.default, spec.numbers[0], 0, **spec.options)
        self.describe(zeros, zeros.meta["val"], spec)
        return zeros

    def infer(self, node: fx.Node) -> Any:
        """What an operator makes of operands with other strides; a view may now need a copy."""
        if node.target is operator.getitem:
            source: Any = node.args[0]
            return source.meta["val"][node.args[1]]
        if node.target in PLACES:
            raise Unsupported(f"{node.target} looks at the memory of a tangent")
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
        try:
            outs = self.emit.infer(node.target, node.args, node.kwargs)
        except RuntimeError as error:
            raise Unsupported(f"{node.target} of a tangent laid out otherwise: {error}") from error
        return substitute(outs, Tensor, lambda made: made.spec)


def sent_on(graph: fx.Graph) -> dict[fx.Node, set[int]]:
    """The tangents that each value depends on."""
    sent: dict[fx.Node, set[int]] = {}
    count = itertools.count()
    for node in graph.nodes:
        mine = {next(count)} if node.name.startswith("tangents_") else set()
        sent[node] = mine.union(*(sent[n] for n in node.all_input_nodes))
    return sent


def readers(backward: fx.Graph, saved: int) -> Sequence[frozenset[int]]:
    """By value that is saved, which are the first arguments: the tangents whose way back reads
    it."""
    sent = sent_on(backward)
    every = set().union(*sent.values())
    # where it has no tangent
    made_of = {node: {i} for i, node in zip(range(saved), backward.nodes)}
    found: list[set[int]] = [set() for _ in range(saved)]
    for node in backward.nodes:
        mine = every if node.op == "output" else sent[node]
        early = set().union(*(made_of[n] for n in node.all_input_nodes if not sent[n]))
        made_of.setdefault(node, early)
        for i in early if mine else ():
            found[i] |= mine
    return [frozenset(one) for one in found]


def _is_sum_like(operand: fx.Node, node: fx.Node) -> bool:
    """Whether `node` is a plain sum that looks as this operand of it does."""
    x, y, scaled = operand.meta["val"], node.meta["val"], node.kwargs.get("alpha", 1) != 1
    adds = node.target is aten.add.Tensor and len(node.all_input_nodes) == 2 and not scaled
    return adds and (x.size, x.dtype) == (y.size, y.dtype)

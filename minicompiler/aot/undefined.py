"""The backward for when some results took no part in the loss.

Autograd then has no tangent for them, which is not a tangent of zeros: what depends on nothing else
is not computed (0 * inf would be NaN), and a gradient that nothing reaches is None.
"""

from collections.abc import Collection
from typing import Any

import torch
from torch import fx
from torch.fx._lazy_graph_module import _LazyGraphModule

aten = torch.ops.aten


def without_tangents(backward: fx.GraphModule, missing: Collection[int]) -> fx.GraphModule:
    """`backward` with the tangents numbered `missing` undefined. It keeps their places among its
    arguments, and ignores what it is given there."""
    return _Without(missing).run(backward)


class _Without:
    def __init__(self, missing: Collection[int]) -> None:
        self.missing = missing
        self.graph = fx.Graph()
        self.new: dict[fx.Node, Any] = {}  # by node of the old graph
        self.gradients: set[fx.Node] = set()  # what depends on a tangent
        self.undefined: set[fx.Node] = set()  # what depends on missing ones alone

    def run(self, backward: fx.GraphModule) -> fx.GraphModule:
        tangents = 0
        for node in backward.graph.nodes:
            if node.op == "placeholder":
                self.new[node] = self.graph.node_copy(node)
                if node.name.startswith("tangents_"):
                    self.gradients.add(node)
                    self.undefined.update([node] if tangents in self.missing else [])
                    tangents += 1
            elif node.op == "output":
                results: Any = node.args[0]
                self.graph.output(
                    tuple(
                        None if g is None or g in self.undefined else self.new[g] for g in results
                    )
                )
            else:
                self.step(node)
        self.graph.eliminate_dead_code()
        return _LazyGraphModule(backward, self.graph)

    def step(self, node: fx.Node) -> None:
        parts = [n for n in node.all_input_nodes if n in self.gradients]
        defined = [n for n in parts if n not in self.undefined]
        self.gradients.update([node] if parts else [])
        if parts and not defined:
            self.undefined.add(node)
        elif len(defined) < len(parts) and _adds(node) and _alike(node, defined[0]):
            self.new[node] = self.new[defined[0]]  # as the engine sums: what is missing is skipped
        else:
            self.new[node] = self.graph.node_copy(node, self.operand)

    def operand(self, node: fx.Node) -> Any:
        """An operator that needs all its operands gets zeros for one that is undefined."""
        if node not in self.undefined:
            return self.new[node]
        spec = node.meta["val"]
        size, where = list(map(int, spec.size)), {"dtype": spec.dtype, "device": spec.device}
        zeros = self.graph.call_function(aten.full.default, (size, 0), where)
        zeros.meta = {**node.meta, "val": spec}
        return zeros


def _adds(node: fx.Node) -> bool:
    scaled = node.kwargs.get("alpha", 1) != 1
    return node.target is aten.add.Tensor and len(node.all_input_nodes) == 2 and not scaled


def _alike(a: fx.Node, b: fx.Node) -> bool:
    x, y = a.meta["val"], b.meta["val"]
    return (x.size, x.dtype) == (y.size, y.dtype)

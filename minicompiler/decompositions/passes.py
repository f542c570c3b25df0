"""Graph passes that keep every value: common subexpressions, arithmetic on constants."""

from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload

from ..symbolic.emitter import is_view
from ..symbolic.shapes import TensorSpec, is_contiguous

aten = torch.ops.aten

# results that an operand gives at most the shape: what they are filled with
FILLED = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "zero": 0}
FILLED |= {"ones": 1, "ones_like": 1, "new_ones": 1}
FILLED_BY_ARGUMENT = {"full_like", "new_full", "fill", "scalar_tensor"}
UNFILLED = {"empty_like", "new_empty", "new_empty_strided"}
# a repeated number stays one under these, as it does under what is pointwise
MOVING = set("view reshape expand permute transpose t unsqueeze squeeze clone _to_copy".split())


def name_of(node: fx.Node) -> str:
    """ "add" for aten.add.Tensor; empty for what is no operator."""
    op = node.target
    return op._schema.name.removeprefix("aten::") if isinstance(op, OpOverload) else ""


def forget_operands(graph: fx.Graph) -> None:
    """Operators that take from an operand nothing but its shape lose it: whoever recomputes them
    need not keep the operand, and nothing need compute it."""
    for node in list(graph.nodes):
        name, spec, value = name_of(node), node.meta.get("val"), FILLED.get(name_of(node))
        if name in FILLED_BY_ARGUMENT and not isinstance(node.args[-1], fx.Node):
            value = node.args[-1]
        if name == "copy" and node.args[0].target is not aten.empty_strided.default:
            node.args = (make(graph, node, node.args[0].meta["val"]), *node.args[1:])
        elif name in UNFILLED:
            node.replace_all_uses_with(make(graph, node, spec))
        elif value is not None and isinstance(spec, TensorSpec) and is_contiguous(spec):
            node.replace_all_uses_with(make(graph, node, spec, value))


def fold_constants(graph: fx.Graph) -> None:
    """Arithmetic on tensors of one repeated number gives a tensor of one repeated number."""
    for node in list(graph.nodes):
        sources, spec = node.all_input_nodes, node.meta.get("val")
        moves, pointwise = name_of(node) in MOVING, torch.Tag.pointwise in tags(node)
        if not (sources and all(n.target is aten.full.default for n in sources)):
            continue
        if (moves or pointwise) and not spec.dtype.is_complex and is_contiguous(spec):
            value = sources[0].args[1] if moves else on_scalars(node)
            node.replace_all_uses_with(make(graph, node, spec, value))


def on_scalars(node: fx.Node) -> Any:
    """The operator applied to 0-d tensors, whose dtypes are those of the operands."""

    def small(n: fx.Node) -> Any:
        value: Any = n.args[1]
        return torch.full([], value, dtype=n.meta["val"].dtype)

    op: Any = node.target
    args, kwargs = fx.map_arg((node.args, node.kwargs), small)
    return op(*args, **kwargs).item()


def make(graph: fx.Graph, before: fx.Node, spec: TensorSpec, value: Any = None) -> fx.Node:
    """A tensor of that description filled with `value`, or with nothing."""
    with graph.inserting_before(before):
        if value is None:
            new = graph.call_function(aten.empty_strided.default, spec.numbers, spec.options)
        else:
            value = torch.full([], value, dtype=spec.dtype).item()  # what that dtype holds of it
            new = graph.call_function(aten.full.default, (spec.numbers[0], value), spec.options)
    new.meta = {**before.meta, "val": spec}
    return new


# ------------------------------------------------------------------------- common subexpressions


def tags(node: fx.Node) -> Any:
    return getattr(node.target, "tags", ())


def escaping(graph: fx.Graph) -> set[fx.Node]:
    """What the caller gets, and what that may be a view of."""
    found: set[fx.Node] = set()
    for node in graph.output_node().all_input_nodes:
        found.add(node)
        while is_view(node):
            node = node.all_input_nodes[0]
            found.add(node)
    return found


def share_common(graph: fx.Graph) -> None:
    """One node for equal calls. Two values that leave the graph stay two, as the caller may write
    to one of them; what checkpointing recomputes stays apart from what it recomputes."""
    leaving = escaping(graph)
    known: dict[Any, fx.Node] = {}
    for node in graph.nodes:
        random = node.meta.get("effect") or torch.Tag.nondeterministic_seeded in tags(node)
        if node.op != "call_function" or random:
            continue
        first = known.setdefault(_key(node), node)
        if first is not node and not (first in leaving and node in leaving):
            node.replace_all_uses_with(first)
            if node in leaving:
                leaving.add(first)


def _key(node: fx.Node) -> Any:
    """Equal keys mean equal results: as text, a node is its name, and 1, 1.0 and True differ."""
    operands = repr((node.args, sorted(node.kwargs.items())))
    return node.target, operands, bool(node.meta.get("recomputed"))

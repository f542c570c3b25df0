"""Graph passes that keep every value: dead code, common subexpressions, arithmetic on constants."""

from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload

from ..symbolic.shapes import is_contiguous

aten = torch.ops.aten

RESHAPING = {
    aten.view.default,
    aten.reshape.default,
    aten.expand.default,
    aten.permute.default,
    aten.transpose.int,
    aten.t.default,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.squeeze.default,
    aten.clone.default,
}


def dead_code(graph: fx.Graph) -> None:
    """An operator with an effect stays, and so does what it writes to."""
    for node in reversed(graph.nodes):
        if node.op == "call_function" and not node.users and not node.meta.get("effect"):
            graph.erase_node(node)


def is_view(node: fx.Node) -> bool:
    return bool(getattr(node.target, "is_view", False)) or node.target in (
        aten._unsafe_view.default,
        aten.reshape.default,
    )


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
        if node.op != "call_function" or not _pure(node):
            continue
        first = known.setdefault(_key(node), node)
        if first is not node and not (first in leaving and node in leaving):
            node.replace_all_uses_with(first)
            if node in leaving:
                leaving.add(first)


def _pure(node: fx.Node) -> bool:
    tags = getattr(node.target, "tags", ())
    return not node.meta.get("effect") and torch.Tag.nondeterministic_seeded not in tags


def _key(node: fx.Node) -> Any:
    """Equal keys mean equal results; 1, 1.0 and True differ."""

    def frozen(x: Any) -> Any:
        if isinstance(x, list | tuple):
            return tuple(map(frozen, x))
        return x if isinstance(x, fx.Node) else (type(x), repr(x))

    kwargs = frozen(sorted(node.kwargs.items()))
    return node.target, frozen(node.args), kwargs, bool(node.meta.get("recomputed"))


def fold_constants(graph: fx.Graph) -> None:
    """Arithmetic on tensors of one repeated number gives a tensor of one repeated number."""
    for node in list(graph.nodes):
        sources = node.all_input_nodes
        if not sources or not all(n.target is aten.full.default for n in sources):
            continue
        if not isinstance(node.target, OpOverload):
            continue
        value: Any
        if node.target in RESHAPING:
            value = sources[0].args[1]
        elif torch.Tag.pointwise in node.target.tags or node.target is aten._to_copy.default:
            value = _on_scalars(node)
        else:
            continue
        spec = node.meta["val"]
        if spec.dtype.is_complex or not is_contiguous(spec):
            continue
        with graph.inserting_before(node):
            where = {"dtype": spec.dtype, "device": spec.device}
            full = graph.call_function(aten.full.default, (list(spec.size), value), where)
        full.meta = dict(node.meta)
        node.replace_all_uses_with(full)


def _on_scalars(node: fx.Node) -> Any:
    """The operator applied to 0-d tensors on the CPU, whose dtypes are those of the operands."""

    def small(n: fx.Node) -> Any:
        value: Any = n.args[1]
        return torch.full([], value, dtype=n.meta["val"].dtype)

    args, kwargs = fx.map_arg((node.args, node.kwargs), small)
    op: Any = node.target
    return op(*args, **{k: v for k, v in kwargs.items() if k != "device"}).item()

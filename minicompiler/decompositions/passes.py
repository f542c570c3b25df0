"""Graph passes that keep every value: dead code, common subexpressions, arithmetic on constants."""

from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload

from ..symbolic.expr import Expr
from ..symbolic.shapes import TensorSpec, is_contiguous

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


# the number that these fill their result with; None: none, or the argument after the operands
_FILL: dict[str, int | None] = {
    "zeros_like": 0,
    "new_zeros": 0,
    "zero": 0,
    "ones_like": 1,
    "new_ones": 1,
}
_FILL |= {n: None for n in "empty_like new_empty new_empty_strided full_like new_full fill".split()}


def forget_operands(graph: fx.Graph) -> None:
    """Operators that take from an operand nothing but its shape lose it: whoever recomputes them
    need not keep the operand, and nothing need compute it."""
    for node in list(graph.nodes):
        op = node.target
        if not isinstance(op, OpOverload) or node.meta.get("effect"):
            continue
        name = op._schema.name.removeprefix("aten::")
        spec = node.meta["val"]
        if name == "copy" and node.args[0].target is not aten.empty_strided.default:
            _replace_operand(graph, node, node.args[0].meta["val"])
        elif name in _FILL and isinstance(spec, TensorSpec):
            value = _FILL[name] if _FILL[name] is not None else node.args[-1]
            with graph.inserting_before(node):
                if name in ("empty_like", "new_empty", "new_empty_strided"):
                    new = empty(graph, spec)
                elif is_contiguous(spec) and not isinstance(value, fx.Node):
                    new = full(graph, spec, value)
                else:
                    continue
            new.meta = dict(node.meta)
            node.replace_all_uses_with(new)


def _replace_operand(graph: fx.Graph, node: fx.Node, spec: TensorSpec) -> None:
    with graph.inserting_before(node):
        new = empty(graph, spec)
    new.meta = {**node.meta, "val": spec}
    node.args = (new, *node.args[1:])


def empty(graph: fx.Graph, spec: TensorSpec) -> fx.Node:
    where: dict[str, Any] = {"dtype": spec.dtype, "device": spec.device}
    sizes = [*map(plain, spec.size)], [*map(plain, spec.stride)]
    return graph.call_function(aten.empty_strided.default, sizes, where)


def full(graph: fx.Graph, spec: TensorSpec, value: Any) -> fx.Node:
    where: dict[str, Any] = {"dtype": spec.dtype, "device": spec.device}
    return graph.call_function(aten.full.default, ([*map(plain, spec.size)], value), where)


def plain(n: Expr) -> Any:
    """A constant size as an int, which the interpreter of the graph needs."""
    return n.const if n.is_const else n


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
            new = full(graph, spec, value)
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)


def _on_scalars(node: fx.Node) -> Any:
    """The operator applied to 0-d tensors on the CPU, whose dtypes are those of the operands."""

    def small(n: fx.Node) -> Any:
        value: Any = n.args[1]
        return torch.full([], value, dtype=n.meta["val"].dtype)

    args, kwargs = fx.map_arg((node.args, node.kwargs), small)
    op: Any = node.target
    return op(*args, **{k: v for k, v in kwargs.items() if k != "device"}).item()

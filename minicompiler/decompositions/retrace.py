"""A graph rewritten node by node: an operator with a rule is replaced by what the rule calls."""

import operator
from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, fx
from torch._ops import OpOverload
from torch.fx._lazy_graph_module import _LazyGraphModule

from ..errors import InternalError
from ..symbolic.emitter import Emitter, remove_dead
from ..symbolic.fake import Fake, FakeMode, aten, storage, substitute, tensors
from ..symbolic.shapes import TensorSpec, is_dense, same_places
from .passes import fold_constants, forget_operands, share_common
from .table import RULES

# these may return their operand's memory; any other rule that does gets a copy
SHARING = {aten._unsafe_view.default}
MARKS = ("stack", "phase", "effect", "check", "recomputed")


def decompose(graph: fx.GraphModule, known: Collection[OpOverload]) -> fx.GraphModule:
    """The same function, with operators that are not `known` rewritten by their rules as far as
    there are any; then without dead code, common subexpressions and constant arithmetic."""
    retrace = _Retrace(known)
    for node in graph.graph.nodes:
        retrace.step(node)
    new = retrace.emit.graph
    forget_operands(new)
    fold_constants(new)
    share_common(new)
    remove_dead(new)
    return _LazyGraphModule(graph, new)


class _Retrace(FakeMode):  # type: ignore[no-untyped-call]
    """Within it ATen calls on fakes become nodes of `graph`."""

    def __init__(self, known: Collection[OpOverload]) -> None:
        super().__init__()
        self.known = known
        self.emit = Emitter()
        self._new: dict[fx.Node, Any] = {}  # node of the old graph -> node, or nested nodes
        self._nodes: dict[int, fx.Node] = {}  # by id of a fake

    def step(self, node: fx.Node) -> None:
        if node.target is operator.getitem:
            source, i = node.args
            made = self._new[source]  # type: ignore[index]
            if not isinstance(made, fx.Node):
                self._new[node] = made[i]
                return
        self.emit.marks = {k: node.meta[k] for k in MARKS if k in node.meta}
        if node.op == "call_function" and "check" not in node.meta and self._rule(node.target):
            given = fx.map_arg((node.args, node.kwargs), self._new.__getitem__)
            args, kwargs = substitute(given, fx.Node, self._fake)
            with torch.no_grad():
                result = self._apply(node.target, args, kwargs, node.meta["val"])
            if result is not NotImplemented:
                self._new[node] = substitute(result, Tensor, lambda fake: self._nodes[id(fake)])
                return
        self._new[node] = self.emit.graph.node_copy(node, self._new.__getitem__)
        for old in node.all_input_nodes if node.op == "output" else ():
            # eager's strides, also where they are free: along dimensions of size 1
            new, val = self._new[old], old.meta["val"]
            if isinstance(val, TensorSpec):
                new.meta["val"] = replace(new.meta["val"], stride=val.stride)

    def _rule(self, op: Any) -> Any:
        return None if op in self.known else RULES.get(op)

    def _fake(self, node: fx.Node) -> Any:
        """The fake of a new node."""
        fake = self.emit.fake(node)
        self._nodes[id(fake)] = node
        return fake

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._rule(func) is not None:
            expected = self.emit.mode.__torch_dispatch__(func, types, args, kwargs)
            expected = substitute(expected, Tensor, lambda fake: fake.spec)
            result = self._apply(func, args, kwargs, expected)
            if result is not NotImplemented:
                return result
        return super().__torch_dispatch__(func, types, args, kwargs)

    def lift(self, t: Tensor) -> Fake:
        """Numbers that torch turned into tensors on the way."""
        if t.ndim:
            raise InternalError("a rule made a tensor of values")
        return cast(Fake, torch.full([], t.item(), dtype=t.dtype, device=t.device))

    def record(self, func: OpOverload, args: Any, kwargs: Any, outs: Any) -> None:
        nodes = substitute((tuple(args), kwargs), Tensor, lambda fake: self._nodes[id(fake)])
        made = self.emit.call(func, *nodes[0], outs=outs, **nodes[1])
        self._nodes.update(zip(map(id, tensors(outs)), tensors(made)))

    # ------------------------------------------------------------------------------------ a rule

    def _apply(self, op: Any, args: Any, kwargs: Any, expected: Any) -> Any:
        with self:
            result = RULES[op](*args, **kwargs)
            if result is NotImplemented:
                return NotImplemented
            operands = {storage(x) for x in tensors((args, list(kwargs.values())))}
            shared = set() if op in SHARING or op.is_view else operands
            return _conform(result, expected, shared)


def _conform(result: Any, expected: Any, shared: set[int]) -> Any:
    """The rule's result with the dtype and strides that the operator promises, in memory of its
    own; NotImplemented if it is of another size."""
    if isinstance(expected, list | tuple):
        parts = [_conform(r, e, shared) for r, e in zip(result, expected, strict=True)]
        return NotImplemented if any(p is NotImplemented for p in parts) else parts
    if not isinstance(expected, TensorSpec) or result is None:
        return result
    if len(result.shape) != expected.ndim or tuple(result.shape) != tuple(expected.size):
        return NotImplemented
    result = result.to(expected.dtype)
    if storage(result) in shared:
        result = result.clone()
    if same_places(expected.size, expected.stride, result.stride()):
        return result
    if not is_dense(expected):
        return NotImplemented
    return aten.copy.default(torch.empty_strided(*expected.numbers, **expected.options), result)

"""Functional ATen graphs from real calls, and the check that a lowered graph computes the same."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import Computed, Extern, Program
from minicompiler.ir.verify import verify
from minicompiler.lowering import lower
from minicompiler.symbolic.shapes import spec_of

torch.set_num_threads(1)


class Recorder(TorchDispatchMode):
    """Records every ATen call on real tensors as a node with the specs of what it returned."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.graph, self.attributes = fx.Graph(), {}
        self.nodes: dict[int, fx.Node] = {}
        self.alive: list[Any] = []
        for i, x in enumerate(inputs):
            node = self.graph.placeholder(f"primals_{i + 1}")
            node.meta["val"] = spec_of(x)
            self.keep(x, node)

    def keep(self, x: Tensor, node: fx.Node) -> None:
        self.nodes[id(x)] = node
        self.alive.append(x)

    def node_of(self, x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if id(x) not in self.nodes:
            name = f"_tensor_constant{len(self.attributes)}"
            self.attributes[name] = x
            node = self.graph.get_attr(name)
            node.meta["val"] = spec_of(x)
            self.keep(x, node)
        return self.nodes[id(x)]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        nodes = tree_map(self.node_of, (args, kwargs))
        out = func(*args, **kwargs)
        node = self.graph.call_function(func, *nodes)
        node.meta["val"] = tree_map(lambda x: spec_of(x) if isinstance(x, Tensor) else x, out)
        if isinstance(out, Tensor):
            self.keep(out, node)
        elif isinstance(out, (list, tuple)):
            for i, x in enumerate(out):
                if isinstance(x, Tensor):
                    item = self.graph.call_function(operator.getitem, (node, i))
                    item.meta["val"] = spec_of(x)
                    self.keep(x, item)
        return out


def trace(f: Callable[..., Any], *inputs: Tensor) -> fx.GraphModule:
    """The graph of the ATen calls that `f` makes on these inputs; nodes nobody uses are dropped."""
    recorder = Recorder(inputs)
    with torch.no_grad(), recorder:
        results = f(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    recorder.graph.output(tuple(map(recorder.node_of, results)))
    for node in reversed(list(recorder.graph.nodes)):
        writes = node.target is torch.ops.aten.copy_.default
        if node.op == "call_function" and not node.users and not writes:
            recorder.graph.erase_node(node)
    return fx.GraphModule(recorder.attributes, recorder.graph)


def lowered(f: Callable[..., Any], *inputs: Tensor) -> Program:
    """The verified program of `f`, traced on copies so that `inputs` stay as they are."""
    program = lower(trace(f, *map(duplicate, inputs)))
    verify(program)
    return program


def duplicate(x: Tensor) -> Tensor:
    """Equal elements at equal places of new memory."""
    storage = x.untyped_storage().clone()
    made = torch.empty(0, dtype=x.dtype, device=x.device)
    return made.set_(storage, x.storage_offset(), x.shape, x.stride())


def check(
    f: Callable[..., Any], *inputs: Tensor, rtol: float = 0.0, atol: float = 0.0, fallbacks: int = 0
) -> Program:
    """`f` lowered and evaluated gives what eager gives: values, dtypes, strides and mutations."""
    program = lowered(f, *inputs)
    kinds = [op.kind for op in program.operations if isinstance(op, Extern)]
    assert kinds.count("fallback") == fallbacks, program
    ours, theirs = list(map(duplicate, inputs)), list(map(duplicate, inputs))
    with torch.no_grad():
        expected = f(*theirs)
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    got = evaluate(program, ours)
    for a, b in zip(tree_leaves((got, ours)), tree_leaves((expected, theirs)), strict=True):
        if not isinstance(b, Tensor):
            assert a == b
            continue
        assert a.dtype == b.dtype, (a.dtype, b.dtype, program)
        assert a.shape == b.shape, (a.shape, b.shape, program)
        assert b.numel() == 0 or a.stride() == b.stride(), (a.stride(), b.stride(), program)
        if rtol == atol == 0 and a.is_floating_point():
            same = ((a == b) & (a.signbit() == b.signbit())) | (a.isnan() & b.isnan())
            assert same.all(), (a[~same], b[~same], program)
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    return program


def loops(program: Program) -> list[Computed]:
    return [op for op in program.operations if isinstance(op, Computed)]

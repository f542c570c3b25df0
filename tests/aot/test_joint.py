"""Captured graphs as capture makes them: several nodes, modes switched by nodes, user lines."""

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import fx

from minicompiler import aot
from minicompiler.errors import Unsupported
from minicompiler.settings import overriding
from tests.differential import check_against_eager

torch.set_num_threads(1)
aten = torch.ops.aten


def targets(graph):
    return [n.target for n in graph.nodes if n.op == "call_function"]


def build(make, *names):
    """A captured graph: `make(graph, *placeholders)` returns the outputs."""
    graph = fx.Graph()
    outputs = make(graph, *[graph.placeholder(name) for name in names])
    for i, node in enumerate(graph.nodes):
        node.meta["stack"] = f"user.py:{i}"
    graph.output(outputs)
    return fx.GraphModule(torch.nn.Module(), graph)


def test_functions_methods_and_operators():
    def make(g, x, w):
        y = g.call_function(F.linear, (x, w))
        y = g.call_method("relu", (y,))
        y = g.call_function(operator.add, (y, 1))
        part = g.call_function(operator.getitem, (y, (slice(1, None), 0)))
        return (y, part, None, 3)

    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4, requires_grad=True)
    joint = aot.joint_graph(build(make, "x", "w"), [x, w])
    kinds = [type(o).__name__ for o in joint.signature.outputs]
    assert kinds == ["Fresh", "View", "Constant", "Constant"]
    steps = joint.signature.outputs[1].steps
    assert [step.op for step in steps] == [aten.slice.Tensor, aten.select.int]
    stacks = {n.meta["stack"] for n in joint.graph.nodes if n.target is aten.mm.default}
    assert stacks == {"user.py:2"}, "backward, too, knows the line of F.linear"


def test_grad_mode_nodes():
    def make(g, x):
        g.call_function(torch._C._set_grad_enabled, (False,))
        y = g.call_method("sin", (x,))
        g.call_function(torch._C._set_grad_enabled, (True,))
        return (g.call_function(operator.mul, (x, y)),)

    joint = aot.joint_graph(build(make, "x"), [torch.randn(3, requires_grad=True)])
    assert aten.cos.default not in targets(joint.graph)


def test_ambient_state_is_left_alone():
    def make(g, x):
        g.call_function(torch._C._set_grad_enabled, (False,))
        g.call_function(
            torch.amp.autocast_mode._enter_autocast, ("cpu", torch.bfloat16, True, True)
        )
        y = g.call_function(F.linear, (x, x))
        return (y,)

    joint = aot.joint_graph(build(make, "x"), [torch.randn(3, 3)])
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
    assert joint.graph.output_node().args[0][0].meta["val"].dtype == torch.bfloat16


def test_ambient_autocast_and_no_grad_count():
    make = lambda g, x: (g.call_function(F.linear, (x, x)),)
    x = torch.randn(3, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        joint = aot.joint_graph(build(make, "x"), [x])
    assert not joint.signature.differentiable
    assert joint.graph.output_node().args[0][0].meta["val"].dtype == torch.bfloat16


def test_numbers_as_inputs():
    make = lambda g, x, n: (g.call_function(operator.mul, (x, n)), n)
    joint = aot.joint_graph(build(make, "x", "n"), [torch.randn(3), 4])
    assert [type(o).__name__ for o in joint.signature.outputs] == ["Fresh", "Constant"]


def test_an_error_of_the_program_is_eagers_to_raise():
    make = lambda g, x: (g.call_function(torch.mm, (x, x)),)
    with pytest.raises(Unsupported, match="mat1 and mat2"):
        aot.joint_graph(build(make, "x"), [torch.randn(3, 4)])


def test_data_dependence_is_refused():
    make = lambda g, x: (g.call_method("item", (g.call_method("sum", (x,)),)),)
    with pytest.raises(Unsupported, match="depends on data"):
        aot.joint_graph(build(make, "x"), [torch.randn(3, 4)])


def test_attributes_are_refused():
    graph = fx.Graph()
    graph.output((graph.get_attr("weight"),))
    root = torch.nn.Module()
    root.weight = torch.nn.Parameter(torch.randn(3))
    with pytest.raises(Unsupported, match="get_attr"):
        aot.joint_graph(fx.GraphModule(root, graph), [])


def test_every_node_is_described():
    def make(g, x):
        parts = g.call_method("chunk", (x, 2))
        y = g.call_function(operator.getitem, (parts, 0))
        return (g.call_function(F.layer_norm, (y, (2,))),)

    joint = aot.joint_graph(build(make, "x"), [torch.randn(3, 4, requires_grad=True)])
    for node in joint.graph.nodes:
        if node.op == "call_function":
            assert {"val", "stack", "phase"} <= node.meta.keys(), node
    phases = [n.meta["phase"] for n in joint.graph.nodes if n.op == "call_function"]
    assert phases == sorted(phases, reverse=True), "forward first"


def test_effects_keep_their_order_and_are_never_removed():
    def make(g, x):
        g.call_function(torch.rand, (3,))
        y = g.call_function(torch.rand_like, (x,))
        g.call_function(torch.randn, (2,))
        return (y,)

    with overriding({"fallback_random": True}):
        joint = aot.joint_graph(build(make, "x"), [torch.randn(3)])
        parts = aot.partition(joint)
    draws = [t for t in targets(parts.forward.graph) if torch.Tag.nondeterministic_seeded in t.tags]
    assert draws == [aten.rand.default, aten.rand_like.default, aten.randn.default]


def test_integers_share_a_forward_with_gradients():
    def make(g, x, i):
        return (g.call_function(F.embedding, (i, x)), g.call_function(operator.add, (i, 1)))

    x, i = torch.randn(5, 4, requires_grad=True), torch.tensor([0, 2])
    joint = aot.joint_graph(build(make, "x", "i"), [x, i])
    assert joint.signature.differentiable == (0,) and joint.signature.visible == 2


def test_numbers_among_an_operators_results():
    """Flash attention returns two ints between its tensors; what follows them keeps its place."""

    def make(g, q):
        op = aten._scaled_dot_product_flash_attention.default
        found = g.call_function(op, (q, q, q))
        return tuple(g.call_function(operator.getitem, (found, i)) for i in (0, 1, 4, 6))

    joint = aot.joint_graph(build(make, "q"), [torch.randn(1, 2, 128, 64, dtype=torch.bfloat16)])
    results = joint.graph.output_node().args[0][: joint.signature.visible]
    assert [n.args[1] for n in results] == [0, 1, 6]
    assert isinstance(joint.signature.outputs[2].value, int)


@pytest.mark.parametrize("f", [lambda x: x.prod(), lambda x: x.prod(0)])
def test_strides_that_depend_on_values_are_refused(f):
    """Eager's gradient of prod is laid out like the input, unless that holds a zero."""
    for x in (torch.rand(3, 2), torch.rand(2, 3).t()):
        check_against_eager(f, x.requires_grad_())

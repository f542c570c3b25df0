"""Whole graphs: what is stored, calls, outputs, mutations, origins, counts."""

import pytest
import torch
from torch import fx

from minicompiler.errors import Unsupported
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import Extern
from minicompiler.ir.verify import verify
from minicompiler.lowering import KNOWN, lower
from minicompiler.report.record import Record, recording
from minicompiler.settings import overriding
from minicompiler.symbolic.expr import sym
from minicompiler.symbolic.shapes import TensorSpec, spec_of
from tests.lowering.tracing import check, loops, lowered, trace

F = torch.nn.functional
aten = torch.ops.aten


def externs(program):
    return [op for op in program.operations if isinstance(op, Extern)]


# ----------------------------------------------------------------------------------- what is stored


def test_chains_of_pointwise_operators_are_one_loop():
    program = check(lambda x: torch.relu((x + 1) * x - 3).sigmoid(), torch.rand(3, 4), rtol=1e-6)
    assert len(loops(program)) == 1


def test_a_cheap_value_with_two_readers_is_computed_twice():
    def f(x):
        y = x * 2
        return y.sum(0), y.sum(1)

    assert len(loops(check(f, torch.rand(3, 4), rtol=1e-6))) == 2


@pytest.mark.parametrize("make", [torch.exp, lambda x: x + x.t()])
def test_a_costly_value_or_one_of_many_reads_is_stored_once(make):
    def f(x):
        y = make(x)
        return y.sum(0), y.sum(1)

    program = check(f, torch.rand(4, 4), rtol=1e-5)
    assert len(loops(program)) == 2 + (make is torch.exp)  # x is one buffer, however it is read


def test_doubling_does_not_explode():
    def f(x):
        for _ in range(40):
            x = x * 0.5 + x * 0.5
        return x

    program = check(f, torch.rand(3), rtol=1e-6)
    assert len(loops(program)) < 40
    assert max(str(op).count("mul") for op in str(program).split("buf")) < 100


def test_every_operator_is_stored_when_inlining_is_off():
    with overriding({"inline_pointwise": False}):
        program = check(lambda x: (x + 1) * 2 - 3, torch.rand(3))
    assert len(loops(program)) == 3


def test_unused_nodes_are_not_computed():
    gm = trace(lambda x: (x + 1, x * 2), torch.rand(3))
    output = next(n for n in gm.graph.nodes if n.op == "output")
    output.args = ((output.args[0][0], None, 7),)
    program = lower(gm)
    assert len(program.operations) == 1 and program.outputs[1:] == (None, 7)


# -------------------------------------------------------------------------------------------- calls


def test_matrix_products_write_to_buffers_of_the_program():
    a, b, bias = torch.rand(3, 4), torch.rand(5, 4), torch.rand(5)
    program = check(lambda a, b, c: torch.addmm(c, a, b.t()), a, b, bias)
    (call,) = externs(program)
    assert call.out_variant is aten.addmm.out and call.kind == "extern"
    assert len(program.operations) == 1  # the transposed operand is no copy
    check(lambda a, b: torch.mm(a, b.t()).relu(), a, b)
    check(torch.bmm, torch.rand(2, 3, 4), torch.rand(2, 4, 5))
    check(lambda a, b, c: torch.baddbmm(c, a, b, beta=2), a[None], b.t()[None], torch.rand(1, 3, 5))
    check(lambda a, b: torch.mm((a + 1).exp(), b.t()), a, b, rtol=1e-6)


def test_convolution_keeps_the_memory_format():
    x, w, b = torch.rand(2, 3, 8, 8), torch.rand(4, 3, 3, 3), torch.rand(4)
    f = lambda x, w, b: F.conv2d(x.relu(), w, b, padding=1).exp()
    check(f, x, w, b, rtol=1e-6)
    check(f, x.to(memory_format=torch.channels_last), w, b, rtol=1e-6)


def test_convolution_backward_gives_only_the_gradients_asked_for():
    x, w, g = torch.rand(2, 3, 8, 8), torch.rand(4, 3, 3, 3), torch.rand(2, 4, 6, 6)

    def f(g, x, w):
        args = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, False])
        return aten.convolution_backward.default(g, x, w, None, *args)[1] * 2

    program = check(f, g, x, w, rtol=1e-6)
    assert externs(program)[0].names.count(None) == 2


def test_attention_is_a_call():
    q = torch.rand(2, 3, 8, 16)
    program = check(lambda q: F.scaled_dot_product_attention(q, q, q), q)
    assert len(externs(program)) == 1


def test_unknown_operators_are_named_fallbacks():
    record = Record()
    with recording(record):
        program = check(lambda x: torch.cumsum(x * 2, 0) + 1, torch.rand(5), fallbacks=1)
    assert externs(program)[0].target is aten.cumsum.default
    assert (record.counts["native_ops"], record.counts["fallback_ops"]) == (2, 1)
    assert record.counts["loops"] == 2


def test_fallbacks_see_eager_strides():
    x = torch.rand(3, 4, 5)
    check(lambda x: torch.cumsum(x.transpose(0, 2) + 1, 1), x, fallbacks=1)
    check(lambda x: torch.cumsum(x.transpose(0, 2).flip(0), 1) * 2, x, fallbacks=1)
    check(lambda x: torch.sort(x[:, 1::2], -1)[1], x, fallbacks=1)


def test_complex_numbers_run_through_aten():
    check(lambda x: (x * 2).abs() + 1, torch.rand(3, dtype=torch.complex64), fallbacks=2)


def test_operators_that_write_their_arguments_are_refused():
    with pytest.raises(Unsupported, match="writes to"):
        lowered(lambda x: x.clone().cumsum_(0), torch.rand(3))


def test_lists_of_tensors_come_back_from_calls():
    check(
        lambda x: torch.sort(x, 0)[0] + torch.topk(x, 2, 0)[0].sum(),
        torch.rand(5),
        rtol=1e-6,
        fallbacks=2,
    )


# ------------------------------------------------------------------------------- outputs, mutations


def test_outputs_keep_eager_strides():
    x = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    check(lambda x: (x + 1, x.sum(1, keepdim=True), x.mean((2, 3)), x.amax(0)), x, rtol=1e-6)
    check(lambda x: (x.t() * 2, x.t().clone(), (x * 2).t()), torch.rand(3, 4))
    check(lambda x: (x[:, :1] + 1, torch.cat([x, x], 1)), x)


def test_outputs_may_be_inputs_repeated_or_numbers():
    def f(x):
        y = x + 1
        return x, y, y, y.t()

    check(f, torch.rand(2, 3))


def test_inputs_are_written_last():
    def f(x, y):
        total = (x * y).sum()
        x.copy_(x + 1)
        y.copy_(y * 2)
        return total

    program = check(f, torch.rand(3), torch.rand(3), rtol=1e-6)
    assert [op.into for op in loops(program)] == [None, "primals_1", "primals_2"]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: (x.copy_(y), y.copy_(x)) and x.new_ones(()),
        lambda x, y: (x.copy_(x.flip(0)),) and x.new_ones(()),
        lambda x, y: (x.copy_(x.t().clone()),) and x.new_ones(()),
        lambda x, y: (x.copy_(y + x.sum()),) and x.new_ones(()),
        lambda x, y: (x.copy_(y[0]),) and x.new_ones(()),
    ],
)
def test_a_write_does_not_disturb_what_is_still_to_be_read(f):
    x, y = torch.rand(3, 3), torch.rand(3, 3)
    gm = trace(f, x.clone(), y.clone())
    program = lower(gm)
    verify(program)
    ours, theirs = [x.clone(), y.clone()], [x.clone(), y.clone()]
    evaluate(program, ours)
    new = {}
    for node in gm.graph.nodes:  # the reference: all reads before all writes
        if node.target is aten.copy_.default:
            new[node.args[0]] = node.args[1]
    interpreter = Functional(gm)
    expected = interpreter.values(theirs, list(new.values()))
    for target, value in zip(new, expected):
        index = int(target.name.split("_")[1]) - 1
        theirs[index] = value.expand(3, 3).clone()
    assert torch.equal(ours[0], theirs[0]) and torch.equal(ours[1], theirs[1])


class Functional(fx.Interpreter):
    """Runs a graph without its writes to inputs."""

    def values(self, inputs, nodes):
        env = {}
        given = iter(inputs)
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                env[node] = next(given)
            elif node.op == "call_function" and node.target is not aten.copy_.default:
                args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: env[n])
                env[node] = node.target(*args, **kwargs)
            elif node.op == "call_function":
                env[node] = env[node.args[0]]
        return [env[n] for n in nodes]


def test_an_output_keeps_what_an_input_held_before_it_is_written():
    graph = fx.Graph()
    x = graph.placeholder("primals_1")
    x.meta["val"] = spec_of(torch.rand(3))
    y = graph.call_function(aten.add.Tensor, (x, 1))
    y.meta["val"] = spec_of(torch.rand(3))
    z = graph.call_function(aten.copy_.default, (x, y))
    z.meta["val"] = spec_of(torch.rand(3))
    graph.output((x, z))
    program = lower(fx.GraphModule({}, graph))
    verify(program)
    given = torch.tensor([1.0, 2, 3])
    before, after = evaluate(program, [given])
    assert before.tolist() == [1, 2, 3] and after.tolist() == given.tolist() == [2, 3, 4]


# -------------------------------------------------------------------------------------------- notes


def test_origins_name_nodes_and_lines():
    gm = trace(lambda x: (x + 1).relu().sum(), torch.rand(3))
    for node in gm.graph.nodes:
        node.meta["stack"] = f"model.py:{len(node.name)} in forward"
    program = lower(gm)
    (origins,) = program.origins.values()
    assert origins[:3] == ["add_tensor", "relu_default", "sum_default"]
    assert origins[3:] == [f"model.py:{n} in forward" for n in (10, 12, 11)]


def test_symbolic_sizes():
    s0, s1 = sym("s0"), sym("s1")
    cpu, f32 = torch.device("cpu"), torch.float32
    graph = fx.Graph()
    size = graph.placeholder("size")
    size.meta["val"] = s0
    x = graph.placeholder("x")
    x.meta["val"] = TensorSpec(cpu, f32, (s0, s1), (s1, sym("one") * 0 + 1))
    flat = graph.call_function(aten.view.default, (x, [s0 * s1]))
    flat.meta["val"] = TensorSpec(cpu, f32, (s0 * s1,), (s1 * 0 + 1,))
    total = graph.call_function(aten.mean.dim, (x, [1], True))
    total.meta["val"] = TensorSpec(cpu, f32, (s0, s1 * 0 + 1), (s1 * 0 + 1, s1 * 0 + 1))
    centred = graph.call_function(aten.sub.Tensor, (x, total))
    centred.meta["val"] = TensorSpec(cpu, f32, (s0, s1), (s1, s1 * 0 + 1))
    scaled = graph.call_function(aten.mul.Tensor, (centred, size))
    scaled.meta["val"] = centred.meta["val"]
    graph.output((scaled, flat, size))
    program = lower(fx.GraphModule({}, graph))
    program.inputs["s1"] = s1
    verify(program)
    for n, m in ((3, 4), (1, 7)):
        a = torch.rand(n, m)
        got, row, number = evaluate(program, [n, a, m])
        torch.testing.assert_close(got, (a - a.mean(1, keepdim=True)) * n)
        assert torch.equal(row, a.view(-1)) and number == n


def test_known_operators():
    assert {aten.add.Tensor, aten.sum.dim_IntList, aten.view.default} <= KNOWN
    assert aten.cumsum.default not in KNOWN

"""What primer P2 shows: each function is called, and prints the answer."""

import operator

import torch
from torch import fx
from torch._subclasses import FakeTensorMode
from torch.nn import functional as F


def f(x, w):
    h = F.gelu(x @ w)
    return h * 2 + h


x, w = torch.ones(4, 8), torch.ones(8, 8)


def eager_one_at_a_time():
    """Each line is a call that has ended before the next is looked at. The product cannot know that
    its result is only needed by the gelu: it writes all of it to memory, and the gelu reads it
    back."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            print(func, "writes", result.numel() * result.element_size(), "bytes")
            return result

    with Noting():
        f(x, w)


def a_graph_is_data():
    """A node says what is called and on what. `users` leads the other way, to who needs a result:
    `gelu` has two. A compiler asks exactly that: who needs this value, and when is it not needed
    any more?"""
    graph = fx.symbolic_trace(f).graph
    for node in graph.nodes:
        print(f"{node.op:14} {node.name:7} {node.args} used by {[*map(str, node.users)]}")


def a_graph_can_be_changed():
    """A pass is a loop over nodes. This one looks for a sum of a product and the first factor of
    that product, makes `h * 3` of `h * 2 + h`, and then removes what nobody uses. The module prints
    itself as Python again."""
    module = fx.symbolic_trace(f)
    for node in module.graph.nodes:
        if node.target is operator.add and node.args[0].target is operator.mul:
            product, h = node.args
            if product.args[0] is h:
                node.target, node.args = operator.mul, (h, product.args[1] + 1)
    module.graph.eliminate_dead_code()
    module.recompile()
    print(module.code.strip())
    print("same:", torch.allclose(module(x, w), f(x, w)))


def a_meta_tensor_has_no_data():
    """For nearly every operator torch has a rule for the shape, the strides and the dtype of what
    it gives. On the device `meta` only this rule runs. So the error of a wrong shape is found
    without a single number, and a tensor of a terabyte costs nothing."""
    big = torch.empty(500_000, 500_000, device="meta")
    made = (big @ big).sum(0).to(torch.float16)
    print(made.shape, made.dtype, made.device)
    try:
        big @ big[:3]
    except RuntimeError as error:
        print(error)


def a_fake_tensor_says_it_is_elsewhere():
    """A meta tensor is on the device `meta`, which is not where the real one is; code that asks for
    the device would take another way. A fake tensor is a meta tensor that answers with the device
    of the real one. What it cannot do is give a value."""
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        result = f(fake, mode.from_tensor(w))
        print(result, result.device)
        try:
            bool(result.sum() > 0)
        except Exception as error:
            print(type(error).__name__)


def tracing_on_fakes():
    """The graph is that of ATen, the operators under torch's functions: `@` has become `mm`. No
    operator has computed anything, and each node knows the shape that it will have."""
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(f, tracing_mode="fake")(x, w).graph
    for node in graph.nodes:
        if "val" in node.meta:
            print(f"{node.name:12} {node.target!s:22} {list(node.meta['val'].shape)}")


def what_a_graph_cannot_say():
    """Shapes and dtypes are known before anything runs, so the first can be decided while the graph
    is made. The second needs a number."""
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        for name, question in {
            "more than two rows": lambda: fake.shape[0] > 2,
            "a positive sum": lambda: bool(fake.sum() > 0),
        }.items():
            try:
                print(name, question())
            except Exception as error:
                print(name, "is not known:", type(error).__name__)


def whose_result_is_freed_first():
    """The last user of `gelu` is the addition, so its memory is needed until then; that of `matmul`
    is free after the `gelu`. Eager frees it then, too, when the temporary dies. But only with the
    graph is it known *before* the run, so that memory can be planned."""
    nodes = list(fx.symbolic_trace(f).graph.nodes)
    for node in nodes:
        if node.op != "output":
            print(node.name, "until", max(node.users, key=nodes.index))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

"""What a call costs the host, beside eager: `python tests/runtime/host_costs.py`.

Nanoseconds a call, the best of seven rounds, in one thread. Quiet machines only.
"""

import timeit

import torch
from conftest import Planned

from minicompiler import runtime
from minicompiler.ir.signature import Fresh, Input, Saved, Signature
from minicompiler.runtime import extension
from minicompiler.settings import overriding
from minicompiler.symbolic.shapes import spec_of

ADD = """
const float *a = (float*)buffers[0], *b = (float*)buffers[1];
float* out = (float*)buffers[2];
for (long i = 0; i < 16; i++) out[i] = a[i] + b[i]; return 0;"""


def show(what, call, count=5000):
    seconds = min(timeit.Timer(call).repeat(7, count)) / count
    print(f"{what:56}{seconds * 1e9:12,.0f}")


def row(t):
    keys = torch._C._dispatch_keys(t).raw_repr()
    return type(t), t.dtype, None, tuple(t.shape), t.stride(), t.requires_grad, keys


def one_kernel():
    planned = Planned()
    planned.input("a", (16,))
    planned.input("b", (16,))
    planned.alloc("buf0", planned.layout((16,)))
    planned.launch("add", ADD, reads=("a", "b"), writes=("buf0",))
    return planned.returns("buf0").load()


def allocations(count):
    planned = Planned()
    for i in range(count):
        planned.alloc(f"buf{i}", planned.layout((16,)))
    return planned.returns().load()


def trained(count):
    """A function of `count` inputs, all saved, whose kernels do nothing."""
    names = tuple(f"x{i}" for i in range(count))
    forward, backward = Planned(), Planned()
    for name in names:
        forward.input(name, (2,))
        backward.input(name, (2,))
        backward.alloc(f"d{name}", backward.layout((2,)))
    backward.input("tangent", (2,))
    forward.alloc("out", forward.layout((2,)))
    forward.launch("forward", "return 0;", reads=names, writes=("out",))
    outs = tuple(f"d{name}" for name in names)
    backward.launch("backward", "return 0;", reads=(*names, "tangent"), writes=outs)
    signature = Signature(
        arguments=tuple(map(Input, range(count))),
        outputs=(Fresh(0),),
        mutations=(),
        visible=1,
        differentiable=(0,),
        tangents=(spec_of(torch.empty(2)),),
        frees=(frozenset({0}),),
        inside=(frozenset(),),
        gradients=(frozenset({0}),) * count,
        saved=tuple(Saved(i, None, True, frozenset({0})) for i in range(count)),
    )
    ready = ((1,),), backward.returns(*outs).load()
    return runtime.bind(signature, forward.returns("out").load(), lambda layouts: ready)


def main():
    torch.set_num_threads(1)
    a, b, g = torch.randn(16), torch.randn(16), torch.ones(2)
    run, none, ten = one_kernel(), allocations(0), allocations(10)
    show("eager a + b", lambda: a + b)
    show("plan: one kernel, one allocation", lambda: run([a, b]))
    show("plan: nothing", lambda: none([]))
    show("plan: ten allocations", lambda: ten([]))
    with overriding({"python_runtime": True}):
        python = one_kernel()
    show("wrapper in Python: one kernel, one allocation", lambda: python([a, b]), 1000)
    for count in (4, 300):
        tensors = [torch.randn(8, 8) for _ in range(count)]
        guard = extension.module().TensorGuard([row(t) for t in tensors])
        show(f"guard: {count} tensors", lambda: guard(*tensors))
    for count, rounds in ((1, 1000), (300, 50)):
        inputs = [torch.randn(2, requires_grad=True) for _ in range(count)]
        for switch in (False, True):
            with overriding({"python_runtime": switch}):
                f = trained(count)
            how = "autograd.Function" if switch else "node"
            show(f"{how}: forward, {count} inputs", lambda: f(*inputs), rounds)
            step = lambda: f(*inputs)[0].backward(g)
            show(f"{how}: forward and backward, {count} inputs", step, rounds)
    x = torch.randn(2, requires_grad=True)
    show("eager x * x: forward and backward", lambda: (x * x).backward(g), 1000)


if __name__ == "__main__":
    main()

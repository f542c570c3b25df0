"""What is often said of graph breaks, and a run that shows what is so."""

import torch
from captured import beside, compiled_frames

import minicompiler


def branch(x):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    return y.sin()


def a_break_compiles_at_every_call():
    """A break is where one piece of compiled code ends and calls the next. It is decided once, when
    the frame is compiled. A *recompile* is a guard that fails."""
    compiled = minicompiler.compile(branch, backend="eager")
    for _ in range(100):
        compiled(torch.ones(3))
    known = minicompiler.stats()
    print({key: known[key] for key in ("frames", "graphs", "breaks", "recompiles")})


def behind_a_break_all_is_eager():
    """One instruction runs eagerly, here the jump. Both sides of it are compiled; each frame below
    has a graph."""
    for record in compiled_frames(branch, torch.ones(3)):
        (gm,) = record.stages["graph"]
        print(record.name, [n.name for n in gm.graph.nodes if n.op.startswith("call")])


def every_branch_and_loop_breaks():
    """Capture runs the program with what it knows: a number from outside, a shape, a loop over a
    list are known, and guarded. Only what depends on the *values in a tensor* cannot be decided."""

    def f(x, layers, flag):
        for layer in layers:
            x = layer(x)
        if flag and x.shape[0] > 2 and x.dtype is torch.float32:
            x = x * 2
        return x

    beside(f, (torch.ones(3), [torch.sin, torch.cos], True))


def fullgraph_removes_breaks():
    """It changes nothing about what can be captured. Where the graph would break, it raises, and
    says at which line, why, and what can be done. Use it where a break would be a mistake."""
    try:
        minicompiler.compile(branch, backend="eager", fullgraph=True)(torch.ones(3))
    except minicompiler.Unsupported as error:
        print(error)


def print_breaks():
    """A print of what is known while compiling waits until the graph has run, and is done then, at
    each call. Of a tensor there is nothing to print before the graph has run, so that breaks.
    torch breaks at both, unless it is told which functions it may move."""

    def of_a_shape(x):
        print("shape", *x.shape)
        return x * 2

    def of_a_tensor(x):
        print("sum", x.sum())
        return x * 2

    beside(of_a_shape, (torch.ones(3),))
    beside(of_a_tensor, (torch.ones(3),))


def gradients_stop_at_a_break():
    """Tensors carry their history over the break as they do between any two calls. Each graph has a
    backward of its own, and autograd calls one after the other."""
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    branch(x).sum().backward()
    minicompiler.compile(branch, backend="aot_eager")(y).sum().backward()
    print(torch.equal(x.grad, y.grad), minicompiler.stats()["graphs"], "graphs")


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

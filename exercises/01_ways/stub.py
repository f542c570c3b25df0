"""What does each way of capturing make of these? Replace each None by what the function returns."""

import torch

import minicompiler

ANSWERS = {
    "trace_branch": None,  # a list of numbers
    "trace_size": None,  # a list
    "trace_loop": None,  # a list
    "trace_counter": None,  # a number
    "symbolic_branch": None,  # the name of a class
    "symbolic_global": None,  # a list
    "symbolic_counter": None,  # a number
    "bytecode_branch": None,  # how many graphs
    "bytecode_global": None,  # a list
    "bytecode_counter": None,  # two numbers in a list
}
seen = []
scale = 2.0


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def mean(x):
    return x.sum() / x.shape[0]


def total(x):
    found = x[0]
    for i in range(1, x.shape[0]):
        found = found + x[i]
    return found


def counter(x):
    seen.append("called")
    return x * 2


def scaled(x):
    return x * scale


def traced(f, x):
    return torch.jit.trace(f, x, check_trace=False)


def bytecode(f):
    """`f` compiled, and a list with an item for each graph that is made."""
    graphs = []

    def backend(gm, inputs):
        graphs.append(gm)
        return gm.forward

    return minicompiler.compile(f, backend=backend), graphs


def trace_branch():
    f = traced(branch, torch.tensor([1.0, 2.0]))
    return f(torch.tensor([-3.0, 1.0])).tolist()


def trace_size():
    f = traced(mean, torch.tensor([1.0, 3.0]))
    return [f(torch.tensor([1.0, 3.0])).item(), f(torch.tensor([1.0, 3.0, 5.0, 7.0])).item()]


def trace_loop():
    f = traced(total, torch.tensor([1.0, 2.0]))
    return [f(torch.tensor([1.0, 2.0])).item(), f(torch.tensor([1.0, 2.0, 4.0])).item()]


def trace_counter():
    seen.clear()
    f = traced(counter, torch.ones(2))
    for _ in range(3):
        f(torch.ones(2))
    return len(seen)


def symbolic_branch():
    try:
        f = torch.fx.symbolic_trace(branch)
        return f(torch.ones(2)).tolist()
    except Exception as error:
        return type(error).__name__


def symbolic_global():
    global scale
    scale = 2.0
    f = torch.fx.symbolic_trace(scaled)
    scale = 5.0
    return f(torch.tensor([1.0, 3.0])).tolist()


def symbolic_counter():
    seen.clear()
    f = torch.fx.symbolic_trace(counter)
    for _ in range(3):
        f(torch.ones(2))
    return len(seen)


def bytecode_branch():
    f, graphs = bytecode(branch)
    for first in (1.0, 2.0, -1.0, -2.0):
        f(torch.tensor([first]))
    return len(graphs)


def bytecode_global():
    global scale
    scale = 2.0
    f, graphs = bytecode(scaled)
    f(torch.ones(2))
    scale = 5.0
    return [*f(torch.tensor([1.0, 3.0])).tolist(), len(graphs)]


def bytecode_counter():
    seen.clear()
    f, graphs = bytecode(counter)
    for _ in range(3):
        f(torch.ones(2))
    return [len(seen), len(graphs)]


if __name__ == "__main__":
    for name in ANSWERS:
        print(name, globals()[name]())

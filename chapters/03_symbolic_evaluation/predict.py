"""The questions of the chapter: each is a function, and prints the answer."""

import math

import torch

import minicompiler


def nodes_of(f, *args):
    """The nodes of each graph that compiling `f` for these arguments gives, and the result."""
    graphs = []

    def keep(gm, inputs):
        graphs.append([node.name for node in gm.graph.nodes if node.op.startswith("call")])
        return gm.forward

    result = minicompiler.compile(f, backend=keep)(*args)
    print(*graphs, sep="\n")
    return result


def what_is_computed_now():
    """Strings, dictionaries, sorting, the generator, `math`: all are known while the frame is
    evaluated, so they are computed there and then. The graph holds the two operations that a tensor
    takes part in, with 10.0 and 2 as constants in them."""

    def f(x):
        names = sorted({"scale": 2, "bias": 3})
        text = "-".join(name.upper() for name in names)
        return x * math.sqrt(len(text) ** 2) + len(names)

    print(nodes_of(f, torch.ones(2)))


def what_a_tensor_knows():
    """Shape, dtype, number of dimensions and device of a tensor are known of its fake, so that
    these branches are decided, and vanish. What decided them is guarded."""

    def f(x):
        if x.dtype == torch.float32 and x.shape[0] > 1:
            x = x / x.shape[0]
        if x.is_cuda:
            x = x.half()
        return x.relu()

    nodes_of(f, torch.ones(2))


def what_is_not_run():
    """Evaluation follows one path. What stands beside it is never looked at, so that it cannot
    break the graph, whatever it is."""

    def f(x, debug):
        if debug:
            print(x, input("go on?"))
        return x + 1

    nodes_of(f, torch.ones(2), False)


def objects():
    """The class is called, `__init__` runs, the property and `__call__` are looked up on the class
    as Python does, and each is inlined. The object never exists: nobody outside can have it, so it
    is not built."""

    class Affine:
        def __init__(self, scale):
            self.scale = scale

        @property
        def bias(self):
            return self.scale + 1

        def __call__(self, x):
            return x * self.scale + self.bias

    def f(x):
        return Affine(3)(x)

    print(nodes_of(f, torch.ones(2)))


def when_the_list_grows():
    """Evaluation reads the list and never writes it. The append is noted, and replayed after the
    graph has run, at the first call as at all others. While the backend compiles, the frame has
    been evaluated, and nothing has happened yet."""
    seen = []

    def f(x):
        seen.append(x.shape[0])
        return x + 1

    def backend(gm, inputs):
        print("while compiling:", seen)
        return gm.forward

    compiled = minicompiler.compile(f, backend=backend)
    compiled(torch.ones(2))
    print("after the call:", seen)


def exceptions():
    """The KeyError is raised into the evaluated program, where the handler is found in the code
    object's exception table, as CPython does it. None of it is in the graph."""
    table = {"a": 1}

    def f(x):
        try:
            k = table["b"]
        except KeyError as error:
            k = len(str(error))
        return x * k

    print(nodes_of(f, torch.ones(2)))


def values():
    """A branch on the value of a tensor cannot be decided: there is no value. The graph ends in
    front of it and Python decides; each way goes on in a function of its own, which is compiled
    once it is called. The second call goes the other way, which makes the third graph."""

    def f(x):
        x = x + 1
        if x.sum() > 0:
            return x * 2
        return x * 3

    graphs = []

    def keep(gm, inputs):
        graphs.append([node.name for node in gm.graph.nodes if node.op.startswith("call")])
        return gm.forward

    compiled = minicompiler.compile(f, backend=keep)
    for sign in (1, -5):
        compiled(sign * torch.ones(2))
    print(*graphs, sep="\n")


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

"""The questions of the chapter: each is a function, and prints the answer."""

from types import SimpleNamespace

import torch
from captured import beside_each

import minicompiler
from minicompiler import report
from minicompiler.capture.facts import AMBIENT


def guards_of(f, *args):
    """The guards of a function, without those of ambient state."""
    with report.collecting() as records:
        minicompiler.compile(f, backend="eager")(*args)
    return [g for g in records[0].stages["guards"][0] if g.kind not in AMBIENT]


def what_was_read():
    """The class of `o` was asked for, since it might have a property `scale`; the attribute was
    read from the object's own dictionary, and its value is a constant of the graph. `other` was
    not read, nor was `unused`, an argument: neither is guarded."""

    def f(x, o, unused):
        return x * o.scale

    o = SimpleNamespace(scale=2.0, other=1.0)
    print(*guards_of(f, torch.ones(2), o, "unused"), sep="\n")


def another_object():
    """The guards say what was read of the object, not which object it is: an equal one serves as
    well, in both compilers. Only the third differs in what was read."""

    def make():
        def f(x, o):
            return x * o.scale

        return f

    x, named = torch.ones(2), SimpleNamespace
    beside_each(
        make, (x, named(scale=2.0, n=1)), (x, named(scale=2.0, n=2)), (x, named(scale=3.0, n=2))
    )


def equal_but_not_the_same():
    """They are equal in Python and make different graphs: `x * 1` keeps the dtype of an integer
    tensor, `x * 1.0` does not. So constants are compared with their types."""

    def f(x, k):
        return x * k

    compiled = minicompiler.compile(f, backend="eager")
    for k in (1, True, 1.0):
        compiled(torch.ones(2), k)
    print(minicompiler.stats()["graphs"])


def one_tensor_twice():
    """Whether the two arguments are one object matters to nobody here, so that it is not guarded.
    torch.compile guards in any case that its tensors are different objects."""

    def make():
        def f(x, y):
            return x + y

        return f

    x, y = torch.ones(2), torch.ones(2)
    beside_each(make, (x, y), (x, x))


def one_tensor_twice_and_written():
    """Now it matters: what is written through `x` is read through `y`. A frame that writes assumes
    that its tensors are different objects (DISTINCT), and which of them share memory (OVERLAPS)."""

    def f(x, y):
        x.add_(1)
        return x * y

    compiled = minicompiler.compile(f, backend="eager")
    x, y = torch.ones(2), torch.ones(2)
    compiled(x, y)
    print(compiled(x, x), minicompiler.stats()["recompile_reasons"][0].partition(": ")[2])


def part_of_a_list():
    """Reading one item assumes how long the list is, as another length could make `[0]` fail, or
    mean another place for `[-1]`. The other items are not read; they may be anything."""

    def make():
        def f(x, values):
            return x * values[0]

        return f

    x = torch.ones(2)
    beside_each(make, (x, [2.0, 1]), (x, [2.0, "other"]), (x, [2.0, "other", "more"]))


def weights():
    """Parameters are inputs of the graph, and a guard on a tensor is about its metadata. After a
    write in place, or with another parameter of the same kind, nothing is compiled again. Whether
    a parameter requires grad is metadata."""

    def make():
        def f(x, layer):
            return layer(x)

        return f

    x, layer = torch.ones(2, 3), torch.nn.Linear(3, 3)
    beside_each(
        make,
        (x, layer),
        lambda: layer.weight.data.mul_(2),
        lambda: setattr(layer, "weight", torch.nn.Parameter(torch.zeros(3, 3))),
        lambda: layer.bias.requires_grad_(False),
    )


def never_the_same():
    """Each call leaves another name behind for the next one to read. After as many compilations as
    the limit allows, what fits none of them runs eagerly, with one warning: right, and slow."""
    state = SimpleNamespace(name="")

    def f(x):
        state.name = state.name + "."
        return x + len(state.name)

    compiled = minicompiler.compile(f, backend="eager", options={"recompile_limit": 3})
    print([compiled(torch.zeros(1)).item() for _ in range(6)], minicompiler.stats()["graphs"])


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

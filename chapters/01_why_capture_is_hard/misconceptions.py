"""What is often said of ways to a graph, and a run that shows what is so."""

import torch
from limits import branch, without_deprecations

import minicompiler


def a_tracer_warns_where_it_is_wrong():
    """It warns where Python takes a number or a truth value out of a tensor. A global, an entry of
    a dictionary, a counter: none of them goes through a tensor, and nothing is said."""
    without_deprecations()
    factor = {"now": 2.0}
    traced = torch.jit.trace(lambda x: x * factor["now"], torch.ones(2))
    factor["now"] = 3.0
    print(traced(torch.ones(2)).tolist())


def scripted_python_computes_what_python_computes():
    """It has Python's syntax and other meanings: its integers have 64 bits, and these wrap around.
    What is understood is a language of its own that looks the same."""
    without_deprecations()

    def square(n: int):
        return n * n

    print(square(2**40), "and scripted", torch.jit.script(square)(2**40))


def a_branch_on_a_value_cannot_be_compiled():
    """The branch itself is left to Python, the rest is compiled: one graph up to it, and one for
    each side that was taken. That is a graph break. `fullgraph=True` asks for an error instead."""
    f = minicompiler.compile(branch, backend="eager")
    for x in torch.ones(2), torch.tensor([-3.0, 1.0]):
        print(f(x).tolist(), minicompiler.stats()["graphs"], "graphs")
    try:
        minicompiler.compile(branch, fullgraph=True)(torch.ones(2))
    except minicompiler.CompilerError as error:
        print(error)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

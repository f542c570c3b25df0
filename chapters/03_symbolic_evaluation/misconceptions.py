"""What is often said of capture, and a run that shows what is so."""

import torch
from captured import beside_each


def it_reads_the_source():
    """No file has this function. `exec` made it from a string, and one constant of its bytecode was
    exchanged afterwards: both compilers follow the bytecode, and know nothing of any text."""
    names = {}
    exec("def f(x): return x + 1000", names)
    code = names["f"].__code__
    constants = tuple(41 if c == 1000 else c for c in code.co_consts)
    names["f"].__code__ = code.replace(co_consts=constants)
    print(names["f"](torch.ones(1)))
    beside_each(lambda: names["f"], (torch.ones(1),))


def loops_and_branches_break_the_graph():
    """One graph and no break, in both. A loop is unrolled and a branch decided, as long as what
    decides is known while the frame is evaluated."""

    def make():
        def f(x, layers, mode):
            for i, layer in enumerate(layers):
                if mode == "deep" or i < 2:
                    x = layer(x).relu()
                else:
                    continue
            while x.ndim < 4:
                x = x.unsqueeze(0)
            return x

        return f

    layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))
    beside_each(make, (torch.ones(2, 3), layers, "deep"))


def only_tensor_code_is_captured():
    """Classes, dictionaries, strings, generators, `try` and `with` are followed in both."""

    class Scales(dict):
        def __missing__(self, key):
            return len(key)

    def make():
        def f(x):
            scales = Scales(a=0.5)
            for name in (part.strip() for part in "a, bb, ccc".split(",")):
                try:
                    x = x * scales[name]
                    if name == "bb":
                        raise ValueError(name)
                except ValueError as error:
                    x = x + len(str(error))
            with torch.no_grad():
                return x

        return f

    beside_each(make, (torch.ones(2),))


def compiling_runs_the_function():
    """Each called it three times, and three calls were noted: the one that was compiled for is not
    noted twice. Evaluation keeps to itself what the frame does to `calls`; it is done after the
    graph has run, at the first call as at the others. (torch compiles for each call anew because it
    guards the length of the list, which is chapter 04.)"""
    calls = []

    def make():
        def f(x):
            calls.append("called")
            return x + 1

        return f

    beside_each(make, (torch.ones(2),), (torch.ones(2),), (torch.ones(2),))
    print(len(calls))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

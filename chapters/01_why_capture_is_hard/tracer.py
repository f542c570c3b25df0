"""Tracing: run the function once and write down what it does to tensors."""

from program import Program
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map


class Recorder(TorchFunctionMode):
    """While it is on, torch hands every call of a function or method of its own to it."""

    def __init__(self, program, inputs):
        super().__init__()
        self.program = program
        self.known = {id(x): (x, program.input()) for x in inputs}  # holding x keeps its id x's

    def name(self, value):
        """A tensor that the program has made or been given; anything else is a constant."""
        return self.known[id(value)][1] if id(value) in self.known else value

    def __torch_function__(self, func, types, args=(), kwargs=None):
        given = tree_map(self.name, (args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.known[id(result)] = result, self.program.add(func, *given[0], **given[1])
        elif func is Tensor.__setitem__:
            self.program.add(func, *given[0])
        elif any(isinstance(part, Tensor) for part in tree_leaves(result)):
            raise NotImplementedError(f"{func.__name__} gives several tensors")
        return result


def trace(f, *inputs):
    program = Program()
    with Recorder(program, inputs) as recorder:
        program.output = tree_map(recorder.name, f(*inputs))
    return program


if __name__ == "__main__":
    import torch
    from running import Block

    block, x = Block(), torch.randn(4, 8)
    program = trace(block, x)
    print(program)
    print("same:", torch.equal(program(x), block(x)))

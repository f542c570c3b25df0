"""Scripting: read the source of a function, which never runs, and translate what is understood."""

import ast
import inspect
import operator
from textwrap import dedent

import torch
from program import Name

OPERATORS = {"Mult": "mul", "Div": "truediv", "MatMult": "matmul"}  # the rest: in lower case


class Script:
    """`body`: steps ("let", name, value), ("return", value) and ("if", value, steps, steps)."""

    def __init__(self, f):
        tree = ast.parse(dedent(inspect.getsource(f))).body[0]
        self.inputs = [Name(a.arg) for a in tree.args.args]
        self.known = set(self.inputs)
        self.body = [*map(self.step, tree.body), ("return", None)]

    def step(self, node):
        match node:
            case ast.Assign([ast.Name(name)], value):
                value = self.value(value)
                self.known.add(name)
                return "let", Name(name), value
            case ast.If(test, then, other):
                return "if", self.value(test), [*map(self.step, then)], [*map(self.step, other)]
            case ast.Return(value):
                return "return", self.value(value)
        raise NotImplementedError(f"{type(node).__name__}: {ast.unparse(node).splitlines()[0]}")

    def value(self, node):
        """A constant, a name, or (function, value, ...)."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name) if name in self.known:
                return Name(name)
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
                name = OPERATORS.get(type(op).__name__, type(op).__name__.lower())
                return getattr(operator, name), self.value(left), self.value(right)
            case ast.Call(ast.Attribute(of, method), args, []):
                return getattr(torch.Tensor, method), *map(self.value, (of, *args))
        raise NotImplementedError(f"{type(node).__name__}: {ast.unparse(node)}")

    def __call__(self, *inputs):
        known, todo = dict(zip(self.inputs, inputs)), list(self.body)

        def compute(value):
            if isinstance(value, tuple):
                return value[0](*map(compute, value[1:]))
            return known[value] if isinstance(value, Name) else value

        while (step := todo.pop(0))[0] != "return":
            if step[0] == "if":
                todo[:0] = step[2] if compute(step[1]) else step[3]
            else:
                known[step[1]] = compute(step[2])
        return compute(step[1])

    def __str__(self):
        return "\n".join(map(lisp, self.body[:-1]))


def lisp(value):
    if isinstance(value, tuple | list):
        return f"({' '.join(map(lisp, value))})"
    return getattr(value, "__name__", str(value))


if __name__ == "__main__":
    from limits import branch, check

    check(Script(branch), branch)

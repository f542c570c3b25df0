"""A symbolic evaluator: tensors become nodes of a graph, everything else is computed now."""

import operator
from types import FunctionType

import torch
from program import f

from minicompiler.capture.decode import FAST, decode
from minicompiler.capture.opcodes import SYMBOLS

OPERATORS = {"+": operator.add, "*": operator.mul, ">": operator.gt}


def call(graph, function, *args):
    """A node where a tensor comes out, else a constant. Tensors have shapes here, and no data."""
    if type(function) is FunctionType:
        return evaluate(graph, function, args)
    out = function(*[a.meta["val"] if type(a) is torch.fx.Node else a for a in args])
    if type(out) is not torch.Tensor:
        return out
    node = graph.call_function(function, args)
    node.meta["val"] = out
    return node


def evaluate(graph, function, args):
    stack, at, variables = [], 0, dict(zip(function.__code__.co_varnames, args))
    instructions = decode(function.__code__).instructions
    while (inst := instructions[at]).opname != "RETURN_VALUE":
        op, value, at = inst.opname, inst.argval, at + 1
        for does, name in zip(FAST.findall(op), value if type(value) is tuple else [value]):
            if does == "LOAD":  # newer Pythons load or store two at once
                stack.append(variables[name])
            else:
                variables[name] = stack.pop()
        if op in ("LOAD_CONST", "LOAD_SMALL_INT"):
            stack.append(value)
        elif op == "LOAD_GLOBAL":
            stack.append(range if value == "range" else function.__globals__[value])
        elif op in ("LOAD_ATTR", "LOAD_METHOD"):
            stack.append(call(graph, getattr, stack.pop(), value))
        elif op in ("BINARY_OP", "COMPARE_OP"):
            symbol = SYMBOLS[inst.arg] if op == "BINARY_OP" else value.strip("bol()")
            right, left = stack.pop(), stack.pop()
            stack.append(call(graph, OPERATORS[symbol], left, right))
        elif op == "CALL":
            args = [stack.pop() for _ in range(inst.arg)][::-1]
            stack.append(call(graph, stack.pop(), *args))
        elif op == "GET_ITER":
            stack.append(iter(stack.pop()))
        elif op == "FOR_ITER":
            stack.append(next(stack[-1], None))
            if stack[-1] is None:
                del stack[-2:]
                at = inst.target
        elif op.startswith("POP_JUMP"):
            if type(test := stack.pop()) is torch.fx.Node:
                raise NotImplementedError("a branch on the value of a tensor")
            at = inst.target if test == ("TRUE" in op) else at
        elif "JUMP" in op:
            at = inst.target
    return stack.pop()


if __name__ == "__main__":
    graph = torch.fx.Graph()
    (x := graph.placeholder("x")).meta["val"] = torch.ones(2, 3, device="meta")
    graph.output(evaluate(graph, f, [x, 3]))
    print(graph)

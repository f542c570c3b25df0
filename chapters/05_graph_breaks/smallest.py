"""A compiler for branches on data: each piece between two branches becomes a graph of its own."""

from functools import cache
from types import FunctionType

import torch
from bytecode import Bytecode, Instr, Label
from torch import fx


def load(names):
    return [Instr("LOAD_FAST", name) for name in names]


def resume(f, place, names, depth):
    """A function that goes on at `place` in the code of `f`: it is handed locals and stack."""
    body, start = Bytecode.from_code(f.__code__), Label()
    stack = [f"stack_{i}" for i in range(depth)]
    body.argnames = [*names, *stack]
    body.argcount = len(body.argnames)
    body.insert(place, start)
    body[:0] = [Instr("RESUME", 0), *load(stack), Instr("JUMP_FORWARD", start)]
    return FunctionType(body.to_code(), f.__globals__)


def traced(f):
    graph = fx.symbolic_trace(f)
    print("graph:", *[n.name for n in graph.graph.nodes if n.op != "output"])
    return graph


def compile(f):
    body, head, at = Bytecode.from_code(f.__code__), [], 0
    while not isinstance(item := body[at], Instr) or "IF" not in item.name:  # to the first branch
        jumps = isinstance(item, Instr) and item.is_uncond_jump()
        at = body.index(item.arg) if jumps else at + 1
        if isinstance(item, Instr) and item.name == "RETURN_VALUE":
            return traced(f)
        if isinstance(item, Instr) and not jumps and item.name != "TO_BOOL":  # of 3.13
            head.append(item)
    depth = sum(i.stack_effect(jump=False) for i in head) - 1  # without the condition
    args = [i.arg if isinstance(i.arg, tuple) else (i.arg,) for i in head if "STORE" in i.name]
    bound = {*body.argnames, *(name for arg in args for name in arg)}
    names = [name for name in f.__code__.co_varnames if name in bound]
    first = Bytecode.from_code(f.__code__)
    packed = Instr("BUILD_TUPLE", depth + 1 + len(names))
    first[:] = [*head, *load(names), packed, Instr("RETURN_VALUE")]
    graph = traced(FunctionType(first.to_code(), f.__globals__))

    @cache
    def rest(jumped):  # compiled when a call first goes this way
        return compile(resume(f, body.index(item.arg) if jumped else at + 1, names, depth))

    def call(*args):
        *stack, condition = (found := graph(*args))[: depth + 1]
        jumped = bool(condition) == ("TRUE" in item.name)  # what the graph could not do
        return rest(jumped)(*found[depth + 1 :], *stack)

    return call


def f(x):
    y = x + 1
    return y * (x.sin() if y.any() else x.cos())


if __name__ == "__main__":
    compiled = compile(f)
    for x in (torch.ones(2), torch.zeros(2), -torch.ones(2)):
        print("right:", torch.equal(compiled(x), f(x)))

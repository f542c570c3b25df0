"""An evaluator that writes to nothing: writes are kept, and made behind the graph."""

import dis
import operator
import re

import torch
from torch import fx

OPERATORS = {"+": operator.add, "*": operator.mul}


def evaluate(f, args):
    """The graph of this call, what it returns, and its writes: (object, attribute) -> value."""
    graph, writes, stack = fx.Graph(), {}, []
    tensors = {n: fx.Proxy(graph.placeholder(n)) for n, a in args.items() if torch.is_tensor(a)}
    local = args | tensors
    for inst in dis.get_instructions(f):
        op, arg = inst.opname, inst.argval
        if "_FAST" in op:
            for does, name in zip(re.findall("LOAD|STORE", op), [arg] if type(arg) is str else arg):
                if does == "STORE":
                    local[name] = stack.pop()
                else:
                    stack.append(local[name])
        elif op in ("LOAD_CONST", "LOAD_SMALL_INT"):
            stack.append(arg)
        elif op == "BINARY_OP":
            right, left = stack.pop(), stack.pop()
            stack.append(OPERATORS[inst.argrepr](left, right))
        elif op == "LOAD_ATTR":
            of = stack.pop()
            stack.append(writes[of, arg] if (of, arg) in writes else getattr(of, arg))
        elif op == "STORE_ATTR":
            of, value = stack.pop(), stack.pop()
            writes[of, arg] = value  # `of` itself stays as it is
        elif op == "RETURN_VALUE":
            return graph, stack.pop(), writes


def compile(f, **args):
    """The text that runs in place of such a call, and its graph."""
    graph, result, writes = evaluate(f, args)
    names = {id(a): name for name, a in args.items()}
    made = {p.node: None for p in (result, *writes.values()) if isinstance(p, fx.Proxy)}
    outputs = {node: f"t{i}" for i, node in enumerate(made)}
    graph.output(tuple(outputs))
    text = lambda v: outputs[v.node] if isinstance(v, fx.Proxy) else repr(v)
    inputs = ", ".join(n.target for n in graph.nodes if n.op == "placeholder")
    lines = [f"{', '.join(outputs.values())}, = graph({inputs})"]
    lines += [f"{names[id(of)]}.{name} = {text(value)}" for (of, name), value in writes.items()]
    lines = [f"def replacement({', '.join(args)}):", *lines, f"return {text(result)}"]
    print("\n    ".join(lines))
    exec("\n    ".join(lines), space := {"graph": fx.GraphModule({}, graph)})
    return space["replacement"]


class Box:
    seen = 0


def f(box, x):
    box.last = x
    box.seen = box.seen + 1
    box.last = x * 2 + box.seen
    return box.last + box.seen


if __name__ == "__main__":
    box, x = Box(), torch.ones(2)
    compiled = compile(f, box=box, x=x)
    print("while compiling:", vars(box))
    print("returned:", compiled(box, x), "then:", vars(box))

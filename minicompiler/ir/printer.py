"""A Program as text that reads like Python.

    def graph(primals_1: float32[2, 3], primals_2: float32[3]):
        # add, relu
        buf0 = empty(float32[2, 3])
        for i0, i1 in grid(2, 3):
            tmp0 = load(primals_1, 3*i0 + i1)
            tmp1 = load(primals_2, i1)
            tmp2 = add(tmp0, tmp1)
            tmp3 = maximum(tmp2, float32(0.0))
            buf0[3*i0 + i1] = tmp3
        return buf0

What a body computes twice is printed once.
"""

from collections.abc import Callable
from typing import Any

import torch

from ..symbolic.expr import Expr, sym
from ..symbolic.ranges import Ranges, index_range, simplify
from . import nodes as ir
from .dtypes import visit
from .ops import handling

INDENT = "    "


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


class BodyPrinter:
    """Values are names or texts; statements collect in `lines`, equal ones once."""

    def __init__(self, ranges: Ranges) -> None:
        self.lines: list[str] = []
        self.known: dict[str, str] = {}
        self.ranges = ranges
        self.depth, self.count = 0, 0

    def write(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    def name(self, text: str) -> str:
        """The variable that holds `text`."""
        if text not in self.known:
            self.known[text] = self.fresh()
            self.write(f"{self.known[text]} = {text}")
        return self.known[text]

    def fresh(self) -> str:
        self.count += 1
        return f"tmp{self.count - 1}"

    def index(self, index: Expr) -> str:
        return str(simplify(index, self.ranges))

    def load(self, buffer: str, index: Expr) -> str:
        return self.name(f"load({buffer}, {self.index(index)})")

    def constant(self, value: Any, dtype: torch.dtype) -> str:
        return f"{dtype_name(dtype)}({value})"

    def index_expr(self, expr: Expr, dtype: torch.dtype) -> str:
        return f"{dtype_name(dtype)}({self.index(expr)})"

    def indirect(self, value: str, size: Expr, check: bool = True) -> Expr:
        unchecked = "" if check else ", check=False"
        return sym(self.name(f"indirect({value}, {size}{unchecked})"))

    def masked(self, mask: str, body: Callable[[], Any], other: Any, dtype: torch.dtype) -> str:
        result = self.fresh()
        self.write(f"{result} = {dtype_name(dtype)}({other})")
        self.write(f"if {mask}:")
        outside, self.known = self.known, dict(self.known)  # names within are unknown without
        self.depth += 1
        self.write(f"{result} = {body()}")
        self.depth -= 1
        self.known = outside
        return result

    def default(self, name: str, *args: Any) -> str:
        texts = (dtype_name(a) if isinstance(a, torch.dtype) else str(a) for a in args)
        return self.name(f"{name}({', '.join(texts)})")


def computed_lines(op: ir.Computed) -> list[str]:
    index, folded_index = ir.variables(op.loop)
    sizes = (*op.loop.ranges, *op.loop.folded)
    printer = BodyPrinter(dict(zip((*index, *folded_index), map(index_range, sizes))))
    lines = [f"{op.name} = " + (op.into or f"empty({op.layout})")]
    with handling(printer):
        value, place = visit(op, index, folded_index)
    body = printer.lines
    if isinstance(op.loop, ir.Reduction):
        body.append(f"result = {op.loop.kind}(result, {value})")
        body, value = nested(folded_index, op.loop.folded, body), "result"
    sign = "+=" if isinstance(op.loop, ir.Scatter) and op.loop.mode == "add" else "="
    body.append(f"{op.name}[{printer.index(place)}] {sign} {value}")
    return lines + nested(index, op.loop.ranges, body)


def nested(index: tuple[Expr, ...], ranges: tuple[Expr, ...], body: list[str]) -> list[str]:
    """`body` under a loop; just itself where there is nothing to loop over."""
    if not ranges:
        return body
    head = f"for {', '.join(map(str, index))} in grid({', '.join(map(str, ranges))}):"
    return [head, *(INDENT + line for line in body)]


def argument_text(argument: Any, layouts: dict[str, ir.Layout]) -> str:
    if isinstance(argument, ir.BufferRef):
        own = layouts.get(argument.name) == argument.layout
        return argument.name if own else f"{argument.name} as {argument.layout}"
    if isinstance(argument, (list, tuple)):
        inside = ", ".join(argument_text(a, layouts) for a in argument)
        return f"[{inside}]" if isinstance(argument, list) else f"({inside})"
    return str(argument)


def extern_line(op: ir.Extern, layouts: dict[str, ir.Layout]) -> str:
    args = [argument_text(a, layouts) for a in op.args]
    args += [f"{k}={argument_text(v, layouts)}" for k, v in op.kwargs.items()]
    names = ", ".join(n or "_" for n in op.names)
    types = ", ".join(map(str, op.layouts))
    call = f"{op.out_variant or op.target}({', '.join(args)})"
    return f"{names} = {call}  # {op.kind}: {types}"


def program_text(program: ir.Program) -> str:
    layouts = program.layouts()
    inputs = [
        f"{name}: {x if isinstance(x, ir.Layout) else 'int'}" for name, x in program.inputs.items()
    ]
    lines = [f"def {program.name}({', '.join(inputs)}):"]
    for name in program.constants:
        lines.append(f"{INDENT}{name} = constant({layouts[name]})")
    for op in program.operations:
        origins = next((program.origins[n] for n in op.names if n in program.origins), [])
        if origins:
            lines.append(f"{INDENT}# {', '.join(origins)}")
        made = computed_lines(op) if isinstance(op, ir.Computed) else [extern_line(op, layouts)]
        lines += [INDENT + line for line in made]
    outputs = ", ".join(argument_text(x, layouts) for x in program.outputs)
    return "\n".join([*lines, f"{INDENT}return {outputs}"])

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

from ..symbolic.expr import Expr, as_expr, sym
from ..symbolic.ranges import Interval, Ranges, index_range, simplify
from . import nodes as ir
from .ops import handling

INDENT = "    "


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def layout_text(layout: ir.Layout) -> str:
    """float32[2, 3], with strides and offset where the elements are not simply in a row."""
    text = f"{dtype_name(layout.dtype)}[{', '.join(map(str, layout.size))}]"
    expected, plain = as_expr(1), layout.offset == 0
    for size, stride in zip(reversed(layout.size), reversed(layout.stride)):
        plain = plain and (stride == expected or size == 1)
        expected = expected * size
    if plain:
        return text
    offset = "" if layout.offset == 0 else f", offset={layout.offset}"
    return f"{text}.strided({', '.join(map(str, layout.stride))}{offset})"


class BodyPrinter:
    """Values are names or texts; statements collect in `lines`, equal ones once."""

    def __init__(self, ranges: dict[Expr, Interval]) -> None:
        self.lines: list[str] = []
        self.known: dict[str, str] = {}
        self.ranges: Ranges = ranges
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

    def to_dtype(self, x: str, dtype: torch.dtype) -> str:
        return self.name(f"to_dtype({x}, {dtype_name(dtype)})")

    def bitcast(self, x: str, dtype: torch.dtype) -> str:
        return self.name(f"bitcast({x}, {dtype_name(dtype)})")

    def random(self, kind: str, seed: str, offset: str) -> str:
        return self.name(f"random({kind!r}, {seed}, {offset})")

    def masked(
        self, mask: str, body: Callable[[], ir.Value], other: Any, dtype: torch.dtype
    ) -> str:
        result = self.fresh()
        self.write(f"{result} = {dtype_name(dtype)}({other})")
        self.write(f"if {mask}:")
        outside, self.known = self.known, dict(self.known)  # names within are unknown without
        self.depth += 1
        self.write(f"{result} = {body()}")
        self.depth -= 1
        self.known = outside
        return result

    def default(self, name: str, *args: str) -> str:
        return self.name(f"{name}({', '.join(args)})")


def computed_lines(op: ir.Computed) -> list[str]:
    index, folded_index = ir.variables(op.loop)
    folded = op.loop.folded if isinstance(op.loop, ir.Reduction) else ()
    ranges = dict(zip((*index, *folded_index), map(index_range, (*op.loop.ranges, *folded))))
    printer = BodyPrinter(ranges)
    lines = [f"{op.name} = " + (op.into or f"empty({layout_text(op.layout)})")]
    with handling(printer):
        target, sign = index, "="
        if isinstance(op.loop, ir.Scatter):
            target, sign = op.loop.target(index), "=" if op.loop.mode == "store" else "+="
        value = ir.run_body(op.loop, index, folded_index)
    if isinstance(op.loop, ir.Reduction):
        value = f"fold({op.loop.kind}, {value}, {grid_text(folded_index, folded)})"
    printer.write(f"{op.name}[{printer.index(op.layout.index(target))}] {sign} {value}")
    depth = 0
    if op.loop.ranges:
        lines.append(f"for {grid_text(index, op.loop.ranges)}:")
        depth = 1
    return lines + [INDENT * depth + line for line in printer.lines]


def grid_text(index: tuple[Expr, ...], ranges: tuple[Expr, ...]) -> str:
    return f"{', '.join(map(str, index))} in grid({', '.join(map(str, ranges))})"


def argument_text(argument: Any, layouts: dict[str, ir.Layout]) -> str:
    if isinstance(argument, ir.BufferRef):
        own = layouts.get(argument.name) == argument.layout
        return argument.name if own else f"{argument.name} as {layout_text(argument.layout)}"
    if isinstance(argument, (list, tuple)):
        inside = ", ".join(argument_text(a, layouts) for a in argument)
        return f"[{inside}]" if isinstance(argument, list) else f"({inside})"
    return str(argument)


def extern_lines(op: ir.Extern, layouts: dict[str, ir.Layout]) -> list[str]:
    out = op.out_variant is not None
    lines = [
        f"{name} = empty({layout_text(layout)})"
        for name, layout in zip(op.names, op.layouts)
        if out and name is not None and layout is not None
    ]
    args = [argument_text(a, layouts) for a in op.args]
    args += [f"{k}={argument_text(v, layouts)}" for k, v in op.kwargs.items()]
    names = ", ".join(n or "_" for n in op.names)
    if out:
        args.append(f"out={names}")
    call = f"{op.out_variant or op.target}({', '.join(args)})"
    note = "  # fallback" if op.kind == "fallback" else ""
    return [*lines, f"{'' if out else names + ' = '}{call}{note}"]


def operation_lines(op: ir.Operation, layouts: dict[str, ir.Layout]) -> list[str]:
    return computed_lines(op) if isinstance(op, ir.Computed) else extern_lines(op, layouts)


def program_text(program: ir.Program) -> str:
    layouts = program.layouts()
    inputs = [
        f"{name}: {layout_text(x) if isinstance(x, ir.Layout) else 'int'}"
        for name, x in program.inputs.items()
    ]
    lines = [f"def {program.name}({', '.join(inputs)}):"]
    for name in program.constants:
        lines.append(f"{INDENT}{name} = constant({layout_text(layouts[name])})")
    for op in program.operations:
        origins = next((program.origins[n] for n in op.names if n in program.origins), [])
        if origins:
            lines.append(f"{INDENT}# {', '.join(origins)}")
        lines += [INDENT + line for line in operation_lines(op, layouts)]
    outputs = ", ".join(argument_text(x, layouts) for x in program.outputs)
    return "\n".join([*lines, f"{INDENT}return {outputs}"])

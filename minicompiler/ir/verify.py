"""What must hold of a Program, as a table beside the IR.

A rule is a generator: it yields a sentence for each fault that it finds. `verify` raises on the
first one, naming the operation and the rule.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..errors import InternalError
from ..symbolic.expr import Expr, polynomial
from ..symbolic.ranges import bounds, index_range
from . import nodes as ir
from .dtypes import DtypeHandler, visit
from .ops import HALF, HALF_OPS, OPS, allows, handling


class Scope:
    """What is known before an operation: buffers that may be read, names used up, size symbols."""

    def __init__(self, program: ir.Program) -> None:
        self.live = {n: x for n, x in program.inputs.items() if isinstance(x, ir.Layout)}
        self.live |= {n: x for n, x in program.layouts().items() if n in program.constants}
        self.seen = set(self.live)
        self.symbols: set[Expr] = set()
        for x in program.inputs.values():
            self.symbols |= x.free if isinstance(x, Expr) else set()
            for e in (*x.size, *x.stride) if isinstance(x, ir.Layout) else ():
                self.symbols |= e.free

    def define(self, op: ir.Operation) -> None:
        if isinstance(op, ir.Computed) and op.into is not None:
            self.live.pop(op.into, None)  # its memory is now known by the new name
        self.live |= ir.defined(op)
        self.seen |= self.live.keys()


class Fault(Exception):
    """Found while a body runs; becomes the sentence of a rule."""


class BodyChecker(DtypeHandler):
    """Runs a body on dtypes and raises Fault where it breaks the rules of ops.py."""

    def __init__(self, scope: Scope, op: ir.Computed) -> None:
        super().__init__(scope.live)
        self.op = op
        index, folded_index = ir.variables(op.loop)
        sizes = (*op.loop.ranges, *op.loop.folded)
        self.ranges = dict(zip((*index, *folded_index), map(index_range, sizes)))
        self.symbols = scope.symbols | self.ranges.keys()
        self.empty = any(size == 0 for size in sizes)  # then nothing is loaded
        self.overwritten: set[Expr] = set()  # where it loads the buffer that it writes into
        self.masks = 0

    def known(self, index: Expr) -> None:
        unknown = index.free - self.symbols
        if unknown:
            raise Fault(f"index {index} uses {', '.join(map(str, unknown))}, which nothing defines")

    def load(self, buffer: str, index: Expr) -> torch.dtype:
        if buffer not in self.layouts:
            raise Fault(f"loads {buffer}, which is not defined here or was overwritten")
        self.known(index)
        if buffer == self.op.into:
            self.overwritten.add(index)
        span = self.layouts[buffer].span
        # interval arithmetic is exact for sums of multiples of symbols, and only there
        exact = all(len(m) <= 1 for m in polynomial(index)) and index.plain
        if span is not None and not self.masks and not self.empty and exact:
            ends: Any = bounds(index, self.ranges)
            if -math.inf < ends.lo < 0 or span <= ends.hi < math.inf:  # no bound decides nothing
                raise Fault(f"loads {buffer} at {index}, outside its {span} elements")
        return self.layouts[buffer].dtype

    def index_expr(self, expr: Expr, dtype: torch.dtype) -> torch.dtype:
        self.known(expr)
        return dtype

    def indirect(self, value: torch.dtype, size: Expr, check: bool = True) -> Expr:
        self.operands("indirect", value)
        self.known(size)
        symbol = super().indirect(value, size, check)
        self.symbols |= {symbol}
        if check:
            self.ranges[symbol] = index_range(size)
        return symbol

    def masked(self, mask: Any, body: Callable[[], Any], other: Any, dtype: Any) -> Any:
        self.operands("masked", mask)
        self.masks += 1
        value = body()
        self.masks -= 1
        if value != dtype:
            raise Fault(f"masked gives {value} where it says {dtype}")
        return value

    def random(self, kind: str, seed: torch.dtype, offset: torch.dtype) -> torch.dtype:
        self.operands("random", seed, offset)
        return super().random(kind, seed, offset)

    def default(self, name: str, *operands: torch.dtype) -> torch.dtype:
        self.operands(name, *operands)
        return super().default(name, *operands)

    def operands(self, name: str, *operands: torch.dtype) -> None:
        info = OPS[name]
        if len(operands) != info.arity:
            raise Fault(f"{name} takes {info.arity} values, not {len(operands)}")
        alike = operands
        if name == "where":
            alike = operands[1:]
            if operands[0] != torch.bool:
                raise Fault(f"where on a condition of {operands[0]}")
        if len(set(alike)) != 1 or not allows(info.operands, alike[0]):
            raise Fault(f"{name} of {', '.join(map(str, operands))}")
        if name not in HALF_OPS and alike[0] in HALF:
            raise Fault(f"{name} computes in {alike[0]}")


# --------------------------------------------------------------------------------------- the table


def defines_new_names(op: ir.Operation, scope: Scope) -> Iterator[str]:
    names = [n for n in op.names if n is not None]
    for name in names:
        if name in scope.seen or names.count(name) > 1:
            yield f"{name} is defined twice"


def describes_each_dimension(op: ir.Operation, scope: Scope) -> Iterator[str]:
    if len(op.names) != len(op.layouts):
        yield f"{len(op.names)} names and {len(op.layouts)} layouts"
    for name, layout in zip(op.names, op.layouts):
        if (name is None) != (layout is None):
            yield f"{name} has the layout {layout}"
        if layout is not None and len(layout.size) != len(layout.stride):
            yield f"{name} has {len(layout.size)} sizes and {len(layout.stride)} strides"


def loop_fills_the_layout(op: ir.Computed, scope: Scope) -> Iterator[str]:
    loop, layout = op.loop, op.layout
    if not isinstance(loop, ir.Scatter) and loop.ranges != layout.size:
        yield f"ranges {loop.ranges} for a buffer of size {layout.size}"


def reduction_folds_something(op: ir.Computed, scope: Scope) -> Iterator[str]:
    loop, dtype = op.loop, op.layout.dtype
    if not isinstance(loop, ir.Reduction):
        return
    if not loop.folded:
        yield "no range to fold"
    if loop.kind in ("min", "max", "argmin", "argmax") and any(n == 0 for n in loop.folded):
        yield f"{loop.kind} of nothing"
    needs = {"any": torch.bool, "all": torch.bool, "argmin": torch.int64, "argmax": torch.int64}
    if dtype != needs.get(loop.kind, dtype):
        yield f"{loop.kind} yields {needs[loop.kind]}, not {dtype}"
    if loop.kind not in needs and (dtype in HALF or dtype == torch.bool):
        yield f"{loop.kind} accumulates in {dtype}"


def writes_into_equal_memory(op: ir.Computed, scope: Scope) -> Iterator[str]:
    if op.into is None:
        return
    if op.into not in scope.live:
        yield f"writes into {op.into}, which is not defined here or was overwritten"
    elif scope.live[op.into] != op.layout:
        yield f"writes as {op.layout} into {op.into} of {scope.live[op.into]}"


def body_is_well_typed(op: ir.Computed, scope: Scope) -> Iterator[str]:
    checker, loop = BodyChecker(scope, op), op.loop
    try:
        with handling(checker):
            value, place = visit(op, *ir.variables(loop))
        checker.known(place)
        for index in checker.overwritten:
            if index is not place:
                raise Fault(f"loads {op.into} at {index} while writing it at {place}")
    except (Fault, ValueError) as fault:  # ValueError: by visit
        yield str(fault)
        return
    compares = isinstance(loop, ir.Reduction) and loop.kind in ("argmin", "argmax")
    if compares and value in HALF:
        yield f"compares in {value}"
    if not compares and value != op.layout.dtype:
        yield f"the body gives {value}, the buffer holds {op.layout.dtype}"


def reads_live_buffers(op: ir.Extern, scope: Scope) -> Iterator[str]:
    for ref in op.reads():
        yield from _faults_of(ref, scope)


def _faults_of(ref: ir.BufferRef, scope: Scope) -> Iterator[str]:
    if ref.name not in scope.live:
        yield f"refers to {ref.name}, which is not defined here or was overwritten"
        return
    own = scope.live[ref.name]
    if (ref.layout.dtype, ref.layout.device) != (own.dtype, own.device):
        yield f"{ref.name} is {own.dtype} on {own.device}, seen as {ref.layout}"
    span, seen = own.span, ref.layout.span
    if span is not None and seen is not None and seen > span:
        yield f"sees {seen} elements of {ref.name}, which has {span}"


def has_an_out_argument_per_name(op: ir.Extern, scope: Scope) -> Iterator[str]:
    if op.out_variant is None:
        return
    written = [a for a in op.out_variant._schema.arguments if a.kwarg_only and a.is_write]
    if len(written) != len(op.names) or None in op.names:
        yield f"{op.out_variant} writes {len(written)} tensors, not {op.names}"


INVARIANTS: list[tuple[Any, Callable[[Any, Scope], Iterator[str]]]] = [
    (ir.Operation, defines_new_names),
    (ir.Operation, describes_each_dimension),
    (ir.Computed, loop_fills_the_layout),
    (ir.Computed, reduction_folds_something),
    (ir.Computed, writes_into_equal_memory),
    (ir.Computed, body_is_well_typed),
    (ir.Extern, reads_live_buffers),
    (ir.Extern, has_an_out_argument_per_name),
]


def verify(program: ir.Program) -> None:
    """InternalError, naming the operation and the rule, where an invariant does not hold."""
    scope = Scope(program)
    for op in program.operations:
        for kind, rule in INVARIANTS:
            for fault in rule(op, scope) if isinstance(op, kind) else ():
                broken = rule.__name__.replace("_", " ")
                raise InternalError(f"{program.name}: {op.names[0]}: {broken}: {fault}")
        scope.define(op)
    for ref in ir.references(program.outputs):
        for fault in _faults_of(ref, scope):
            raise InternalError(f"{program.name}: output: reads live buffers: {fault}")

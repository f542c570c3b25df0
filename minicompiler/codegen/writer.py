"""What the writers of C++ and of Triton share: they are handlers under which bodies are read."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import Unsupported
from ..ir.dtypes import Dtype, visit
from ..ir.nodes import NEUTRAL, Index
from ..ir.plan import Kernel, KernelSource, Plan
from ..symbolic.expr import Expr, as_expr
from ..symbolic.ranges import Interval, simplify

# ops that both languages write as a sign between operands
INFIX = dict(
    add="+", sub="-", mul="*", eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">=", logical_and="&",
    logical_or="|", logical_xor="^", bitwise_and="&", bitwise_or="|", bitwise_xor="^",
)  # fmt: skip
# ... and as the same text
SHARED_OPS = {name: f"{{0}} {sign} {{1}}" for name, sign in INFIX.items()}
SHARED_OPS |= {"neg": "-{0}", "bitwise_not": "~{0}", "isnan": "{0} != {0}"}


@dataclass(frozen=True, slots=True)
class Value:
    """A variable or constant of the text. `depth`: of the block that knows it, 0 the outermost."""

    text: str
    dtype: Dtype
    depth: int = 0
    expr: Expr | None = None  # of an index used as a value
    number: Any = None  # of a constant


def neutral(kind: str, dtype: Dtype) -> Any:
    """What a reduction starts with."""
    if kind in NEUTRAL:
        return NEUTRAL[kind]
    low = kind.endswith("max")
    if dtype == torch.bool:
        return not low
    if dtype.is_floating_point:
        return -math.inf if low else math.inf
    return torch.iinfo(dtype).min if low else torch.iinfo(dtype).max


class Writer:
    """Writes one kernel."""

    # what each language says itself
    types: Mapping[Dtype, str]
    printed: Callable[[Expr, Mapping[Expr, Interval]], str]  # an expression
    literal: Callable[[Any, Dtype], str]  # a Python number as a constant
    converted: Callable[[Value, Dtype], str]  # a value as another dtype
    let: Callable[..., Value]  # the variable that holds a text; equal texts share one
    from_memory: Callable[[str, Expr], Value]
    from_index: Callable[[Expr, Dtype], Value]
    default: Callable[..., Value]
    helpers = ""  # what the functions of random numbers are attributes of
    index: Index = ()  # those of the kernel's nodes, in the symbols of the text
    folded: Index = ()

    def __init__(self, kernel: Kernel, plan: Plan) -> None:
        self.kernel, self.layouts = kernel, plan.program.layouts()
        self.layouts |= {node.name: node.layout for node in kernel.nodes}
        self.nodes = {node.name: node for node in kernel.nodes}
        self.ranges: dict[Expr, Interval] = {}
        self.values: dict[str, Value] = {}  # of buffers: what is in a variable here
        self.checks: list[str] = []
        self.again: Iterable[str] = ()  # buffers that are made again where they are read
        self.mask: Value | None = None  # where it does not hold nothing is loaded
        self.count = 0
        self.pointers: dict[str, str] = {}
        counts = dict.fromkeys(("in_out_ptr", "in_ptr", "out_ptr"), 0)
        for buffer in kernel.args:
            if self.layouts[buffer].dtype not in self.types:
                raise Unsupported(f"kernels for the dtype {self.layouts[buffer].dtype}")
            kind = "in_out_ptr" if buffer in kernel.mutated else "in_ptr"
            kind = "out_ptr" if buffer in kernel.writes else kind
            self.pointers[buffer] = f"{kind}{counts[kind]}"
            counts[kind] += 1

    def made(self, text: str) -> KernelSource:
        return KernelSource(self.kernel.name, text, self.kernel.args, tuple(self.checks))

    def text(self, e: Expr) -> str:
        """An index expression."""
        return self.printed(simplify(e, self.ranges), self.ranges)

    def fresh(self) -> str:
        self.count += 1
        return f"tmp{self.count - 1}"

    def pointer(self, buffer: str) -> str:
        return self.pointers[self.kernel.memory(buffer)]

    def check(self, size: Expr) -> int:
        """The number, from 1, of the check of an index into a dimension of `size`."""
        message = f"index out of range: a dimension has size {size}"
        if message not in self.checks:
            self.checks.append(message)
        return self.checks.index(message) + 1

    # ----------------------------------------------------------- the vocabulary that they have both

    def load(self, buffer: str, index: Expr) -> Value:
        if buffer not in self.values:
            if buffer not in self.again:
                return self.from_memory(buffer, index)
            mask, self.mask = self.mask, None  # the element exists whatever the mask says
            self.values[buffer], _ = visit(self.nodes[buffer], self.index, self.folded)
            self.mask = mask
        return self.values[buffer]

    def constant(self, value: Any, dtype: Dtype) -> Value:
        if isinstance(value, Expr):
            return self.index_expr(value, dtype)
        whole = as_expr(value) if type(value) is int else None
        return Value(self.literal(value, dtype), dtype, 0, whole, value)

    def index_expr(self, expr: Expr, dtype: Dtype) -> Value:
        expr = simplify(expr, self.ranges)
        if expr.is_const:
            return self.constant(expr.const, dtype)
        return self.from_index(expr, dtype)

    def to_dtype(self, x: Value, dtype: Dtype) -> Value:
        if x.dtype == dtype:
            return x
        if x.number is not None:
            return self.constant(torch.tensor(x.number, dtype=x.dtype).to(dtype).item(), dtype)
        if x.expr is not None and dtype.is_floating_point:
            return self.index_expr(x.expr, dtype)
        return self.let(self.converted(x, dtype), dtype, x.depth)

    def masked(self, mask: Value, body: Callable[[], Value], other: Any, dtype: Dtype) -> Value:
        outside = self.mask
        self.mask = mask if outside is None else self.default("logical_and", outside, mask)
        value = body()
        self.mask = outside
        return self.default("where", mask, value, self.constant(other, dtype))

    def random(self, kind: str, seed: Value, offset: Value) -> Value:
        dtype = torch.int64 if kind == "randint" else torch.float32
        text = f"{self.helpers}random_{kind}({seed.text}, {offset.text})"
        return self.let(text, dtype, max(seed.depth, offset.depth))

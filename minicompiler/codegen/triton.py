"""Loop IR -> Triton: the kernels of CUDA tensors.

One program instance covers XBLOCK points of a kernel's `ranges`; where a kernel folds, a second
axis of RBLOCK points covers `folded`:

    persistent   the whole of `folded` fits in one block: each value is computed once and stays in
                 registers, however many reductions follow one another (softmax, layer norm)
    looped       one loop over `folded` for each reduction that others wait for; what a later loop
                 needs of an earlier one is computed again from its loads, which the cache serves
    template     a tiled matrix product (`ranges` are its rows, `folded` its columns) whose
                 accumulator goes through the pointwise nodes that follow it, stored once

Bodies are read with an index that is one symbol per axis (`xindex`, `rindex`), taken apart by //
and %; canonical expressions put contiguous dimensions together again, so no pass merges them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..errors import Unsupported
from ..ir import ops
from ..ir.nodes import Computed, Extern, Index, Layout, Pointwise, Reduction, Scatter
from ..ir.ops import result_dtype
from ..symbolic.expr import Expr, Symbol, product, sym
from ..symbolic.printing import to_triton
from ..symbolic.ranges import index_range, simplify
from .source import KernelSource

if TYPE_CHECKING:
    from ..schedule.plan import Kernel, Plan

HEADER = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

from minicompiler.codegen import triton_helpers as helpers

"""
TILE = (128, 128, 64)  # rows, columns, depth of a tile of a matrix product
PERSISTENT = 4096  # elements of `folded` that one block may hold
X, R = sym("xindex"), sym("rindex")
PRODUCT_TILE = """\
tiles_x, tiles_r = tl.cdiv(xnumel, XBLOCK), tl.cdiv(rnumel, RBLOCK)
group = tl.program_id(0) // (8 * tiles_r)
rows = min(tiles_x - group * 8, 8)
xtile = group * 8 + tl.program_id(0) % (8 * tiles_r) % rows
rtile = tl.program_id(0) % (8 * tiles_r) // rows
xindex = (xtile * XBLOCK + tl.arange(0, XBLOCK))[:, None]
rindex = (rtile * RBLOCK + tl.arange(0, RBLOCK))[None, :]
xmask, rmask = xindex < xnumel, rindex < rnumel
acc = tl.zeros((XBLOCK, RBLOCK), tl.float32)
""".splitlines()

TYPES = {
    torch.float64: "tl.float64",
    torch.float32: "tl.float32",
    torch.bfloat16: "tl.bfloat16",
    torch.float16: "tl.float16",
    torch.int64: "tl.int64",
    torch.int32: "tl.int32",
    torch.int16: "tl.int16",
    torch.int8: "tl.int8",
    torch.uint8: "tl.uint8",
    torch.bool: "tl.int1",
}
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)

# One template an op; where floats and integers differ, the integer form is in INTEGER_OPS.
LIBDEVICE = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh erf erfc lgamma floor ceil trunc pow atan2 copysign fmod"
).split()
FLOAT_OPS = {
    **{name: f"libdevice.{name}({{}})" for name in LIBDEVICE},
    "round": "libdevice.nearbyint({})",
    "sigmoid": "helpers.sigmoid({})",
    "reciprocal": "helpers.reciprocal({})",
    "truediv": "tl.div_rn({0}, {1})",
    "floordiv": "helpers.floordiv_float({})",
    "truncdiv": "libdevice.trunc(tl.div_rn({0}, {1}))",
    "remainder": "helpers.remainder_float({})",
    "minimum": "helpers.minimum({})",
    "maximum": "helpers.maximum({})",
    "isnan": "{0} != {0}",
    "isinf": "tl.abs({0}) == float('inf')",
    "signbit": "{0}.to({bits}, bitcast=True) < 0",
    "neg": "-{0}",
    "abs": "tl.abs({0})",
    "sign": "helpers.sign({0})",
}
INTEGER_OPS = {
    "floordiv": "helpers.floordiv({})",
    "truncdiv": "{0} // {1}",
    "remainder": "helpers.remainder({})",
    "fmod": "{0} % {1}",
    "minimum": "tl.minimum({})",
    "maximum": "tl.maximum({})",
    "left_shift": "helpers.left_shift({}, {width})",
    "right_shift": "helpers.right_shift({}, {width})",
    "bitwise_not": "~{0}",
}
INFIX = dict(
    add="+", sub="-", mul="*", eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">=", logical_and="&",
    logical_or="|", logical_xor="^", bitwise_and="&", bitwise_or="|", bitwise_xor="^",
)  # fmt: skip
COMMON_OPS = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in INFIX.items()},
    "logical_not": "{0} == 0",
    "where": "tl.where({})",
}
# double precision divides exactly, and Triton has no div_rn for it
DOUBLE_OPS = {
    "truediv": "{0} / {1}",
    "truncdiv": "libdevice.trunc({0} / {1})",
    "reciprocal": "1.0 / {0}",
    "sigmoid": "helpers.sigmoid64({})",
}


@dataclass(frozen=True, slots=True)
class Fold:
    """How one kind of reduction starts, continues and ends."""

    neutral: Callable[[torch.dtype], Any]
    combine: str  # elementwise, for the accumulator of a loop
    reduce: str  # over the last axis of a block


def _lowest(dtype: torch.dtype) -> Any:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> Any:
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


FOLDS = {
    "sum": Fold(lambda _: 0, "{0} + {1}", "tl.sum({0}, 1)"),
    "prod": Fold(lambda _: 1, "{0} * {1}", "tl.reduce({0}, 1, helpers.times)"),
    "min": Fold(_highest, "helpers.minimum({0}, {1})", "tl.reduce({0}, 1, helpers.minimum)"),
    "max": Fold(_lowest, "helpers.maximum({0}, {1})", "tl.reduce({0}, 1, helpers.maximum)"),
    "any": Fold(lambda _: False, "{0} | {1}", "tl.reduce({0}, 1, helpers.either)"),
    "all": Fold(lambda _: True, "{0} & {1}", "tl.reduce({0}, 1, helpers.both)"),
    "argmin": Fold(_highest, "helpers.argmin", "helpers.argmin"),
    "argmax": Fold(_lowest, "helpers.argmax", "helpers.argmax"),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A variable of the text."""

    text: str
    dtype: torch.dtype


def emit(kernel: "Kernel", plan: "Plan") -> KernelSource:
    """The module of one kernel: a jitted function `NAME`, and `launch(*args, *symbols)`."""
    return _Writer(kernel, plan.program.layouts()).source()


class _Writer:
    """Writes one kernel; is itself the handler under which the bodies are read."""

    def __init__(self, kernel: "Kernel", layouts: dict[str, Layout]) -> None:
        self.kernel, self.layouts = kernel, layouts
        self.body: list[str] = []
        self.depth = 1
        self.known: dict[tuple[str, ...], Value] = {}  # text -> variable, within the current pass
        self.count = self.indirects = 0
        self.values: dict[str, Value] = {}  # buffers that are at hand in this pass
        self.masks: list[str] = []
        self.symbols: dict[str, None] = {}
        self.checks: list[str] = []
        self.xnumel, self.rnumel = product(kernel.ranges), product(kernel.folded)
        self.ranges = {X: index_range(self.xnumel), R: index_range(self.rnumel)}
        self.folds = bool(kernel.folded)
        self.pointers = self._pointers()
        self.nodes = {node.name: node for node in kernel.nodes}

    # ---------------------------------------------------------------------------------- the module

    def source(self) -> KernelSource:
        kernel = self.kernel
        blocks, warps = self._blocks()
        if kernel.template is None:
            self._write_body()
        else:
            self._write_product(kernel.template)
        parameters = [*self.pointers.values(), *self.symbols]
        constants = "".join(f", {name}: tl.constexpr" for name in blocks)
        options = "".join(f", {name}={value}" for name, value in blocks.items())
        grid = f"triton.cdiv({self._text(self.xnumel)}, {blocks['XBLOCK']})"
        if kernel.template is not None:
            grid += f" * triton.cdiv({self._text(self.rnumel)}, {blocks['RBLOCK']})"
        jit = "@triton.jit(debug=True)" if self.checks else "@triton.jit"
        text = (
            f"{HEADER}\n{jit}\ndef {kernel.name}({', '.join(parameters)}{constants}):\n"
            + "".join(f"{line}\n" for line in self.body)
            + f"\n\ndef launch({', '.join(parameters)}):\n"
            + f"    {kernel.name}[({grid},)]"
            + f"({', '.join(parameters)}{options}, num_warps={warps}, enable_fp_fusion=False)\n"
        )
        return KernelSource(kernel.name, text, kernel.args, tuple(self.symbols), tuple(self.checks))

    def _pointers(self) -> dict[str, str]:
        kernel, names, counts = self.kernel, {}, {"in_out_ptr": 0, "in_ptr": 0, "out_ptr": 0}
        for buffer in kernel.args:
            kind = "in_out_ptr" if buffer in kernel.mutated else "in_ptr"
            kind = "out_ptr" if buffer in kernel.writes else kind
            names[buffer] = f"{kind}{counts[kind]}"
            counts[kind] += 1
        return names

    def _blocks(self) -> tuple[dict[str, int], int]:
        """Block sizes and warps: enough work for each thread, whole rows where they fit."""
        if self.kernel.template is not None:
            narrow = self._hint(self.xnumel) <= 64 or self._hint(self.rnumel) <= 64
            return dict(zip(("XBLOCK", "RBLOCK", "KBLOCK"), (64, 64, 32) if narrow else TILE)), 8
        if not self.folds:
            return {"XBLOCK": 1024 if self._hint(self.xnumel) >= 1 << 20 else 256}, 4
        length = self._hint(self.rnumel)
        whole = 1 << max(length - 1, 0).bit_length()
        if self.persistent:
            rows = max(1, min(64, 2048 // whole))
            return {"XBLOCK": rows, "RBLOCK": whole}, 8 if whole > 2048 else 4
        return {"XBLOCK": 1, "RBLOCK": 2048}, 8

    @property
    def persistent(self) -> bool:
        return self.rnumel.is_const and int(self.rnumel) <= PERSISTENT

    def _hint(self, size: Expr) -> int:
        return int(size) if size.is_const else 1 << 20

    # ------------------------------------------------------------------------------------ the body

    def _write_body(self) -> None:
        wide = ".to(tl.int64)" if self._needs_int64() else ""
        axis, other = ("[:, None]", "[None, :]") if self.folds else ("", "")
        self.line(f"xnumel = {self._text(self.xnumel)}")
        start = f"tl.program_id(0){wide} * XBLOCK"
        self.line(f"xindex = {start} + tl.arange(0, XBLOCK){axis}")
        self.line("xmask = xindex < xnumel")
        if not self.folds:
            for node in self.kernel.nodes:
                self._node(node)
            return
        self.line(f"rnumel = {self._text(self.rnumel)}")
        if self.persistent:
            self.line(f"rindex = tl.arange(0, RBLOCK){other}")
            self.line("rmask = rindex < rnumel")
            for node in self.kernel.nodes:
                self._node(node)
        else:
            self._loops(f"tl.arange(0, RBLOCK){other}{wide}")

    def _write_product(self, extern: Extern) -> None:
        """Tiles in groups of 8 rows of tiles, so that neighbours share operands in the cache."""
        left, right = extern.args[-2:]
        (m, k), (_, n) = left.layout.size, right.layout.size
        self.line(f"xnumel, rnumel, knumel = {self._text(m)}, {self._text(n)}, {self._text(k)}")
        for text in PRODUCT_TILE:
            self.line(text)
        index = X, R
        depth = sym("kindex")
        self.ranges[depth] = index_range(k)
        self.line("for koffset in range(0, knumel, KBLOCK):")
        self.depth += 1
        self.line("koffsets = koffset + tl.arange(0, KBLOCK)")
        for operand, ref, along, mask in (
            ("left", left, (index[0], depth), "xmask & (kindex < knumel)"),
            ("right", right, (depth, index[1]), "(kindex < knumel) & rmask"),
        ):
            self.line(f"kindex = koffsets[{'None, :' if operand == 'left' else ':, None'}]")
            where = to_triton(simplify(ref.layout.index(along), self.ranges), self.ranges)
            pointer = f"{self.pointers[ref.name]} + ({where})"
            self.line(f"{operand} = tl.load({pointer}, {mask}, other=0)")
        exact = left.layout.dtype == torch.float32 and not torch.backends.cuda.matmul.allow_tf32
        precision = ", input_precision='ieee'" if exact else ""
        self.line(f"acc = tl.dot(left, right, acc{precision})")
        self.depth -= 1
        (name,), (layout,) = extern.names, extern.layouts
        assert name is not None and layout is not None
        value = Value("acc", torch.float32)
        with ops.handling(self):
            if len(extern.args) == 3:  # addmm: the bias is added before the one rounding
                bias = extern.args[0]
                shift = (0,) * (2 - bias.layout.ndim)
                at = bias.layout.index(index[len(shift) :])
                value = self.default(
                    "add", value, self.to_dtype(self.load(bias.name, at), torch.float32)
                )
            self.values[name] = value = self.to_dtype(value, layout.dtype)
            if name not in self.kernel.internal:
                where = self._text(layout.index(index))
                self.line(
                    f"tl.store({self.pointers[name]} + ({where}), {value.text}, xmask & rmask)"
                )
            for node in self.kernel.nodes:
                self._node(node)

    def _needs_int64(self) -> bool:
        spans = [self._hint(self.layouts[name].numel) for name in self.kernel.args]
        spans += [self._hint(self.xnumel * self.rnumel)]
        reach = [
            1 + sum((self._hint(n) - 1) * abs(self._hint(s)) for n, s in zip(at.size, at.stride))
            for name in self.kernel.args
            for at in (self.layouts[name],)
        ]
        return max([*spans, *reach], default=0) >= 1 << 31

    def _loops(self, block: str) -> None:
        """Passes over `folded`: each node in the first one where all that it reads is known."""
        when: dict[str, int] = {}  # the pass of a node over `folded`; an x-node comes after it
        for node in self.kernel.nodes:
            needs = [when[b] + self._ends_pass(b, node) for b in _reads(node) if b in when]
            when[node.name] = max(needs, default=0 if self._over_r(node) else -1)
        for number in range(-1, max(when.values()) + 1):
            here = [node for node in self.kernel.nodes if when[node.name] == number]
            looped = [node for node in here if self._over_r(node)]
            if looped:
                reductions = [node for node in looped if isinstance(node.loop, Reduction)]
                for node in reductions:
                    self._start(node)
                outside = dict(self.values), dict(self.known)
                self.line("for roffset in range(0, rnumel, RBLOCK):")
                self.depth += 1
                self.line(f"rindex = roffset + {block}")
                self.line("rmask = rindex < rnumel")
                for node in looped:
                    self._accumulate(node) if node in reductions else self._node(node)
                self.depth -= 1
                self.values, self.known = outside
                for node in reductions:
                    self._finish(node)
            for node in here:
                if not self._over_r(node):
                    self._node(node)

    def _over_r(self, node: Computed) -> bool:
        return isinstance(node.loop, Reduction) or len(node.loop.ranges) > len(self.kernel.ranges)

    def _ends_pass(self, buffer: str, reader: Computed) -> int:
        """1 where `reader` must wait for the loop that makes `buffer` to end."""
        made = self.nodes[buffer]
        if isinstance(made.loop, Reduction):
            return 1 if self._over_r(reader) else 0
        return 1 if self._over_r(reader) and not self._over_r(made) else 0

    def _node(self, node: Computed) -> None:
        loop = node.loop
        with ops.handling(self):
            if isinstance(loop, Reduction):
                self._reduce_block(node)
            elif isinstance(loop, Scatter):
                target = loop.target(self._index(node))
                value = loop.inner(self._index(node))
                pointer = self._pointer(node, node.layout.index(target))
                call = "tl.atomic_add" if loop.mode == "add" else "tl.store"
                self.line(f"{call}({pointer}, {value.text}, {self._mask(node)})")
            else:
                value = loop.inner(self._index(node))
                self._store(node, value)

    def _store(self, node: Computed, value: Value) -> None:
        self.values[node.name] = value
        if node.name in self.kernel.internal:
            return
        pointer = self._pointer(node, node.layout.index(self._index(node)))
        self.line(f"tl.store({pointer}, {value.text}, {self._mask(node)})")

    def _index(self, node: Computed) -> Index:
        """The index of a node over its ranges: the flat symbols taken apart."""
        index = unflattened(X, self.kernel.ranges)
        if len(node.loop.ranges) > len(self.kernel.ranges):
            index += unflattened(R, self.kernel.folded)
        return tuple(simplify(i, self.ranges) for i in index)

    def _mask(self, node: Computed) -> str:
        wide = self.folds and len(node.loop.ranges) > len(self.kernel.ranges)
        return " & ".join(["xmask", *(["rmask"] if wide else [])])

    def _pointer(self, node: Computed, index: Expr) -> str:
        name = self.pointers[self.kernel.memory(node.name)]
        if not self.kernel.ranges and not index.free:  # one element: a block of one all the same
            return f"{name} + {self._text(index)} + 0 * xindex"
        return f"{name} + ({self._text(simplify(index, self.ranges))}{self._whole(index, node)})"

    def _whole(self, index: Expr, node: Computed) -> str:
        """An index that leaves an axis out still addresses a whole block."""
        over_r = self.folds and len(node.loop.ranges) > len(self.kernel.ranges)
        return "".join(
            f" + 0 * {s}"
            for s, wanted in (("xindex", True), ("rindex", over_r))
            if wanted and sym(s) not in simplify(index, self.ranges).free
        )

    # ---------------------------------------------------------------------------------- reductions

    def _inner(self, node: Computed) -> Value:
        loop = node.loop
        assert isinstance(loop, Reduction)
        index = tuple(simplify(i, self.ranges) for i in unflattened(X, self.kernel.ranges))
        folded = tuple(simplify(i, self.ranges) for i in unflattened(R, self.kernel.folded))
        value: Value = loop.inner(index, folded)
        neutral = self._constant(FOLDS[loop.kind].neutral(value.dtype), value.dtype)
        text = f"tl.where(rmask & xmask, {value.text}, {neutral})"
        return self.let(text, value.dtype)

    def _reduce_block(self, node: Computed) -> None:
        self._fold(node, self._inner(node), "rindex + 0 * xindex")

    def _fold(self, node: Computed, block: Value, positions: str) -> None:
        loop = node.loop
        assert isinstance(loop, Reduction)
        if loop.kind in ("argmin", "argmax"):
            at = self.let(f"({positions}).to(tl.int64)", torch.int64)
            pair = f"tl.reduce(({block.text}, {at.text}), 1, {FOLDS[loop.kind].reduce})"
            text = f"{pair}[1][:, None]"
        else:
            text = FOLDS[loop.kind].reduce.format(block.text) + "[:, None]"
            if loop.kind == "sum":  # Triton sums narrow integers in 32 bits
                text = f"{text}.to({TYPES[loop.dtype]})"
        self._store_row(node, self.let(text, loop.dtype))

    def _store_row(self, node: Computed, value: Value) -> None:
        self.values[node.name] = value
        if node.name not in self.kernel.internal:
            index = tuple(simplify(i, self.ranges) for i in unflattened(X, self.kernel.ranges))
            pointer = self._pointer(node, node.layout.index(index))
            self.line(f"tl.store({pointer}, {value.text}, xmask)")

    def _start(self, node: Computed) -> None:
        loop = node.loop
        assert isinstance(loop, Reduction)
        if loop.kind in ("argmin", "argmax"):
            raise Unsupported("a Triton argmin or argmax over more than one block")
        neutral = FOLDS[loop.kind].neutral(loop.dtype)
        text = self._literal(neutral, loop.dtype)
        self.line(f"acc_{node.name} = tl.full([XBLOCK, RBLOCK], {text}, {TYPES[loop.dtype]})")

    def _accumulate(self, node: Computed) -> None:
        loop = node.loop
        assert isinstance(loop, Reduction)
        with ops.handling(self):
            value = self._inner(node)
        accumulator = f"acc_{node.name}"
        self.line(f"{accumulator} = {FOLDS[loop.kind].combine.format(accumulator, value.text)}")

    def _finish(self, node: Computed) -> None:
        self._fold(node, Value(f"acc_{node.name}", node.loop.dtype), "")

    # ------------------------------------------------------------------------------- the vocabulary

    def line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def let(self, text: str, dtype: torch.dtype) -> Value:
        """The variable that holds `text`; equal texts within a pass share one."""
        key = (text, str(dtype))
        if key not in self.known:
            name = f"tmp{self.count}"
            self.count += 1
            self.line(f"{name} = {text}")
            self.known[key] = Value(name, dtype)
        return self.known[key]

    def load(self, buffer: str, index: Expr) -> Value:
        if buffer in self.values:
            return self.values[buffer]
        if buffer in self.nodes:  # of an earlier pass: compute it again
            node = self.nodes[buffer]
            assert isinstance(node.loop, Pointwise)
            self.values[buffer] = node.loop.inner(self._index(node))
            return self.values[buffer]
        where = simplify(index, self.ranges)
        mask = " & ".join([*self._axes(where), *self.masks])
        pointer = f"{self.pointers[self.kernel.memory(buffer)]} + ({self._text(where)})"
        dtype = self.layouts[buffer].dtype
        other = f", {mask}, other=0" if mask else ""
        cast = ".to(tl.int1)" if dtype == torch.bool else ""
        return self.let(f"tl.load({pointer}{other}){cast}", dtype)

    def _axes(self, index: Expr) -> list[str]:
        """Masks of the axes that an index runs over, those of indirect indices included."""
        used = index.free
        indirect = any(isinstance(s, Symbol) and s.name.startswith("ind") for s in used)
        axes = ["xmask"] if X in used or indirect else []
        return axes + (["rmask"] if self.folds and (R in used or indirect) else [])

    def constant(self, value: Any, dtype: torch.dtype) -> Value:
        if isinstance(value, Expr):
            return self.let(f"{self._ones(self._text(value), dtype)}", dtype)
        return Value(self._constant(value, dtype), dtype)

    def _constant(self, value: Any, dtype: torch.dtype) -> str:
        return self._ones(self._literal(value, dtype), dtype)

    def _ones(self, text: str, dtype: torch.dtype) -> str:
        return f"tl.full([{'1, 1' if self.folds else '1'}], {text}, {TYPES[dtype]})"

    def _literal(self, value: Any, dtype: torch.dtype) -> str:
        if dtype == torch.bool:
            return str(bool(value))
        if dtype in INTEGERS:
            return str(int(value))
        value = float(value)
        return repr(value) if math.isfinite(value) else f"float('{value}')"

    def index_expr(self, expr: Expr, dtype: torch.dtype) -> Value:
        text = self._text(simplify(expr, self.ranges))
        if not simplify(expr, self.ranges).free & {X, R} and "ind" not in text:
            return self.let(self._ones(text, dtype), dtype)
        return self.let(f"({text}).to({TYPES[dtype]})", dtype)

    def indirect(self, value: Value, size: Expr, check: bool = True) -> Expr:
        symbol = sym(f"ind{self.indirects}")
        self.indirects += 1
        self.line(f"{symbol} = {value.text}")
        self.ranges[symbol] = index_range(size)
        if check:
            message = f"index out of bounds: not in [0, {self._text(size)})"
            self.checks.append(message)
            inside = f"(0 <= {symbol}) & ({symbol} < {self._text(size)})"
            unused = "".join(f" | ~({m})" for m in [*self._axes(symbol), *self.masks])
            self.line(f'tl.device_assert({inside}{unused}, "{message}")')
        return symbol

    def masked(
        self, mask: Value, body: Callable[[], Value], other: Any, dtype: torch.dtype
    ) -> Value:
        self.masks.append(mask.text)
        value = body()
        self.masks.pop()
        text = f"tl.where({mask.text}, {value.text}, {self._constant(other, dtype)})"
        return self.let(text, dtype)

    def to_dtype(self, x: Value, dtype: torch.dtype) -> Value:
        if x.dtype == dtype:
            return x
        if dtype == torch.bool:
            return self.let(f"{x.text} != 0", dtype)
        by_way_of = ".to(tl.int64)" if dtype == torch.uint8 and x.dtype.is_floating_point else ""
        return self.let(f"{x.text}{by_way_of}.to({TYPES[dtype]})", dtype)

    def bitcast(self, x: Value, dtype: torch.dtype) -> Value:
        return self.let(f"{x.text}.to({TYPES[dtype]}, bitcast=True)", dtype)

    def random(self, kind: str, seed: Value, offset: Value) -> Value:
        dtype = torch.int64 if kind == "randint" else torch.float32
        return self.let(f"helpers.{kind}({seed.text}, {offset.text})", dtype)

    def default(self, name: str, *operands: Value) -> Value:
        last = operands[-1].dtype
        tables = [COMMON_OPS, FLOAT_OPS if last.is_floating_point else INTEGER_OPS]
        tables = [DOUBLE_OPS, *tables] if last == torch.float64 else tables + [FLOAT_OPS]
        template = next((t[name] for t in tables if name in t), None)
        if template is None or any(v.dtype not in TYPES for v in operands):
            raise Unsupported(f"no Triton text for {name} of {last}")
        texts = [v.text for v in operands]
        bits = {4: "tl.int32", 8: "tl.int64"}.get(last.itemsize, "tl.int16")
        text = template.replace("{}", ", ".join(texts)).format(
            *texts, bits=bits, width=last.itemsize * 8
        )
        return self.let(text, result_dtype(name, *(v.dtype for v in operands)))

    def _text(self, e: Expr) -> str:
        for s in sorted(e.free, key=repr):
            if s not in (X, R) and not str(s).startswith("ind"):
                self.symbols.setdefault(str(s))
        return to_triton(e, self.ranges)


def unflattened(flat: Expr, sizes: Sequence[Expr]) -> Index:
    """The index along each of `sizes` of position `flat`, row-major."""
    index: list[Expr] = []
    for k, size in enumerate(sizes):
        rest = product(sizes[k + 1 :])
        index.append(flat // rest % size if k else flat // rest)
    return tuple(index)


class _Reads:
    """The reading that only notes which buffers are loaded."""

    def __init__(self) -> None:
        self.seen: dict[str, None] = {}
        self.indirects = 0

    def load(self, buffer: str, index: Expr) -> None:
        self.seen[buffer] = None

    def indirect(self, value: None, size: Expr, check: bool = True) -> Expr:
        self.indirects += 1
        return sym(f"ind{self.indirects}")

    def masked(self, mask: None, body: Callable[[], None], other: Any, dtype: Any) -> None:
        body()

    def default(self, name: str, *operands: Any) -> None:
        return None

    constant = index_expr = to_dtype = bitcast = random = lambda self, *args: None  # noqa: E731


def _reads(node: Computed) -> Iterator[str]:
    """The buffers that a node loads."""
    loop, seen = node.loop, _Reads()
    index = tuple(sym(f"i{k}") for k in range(len(loop.ranges)))
    with ops.handling(seen):
        if isinstance(loop, Reduction):
            loop.inner(index, tuple(sym(f"r{k}") for k in range(len(loop.folded))))
        else:
            if isinstance(loop, Scatter):
                loop.target(index)
            loop.inner(index)
    return iter(seen.seen)

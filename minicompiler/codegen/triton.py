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
from collections.abc import Sequence
from typing import Any

import torch

from ..errors import Unsupported
from ..ir import ops
from ..ir.dtypes import visit
from ..ir.nodes import POSITIONS, Computed, Extern, Reduction, Scatter, defined
from ..ir.ops import result_dtype
from ..ir.plan import Kernel, KernelSource, Plan
from ..symbolic.expr import Expr, Symbol, product, sym
from ..symbolic.printing import to_triton
from ..symbolic.ranges import index_range, simplify, unflattened
from .writer import SHARED_OPS, Value, Writer, neutral

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

TYPES = {torch.bool: "tl.int1"} | {
    getattr(torch, name): f"tl.{name}"
    for name in "float64 float32 bfloat16 float16 int64 int32 int16 int8 uint8".split()
}

LIBDEVICE = """exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh
tanh asinh acosh atanh erf erfc lgamma floor ceil trunc pow atan2 copysign""".split()
# functions of triton_helpers for every dtype that the op allows
HELPERS = """sigmoid reciprocal truediv floordiv truncdiv remainder fmod minimum maximum sign
left_shift right_shift""".split()
OPS = {
    **SHARED_OPS,
    **{name: f"libdevice.{name}({{all}})" for name in LIBDEVICE},
    **{name: f"helpers.{name}({{all}})" for name in HELPERS},
    "round": "libdevice.nearbyint({0})",
    "isinf": "tl.abs({0}) == float('inf')",
    "signbit": "{0}.to({bits}, bitcast=True) < 0",
    "abs": "tl.abs({0})",
    "logical_not": "{0} == 0",
    "where": "tl.where({all})",
}
# the function of two values that each kind of reduction folds with; any and all are of bools
FOLDS = dict(
    sum="plus", prod="times", min="minimum", max="maximum", any="maximum", all="minimum",
    argmin="argmin", argmax="argmax",
)  # fmt: skip


class TritonWriter(Writer):
    """Writes the module of one kernel: a jitted function `NAME`, and `launch(*args)`."""

    types, printed, helpers = TYPES, staticmethod(to_triton), "helpers."

    def __init__(self, kernel: Kernel, plan: Plan) -> None:
        super().__init__(kernel, plan)
        self.body: list[str] = []
        self.depth = 1
        self.known: dict[tuple[str, torch.dtype], Value] = {}  # within the current pass
        self.again = self.nodes  # of an earlier pass
        self.xnumel, self.rnumel = product(kernel.ranges), product(kernel.folded)
        self.ranges |= {X: index_range(self.xnumel), R: index_range(self.rnumel)}
        self.index = unflattened(X, kernel.ranges, self.ranges)
        self.folded = unflattened(R, kernel.folded, self.ranges)
        self.persistent = int(self.rnumel) <= PERSISTENT

    # ---------------------------------------------------------------------------------- the module

    def source(self) -> KernelSource:
        kernel = self.kernel
        blocks, warps = self._blocks()
        if kernel.template is None:
            self._write_body()
        else:
            self._write_product(kernel.template)
        parameters = list(self.pointers.values())
        constants = "".join(f", {name}: tl.constexpr" for name in blocks)
        options = "".join(f", {name}={value}" for name, value in blocks.items())
        grid = f"triton.cdiv({self.text(self.xnumel)}, {blocks['XBLOCK']})"
        if kernel.template is not None:
            grid += f" * triton.cdiv({self.text(self.rnumel)}, {blocks['RBLOCK']})"
        jit = "@triton.jit(debug=True)" if self.checks else "@triton.jit"
        return self.made(
            f"{HEADER}\n{jit}\ndef {kernel.name}({', '.join(parameters)}{constants}):\n"
            + "".join(f"{line}\n" for line in self.body)
            + f"\n\ndef launch({', '.join(parameters)}):\n    grid = ({grid},)\n"
            + f"    return grid, {kernel.name}[grid]"
            + f"({', '.join(parameters)}{options}, num_warps={warps}, enable_fp_fusion=False)\n"
        )

    def _blocks(self) -> tuple[dict[str, int], int]:
        """Block sizes and warps: enough work for each thread, whole rows where they fit."""
        rows, length = int(self.xnumel), int(self.rnumel)
        if self.kernel.template is not None:
            sizes = (64, 64, 32) if min(rows, length) <= 64 else TILE
            return dict(zip(("XBLOCK", "RBLOCK", "KBLOCK"), sizes)), 8
        if not self.kernel.folded:
            return {"XBLOCK": 1024 if rows >= 1 << 20 else 256}, 4
        whole = 1 << max(length - 1, 0).bit_length()
        if not self.persistent:
            return {"XBLOCK": 1, "RBLOCK": 2048}, 8
        return {"XBLOCK": max(1, min(64, 2048 // whole)), "RBLOCK": whole}, 8 if whole > 2048 else 4

    # ------------------------------------------------------------------------------------ the body

    def _write_body(self) -> None:
        wide = ".to(tl.int64)" if self._needs_int64() else ""
        axis, other = ("[:, None]", "[None, :]") if self.kernel.folded else ("", "")
        start = f"tl.program_id(0){wide} * XBLOCK"
        self.line(
            f"xnumel = {self.text(self.xnumel)}",
            f"xindex = {start} + tl.arange(0, XBLOCK){axis}",
            "xmask = xindex < xnumel",
        )
        block = f"tl.arange(0, RBLOCK){other}"
        if self.kernel.folded:
            self.line(f"rnumel = {self.text(self.rnumel)}")
        if self.kernel.folded and not self.persistent:
            for full, rows in self.kernel.in_passes():
                self._loop(full, f"{block}{wide}")
                self._nodes(rows)
            return
        if self.kernel.folded:
            self.line(f"rindex = {block}", "rmask = rindex < rnumel")
        self._nodes(self.kernel.nodes)

    def _write_product(self, extern: Extern) -> None:
        """Tiles in groups of 8 rows of tiles, so that neighbours share operands in the cache."""
        left, right = extern.args[-2:]
        (m, k), (_, n) = left.layout.size, right.layout.size
        self.line(f"xnumel, rnumel, knumel = {self.text(m)}, {self.text(n)}, {self.text(k)}")
        self.line(*PRODUCT_TILE, "for koffset in range(0, knumel, KBLOCK):")
        depth = sym("kindex")
        self.ranges[depth] = index_range(k)
        self.depth += 1
        self.line("koffsets = koffset + tl.arange(0, KBLOCK)")
        for operand, ref, along, mask, axis in (
            ("left", left, (X, depth), "xmask & (kindex < knumel)", "None, :"),
            ("right", right, (depth, R), "(kindex < knumel) & rmask", ":, None"),
        ):
            pointer = f"{self.pointers[ref.name]} + ({self.text(ref.layout.index(along))})"
            self.line(f"kindex = koffsets[{axis}]")
            self.line(f"{operand} = tl.load({pointer}, {mask}, other=0)")
        exact = left.layout.dtype == torch.float32 and not torch.backends.cuda.matmul.allow_tf32
        precision = ", input_precision='ieee'" if exact else ""
        self.line(f"acc = tl.dot(left, right, acc{precision})")
        self.depth -= 1
        ((name, layout),) = defined(extern).items()
        value = Value("acc", torch.float32)
        if len(extern.args) == 3:  # addmm: the bias is added before the one rounding
            bias = extern.args[0]
            at = bias.layout.index((X, R)[2 - bias.layout.ndim :])
            bias = self.to_dtype(self.load(bias.name, at), torch.float32)
            value = self.default("add", value, bias)
        self._store(name, self.to_dtype(value, layout.dtype), layout.index((X, R)), True)
        self._nodes(self.kernel.nodes)

    def _needs_int64(self) -> bool:
        spans = [self.layouts[buffer].span or 0 for buffer in self.kernel.args]
        return max(int(self.xnumel * self.rnumel), *spans) >= 1 << 31

    def _loop(self, nodes: Sequence[Computed], block: str) -> None:
        """One pass over `folded`."""
        if not nodes:
            return
        folds = [(n, n.loop) for n in nodes if isinstance(n.loop, Reduction)]
        accumulators = {}
        for node, loop in folds:
            if loop.kind in POSITIONS:
                raise Unsupported("a Triton argmin or argmax over more than one block")
            accumulators[node.name] = Value(self.fresh(), node.layout.dtype)
            start = neutral(loop.kind, node.layout.dtype)
            full = self.literal(start, node.layout.dtype, "XBLOCK, RBLOCK")
            self.line(f"{accumulators[node.name].text} = {full}")
        outside = dict(self.values), dict(self.known)
        self.line("for roffset in range(0, rnumel, RBLOCK):")
        self.depth += 1
        self.line(f"rindex = roffset + {block}", "rmask = rindex < rnumel")
        self._nodes(nodes, accumulators)
        self.depth -= 1
        self.values, self.known = outside
        for node, _ in folds:
            self._fold(node, accumulators[node.name])

    def _nodes(
        self, nodes: Sequence[Computed], accumulators: dict[str, Value] | None = None
    ) -> None:
        """What each node does in a block: folds end there, or go into `accumulators`."""
        for node in nodes:
            loop = node.loop
            with ops.handling(self):
                value, place = visit(node, self.index, self.folded)
            if not isinstance(loop, Reduction):
                adds = isinstance(loop, Scatter) and loop.mode == "add"
                call = "tl.atomic_add" if adds else "tl.store"
                self._store(node.name, value, place, self.kernel.over_all(node), call)
            else:
                outside = self.constant(neutral(loop.kind, value.dtype), value.dtype).text
                text = f"tl.where(rmask & xmask, {value.text}, {outside})"
                value = self.let(text, value.dtype)
                if accumulators is None:
                    self._fold(node, value)
                else:
                    total = accumulators[node.name].text
                    self.line(f"{total} = helpers.{FOLDS[loop.kind]}({total}, {value.text})")

    def _fold(self, node: Computed, block: Value) -> None:
        """The result of a reduction for each row of `block`."""
        loop = node.loop
        assert isinstance(loop, Reduction)
        both = f"helpers.{FOLDS[loop.kind]}"
        if loop.kind in POSITIONS:
            at = self.let("(rindex + 0 * xindex).to(tl.int64)", torch.int64)
            text = f"tl.reduce(({block.text}, {at.text}), 1, {both})[1][:, None]"
        elif loop.kind == "sum":  # Triton sums narrow integers in 32 bits
            text = f"tl.sum({block.text}, 1)[:, None].to({TYPES[node.layout.dtype]})"
        else:
            text = f"tl.reduce({block.text}, 1, {both})[:, None]"
        result = self.let(text, node.layout.dtype)
        self._store(node.name, result, node.layout.index(self.index), False)

    def _store(
        self, name: str, value: Value, place: Expr, wide: bool, call: str = "tl.store"
    ) -> None:
        """`wide`: a whole block; else one element a row."""
        self.values[name] = value
        if name in self.kernel.internal:
            return
        place = simplify(place, self.ranges)
        # an index that leaves an axis out still addresses a whole block
        axes = {X: "xmask"} | ({R: "rmask"} if wide and self.kernel.folded else {})
        block = "".join(f" + 0 * {symbol}" for symbol in axes if symbol not in place.free)
        pointer = f"{self.pointer(name)} + ({self.text(place)}{block})"
        self.line(f"{call}({pointer}, {value.text}, {' & '.join(axes.values())})")

    # ------------------------------------------------------------------------------- the vocabulary

    def line(self, *texts: str) -> None:
        self.body += ["    " * self.depth + text for text in texts]

    def let(self, text: str, dtype: torch.dtype, depth: int = 0, expr: Expr | None = None) -> Value:
        """The variable; equal texts share one within a pass, which has no blocks."""
        if (text, dtype) not in self.known:
            value = self.known[text, dtype] = Value(self.fresh(), dtype)
            self.line(f"{value.text} = {text}")
        return self.known[text, dtype]

    def from_memory(self, buffer: str, index: Expr) -> Value:
        where = simplify(index, self.ranges)
        mask = " & ".join(self._masks(where))
        dtype = self.layouts[buffer].dtype
        other = f", {mask}, other=0" if mask else ""
        cast = ".to(tl.int1)" if dtype == torch.bool else ""
        text = f"tl.load({self.pointer(buffer)} + ({self.text(where)}){other}){cast}"
        return self.let(text, dtype)

    def _masks(self, index: Expr) -> list[str]:
        """Those of the axes that an index runs over, or an index in it did; and the current one."""
        indirect = any(isinstance(s, Symbol) and s.name.startswith("tmp") for s in index.free)
        axes = {X: "xmask"} | ({R: "rmask"} if self.kernel.folded else {})
        masks = [mask for symbol, mask in axes.items() if indirect or symbol in index.free]
        return masks if self.mask is None else [*masks, self.mask.text]

    def literal(self, value: Any, dtype: torch.dtype, shape: str = "") -> str:
        if dtype.is_floating_point:
            value = float(value)
            text = repr(value) if math.isfinite(value) else f"float('{value}')"
        else:
            text = str(bool(value) if dtype == torch.bool else int(value))
        shape = shape or ("1, 1" if self.kernel.folded else "1")
        return f"tl.full([{shape}], {text}, {TYPES[dtype]})"

    def from_index(self, expr: Expr, dtype: torch.dtype) -> Value:
        return self.let(f"({self.text(expr)}).to({TYPES[dtype]})", dtype)

    def indirect(self, value: Value, size: Expr, check: bool = True) -> Expr:
        symbol = sym(self.fresh())
        self.line(f"{symbol} = {value.text}")
        self.ranges[symbol] = index_range(size)
        if check:
            message = self.checks[self.check(size) - 1]
            inside = f"(0 <= {symbol}) & ({symbol} < {self.text(size)})"
            unused = "".join(f" | ~({m})" for m in self._masks(symbol))
            self.line(f'tl.device_assert({inside}{unused}, "{message}")')
        return symbol

    def converted(self, x: Value, dtype: torch.dtype) -> str:
        if dtype == torch.bool:
            return f"{x.text} != 0"
        by_way_of = ".to(tl.int64)" if dtype == torch.uint8 and x.dtype.is_floating_point else ""
        return f"{x.text}{by_way_of}.to({TYPES[dtype]})"

    def bitcast(self, x: Value, dtype: torch.dtype) -> Value:
        return self.let(f"{x.text}.to({TYPES[dtype]}, bitcast=True)", dtype)

    def default(self, name: str, *operands: Value) -> Value:
        last = operands[-1].dtype
        if name not in OPS or any(v.dtype not in TYPES for v in operands):
            raise Unsupported(f"Triton for the op {name} of {last}")
        texts = [v.text for v in operands]
        text = OPS[name].format(*texts, all=", ".join(texts), bits=f"tl.int{8 * last.itemsize}")
        return self.let(text, result_dtype(name, *(v.dtype for v in operands)))

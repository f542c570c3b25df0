"""Loop IR -> C++: the kernels of CPU tensors.

    pointwise   loops over `ranges`, the last of them in vectors
    rows        for each point of `ranges` one or more passes over `folded`: what a reduction gives
                is known to the next pass, and the row is still in the cache
    columns     the same where memory is contiguous along `ranges`: a strip of columns at a time,
                each accumulator an array with an element for each column

A vector is written as a loop under `omp simd` that has no dependence between its iterations:
accumulators are arrays with a partial result for each `lane`, which compilers keep in registers.
Partial results are combined in pairs, so a sum is more exact than one running total, and the same
whatever the number of threads. A value is computed in the outermost loop that knows its operands.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..ir import ops
from ..ir.dtypes import DtypeHandler, visit
from ..ir.nodes import Computed, Reduction, Scatter
from ..ir.ops import result_dtype
from ..ir.plan import Kernel, KernelSource, Plan
from ..settings import config
from ..symbolic.expr import Expr, product, sym
from ..symbolic.printing import to_c
from ..symbolic.ranges import bounds, index_range, simplify
from ..symbolic.shapes import row_major
from .cpp_loops import Axis, nest
from .cpp_math import with_math
from .cpp_ops import COMPARISONS, DIVISIONS, MEMORY, TYPES, conversion, expression, literal
from .cpp_reduce import Accumulator
from .writer import Value, Writer

LANES = 32  # partial results of a row's reduction: four vectors of 8 floats hide the latency
STRIP, LEAST_STRIP = 64, 8  # columns side by side
TILE = 32  # of a transposed access, in both directions
CHUNK = 4096  # elements of a long row that one thread takes, where there are few rows
PIECES = 16  # of the rows of a kernel that sums columns on its way
EXACT = 512  # floats that one lane adds up before its sum goes into a total in double
WORTH = 32768  # additions that are worth waking other threads for
STACK = 1 << 18  # bytes of rows kept on the stack


@dataclass(slots=True)
class Block:
    """A loop, or several that share a body; outermost, the function."""

    head: tuple[str, ...]
    lines: list["str | Block"] = field(default_factory=list)
    known: dict[tuple[str, torch.dtype], Value] = field(default_factory=dict)
    checks: bool = False  # an index is checked within

    def text(self, depth: int = 0) -> str:
        pad = "    " * depth
        inside = "".join(
            line.text(depth + 1) if isinstance(line, Block) else f"{pad}    {line}\n"
            for line in self.lines
        )
        clause = " reduction(max : failed)" if self.checks else ""
        head = [h + clause if h.startswith("#pragma omp") else h for h in self.head]
        return "\n".join(pad + h for h in head) + f" {{\n{inside}{pad}}}\n"


def loop_text(name: str, start: str, stop: str, step: int = 1) -> str:
    then = f"{name}++" if step == 1 else f"{name} += {step}"
    return f"for (int64_t {name} = {start}; {name} < {stop}; {then})"


def lanes_of(size: Expr) -> int:
    """How many lanes a row has, by cycles: an addition takes 4 until the next of the same lanes
    can start, what is left over comes 8 or 1 at a time, and in the end lanes fold in halves."""

    def cycles(lanes: int) -> int:
        steps, rest = divmod(int(size), lanes)
        return 4 * steps + 4 * (rest // 8) + 2 * (rest % 8) + 3 * lanes.bit_length()

    return min((LANES, 16, 8, 4, 1), key=cycles)


def smaller(a: str, b: object) -> str:
    return f"minimum(int64_t({a}), int64_t({b}))"


class CppWriter(Writer):
    """Writes one function; Unsupported for a dtype that has no C++ form."""

    types, printed, literal = TYPES, staticmethod(to_c), staticmethod(literal)

    def __init__(self, kernel: Kernel, plan: Plan) -> None:
        super().__init__(kernel, plan)
        # equal kernels have equal texts, so the names of buffers do not appear in it
        self.number = {node.name: k for k, node in enumerate(kernel.nodes)}
        self.nest = nest(kernel, self.layouts)
        inner = self.nest.inner
        self.inside = row_major([a.symbol for a in inner], [a.size for a in inner])
        self.work = product((*kernel.ranges, *kernel.folded))
        self.blocks: list[Block] = []
        self.depths: dict[Expr, int] = {}  # of the symbols that loops and indices define
        self.arrays: dict[str, str] = {}  # of buffers: an element for each column of a strip
        self.folds: dict[str, Accumulator] = {}
        self.columns: dict[str, str] = {}  # of sums over rows: the array that gathers them
        self.tiles: dict[tuple[str, Expr], str] = {}  # of loads: a turned copy
        self.index, self.folded, self.again = self.nest.index, self.nest.folded, kernel.again

    # -------------------------------------------------------------------------------- the function

    def source(self) -> KernelSource:
        function = Block((f'extern "C" int64_t {self.kernel.name}(void** buffers)',))
        self.blocks.append(function)
        with ops.handling(self):
            self.outer_loops()
        head: list[str | Block] = []
        for k, (buffer, pointer) in enumerate(self.pointers.items()):
            of = MEMORY[self.layouts[buffer].dtype]
            of = f"const {of}" if pointer.startswith("in_ptr") else of
            head.append(f"{of}* __restrict__ {pointer} = ({of}*)buffers[{k}];")
        head += ["int64_t failed = 0;"] if self.checks else []
        function.lines = [*head, *function.lines, f"return {'failed' if self.checks else '0'};"]
        return self.made(with_math(function.text()))

    # -------------------------------------------------------------------------------------- blocks

    @contextlib.contextmanager
    def block(self, *head: str, axes: Sequence[Axis] = ()) -> Iterator[None]:
        """Lines written within go between braces after `head`; `axes` are known there."""
        if not any(head):
            yield
            return
        self.blocks.append(Block(tuple(h for h in head if h)))
        for axis in axes:
            self.define(axis)
        yield
        block = self.blocks.pop()
        self.blocks[-1].lines.append(block)
        self.values = {b: v for b, v in self.values.items() if v.depth < len(self.blocks)}

    def define(self, axis: Axis) -> None:
        """From here on the variable of `axis` is known."""
        self.depths[axis.symbol] = len(self.blocks) - 1
        self.ranges[axis.symbol] = index_range(axis.size)

    def line(self, *lines: str) -> None:
        self.blocks[-1].lines += lines

    def loop(self, axis: Axis) -> str:
        return loop_text(axis.name, "0", self.text(axis.size))

    def parallel(self, loops: int) -> str:
        """The pragma for so many loops, or nothing where threads do not pay."""
        work = self.work * max(self.nest.cost // 4, 1)
        if not config.openmp or loops == 0 or int(work) < WORTH:
            return ""
        collapse = f" collapse({loops})" if loops > 1 else ""
        return f"#pragma omp parallel for{collapse}"

    # --------------------------------------------------------------------------------------- loops

    def outer_loops(self) -> None:
        """The loops over `ranges`, and within them everything else."""
        outer, inner = self.nest.outer, self.nest.inner
        if self.kernel.down:
            self.pieces(outer)
        elif inner and not self.nest.columns:
            with self.around(outer):
                self.passes()
        elif not outer:
            self.run_nodes(self.kernel.nodes)
        elif inner:
            self.strip = self._strip()
            with self.around(outer[:-1], self.steps(outer[-1], self.strip)):
                self.passes()
        else:
            self.pointwise(outer[:-1], outer[-1])

    def around(self, axes: Sequence[Axis], *more: str) -> contextlib.AbstractContextManager[None]:
        """Loops over `axes`, then `more`, shared between threads."""
        heads = [*map(self.loop, axes), *more]
        return self.block(self.parallel(len(heads)), *heads, axes=axes)

    def steps(self, axis: Axis, size: int) -> str:
        """The loop over pieces of `axis` that have at most `size` elements."""
        return loop_text(f"{axis.name}_start", "0", self.text(axis.size), size)

    def stop(self, axis: Axis, size: int) -> str:
        """Where such a piece ends."""
        if axis.size % size == 0:
            return f"{axis.name}_start + {size}"
        stop, all_of = f"{axis.name}_stop", self.text(axis.size)
        self.line(f"const int64_t {stop} = {smaller(f'{axis.name}_start + {size}', all_of)};")
        return stop

    def pieces(self, outer: Sequence[Axis]) -> None:
        """Rows in pieces, each with its own sums of columns, which come together at the end."""
        first, kernel, inner = outer[0], self.kernel, self.nest.inner
        size, columns = int(first.size), int(product(kernel.folded))
        rows = int(product(kernel.ranges))
        count = min(size, max(PIECES, min(rows // EXACT, STACK // (4 * columns))))
        each = -(-size // count)
        sums = {n.name: n for n in kernel.nodes if n.name in kernel.down}
        names = {name: f"sum{self.number[name]}" for name in sums}
        for name, node in sums.items():
            self.line(f"{TYPES[node.layout.dtype]} {names[name]}[{count}][{columns}];")
        with self.block(self.parallel(1), loop_text("piece", "0", str(count))):
            for name in sums:
                self.line(f"{loop_text('k', '0', str(columns))} {names[name]}[piece][k] = 0;")
                self.columns[name] = f"{names[name]}[piece]"
            stop = f"piece * {each} + {each}"
            stop = stop if size % count == 0 else smaller(stop, size)
            head = loop_text(first.name, f"piece * {each}", stop)
            with self.block(head, *map(self.loop, outer[1:]), axes=outer):
                self.passes()
        each_piece = loop_text("piece", "0", str(count))
        for name, node in sums.items():
            with self.block(*map(self.loop, inner), axes=inner):
                self.line(f"{TYPES[node.layout.dtype]} total = 0;")
                self.line(f"{each_piece} total += {names[name]}[piece][{self.text(self.inside)}];")
                total = Value("total", node.layout.dtype, self.here)
                self.store(node, total, node.layout.index(self.nest.folded))

    def pointwise(self, outer: Sequence[Axis], last: Axis) -> None:
        """All nodes in vectors along `last`."""
        across, count = self.nest.across, product(a.size for a in outer)
        nodes = self.kernel.nodes
        if across is not None:
            # what lies across is first turned, a tile at a time, within the cache
            pair = across, last
            tiles = [self.steps(axis, TILE) for axis in pair]
            with self.around([axis for axis in outer if axis is not across], *tiles):
                along, down = (
                    loop_text(a.name, f"{a.name}_start", self.stop(a, TILE)) for a in pair
                )
                at = "".join(f"[{a.name} - {a.name}_start]" for a in pair)
                for k, (buffer, index) in enumerate(self.nest.turned):
                    self.line(f"{MEMORY[self.layouts[buffer].dtype]} tile{k}[{TILE}][{TILE + 1}];")
                    simd = self.block("#pragma omp simd", along, axes=[across])
                    with self.block(down, axes=[last]), simd:
                        self.line(f"tile{k}{at} = {self.pointers[buffer]}[{self.text(index)}];")
                    self.tiles[buffer, index] = f"tile{k}{at}"
                with self.block(along, axes=[across]):
                    self.vectors(nodes, last, down)
        elif int(count) < 16 and self.parallel(1):  # few rows: cut them
            with self.around(outer, self.steps(last, CHUNK)):
                stop = self.stop(last, CHUNK)
                self.vectors(nodes, last, loop_text(last.name, f"{last.name}_start", stop))
        else:
            with self.around(outer):
                self.vectors(nodes, last, self.loop(last))

    def vectors(self, nodes: Sequence[Computed], axis: Axis, loop: str) -> None:
        """`nodes` in one loop over `axis`; a Scatter that folds may add to one element twice."""
        adds = self.nest.inner and any(isinstance(node.loop, Scatter) for node in nodes)
        with self.block("" if adds else "#pragma omp simd", loop, axes=[axis]):
            self.run_nodes(nodes)

    @contextlib.contextmanager
    def lanes(self, axis: Axis, start: str, count: object) -> Iterator[None]:
        """So many points of `axis` side by side."""
        with self.block("#pragma omp simd", loop_text("lane", "0", str(count))):
            self.define(axis)
            self.line(f"const int64_t {axis.name} = {start} + lane;")
            yield

    # -------------------------------------------------------------------------------------- passes

    def passes(self) -> None:
        """What is known before any loop over `folded`, then loop after loop."""
        kernel = self.kernel
        if self.nest.columns:
            axis = self.nest.outer[-1]
            if axis.size % self.strip != 0:
                rest = f"{self.text(axis.size)} - {axis.name}_start"
                self.line(f"const int64_t lanes = {smaller(rest, self.strip)};")
        for node in kernel.nodes:
            if node.name in kernel.rows:
                length = product(kernel.folded) * (self.strip if self.nest.columns else 1)
                self.line(
                    f"{MEMORY[node.layout.dtype]} row{self.number[node.name]}[{self.text(length)}];"
                )
        for full, rows in kernel.in_passes():
            if full:
                self.one_pass(full)
            if rows:
                self.once_a_row(rows)

    def one_pass(self, nodes: list[Computed]) -> None:
        """One loop over `folded` for all of `nodes`."""
        *before, last = self.nest.inner
        size, columns = last.size, self.nest.columns
        heads, start, stop = [self.loop(axis) for axis in before], "0", self.text(size)
        limit = EXACT if columns else EXACT * LANES
        long = int(size) > limit
        exact = long or (bool(before) and int(size) >= 8 * LANES)
        lanes = self.strip if columns else lanes_of(size)
        folds = [n for n in nodes if isinstance(n.loop, Reduction) and n.name not in self.columns]
        made = [self._accumulator(node, lanes, exact) for node in folds]
        self.folds |= {node.name: fold for node, fold in zip(folds, made)}
        if chunks := long and any(fold.exact for fold in made):
            heads.append(self.steps(last, limit))
            start = f"{last.name}_start"
        for fold in made:
            self.line(*fold.total(), *(() if fold.exact else fold.start()))
        with self.block(*heads, axes=before):
            if chunks:
                stop = self.stop(last, limit)
            for fold in made:
                self.line(*(fold.start() if fold.exact else ()))
            self.along(nodes, last, start, stop, lanes if folds else 0)
            for fold in made:
                self.line(*(fold.flush() if fold.exact else ()))
        for fold in made:
            self.line(*fold.finish())
        self.results(folds)

    def results(self, folds: list[Computed]) -> None:
        """What the accumulators hold, where others find it."""
        if self.nest.columns:  # accumulators of other columns are results as they are
            made = {node.name: self.folds[node.name] for node in folds}
            self.arrays |= {name: fold.array for name, fold in made.items()}
            folds = [n for n in folds if made[n.name].at or n.name not in self.kernel.internal]
        if not folds:
            return
        with self.lane_loop():
            for node in folds:
                result = self.let(self.folds[node.name].result, node.layout.dtype, self.here)
                self.store(node, result, node.layout.index(self.index))

    def _accumulator(self, node: Computed, lanes: int, exact: bool) -> Accumulator:
        loop = node.loop
        assert isinstance(loop, Reduction)
        with ops.handling(DtypeHandler(self.layouts)):  # of a position: what is compared
            dtype = loop.inner(self.nest.index, self.nest.folded)
        exact = exact and loop.kind == "sum" and dtype == torch.float32
        return Accumulator(
            f"acc{self.number[node.name]}", loop.kind, dtype, lanes, self.nest.columns, exact
        )

    def along(self, nodes: list[Computed], axis: Axis, start: str, stop: str, lanes: int) -> None:
        """`nodes` along the last of the inner loops; `lanes` of a row at once, 0: any number."""
        loop = loop_text(axis.name, start, stop)
        if self.nest.columns:
            with self.block(loop, axes=[axis]), self.lane_loop():
                self.run_nodes(nodes)
            return
        if not lanes:
            self.vectors(nodes, axis, loop)
            return
        block, whole = f"{axis.name}_block", self.text(axis.size % lanes)
        rest = whole if start == "0" else f"({stop} - {start}) % {lanes}"
        head = f"for (int64_t {block} = {start}; {block} + {lanes} <= {stop}; {block} += {lanes})"
        with self.block(head), self.lanes(axis, block, lanes):
            self.run_nodes(nodes)
        if axis.size % lanes != 0:
            with self.lanes(axis, f"{stop} - {rest}", rest):
                self.run_nodes(nodes)

    def lane_loop(self) -> contextlib.AbstractContextManager[None]:
        """The columns of a strip, side by side; of rows there is one at a time."""
        if not self.nest.columns:
            return contextlib.nullcontext()
        axis = self.nest.outer[-1]
        count = self.strip if axis.size % self.strip == 0 else "lanes"
        return self.lanes(axis, f"{axis.name}_start", count)

    def once_a_row(self, nodes: list[Computed]) -> None:
        """Nodes over `ranges` alone."""
        for node in nodes if self.nest.columns else ():
            self.arrays[node.name] = f"col{self.number[node.name]}"
            self.line(f"{MEMORY[node.layout.dtype]} {self.arrays[node.name]}[{self.strip}];")
        with self.lane_loop():
            self.run_nodes(nodes)

    def _strip(self) -> int:
        """Columns side by side: fewer where rows of them are kept."""
        strip = min(STRIP, 1 << (int(self.nest.outer[-1].size) - 1).bit_length())
        for name in self.kernel.rows:
            length = int(product(self.kernel.folded)) * self.layouts[name].dtype.itemsize
            while strip > LEAST_STRIP and strip * length > STACK // len(self.kernel.rows):
                strip //= 2
        return strip

    # --------------------------------------------------------------------------------------- nodes

    def run_nodes(self, nodes: Sequence[Computed]) -> None:
        """What each node does at the current point."""
        for node in nodes:
            down = node.name in self.kernel.down
            point = self.nest.index, self.nest.folded
            value, place = visit(node, *(point[::-1] if down else point))
            if down:
                self.line(f"{self.columns[node.name]}[{self.text(self.inside)}] += {value.text};")
                continue
            if node.name in self.folds:
                position = row_major(self.nest.folded, self.kernel.folded)
                at = f"int64_t({self.text(position)})" if self.folds[node.name].at else ""
                self.line(self.folds[node.name].update("lane", value.text, at))
                continue
            adds = isinstance(node.loop, Scatter) and node.loop.mode == "add"
            self.store(node, value, place, "+=" if adds else "=")

    def store(self, node: Computed, value: Value, place: Expr, sign: str = "=") -> None:
        self.values[node.name] = value
        if kept := self.kept(node.name):
            self.line(f"{kept} = {value.text};")
        if node.name not in self.kernel.internal:
            self.line(f"{self.pointer(node.name)}[{self.text(place)}] {sign} {value.text};")

    def kept(self, name: str) -> str:
        """The element, at this point, of the array that has `name` for a later loop; "": none."""
        if name in self.arrays:
            return f"{self.arrays[name]}[lane]"
        if name not in self.kernel.rows:
            return ""
        at = self.text(self.inside)
        at = f"({at})*{self.strip} + lane" if self.nest.columns else at
        return f"row{self.number[name]}[{at}]"

    # ------------------------------------------------------------------------------- the vocabulary

    @property
    def here(self) -> int:
        return len(self.blocks) - 1

    def depth(self, e: Expr) -> int:
        return max((self.depths.get(s, 0) for s in e.free), default=0)

    def let(self, text: str, dtype: torch.dtype, depth: int = 0, expr: Expr | None = None) -> Value:
        """The variable, in the block at `depth`."""
        block, key = self.blocks[depth], (text, dtype)
        if key not in block.known:
            value = block.known[key] = Value(self.fresh(), dtype, depth, expr)
            block.lines.append(f"const {TYPES[dtype]} {value.text} = {text};")
        return block.known[key]

    def from_memory(self, buffer: str, index: Expr) -> Value:
        dtype = self.layouts[buffer].dtype
        if kept := self.kept(buffer):
            return self.let(kept, dtype, self.here)
        memory = self.kernel.memory(buffer)
        index = simplify(index, self.ranges)
        text, depth = f"{self.pointers[memory]}[{self.text(index)}]", self.depth(index)
        if memory in self.kernel.mutated or memory in self.kernel.writes:
            depth = self.here  # not too early
        text = self.tiles.get((buffer, index), text)
        text = f"{text} != 0" if dtype == torch.bool else text
        if self.mask is not None:
            text = f"{self.mask.text} ? {text} : {literal(0, dtype)}"
            depth = max(depth, self.mask.depth)
        return self.let(text, dtype, depth)

    def from_index(self, expr: Expr, dtype: torch.dtype) -> Value:
        of, text = torch.int64, self.text(expr)
        if dtype != of and self._short(expr):
            text, of = f"int32_t({text})", torch.int32  # which vectors can convert
        whole = None if dtype.is_floating_point else expr
        return self.let(conversion(text, of, dtype), dtype, self.depth(expr), whole)

    def _short(self, expr: Expr) -> bool:
        limits: Any = bounds(expr, self.ranges)  # numbers, as sizes are
        return bool(limits.lo >= -(2**31) and limits.hi < 2**31)

    def indirect(self, value: Value, size: Expr, check: bool = True) -> Expr:
        index = self.let(conversion(value.text, value.dtype, torch.int64), torch.int64, value.depth)
        if check:
            index = self._checked(index, size)
        symbol = sym(index.text)
        self.depths[symbol] = index.depth
        self.ranges[symbol] = index_range(size)
        return symbol

    def _checked(self, index: Value, size: Expr) -> Value:
        """`index`, or 0 after noting that it is out of range."""
        number = self.check(size)
        depth = max(index.depth, self.mask.depth if self.mask else 0)
        bad = f"uint64_t({index.text}) >= uint64_t({self.text(size)})"
        if self.mask is not None:
            bad = f"({bad}) & {self.mask.text}"
        wrong = self.let(bad, torch.bool, depth)
        checked = self.let(f"{wrong.text} ? int64_t(0) : {index.text}", torch.int64, depth)
        block = self.blocks[depth]
        if (line := f"failed = {wrong.text} ? {number} : failed;") not in block.lines:
            block.lines.append(line)
        if size == 0:  # then not even element 0 may be read
            self.blocks[0].lines.append(f"return {number};")
        for outer in self.blocks[1 : depth + 1]:
            outer.checks = True
        return checked

    def converted(self, x: Value, dtype: torch.dtype) -> str:
        return conversion(x.text, x.dtype, dtype)

    def bitcast(self, x: Value, dtype: torch.dtype) -> Value:
        return self.let(f"bitcast<{TYPES[dtype]}>({x.text})", dtype, x.depth)

    def default(self, name: str, *args: Value) -> Value:
        dtype, texts = result_dtype(name, *(a.dtype for a in args)), [a.text for a in args]
        depth = max(a.depth for a in args)
        if name in COMPARISONS and all(a.expr is not None and self._short(a.expr) for a in args):
            texts = [f"int32_t({self.text(a.expr)})" for a in args if a.expr is not None]
        if name in DIVISIONS and self.mask is not None and not dtype.is_floating_point:
            # where the mask does not hold a divisor may be 0
            texts[1] = f"({self.mask.text} ? {texts[1]} : {literal(1, dtype)})"
            depth = max(depth, self.mask.depth)
        return self.let(expression(name, texts, args[-1].dtype), dtype, depth)

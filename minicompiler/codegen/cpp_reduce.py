"""The accumulators of C++ reductions: arrays with one partial result for each lane."""

from dataclasses import dataclass

import torch

from ..ir.nodes import POSITIONS
from .cpp_ops import MEMORY, TYPES, literal
from .writer import neutral

NOWHERE = "0x7fffffffffffffffLL"  # after every position
# how a kind of reduction goes on from `{0}` with `{1}`
FOLDS = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "min": "minimum({0}, {1})",
    "max": "maximum({0}, {1})",
    "any": "{0} | {1}",
    "all": "{0} & {1}",
    "argmin": "take<false>",
    "argmax": "take<true>",
}


@dataclass(frozen=True, slots=True)
class Accumulator:
    """`name`_lanes holds `lanes` values of `dtype`.

    `columns`: the lanes are results of their own, else they fold to one. `exact`: in between, the
    lanes are emptied into a total in double precision.
    """

    name: str
    kind: str
    dtype: torch.dtype
    lanes: int
    columns: bool
    exact: bool

    @property
    def at(self) -> bool:
        """Is the result a position?"""
        return self.kind in POSITIONS

    @property
    def array(self) -> str:
        """What holds the results of columns."""
        return f"{self.name}_{'at' if self.at else 'total' if self.exact else 'lanes'}"

    def total(self) -> list[str]:
        """Lines before everything."""
        if not self.exact:
            return []
        return [f"double {self.name}_total{f'[{self.lanes}] = {{}}' if self.columns else ' = 0'};"]

    def start(self) -> list[str]:
        """Lines that make empty lanes."""
        empty = literal(neutral(self.kind, self.dtype), self.dtype)
        lines = [f"{MEMORY[self.dtype]} {self.name}_lanes[{self.lanes}];"]
        each = f"{self.name}_lanes[lane] = {empty};"
        if self.at:
            lines.append(f"int64_t {self.name}_at[{self.lanes}];")
            each = f"{{ {each} {self.name}_at[lane] = {NOWHERE}; }}"
        # stores, which compilers see through, and not a call of memset
        unroll = [] if self.columns else [f"#pragma GCC unroll {self.lanes}"]
        return [*lines, *unroll, f"for (int lane = 0; lane < {self.lanes}; lane++) {each}"]

    def update(self, lane: str, value: str, position: str) -> str:
        """The statement that takes `value` (found at `position`) into a lane."""
        mine = f"{self.name}_lanes[{lane}]"
        if self.at:
            return f"{FOLDS[self.kind]}({mine}, {self.name}_at[{lane}], {value}, {position});"
        text = FOLDS[self.kind].format(mine, value)
        narrow = self.dtype.itemsize < 4  # C computes these as int
        return f"{mine} = {f'{MEMORY[self.dtype]}({text})' if narrow else text};"

    def flush(self) -> list[str]:
        """Lines that empty the lanes into the total."""
        name, each = self.name, f"for (int lane = 0; lane < {self.lanes}; lane++)"
        if self.columns:
            return [f"{each} {name}_total[lane] += {name}_lanes[lane];"]
        return [f"{name}_total += {self._one()};"]

    def finish(self) -> list[str]:
        """Lines after which `result` holds."""
        if self.columns or not self.at:
            return []
        # the upper half of the lanes onto the lower, until one is left
        halves = f"for (int half = {self.lanes // 2}; half > 0; half /= 2)"
        other = f"{self.name}_lanes[lane + half]", f"{self.name}_at[lane + half]"
        each = f"for (int lane = 0; lane < half; lane++) {self.update('lane', *other)}"
        return [halves, f"    {each}"]

    def _one(self) -> str:
        """The lanes of a row as one value."""
        of = MEMORY[self.dtype]
        both = f"[]({of} a, {of} b) -> {of} {{ return {FOLDS[self.kind].format('a', 'b')}; }}"
        return f"folded<{self.lanes}>({self.name}_lanes, {both})"

    @property
    def result(self) -> str:
        """What the reduction gave (in the current lane of columns)."""
        lane = "lane" if self.columns else "0"
        if self.at:  # nothing beats an infinity at the start: then the first position wins
            at = f"{self.name}_at[{lane}]"
            return f"{at} == {NOWHERE} ? 0 : {at}"
        if self.exact and not self.columns:
            return f"{TYPES[self.dtype]}({self.name}_total)"
        return f"{self.array}[lane]" if self.columns else self._one()

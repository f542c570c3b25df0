"""Eager is the judge: a program run both ways, compared by everything a user could see."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import minicompiler
from minicompiler.report import compare
from minicompiler.report.compare import clone, differences, run

__all__ = ["Run", "check_against_eager", "clone", "differences", "run"]


@dataclass
class Run(compare.Run):
    """What one run of a program did, and what the compiler counted."""

    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def graphs(self) -> int:
        return self.stats["graphs"]

    @property
    def breaks(self) -> int:
        return self.stats["breaks"]

    @property
    def reasons(self) -> list[str]:
        return self.stats["reasons"]


def check_against_eager(
    fn: Callable[..., Any], *inputs: Any, backward: bool = True, calls: int = 1, **options: Any
) -> Run:
    """Compile `fn`, call it, raise AssertionError with the differences. `calls` times in a row, on
    equal inputs: the second call runs what the first one compiled."""
    minicompiler.reset()
    compiled_fn = minicompiler.compile(fn, **options)
    for _ in range(calls):
        eager = run(fn, clone(inputs), backward)
        compiled = run(compiled_fn, clone(inputs), backward)
        found = differences(eager, compiled)
        assert not found, "\n".join(map(str, found))
    return Run(**vars(compiled), stats=minicompiler.stats())

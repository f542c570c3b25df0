"""Every stage of one call, shown.

Each property of an `Explanation` is one stage over all frames of the call: what it made, and why it
decided as it did. The whole is the stages of each frame in the order of the pipeline. Both are
text, and show themselves in colours in a terminal (`rich.print`) and as tables in a notebook.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from . import front
from .display import Block, Code, Part, Rows, Shown, Stage, as_text
from .record import Record, collecting


def _folded(graph: Any) -> str:
    """A graph in lines of 100 columns at most, where it has spaces."""
    lines = str(graph).split("\n")
    fold = {"subsequent_indent": " " * 8, "break_long_words": False, "break_on_hyphens": False}
    return "\n".join(textwrap.fill(line, 100, **fold) for line in lines)  # type: ignore[arg-type]


def _halves(parts: Any) -> str:
    text = f"forward\n{_folded(parts.forward.graph)}"
    if parts.backward is None:
        return text
    return f"{text}\n\nbackward\n{_folded(parts.backward.graph)}"


def _steps(plan: Any) -> str:
    lines = [f"peak of what the plan allocates: {plan.peak_bytes} bytes"]
    for step in plan.steps:
        kind, name = type(step).__name__, getattr(step, "name", "")
        if kind == "Launch":
            name = f"{step.kernel.name}({', '.join(step.args)})"
        elif kind == "Call":
            name = f"{step.extern.target} -> {', '.join(map(str, step.extern.names))}"
        elif kind == "Reuse":
            name = f"{step.name} takes the memory of {step.old}"
        lines.append(f"{kind.lower():7} {name}")
    return "\n".join(lines)


FRONT = ("bytecode", "graph", "guards", "breaks", "resume", "recompiles")  # functions of `front`
# other properties of an Explanation -> (what stages recorded, how to write one, in which language)
STAGES: dict[str, tuple[str, Callable[[Any], str], str]] = {
    "joint": ("joint", lambda joint: _folded(joint.graph), "text"),
    "partition": ("partition", _halves, "text"),
    "loops": ("program", repr, "python"),
    "buffers": ("plan", _steps, "text"),
    "kernels": ("kernels", lambda made: "\n\n".join(source.text for source in made), "cpp"),
    "wrapper": ("wrapper", str, "python"),
}
ORDER = (*FRONT, "joint", "partition", "loops", "fusion", "buffers", "kernels", "wrapper", "timing")
NOTHING = "no frame was compiled: generators, coroutines and code in C run as they are"


class Explanation(Shown):
    """Calls of a function that was compiled for them, a record a frame. `call` makes one more."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.records = call, list[Record]()

    def then(self, *args: Any, **kwargs: Any) -> "Explanation":
        """The same compiled function is called again. What that compiles is told, too; and, in
        `recompiles`, which guards failed. Frames of libraries are told of where there are no other:
        what is not called by compiled code is left to Python there."""
        with collecting() as records:
            self.call(*args, **kwargs)
        for record in records if self.records else ():
            record.name += ", for a later call"
        self.records += [r for r in records if not front.of_a_library(r)] or records
        return self

    def __getattr__(self, name: str) -> Stage:
        if name not in ORDER:
            raise AttributeError(f"there is no stage {name!r}; the stages are {', '.join(ORDER)}")
        told = [(front.title(r), found) for r in self.records if (found := blocks(r, name))]
        return Stage([Part(*part) for part in told] if self.records else self.blocks)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ORDER]

    @property
    def blocks(self) -> Sequence[Block]:  # type: ignore[override]
        parts = [[Part(n, told) for n in ORDER if (told := blocks(r, n))] for r in self.records]
        frames = [Part(front.title(r), made, "=" * 16) for r, made in zip(self.records, parts)]
        return frames or [Rows([(NOTHING,)])]

    def __str__(self) -> str:
        return "\n\n".join(map(as_text, self.blocks))

    __repr__ = __str__


def blocks(record: Record, name: str) -> list[Block]:
    """What one stage of one frame has to say; nothing where it made nothing."""
    if name in FRONT:
        return list(getattr(front, name)(record))
    if name in STAGES:
        kind, write, language = STAGES[name]
        return [Code(write(made), language) for made in record.stages.get(kind, ())]
    spent = sorted(record.seconds.items(), key=lambda item: -item[1])
    lines = [f"{stage:10} {1e3 * seconds:8.1f} ms" for stage, seconds in spent]
    if name == "fusion":
        whys = [w for w in record.whys if w.stage == "schedule"]
        lines = [f"{w.subject}: {w.verdict}, {w.reason}" for w in whys]
    return [Code("\n".join(lines))] if lines else []

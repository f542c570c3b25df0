"""Every stage of one call, as text.

Each property of an `Explanation` is one stage over all frames of the call: what it made, and why it
decided as it did. `str` of the whole is the stages of each frame in the order of the pipeline.
"""

import dis
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .record import Record

Writer = Callable[[Any], str]


def _disassembled(code: Any) -> str:
    text = io.StringIO()
    dis.dis(code, file=text, depth=0)
    return text.getvalue()


def _graph(gm: Any) -> str:
    return str(gm.graph)


def _guards(guards: Any) -> str:
    return "\n".join(map(str, guards.rows))


def _halves(parts: Any) -> str:
    text = f"forward\n{parts.forward.graph}"
    return text if parts.backward is None else f"{text}\n\nbackward\n{parts.backward.graph}"


def _kernels(sources: Any) -> str:
    return "\n\n".join(source.text for source in sources)


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


# property of an Explanation -> (kind of what stages recorded, how to write one)
STAGES: dict[str, tuple[str, Writer]] = {
    "bytecode": ("bytecode", _disassembled),
    "graph": ("graph", _graph),
    "guards": ("guards", _guards),
    "resume": ("replacement", str),
    "joint": ("joint", lambda joint: str(joint.graph)),
    "partition": ("partition", _halves),
    "loops": ("program", repr),
    "buffers": ("plan", _steps),
    "kernels": ("kernels", _kernels),
    "wrapper": ("wrapper", str),
}
# stages whose text is why-records alone: (stage of the record, what happened)
DECISIONS = {"breaks": ("capture", "break"), "fusion": ("schedule", "")}
ORDER = (
    "bytecode graph breaks guards resume joint partition "
    "loops fusion buffers kernels wrapper timing"
).split()


@dataclass
class Explanation:
    """One call of a function that was compiled for it: a record a frame."""

    records: list[Record] = field(default_factory=list)

    def __getattr__(self, name: str) -> str:
        if name not in ORDER:
            raise AttributeError(f"there is no stage {name!r}; the stages are {', '.join(ORDER)}")
        texts = [section(record, name) for record in self.records]
        return "\n\n".join(text for text in texts if text)

    def __str__(self) -> str:
        parts = []
        for record in self.records:
            parts.append(f"{'=' * 16} {record.name} {'=' * 16}")
            for name in ORDER:
                if text := section(record, name):
                    parts.append(f"{'-' * 8} {name} {'-' * 8}\n{text}")
        return "\n\n".join(parts)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def section(record: Record, name: str) -> str:
    """What one stage of one frame has to say; "" where it made nothing."""
    if name == "timing":
        spent = sorted(record.seconds.items(), key=lambda item: -item[1])
        return "\n".join(f"{stage:10} {1e3 * seconds:8.1f} ms" for stage, seconds in spent)
    if name in DECISIONS:
        stage, verdict = DECISIONS[name]
        found = [w for w in record.whys if w.stage == stage and verdict in w.verdict]
        return "\n".join(f"{w.subject}: {w.verdict}, {w.reason}" for w in found)
    kind, write = STAGES[name]
    return "\n\n".join(write(made) for made in record.stages.get(kind, ())).rstrip()

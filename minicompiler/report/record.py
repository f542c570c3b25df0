"""One compilation, written down as it happens."""

import contextlib
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import Any


@dataclass(frozen=True, slots=True)
class Why:
    """Why a stage decided as it did: `subject` got `verdict` because of `reason`."""

    stage: str
    subject: str
    verdict: str
    reason: str
    data: dict[str, Any] = field(default_factory=dict)


class Totals:
    """Sums over all compilations of this process; what `stats()` returns."""

    KEYS = (
        "frames graphs breaks recompiles native_ops fallback_ops kernels cache_hits "
        "guards joint_nodes saved_bytes loops fusions"
    ).split()

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.fallbacks: Counter[str] = Counter()
        self.reasons: list[str] = []
        self.recompile_reasons: list[str] = []

    def as_dict(self) -> dict[str, Any]:
        with self.lock:
            return {
                **{key: self.counts[key] for key in self.KEYS},
                "seconds": dict(self.seconds),
                "fallbacks": dict(self.fallbacks),
                "reasons": list(self.reasons),
                "recompile_reasons": list(self.recompile_reasons),
            }


totals = Totals()


class Record:
    """What one compilation made, stage by stage. `stages[kind]` lists the objects in order."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.stages: dict[str, list[Any]] = {}
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.whys: list[Why] = []
        self._inner = 0.0  # seconds spent in nested stages, so that each second counts once

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; nested stages are not counted in the outer one."""
        before, self._inner = self._inner, 0.0
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            own = spent - self._inner
            self._inner = before + spent
            self.seconds[name] += own
            with totals.lock:
                totals.seconds[name] += own

    def add(self, kind: str, made: Any) -> None:
        """Keep what a stage made: graph, guards, joint, program, plan, kernels, wrapper."""
        self.stages.setdefault(kind, []).append(made)

    def count(self, key: str, n: int = 1) -> None:
        self.counts[key] += n
        with totals.lock:
            totals.counts[key] += n

    def reason(self, text: str, **data: Any) -> None:
        """A graph break and why."""
        self.why(Why("capture", "graph", "break", text, data))
        with totals.lock:
            totals.reasons.append(text)

    def graph_break(self, refusal: Exception, landing: CodeType) -> None:
        """The graph ends because of the refusal; the landing runs what could not be captured."""
        self.count("breaks")
        self.reason(str(refusal), refusal=refusal, landing=landing)

    def left_to_python(self, reason: object) -> None:
        """A frame of which nothing is compiled, and why."""
        self.why(Why("capture", "frame", "left to Python", str(reason)))

    def recompile_reason(self, text: str, failed: object = None) -> None:
        """The guard that failed, with both values and the user's line."""
        self.why(
            Why(
                "capture",
                "frame",
                "recompile",
                text,
                {"failed": failed} if failed != "a guard failed" else {},
            )
        )
        with totals.lock:
            totals.recompile_reasons.append(text)

    def fallback(self, op: str) -> None:
        """An ATen operator that runs through the dispatcher because it has no lowering."""
        self.count("fallback_ops")
        with totals.lock:
            totals.fallbacks[op] += 1

    def why(self, why: Why) -> None:
        self.whys.append(why)


_current: ContextVar[Record | None] = ContextVar("minicompiler_record", default=None)


def current() -> Record:
    """The record of the compilation under way; a throw-away one outside of any."""
    return _current.get() or Record()


@contextlib.contextmanager
def recording(record: Record) -> Iterator[Record]:
    """Stages called within the block write to `record`."""
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)


_kept: ContextVar[list[Record] | None] = ContextVar("minicompiler_kept", default=None)


def open_record(name: str) -> Record:
    """The record of a compilation that begins; kept where somebody is `collecting`."""
    record = Record(name)
    kept = _kept.get()
    if kept is not None:
        kept.append(record)
    return record


@contextlib.contextmanager
def collecting() -> Iterator[list[Record]]:
    """The records of the compilations within the block, in order."""
    kept: list[Record] = []
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def reset_totals() -> None:
    with totals.lock:
        totals.clear()

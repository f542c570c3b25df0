"""The judge: never runs the learner's code, and believes nothing that it says of itself.

The learner's process (child.py) compiles each program and asks for every graph to be run. The judge
runs graphs itself, out of torch's own operators, on inputs that the other side did not choose. So
what counts is seen here: which graphs were made, how often each ran, on what, and what came back.
All of it is compared with eager, for the values, and with the reference, for the graphs.
"""

import json
import operator
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import minicompiler

from ..source import ROOT
from . import child
from .build import build
from .exercise import Exercise

SECONDS, MEMORY = 60, 8 << 30  # for a process of the learner's
SEED = 7


@dataclass(frozen=True)
class Verdict:
    passed: bool
    message: str = ""
    share: float = 0.0  # of the cases that are right, from 0 to 1


@dataclass
class Run:
    """What one program did: its results, and the graphs that were asked for, each time."""

    shown: Any = None
    graphs: list[list[str]] = field(default_factory=list)  # operators of each graph that was made
    runs: list[int] = field(default_factory=list)


class Failed(Exception):
    """The learner's process ended, hung, or asked for what there is not."""


def grade(exercise: Exercise, answer: str) -> Verdict:
    """Judge the text of an answer."""
    try:
        compile(answer, f"{exercise.name}.py", "exec")
    except SyntaxError as error:
        return Verdict(False, f"line {error.lineno}: {error.msg}")
    judges = {"property": grade_property, "predict": grade_predictions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the reference, about the programs
        return judges.get(exercise.kind, grade_piece)(exercise, answer)


def grade_piece(exercise: Exercise, answer: str) -> Verdict:
    """Programs, first those of the exercise, from simple to hard, one lesson each."""
    cases = exercise.cases["CASES"]
    with (
        tempfile.TemporaryDirectory() as folder,
        child_of(build(Path(folder), [(exercise, answer)])) as process,
    ):
        for n, (lesson, source) in enumerate(cases):
            source = textwrap.dedent(source)
            calls = exercise.cases.get("CALLS", 2)
            eager, wanted = eagerly(source, calls), reference(source, calls)
            try:
                found = process.program(source, calls)
            except Failed as failed:
                return Verdict(False, told(exercise, lesson, source, str(failed)), n / len(cases))
            if said := difference(found, eager, wanted):
                said = "\n".join(filter(None, [said, process.warned()]))
                return Verdict(False, told(exercise, lesson, source, said), n / len(cases))
    return Verdict(True, share=1.0)


def difference(found: Run, eager: Any, wanted: Run) -> str:
    """What is wrong, with both values; "" where nothing is."""
    for k, (mine, right) in enumerate(zip(found.shown, eager, strict=True)):
        if not same(mine, right):
            where = f"call {k + 1} returns" if k < len(eager) - 1 else "at the end, `seen` is"
            return f"{where} {readable(mine)}\nand eager's is {readable(right)}"
    if found.graphs != wanted.graphs:
        return f"the graphs made are {found.graphs}\nand should be {wanted.graphs}"
    if found.runs != wanted.runs:
        return f"the graphs ran in the order {found.runs}\nand should run {wanted.runs}"
    return ""


def told(exercise: Exercise, lesson: str, source: str, said: str) -> str:
    program = textwrap.indent(textwrap.dedent(source).strip(), "    ")
    return f"{lesson}\n\n{program}\n\n{said}\n\n{chapter(exercise)}"


def chapter(exercise: Exercise) -> str:
    return f"(chapters/{exercise.about['chapter']})"


def grade_property(exercise: Exercise, answer: str) -> Verdict:
    """It passes the compiler as it is, and finds at least `wanted` of the planted faults."""
    faults = exercise.cases["FAULTS"]
    alive = []
    for number, planted in enumerate([None, *faults]):
        with tempfile.TemporaryDirectory() as folder:
            where = build(Path(folder), [(exercise, answer)], [planted] if planted else [])
            try:
                with child_of(where) as process:
                    said = process.do("check", seed=SEED)
            except Failed as failed:
                said = None if planted is None else str(failed)
                if planted is None:
                    return Verdict(False, f"on the compiler as it is: {failed}")
        if planted is None and said is not None:
            return Verdict(False, f"the compiler as it is does not pass your property: {said}")
        if planted is not None and said is None:
            alive.append(f"{number}: {planted['what']}")
    share, wanted = 1 - len(alive) / len(faults), exercise.cases["WANTED"]
    if len(faults) - len(alive) >= wanted:
        return Verdict(True, share=share)
    listed = "\n".join(f"  {line}" for line in alive)
    said = f"{len(alive)} of {len(faults)} faults are not found:\n{listed}"
    return Verdict(False, f"{said}\n\n{chapter(exercise)}", share)


def grade_predictions(exercise: Exercise, answer: str) -> Verdict:
    """`ANSWERS` is read as literals; nothing of the file runs."""
    import ast

    said: dict[str, Any] = {}
    for node in ast.parse(answer).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ANSWERS":
            try:
                said = ast.literal_eval(node.value)
            except ValueError:
                return Verdict(
                    False, "ANSWERS is a dict of plain values: names and what you predict"
                )
    truths: dict[str, Callable[[], Any]] = exercise.cases["TRUTH"]
    missed = []
    for name, truth in truths.items():
        minicompiler.reset()
        if said.get(name, ...) != truth():
            why = (truth.__doc__ or "").strip().splitlines()[0]
            missed.append(f"{name}: you say {said.get(name)!r}, a run says otherwise. {why}")
    share = 1 - len(missed) / len(truths)
    return Verdict(not missed, "\n".join([*missed, "", chapter(exercise)] if missed else []), share)


# --------------------------------------------------------------------------------- this side's runs
def eagerly(source: str, calls: int) -> Any:
    space = child.module(source)
    return child.observe(space, space["f"], calls)


def reference(source: str, calls: int) -> Run:
    """The same program through the compiler as it is."""
    minicompiler.reset()
    run = Run()

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        run.graphs.append(operators(child.nodes(gm)))
        number = len(run.graphs) - 1

        def call(*args: Any) -> Any:
            run.runs.append(number)
            return gm.forward(*args)  # gm(...) prints where it fails

        return call

    space = child.module(source)
    run.shown = child.observe(space, minicompiler.compile(space["f"], backend=backend), calls)
    return run


def operators(rows: Sequence[Any]) -> list[str]:
    return [target for _, op, target, *_ in rows if op.startswith("call_")]


def interpret(rows: Sequence[Any], args: list[Any]) -> Any:
    """Run a graph that came as lists, of torch's operators alone."""
    values: dict[str, Any] = {}
    given = iter(args)

    def real(a: Any) -> Any:
        if isinstance(a, dict) and "node" in a:
            return values[a["node"]]
        if isinstance(a, dict) and {"list", "tuple"} & a.keys():
            ((kind, held),) = a.items()
            return (list if kind == "list" else tuple)(map(real, held))
        if isinstance(a, dict) and "dict" in a:
            return {real(k): real(v) for k, v in a["dict"]}
        if isinstance(a, dict) and "slice" in a:
            return slice(*map(real, a["slice"]))
        return child.decode(a)

    for name, op, target, args_, named in rows:
        if op == "placeholder":
            values[name] = next(given)
        elif op == "output":
            return real(args_)[0]
        elif op == "call_method":
            of, *rest = real(args_)
            values[name] = getattr(torch.Tensor, target)(of, *rest, **real(named))
        else:
            values[name] = resolve(target)(*real(args_), **real(named))
    raise Failed("a graph without an output")


def resolve(target: str) -> Callable[..., Any]:
    """A function of torch or `operator` by its name, and nothing else."""
    home, _, name = target.rpartition(".")
    homes: dict[str, Any] = {"torch": torch, "torch.nn.functional": torch.nn.functional}
    homes |= {"operator": operator, "Tensor": torch.Tensor, "torch.special": torch.special}
    if target == "builtins.getattr":
        return getattr
    hidden = name.startswith("_") and target != "torch._assert_async"
    if home not in homes or hidden or not hasattr(homes[home], name):
        raise Failed(f"a graph calls {target}, which is no operator")
    found: Callable[..., Any] = getattr(homes[home], name)
    return found


def same(a: Any, b: Any) -> bool:
    """Equal as JSON, tensors within rounding."""
    if isinstance(a, dict) and isinstance(b, dict) and "tensor" in a and "tensor" in b:
        x, y = child.decode(a), child.decode(b)
        if a["dtype"] != b["dtype"] or x.shape != y.shape:
            return False
        return torch.allclose(x, y, equal_nan=True) if x.is_floating_point() else torch.equal(x, y)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def readable(value: Any) -> str:
    if isinstance(value, dict) and "raised" in value:
        return f"an error, {value['raised']}"
    try:
        return str(child.decode(value))
    except TypeError:
        return json.dumps(value)


# ------------------------------------------------------------------------------- the other process
@contextmanager
def child_of(where: Path) -> Iterator["Child"]:
    process = Child(where)
    try:
        yield process
    finally:
        process.end()


class Child:
    def __init__(self, where: Path) -> None:
        asks, self.answers = os.pipe(), os.pipe()
        self.graphs: list[Any] = []
        hidden = str(ROOT / "minicompiler") + os.sep
        command = [
            sys.executable,
            "-P",
            child.__file__,
            str(where),
            hidden,
            str(asks[1]),
            str(self.answers[0]),
        ]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `end`)
        self.process = subprocess.Popen(
            command,
            pass_fds=(asks[1], self.answers[0]),
            cwd=where,
            env=os.environ | {"PYTHONPATH": str(where), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
            start_new_session=True,
            preexec_fn=limit,
        )
        os.close(asks[1])
        os.close(self.answers[0])
        self.incoming, self.outgoing = os.fdopen(asks[0], "rb"), os.fdopen(self.answers[1], "w")
        self.buffer, self.until = b"", 0.0

    def program(self, source: str, calls: int) -> Run:
        """Have one program compiled and run, its graphs here."""
        run = Run()
        self.graphs = []
        run.shown = self.do("program", run, source=source, calls=calls)
        if not isinstance(run.shown, list) or len(run.shown) != calls + 1:
            raise Failed("the process answered with something else")
        return run

    def do(self, what: str, run: Run | None = None, **named: Any) -> Any:
        self.until = time.monotonic() + SECONDS
        self.say({"do": what, "with": named})
        while True:
            asked = self.hear()
            if "done" in asked:
                return asked["done"]
            if run is None:
                raise Failed("the process asked for a graph, out of turn")
            try:
                self.say(self.answer(asked, run))
            except (KeyError, TypeError, ValueError, StopIteration, IndexError) as error:
                raise Failed(f"a graph that cannot be run: {error}") from error

    def answer(self, asked: dict[str, Any], run: Run) -> Any:
        if "graph" in asked:
            self.graphs.append(asked["graph"])
            run.graphs.append(operators(asked["graph"]))
            return len(self.graphs) - 1
        run.runs.append(number := int(asked["run"]))
        args = [child.decode(a) for a in asked["args"]]
        try:
            result = interpret(self.graphs[number], args)
        except RuntimeError as error:
            return {"raised": str(error)}
        return {"result": child.encode(result), "args": [child.encode(a) for a in args]}

    def say(self, what: Any) -> None:
        try:
            self.outgoing.write(json.dumps(what) + "\n")
            self.outgoing.flush()
        except BrokenPipeError:
            raise Failed(f"your process ended: {self.last_words()}") from None

    def hear(self) -> dict[str, Any]:
        """The next line, in time."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.incoming, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                if not selector.select(max(self.until - time.monotonic(), 0)):
                    raise Failed(f"no answer in {SECONDS} seconds")
                if not (more := os.read(self.incoming.fileno(), 1 << 16)):
                    raise Failed(f"your process ended: {self.last_words()}")
                self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        found = json.loads(line)
        if not isinstance(found, dict):
            raise Failed("the process answered with something else")
        return found

    def warned(self) -> str:
        """What the compiler said of an error in the learner's piece, if it did."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if "failed with" in line), "")

    def last_words(self) -> str:
        self.process.wait(5)
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"status {self.process.returncode}, without a word"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.incoming.close()
        self.errors.close()


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

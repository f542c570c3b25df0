"""The judge: never runs the learner's code, and believes nothing that it says of itself.

The learner's process (child.py) compiles each program and asks for every graph to be run. The judge
runs graphs itself, out of torch's own operators, on inputs that the other side did not choose. So
what counts is seen here: which graphs were made, how often each ran, on what, and what came back.
All of it is compared with eager, for the values, and with the reference, for the graphs.
"""

import functools
import itertools
import json
import operator
import os
import random
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import minicompiler

from ..source import ROOT, names_of
from . import child
from .build import build, disguised
from .exercise import Exercise

SECONDS, LINE = 30, 64 << 20  # for an answer of the learner's process, and bytes in it
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
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Verdict(False, "".join(traceback.format_exception_only(error)))
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
            names = "|".join(name.rpartition(".")[2] for _, name in exercise.places)
            asks = re.search(rf"\bimport .*\b({names})\b", source)  # the piece itself, in eager too
            whose = "the reference's" if asks else "eager's"
            eager, wanted = truth(source, calls)
            try:
                said = difference(process.program(source, calls), eager, wanted, whose)
            except Failed as failed:
                said = str(failed)
            except Exception as error:  # of what is made up, even that may fail
                said = f"your process answered with something else: {error!r}"
            if said:
                said = "\n\n".join(filter(None, [process.warned(), said]))
                return Verdict(False, told(exercise, lesson, source, said), n / len(cases))
    return Verdict(True, share=1.0)


def difference(found: Run, eager: Any, wanted: Run, whose: str) -> str:
    """What is wrong, with both values, and whose the right one is; "" where nothing is."""
    for k, (mine, right) in enumerate(zip(found.shown, eager, strict=True)):
        if not same(mine, right):
            last = k == len(eager) - 1
            where = "at the end, `seen` is" if last else f"call {k + 1} returns"
            said = f"{where} {readable(mine)}\nand {whose} is {readable(right)}"
            heads = ["\nat the end, `seen` is", f"and {whose} is"]
            ends = zip(heads, [found.shown[-1], eager[-1]])
            differs = not last and not same(found.shown[-1], eager[-1])
            return "\n".join([said, *(f"{e} {readable(v)}" for e, v in ends if differs)])
    if found.graphs != wanted.graphs:
        return f"made: {counted(found.graphs)}\nand should be: {counted(wanted.graphs)}"
    if found.runs != wanted.runs:
        return f"the graphs ran in the order {found.runs}\nand should run {wanted.runs}"
    return ""


def counted(graphs: list[list[str]]) -> str:
    """Graphs by their operators, equal ones that follow each other as one."""
    runs = [(ops, len(list(equal))) for ops, equal in itertools.groupby(graphs)]
    texts = [f"{n} x " * (n > 1) + f"[{', '.join(ops)}]" for ops, n in runs]
    return f"{len(graphs)} graphs: {', '.join(texts)}" if graphs else "no graph"


def told(exercise: Exercise, lesson: str, source: str, said: str) -> str:
    program = textwrap.indent(textwrap.dedent(source).strip(), "    ")
    return f"{lesson}\n\n{program}\n\n{said}\n\n{chapter(exercise)}"


def chapter(exercise: Exercise) -> str:
    return f"Read again: chapters/{exercise.about['chapter']}/README.md#{exercise.about['section']}"


def grade_property(exercise: Exercise, answer: str) -> Verdict:
    """It passes the compiler as it is, however written, and finds at least `wanted` of the planted
    faults. In no order, so that who counts does not know which is which."""
    faults: list[dict[str, str]] = exercise.cases["FAULTS"]
    sound = [{}, {"disguised": "yes"}]
    server()  # one, for all threads
    order = list(enumerate([*sound, *faults], 1 - len(sound)))
    random.SystemRandom().shuffle(order)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(pool.map(lambda one: (one[0], checked(exercise, answer, one[1])), order))
    for number in range(1 - len(sound), 1):
        if said[number] is not None:
            what = f"the compiler as it is does not pass your property: {said[number]}"
            return Verdict(False, f"{what}\n\n{chapter(exercise)}")
    alive = [f"  {n}: {fault['what']}" for n, fault in enumerate(faults, 1) if said[n] is None]
    share = 1 - len(alive) / len(faults)
    if len(faults) - len(alive) >= exercise.cases["WANTED"]:
        return Verdict(True, share=share)
    listed = "\n".join([f"{len(alive)} of {len(faults)} faults are not found:", *alive])
    return Verdict(False, f"{listed}\n\n{chapter(exercise)}", share)


def checked(exercise: Exercise, answer: str, fault: dict[str, str]) -> str | None:
    """What a property says of the compiler with this fault; None if it is content."""
    with tempfile.TemporaryDirectory() as folder:
        where = build(Path(folder), [(exercise, answer)], [fault] if "old" in fault else [])
        for file in {f["file"] for f in exercise.cases["FAULTS"]} if "disguised" in fault else ():
            (where / file).write_text(disguised((where / file).read_text()))
        try:
            with child_of(where) as process:
                said = process.do("check", seed=SEED)
        except Failed as failed:
            return str(failed)
    return None if said is None else str(said)


def grade_predictions(exercise: Exercise, answer: str) -> Verdict:
    """`ANSWERS` is read as literals; nothing of the file runs."""
    import ast

    said: Any = None
    for node in ast.parse(answer).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "ANSWERS" in names_of(node):
            try:
                said = ast.literal_eval(node.value or ast.Constant(None))
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                said = None
    if not isinstance(said, dict):
        return Verdict(False, "ANSWERS is to be a dict of plain values: names, what you predict")
    truths: dict[str, Callable[[], Any]] = exercise.cases["TRUTH"]
    missed = []
    for name, truth in truths.items():
        minicompiler.reset()
        if said.get(name, ...) != truth():
            why = (truth.__doc__ or "").strip().splitlines()[0]
            told = f"you say {said.get(name)!r}, a run says otherwise. {why}"
            missed.append(f"{name}: {told if said.get(name) is not None else 'say what you think'}")
    share = 1 - len(missed) / len(truths)
    return Verdict(not missed, "\n".join([*missed, "", chapter(exercise)] if missed else []), share)


# --------------------------------------------------------------------------------- this side's runs
@functools.cache
def truth(source: str, calls: int) -> tuple[Any, Run]:
    """What eager and the compiler as it is make of a program."""
    return eagerly(source, calls), reference(source, calls)


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
            values[name] = resolve(f"Tensor.{target}")(*real(args_), **real(named))
        else:
            values[name] = resolve(target)(*real(args_), **real(named))
    raise Failed("a graph without an output")


def resolve(target: str) -> Callable[..., Any]:
    """An operator by its name. What else torch has, such as `load`, could run anything here."""
    home, _, name = target.rpartition(".")
    homes: dict[str, Any] = {"torch": torch, "torch.nn.functional": torch.nn.functional}
    homes |= {"operator": operator, "Tensor": torch.Tensor, "torch.special": torch.special}
    found: Callable[..., Any] | None = getattr(homes.get(home), name, None)
    if target == "builtins.getattr":
        return attribute
    if home == "operator":
        known = hasattr(torch.Tensor, f"__{name.rstrip('_')}__")
    else:
        known = found in torch.overrides.get_testing_overrides() and not name.startswith("_")
    if found is None or not (known or target == "torch._assert_async"):
        raise Failed(f"a graph calls {target}, which is no operator")
    return found


def attribute(of: torch.Tensor, name: str) -> Any:
    if not isinstance(of, torch.Tensor) or name.startswith("_"):
        raise Failed(f"a graph reads {name}, which no tensor has")
    return getattr(of, name)


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


class Server:
    """Makes the learner's processes and ends them, as asked over a socket (child.serve)."""

    HIDDEN = "minicompiler exercises tests chapters .git".split()

    def __init__(self) -> None:
        self.ours, theirs = socket.socketpair()
        hidden = [str(ROOT / name) for name in self.HIDDEN]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", child.__file__, str(theirs.fileno()), *hidden],
                pass_fds=[theirs.fileno()],
                env=environment | {"OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.turn = threading.Lock()

    def ask(self, text: str, descriptors: Sequence[int] = ()) -> str:
        try:
            with self.turn:
                socket.send_fds(self.ours, [text.encode()], descriptors)
                answer = self.ours.recv(100).decode()
        except OSError:
            answer = ""
        if not answer:
            server.cache_clear()  # the next is asked of a new one
            raise Failed("the server of the learner's processes has ended")
        return answer


@functools.cache
def server() -> Server:
    return Server()


class Child:
    def __init__(self, where: Path) -> None:
        asks, answers = os.pipe(), os.pipe()
        self.graphs: list[Any] = []
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `end`)
        self.server = server()
        try:
            given = (asks[1], answers[0], self.errors.fileno())
            self.number = self.server.ask(str(where), given)
        finally:
            os.close(asks[1])
            os.close(answers[0])
        self.incoming, self.outgoing = os.fdopen(asks[0], "rb"), os.fdopen(answers[1], "w")
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
            try:
                asked = self.hear()
                if "done" in asked:
                    return asked["done"]
                assert run is not None, "out of turn"
                reply = self.answer(asked, run)
            except Failed:
                raise
            except Exception as error:  # whatever was made up over there
                raise Failed(f"what your process asks cannot be done: {error!r}") from error
            self.say(reply)

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

    def hear(self) -> Any:
        """The next line, in time."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.incoming, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                if not selector.select(max(self.until - time.monotonic(), 0)):
                    raise Failed(
                        f"no answer in {SECONDS} seconds: an endless loop, or code that is "
                        "compiled again and again"
                    )
                if not (more := os.read(self.incoming.fileno(), 1 << 16)):
                    raise Failed(f"your process ended: {self.last_words()}")
                self.buffer += more
                if len(self.buffer) > LINE:
                    raise Failed("your process says too much")
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def printed(self) -> list[str]:
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").splitlines()
        return [line.rstrip()[:300] for line in lines if line.strip()]

    def warned(self) -> str:
        """What the compiler said of an error in the learner's piece, and the end of what the piece
        printed; the line below a warning is not of it."""
        lines = self.printed()
        failed = [line.partition("r: ")[2] for line in lines if "failed with" in line][-1:]
        own = [f"  {line}" for line in lines if "Warning: " not in line and line[:2] != "  "]
        return "\n".join([*failed, *["your process printed, at the end:"][: len(own)], *own[-8:]])

    def last_words(self) -> str:
        return (self.printed() or ["without a word"])[-1]

    def end(self) -> None:
        with suppress(Failed):  # with its server
            self.server.ask(self.number)
        self.incoming.close()
        self.errors.close()

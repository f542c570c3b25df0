"""`minicompiler learn doctor`: what practice needs, beside what the compiler needs.

As in tools/doctor.py, a check returns (verdict, what was seen, what to do).
"""

import difflib
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import doctor
from ..doctor import FAIL, OK, WARN
from .build import build
from .exercise import Exercise, digest, exercises

Found = tuple[str, str, str]
PROGRAM = """
import torch
def inputs(k): return (torch.ones(2),)
def f(x): return x + 1
"""


def checks(kind: Any) -> Iterator[Callable[[], Found]]:
    """`kind` is the class of workspaces."""
    yield from (doctor.python, doctor.c_compiler, doctor.cxx_compiler, doctor.cache_folder)
    yield from (partial(doctor.torch, ""), hook, judge)
    yield partial(library, "watchfiles", "learn", "`learn watch` cannot see when you save")
    yield partial(library, "plotext", "tour", "`learn run tour` cannot draw")
    yield partial(workspace, kind)
    try:
        state = (space := kind.around()).read()
    except LookupError:
        return
    for exercise in exercises():
        if exercise.name in state["passed"] or exercise.name in state["seen"]:
            yield partial(answer, space.file(exercise), state, exercise)


def hook() -> Found:
    from minicompiler.capture import frame_hook

    if not frame_hook.unavailable:
        return OK, "the frame hook is built", ""
    mend = "make setup, or: python setup.py build_ext --inplace"
    return FAIL, f"no frame hook ({frame_hook.unavailable}): nothing is captured", mend


def judge() -> Found:
    """Does a process of the learner's start, and do what it should?"""
    from .grading import Failed, child_of

    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder, child_of(build(Path(folder), [])) as process:
            run = process.program(PROGRAM, 1)
    except (Failed, OSError) as error:
        return FAIL, f"the judge's process does not work: {error}", "look at the lines above"
    if len(run.graphs) != 1:
        return FAIL, "in the judge's process nothing is captured", "look at the lines above"
    return OK, f"the judge compiles a program in {time.perf_counter() - start:.1f} s", ""


def library(name: str, extra: str, loss: str) -> Found:
    if find_spec(name):
        return OK, name, ""
    return WARN, f"no {name}: {loss}", f"pip install 'minicompiler[{extra}]'"


def workspace(kind: Any) -> Found:
    try:
        space = kind.around()
    except LookupError as error:
        return WARN, *error.args
    try:
        state = space.read()
    except LookupError as error:
        return FAIL, *error.args
    known = {e.name for e in exercises()}
    if gone := sorted({*state["passed"], *state["seen"]} - known):
        mend = "nothing is lost: your files stay, and nothing uses them"
        return WARN, f"exercises that this version does not have: {', '.join(gone)}", mend
    return OK, f"workspace {space.folder}: {len(state['passed'])} of {len(known)} passed", ""


def answer(file: Path, state: dict[str, Any], exercise: Exercise) -> Found:
    """Is a file still there, as it was passed, and for the piece as it is?"""
    name, passed = exercise.name, state["passed"].get(exercise.name)
    again = f"minicompiler learn check {name}"
    if not file.exists():
        mend = f"put it back, or begin again: minicompiler learn next {name}"
        return FAIL if passed is not None else WARN, f"{file.name} is gone", mend
    before = state["seen"].get(name)
    now = exercise.stub if passed is None else exercise.piece
    if passed not in (None, exercise.hash) or (before is not None and before != now):
        told = difference(before, now) if before else "  (how it was then is not known)"
        if passed is None:
            again = f"minicompiler learn reset {name} (it keeps your file), and move your work over"
        return WARN, f"{name}: what it replaces has changed since:\n{told}", again
    if passed is not None and state["answers"].get(name) != digest(file.read_text()):
        return WARN, f"{file.name} is not what you passed", again
    return OK, f"{file.name}: {'begun' if passed is None else 'passed'}", ""


def difference(before: str, now: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "then", "now", lineterm="")
    return "\n".join(f"  {line}" for line in lines)

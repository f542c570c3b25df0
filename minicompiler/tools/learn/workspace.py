"""`minicompiler learn`: a workspace with the learner's files, and what was passed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import doctor as machine
from ..source import house
from . import clinic
from .build import RAN, build
from .exercise import Exercise, digest, exercises, named
from .grading import Verdict, grade

STATE, VERSION = ".learn.json", 1  # of the file's format
EMPTY: dict[str, Any] = {
    "version": VERSION,
    "passed": {},  # name -> hash of the piece
    "answers": {},  # name -> hash of the answer that passed
    "seen": {},  # name -> the stub as it was begun, or the piece as it was passed
    "hints": {},  # name -> how many were shown
    "at": "",
}
app = typer.Typer(no_args_is_help=True, help="Exercises: each replaces a piece of the compiler.")
Name = Annotated[str, typer.Argument(help="an exercise, or its number; else the one at hand")]
out = Console(highlight=False)


@dataclass
class Workspace:
    """A folder of the learner's, with one file for each exercise begun."""

    folder: Path

    @classmethod
    def around(cls) -> "Workspace":
        """The one that the current folder is in. Raises LookupError: what is wrong, what to do."""
        try:
            here = Path.cwd()
        except OSError:
            raise LookupError("this folder is gone", "cd into your workspace again") from None
        for folder in (here, *here.parents):
            if (folder / STATE).exists():
                return cls(folder)
        raise LookupError("no workspace here", "minicompiler learn start DIR, then cd DIR")

    def read(self) -> dict[str, Any]:
        """What was noted so far. Raises LookupError, too."""
        file = self.folder / STATE
        try:
            found: dict[str, Any] = EMPTY | json.loads(file.read_text())
            if found["version"] > VERSION:
                raise LookupError(f"{file} is of a newer minicompiler", "update this one")
        except (OSError, ValueError, TypeError) as error:
            mend = (
                f"your answers are safe: move it away, then minicompiler learn start {self.folder}"
            )
            raise LookupError(f"{file} cannot be read ({error})", mend) from None
        return found

    @classmethod
    def here(cls) -> "Workspace":
        try:
            return cls.around()
        except LookupError as error:
            raise leave(*error.args) from None

    @property
    def state(self) -> dict[str, Any]:
        try:
            return self.read()
        except LookupError as error:
            raise leave(*error.args) from None

    def remember(self, **changes: Any) -> None:
        file = self.folder / STATE
        text = json.dumps(self.state | changes, indent=2)
        file.with_suffix(".new").write_text(text)
        file.with_suffix(".new").replace(file)

    def file(self, exercise: Exercise) -> Path:
        return self.folder / f"{exercise.name}.py"

    def answer(self, exercise: Exercise) -> str:
        """The text of a file of the learner's."""
        file = self.file(exercise)
        if not file.exists():
            raise leave(f"there is no {file.name}: minicompiler learn next {exercise.name}")
        try:
            return file.read_text()
        except (OSError, ValueError) as error:
            raise leave(f"{file} cannot be read", str(error)) from None

    def passes(self, exercise: Exercise, answer: str) -> None:
        new = {"passed": exercise.hash, "answers": digest(answer), "seen": exercise.piece}
        state = self.state
        self.remember(**{key: state[key] | {exercise.name: new[key]} for key in new})

    def at(self, name: str) -> Exercise:
        """The one that is named, or the one at hand."""
        if not (name := name or self.state.get("at", "")):
            raise leave("no exercise at hand: minicompiler learn next")
        try:
            return named(name)
        except LookupError as error:
            raise leave(*error.args) from None


def show(text: str) -> None:
    """As it is, whatever the width."""
    out.print(text, markup=False, soft_wrap=True)


def leave(*message: str) -> typer.Exit:
    print("minicompiler learn:", ": ".join(message), file=sys.stderr)
    return typer.Exit(2)


@app.command()
def start(folder: Annotated[Path, typer.Argument(help="a new folder for your files")]) -> None:
    """Make a workspace."""
    if (folder / STATE).exists():
        raise leave(f"{folder} is a workspace already: cd {folder}; minicompiler learn next")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STATE).write_text(json.dumps(EMPTY))
    except OSError as error:
        raise leave(f"{folder} cannot be a workspace", str(error)) from None
    tool = "minicompiler" if shutil.which("minicompiler") else Path(sys.argv[0]).absolute()
    out.print(f"Your workspace is {folder}. Now: cd {folder}; {tool} learn next")


@app.command("list")
def list_() -> None:
    """All exercises, and which of them you passed."""
    state = Workspace.here().state
    table = Table("", "exercise", "size", "")
    for e in exercises():
        mark = "passed" if e.name in state["passed"] else "at hand" if e.name == state["at"] else ""
        star = "★" if e.about.get("star") else ""
        table.add_row(star, f"{e.name}\n{e.title}", e.about["size"], mark)
    out.print(table)


@app.command("next")
def next_(name: Name = "") -> None:
    """Begin an exercise: the next that you have not passed, or the one you name."""
    space = Workspace.here()
    left = [e for e in exercises() if e.name not in space.state["passed"]]
    if not name and not left:
        out.print("You passed them all. `minicompiler learn run tour` trains with your pieces.")
        return
    exercise = space.at(name) if name else left[0]
    if not (file := space.file(exercise)).exists():
        begin(space, exercise)
    space.remember(at=exercise.name)
    out.print(f"[bold]{exercise.title}[/]  ({exercise.about['size']})\n")
    show(exercise.about["contract"].strip())
    out.print(
        f"\nRead chapters/{exercise.about['chapter']}, edit {file}, then: minicompiler learn check"
    )


def begin(space: Workspace, exercise: Exercise) -> None:
    """The stub becomes the learner's file."""
    space.file(exercise).write_text(exercise.stub)
    space.remember(seen=space.state["seen"] | {exercise.name: exercise.stub})


@app.command()
def check(name: Name = "") -> None:
    """Judge your answer. Status 0: passed."""
    space = Workspace.here()
    exercise = space.at(name)
    if not judged(space, exercise).passed:
        raise typer.Exit(1)


def judged(space: Workspace, exercise: Exercise) -> Verdict:
    try:
        verdict = grade(exercise, answer := space.answer(exercise))
    except KeyboardInterrupt:
        raise leave("stopped", "nothing is lost") from None
    if verdict.passed:
        space.passes(exercise, answer)
        out.print(f"[bold green]passed[/] {exercise.name}. Now: minicompiler learn next")
    else:
        out.print(f"[bold red]not yet[/] {exercise.name}, {verdict.share:.0%} of the way\n")
        show(verdict.message)
    return verdict


@app.command()
def watch(name: Name = "") -> None:
    """Judge again whenever you save; until it passes."""
    import watchfiles

    space = Workspace.here()
    exercise = space.at(name)
    if judged(space, exercise).passed:
        return
    file = space.file(exercise)
    saved = lambda _, path: Path(path).name == file.name and file.exists()
    # the folder, as an editor may put another file in the place of this one
    with suppress(KeyboardInterrupt):
        for _ in watchfiles.watch(file.parent, watch_filter=saved, recursive=False):
            out.rule()
            if judged(space, exercise).passed:
                return
    out.print("No longer watching.")


@app.command()
def hint(name: Name = "") -> None:
    """One more of the three hints."""
    space = Workspace.here()
    exercise = space.at(name)
    before = space.state["hints"].get(exercise.name, 0)
    shown = min(before + 1, len(exercise.hints))
    space.remember(hints=space.state["hints"] | {exercise.name: shown})
    for n, text in enumerate(exercise.hints[:shown], 1):
        show(f"{n}. {text.strip()}")
    if before == len(exercise.hints):
        out.print("These are all. Leave it for now: minicompiler learn next NAME begins another.")


@app.command()
def solution(name: Name = "") -> None:
    """The reference, once you passed."""
    space = Workspace.here()
    exercise = space.at(name)
    if exercise.name not in space.state["passed"]:
        raise leave("after you passed; until then: minicompiler learn hint")
    show(exercise.reference)


@app.command()
def reset(name: Name = "") -> None:
    """Begin again from the stub; your file is kept under another name."""
    space = Workspace.here()
    exercise = space.at(name)
    file = space.file(exercise)
    if file.exists():
        n = 1
        while (kept := file.with_suffix(f".{n}.py")).exists():
            n += 1
        file.rename(kept)
        out.print(f"your file is {kept.name} now")
    if exercise.name in space.state["passed"]:
        out.print("It stays passed; the piece is yours again with the next answer that passes.")
    begin(space, exercise)


def pieces(space: Workspace) -> list[tuple[Exercise, str]]:
    """Passed answers that replace something; told, where they are not what was passed."""
    found, state = [], space.state
    for e in exercises():
        if not e.symbols or e.name not in state["passed"]:
            continue
        file = space.file(e)
        if not file.exists() or digest(text := space.answer(e)) != state["answers"].get(e.name):
            changed = "has changed since you passed" if file.exists() else "is gone"
            out.print(f"{file.name} {changed}, so the reference is used: minicompiler learn doctor")
            continue
        if state["passed"][e.name] != e.hash:
            out.print(f"{e.name}: the piece has changed since: minicompiler learn doctor")
        found.append((e, text))
    return found


@app.command()
def mine() -> None:
    """The house, and which of its pieces are yours."""
    space = Workspace.here()
    yours = {e.name for e, _ in pieces(space)}
    show(house())
    for e in exercises():
        for symbol in e.symbols:
            show(f"{'yours' if e.name in yours else 'reference':10} {symbol}")


@app.command("run")
def run_(
    what: Annotated[str, typer.Argument(help="tour, or a file of yours")] = "tour",
    arguments: Annotated[list[str] | None, typer.Argument(help="for it")] = None,
) -> None:
    """Run the tour, or a file, with all your passed pieces in the compiler at once."""
    installed = pieces(Workspace.here())
    tour = ["-m", "minicompiler.tools.tour", "--watched"]  # breaks, and side effects, too
    program = tour if what == "tour" else [str(Path(what).resolve())]
    with tempfile.TemporaryDirectory() as folder:
        where, ran = build(Path(folder), installed), Path(folder) / "ran.json"
        environment = os.environ | {"PYTHONPATH": str(where), RAN: str(ran)}
        command = [sys.executable, "-P", *program, *(arguments or [])]
        status = subprocess.run(command, env=environment).returncode
        answered, raised = json.loads(ran.read_text()) if ran.exists() else ({}, {})
    for e, _ in installed:
        show(f"yours: {e.name} answered {answered.get(e.name, 0):,} times")
        for error, times in raised.get(e.name, {}).items():
            show(f"yours: {e.name} raised {times:,} times, where eager ran instead: {error}")
    raise typer.Exit(status or int(bool(raised) and what == "tour"))


@app.command()
def doctor() -> None:
    """Is all ready for practice? Says what to do where it is not."""
    failed, _ = machine.examine(clinic.checks(Workspace))  # type: ignore[no-untyped-call]
    print("learn doctor: see above" if failed else "learn doctor: ready for practice")
    raise typer.Exit(1 if failed else 0)


@app.command()
def selftest(
    as_json: Annotated[bool, typer.Option("--json", help="a machine reads it")] = False,
    only: Annotated[str, typer.Option(help="one exercise")] = "",
) -> None:
    """Are the exercises sound? Stubs fail, references pass, wrong answers are taught."""
    report = {}
    for e in [named(only)] if only else exercises():
        faults = []
        if e.symbols and e.hash != e.about["hash"]:
            faults.append(
                f"the piece has changed ({e.hash}): look at text, hints and wrong answers"
            )
        if grade(e, e.stub).passed:
            faults.append("the stub passes")
        if not (found := grade(e, e.reference)).passed:
            faults.append(f"the reference fails: {found.message}")
        wrong = list(e.wrong())
        if len(wrong) < 3:
            faults.append(f"only {len(wrong)} wrong answers")
        for name, answer, lesson in wrong:
            found = grade(e, answer)
            if found.passed:
                faults.append(f"wrong/{name} passes")
            elif lesson not in found.message:
                faults.append(f"wrong/{name} does not teach {lesson!r}: {found.message}")
        report[e.name] = {"ok": not faults, "faults": faults, "wrong": len(wrong)}
        if not as_json:
            out.print(
                f"{'ok' if not faults else 'FAULTY'} {e.name}", *faults, sep="\n  ", markup=False
            )
    if as_json:
        print(json.dumps(report, indent=2))
    raise typer.Exit(0 if all(r["ok"] for r in report.values()) else 1)

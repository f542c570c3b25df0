"""`minicompiler learn`: a workspace with the learner's files, and what was passed."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..source import house
from .build import build
from .exercise import Exercise, exercises, named
from .grading import Verdict, grade

STATE = ".learn.json"
app = typer.Typer(no_args_is_help=True, help="Exercises: each replaces a piece of the compiler.")
Name = Annotated[str, typer.Argument(help="an exercise, or its number; else the one at hand")]
out = Console(highlight=False)


@dataclass
class Workspace:
    """A folder of the learner's, with one file for each exercise begun."""

    folder: Path

    @classmethod
    def here(cls) -> "Workspace":
        """The one around the current folder; exits with advice where there is none."""
        for folder in (Path.cwd(), *Path.cwd().parents):
            if (folder / STATE).exists():
                return cls(folder)
        raise leave("no workspace here: minicompiler learn start DIR, then cd DIR")

    @property
    def state(self) -> dict[str, Any]:
        """{"passed": {name: hash of the piece}, "hints": {name: shown}, "at": name}"""
        return json.loads((self.folder / STATE).read_text())  # type: ignore[no-any-return]

    def remember(self, **changes: Any) -> None:
        file = self.folder / STATE
        text = json.dumps(self.state | changes, indent=2)
        file.with_suffix(".new").write_text(text)
        file.with_suffix(".new").replace(file)

    def file(self, exercise: Exercise) -> Path:
        return self.folder / f"{exercise.name}.py"

    def at(self, name: str) -> Exercise:
        """The one that is named, or the one at hand."""
        if not (name := name or self.state.get("at", "")):
            raise leave("no exercise at hand: minicompiler learn next")
        try:
            return named(name)
        except LookupError as error:
            raise leave(str(error)) from None


def leave(message: str) -> typer.Exit:
    print(f"minicompiler learn: {message}", file=sys.stderr)
    return typer.Exit(2)


@app.command()
def start(folder: Annotated[Path, typer.Argument(help="a new folder for your files")]) -> None:
    """Make a workspace."""
    if (folder / STATE).exists():
        raise leave(f"{folder} is a workspace already: cd {folder}; minicompiler learn next")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATE).write_text(json.dumps({"passed": {}, "hints": {}, "at": ""}))
    out.print(f"Your workspace is {folder}. Now: cd {folder}; minicompiler learn next")


@app.command("list")
def list_() -> None:
    """All exercises, and which of them you passed."""
    state = Workspace.here().state
    table = Table("", "exercise", "chapter", "size", "")
    for e in exercises():
        mark = "passed" if e.name in state["passed"] else "at hand" if e.name == state["at"] else ""
        star = "★" if e.about.get("star") else ""
        table.add_row(star, f"{e.name}\n{e.title}", e.about["chapter"], e.about["size"], mark)
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
        file.write_text(exercise.stub)
    space.remember(at=exercise.name)
    out.print(f"[bold]{exercise.title}[/]  ({exercise.about['size']})\n")
    out.print(exercise.about["contract"].strip(), markup=False)
    out.print(
        f"\nRead chapters/{exercise.about['chapter']}, edit {file}, then: minicompiler learn check"
    )


@app.command()
def check(name: Name = "") -> None:
    """Judge your answer. Status 0: passed."""
    space = Workspace.here()
    exercise = space.at(name)
    if not judged(space, exercise).passed:
        raise typer.Exit(1)


def judged(space: Workspace, exercise: Exercise) -> Verdict:
    if not space.file(exercise).exists():
        raise leave(f"{exercise.name} is not begun: minicompiler learn next {exercise.name}")
    verdict = grade(exercise, space.file(exercise).read_text())
    if verdict.passed:
        space.remember(passed=space.state["passed"] | {exercise.name: exercise.hash})
        out.print(f"[bold green]passed[/] {exercise.name}. Now: minicompiler learn next")
    else:
        out.print(f"[bold red]not yet[/] {exercise.name}, {verdict.share:.0%} of the way\n")
        out.print(verdict.message, markup=False)
    return verdict


@app.command()
def watch(name: Name = "") -> None:
    """Judge again whenever you save; until it passes."""
    import watchfiles

    space = Workspace.here()
    exercise = space.at(name)
    if judged(space, exercise).passed:
        return
    for _ in watchfiles.watch(space.file(exercise)):
        out.rule()
        if judged(space, exercise).passed:
            return


@app.command()
def hint(name: Name = "") -> None:
    """One more of the three hints."""
    space = Workspace.here()
    exercise = space.at(name)
    shown = min(space.state["hints"].get(exercise.name, 0) + 1, len(exercise.hints))
    space.remember(hints=space.state["hints"] | {exercise.name: shown})
    for n, text in enumerate(exercise.hints[:shown], 1):
        out.print(f"{n}. {text.strip()}", markup=False)


@app.command()
def solution(name: Name = "") -> None:
    """The reference, once you passed."""
    space = Workspace.here()
    exercise = space.at(name)
    if exercise.name not in space.state["passed"]:
        raise leave("after you passed; until then: minicompiler learn hint")
    out.print(exercise.reference, markup=False)


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
    file.write_text(exercise.stub)


def pieces(space: Workspace) -> list[tuple[Exercise, str]]:
    """Passed answers that replace something, those whose piece has changed since told."""
    found = []
    for e in exercises():
        if (then := space.state["passed"].get(e.name)) is None or not e.symbols:
            continue
        if then != e.hash:
            out.print(f"{e.name}: the piece has changed since you passed; check it again")
        found.append((e, space.file(e).read_text()))
    return found


@app.command()
def mine() -> None:
    """The house, and which of its pieces are yours."""
    space = Workspace.here()
    yours = {e.name for e, _ in pieces(space)}
    out.print(house(), markup=False)
    for e in exercises():
        for symbol in e.symbols:
            out.print(f"{'yours' if e.name in yours else 'reference':10} {symbol}", markup=False)


@app.command("run")
def run_(
    what: Annotated[str, typer.Argument(help="tour, or a file of yours")] = "tour",
    arguments: Annotated[list[str] | None, typer.Argument(help="for it")] = None,
) -> None:
    """Run the tour, or a file, with all your passed pieces in the compiler at once."""
    space = Workspace.here()
    with tempfile.TemporaryDirectory() as folder:
        where = build(Path(folder), pieces(space))
        program = (
            ["-m", "minicompiler.tools.tour"] if what == "tour" else [str(Path(what).resolve())]
        )
        environment = os.environ | {"PYTHONPATH": str(where)}
        command = [sys.executable, "-P", *program, *(arguments or [])]
        raise typer.Exit(subprocess.run(command, env=environment).returncode)


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

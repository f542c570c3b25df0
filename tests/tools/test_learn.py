"""minicompiler learn: exercises are sound, and the judge cannot be fooled."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from minicompiler.tools.learn import clinic, grading, workspace
from minicompiler.tools.learn.exercise import exercises, named
from minicompiler.tools.learn.grading import grade
from minicompiler.tools.learn.workspace import Workspace
from minicompiler.tools.source import ROOT

PIECE = "03_unpack"
HEAD = "def UNPACK_EX(f, inst):\n    "
SOURCE = named(PIECE).places[0][0]
CHEATS = {
    "ends its process": "import os\nos._exit(0)\n",
    "ends it when asked": f"{HEAD}import os; os._exit(0)\n",
    "reads the reference": f"exec(open({str(SOURCE)!r}).read())\n",
    "imports the reference": f"""
import sys
sys.path.insert(0, {str(SOURCE.parents[2])!r})
for name in [n for n in sys.modules if n.startswith("minicompiler")]:
    del sys.modules[name]
from minicompiler.capture.opcodes import UNPACK_EX
""",
    "uses another compiler": f"import torch._dynamo\n{HEAD}pass\n",
    "runs the program as it is": f"""
import minicompiler
minicompiler.compile = lambda f, **options: f
{HEAD}pass
""",
    "leaves the program to Python": f"{HEAD}import minicompiler.capture.values as v; v.refuse('')",
    "changes what observes": f"""
import sys
for module in list(sys.modules.values()):
    for name in ("observe", "nodes", "encode"):
        if hasattr(module, name):
            setattr(module, name, lambda *given, **named: [])
{HEAD}pass
""",
    "answers by itself": f"""
import os
for pipe in range(3, 20):
    try:
        os.write(pipe, b'{{"done": [1, 1, 1]}}\\n' * 20)
    except OSError:
        pass
{HEAD}pass
""",
    "never ends": "while True:\n    pass\n",
    "is no Python": "def UNPACK_EX(",
    "is empty": "",
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "SECONDS", 15)
    verdict = grade(named(PIECE), CHEATS[name])
    assert not verdict.passed and verdict.message


def sizes() -> list[Any]:
    """A property is judged by eleven builds of the compiler, each answer to it: minutes."""
    slow = {"property": pytest.mark.slow}
    return [pytest.param(e.name, marks=slow.get(e.kind, ())) for e in exercises()]


@pytest.mark.parametrize("name", sizes())
def test_exercises_are_sound(name: str) -> None:
    result = CliRunner().invoke(workspace.app, ["selftest", "--only", name])
    assert result.exit_code == 0, result.output


def learn(*words: str) -> Any:
    done = CliRunner().invoke(workspace.app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace, and the current folder."""
    monkeypatch.chdir(tmp_path)
    assert learn("start", "mine").exit_code == 0
    monkeypatch.chdir(tmp_path / "mine")
    return Workspace.around()


def test_a_learner_passes_an_exercise(mine: Workspace) -> None:
    assert PIECE in learn("list").output
    assert learn("next", PIECE).exit_code == 0
    assert learn("solution").exit_code == 2  # not before it is passed
    assert learn("check").exit_code == 1
    assert "taken one by one" in learn("hint").output
    Path(f"{PIECE}.py").write_text(named(PIECE).reference)
    assert learn("check").exit_code == 0
    assert "UNPACK_EX" in learn("solution").output
    assert "yours" in learn("mine").output
    assert learn("doctor").exit_code == 0
    learn("reset")
    assert "03_unpack.py has changed since you passed" in learn("mine").output
    assert Path(f"{PIECE}.1.py").read_text() == named(PIECE).reference
    assert learn("list").output.count("passed") == 1


# ---------------------------------------------------------------------------------- learn run tour
STARS = [e.name for e in exercises() if e.about.get("star")]
SHORT = ["--steps", "2", "--batch", "8", "--wanted", "0"]


def train(mine: Workspace, answers: dict[str, str], *arguments: str) -> tuple[int, str]:
    """`learn run tour` with these answers of a learner's in the compiler."""
    for name, answer in answers.items():
        mine.file(named(name)).write_text(answer)
        mine.passes(named(name), answer)
    program = "from minicompiler.tools.cli import main; main()"
    command = [sys.executable, "-c", program, "learn", "run", "tour", "--"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, cwd=mine.folder, env=environment
    )
    return done.returncode, done.stdout + done.stderr


def asked(said: str) -> dict[str, int]:
    found = re.findall(r"yours: (\w+) was asked ([\d,]+) times", said)
    return {name: int(times.replace(",", "")) for name, times in found}


@pytest.mark.parametrize("names", [STARS, *([name] for name in STARS)], ids="+".join)
def test_the_tour_trains_with_what_is_the_learners(mine: Workspace, names: list[str]) -> None:
    code, said = train(mine, {name: named(name).reference for name in names}, *SHORT)
    assert code == 0, said
    assert "2 frames, 2 graphs, 1 breaks" in said and "0 operators left to torch" in said
    assert set(asked(said)) == set(names) and all(asked(said).values())


@pytest.mark.slow
def test_the_whole_tour_with_all_that_is_the_learners(mine: Workspace) -> None:
    code, said = train(mine, {name: named(name).reference for name in STARS})
    assert code == 0, said
    assert all(asked(said)[name] for name in STARS)


def test_it_is_the_learners_code_that_runs(mine: Workspace) -> None:
    said = train(mine, {"05_resume": named("05_resume").stub}, *SHORT)[1]
    assert "2 graphs, 0 breaks" in said and asked(said)["05_resume"]  # it raises: nothing is cut


def test_a_file_of_the_learners_runs(mine: Workspace) -> None:
    program = mine.folder / "program.py"
    program.write_text("import minicompiler\nprint(minicompiler.__file__)\n")
    (mine.folder / f"{PIECE}.py").write_text(named(PIECE).reference)
    mine.passes(named(PIECE), named(PIECE).reference)
    (mine.folder / f"{PIECE}.py").write_text("changed since")
    done = learn("run", str(program))
    assert done.exit_code == 0 and f"{PIECE}.py has changed" in done.output


# ------------------------------------------------------------------------------------- learn doctor
def advice(monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """What the doctor says of the workspace; the machine is well."""
    monkeypatch.setattr(clinic, "judge", lambda: (clinic.OK, "", ""))
    done = learn("doctor")
    return done.exit_code, done.output


def test_the_doctor_sees_what_has_changed(mine: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    piece, bug = named(PIECE), named("04_zero")
    for e in (piece, bug):
        assert learn("next", e.name).exit_code == 0
    mine.file(piece).write_text(piece.reference)
    mine.passes(piece, piece.reference)
    assert advice(monkeypatch)[0] == 0
    old = {"passed": {PIECE: "of old"}, "seen": {PIECE: "def UNPACK_EX(old):\n", "04_zero": "old"}}
    mine.remember(**old)
    code, said = advice(monkeypatch)
    assert code == 0 and "-def UNPACK_EX(old):" in said and "+def UNPACK_EX(f" in said
    assert f"minicompiler learn check {PIECE}" in said
    assert "minicompiler learn reset 04_zero (it keeps your file)" in said
    assert bug.reference not in said
    mine.passes(piece, piece.reference)
    mine.file(piece).write_text("pass")
    assert f"{PIECE}.py is not what you passed" in advice(monkeypatch)[1]
    mine.file(piece).unlink()
    code, said = advice(monkeypatch)
    assert code == 1 and f"FAIL  {PIECE}.py is gone" in said
    mine.remember(passed={"00_gone": ""})
    assert "does not have: 00_gone" in advice(monkeypatch)[1]


@pytest.mark.parametrize(
    "state, told",
    [("{", "cannot be read"), ("[]", "cannot be read"), ('{"version": 99}', "of a newer")],
)
def test_a_broken_state_loses_nothing(
    mine: Workspace, monkeypatch: pytest.MonkeyPatch, state: str, told: str
) -> None:
    Path(".learn.json").write_text(state)
    code, said = advice(monkeypatch)
    assert code == 1 and told in said and "mend it with" in said
    done = learn("next")
    assert done.exit_code == 2 and told in done.output
    assert Path(".learn.json").read_text() == state


def test_the_doctor_sees_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minicompiler.capture import frame_hook

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clinic, "find_spec", lambda name: None)
    monkeypatch.setattr(frame_hook, "unavailable", "never built")
    code, said = advice(monkeypatch)
    assert code == 1
    assert "FAIL  no frame hook (never built)" in said and "make setup" in said
    assert "pip install 'minicompiler[learn]'" in said
    assert "FAIL  no workspace here\n      mend it with: minicompiler learn start DIR" in said


def test_the_doctor_tries_the_judge(mine: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clinic, "build", lambda folder, pieces: folder)
    said = learn("doctor")
    assert said.exit_code == 1 and "FAIL  the judge's process does not work" in said.output


@pytest.mark.parametrize(
    "name, told",
    [("03", "03_jumps or"), ("03_unpak", "mean 03_unpack"), ("unpack", "mean"), ("?", "list")],
)
def test_a_near_name_is_suggested(mine: Workspace, name: str, told: str) -> None:
    done = learn("next", name)
    assert done.exit_code == 2 and told in done.output

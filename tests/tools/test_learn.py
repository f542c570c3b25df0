"""minicompiler learn: exercises are sound, and the judge cannot be fooled."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from minicompiler.tools.learn import grading, workspace
from minicompiler.tools.learn.exercise import exercises, named
from minicompiler.tools.learn.grading import grade

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


def test_a_learner_passes_an_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = lambda *words: CliRunner().invoke(workspace.app, list(words))  # noqa: E731
    monkeypatch.chdir(tmp_path)
    assert learn("list").exit_code == 2  # no workspace
    assert learn("start", "mine").exit_code == 0
    monkeypatch.chdir(tmp_path / "mine")
    assert PIECE in learn("list").output
    assert learn("next", PIECE).exit_code == 0
    assert learn("solution").exit_code == 2  # not before it is passed
    assert learn("check").exit_code == 1
    assert "taken one by one" in learn("hint").output
    Path(f"{PIECE}.py").write_text(named(PIECE).reference)
    assert learn("check").exit_code == 0
    assert "UNPACK_EX" in learn("solution").output
    assert "yours" in learn("mine").output
    learn("reset")
    assert Path(f"{PIECE}.1.py").read_text() == named(PIECE).reference
    assert learn("list").output.count("passed") == 1

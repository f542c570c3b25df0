"""The book: its shape, and that every quote and every output in it is what it would be today."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*/README.md"))
TEXTS = [*CHAPTERS, *sorted((ROOT / "chapters").glob("primers/*.md"))]
SHAPE = """Where we are, The problem, The smallest version, Predict, run, explain, Exercises,
The real code, Try to break it, Measure it, Misconceptions, What PyTorch does differently"""
SHAPE = re.sub(r",\s+(?=[A-Z])", "\n", SHAPE).split("\n")
COG = re.compile(r"<!-- \[\[\[cog.*?<!-- \[\[\[end\]\]\] -->", re.DOTALL)
WRITTEN_ON = (3, 11), "2.13"  # Python and torch whose outputs the text shows
on_each = pytest.mark.parametrize("path", TEXTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
of_chapters = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.parent.name)


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def filled(path: Path) -> str:
    """In a process of its own: names in generated code depend on what ran before."""
    command = [sys.executable, "-m", "cogapp", "-p", "from minicompiler.tools.book import *"]
    return subprocess.run(
        [*command, str(path.relative_to(ROOT))],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


@on_each
def test_quotes_and_outputs_are_those_of_today(path: Path) -> None:
    now, text = filled(path), path.read_text()
    if (sys.version_info[:2], torch.__version__[:4]) == WRITTEN_ON:
        assert now == text, "make book writes the chapters anew"
    # what depends on the Python has a fold for each: that of this one is the same
    fold = re.compile(
        r"<summary>Python {}\.{}</summary>.*?</details>".format(*sys.version_info), re.DOTALL
    )
    assert fold.findall(now) == fold.findall(text), "make book writes the chapters anew"


@of_chapters
def test_the_shape_of_a_chapter(path: Path) -> None:
    text = path.read_text()
    found = sections(text)
    tour = path.parent.name.startswith("00")
    assert tour or list(found) == SHAPE
    minutes = re.search(r"Before this:.*?(\d+) minutes", text, re.DOTALL)
    assert minutes and int(minutes[1]) <= 45
    words = re.sub(r"```.*?```", "", COG.sub("", text), flags=re.DOTALL).split()
    assert len(words) <= 3_500
    assert tour or len(re.findall(r"^\*\*\d+\. ", found["Predict, run, explain"], re.M)) >= 5
    claims = re.findall(r'^> \*\*".*?"\*\*', found["Misconceptions"], re.MULTILINE | re.DOTALL)
    runs = re.findall(r"^\[`|^<details>", found["Misconceptions"], re.MULTILINE)
    assert len(claims) >= 3 and len(runs) >= len(claims), "each misconception has a run"


@of_chapters
def test_the_smallest_version_is_small(path: Path) -> None:
    for file in path.parent.glob("smallest*.py"):
        lines = [line for line in file.read_text().splitlines() if line.strip()]
        assert 15 <= len(lines) <= 60, file


def test_the_running_example_is_short() -> None:
    lines = (ROOT / "chapters" / "running.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 30


def pieces() -> dict[str, str]:
    """`file:symbol` -> the exercise that asks for it."""
    found = {}
    for file in sorted((ROOT / "exercises").glob("*/exercise.toml")):
        symbols = tomllib.loads(file.read_text()).get("symbol", ())
        for symbol in [symbols] if isinstance(symbols, str) else symbols:
            found[symbol] = file.parent.name
    return found


@on_each
def test_answers_are_folded_and_nothing_else_is(path: Path) -> None:
    """What an exercise asks for stands behind a headline that says which."""
    asked = pieces()
    asked["minicompiler/capture/resume.py:_head"] = "05_resume"  # its answer, in a part of its own
    quoted = re.findall(r'\bquote\(\s*"([^"]+)"(?:,\s*folded="([^"]*)")?', path.read_text())
    for place, headline in quoted:
        inside = {asked[s] for s in asked if s == place or re.match(re.escape(place) + "[.:]", s)}
        known = re.match(r"after you tried (\w+): `", headline)
        assert inside == ({known[1]} if known else set()), f"{place} is the answer to {inside}"


def test_no_question_gives_an_exercise_away() -> None:
    """What 04_zero is about is found by trying."""
    before = sections((ROOT / "chapters" / "04_guards" / "README.md").read_text())
    assert "-0.0" not in before["Predict, run, explain"]


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "chapters/04_guards/predict.py", "nothing"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'chapters'}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "there is no 'nothing' here; there are " in done.stderr
    assert "never_the_same" in done.stderr and "Traceback" not in done.stderr


def test_the_stated_commands_print() -> None:
    text = (ROOT / "chapters" / "README.md").read_text()
    commands = re.findall(r"^PYTHONPATH=chapters .venv/bin/python (.*)$", text, re.MULTILINE)
    told = [
        subprocess.run(
            [sys.executable, *command.split()],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'chapters'}:{ROOT}"},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout
        for command in commands
    ]
    assert told[0].startswith("compiling f for int\n") and told[1:] == ["# generators\n['f']\n\n"]
    for name in "predict", "misconceptions":
        for path in (ROOT / "chapters").glob(f"*/{name}.py"):
            assert "tell(__file__)" in path.read_text(), path

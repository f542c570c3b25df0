"""The line counter counts what a reader has to read, and the tree is within its ceilings."""

from pathlib import Path

import pytest

import minicompiler
from minicompiler.tools import budget

PYTHON = [
    ("x = 1\n", 1),
    ("\n\nx = 1\n\n", 1),
    ("# only a comment\nx = 1  # and one beside code\n", 1),
    ('"""A docstring\nof two lines."""\nx = 1\n', 1),
    ('def f():\n    """Says what."""\n    return 1\n', 2),
    ('class C:\n    """Says\n    what."""\n\n    x: int\n', 2),
    ('async def f():\n    """Says what."""\n', 1),
    ('T = """\n#include\n\nint x;\n"""\n', 5),  # a template counts whole
    ('f("""a\nb""")\n', 2),
    ("x = [\n    1,\n\n    # why\n    2,\n]\n", 4),
    ("x = 1; y = 2\n", 1),
    ("x = \\\n    1\n", 2),
    ('"""only\na docstring"""\n', 0),
    ("", 0),
    ("def f(): ...\n", 1),
    ('x = 1\n"""a string that documents nothing"""\n', 2),
]


@pytest.mark.parametrize("source, lines", PYTHON)
def test_python(source, lines):
    assert budget.python_lines(source) == lines


C = [
    ("int x;\n", 1),
    ("\n  \nint x;\n", 1),
    ("// only a comment\nint x;  // beside code\n", 1),
    ("/* one */\nint x; /* two */\n", 1),
    ("/* over\n   two lines */ int x;\nint y;\n", 2),
    ("/* a\n\n b */\n", 0),
    ('char *s = "/* no comment";\nint y;\n', 2),
    ('char *s = "\\"//";\n', 1),
    ("char c = '\"'; // \" stays open\nint y;\n", 2),
    ("// runs on \\\nto here\nint x;\n", 1),
    ("#define A \\\n  1\n", 2),
    ("}\n", 1),
]


@pytest.mark.parametrize("source, lines", C)
def test_c(source, lines):
    assert budget.c_lines(source) == lines


def test_faults_are_found(tmp_path: Path):
    (tmp_path / "ir").mkdir()
    (tmp_path / "attic").mkdir()
    (tmp_path / "ir" / "long.py").write_text("x = 1\n" * (budget.FILE + 1))
    (tmp_path / "ir" / "wide.cpp").write_text("int x;" + " " * 95 + "\n")
    (tmp_path / "attic" / "new.py").write_text("x = 1\n")
    over = budget.COMPILER["root"] + 1
    (tmp_path / "api.py").write_text("x = 1\n" * over)
    lines, faults = budget.check(tmp_path)
    assert lines["ir"] == budget.FILE + 2 and lines["root"] == over
    assert len(faults) == 4
    said = "\n".join(faults)
    assert "long.py: 601 lines" in said
    assert "wide.cpp:1: 101 columns" in said
    assert "attic has no ceiling" in said
    assert f"root: {over} lines, the ceiling is {over - 1}" in said


def test_the_compiler_may_have_15000_lines():
    assert sum(budget.COMPILER.values()) <= 15_000


def test_this_tree_is_within_its_budget():
    _, faults = budget.check(Path(minicompiler.__file__).parent)
    assert not faults

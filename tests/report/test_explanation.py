"""Every stage of one call: as text, in a terminal, in a notebook, and from the shell."""

import html.parser
import io
import linecache
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

import minicompiler
from minicompiler.report import Explanation
from minicompiler.report.explanation import FRONT, ORDER
from minicompiler.settings import overriding
from minicompiler.tools import explaining
from minicompiler.tools.cli import app

from .programs import PROGRAMS, raises, straight

SOURCE = """
import torch

def f(x):
    y = torch.softmax(x, -1)
    if y.sum() > 100:
        return y
    return (y * y).sum()

example_inputs = torch.randn(3, 5, requires_grad=True),
"""


def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x, -1)
    if y.sum() > 100:
        return y
    return (y * y).sum()


def test_every_stage_has_something_to_say() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    told = minicompiler.explain(f, x).then(torch.randn(4, 5, requires_grad=True))
    assert x.grad is None
    silent = [name for name in ORDER if not getattr(told, name)]
    assert silent in ([], ["fusion"])  # fusion speaks of what was refused
    assert "branches on the value of a tensor" in told.breaks
    assert "backward" in told.partition and "float32[3, 5]" in told.loops
    assert 'extern "C"' in told.kernels and "def call(args)" in told.wrapper
    with pytest.raises(AttributeError, match="the stages are"):
        told.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("{file}:f", ""),
        ("{file}:g", "no function 'g'"),
        ("none.py:f", "no file"),
        ("x", "say FILE"),
    ],
)
def test_from_the_shell(tmp_path: Path, target: str, message: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    done = CliRunner().invoke(app, ["explain", target.format(file=file)])
    assert done.exit_code == (2 if message else 0), done.output
    assert message in done.output
    if not message:
        assert "-------- joint --------" in done.output


@pytest.mark.parametrize("command", ["explain", "bisect"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--args", "1, 2"], "f does not take 2 arguments (too many positional arguments)"),
        (["--args", "'x'"], "f raised TypeError"),
    ],
)
def test_arguments_that_do_not_fit(
    tmp_path: Path, command: str, arguments: list[str], message: str
) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    done = CliRunner().invoke(app, [command, f"{file}:f", *arguments])
    assert done.exit_code == 2 and message in done.output, done.output
    assert len(done.output.splitlines()) == 1
    if "raised" in message:
        assert done.output.endswith(f"({file}:5)\n")


def test_what_is_compiled_already_is_explained_as_the_original() -> None:
    x = torch.randn(3, 5)
    compiled, module = minicompiler.compile(f), minicompiler.compile(torch.nn.Softmax(-1))
    for _ in range(2):  # also when there is nothing left to compile for it
        assert "float32[3, 5]" in minicompiler.explain(compiled, x).loops
        assert "float32[3, 5]" in minicompiler.explain(module, x).loops
        compiled(x), module(x)
    assert minicompiler.bisect(module, x) is None
    assert "no frame" in minicompiler.explain(minicompiler.disable(f), x).graph


# ------------------------------------------------------------------ the front half, of any program


def captured(name: str) -> Explanation:
    with overriding({"stop_after": "capture"}):
        return minicompiler.explain(*PROGRAMS[name]())


class Reader(html.parser.HTMLParser):
    """What a browser would show, and whether every element is closed where it should be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert "script" not in self.open
        self.text += data


def in_terminal(told: Any, width: int, **environment: str) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=True,
        color_system="truecolor",
        _environ={"TERM": "xterm", **environment},
    )
    console.print(told)
    return console.file.getvalue()  # type: ignore[attr-defined]


def bare(text: str) -> str:
    """Without colours and white space, so that it does not matter where lines are wrapped."""
    return re.sub(r"\x1b\[[\d;]*m|\s", "", text)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_reading_of_every_program_shows_the_line_of_each_break(program: str) -> None:
    told = captured(program)
    whys = [w for r in told.records for w in r.whys if "refusal" in w.data]
    places = [w.data["refusal"].where.rpartition(" in ")[0].rpartition(":") for w in whys]
    lines = [linecache.getline(file, int(number)).strip() for file, _, number in places]
    for name in (*ORDER, ""):
        shown: Any = getattr(told, name) if name else told
        readings = [str(shown), Reader(shown._repr_html_()).text]
        readings += [in_terminal(shown, width) for width in (100, 80, 40)]
        if name in ("", "breaks"):
            for reading in map(bare, readings):
                assert all(bare(line) in reading for line in lines)
        for text, width in zip(readings[2:], (100, 80, 40)):
            plain = re.sub(r"\x1b\[[\d;]*m", "", text)
            assert max(map(len, plain.splitlines()), default=0) <= width
        assert bare(readings[0]) == "" or name == "timing" or bare(readings[1])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_frame_is_compiled_or_says_why_not(program: str) -> None:
    told = captured(program)
    for record in told.records:
        left = [w for w in record.whys if w.verdict == "left to Python"]
        assert bool(left) != bool(record.counts["frames"])
    if not told.records:
        assert "no frame was compiled" in str(told) and "no frame" in told.breaks


@pytest.mark.parametrize("program", PROGRAMS)
def test_resume_functions_are_those_that_run(program: str) -> None:
    told = captured(program)
    announced = set(re.findall(r"(\S+_resume_\d+)\(", told.resume))
    ran = {r.name for r in told.records if re.search(r"_resume_\d+$", r.name)}
    assert ran <= announced
    then = set(re.findall(r"^then +(\S+)", told.breaks, re.MULTILINE))
    assert announced == {name.partition("(")[0] for name in then} - {"Python,"}


def test_where_nothing_goes_on_that_is_said() -> None:
    assert "then        Python, to the end of the function" in captured("loop_to_the_end").breaks
    left = captured("first_turn_apart").breaks.split("left to Python: ")[1]
    assert left.startswith("branches on the value of a tensor\n  at ") and "instead: use" in left


def test_places_below_the_working_directory_are_told_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(__file__).parent
    monkeypatch.chdir(folder)
    told = captured("first_turn_apart").breaks
    assert "at programs.py:" in told and str(folder) not in told


def test_long_lines_of_graphs_are_folded() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    told = minicompiler.explain(f, x)
    for text in (told.joint, told.partition):
        assert text and max(map(len, text.splitlines())) <= 100


def test_bytecode_is_beside_what_replaces_it() -> None:
    told = captured("straight").bytecode
    assert re.search(r"LOAD_FAST .* x  .*before = ", told) or "def replacement(L_x, L_k)" in told
    assert "return (x + k).relu()" in told
    assert "replacement" not in captured("names").bytecode
    assert captured("library").bytecode


def test_of_a_resume_function_only_what_can_run_is_listed() -> None:
    told = captured("in_a_call").resume
    first = told.split("\n\n")[1]
    assert "stack_0" in first and "return branch(x * 3) - 1" in first
    assert "CALL" not in first and "LOAD_GLOBAL" not in first  # these ran before the break
    assert "y = x + 1" not in told


def test_a_graph_has_shapes_and_lines() -> None:
    rows = captured("branch").graph.splitlines()
    assert re.search(r"l__x +input x +float32\[4\]", rows[2])
    assert re.search(
        r"add +add\(l__x, 1\) +float32\[4\] +programs.py:\d+ in branch:  y = x", rows[3]
    )
    assert re.search(r"sum_1 +sum\(add\) +float32\[\] +programs.py", rows[4])


def test_guards_say_what_where_and_why() -> None:
    told = captured("straight").guards
    assert re.search(r"^x +float32\[4\] on cpu, strides \(1,\) +what was compiled is", told, re.M)
    assert re.search(r"^k +2 +a constant", told, re.M)
    assert "programs.py" in told and "return (x + k).relu()" in told and "GRAD_MODE True" in told
    hooked = captured("hooked").guards
    assert re.search(r"^module\[0\]\._forward_hooks +keys \[\d+\] +hooks run around", hooked, re.M)
    assert not re.search(r"[LCG]\['|cell\['", hooked)


def test_a_second_call_says_which_guard_failed() -> None:
    with overriding({"stop_after": "capture"}):
        told = minicompiler.explain(straight, torch.ones(4))
        assert not told.recompiles
        told.then(torch.ones(8))
        told.then(torch.ones(8), k=3)
    first, second = told.recompiles.split("\n\n")
    assert re.search(r"guard +x\nexpected +size \(4,\)\nfound +size \(8,\)\nassumed .*relu", first)
    assert re.search(r"guard +k\nexpected +2\nfound +3\nassumed .*return \(x \+ k\)", second)


def test_what_the_function_raises_passes_through() -> None:
    with pytest.raises(KeyError, match="<b>"):
        minicompiler.explain(raises, torch.ones(4))
    with pytest.raises(TypeError, match="missing 1 required"):
        minicompiler.explain(straight)
    with pytest.raises(minicompiler.UserError, match="takes a function"):
        minicompiler.explain(3)  # type: ignore[arg-type]


def test_stages_are_strings_and_are_offered_for_completion() -> None:
    told = captured("branch")
    assert isinstance(told.guards, str) and told.guards.splitlines() and repr(told.graph)[0] == "-"
    assert set(ORDER) <= set(dir(told)) and set(FRONT) <= set(ORDER)
    assert repr(told) == str(told)


def test_colours_only_where_they_are_wanted() -> None:
    told = captured("branch")
    colour = r"\x1b\[[\d;]*[39]\d"
    assert "\x1b" not in str(told)
    assert re.search(colour, in_terminal(told, 80))
    assert not re.search(colour, in_terminal(told, 80, NO_COLOR="1"))


@pytest.mark.parametrize("terminal", [True, False])
def test_the_shell_looks_where_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    out = io.StringIO()
    out.isatty = lambda: terminal  # type: ignore[method-assign]
    for name, value in dict(TERM="xterm-256color", COLUMNS="72").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout", out)
    with overriding({"stop_after": "capture"}):
        assert explaining.show(f"{file}:f", "", "torch.ones(2, 5)", "") == 0
    text = out.getvalue()
    assert ("\x1b[" in text) == terminal
    assert "found" in bare(text) and "branchesonthevalue" in bare(text)


def test_a_stage_that_does_not_exist_is_said_before_anything_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["explain", "none.py:f", "--stage", "nonsense"])
    assert done.exit_code == 2 and "the stages are bytecode, graph, guards" in done.output
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    done = CliRunner().invoke(app, ["explain", f"{file}:f", "--stage", "recompiles"])
    assert done.exit_code == 0 and "recompiles: nothing" in done.output and "--then" in done.output


@pytest.mark.slow
def test_in_a_notebook() -> None:
    """In a kernel: the user's lines are those of the cell, and what is shown is HTML."""
    client = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    source = """
import torch, minicompiler
def f(x):
    y = x + 1
    if y.sum() > 0:  # <b>&amp;
        y = y * 2
    return y
told = minicompiler.explain(f, torch.ones(3))
told.breaks"""
    cells = [nbformat.v4.new_code_cell(text) for text in (source, "told", "print(told.graph)")]
    book = nbformat.v4.new_notebook(cells=cells)
    client.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    breaks, whole, printed = (cell.outputs[-1] for cell in book.cells)
    line = "if y.sum() > 0:  # <b>&amp;"
    assert line in Reader(breaks.data["text/html"]).text and line in breaks.data["text/plain"]
    assert "def replacement(L_x)" in Reader(whole.data["text/html"]).text
    assert "in f:  y = x + 1" in printed.text and "<table>" not in printed.text

"""minicompiler learn: exercises are sound, and the judge cannot be fooled."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from minicompiler.tools.learn import clinic, grading, workspace
from minicompiler.tools.learn.build import build
from minicompiler.tools.learn.exercise import exercises, named
from minicompiler.tools.learn.grading import grade
from minicompiler.tools.learn.workspace import Workspace
from minicompiler.tools.source import ROOT, house

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


TAKE = """
import ast, os, sys
import minicompiler.capture.opcodes as here

def take(text):
    for node in ast.parse(text).body:
        if getattr(node, "name", "") == "UNPACK_EX":
            exec(compile(ast.Module([node], []), "copied", "exec"), vars(here))
    globals()["UNPACK_EX"] = here.UNPACK_EX

"""
GETS = {  # ways to the reference, each of which would pass
    "by a relative name": f"os.chdir({str(SOURCE.parent)!r})\ntake(open('opcodes.py').read())",
    "by a name in bytes": f"take(open({os.fsencode(SOURCE)!r}).read())",
    "by another name": f"take(open('/proc/self/root{SOURCE}').read())",
    "by a link": f"os.symlink({str(SOURCE)!r}, 'copy')\ntake(open('copy').read())",
    "by a name that lies": f"""
class Name(str):
    startswith = __eq__ = lambda *given: False
    __hash__ = str.__hash__
take(open(Name({str(SOURCE)!r})).read())""",
    "from its folder": f"""
folder = os.open({str(SOURCE.parent)!r}, os.O_RDONLY)
take(open(os.open('opcodes.py', os.O_RDONLY, dir_fd=folder)).read())""",
    "with nobody watching": f"""
for name in "watch", "watcher", "isinstance":
    setattr(sys.modules["__main__"], name, lambda *given: False)
take(open({str(SOURCE)!r}).read())""",
    "with other builtins": f"""
import builtins, posix
os.stat = posix.stat = lambda *given: os.lstat("/")
old, builtins.isinstance = isinstance, lambda *given: False
try:
    text = open({str(SOURCE)!r}).read()
finally:
    builtins.isinstance = old
take(text)""",
    "by a program": f"""
import subprocess
take(subprocess.run(["cat", {str(SOURCE)!r}], capture_output=True, text=True).stdout)""",
    "by a shell": f"os.system('cat {SOURCE} > copy')\ntake(open('copy').read())",
    "by a fork": f"""
there, here_ = os.pipe()
if not os.fork():
    os.dup2(here_, 1)
    os.execv("/bin/cat", ["cat", {str(SOURCE)!r}])
os.close(here_)
take(open(there).read())""",
    "by C": f"""
import ctypes
take(open(ctypes.CDLL(None).open({os.fsencode(SOURCE)!r}, 0)).read())""",
    "by a fork in C": """
import _posixsubprocess, subprocess
_posixsubprocess.fork_exec([], [b"/bin/true"], True, (), None, None, *[-1] * 8, False, False)""",
}
CHEATS |= {f"gets the reference {way}": f"{TAKE}{text}\n" for way, text in GETS.items()}
CHEATS |= {
    "imports another compiler by the library": f"""
import importlib, minicompiler
importlib.import_module("torch._dynamo")
minicompiler.compile = lambda f, **options: torch.compile(f, **options)
{HEAD}pass""",
    "traces by another way": """
import sys, torch
def UNPACK_EX(f, inst):
    frame = sys._getframe()
    while frame.f_code.co_name != "program":
        frame = frame.f_back
    me, main = frame.f_locals["self"], sys.modules["__main__"]
    def traced(f):
        return lambda x, items: me.backend(torch.fx.symbolic_trace(lambda x: f(x, items)), [])(x)
    def work(source, calls):
        space = main.module(source)
        return main.observe(space, traced(space["f"]), calls)
    me.say(done=work(frame.f_locals["source"], frame.f_locals["calls"]))
    for line in me.answers:
        me.say(done=work(**main.json.loads(line)["with"]))
""",
    "ends the server": f"{HEAD}import os; os.kill(os.getppid(), 9)",
    "ends the server by another way": f"""
import os, signal
{HEAD}signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)
""",
    "says too much": f"import sys\n{HEAD}[sys.stdout.write('noise ' * 1000) for _ in iter(int, 1)]",
    "takes all memory": f"{HEAD}x = [bytearray(1 << 30) for _ in iter(int, 1)]",
    "leaves lines that nobody can read": """
import os
for pipe in range(3, 20):
    try:
        os.write(pipe, b"[" * 100000 + b"\\n{}\\n")
    except OSError:
        pass
""",
    "has a zero byte": "x = '\0'",
    "is deep": "(" * 10000,
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "SECONDS", 15)
    verdict = grade(named(PIECE), CHEATS[name])
    assert not verdict.passed and verdict.message


@pytest.mark.parametrize(
    "graph",
    [
        ["call_function", "torch.load", ["FILE"], {"weights_only": False}],
        ["call_method", "__reduce_ex__", [2], {}],
        ["call_function", "builtins.getattr", ["FILE", "__class__"], {}],
        ["call_function", "operator.attrgetter", ["__class__"], {}],
        ["call_function", "torch.save", [1, "FILE"], {}],
    ],
    ids=lambda graph: graph[1],
)
def test_the_judge_runs_operators_only(tmp_path: Path, graph: list[Any]) -> None:
    """What a graph calls is run by the judge: with `load` it would run anything."""
    op, target, args, given = graph
    args = [str(tmp_path / "evil") if a == "FILE" else a for a in args]
    rows = [
        ["a", op, target, {"list": args}, {"dict": [[k, v] for k, v in given.items()]}],
        ["output", "output", "output", {"list": [{"node": "a"}]}, {"dict": []}],
    ]
    with pytest.raises(grading.Failed, match="which (is no operator|no tensor has)"):
        grading.interpret(rows, [])
    assert not any(tmp_path.iterdir())


def test_an_answer_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "cases.py"
    said = grade(named(PIECE), f"open({str(file)!r}, 'w')").message
    assert not file.exists() and "cannot be written here: print what you want to see" in said


PROPERTY = "01_frozen"
FOOLING = {
    "counts the builds": "assert not os.path.exists({flag!r}) and os.mkdir({flag!r})",
    "knows the compiler by its text": """
    text = b"".join(p.read_bytes() for p in sorted(folder.rglob("*.py")) if "mine" not in p.parts)
    assert hashlib.sha256(text).hexdigest() == {right!r}, "another one"
""",
}


@pytest.mark.parametrize("name", FOOLING)
def test_a_property_looks_at_what_a_compiler_does(tmp_path: Path, name: str) -> None:
    where = build(tmp_path / "right", []) / "minicompiler"
    texts = [p.read_bytes() for p in sorted(where.rglob("*.py")) if "mine" not in p.parts]
    known = {"flag": str(tmp_path / "flag"), "right": hashlib.sha256(b"".join(texts)).hexdigest()}
    answer = f"""
import hashlib, os, pathlib, minicompiler
def check(compile, rng):
    folder = pathlib.Path(minicompiler.__file__).parent
    {FOOLING[name].strip().format(**known)}
"""
    verdict = grade(named(PROPERTY), answer)
    assert not verdict.passed and "the compiler as it is does not pass" in verdict.message


@pytest.mark.parametrize(
    "text", ["", "ANSWERS = [1]", "ANSWERS = {[]}", "ANSWERS: dict = {}", "ANSWERS = f()"]
)
def test_predictions_are_read(text: str) -> None:
    said = grade(named("05_counts"), text)
    assert not said.passed and ("say what you think" in said.message or "a dict" in said.message)


@pytest.mark.parametrize("name", [e.name for e in exercises()])
def test_exercises_are_sound(name: str) -> None:
    done = learn("selftest", "--json", "--only", name)
    report = json.loads(done.stdout)[name]
    assert done.exit_code == 0 and report["ok"], report
    assert report["wrong"] >= 3


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


@pytest.mark.parametrize("name", [e.name for e in exercises()])
def test_a_message_names_a_section_of_the_chapter(name: str) -> None:
    file, _, anchor = grading.chapter(named(name)).removeprefix("Read again: ").partition("#")
    headings = re.findall(r"^##+ (.*)", (ROOT / file).read_text(), re.M)
    assert anchor in [re.sub(r"[^\w\- ]", "", h).lower().replace(" ", "-") for h in headings]


# ---------------------------------------------------------------------------------------- mishaps
def command(mine: Workspace, *words: str, **environment: str) -> subprocess.Popen[str]:
    program = "from minicompiler.tools.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, "learn", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=mine.folder,
        text=True,
    )


def test_an_interrupt_loses_nothing(mine: Workspace) -> None:
    learn("next", PIECE)
    state = (mine.folder / ".learn.json").read_text()
    answer = f"print('here', flush=True)\n{HEAD}while True: pass"
    mine.file(named(PIECE)).write_text(answer)
    running = command(mine, "check")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    while not children.exists() or not children.read_text():  # the server of the judge has started
        assert running.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode and "Traceback" not in said, said
    assert mine.file(named(PIECE)).read_text() == answer
    assert (mine.folder / ".learn.json").read_text() == state


def test_watching_sees_what_an_editor_saves(mine: Workspace) -> None:
    pytest.importorskip("watchfiles")
    learn("next", PIECE)
    running = command(mine, "watch", PYTHONUNBUFFERED="1")
    assert running.stdout is not None
    for line in running.stdout:  # the stub was judged
        if line.startswith("Read again"):
            break
    time.sleep(1)
    new = mine.folder / "new.tmp"
    new.write_text(named(PIECE).reference)
    new.replace(mine.file(named(PIECE)))  # as many editors do
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 0 and f"passed {PIECE}" in said


def test_a_workspace_may_be_moved_and_copied(mine: Workspace, monkeypatch: Any) -> None:
    mine.passes(named(PIECE), named(PIECE).reference)
    mine.file(named(PIECE)).write_text(named(PIECE).reference)
    copy = mine.folder.parent / "copy"
    shutil.copytree(mine.folder, copy)
    mine.folder.rename(mine.folder.with_name("moved"))
    for folder in copy, mine.folder.with_name("moved"):
        monkeypatch.chdir(folder)
        assert f"yours      {named(PIECE).symbols[0]}" in learn("mine").output
    learn("next", "04_zero")  # in one of the two
    monkeypatch.chdir(copy)
    assert not (copy / "04_zero.py").exists() and "at hand" not in learn("list").output


def test_a_narrow_terminal_without_colours(mine: Workspace) -> None:
    said, _ = command(mine, "list", COLUMNS="40", NO_COLOR="1").communicate(timeout=60)
    assert "\x1b" not in said and all(e.name in said for e in exercises())


def test_mine_is_as_wide_as_it_is(mine: Workspace) -> None:
    said, _ = command(mine, "mine", COLUMNS="40").communicate(timeout=60)
    lines = said.splitlines()
    assert all(f"reference  {s}" in lines for e in exercises() for s in e.symbols)
    assert house().splitlines()[0] in lines


@pytest.mark.parametrize(
    "name, whose", [("02_dispatch", "the reference's"), ("03_unpack", "eager's")]
)
def test_it_is_said_whose_the_right_value_is(name: str, whose: str) -> None:
    wrong = {"02_dispatch": "asks_again", "03_unpack": "tuple_"}[name]
    (answer,) = (answer for which, answer, _ in named(name).wrong() if which == wrong)
    assert f"and {whose} is" in grade(named(name), answer).message


def test_what_an_answer_prints_is_told(mine: Workspace) -> None:
    learn("next", PIECE)
    mine.file(named(PIECE)).write_text(f"{HEAD}print('items:', f.stack[-1]); f.nonsense")
    said = learn("check").output
    assert "compiling it failed with AttributeError: 'Frame' object has no attribute" in said
    assert "your process printed, at the end:\n  items: " in said


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
    found = re.findall(r"yours: (\w+) answered ([\d,]+) times", said)
    return {name: int(times.replace(",", "")) for name, times in found}


@pytest.mark.parametrize("names", [STARS, *([name] for name in STARS)], ids="+".join)
def test_the_tour_trains_with_what_is_the_learners(mine: Workspace, names: list[str]) -> None:
    code, said = train(mine, {name: named(name).reference for name in names}, *SHORT)
    assert code == 0, said
    assert "2 frames, 2 graphs, 1 breaks" in said and "0 operators left to torch" in said
    assert re.search(r"\b[1-9]\d* guards", said)  # counted, whoever dispatches
    assert set(asked(said)) == set(names) and all(asked(said).values())


@pytest.mark.slow
def test_the_whole_tour_with_all_that_is_the_learners(mine: Workspace) -> None:
    code, said = train(mine, {name: named(name).reference for name in STARS})
    assert code == 0, said
    assert all(asked(said)[name] for name in STARS)


def test_it_is_the_learners_code_that_runs(mine: Workspace) -> None:
    code, said = train(mine, {"05_resume": named("05_resume").stub}, *SHORT)
    assert "2 graphs, 0 breaks" in said  # it raises: nothing is cut
    assert not asked(said)["05_resume"]
    assert code == 1 and re.search(r"05_resume raised \d+ times.*: NotImplementedError: ", said)


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
    assert "warn  no workspace here\n      mend it with: minicompiler learn start DIR" in said


def test_the_doctor_tries_the_judge(mine: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clinic, "build", lambda folder, pieces: folder)
    said = learn("doctor")
    assert said.exit_code == 1 and "FAIL  the judge's process does not work" in said.output


@pytest.mark.parametrize(
    "name, told",
    [("03", "03_jumps"), ("03_unpak", "mean 03_unpack"), ("unpack", "mean"), ("?", "list")],
)
def test_a_near_name_is_suggested(mine: Workspace, name: str, told: str) -> None:
    done = learn("next", name)
    assert done.exit_code == 2 and told in done.output

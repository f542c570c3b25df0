"""A copy of the compiler in which pieces are cut out and call the learner's instead."""

import ast
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

import minicompiler

from ..source import ROOT, span_of
from .exercise import Exercise

PACKAGE = Path(minicompiler.__file__).parent
# environment: a file that gets, at the end, how often each piece answered, and what each raised
RAN = "MINICOMPILER_RAN"
COUNTING = f'''"""The learner's pieces, how often each answered, and what each raised."""
import atexit, collections, json, os, pathlib
answered, raised = collections.Counter(), collections.defaultdict(collections.Counter)

def asked(name, piece, args, named):
    try:
        result = piece(*args, **named)
    except Exception as error:  # the compiler's own are answers; others count where they arise
        home = type(error).__module__ + "."
        ours = home.startswith("minicompiler.") and not home.startswith("minicompiler.mine.")
        if not ours and not hasattr(error, "arose"):
            error.arose = name
            raised[name][f"{{type(error).__name__}}: {{error}}".splitlines()[0]] += 1
        raise
    answered[name] += 1
    return result

if {RAN!r} in os.environ:
    told = pathlib.Path(os.environ[{RAN!r}])
    atexit.register(lambda: told.write_text(json.dumps([answered, raised])))
'''


def build(
    into: Path, pieces: Sequence[tuple[Exercise, str]], faults: Sequence[dict[str, str]] = ()
) -> Path:
    """`into`/minicompiler, with each exercise's symbols replaced by the learner's text for it, and
    with planted faults (`file`, `old`, `new`). Returns the folder to be put on PYTHONPATH."""
    without = shutil.ignore_patterns("__pycache__", "learn")
    shutil.copytree(PACKAGE, into / "minicompiler", ignore=without)
    mine = into / "minicompiler" / "mine"
    mine.mkdir()
    (mine / "__init__.py").write_text(COUNTING)
    for exercise, text in pieces:
        module = f"exercise_{exercise.name}"
        (mine / f"{module}.py").write_text(text)
        for path, symbol in exercise.places:
            file = into / path.relative_to(ROOT)
            file.write_text(cut(file.read_text(), symbol, module))
    for fault in faults:
        file = into / fault["file"]
        text = file.read_text()
        if text.count(fault["old"]) != 1:
            raise LookupError(f"{fault['file']} has not one {fault['old']!r}")
        file.write_text(text.replace(fault["old"], fault["new"]))
    return into


def cut(text: str, symbol: str, module: str) -> str:
    """The text without the body of a function: it calls the one of that name in `module`."""
    node, _ = span_of(text, symbol)
    assert isinstance(node, ast.FunctionDef)
    name = node.name
    body = f"""\
        from minicompiler.mine import asked
        from minicompiler.mine.{module} import {name} as mine

        return asked("{module.removeprefix("exercise_")}", mine, args, named)
        """
    lines = text.splitlines()
    indent = " " * node.col_offset
    head = f"{indent}def {name}(*args, **named):  # yours"
    body = textwrap.indent(textwrap.dedent(body), indent + "    ")
    lines[node.lineno - 1 : node.end_lineno] = [head, *body.splitlines()]
    return "\n".join(lines) + "\n"


def disguised(text: str) -> str:
    """The same program, in other words."""
    tree, (more,) = ast.parse(text), ast.parse("_nothing = ()").body
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(ast.get_docstring(node) is not None, more)
    return ast.unparse(ast.fix_missing_locations(tree))

"""`make budget`: code lines by folder against the ceilings that keep this compiler small.

Python: a line counts when it holds a token, so no blanks, comments or docstrings, while a
multi-line string that is code or a template counts whole. C and C++: every line that is not
blank and not only comment. A ceiling is raised only by lowering another.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

COMPILER = {
    "root": 462,
    "capture": 5421,
    "symbolic": 1206,
    "aot": 1176,
    "decompositions": 697,
    "ir": 892,
    "lowering": 1074,
    "schedule": 947,
    "codegen": 1575,
    "runtime": 1550,
    "reserve": 0,  # freed, for stages to come
}
BESIDES = {"report": 913, "tools": 2287}
FILE, COLUMNS = 600, 100
C_LIKE = {".c", ".cc", ".cpp", ".cu", ".h", ".hpp"}  # templates of generated C++ are .cpp too
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
# a string or character literal, or a comment: whichever begins first wins
C_LEXEME = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//(?:\\\n|[^\n])*|/\*.*?\*/', re.DOTALL
)


def docstring_lines(source: str) -> set[int]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def python_lines(source: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(source))


def c_lines(source: str) -> int:
    def blank(match: re.Match[str]) -> str:
        text = match.group()
        return "\n" * text.count("\n") if text[:2] in ("//", "/*") else text

    return sum(bool(line.strip()) for line in C_LEXEME.sub(blank, source).splitlines())


def count(path: Path) -> int:
    source = path.read_text(encoding="utf-8")
    return python_lines(source) if path.suffix == ".py" else c_lines(source)


def sources(package: Path) -> Iterator[tuple[str, Path]]:
    """Every counted file with the folder it belongs to."""
    for path in sorted(package.rglob("*")):
        if path.suffix == ".py" or path.suffix in C_LIKE:
            parts = path.relative_to(package).parts
            yield parts[0] if len(parts) > 1 else "root", path


def check(package: Path) -> tuple[dict[str, int], list[str]]:
    """Lines by folder, and every rule that is broken."""
    lines = dict.fromkeys(COMPILER | BESIDES, 0)
    faults = []
    for folder, path in sources(package):
        n = count(path)
        if folder not in lines:
            faults.append(f"{path}: the folder {folder} has no ceiling")
        lines[folder] = lines.get(folder, 0) + n
        if n > FILE:
            faults.append(f"{path}: {n} lines, a file may have {FILE}")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS:
                faults.append(f"{path}:{number}: {len(line)} columns, {COLUMNS} are allowed")
    for folder, ceiling in (COMPILER | BESIDES).items():
        if lines[folder] > ceiling:
            faults.append(f"{folder}: {lines[folder]} lines, the ceiling is {ceiling}")
    return lines, faults


def main() -> int:
    lines, faults = check(Path(__file__).resolve().parents[1])
    for folder, ceiling in COMPILER.items():
        print(f"{folder:16}{lines[folder]:7,}{ceiling:8,}")
    print(f"{'the compiler':16}{sum(lines[f] for f in COMPILER):7,}{sum(COMPILER.values()):8,}")
    for folder, ceiling in BESIDES.items():
        print(f"{folder:16}{lines[folder]:7,}{ceiling:8,}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

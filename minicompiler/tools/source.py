"""Where a symbol of the repository stands: what the book quotes and what an exercise cuts out."""

import ast
import re
from pathlib import Path
from typing import Any

import minicompiler

ROOT = Path(minicompiler.__file__).parents[1]


def source_of(path: Path, symbol: str, docstring: bool = True) -> tuple[int, str]:
    """First line and text of a class, function, method or assignment; without a symbol, all.
    Raises LookupError."""
    text = path.read_text()
    if not symbol:
        return 1, text.strip()
    if path.suffix != ".py":  # a function of C ends with the first brace in column 0
        found = re.search(rf"^\w[^\n;{{}}]*\b{symbol}\([^;{{]*{{.*?^}}", text, re.M | re.S)
        if found is None:
            raise LookupError(f"{path} has no function {symbol}")
        return text[: found.start()].count("\n") + 1, found[0]
    node, taken = span_of(text, symbol)
    lines = text.splitlines()
    first = taken[0]
    if not docstring and ast.get_docstring(node) is not None:
        said = node.body[0]
        blank = not lines[said.end_lineno].strip()
        taken = [n for n in taken if not said.lineno <= n <= said.end_lineno + blank]
    indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    return first, "\n".join(lines[n - 1][indent:] for n in taken)


def span_of(text: str, symbol: str) -> tuple[Any, list[int]]:
    """The node of a dotted name in Python source, and its lines, decorators first."""
    node: Any = ast.parse(text)
    for name in symbol.split("."):
        node = next((n for n in node.body if name in names_of(n)), None)
        if node is None:
            raise LookupError(f"no {symbol} here")
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return node, list(range(first, node.end_lineno + 1))


def names_of(node: ast.stmt) -> list[str]:
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [getattr(node, "name", ""), *(t.id for t in targets if isinstance(t, ast.Name))]


def house(stage: str = "") -> str:
    """The drawing of the README, with an arrow at one stage."""
    drawing = re.search(
        r"## The house.*?```\n(.*?)\n for every", (ROOT / "README.md").read_text(), re.S
    )
    if drawing is None or f"├─ {stage}" not in drawing[1]:
        raise LookupError(f"the README draws no stage {stage!r}")
    lit = drawing[1].replace(f"├─ {stage} ", f"├▶ {stage.upper()} ") if stage else drawing[1]
    return lit.rstrip()

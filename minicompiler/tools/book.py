"""What the chapters are filled with: code by symbol, and what it prints when it runs.

Called from comments of the text that cog expands, so neither code nor output is copied by hand:

    <!-- [[[cog quote("minicompiler/capture/cache.py:Cache") ]]] -->
    <!-- [[[end]]] -->

`make book` writes them all anew, the tests compare. A path with a folder is the repository's, one
without is the chapter's own.
"""

import contextlib
import dis
import importlib.util
import io
import json
import os
import re
import runpy
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cog
import torch

import minicompiler

from . import source
from .source import ROOT, source_of

LANGUAGES = {".py": "python", ".c": "c", ".cpp": "cpp", ".h": "cpp"}


def quote(place: str, folded: str = "") -> None:
    """The source of `file:symbol` and where it stands; behind a headline where `folded` is one."""
    path, symbol = locate(place)
    _, text = source_of(path, symbol)
    link = os.path.relpath(path, chapter().parent)
    shown = f"[`{path.relative_to(ROOT)}`]({link})\n\n{fence(text, LANGUAGES[path.suffix])}"
    cog.outl(details(folded, shown) if folded else shown)


def run(place: str, needs: str = "") -> None:
    """A file of the chapter, or one symbol of it, and what the file prints: where a package of
    `needs` is missing, what it printed on a machine that has it."""
    path, _ = locate(place)
    quote(place)
    if all(map(importlib.util.find_spec, needs.split())):
        told = fence(printed(lambda: execute(path, "__main__")), "text")
    else:
        told = re.findall(r"```text\n.*?\n```", cog.previous, re.S)[-1]
    cog.outl(f"\nprints\n\n{told}")


def show(place: str) -> None:
    """What a function of the chapter prints, without its text."""
    path, symbol = locate(place)
    cog.outl(fence(printed(execute(path, "book")[symbol]), "text"))


def predict(place: str, question: str) -> None:
    """A question about a function; folded, what the function prints, and its docstring: why."""
    path, symbol = locate(place)
    answer = execute(path, "book")[symbol]
    _, text = source_of(path, symbol, docstring=False)
    why = re.sub(r"\s*\n\s*", " ", answer.__doc__.strip())
    shown = f"{fence(printed(answer), 'text')}\n\n{why}"
    cog.outl(f"**{question}**\n\n{fence(text, 'python')}\n\n{details('Run it', shown)}")


def bytecode(place: str) -> None:
    """The disassembly of a function, folded, one for each Python; those of the others stay."""
    path, symbol = locate(place)
    known = re.findall(
        r"<summary>(Python [\d.]+)</summary>\n\n(.*?)\n\n</details>", cog.previous, re.S
    )
    code = execute(path, "book")[symbol].__code__
    this = "Python {}.{}".format(*sys.version_info)
    versions = dict(known) | {this: fence(printed(lambda: dis.dis(code)), "text")}
    cog.outl("\n\n".join(details(name, versions[name]) for name in sorted(versions)))


def house(stage: str) -> None:
    """The drawing of the README, with an arrow at one stage."""
    cog.outl(fence(source.house(stage), "text"))


def pytorch(*rows: tuple[str, str, str]) -> None:
    """A table of (ours, `module:symbol` of the installed torch, what is different there)."""
    cog.outl("| here | in PyTorch | there |\n| --- | --- | --- |")
    for ours, place, difference in rows:
        module, _, symbol = place.partition(":")
        found: Any = importlib.import_module(module)
        for name in symbol.split("."):
            found = getattr(found, name)
        file = getattr(sys.modules[module], "__file__", None) or module
        file = re.sub(r".*/(?=torch/)|\.cpython.*", "", file)
        cog.outl(f"| `{ours}` | `{file}`, `{symbol}` | {difference} |")


def measured(file: str) -> None:
    """A committed measurement: docs/measurements/FILE, which says how and where it was made."""
    known = json.loads((ROOT / "docs" / "measurements" / file).read_text())
    head = known["columns"]
    rows = [" | ".join(map(str, row)) for row in (head, ["---"] * len(head), *known["rows"])]
    cog.outl("\n".join(f"| {row} |" for row in rows))
    cog.outl(f"\n{known['what']} ({known['machine']}; {known['versions']}; {known['command']})")


def chapter() -> Path:
    """The text that is being filled."""
    return Path(ROOT / cog.inFile).resolve()


def locate(place: str) -> tuple[Path, str]:
    file, _, symbol = place.partition(":")
    path = ROOT / file if "/" in file else chapter().parent / file
    if not path.is_file():
        raise FileNotFoundError(f"{cog.inFile} names {file}, which is not there")
    return path, symbol


def execute(path: Path, name: str) -> dict[str, Any]:
    """Run a file as if nothing had run before; its names."""
    minicompiler.reset()
    torch.compiler.reset()
    torch.manual_seed(0)
    sys.path[:0] = [str(path.parent), str(ROOT / "chapters")]
    known = set(sys.modules)
    try:
        return runpy.run_path(str(path), run_name=name)
    finally:
        del sys.path[:2]
        for new in set(sys.modules) - known:  # another chapter may have a file of that name
            if str(getattr(sys.modules[new], "__file__", "")).startswith(str(ROOT / "chapters")):
                del sys.modules[new]


def printed(call: Callable[[], Any]) -> str:
    """What a call prints and warns of, without addresses and without the folder it ran in."""
    text = io.StringIO()
    with (
        contextlib.redirect_stdout(text),
        contextlib.redirect_stderr(text),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: print(f"warning: {message}")
        call()
    told = re.sub(r"\b0x[0-9a-f]{6,}", "0x...", text.getvalue())
    return told.replace(f"{ROOT}/", "").rstrip()


def fence(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def details(summary: str, text: str) -> str:
    summary = re.sub("`(.*?)`", r"<code>\1</code>", summary)  # in HTML, Markdown reads no code
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"

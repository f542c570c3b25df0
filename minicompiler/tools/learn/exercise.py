"""What an exercise is: a folder in exercises/ with a text, a stub, cases and wrong answers."""

import difflib
import hashlib
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..source import ROOT, source_of

FOLDER = ROOT / "exercises"
SIZES = ("10 min", "1 h", "a day")
KINDS = ("piece", "bug", "property", "predict")


@dataclass(frozen=True)
class Exercise:
    name: str  # of its folder, and of the learner's file
    about: dict[str, Any]

    title = property(lambda self: str(self.about["title"]))
    kind = property(lambda self: str(self.about["kind"]))
    hints = property(lambda self: list(self.about["hints"]))

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def stub(self) -> str:
        return Path(self.folder / "stub.py").read_text()

    @property
    def reference(self) -> str:
        """An answer that passes: the compiler's own piece in the stub, or the exercise's own."""
        own = self.folder / "answer.py"
        if own.exists():
            return own.read_text()
        texts = [source_of(*place)[1] for place in self.places]
        heads = [f"def {symbol.rpartition('.')[2]}(" for _, symbol in self.places]
        before, _, _ = self.stub.partition(heads[0])
        return before + "\n\n\n".join(t[t.index(h) :] for t, h in zip(texts, heads)) + "\n"

    @property
    def symbols(self) -> list[str]:
        """FILE:NAME of what is cut out; several belong together."""
        said = self.about.get("symbol", [])
        return [said] if isinstance(said, str) else list(said)

    @property
    def places(self) -> list[tuple[Path, str]]:
        """File and symbol of each."""
        found = (symbol.partition(":") for symbol in self.symbols)
        return [(ROOT / file, name) for file, _, name in found]

    @cached_property
    def cases(self) -> dict[str, Any]:
        return runpy.run_path(str(self.folder / "cases.py"))

    def wrong(self) -> Iterator[tuple[str, str, str]]:
        """(name, answer, what its message must say): one for each misconception, without those
        that are right, or taught otherwise, on this Python."""
        for path in sorted((self.folder / "wrong").glob("*.py")):
            text = path.read_text()
            found = re.match(r"# teaches(?:, until 3\.(\d+))?: (.*)", text)
            assert found is not None, path
            if sys.version_info <= (3, int(found[1] or 99), 99):
                yield path.stem, text, found[2]

    @property
    def piece(self) -> str:
        """The compiler's own text of what is cut out."""
        return "".join(source_of(*place)[1] for place in self.places)

    @property
    def hash(self) -> str:
        """Of the piece: another one means that text, hints and wrong answers need another look."""
        return digest(self.piece) if self.symbols else ""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def exercises() -> list[Exercise]:
    """All of them, in the order of the book, of each chapter the short ones first."""
    folders = sorted(path.parent for path in FOLDER.glob("*/exercise.toml"))
    found = [Exercise(f.name, tomllib.loads((f / "exercise.toml").read_text())) for f in folders]
    return sorted(found, key=lambda e: (e.about["chapter"], SIZES.index(e.about["size"])))


def named(name: str) -> Exercise:
    """By its name, or the part before the first _ if that is enough. Raises LookupError."""
    known = {e.name: e for e in exercises()}
    found = [n for n in known if n == name] or [n for n in known if n.startswith(f"{name}_")]
    if len(found) == 1:
        return known[found[0]]
    near = found or difflib.get_close_matches(name, known, cutoff=0.6)
    near = near or [n for n in known if n.partition("_")[2] in name]
    meant = f"did you mean {' or '.join(near)}?" if near else "minicompiler learn list"
    raise LookupError(f"there is no exercise {name!r}", meant)

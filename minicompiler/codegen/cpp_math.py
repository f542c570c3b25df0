"""The functions of math.cpp: a kernel's text holds those that it needs."""

import re
from functools import cache
from pathlib import Path


@cache
def _blocks() -> list[tuple[frozenset[str], str, frozenset[str]]]:
    """Blocks of math.cpp in order: the names each defines, its text, the names it mentions."""
    text = (Path(__file__).parent / "math.cpp").read_text(encoding="utf-8")
    found = []
    for block in text.split("\n\n")[1:]:
        code = re.sub(r"//.*", "", block)
        names = re.findall(r"^(?:template.*?> )?static inline \S+(?: \S+)? (\w+)\(", code, re.M)
        names += re.findall(r"\bstruct (\w+)", code) + re.findall(r"^typedef .*?(\w+);", code, re.M)
        found.append((frozenset(names), block, frozenset(re.findall(r"\w+", code))))
    return found


def with_math(text: str) -> str:
    """`text` after the functions that it needs."""
    wanted = set(re.findall(r"\w+", text))
    needed: list[str] = []
    for names, block, mentions in reversed(_blocks()):
        if names & wanted:
            wanted |= mentions
            needed.append(block.strip("\n"))
    return "\n\n".join([*reversed(needed), text])

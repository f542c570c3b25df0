"""Every relative link of every text leads somewhere on the code host, as does every anchor."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
TRACKED = set(
    subprocess.run(
        ["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
)
FOLDERS = {str(parent) for name in TRACKED for parent in Path(name).parents}
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
on_each_text = pytest.mark.parametrize("name", sorted(n for n in TRACKED if n.endswith(".md")))


def tokens(name: str) -> list[Token]:
    found: list[Token] = []
    for token in MARKDOWN.parse((ROOT / name).read_text()):
        found += [token, *(token.children or ())]
    return found


def anchors(name: str) -> set[str]:
    """The ids that the code host gives to headings, or to lines of source."""
    if not name.endswith(".md"):
        return {f"L{n + 1}" for n in range((ROOT / name).read_text().count("\n"))}
    blocks = MARKDOWN.parse((ROOT / name).read_text())
    seen: Counter[str] = Counter()
    found = set()
    for opening, inline in zip(blocks, blocks[1:]):
        if opening.type == "heading_open":
            shown = [t for t in inline.children or () if t.type in ("text", "code_inline")]
            text = "".join(t.content for t in shown).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


@on_each_text
def test_links_and_anchors(name: str) -> None:
    targets = [t.attrGet("href") or t.attrGet("src") for t in tokens(name)]
    wrong = []
    for target in filter(None, targets):
        path, _, anchor = unquote(str(target)).partition("#")
        if re.match(r"\w+:", path):
            continue
        file = os.path.normpath(Path(name).parent / path) if path else name
        if file not in TRACKED | FOLDERS or (anchor and anchor not in anchors(file)):
            wrong.append(target)
    assert not wrong


@on_each_text
def test_no_markdown_within_html(name: str) -> None:
    """A headline of a fold is HTML, where the code host shows backticks as they are."""
    summaries = re.findall(r"^<summary>(.*)</summary>$", (ROOT / name).read_text(), re.M)
    assert not [text for text in summaries if re.search(r"`|\*\*", text)]

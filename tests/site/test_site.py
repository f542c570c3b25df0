"""The built site says what the code host shows, and all its links lead somewhere."""

import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / "README.md", *ROOT.glob("chapters/**/*.md"), *ROOT.glob("docs/*.md")]
TEXTS = [path for path in TEXTS if path.name != "api.md"]  # which is filled from docstrings
BYTECODE = re.compile(r"<details>\n<summary>Python [\d.]+</summary>")
COMPARED = "h1 h2 h3 h4 p li table tr td pre blockquote details em strong".split()

pytestmark = pytest.mark.slow


def page_of(path: Path) -> str:
    name = str(path.relative_to(ROOT)).removesuffix(".md")
    return re.sub(r"README$", "index", name) + ".html"


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_has_what_its_text_has(pages, path):
    """Two readers of Markdown, as many paragraphs, lists, tables, ..."""
    text = path.read_text()
    html = MarkdownIt("commonmark").enable("table").render(text)
    there = Counter(re.findall(r"<(\w+)", re.sub(r"<!--.*?-->", "", html, flags=re.S)))
    there["details"] -= len(BYTECODE.findall(text))  # these are tabs
    here = Counter(pages[page_of(path)].tags)
    assert {tag: here[tag] for tag in COMPARED} == {tag: there[tag] for tag in COMPARED}


def test_links_and_anchors(site, pages):
    wrong = []
    for name, page in pages.items():
        for link in page.links + page.loaded:
            path, _, anchor = unquote(link).partition("#")
            if re.match(r"\w+:", path) or name == "404.html":
                continue
            file = os.path.normpath(Path(name).parent / path) if path else name
            lost = not (site / file).is_file()
            if lost or (anchor and anchor not in pages[file].ids):
                wrong.append((name, link))
    assert not wrong


def test_nothing_is_fetched_from_elsewhere(pages):
    fetched = {link for page in pages.values() for link in page.loaded if ":" in link}
    assert not fetched


def test_a_quote_leads_to_its_line(site):
    """A chapter's quote of a method, say, links to where it begins in the file."""
    html = (site / "chapters/03_symbolic_evaluation/index.html").read_text()
    lines = re.findall(r'href="([^"]*?)#__codelineno-0-(\d+)"><code>', html)
    assert len(lines) > 20
    source = ROOT / "minicompiler/capture/opcodes.py"
    there = [int(line) for path, line in lines if path.endswith("opcodes.py.html")]
    starts = [source.read_text().splitlines()[line - 1].strip() for line in there]
    assert starts and all(re.match(r"def |class |@|\w+.* = ", start) for start in starts), starts


def test_terms_are_explained_once_a_page(site):
    html = (site / "chapters/05_graph_breaks/index.html").read_text()
    term = r'<abbr tabindex="0" title="([^"]*)">[Gg]raph breaks?</abbr>'
    terms = re.findall(term, html)
    assert len(terms) == 1 and terms[0].startswith("The place where a graph ends")


def test_bytecode_has_a_tab_for_each_python(site):
    html = (site / "chapters/primers/P1_frames.html").read_text()
    labels = re.findall(r"<label[^>]*>(Python [\d.]+)</label>", html)
    assert labels == ["Python 3.11", "Python 3.12", "Python 3.13"] * 2

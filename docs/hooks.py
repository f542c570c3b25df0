"""The site is made of the texts of the repository where they lie, as the code host shows them.

Every page has the path of its text, so relative links hold in both places. What the host does and
mkdocs does not is done here: a link to a source file leads to a page that shows it, folded
bytecode becomes a tab for each Python, and the terms of the glossary are explained where they are
first used.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
TEXTS = ("*.md", "chapters/**/*.md", "docs/**/*.md", "exercises/*.md")
LANGUAGES = {".py": "python", ".c": "c", ".cpp": "cpp", ".toml": "toml", ".json": "json"}

FENCE = r"^(?P<fence>```+).*?^(?P=fence)$"
QUOTE = r"(?=\n\n```\w+\n(?P<quote>.*?)\n```$)?"  # the code that a chapter shows below its link
LINK = re.compile(rf"{FENCE}|\]\((?P<target>[^)#\s]+)(?P<anchor>#\w+)?\){QUOTE}", re.S | re.M)
FOLD = r"<details>\n<summary>(Python [\d.]+)</summary>\n\n((?:(?!</details>).)*?)\n\n</details>"
FOLDS = re.compile(rf"(?:{FOLD}\s*)+", re.S)
COG = re.compile(r"^<!-- \[\[\[(?:cog.*?\]\]\]|end\]\]\]) -->\n", re.S | re.M)
NAMED = re.compile(r"<(h\d|a)\b.*?</\1>", re.S)  # where a term is a name, or a link already
TERM = re.compile(r"<abbr[^>]*>(.*?)</abbr>", re.S)


def on_files(files: Files, config: Any) -> Files:
    """The texts under their paths in the repository, and a page for each file they link to."""
    for file in [f for f in files if f.src_dir == config.docs_dir]:
        files.remove(file)
        if not file.src_uri.endswith((".md", ".py")):  # style and scripts
            name, path = f"docs/{file.src_uri}", file.abs_src_path
            files.append(File.generated(config, name, abs_src_path=path))
    texts = sorted({path for pattern in TEXTS for path in ROOT.glob(pattern)})
    for path in texts:
        name = str(path.relative_to(ROOT))
        files.append(File.generated(config, name, abs_src_path=str(path)))
    linked = {file for path in texts for file in linked_from(path.read_text(), path.parent)}
    for path in sorted(linked):
        name = str(path.relative_to(ROOT))
        files.append(File.generated(config, f"{name}.md", content=shown(path, name)))
    return files


def linked_from(text: str, folder: Path) -> set[Path]:
    found = {source(folder, link["target"]) for link in LINK.finditer(text) if link["target"]}
    return {path for path in found if path}


def source(folder: Path, target: str) -> Path | None:
    """The file of the repository that is linked to, where it is no text."""
    path = Path(os.path.normpath(folder / target))
    known = path.is_file() and path.is_relative_to(ROOT) and path.suffix != ".md"
    return path if known else None


def shown(path: Path, name: str) -> str:
    head = f"---\ntitle: {path.name}\nsearch:\n  exclude: true\n---\n# `{name}`"
    fence = f'~~~~~~ {{.{LANGUAGES.get(path.suffix, "text")} linenums="1"}}'
    return f"{head}\n\n{fence}\n{path.read_text()}~~~~~~\n"


def on_page_markdown(text: str, page: Any, config: Any, files: Files) -> str:
    folder = (ROOT / page.file.src_uri).parent

    def led(link: re.Match[str]) -> str:
        path = source(folder, link["target"] or "")
        if path is None:
            return link[0]
        line = line_of(link["quote"], path) or (link["anchor"] or "").removeprefix("#L")
        return f"]({link['target']}.md{line and f'#__codelineno-0-{line}'})"

    def tabs(folds: re.Match[str]) -> str:
        each = re.findall(FOLD, folds[0], re.S)
        return "".join(f'=== "{name}"\n\n{indented(body)}\n\n' for name, body in each)

    text = FOLDS.sub(tabs, LINK.sub(led, COG.sub("", text)))
    text = text.replace("<details>", '<details markdown="1">')
    return text if page.file.src_uri == "docs/glossary.md" else f"{text}\n\n{glossary()}"


def line_of(quote: str | None, path: Path) -> str:
    """Where in the file a quoted symbol begins; it may be indented there."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    wanted = [line.strip() for line in (quote or "").splitlines()]
    starts = range(len(lines) - len(wanted) + 1 if wanted else 0)
    return next((str(n + 1) for n in starts if lines[n : n + len(wanted)] == wanted), "")


def indented(text: str) -> str:
    return re.sub(r"^(?=.)", "    ", text, flags=re.M)


def glossary() -> str:
    """The terms of docs/glossary.md, as abbreviations of Python-Markdown."""
    terms = re.findall(r"^### (.*)\n\n((?:.+\n)+)", (ROOT / "docs/glossary.md").read_text(), re.M)
    said = {}
    for term, meaning in terms:
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", " ".join(meaning.split()))
        for form in (term, f"{term}s", term[0].upper() + term[1:], f"{term[0].upper()}{term[1:]}s"):
            said.setdefault(form, plain)
    return "\n".join(f"*[{form}]: {plain}" for form, plain in said.items())


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """A term is explained where it is first used, by keyboard too; not in headings and links."""
    page.present_anchor_ids.update(re.findall(r'id="(__codelineno[\w-]*)"', html))
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        title = found[0].partition(">")[0]
        known = title in seen
        seen.add(title)
        return found[1] if known else found[0].replace("<abbr", '<abbr tabindex="0"', 1)

    return TERM.sub(first, NAMED.sub(lambda named: TERM.sub(r"\1", named[0]), html))

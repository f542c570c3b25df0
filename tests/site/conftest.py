"""The site, built once into a folder of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass
class Page(HTMLParser):
    """What the tests ask of a page: ids, addresses, and the elements of its text."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)  # a reader may follow them
    loaded: list[str] = field(default_factory=list)  # the browser fetches them
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.in_text = False
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.in_text |= tag == "article"
        if self.in_text:
            self.tags.append(tag)
        if given.get("id"):
            self.ids.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("link", "script", "img", "iframe"):
            self.loaded += filter(None, [given.get("src"), given.get("href")])

    def handle_endtag(self, tag: str) -> None:
        self.in_text &= tag != "article"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("material", "mkdocstrings_handlers"):
        pytest.importorskip(module, reason="`make test-site` installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 and "INFO" in done.stdout, done.stdout  # a quiet one lets all pass
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    return {str(p.relative_to(site)): Page(p) for p in sorted(site.rglob("*.html"))}

"""Each page in a real browser, opened from disk: narrow and wide, light and dark."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
LOOKS = [(width, scheme) for width in (360, 1440) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser():
    play = pytest.importorskip("playwright.sync_api", reason="`make test-site` installs it")
    if CHROMIUM is None:
        pytest.skip("there is no chromium here: apt install chromium")
    with play.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def opened(browser, site):
    """Opens pages by name; what the browser complains of is collected in `faults`."""
    contexts = []

    def new(width=1440, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        tab = context.new_page()
        tab.faults = []
        tab.on("console", lambda said: tab.faults.append(f"{tab.url}: {said.text}"))
        tab.on("pageerror", lambda error: tab.faults.append(f"{tab.url}: {error}"))
        tab.on("requestfailed", lambda asked: tab.faults.extend(failed(asked)))
        tab.on(
            "request",
            lambda asked: asked.url.startswith("http") and tab.faults.append(f"asks {asked.url}"),
        )
        tab.show = lambda name: tab.goto((site / name).as_uri())
        return tab

    yield new
    for context in contexts:
        context.close()


def failed(asked) -> list[str]:
    """Leaving a page ends what it still asks for."""
    return [] if asked.failure == "net::ERR_ABORTED" else [f"{asked.url}: {asked.failure}"]


def is_text(name: str) -> bool:
    """Not a page that shows a file of source, nor the one that servers show for lost pages."""
    return not Path(name).stem.endswith((".py", ".c", "404"))


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_pages_fit_and_complain_of_nothing(opened, pages, width, scheme):
    tab = opened(width, scheme)
    every = (width, scheme) == LOOKS[0]
    for name in pages.keys() - {"404.html"} if every else filter(is_text, pages):
        tab.show(name)
        wide = tab.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            tab.faults.append(f"{name} is {wide} pixels wide")
    assert not tab.faults


# what the theme does by itself, and no reader is hindered by
RULES = {name: {"enabled": False} for name in ("region", "landmark-unique")}


@pytest.mark.parametrize("width, scheme", LOOKS[1:3])
def test_accessible(opened, pages, width, scheme):
    """Contrast, names and roles, by the rules of axe."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    options = {"resultTypes": ["violations"], "preload": False, "rules": RULES}
    tab, found = opened(width, scheme), []
    for name in filter(is_text, pages):
        tab.show(name)
        for fault in axe.run(tab, options=options).response["violations"]:
            found += [f"{name}: {fault['help']}: {node['html'][:150]}" for node in fault["nodes"]]
    assert not found


def test_a_reader_chooses_a_python_once(opened):
    tab = opened()
    tab.show("chapters/05_graph_breaks/index.html")
    tab.locator(".tabbed-labels label", has_text="Python 3.12").first.click()
    chosen = ".tabbed-set > input:checked"
    here = tab.locator(chosen).evaluate_all(
        "all => all.map(i => document.querySelector(`label[for=${i.id}]`).innerText)"
    )
    assert here == ["Python 3.12"] * 3
    tab.show("chapters/primers/P1_frames.html")
    tab.wait_for_function(
        f"""() => [...document.querySelectorAll("{chosen}")].every(
            i => document.querySelector(`label[for=${{i.id}}]`).innerText == "Python 3.12")"""
    )
    assert not tab.faults


def test_search_from_disk(opened):
    tab = opened()
    tab.show("index.html")
    tab.keyboard.press("/")
    tab.keyboard.type("polyfill")
    results = tab.locator(".md-search-result__link")
    results.first.wait_for()
    found = results.evaluate_all("all => all.map(link => link.pathname)")
    assert any(path.endswith("03_symbolic_evaluation/index.html") for path in found)
    assert not tab.faults


def test_the_scheme_is_toggled(opened):
    tab = opened(scheme="light")
    tab.show("index.html")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    seen = [tab.evaluate(scheme)]
    for _ in range(2):
        tab.locator("label[for^=__palette]:visible").click()
        seen.append(tab.evaluate(scheme))
    assert seen == ["default", "default", "slate"]
    tab.show("docs/glossary.html")
    assert tab.evaluate(scheme) == "slate", "it is remembered"


def test_by_keyboard(opened):
    """A fold opens, a term is explained, wide code scrolls."""
    tab = opened(360)
    tab.show("chapters/03_symbolic_evaluation/index.html")
    tab.locator("summary").first.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("details").first.get_attribute("open") is not None
    tab.locator("abbr").first.focus()
    tab.locator(".md-tooltip2--active").wait_for()
    wide = """[...document.querySelectorAll("article pre code")].filter(
        code => code.scrollWidth > code.clientWidth && code.tabIndex < 0 && code.offsetParent)"""
    tab.wait_for_function(f"{wide}.length == 0")

"""What an explanation is made of, and its three readings: plain text, a terminal, a notebook.

In: blocks, small frozen records. Out: text of 100 columns (code stays as it is), what rich shows in
a terminal of any width, or HTML in the colours of the page around it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Code:
    text: str
    language: str = "text"  # as pygments knows it


@dataclass(frozen=True)
class Rows:
    """A table; of one cell, text that wraps. The first column names what the others tell."""

    rows: Sequence[tuple[str, ...]]
    head: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    title: str
    blocks: "Sequence[Block]"
    rule: str = "--------"


# two texts are side by side, or one under the other where that is too wide
Block: TypeAlias = Code | tuple[Code, Code] | Rows | Part


def as_text(block: Block) -> str:
    if isinstance(block, Code):
        return block.text.rstrip()
    if isinstance(block, Part):
        head = f"{block.rule} {block.title} {block.rule}\n"
        return head + "\n\n".join(map(as_text, block.blocks))
    from rich.console import Console

    paper = Console(width=100, color_system=None, force_jupyter=False, _environ={})
    with paper.capture() as text:
        paper.print(Rich(block))
    return "\n".join(line.rstrip() for line in text.get().rstrip().split("\n"))


@dataclass(frozen=True)
class Rich:
    """A block as rich asks for it: it says how much room there is."""

    block: Block

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich import columns, rule, syntax, table, text

        def cell(of: str, style: str = "") -> Any:
            return text.Text(of, style, overflow="fold")

        def code(of: Code) -> Any:
            return syntax.Syntax(of.text.rstrip(), of.language, theme="ansi_dark", word_wrap=True)

        match self.block:
            case Code():
                yield code(self.block)
            case (left, right):
                yield columns.Columns([code(left), code(right)], padding=(1, 4, 1, 0))
            case Rows(rows) if options.max_width < 60:  # cells one under the other
                yield from (cell("\n  ".join(filter(None, row))) for row in rows)
            case Rows(rows, head):
                grid = table.Table(*head, box=None, pad_edge=False, show_header=bool(head))
                for first, *rest in rows:
                    grid.add_row(cell(first, "bold"), *map(cell, rest))
                yield grid
            case Part(title, blocks, mark):
                yield rule.Rule(cell(title), align="left", characters=mark[0])
                for block in blocks:
                    yield from (Rich(block), "")


def as_html(block: Block) -> str:
    match block:
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case (left, right):
            return f'<div class="beside">{as_html(left)}{as_html(right)}</div>'
        case Rows(rows, head):
            lines = [("th", head)] * bool(head) + [("td", row) for row in rows]
            cells = [[f"<{tag}>{escape(cell)}</{tag}>" for cell in row] for tag, row in lines]
            return f"<table>{''.join('<tr>' + ''.join(row) + '</tr>' for row in cells)}</table>"
        case Part(title, blocks, _):
            inside = "".join(map(as_html, blocks))
            return f"<details open><summary>{escape(title)}</summary>{inside}</details>"


class Shown:
    """What has `blocks`, and shows them where it is looked at."""

    blocks: Sequence[Block]

    def __rich__(self) -> Any:  # asked before a string is taken for one
        from rich.console import Group

        return Group(*map(Rich, self.blocks))

    def _repr_html_(self) -> str:
        style = Path(__file__).with_name("page.css").read_text()
        inside = "".join(map(as_html, self.blocks))
        return f'<style>{style}</style><div class="minicompiler">{inside}</div>'


class Stage(Shown, str):
    """The text of one stage. It is a string, which shows itself in colours where there are some."""

    def __new__(cls, blocks: Sequence[Block]) -> "Stage":
        made = super().__new__(cls, "\n\n".join(map(as_text, blocks)))
        made.blocks = blocks
        return made

    __repr__ = str.__str__

"""Paths that tests write often."""

from minicompiler.capture.source import Item, OwnDict, Source


def attribute(of: Source, name: str) -> Item:
    """What the object's own dictionary holds."""
    return Item(OwnDict(of), name)


def part(module: Source, table: str, name: str) -> Item:
    """A submodule, parameter or buffer."""
    return Item(attribute(module, table), name)

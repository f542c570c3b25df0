"""PEP 523 from Python (under way)."""

from typing import Any

MISSING = object()


def own_dict(value: object) -> dict[str, Any]:
    found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    return found


def type_lookup(cls: type, name: str) -> object:
    for base in type.__dict__["__mro__"].__get__(cls):
        found = type.__dict__["__dict__"].__get__(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING

"""Something here takes two different constants for one. Find it by what the judge shows."""

import struct  # noqa: F401
from typing import Any

import torch

from minicompiler.capture.facts import ATOMS, NUMBERS, Pin


def signature(value: Any) -> Any:
    cls = type(value)
    if cls in (tuple, list, torch.Size):
        return cls, tuple(map(signature, value))
    if cls in (set, frozenset):
        return cls, frozenset(map(signature, value))
    if cls in (range, slice):
        return cls, tuple(map(signature, (value.start, value.stop, value.step)))
    if issubclass(cls, NUMBERS):
        return cls, value.tobytes()
    return (cls, value) if cls in (*ATOMS, float, complex) else (cls, Pin(value))

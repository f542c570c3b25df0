# teaches: made: 4 graphs: 4 x [operator.mul]
import torch

from minicompiler.capture.facts import ATOMS, Pin


def signature(value):
    cls = type(value)
    if cls in (tuple, list, torch.Size):
        return cls, tuple(map(signature, value))
    if cls in (set, frozenset):
        return cls, frozenset(map(signature, value))
    if cls in (range, slice):
        return cls, tuple(map(signature, (value.start, value.stop, value.step)))
    return (cls, value) if cls in ATOMS else (cls, Pin(value))

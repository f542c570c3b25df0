# teaches: A set with True is equal to one with 1
import struct

from minicompiler.capture.facts import ATOMS, Pin


def signature(value):
    if type(value) in (float, complex):
        return struct.pack("<dd", value.real, value.imag)
    if type(value) in (tuple, list, set, frozenset):
        return tuple(map(signature, value))
    return value if type(value) in ATOMS else Pin(value)

"""The frame hook as a `with` block, and what it says about itself."""

import contextlib
import ctypes
from types import FunctionType
from typing import NamedTuple
from weakref import ref

from minicompiler.capture import frame_hook

_c = frame_hook._c


class active(contextlib.AbstractContextManager):
    """On this thread, functions that start in the block are offered to `callback`."""

    def __init__(self, callback, region=None):
        self.to = callback, region

    def __enter__(self):
        if _c is not None:
            self.before = _c.enter(*self.to)

    def __exit__(self, *error):
        if _c is not None:
            _c.enter(*self.before)


def disabled():
    """Functions that start in the block run as Python would."""
    return active(None)


def forget(code):
    """As if the code had never been seen."""
    _c.set(code, 0, (), None)


class Entry(NamedTuple):
    region: object
    guards: tuple[object, ...]
    replacement: object


def entries(code):
    """What is recorded for the code, in the order in which it is tried."""
    flat = _c.set(code, -1, None) if _c is not None else ()
    return [Entry(*flat[i : i + 3]) for i in range(0, len(flat), 3)]


def record(code, guard, replacement, region=None, f_globals=None):
    """Adds an entry in front, or, if it always fits, behind those with a guard."""
    target = replacement() if isinstance(replacement, ref) else replacement
    if isinstance(target, FunctionType):
        frame_hook.skip(target.__code__)
    guards = () if guard is None else (guard,)
    entry, known = (region, guards, replacement), entries(code)
    frame_hook.replace(code, [*known, entry] if guard is None else [entry, *known], f_globals)


def evaluator():
    """The address of what evaluates frames now."""
    get = ctypes.pythonapi._PyInterpreterState_GetEvalFrameFunc
    get.argtypes, get.restype = [ctypes.c_void_p], ctypes.c_void_p
    ctypes.pythonapi.PyInterpreterState_Get.restype = ctypes.c_void_p
    return get(ctypes.pythonapi.PyInterpreterState_Get())


class Status(NamedTuple):
    installed: bool  # only while regions of some thread are on
    on: bool  # for this thread


def status():
    now = evaluator()
    before = _c.enter(None, None)
    _c.enter(*before)
    return Status(now == OURS, before[0] is not None)


OURS = frame_hook.run(lambda *frame: None, None, evaluator)
for function in (
    status,
    evaluator,
    active,
    disabled,
    active.__init__,
    active.__enter__,
    active.__exit__,
):
    if hasattr(function, "__code__"):
        frame_hook.skip(function.__code__)

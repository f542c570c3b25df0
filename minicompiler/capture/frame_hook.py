"""The frame hook from Python: when it is on, and what it knows about a code object.

    run(callback, region, f, x)     # callback(code, function, vector) -> None | replacement

The hook meets each plain Python function that starts in this call (with None as callback: none).
If an entry recorded for its code accepts the vector (arguments in localsplus order, then closure
cells), the replacement runs in its place: `replacement(*vector)`. Else the callback is asked, with
the hook off: it answers with a replacement, or with None to run the frame as Python would, this
once (`skip` makes it for good). Calls that either of them makes are met in turn, so frames below
uncaptured code are compiled too.
"""

from collections.abc import Callable
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from ..errors import CompilerError, warn

_c: Any = None
unavailable = ""  # why nothing can be captured; empty: all is well
try:
    _c = import_module(f"{__package__}._frame_hook")
    if not hasattr(_c, "patched"):
        _c, unavailable = None, "the frame hook is older than its sources: build it again"
except ImportError as error:  # built without a C compiler, or a Python without the GIL
    unavailable = str(error)

Replacement = Callable[..., Any]
Callback = Callable[[CodeType, FunctionType, tuple[Any, ...]], Replacement | None]

SKIP_FRAME, SKIP_CALLS = 1, 2  # as in _frame_hook.c


# without the hook every function simply runs, and nothing asks for the rest
run: Any = getattr(_c, "run", lambda callback, region, f, /, *args, **named: f(*args, **named))
MISSING: Any = getattr(_c, "MISSING", None)  # what type_lookup returns when no class has the name
graph: Any = getattr(_c, "graph", None)  # a function called, and all that it calls, with no hook
own_dict: Any = getattr(_c, "own_dict", None)
type_lookup: Any = getattr(_c, "type_lookup", None)
generic: Any = getattr(_c, "generic", None)
c_name: Any = getattr(_c, "c_name", None)
Walk: Any = getattr(_c, "Walk", None)
# (name, what is there now) for all that `trust` was told and that differ
patched: Any = getattr(_c, "patched", None)
_trusted: dict[int, dict[str, Any]] = {}  # id of a dictionary or class -> names and what they mean


def trust(space: Any, name: str, found: Any) -> None:
    """Capture relies on what this namespace of a trusted module, or class, has under the name."""
    if _c is not None and (type(space) is not type or space.__flags__ & 1 << 9):  # can be changed
        if id(space) not in _trusted:
            _trusted[id(space)] = {}
            _c.trust(space, _trusted[id(space)])
        _trusted[id(space)].setdefault(name, found)


def tolerant(callback: Callback) -> Callback:
    """`callback` for a region whose user should not suffer from our faults: what goes wrong in it
    is reported once a code object and the frame runs eagerly. A CompilerError is meant for the user
    (fullgraph, a wrong call) and propagates."""
    reported: set[str] = set()

    def ask(code: CodeType, function: FunctionType, vector: tuple[Any, ...]) -> Replacement | None:
        try:
            return callback(code, function, vector)
        except CompilerError:
            raise
        except Exception as error:
            place = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
            if place not in reported:
                reported.add(place)
                fault = f"{type(error).__name__}: {error}"
                warn(f"{place} runs eagerly: compiling it failed with {fault}")
            return None

    return ask


def replace(code: CodeType, entries: list[tuple[Any, Any, Any]], f_globals: Any = None) -> None:
    """Ways to run a code object: (region, guards, replacement), tried in order. `region` is
    compared by identity: entries are seen only while a region of the same token is active. All
    guards must hold; replacement None: run as Python would. Each may be a weakref to the function:
    a dead one never fits. `f_globals`: all are only for functions with these globals (compared by
    address; None: whatever theirs are)."""
    if _c is not None:
        _c.set(code, -1, tuple(part for entry in entries for part in entry), f_globals)


def skip(code: CodeType, calls: bool = False) -> None:
    """From now on the code runs as Python would, in every region; with `calls` also everything that
    it calls, at full speed and recursion depth (the hook is uninstalled for that time)."""
    if _c is not None:
        _c.set(code, SKIP_CALLS if calls else SKIP_FRAME, None)

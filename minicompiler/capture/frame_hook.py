"""The frame hook from Python: when it is on, and what it knows about a code object.

    with active(callback): f(x)     # callback(code, function, vector) -> None | replacement
    run(callback, region, f, x)     # the same without a Python frame in between

The hook meets each plain Python function that starts in the block. If an entry recorded for its
code accepts the vector (arguments in localsplus order, then closure cells), the replacement runs in
its place: `replacement(*vector)`. Else the callback is asked, with the hook off: it answers with a
replacement, or with None to run the frame as Python would, this once (`skip` makes it for good).
Calls that either of them makes are met in turn, so frames below uncaptured code are compiled too.
"""

import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from types import CodeType, FunctionType, TracebackType
from typing import Any, NamedTuple
from weakref import ref

from ..errors import CompilerError

_c: Any = None
unavailable = ""  # why nothing can be captured; empty: all is well
try:
    _c = import_module(f"{__package__}._frame_hook")
except ImportError as error:  # built without a C compiler, or a Python without the GIL
    unavailable = str(error)

Guard = Callable[..., bool]
Replacement = Callable[..., Any]
Callback = Callable[[CodeType, FunctionType, tuple[Any, ...]], Replacement | None]

RUN, SKIP_FRAME, SKIP_CALLS = 0, 1, 2  # as in _frame_hook.c
_lock = threading.RLock()  # reading entries and writing them back is one step


class Entry(NamedTuple):
    """One way to run a code object. `region` is compared by identity: entries are seen only while
    a region of the same token is active. guard None: always; replacement None: run as Python would.
    Either may be a weakref to the function: a dead one never fits."""

    region: object
    guard: Guard | ref[Guard] | None
    replacement: Replacement | ref[Replacement] | None


if _c is None:
    MISSING: Any = object()
    Walk: Any = None

    def run(callback: Any, region: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Without the hook every function simply runs."""
        return function(*args, **kwargs)

    def own_dict(value: object, /) -> dict[str, Any]:
        return object.__getattribute__(value, "__dict__")  # type: ignore[no-any-return]

    def type_lookup(cls: type, name: str, /) -> Any:
        for base in type.__dict__["__mro__"].__get__(cls):
            found = type.__dict__["__dict__"].__get__(base).get(name, MISSING)
            if found is not MISSING:
                return found
        return MISSING

    def patched() -> tuple[tuple[str, Any], ...]:
        return ()

else:
    MISSING = _c.MISSING  # what type_lookup returns when no class has the name
    run = _c.run
    own_dict = _c.own_dict
    type_lookup = _c.type_lookup
    Walk = _c.Walk
    patched = _c.patched  # (name, what is there now) for all that `trust` was told and that differ


_trusted: dict[int, dict[str, Any]] = {}  # id of a dictionary or class -> names and what they mean


def trust(space: Any, name: str, found: Any) -> None:
    """Capture relies on what this namespace of a trusted module, or class, has under the name."""
    if _c is not None and (type(space) is not type or space.__flags__ & 1 << 9):  # can be changed
        if id(space) not in _trusted:
            _trusted[id(space)] = {}
            _c.trust(space, _trusted[id(space)])
        _trusted[id(space)].setdefault(name, found)


class _Switch:
    """Sets the hook's state of this thread for the time of a `with` block."""

    __slots__ = ("before", "to")

    def __init__(self, *to: object) -> None:
        self.to = to

    def __enter__(self) -> None:
        if _c is not None:
            self.before = _c.enter(*self.to)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if _c is not None:
            _c.enter(*self.before)


def active(callback: Callback, region: object = None) -> _Switch:
    """On this thread, functions that start in the `with` block are offered to `callback`."""
    return _Switch(callback, region)


def disabled() -> _Switch:
    """Functions that start in the `with` block run as Python would."""
    return _Switch(None, None)


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
                warnings.warn(
                    f"{place} runs eagerly: compiling it failed with {fault}", stacklevel=2
                )
            return None

    return ask


def entries(code: CodeType) -> list[Entry]:
    """What is recorded for the code, in the order in which it is tried."""
    flat = _c.get(code)[1] if _c is not None else ()
    return [Entry(*flat[i : i + 3]) for i in range(0, len(flat), 3)]


def record(
    code: CodeType,
    guard: Guard | ref[Guard] | None,
    replacement: Replacement | ref[Replacement] | None,
    region: object = None,
    f_globals: dict[str, Any] | None = None,
) -> None:
    """Adds an entry in front, or, if it always fits, behind those with a guard. The replacement
    itself is never offered to a callback. `f_globals`: all entries of this code are only for
    functions with these globals (compared by address; None: whatever theirs are)."""
    target = replacement() if isinstance(replacement, ref) else replacement
    if isinstance(target, FunctionType):
        skip(target.__code__)
    entry = Entry(region, guard, replacement)
    with _lock:
        known = entries(code)
        replace(code, [*known, entry] if guard is None else [entry, *known])
        if _c is not None and f_globals is not None:
            _c.set(code, *_c.get(code), f_globals)


def replace(code: CodeType, new: list[Entry]) -> None:
    """Sets the entries of a code object."""
    if _c is not None:
        with _lock:
            _c.set(code, _c.get(code)[0], tuple(part for entry in new for part in entry))


def skip(code: CodeType, calls: bool = False) -> None:
    """From now on the code runs as Python would, in every region; with `calls` also everything that
    it calls, at full speed and recursion depth (the hook is uninstalled for that time)."""
    if _c is not None:
        with _lock:
            _c.set(code, SKIP_CALLS if calls else SKIP_FRAME, _c.get(code)[1])


def skipped(code: CodeType) -> bool:
    return _c is not None and _c.get(code)[0] != RUN


def forget(code: CodeType) -> None:
    """As if the code had never been seen."""
    if _c is not None:
        with _lock:
            _c.set(code, RUN, (), None)


class Status(NamedTuple):
    active: int  # regions that are on, of all threads
    installed: bool
    on: bool  # for this thread
    foreign: bool  # another frame evaluator (torch.compile's, a debugger's) is there; ours passes
    # frames on to it that it does not replace


def status() -> Status:
    return Status(*_c.status()) if _c is not None else Status(0, False, False, False)


# the block's own frames are not for the callback
for _function in (active, disabled, _Switch.__init__, _Switch.__enter__, _Switch.__exit__):
    skip(_function.__code__)

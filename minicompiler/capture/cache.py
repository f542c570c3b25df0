"""What was compiled for each code object, and when to compile again or to stop.

A code object has entries: guards, the check made of them, the replacement, and the artefact, a key
of what was compiled (graph, plan, kernels). `find_or_compile` is the one way in:

    replacement = find_or_compile(code, f_globals, vector, region, compile)

Entries die with what they are for. They are owned by the namespace of the function (under OWNER,
as a code object is invisible to the garbage collector), leave it when the code object dies, and
the hook refers to them weakly; a set of guards that expects a dead object is dropped.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakValueDictionary, ref

from torch import nn

from ..errors import warn
from ..report import current
from ..settings import config
from . import binding, frame_hook
from .binding import Binding
from .guards import Failure, GuardSet

OWNER = "__minicompiler__"  # the name in a module's globals
MODULES = 16  # instances, on average, that may use up the limit on the same code
EQUAL = 4  # artefacts of one instance that count as one


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling a frame gave. Equal artefacts are one compilation. Without replacement: where
    these guards hold the frame is left to Python (what capture read until it gave up decides)."""

    guards: GuardSet
    replacement: Callable[..., Any] | None
    artefact: Hashable = None  # None: unlike any other
    binding: Binding | None = None  # of the guards, if the replacement reads by it


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Without `compiled`: from now on, what no entry before fits is left to Python unasked."""

    region: object
    compiled: Compiled | None = None
    checks: tuple[Callable[..., Any], ...] = ()
    module: ref[Any] | None = None  # the nn.Module that the frame is a method of

    @property
    def replacement(self) -> Callable[..., Any] | None:
        return None if self.compiled is None else self.compiled.replacement


class CodeCache:
    """The entries of one code object, newest first. Hold `lock` to read or change them."""

    def __init__(self, code: CodeType, f_globals: dict[str, Any], owner: "Owner") -> None:
        self.f_globals = f_globals
        self.lock = threading.RLock()  # two threads that need the same code compile it once
        self.entries: list[Entry] = []
        self.name = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        key, owned_by = id(code), ref(owner)

        def code_died(_: object) -> None:
            if (entries := owned_by()) is not None:
                entries.pop(key, None)

        self.code = ref(code, code_died)

    def lookup(self, region: object, vector: tuple[Any, ...]) -> tuple[Entry, Any] | None:
        """The entry of this region whose guards hold for the vector, and what its check found."""
        held = ((e, binding.found(e.checks, vector)) for e in self.entries if e.region is region)
        return next(((e, found) for e, found in held if found), None)

    def failures(self, region: object, vector: tuple[Any, ...]) -> Iterator[Failure]:
        """For each entry of this region, newest first, the guard that does not hold."""
        return filter(None, (made.guards.explain_failure(*vector) for _, made in self.of(region)))

    def of(self, region: object) -> list[tuple[Entry, Compiled]]:
        return [(e, e.compiled) for e in self.entries if e.compiled and e.region is region]

    def artefacts(self, region: object, vector: tuple[Any, ...]) -> int:
        """How many different things were compiled in this region for such a call. All modules share
        the code of nn.Module, so what was compiled for another instance does not count, up to a
        limit: each takes its time to be found not to fit. So does what differs in guards only."""
        entries = [(e, c.artefact) for e, c in self.of(region) if c.replacement is not None]
        module = module_of(vector)
        if module is not None and len(entries) < MODULES * config.recompile_limit:
            entries = [(e, a) for e, a in entries if e.module is None or e.module() is module]
        made = [artefact for _, artefact in entries]
        return max(len(set(made) - {None}) + made.count(None), len(made) // EQUAL)

    def insert(self, region: object, compiled: Compiled, vector: tuple[Any, ...]) -> Any:
        """What the check of the new entry finds for the call that it was made for."""
        module, checks = module_of(vector), binding.build(compiled.guards, compiled.binding)
        if isinstance(compiled.replacement, FunctionType):
            frame_hook.skip(compiled.replacement.__code__)  # never offered to be compiled
        current().count("guards", len(compiled.guards))
        entry = Entry(region, compiled, checks, None if module is None else ref(module))
        self.publish([entry, *self.entries])
        return binding.found(checks, vector)

    def give_up(self, region: object) -> None:
        self.publish([*self.entries, Entry(region)])

    def prune(self) -> None:
        """Drop entries whose guards expect an object that has died."""
        alive = [e for e in self.entries if e.compiled is None or not e.compiled.guards.dead]
        if len(alive) < len(self.entries):
            self.publish(alive)

    def publish(self, entries: list[Entry]) -> None:
        """Tell the hook, which refers weakly to what the namespace of the function owns."""
        self.entries = entries
        if (code := self.code()) is not None:
            weak: Any = lambda function: None if function is None else ref(function)
            made = [(e.region, tuple(map(weak, e.checks)), weak(e.replacement)) for e in entries]
            frame_hook.replace(code, made, self.f_globals)


def with_found(replacement: Callable[..., Any] | None, found: Any) -> Callable[..., Any] | None:
    """For this one call, as the hook does it at a hit."""
    return partial(replacement, found=found) if replacement and found is not True else replacement


def module_of(vector: tuple[Any, ...]) -> Any:
    """`self`, if the frame is a method of a module (or takes one first)."""
    return vector[0] if vector and issubclass(type(vector[0]), nn.Module) else None


class Owner(dict[int, CodeCache]):
    """What a namespace holds for us: id of a code object -> its cache. Not part of its contents as
    far as copies and pickles go."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Owner, ()


def token(*settings: Hashable) -> object:
    """A region for the hook: the same object for equal settings (backend, options), so that what
    two `compile` calls of one function need is compiled once."""
    return _tokens.setdefault(settings, settings)


_tokens: dict[tuple[Hashable, ...], object] = {}
_caches: WeakValueDictionary[int, CodeCache] = WeakValueDictionary()
_registry = threading.RLock()


def cache_of(code: CodeType, f_globals: dict[str, Any]) -> CodeCache | None:
    """The cache of a code object, made at the first call. None when that is taken by a function
    with the same code and other globals: guards would read the wrong ones."""
    with _registry:
        known = _caches.get(id(code))
        if known is None or known.code() is not code:
            owner = f_globals.get(OWNER)
            if type(owner) is not Owner:
                owner = f_globals[OWNER] = Owner()
            known = owner[id(code)] = _caches[id(code)] = CodeCache(code, f_globals, owner)
    return known if known.f_globals is f_globals else None


def find_or_compile(
    code: CodeType,
    f_globals: dict[str, Any],
    vector: tuple[Any, ...],
    region: object,
    compile: Callable[[], Compiled | None],
) -> Callable[..., Any] | None:
    """The replacement for a call of `code` that no entry fits; None to leave it to Python.

    `compile` is called, once for several threads in need of the same, unless config.recompile_limit
    artefacts exist already: then the code is left to Python for good, with one warning (without, if
    that many answers were to leave it to Python under their guards). `compile` answers
    None for a frame that can never be compiled in this region; what it raises passes through. Why
    the entries before did not fit goes to the record (`recompile_reasons`).
    """
    cache = cache_of(code, f_globals)
    if cache is None:
        return None
    with cache.lock:
        if (known := cache.lookup(region, vector)) is not None:  # another thread was faster
            return with_found(known[0].replacement, known[1])
        cache.prune()
        made = cache.artefacts(region, vector)
        left = sum(compiled.replacement is None for _, compiled in cache.of(region))
        if made:
            why = next(cache.failures(region, vector), None) or "a guard failed"
            current().recompile_reason(f"{cache.name}: {why}", why)
            if made >= config.recompile_limit:
                cache.give_up(region)
                warn(
                    f"{cache.name} was compiled {made} times, as often as config.recompile_limit "
                    "allows; what fits none of these runs eagerly from now on. The last reason: "
                    f"{why}. All reasons: stats()['recompile_reasons']."
                )
                return None
            current().count("recompiles")
        compiled = compile() if left < config.recompile_limit else None
        if compiled is not None and (found := cache.insert(region, compiled, vector)):
            return with_found(compiled.replacement, found)
        cache.give_up(region)
        if compiled is not None:  # never run on an assumption that does not hold
            failure = compiled.guards.explain_failure(*vector)
            current().reason(f"{cache.name}: a guard fails right after compiling: {failure}")
        return None


def reset() -> None:
    """Forget everything that was compiled."""
    with _registry:
        caches = list(_caches.values())
        _caches.clear()
    for cache in caches:
        with cache.lock:
            cache.publish([])
        cache.f_globals.pop(OWNER, None)

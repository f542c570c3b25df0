"""The symbolic evaluator: one attempt to evaluate a frame, and the frames it inlines.

In: a code object and the arguments of one call. Out: the graph, what was assumed (guards), what is
to be replayed (effects), and the stack and locals where evaluation ended.
Invariant: evaluation never touches real objects. What it cannot follow raises `Unsupported`; then a
new attempt stops right before that instruction of the outermost frame (`break_at`).
"""

# ruff: noqa: I001  (imports fill their lines)

import builtins
from collections import deque
from enum import Enum
from types import CellType, FunctionType, MappingProxyType, MethodType
from typing import Any, NoReturn, TypeVar, cast

import torch

from ..settings import config
from . import source as sources
from .facts import ARRAY
from .frame import Frame
from .frame_hook import MISSING, trust, type_lookup
from .graph import CapturedGraph
from .side_effects import Call, Effects
from .source import ClassAttr, Field, ItemAs, Source, TypeOf, builtin_of, field, item
from .values import ABSENT, FALSE, FIXED, NONE, TRUE, Cell, Const, Dict, Function, Generator, Lazy
from .values import List, Method, Obj, Raised, Set, Slice, Tuple, Value, is_fixed, is_literal
from .values import c_method, new_exception, refuse, trusted

# What a trusted module defines under a name and does not change.
AS_THEY_ARE = (*FIXED, FunctionType, torch.dtype, torch.layout, torch.memory_format)
V = TypeVar("V", bound=Value)
IMMUTABLE = (FunctionType, MethodType, slice, tuple, torch.Size)
SINGLETONS = {None: NONE, True: TRUE, False: FALSE}


class Evaluation:
    """One attempt. `step` counts instructions of the outermost frame."""

    def __init__(self, guards: Any, f_globals: dict[str, Any], break_at: int | None) -> None:
        self.guards, self.f_globals, self.break_at = guards, f_globals, break_at
        self.step = self.idle = 0  # `idle`: instructions since the last call into torch
        self.graph, self.effects = CapturedGraph(), Effects()
        self.frames, self.generators = list[Frame](), list[Generator]()
        self.differentiates_twice = False  # has code been met that asks for it?
        self.handles = False  # or that may catch what is raised?
        self.cached: list[tuple[Call, Any]] = []  # calls under lru_cache, and their answers
        self.memo: dict[int, Value] = {}
        self.kept: list[Any] = []  # keeps ids in `memo` valid
        self.assumed: set[tuple[Any, ...]] = set()
        self.fresh: set[int] = set()  # ids of objects that exist for this evaluation only
        self.handled: Obj | None = None  # the exception that except clauses are handling
        # (switch, its arguments) -> (setter, value at entry), and the value now
        self.ambient: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self.ambient_now: dict[tuple[Any, ...], Any] = {}

    # ---------------------------------------------------------------- guards
    def close(self) -> None:
        """Let go of all values: cycles lead there, and what the program drops would live on."""
        for held in [*self.memo.values(), self]:
            vars(held).clear()

    def where(self) -> str:
        """The user's line: innermost frame that is not torch's or Python's own."""
        for frame in reversed(self.frames):
            if not trusted(frame.space.real.get("__name__")) or frame is self.frames[0]:
                return frame.where()
        return ""

    def assume(self, kind: str, source: Source, expected: Any) -> None:
        root = source.root if self.fresh else source
        if isinstance(root, sources.Const) and id(root.value) in self.fresh:
            return
        key = (kind, source, expected if isinstance(expected, tuple | Source) else None)
        if key in self.assumed:
            return
        self.assumed.add(key)
        self.guards.add(kind, source, expected, self.where())

    # ---------------------------------------------------------------- outside objects
    def wrap(self, real: Any, source: Source | None) -> Value:
        """The value of an outside object; the same object always gives the same value."""
        if is_literal(real):
            if source is not None:
                self.assume("ID" if isinstance(real, Enum) else "EQUALS", source, real)
            return SINGLETONS[real] if real is None or type(real) is bool else Const(real, source)
        if (known := self.memo.get(id(real))) is not None:
            if source is not None and source != known.source:
                if known.source is None:
                    known.source = source
                    self.assume(*identity(real, source))
                elif isinstance(real, AS_THEY_ARE) or isinstance(known.source, sources.Const):
                    self.assume("ID", source, real)
                else:
                    self.assume("ALIASED", source, known.source)
            return known
        return self.keep(real, self._wrap_new(real, source))

    def keep(self, real: Any, made: V) -> V:
        """From now on `made` stands for this object."""
        self.memo[id(real)] = made
        self.kept.append(real)
        return made

    def wrap_fresh(self, real: Any) -> Value:
        """The value of an object that evaluation has just made: nobody else can change it."""
        if type(real) is list:  # another one at each call
            return List(map(self.wrap_fresh, real))
        if not is_literal(real) and id(real) not in self.memo and not is_fixed(real):
            self.fresh.add(id(real))
            if type(real) is ARRAY:
                real.flags.writeable = False
        return self.wrap(real, None)

    def _wrap_new(self, real: Any, source: Source | None) -> Value:
        cls = type(real)
        if cls is ARRAY and source is None:
            return Const(real)
        if source is None and not is_fixed(real) and cls not in IMMUTABLE:
            source = sources.Const(real)  # reached by reference, its contents guarded
        if source is not None:
            self.assume(*identity(real, source))
        if source is not None and (unbound := c_method(real)) is not MISSING:
            self.assume("EQUALS", Field(source, "__name__"), real.__name__)
            of = self.wrap(real.__self__, field(source, "__self__"))
            return Method(self.wrap(unbound, None), of).outside(real, source)
        if isinstance(real, torch.Tensor):
            return self.graph.input(real, cast(Source, source))
        if isinstance(real, FunctionType):
            return Function.of(self, real, source)
        if isinstance(real, MethodType):
            function = self.wrap(real.__func__, field(source, "__func__"))
            of = self.wrap(real.__self__, field(source, "__self__"))
            return Method(function, of).outside(real, source)
        if isinstance(real, slice):
            parts = ("start", "stop", "step")
            return Slice([self.wrap(getattr(real, n), field(source, n)) for n in parts])
        if isinstance(real, tuple | list | deque):
            return self._wrap_sequence(real, source)
        if isinstance(real, dict | MappingProxyType):
            return Dict(cls, real, source)
        if isinstance(real, set | frozenset):
            if not all(is_literal(i) or (is_fixed(i) and cls is frozenset) for i in real):
                refuse("a set of objects from outside")
            if source is not None:
                self.assume("EQUALS", source, real)
            python = real if all(map(is_literal, real)) else None
            return Set([self.wrap(i, None) for i in real], cls, python).outside(real, source)
        return Cell(real, source) if cls is CellType else Obj(cls, real, source)

    def _wrap_sequence(self, real: Any, source: Source | None) -> Value:
        cls, base = type(real), builtin_of(type(real))
        items = list(base.__iter__(real))

        def read() -> list[Lazy]:
            if source is not None:
                self.assume("LENGTH", source, len(items))
            if source is not None and base is deque:
                self.assume("EQUALS", Field(source, "maxlen"), real.maxlen)
            return [Lazy(x, source and item(source, i, cls)) for i, x in enumerate(items)]

        held = deque(() if base is list else read(), getattr(real, "maxlen", None))
        made = (Tuple if base is tuple else List)(held, cls)
        made.unread = read if base is list else None
        return made.outside(real, source)

    # ---------------------------------------------------------------- dictionaries from outside
    def globals_of(self, real: dict[str, Any], source: Source | None) -> Dict:
        """The namespace of a module; names of trusted modules are read without guards."""
        if (known := self.memo.get(id(real))) is None:
            if real is self.f_globals:
                source = sources.Globals()
            elif source is None or trusted(real.get("__name__")):
                source = sources.Const(real)
            known = self.keep(real, Dict(dict, real, source))
        return cast(Dict, known)

    def load_global(self, space: Dict, name: str) -> Value:
        key, last = Const(name), self.globals_of(vars(builtins), None)
        found = space.get(self, key) or last.get(self, key)
        return found or self.throw(NameError, f"name '{name}' is not defined")

    def item_of(self, real: Any, key: Any) -> Any:
        """The item of an outside dictionary, or ABSENT, past what subclasses make of it."""
        return builtin_of(type(real)).get(real, key, ABSENT)

    def item_source(self, of: Dict, raw: Any, position: int | None = None) -> Source | None:
        """How the value under key `raw` is reached; none for what trusted modules define."""
        source = of.source
        if source is None:
            return None
        if isinstance(source, sources.Const) and of.real is not None:
            found = self.item_of(of.real, raw)
            name = of.real.get("__name__") if isinstance(of.real, dict) else None
            if isinstance(name, str) and (found is ABSENT or isinstance(found, AS_THEY_ARE)):
                trust(of.real, raw, MISSING if found is ABSENT else found)
                return None
        if not is_literal(raw) and not isinstance(raw, tuple):
            if position is None:
                refuse("a dictionary look-up by an object")
            return ItemAs(source, sources.DictKey(source, position), dict)
        return item(source, raw, of.cls)

    def lazy_key(self, of: Dict, raw: Any, position: int) -> Value | Lazy:
        """DICT_KEYS guards literal keys by value; an object is reached by its position."""
        if of.source is None or is_literal(raw) or is_fixed(raw):
            return self.wrap(raw, None)
        return Lazy(raw, sources.DictKey(of.source, position))

    # ---------------------------------------------------------------- making values
    def class_of(self, v: Value) -> Value:
        if v.real is not ABSENT and v.source is not None and not isinstance(v, Const):
            return self.wrap(v.cls, None if trusted(v.cls.__module__) else TypeOf(v.source))
        return self.wrap(v.cls, None)

    def class_source(self, cls: Value, name: str) -> Source | None:
        """Where a class look-up of `name` is read again; None for classes taken as they are."""
        if cls.source is None or trusted(cls.real.__module__):
            found = type_lookup(cls.real, name)
            if type(found) is int and cls.real.__flags__ & 1 << 9:  # it may count something
                return ClassAttr(sources.Const(cls.real), name)
            trust(cls.real, name, found)
            return None
        return ClassAttr(cls.source, name)

    @property
    def at(self) -> int:
        """The step of the outermost frame that is being evaluated."""
        return self.step - 1

    def throw(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """Raise a Python exception inside the evaluated program."""
        raise Raised(self, new_exception(cls, *args))

    # ---------------------------------------------------------------- calls of Python functions
    def inline(self, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if len(self.frames) > config.inline_depth:
            refuse("calls nest too deeply to be followed", "raise config.inline_depth")
        frame = Frame(self, fn.code, fn.globals, fn.closure)
        frame.bind(fn, args, kwargs)
        if fn.code.co_flags & (0x80 | 0x100 | 0x200):
            refuse("coroutines and asynchronous generators run eagerly")
        return frame.enter()


def identity(real: Any, source: Source) -> tuple[str, Source, Any]:
    """The guard that says which object this is, as far as evaluation takes it for known."""
    if isinstance(real, torch.Tensor):
        return "TENSOR", source, real
    known = isinstance(real, FunctionType) or (is_fixed(real) and c_method(real) is MISSING)
    return ("ID", source, real) if known else ("TYPE", source, type(real))

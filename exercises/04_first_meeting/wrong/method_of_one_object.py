# teaches: A bound method is a function and an object
from collections import deque
from types import CellType, FunctionType, MappingProxyType, MethodType
from typing import Any

import torch

from minicompiler.capture import source as sources
from minicompiler.capture.evaluator import IMMUTABLE, Evaluation
from minicompiler.capture.facts import ARRAY
from minicompiler.capture.frame_hook import MISSING
from minicompiler.capture.source import Field, Source, field
from minicompiler.capture.values import (
    Cell,
    Const,
    Dict,
    Function,
    Method,
    Obj,
    Set,
    Slice,
    Value,
    c_method,
    is_fixed,
    is_literal,
    refuse,
)


def _wrap_new(self: Evaluation, real: Any, source: Source | None) -> Value:
    cls, unbound = type(real), c_method(real)
    if cls is ARRAY and source is None:
        return Const(real)
    if source is None and not is_fixed(real) and cls not in IMMUTABLE:
        source = sources.Const(real)
    if source is not None:
        guard(self, real, source)
    if isinstance(real, torch.Tensor):
        return self.graph.input(real, source)
    if isinstance(real, FunctionType):
        return Function.of(self, real, source)
    if source is not None and unbound is not MISSING:
        self.assume("EQUALS", Field(source, "__name__"), real.__name__)
        of = self.wrap(real.__self__, field(source, "__self__"))
        return Method(self.wrap(unbound, None), of).outside(real, source)
    if isinstance(real, MethodType):
        function = self.wrap(real.__func__, field(source, "__func__"))
        of = self.wrap(real.__self__, sources.Const(real.__self__))
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
    if cls is CellType:
        return Cell(real, source)
    return Obj(cls, real, source)


def guard(ev: Evaluation, real: Any, source: Source) -> None:
    if isinstance(real, torch.Tensor):
        ev.assume("TENSOR", source, real)
    elif isinstance(real, FunctionType) or (is_fixed(real) and c_method(real) is MISSING):
        ev.assume("ID", source, real)
    else:
        ev.assume("TYPE", source, type(real))

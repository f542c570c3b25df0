"""Builtins written in Python: the evaluator inlines these in place of the C ones.

Each behaves as its original for the arguments that programs give it; what it leaves out it does not
accept, so that the call is refused instead.
"""

import bisect
import collections
import functools
import heapq
import importlib.util
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from .calls import POLYFILLS


def replaces(*originals: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(polyfill: Callable[..., Any]) -> Callable[..., Any]:
        POLYFILLS.update(dict.fromkeys(originals, polyfill))
        return polyfill

    return register


def without(c_half: str, name: str) -> Any:
    """A module of the standard library as it is in Python, before C replaces what it has too."""
    spec: Any = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    replaced, sys.modules[c_half] = sys.modules[c_half], None  # type: ignore[assignment]
    spec.loader.exec_module(module)
    sys.modules[c_half] = replaced
    return module


for _module in (operator, bisect, heapq):
    in_python = vars(without(f"_{_module.__name__}", _module.__name__))
    for _name, _real in vars(_module).items():
        if type(_real) in (types.BuiltinFunctionType, type) and in_python[_name] is not _real:
            POLYFILLS[_real] = in_python[_name]
POLYFILLS[iter] = collections.abc.Sequence.__iter__  # of what has no __iter__
POLYFILLS[collections.defaultdict.copy] = lambda of: type(of)(of.default_factory, of)
POLYFILLS[reversed] = collections.abc.Sequence.__reversed__  # nor __reversed__
POLYFILLS[type({}.items()).__contains__] = collections.abc.Sequence.__contains__


# ---------------------------------------------------------------- sequences and dictionaries
@replaces(dict.__dict__["fromkeys"], collections.OrderedDict.__dict__["fromkeys"])
def fromkeys(cls: Any, keys: Any, value: Any = None) -> Any:
    made = cls()
    for key in keys:
        made[key] = value
    return made


@replaces(collections.defaultdict.__missing__)
def default_of(self: Any, key: Any) -> Any:
    if self.default_factory is None:
        raise KeyError(key)
    self[key] = value = self.default_factory()
    return value


@replaces(dict.setdefault, collections.OrderedDict.setdefault)
def setdefault(self: Any, key: Any, default: Any = None) -> Any:
    if not dict.__contains__(self, key):
        dict.__setitem__(self, key, default)
    return dict.__getitem__(self, key)


@replaces(collections.OrderedDict.copy)
def ordered_copy(self: Any) -> Any:
    made = type(self)()
    for key in collections.OrderedDict.__iter__(self):
        made[key] = self[key]
    return made


@replaces(dict.__or__, collections.OrderedDict.__or__, collections.defaultdict.__or__)
def dict_or(self: Any, other: Any) -> Any:
    if not isinstance(other, dict):
        return NotImplemented
    kept = isinstance(self, collections.OrderedDict | collections.defaultdict)
    made = self.copy() if kept else dict.copy(self)
    made.update(other)
    return made


@replaces(object.__ne__)
def not_equal(self: Any, other: Any) -> Any:
    cls: Any = type(self)
    equal = cls.__eq__(self, other)
    return equal if equal is NotImplemented else not equal


# ---------------------------------------------------------------- functools, operator, itertools
@replaces(functools.partial.__call__)
def partial_call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    return self.func(*self.args, *args, **{**self.keywords, **kwargs})


@replaces(types.GeneratorType.close)
def close(self: Any) -> None:
    try:
        self.throw(GeneratorExit)
    except (GeneratorExit, StopIteration):
        return
    raise RuntimeError("generator ignored GeneratorExit")


def match_class(subject: Any, cls: Any, n: int, names: tuple[str, ...]) -> Any:
    """`case cls(n patterns, names=...)`: what is to be matched, None where it is no such object."""
    if not isinstance(subject, cls):
        return None
    own = issubclass(cls, MATCHES_SELF) and not hasattr(cls, "__match_args__")
    known = ("it",) if own else getattr(cls, "__match_args__", ())
    if n > len(known):
        plural = "" if len(known) == 1 else "s"
        takes = f"{cls.__name__}() accepts {len(known)} positional sub-pattern{plural}"
        raise TypeError(f"{takes} ({n} given)")
    positional = () if own else known[:n]
    try:
        found = [getattr(subject, name) for name in (*positional, *names)]
    except AttributeError:
        return None
    return (subject, *found) if own and n else tuple(found)


MATCHES_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


# ---------------------------------------------------------------- torch
class Context:
    """`ctx` of an autograd.Function."""

    saved_tensors: tuple[Any, ...] = ()
    constant: tuple[Any, ...] = ()  # outputs

    def __init__(self, needs: tuple[bool, ...], differentiated: bool = True) -> None:
        self.needs_input_grad, self.differentiated = needs, differentiated

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        assert value or not self.differentiated  # else the frame runs in Python

    def forward(self, cls: Any, args: tuple[Any, ...]) -> Any:
        if cls.setup_context is torch.autograd.function._SingleLevelFunction.setup_context:
            return cls.forward(self, *args)
        out = cls.forward(*args)
        cls.setup_context(self, args, out)
        return out


def apply_without_grad(cls: Any, *args: Any) -> Any:
    """autograd.Function.apply without gradients (inputs may still require some): its forward."""
    needs = [isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args]
    with torch.no_grad():
        out = Context(tuple(needs), False).forward(cls, args)
    same = any(out is arg for arg in args)
    return (out.detach() if out.requires_grad else out.view_as(out)) if same else out


def forward_and_backward(cls: Any, needs: tuple[bool, ...], *args: Any) -> Any:
    """Both methods of an autograd.Function: (what it returns, as a tuple or not; tangents,
    gradients, outputs that have none)."""
    context = Context(needs)
    with torch.no_grad():
        out = context.forward(cls, args)
        tangents = tuple(map(torch.empty_like, out if isinstance(out, tuple) else (out,)))
        grads = cls.backward(context, *tangents)
    return out, tangents, grads if isinstance(grads, tuple) else (grads,), context.constant


def size_radd(self: Any, other: Any) -> Any:
    return torch.Size((*other, *self)) if isinstance(other, tuple) else NotImplemented


if hasattr(torch.Size, "__radd__"):  # newer torch
    POLYFILLS[torch.Size.__radd__] = size_radd

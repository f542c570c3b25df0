"""Builtins written in Python: the evaluator inlines these in place of the C ones.

Each behaves as its original for the arguments that programs give it; what it leaves out it does not
accept, so that the call is refused instead.
"""

import collections
import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .calls import POLYFILLS


def replaces(*originals: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(polyfill: Callable[..., Any]) -> Callable[..., Any]:
        for original in originals:
            POLYFILLS[original] = polyfill
        return polyfill

    return register


missing = object()


def iterate_by_index(sequence: Any) -> Iterator[Any]:
    """The old protocol: __getitem__ until IndexError."""
    i = 0
    while True:
        try:
            item = sequence[i]
        except IndexError:
            return
        yield item
        i += 1


# ---------------------------------------------------------------- builtins
@replaces(enumerate)
def enumerate_(iterable: Any, start: int = 0) -> Iterator[Any]:
    i = start
    for item in iterable:
        yield i, item
        i += 1


@replaces(zip)
def zip_(*iterables: Any, strict: bool = False) -> Iterator[Any]:
    iterators = [iter(i) for i in iterables]
    while iterators:
        items = []
        for position, it in enumerate(iterators):
            try:
                items.append(next(it))
            except StopIteration:
                if strict:
                    check_zip(iterators, position)
                return
        yield tuple(items)


def check_zip(iterators: list[Any], position: int) -> None:
    if position:
        raise ValueError(f"zip() argument {position + 1} is shorter than argument 1")
    for other in range(1, len(iterators)):
        if next(iterators[other], missing) is not missing:
            raise ValueError(f"zip() argument {other + 1} is longer than argument 1")


@replaces(map)
def map_(function: Any, *iterables: Any) -> Iterator[Any]:
    for args in zip(*iterables):
        yield function(*args)


@replaces(filter)
def filter_(function: Any, iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if item if function is None else function(item):
            yield item


@replaces(reversed)
def reversed_(sequence: Any) -> Iterator[Any]:
    if isinstance(sequence, COPIED):
        sequence = list(sequence)
    elif hasattr(type(sequence), "__reversed__") and not isinstance(sequence, list | range):
        yield from sequence.__reversed__()
        return
    for i in range(len(sequence) - 1, -1, -1):
        yield sequence[i]


COPIED: Any = (dict, collections.deque, collections.abc.MappingView)


@replaces(any)
def any_(iterable: Any) -> bool:
    for item in iterable:  # noqa: SIM110
        if item:
            return True
    return False


@replaces(all)
def all_(iterable: Any) -> bool:
    for item in iterable:  # noqa: SIM110
        if not item:
            return False
    return True


def sum_(iterable: Any, start: Any) -> Any:
    total = start
    for item in iterable:
        total = total + item
    return total


def extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def find(*args: Any, key: Any = None, default: Any = missing) -> Any:
        items = args[0] if len(args) == 1 else args
        best = best_key = missing
        for item in items:
            k = item if key is None else key(item)
            if best is missing or better(k, best_key):
                best, best_key = item, k
        if best is missing:
            if default is missing:
                raise ValueError(f"{name}() arg is an empty sequence")
            return default
        return best

    return find


POLYFILLS |= {max: extreme("max", operator.gt), min: extreme("min", operator.lt)}


# ---------------------------------------------------------------- sequences and dictionaries
@replaces(list.index, tuple.index, collections.deque.index)
def index(self: Any, value: Any, start: int = 0, stop: int | None = None) -> int:
    for i in range(len(self))[start:stop]:
        if self[i] is value or self[i] == value:
            return i
    if isinstance(self, tuple):
        raise ValueError("tuple.index(x): x not in tuple")
    raise ValueError(f"{value!r} is not in {'list' if isinstance(self, list) else 'deque'}")


@replaces(list.count, tuple.count, collections.deque.count)
def count(self: Any, value: Any) -> int:
    n = 0
    for item in self:
        if item is value or item == value:
            n += 1
    return n


@replaces(list.remove, collections.deque.remove)
def remove(self: Any, value: Any) -> None:
    for i in range(len(self)):
        if self[i] is value or self[i] == value:
            del self[i]
            return
    raise ValueError("list.remove(x): x not in list")


@replaces(list.__contains__, tuple.__contains__, collections.deque.__contains__)
@replaces(type({}.items()).__contains__)
def sequence_contains(self: Any, value: Any) -> bool:
    for item in self:  # noqa: SIM110
        if item is value or item == value:
            return True
    return False


def sequence_order(kind: Any, op: Callable[[Any, Any], Any]) -> Any:
    equality = op is operator.eq or op is operator.ne

    def compare(self: Any, other: Any) -> Any:
        if not isinstance(other, kind):
            return NotImplemented
        for a, b in zip(self, other):
            if not (a is b or a == b):
                return op is operator.ne if equality else op(a, b)
        return op(len(self), len(other))

    return compare


for _kind in (list, tuple, collections.deque):
    for _op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        POLYFILLS[getattr(_kind, f"__{_op.__name__}__")] = sequence_order(_kind, _op)


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


@replaces(dict.pop, collections.OrderedDict.pop)
def pop(self: Any, key: Any, default: Any = missing) -> Any:
    if dict.__contains__(self, key):
        value = dict.__getitem__(self, key)
        dict.__delitem__(self, key)
        return value
    if default is missing:
        raise KeyError(key)
    return default


@replaces(dict.popitem, collections.OrderedDict.popitem)
def popitem(self: Any, last: bool = True) -> Any:
    keys = list(dict.keys(self))
    if not keys:
        raise KeyError("popitem(): dictionary is empty")
    key = keys[-1 if last else 0]
    return key, dict.pop(self, key)


@replaces(dict.__or__, collections.OrderedDict.__or__, collections.defaultdict.__or__)
def dict_or(self: Any, other: Any) -> Any:
    if not isinstance(other, dict):
        return NotImplemented
    made = dict.copy(self)
    made.update(other)
    return made


@replaces(dict.__ior__, collections.OrderedDict.__ior__)
def dict_ior(self: Any, other: Any) -> Any:
    dict.update(self, other)
    return self


@replaces(dict.__eq__)
def dict_eq(self: Any, other: Any) -> Any:
    if not isinstance(other, dict):
        return NotImplemented
    if len(self) != len(other):
        return False
    for key, value in self.items():
        if key not in other:
            return False
        found = other[key]
        if not (found is value or found == value):
            return False
    return True


@replaces(collections.OrderedDict.__eq__)
def ordered_eq(self: Any, other: Any) -> Any:
    if isinstance(other, collections.OrderedDict) and list(self) != list(other):
        return False
    return dict.__eq__(self, other)


@replaces(object.__ne__, dict.__ne__, collections.OrderedDict.__ne__)
def not_equal(self: Any, other: Any) -> Any:
    cls: Any = type(self)
    equal = cls.__eq__(self, other)
    return equal if equal is NotImplemented else not equal


# ---------------------------------------------------------------- functools, operator, itertools
@replaces(functools.reduce)
def reduce(function: Any, iterable: Any, initial: Any = missing, /) -> Any:
    it = iter(iterable)
    if initial is missing:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for item in it:
        value = function(value, item)
    return value


@replaces(functools.partial.__call__)
def partial_call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    return self.func(*self.args, *args, **{**self.keywords, **kwargs})


@replaces(operator.itemgetter)
def itemgetter(*items: Any) -> Any:
    if len(items) == 1:
        return lambda of: of[items[0]]
    return lambda of: tuple(of[i] for i in items)


@replaces(operator.attrgetter)
def attrgetter(*names: str) -> Any:
    def get(of: Any, path: str) -> Any:
        for name in path.split("."):
            of = getattr(of, name)
        return of

    if len(names) == 1:
        return lambda of: get(of, names[0])
    return lambda of: tuple(get(of, name) for name in names)


@replaces(itertools.chain)
def chain(*iterables: Any) -> Iterator[Any]:
    for iterable in iterables:
        yield from iterable


@replaces(itertools.chain.from_iterable)
def chain_from(iterables: Any) -> Iterator[Any]:
    for iterable in iterables:
        yield from iterable


@replaces(itertools.repeat)
def repeat(item: Any, times: int | None = None) -> Iterator[Any]:
    while times is None or times > 0:
        yield item
        times = None if times is None else times - 1


@replaces(itertools.count)
def count_from(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    while True:
        yield start
        start = start + step


@replaces(itertools.islice)
def islice(iterable: Any, *args: Any) -> Iterator[Any]:
    s = slice(*args)
    start, stop, step = s.start or 0, s.stop, s.step or 1
    it, i, wanted = iter(iterable), 0, start
    while stop is None or i < stop:
        try:
            item = next(it)
        except StopIteration:
            return
        if i == wanted:
            yield item
            wanted += step
        i += 1


@replaces(itertools.product)
def product(*iterables: Any, repeat: int = 1) -> Iterator[Any]:
    results: list[Any] = [()]
    for pool in [tuple(i) for i in iterables] * repeat:
        results = [(*done, item) for done in results for item in pool]
    yield from results


@replaces(itertools.accumulate)
def accumulate(iterable: Any, function: Any = operator.add, *, initial: Any = None) -> Any:
    it = iter(iterable)
    total = initial
    if initial is None:
        try:
            total = next(it)
        except StopIteration:
            return
    yield total
    for item in it:
        total = function(total, item)
        yield total


@replaces(types.GeneratorType.close)
def close(self: Any) -> None:
    try:
        self.throw(GeneratorExit)
    except (GeneratorExit, StopIteration):
        return
    raise RuntimeError("generator ignored GeneratorExit")


# ---------------------------------------------------------------- torch
class Context:
    """`ctx` of an autograd.Function whose backward will never run."""

    needs_input_grad = (False,) * 64
    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None: ...

    def set_materialize_grads(self, value: bool) -> None: ...


def apply_without_grad(cls: Any, *args: Any) -> Any:
    """autograd.Function.apply where no input needs a gradient: its forward, inlined."""
    context = Context()
    with torch.no_grad():
        if cls.setup_context is torch.autograd.function._SingleLevelFunction.setup_context:
            out = cls.forward(context, *args)
        else:
            out = cls.forward(*args)
            cls.setup_context(context, args, out)
    for arg in args:
        if out is arg:
            return out.view_as(out)
    return out


def size_radd(self: Any, other: Any) -> Any:
    return torch.Size((*other, *self)) if isinstance(other, tuple) else NotImplemented


if hasattr(torch.Size, "__radd__"):  # newer torch
    POLYFILLS[torch.Size.__radd__] = size_radd


@replaces(torch.nn.Module.__getattr__)
def module_getattr(self: Any, name: str) -> Any:
    for table in ("_parameters", "_buffers", "_modules"):
        entries = self.__dict__.get(table)
        if entries is not None and name in entries:
            return entries[name]
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

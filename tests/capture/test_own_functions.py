"""Python's own iterators, sorts and comparisons at work on values: items, order and errors."""

import functools
import itertools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import minicompiler


class Boxed:
    def __init__(self, n: int) -> None:
        self.n = n

    def __lt__(self, other: Any) -> bool:
        return bool(self.n < other.n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Boxed) and self.n == other.n

    __hash__ = None  # type: ignore[assignment]


def stops(n: int) -> int:
    if n == 2:
        raise StopIteration
    return n


def counted(numbers: list[int]) -> list[int]:
    """A list that grows while it is iterated over."""
    for n in numbers:
        if len(numbers) < 5:
            numbers.append(n + 10)
    return numbers


def broken(x: torch.Tensor) -> Iterator[Any]:
    yield x
    raise ValueError("broken")


def after_error(x: torch.Tensor) -> Any:
    pairs = zip(broken(x), [1, 2])
    first = next(pairs)
    with pytest.raises(ValueError, match="broken"):
        next(pairs)
    return first, list(pairs)


PROGRAMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "zip": lambda x: (dict(zip("ab", [x, 1])), list(zip([1, 2], x.split(1)))),
    "enumerate": lambda x: [(i, t + i) for i, t in enumerate(x.split(1), start=3)],
    "map": lambda x: (list(map(operator.add, [x, 2], [3, x])), list(map(stops, [1, 2, 3]))),
    "filter": lambda x: (list(filter(None, [0, 1, x.dim()])), list(filter(bool, [0, 1]))),
    "chain": lambda x: [*itertools.chain([x], (2,)), *itertools.chain.from_iterable([[1], (x,)])],
    "accumulate": lambda x: [
        list(itertools.accumulate([1, 2, x])),
        list(itertools.accumulate([1, 2], initial=x)),
        list(itertools.accumulate([x, 2, 3], operator.mul)),
    ],
    "order of items": lambda x: [
        list(itertools.permutations([x, 1])),
        list(itertools.pairwise([1, x, 2])),
        list(itertools.product([1, x], repeat=2)),
        list(itertools.islice(itertools.cycle([x, 2]), 1, 5, 2)),
        list(itertools.zip_longest([x], [1, 2], fillvalue=None)),
        list(itertools.repeat(None, 2)),
    ],
    "conditions": lambda x: [
        list(itertools.takewhile(lambda n: n < 2, [1, 2, 1])),
        list(itertools.dropwhile(lambda n: n < 2, [1, 2, 1])),
        list(itertools.starmap(pow, [(x, 2), (3, 2)])),
    ],
    "sorts": lambda x: (sorted([3, 1, 2], key=lambda n: -n), sorted([Boxed(3), Boxed(1)])[0].n),
    "extremes": lambda x: (max([Boxed(1), Boxed(2)]).n, min("b", "a"), max([], default=x)),
    "search": lambda x: ([Boxed(1), Boxed(2)].index(Boxed(2)), (1, x) in [(1, x)], [x].count(x)),
    "equal": lambda x: ([Boxed(1)] == [Boxed(1)], [1, 2] < [1, 3], x.shape == (3,)),
    "dicts": lambda x: [
        OrderedDict(a=1, b=x) == OrderedDict(b=x, a=1),
        OrderedDict(a=1, b=x) == {"b": x, "a": 1},
        {"a": 1} != {"a": 2},
    ],
    "growing": lambda x: (x + 1, counted([1, 2])),
    "after an error": after_error,
    "escaping": lambda x: [list(it) for it in (zip([1], [x]), map(abs, [x]), enumerate("ab"))],
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return bool(a == b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_items_are_passed_on(name: str) -> None:
    minicompiler.reset()
    x, program = torch.arange(3.0), PROGRAMS[name]
    assert same(minicompiler.compile(program, backend="eager")(x), program(x))


FAILS: dict[str, Callable[[], Any]] = {
    "max": lambda: max([]),
    "list.index": lambda: [1].index(2),
    "tuple.index": lambda: (1,).index(2),
    "list.remove": lambda: [1].remove(2),
    "deque.remove": lambda: deque([1]).remove(2),
    "zip": lambda: list(zip([1], [1, 2], strict=True)),
    "reduce": lambda: functools.reduce(operator.add, []),
    "order": lambda: sorted([1, "a"]),  # type: ignore[type-var]
    "in": lambda: 3 in 5,  # type: ignore[operator]
    "enumerate": lambda: list(enumerate(5)),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("name", FAILS)
def test_errors_are_pythons_own(name: str) -> None:
    def told(x: torch.Tensor) -> Any:
        try:
            return FAILS[name]()
        except (TypeError, ValueError) as error:
            return x + 1, type(error), str(error)

    minicompiler.reset()
    x = torch.ones(2)
    assert same(minicompiler.compile(told, backend="eager")(x), told(x))

"""What special methods return is what Python makes of it, errors included."""

import collections
from collections.abc import Callable
from typing import Any

import pytest
import torch

import minicompiler
from tests.capture.check import check_against_eager

USES: dict[str, Callable[[Any], Any]] = {
    "__bool__": lambda b: 1 if b else 2,
    "__len__": lambda b: (len(b), 1 if b else 2),
    "__iter__": lambda b: list(b),
    "__next__": lambda b: next(b),
    "__index__": lambda b: [1, 2, 3][b],
    "__int__": lambda b: int(b),
    "__float__": lambda b: float(b),
    "__str__": lambda b: str(b),
    "__repr__": lambda b: f"{b!r}",
    "__format__": lambda b: f"{b:x}",
    "__hash__": lambda b: hash(b),
    "__contains__": lambda b: 3 in b,
    "__init__": lambda b: type(b)() is None,
    "__eq__": lambda b: (b == 3, b in [3]),
    "__lt__": lambda b: b < 3,
    "__getitem__": lambda b: b[2:3],
    "__neg__": lambda b: -b,
    "__abs__": lambda b: abs(b),
    "__call__": lambda b: b(),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("answer", [None, 1, -1, 2**63, 2**70, 2.0, True, "a", []], ids=repr)
def test_what_it_returns(name: str, answer: Any) -> None:
    cls = type("B", (), {name: lambda self, *args: answer})
    b = object.__new__(cls)

    def f(x: torch.Tensor) -> Any:
        return x * 2, USES[name](b)

    def seen(fn: Callable[..., Any]) -> Any:
        try:
            return repr(fn(torch.ones(2)))
        except Exception as error:
            return type(error), str(error)

    minicompiler.reset()
    assert seen(minicompiler.compile(f, backend="eager")) == seen(f)


class Told(collections.namedtuple("Told", "a b")):
    def __repr__(self) -> str:
        return "told " + super().__repr__()


class Asked(ValueError):
    def __int__(self) -> int:
        return 3

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        return "asked " + super().__str__()


def test_builtins_ask_the_class() -> None:
    """Also where the class hands on to the builtin one; a frozenset's text is not a set's."""

    def f(x: torch.Tensor) -> Any:
        v = Asked("why")
        told = [
            repr(Told(1, 2)),
            f"{Told(1, 2)}",
            int(v),
            hash(v),
            str(v),
            repr(v),
            str(KeyError(1)),
        ]
        told += [repr(frozenset([1])), repr({1}), str([1, (2,)]), repr(int), str(), int("12", 8)]
        try:
            hash([1])
        except TypeError as error:
            told.append(str(error))
        return x + 1, told

    check_against_eager(f, torch.ones(2), graphs=1, breaks=0)

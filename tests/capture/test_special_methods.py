"""What special methods return is what Python makes of it, errors included."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import minicompiler

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
@pytest.mark.parametrize("answer", [None, 1, -1, 2.0, True, "a", []], ids=repr)
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

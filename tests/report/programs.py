"""Two dozen small programs for `explain`: breaks of all kinds, and what is not captured at all."""

import collections
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from minicompiler.tools.gpt import Block, Shape


def straight(x: Any, k: int = 2) -> Any:
    return (x + k).relu()


def branch(x: Any) -> Any:
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    return y.sin()


def loop(x: Any) -> Any:
    for i in range(3):
        x = x * 2
        if x.sum() > i:
            x = x - 1
    return x + 1


def loop_to_the_end(x: Any) -> Any:
    for i in range(3):
        last = x * i
        if last.sum() > 3:
            x = last
    return last


def first_turn_apart(x: Any) -> Any:
    while x.sum() < 10:
        last = x + 1
        x = last * 2
    return last


def under_no_grad(x: Any) -> Any:
    y = x * 2
    with torch.no_grad():
        if y.sum() > 0:
            y = y + 1
        z = y * 3
    return z


def in_a_call(x: Any) -> Any:
    return branch(x * 3) - 1


def in_try(x: Any) -> Any:
    try:
        n = x.sum().item()
        return x * n
    except ValueError:
        return x


def in_a_display(x: Any) -> Any:
    return [x + 1, {"a": (x.sum().item(), x * 2)}]


def prints(x: Any) -> Any:
    y = x * 2
    print("sum", y.sum())
    return y + 1


def two_breaks(x: Any) -> Any:
    x = x + x.sum().item()
    return x * x.max().item()


def yields(x: Any) -> Any:
    for i in range(2):
        yield x * i


def takes_a_generator(x: Any) -> Any:
    return sum(yields(x))


def names(x: Any) -> Any:
    y = x + 1
    return locals()["y"]


def raises(x: Any) -> Any:
    y = x + 1
    raise KeyError("<b>", y.shape)


def catches(x: Any) -> Any:
    try:
        return raises(x)
    except KeyError:
        return x * 2


def numbers(n: int) -> int:
    return n + 1


def strings(x: Any) -> Any:
    return (x, f"<script>alert({x.shape[0]!r})</script> & [bold]")


def containers(x: Any) -> Any:
    held = collections.OrderedDict(a=x, b=[x, 1])
    held["c"] = {1, 2}
    return held


def closure() -> Callable[[Any], Any]:
    w, n = torch.ones(4), 0

    def f(x: Any) -> Any:
        nonlocal n
        n += 1
        y = x * w + n
        return y * 2 if y.sum() > 0 else y

    return f


def hooked() -> nn.Module:
    module = nn.Sequential(nn.Linear(4, 4))
    module[0].register_forward_hook(lambda m, args, out: out * 2)
    return module


def gradient(x: Any) -> Any:
    w = torch.ones(4, requires_grad=True)
    loss = (x * w).square().sum()
    loss.backward()
    return w.grad


async def waits(x: Any) -> Any:
    return x + 1


PROGRAMS: dict[str, Callable[[], tuple[Any, ...]]] = {
    fn.__name__: lambda fn=fn: (fn, torch.ones(4))
    for fn in (
        *(loop_to_the_end, first_turn_apart),
        *(straight, branch, loop, under_no_grad, in_a_call, in_try, in_a_display, prints),
        *(two_breaks, yields, takes_a_generator, names, catches, strings, containers, gradient),
    )
} | {
    "numbers": lambda: (numbers, 3),
    "closure": lambda: (closure(), torch.ones(4)),
    "hooked": lambda: (hooked(), torch.ones(4)),
    "library": lambda: (nn.functional.softmax, torch.ones(4), 0),
    "gpt": lambda: (Block(Shape(16, 8, 1, 2, 8)), torch.ones(1, 8, 8)),
}

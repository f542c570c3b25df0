import math
import random
from types import SimpleNamespace

import torch


def double(x):
    return x * 2


def negate(x):
    return -x


def adding(n):
    return lambda x: x + n


class Box:
    pass


def of_class(x, box, *_):
    return x * 2 if isinstance(box, list) else x * 3


def programs():
    """Functions, and the arguments to call each with, one tuple after the other."""
    x, one, both = torch.ones(2), [1.0, 2.0], []
    yield lambda x, k: (x * k, math.copysign(1.0, k)), [(x, k) for k in (0.0, -0.0, 1.0, 2.0)]
    yield lambda x, k: (x + 1, type(k)), [(x, k) for k in (1, True, 1.0, False, 0)]
    yield lambda x, k: x + len(k), [(x, [0] * k) for k in range(4)]
    yield lambda x, d: x * d.get("a", 2.0), [(x, d) for d in ({}, {"a": 3.0}, {"b": 1})]
    ordered = {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, {"a": 2, "b": 1}
    yield lambda x, d: (x + 1, [*d.items()]), [(x, d) for d in ordered]
    yield lambda x, s: x * 2 if 3 in s else x - 1, [(x, s) for s in ({1}, {1, 3}, {3}, set())]
    yield lambda x, a, b: (x + 1, a is b), [(x, one, one), (x, one, [1.0, 2.0])]
    yield appending, [(x, [], []), (x, both, both), (x, [1], [1])]
    yield lambda x, g: g(x), [(x, g) for g in (double, negate, adding(1), adding(2))]
    yield of_class, [(x, a) for a in (one, (1.0, 2.0), None)]
    yield lambda x, y: x + len(y), [(x, torch.ones(n)) for n in (1, 2)]
    yield lambda x, y: (x + 1, y.dtype), [(x, x), (x, x.double())]
    yield lambda x: (x + 1, torch.get_default_dtype()), [(x,)] * 2
    yield lambda x, o: x * o.a, [(x, SimpleNamespace(a=a)) for a in (1.0, 2.0)]
    yield patched, [(x, Box()), (x, Box())]


def appending(x, a, b):
    a.append(2.0)
    return x * len(b)


def patched(x, box):
    return x * box.a


def changes(k):
    """What is changed for each round of calls, behind the program's back."""
    torch.set_default_dtype((torch.float32, torch.float64)[k % 2])
    Box.a = (1.0, property(lambda self: 5.0))[k % 2]


def shown(f, args):
    try:
        return str(f(*copied(args)))
    except Exception as error:
        return repr(error)


def copied(args):
    """Lists anew, with the same identities: a call may write to them."""
    memo = {}
    again = lambda a: memo.setdefault(id(a), list(a)) if type(a) is list else a  # noqa: E731
    return [again(a) for a in args]


def check(compile, rng: random.Random) -> None:
    for f, calls in programs():
        compiled = compile(f)
        for k in range(2):
            changes(k)
            for args in rng.sample(calls * 2, len(calls) * 2):
                found, wanted = shown(compiled, args), shown(f, args)
                assert found == wanted, f"{found} for {wanted}"
    changes(0)

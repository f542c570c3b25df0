"""Special methods that a program writes: each is asked as Python asks it, and none by C in passing.

Every operation meets every kind of class, in a function that catches what is raised; a global that
all the methods read changes between the calls. What the compiled function returns, or the class and
the text of what it raises, is eager's.
"""

import copy
import enum
import functools
import itertools
import math  # noqa: F401
import operator  # noqa: F401
import re
from collections import OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import pytest
import torch

import minicompiler

N = 2


class Special:
    __getitem__: Any = lambda self, i: i + N
    __len__ = __index__ = __int__ = __abs__ = __floor__ = __trunc__ = lambda self: N
    __hash__ = __neg__ = __length_hint__ = lambda self: N
    __add__ = __radd__ = __mod__ = __pow__ = __divmod__ = lambda self, other: N
    __contains__ = lambda self, i: i == N
    __iter__ = lambda self: iter([N])
    __bool__ = lambda self: N > 2
    __eq__ = __ne__ = __lt__ = lambda self, other: N > 2
    __str__ = __repr__ = lambda self: str(N)
    __format__ = lambda self, spec: str(N)
    __float__ = lambda self: float(N)
    __round__ = lambda self, n=None: N
    __reversed__ = lambda self: [N]
    __call__ = lambda self, *a: N
    method = lambda self: N
    shown = property(lambda self: N)


class Meta(type):
    pass


for _name, _method in vars(Special).items():
    if callable(_method) or isinstance(_method, property):
        setattr(Meta, _name, _method)


class Plain(Special, enum.Enum):
    X = 1


class Whole(Special, enum.IntEnum):
    X = 1


class Bits(Special, enum.Flag):
    X = 1


class Texts(str, enum.Enum):
    X = "a"
    __str__ = lambda self: self.value * N


class Says:
    __call__ = lambda self: str(N)


class Partly(enum.Enum):  # methods need not be functions
    X = 1
    __str__ = functools.partialmethod(lambda self: str(N))  # type: ignore[assignment]
    __format__ = functools.partialmethod(lambda self, spec: str(N))  # type: ignore[assignment]


Partly.__repr__ = Says()  # type: ignore[assignment, method-assign]


class Int(Special, int): ...


class Str(Special, str): ...


class Float(Special, float): ...


class Pair(Special, tuple): ...


class Made(metaclass=Meta): ...


class Named(NamedTuple):
    a: int = 1
    __str__ = lambda self: str(N)  # type: ignore[assignment]
    shown = property(lambda self: N)


SPECIAL = [Special(), Plain.X, Whole.X, Bits.X, Texts.X, Int(1), Str("a"), Float(1.0), Pair((1,))]
SPECIAL += [Made, Named(), Partly.X]
BUILTIN = [deque([1, 2]), [1, 2], (1, 2), "ab", b"ab", range(3), {1: 2}, {1}, 5, 2.5, None, True]
BUILTIN += [defaultdict(int), OrderedDict(), frozenset([1]), slice(1, 2), len, int, 1j, 2**70]
OPERATIONS = {
    name.strip(): eval(f"lambda a, b: {name}", globals())  # noqa: S307
    for name in """a[1];a[b];a[0:1];a[::2];len(a);3 in a;b in a;[*a];list(a);tuple(a);bool(a);not a
    1 if a else 2;a();a + 1;1 + a;a + b;a == 3;a != 3;a == b;a < 3;a < b;-a;~a;hash(a)
    str(a);repr(a);f'{a}';f'{a!r}';f'{a:3}';'{}'.format(a);'%s' % (a,);'%d' % (a,);f'{[a]}'
    f'{"a":{a}}';int(a)
    float(a);round(a);abs(a);a % 2;a ** 2;divmod(a, 2);a * b;a - b;a | b;a @ b;[1, 2, 3, 4][a]
    [1, 2, 3, 4][:a];operator.index(a);range(a);[0] * a;math.sqrt(a);math.floor(a);math.trunc(a)
    math.gcd(a, 4);chr(a);hex(a);bin(a);'a'.ljust(a);','.join(a);'abc'.find(str(a));sum([a], a)
    sum(a);max(a);max(a, a);sorted([a, a]);sorted(a)
    any([a]);any(a);list(filter(None, [a]));a and 5;a == a
    {a: 1}.get(a);{3: 'a'}.get(a);len({a, 3});a in [3];[3].count(a);[a] == [3]
    (a,) == (3,);(a,) < (3,)
    a.method();a.shown;a.nothing;getattr(a, b);setattr(a, 'nothing', 1);isinstance(a, Special)
    isinstance(b, a);issubclass(int, a);issubclass(a, int);operator.length_hint(a);list(zip(a, [1]))
    list(enumerate([1], a));list(enumerate(a));list(map(str, a));dict(a);dict.fromkeys(a);{**a}
    (lambda *c: c)(*a);(lambda **c: c)(**a);min([1, 2], key=lambda q: a);next(a);iter(a);reversed(a)
    torch.ones(3) * a;torch.full((2,), a);torch.zeros(a);operator.iadd(a, b)
    operator.setitem(a, b, 1)
    operator.delitem(a, b);operator.setitem(a, slice(0, 1), b);operator.delitem(a, slice(0, 1))
    [].extend(a);{}.update(a);a.upper();type(a).__name__;ord(a);complex(a);bytes(a);pow(a, b, 3)
    """.replace("\n", ";").split(";")
    if name.strip()
}
ADDRESS = re.compile(" at 0x|Exception raised from")  # of an object, in C++
ANSWERS = [None, 3, -1, 1.5, True, "s", [1], NotImplemented, object(), 2**70, b"x", ()]
ASKED = {
    "__iter__": "iter(a);[*a];3 in a;(lambda *c: c)(*a);dict(a);enumerate(a);zip(a);sum(a);any(a)",
    "__len__": "len(a);bool(a);not a;operator.length_hint(a)",
    "__bool__": "bool(a);not a;a and 1;any([a]);list(filter(None, [a]))",
    "__hash__": "hash(a);{a: 1} and 1;a in {1: 2}",
    "__str__": "str(a);f'{a}';'%s' % a;'{}'.format(a)",
    "__repr__": "repr(a);str(a);f'{a!r}';f'{[a]}'",
    "__format__": "f'{a:3}';f'{a}';format(a, '4')",
    "__index__": "operator.index(a);[1, 2, 3][a];[1, 2, 3][a:];range(a);[1] * a;int(a);hex(a)",
    "__int__": "int(a)",
    "__float__": "float(a);math.sqrt(a)",
    "__complex__": "complex(a)",
    "__contains__": "1 in a;1 not in a",
    "__length_hint__": "operator.length_hint(a)",
    "__init__": "type(a)()",
    "__eq__": "a == 1;a in [1];[a] == [1];a != 1",
    "__lt__": "sorted([a, a]);max(a, a);a < 1",
}


def differs(operation: Any, left: Any, right: Any, numbers: tuple[int, ...] = (2,)) -> list[Any]:
    """Pairs of what eager and the compiled function make of it."""
    global N

    def of(x: torch.Tensor, a: Any, b: Any) -> Any:
        y = x + 1
        try:
            return operation(a, b), y * 2
        except Exception as error:
            return type(error), str(error), y

    def seen(function: Any) -> str:
        a, b = copy.deepcopy((left, right))
        try:
            found = function(torch.ones(2), a, b)
            return repr((type(found[0]), found, a, b))
        except Exception as error:
            return repr(error)

    minicompiler.reset()
    compiled, pairs = minicompiler.compile(of, backend="eager"), []
    for N in numbers:
        pairs.append((seen(of), seen(compiled)))
    N = 2
    return [pair for pair in pairs if pair[0] != pair[1] and not ADDRESS.search(pair[0])]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_the_programs_methods_are_asked_every_time(name: str) -> None:
    for a in SPECIAL:
        assert not differs(OPERATIONS[name], a, 1, (2, 3, 4)), a


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_what_builtins_say_of_what_they_do_not_take(name: str) -> None:
    for a, b in itertools.product(BUILTIN, BUILTIN[:: 3 if " b" in name or "b]" in name else 99]):
        assert not differs(OPERATIONS[name], a, b), (a, b)


@pytest.mark.parametrize("method", ASKED)
@pytest.mark.filterwarnings("ignore")
def test_what_a_special_method_returns_is_checked(method: str) -> None:
    for answer, text in itertools.product(ANSWERS, ASKED[method].split(";")):
        a = object.__new__(type("Odd", (), {method: lambda self, *_, answer=answer: answer}))
        assert not differs(eval(f"lambda a, b: {text}", globals()), a, 1), (answer, text)  # noqa: S307


SECOND = """a + b;a - b;a * b;a == b;a < b;a > b;b in [a];[a].index(b);max(a, b);1.5 + b
2 ** b;2 << b
7 % b;divmod(7, b);pow(2, b);round(2.5, b);math.pow(2, b);math.comb(5, b);'ab' * b
'a'.center(b)
'{:>{}}'.format('a', b);'%*d' % (b, 3);[1, 2, 3][b:];range(10)[b]
[1, 2, 3].pop(b);{1: 2}.get(b)
int('12', b);list(range(0, 5, b));bytes([b]);math.prod([1, b]);sum([1, b]);operator.countOf([a], b)
torch.ones(2) + b;torch.ones(2) == b;torch.ones(2) ** b
torch.ones(3)[b];torch.full((1,), b)
torch.ones(4).sum(b);torch.tensor(b);torch.tensor([1, b]);torch.zeros(1, b)
torch.ones(2).clamp(b)
torch.ones(4).reshape(b, -1);torch.arange(b);deque([1, 2], b)
slice(1, b).indices(5);Named(b) == (b,)"""


@pytest.mark.parametrize("text", SECOND.replace("\n", ";").split(";"))
@pytest.mark.filterwarnings("ignore")
def test_also_of_what_comes_second(text: str) -> None:
    operation = eval(f"lambda a, b: {text}", globals())  # noqa: S307
    for a, b in itertools.product((2, 1.5, "a") if "a" in text[:4] else (2,), SPECIAL):
        assert not differs(operation, a, b, (2, 3, 4)), (a, b)

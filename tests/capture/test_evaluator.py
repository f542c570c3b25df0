"""Python as the evaluator follows it: each program is captured whole and agrees with eager."""

# ruff: noqa
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import operator

import pytest
import torch

from tests.capture.check import check_against_eager

torch.set_num_threads(1)
PROGRAMS = []


def prog(f):
    PROGRAMS.append(f)
    return f


@prog
def p_loop(x):
    for i in range(3):
        x = x + i
    return x


@prog
def p_comp(x):
    l = [x * i for i in range(3)]
    d = {k: v for k, v in zip("abc", l)}
    return d, sum(l), max(1, 2, 3)


@prog
def p_closure(x):
    y = x + 1

    def g(z):
        return z * y

    return g(x), (lambda q: q - y)(x)


@prog
def p_nonlocal(x):
    n = 0

    def g():
        nonlocal n
        n += 1
        return x * n

    a = g()
    b = g()
    return a, b, n


@prog
def p_gen(x):
    def gen(n):
        for i in range(n):
            yield x + i

    return list(gen(3)), sum(gen(2))


@prog
def p_yieldfrom(x):
    def inner():
        r = yield x
        return 5

    def gen():
        r = yield from inner()
        yield x * r

    return list(gen())


@prog
def p_try(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        y = x + len(e.args[0])
    finally:
        y = y * 2
    return y


@prog
def p_try2(x):
    d = {}
    try:
        d["k"]
    except KeyError:
        x = x + 1
    else:
        x = x + 100
    return x


@contextlib.contextmanager
def cm(l):
    l.append(1)
    try:
        yield 3
    finally:
        l.append(2)


@prog
def p_with(x):
    l = []
    with cm(l) as v, torch.no_grad():
        x = x * v
    return x, l


class CM:
    def __init__(self):
        self.n = 0

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, *a):
        self.n += 10
        return True


@prog
def p_with2(x):
    c = CM()
    with c as d:
        x = x + d.n
        raise RuntimeError("x")
    return x, c.n


@prog
def p_args(x):
    def g(a, *b, c=3, **k):
        return a + sum(b) + c + k["z"]

    return g(x, 1, 2, z=5), g(*[x, 4], **{"c": 1, "z": 0})


@prog
def p_fstr(x):
    return f"{x.shape} {x.ndim:03d} {'a'!r}", x + 1


@dataclasses.dataclass
class D:
    a: object
    b: int = 2
    c: list = dataclasses.field(default_factory=list)


@prog
def p_dc(x):
    d = D(x)
    d.c.append(x * 2)
    e = dataclasses.replace(d, b=5)
    return d.a + d.b, e.b, e.c[0], d == d


NT = collections.namedtuple("NT", "a b")


@prog
def p_nt(x):
    n = NT(x, 2)
    a, b = n
    return n._replace(b=7), n.a + n[1], a * b


class E(enum.Enum):
    A = 1
    B = 2


@prog
def p_enum(x):
    return (x + E.A.value if E("A".__len__()) is E.A else x), E.B.name, {E.A: 1}[E.A]


class U:
    k = 3

    def __init__(self, v):
        self.v = v

    def __getattr__(self, n):
        if n == "zz":
            return 9
        raise AttributeError(n)

    def __call__(self, x):
        return x * self.v

    def __len__(self):
        return 4

    def __iter__(self):
        return iter([1, 2])

    def __eq__(self, o):
        return self.v == o.v

    def __getitem__(self, i):
        return i * 2

    def __contains__(self, i):
        return i == 5

    def __add__(self, o):
        return self.v + o

    def __radd__(self, o):
        return o - self.v

    @property
    def p(self):
        return self.v + 1

    @staticmethod
    def s(x):
        return x + 1

    @classmethod
    def c(cls, x):
        return x + cls.k

    def __bool__(self):
        return False


class V(U):
    def __init__(self, v):
        super().__init__(v + 1)

    @property
    def p(self):
        return super().p * 10


@prog
def p_user(x):
    u = V(2)
    return (
        u.zz,
        u(x),
        len(u),
        list(u),
        u == V(2),
        u[3],
        5 in u,
        u + x,
        x + u,
        u.p,
        U.s(x),
        u.c(x),
        bool(u),
        hasattr(u, "q"),
        getattr(u, "q", 1),
        isinstance(u, U),
        type(u) is V,
    )


@prog
def p_partial(x):
    f = functools.partial(torch.add, alpha=2)
    g = functools.partial(lambda a, b, c: a + b * c, x, c=3)
    return f(x, x), g(2)


@functools.lru_cache(None)
def cached(n):
    return n * 2


@prog
def p_lru(x):
    return x * cached(3)


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        return f(*a, **k) + 1

    return w


@deco
def decorated(x, y=2):
    return x * y


@prog
def p_deco(x):
    return decorated(x), decorated.__name__


@prog
def p_dicts(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    d["b"].append(1)
    o = collections.OrderedDict(a=1, b=2)
    o.move_to_end("a")
    c = dict(o)
    c.update(z=3)
    c.pop("b")
    c.setdefault("q", []).append(4)
    q = collections.deque([1, 2, 3], maxlen=3)
    q.append(4)
    q.appendleft(0)
    return (
        dict(d),
        list(o.items()),
        c,
        list(q),
        {**c, "x": x},
        sorted([3, 1, 2], key=lambda v: -v),
        list(reversed([1, 2])),
    )


@prog
def p_sets(x):
    s = {1, 2}
    s.add(3)
    s |= {5}
    t = s & {1, 5}
    return sorted(s), 3 in s, t == {1, 5}, s - t, x


@prog
def p_slices(x):
    l = list(range(10))
    l[2:4] = [7, 8, 9]
    del l[0]
    a, *b, c = l
    return l[::2], a, b, c, x[1:, ::2], x[..., None], x[:, -1], x[torch.tensor([0, 1])]


@prog
def p_itertools(x):
    return (
        list(itertools.chain([1], [2])),
        list(itertools.islice(itertools.count(), 2, 5)),
        list(map(lambda a, b: a + b, [1, 2], [3, 4])),
        list(filter(None, [0, 1])),
        list(enumerate([x], 1)),
        any([0, 1]),
        all([]),
        list(itertools.product([1, 2], [3])),
    )


@prog
def p_inplace(x):
    y = x.clone()
    y[0] = 1
    y += 2
    y.mul_(3)
    y[:, 0].zero_()
    return y


@prog
def p_tattr(x):
    return (
        x.shape,
        x.dtype,
        x.device,
        x.T,
        x.is_contiguous(),
        x.size(0),
        x.numel(),
        len(x),
        x.stride(),
        x.requires_grad,
        [r.sum() for r in x],
        x.dim(),
        x.type(torch.float64),
        x.mT,
    )


@prog
def p_match(x):
    match (1, [2, 3]):
        case (a, [b, *c]):
            r = a + b
    match {"k": 1}:
        case {"k": v}:
            r += v
    match D(1, 5):
        case D(a=1, b=q):
            r += q
    return x * r, c


@prog
def p_math(x):
    return (
        math.sqrt(16) * x,
        int("3"),
        float("inf"),
        round(2.5),
        abs(-3),
        divmod(7, 2),
        "a,b".split(","),
        "%s-%d" % ("a", 3),
        "{}{k}".format(1, k=2),
    )


@prog
def p_walrus(x):
    if (n := x.shape[0]) > 1:
        return x * n
    return x


@prog
def p_while(x):
    i = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > 5:
            break
        x = x + i
    else:
        x = x * 100
    return x, i


@prog
def p_alias(x):
    a = [x]
    b = a
    c = {"a": a, "b": b}
    b.append(c)
    return a, b, c


@prog
def p_nograd(x):
    with torch.no_grad():
        y = x * 2
    with torch.enable_grad():
        z = x * 3
    return y, z, y.requires_grad, z.requires_grad, torch.is_grad_enabled()


@torch.no_grad()
def ng(x):
    return x * 2


@prog
def p_ngdeco(x):
    return ng(x)


@prog
def p_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.T
    return y


@prog
def p_retfn(x):
    def g(a):
        return a + x

    def h():
        return g(1)

    return g, h


@prog
def p_print(x):
    print("hello", 3)
    return x + 1


@prog
def p_excuser(x):
    class_ = ValueError
    try:
        try:
            int("q")
        except ValueError as e:
            raise RuntimeError("b") from e
    except RuntimeError as e:
        return x, str(e), type(e.__cause__).__name__


@prog
def p_sortlist(x):
    l = [(2, "b"), (1, "a")]
    l.sort()
    l.reverse()
    l.insert(0, 5)
    l.extend((1, 2))
    l.remove(5)
    return l, l.index(1), l.count(1), l[:] == l, l + [1], [0] * 3, (1, 2) < (1, 3)


@prog
def p_star(x):
    a = [*range(3)]
    t = (*a, 4)
    d = {**{"a": 1}}
    return a, t, d, x


@prog
def p_strs(x):
    return "abc".upper(), "a" in "abc", "x".join(["a", "b"]), [c for c in "ab"], "abc"[1:], x


@prog
def p_maxten(x):
    return torch.max(x, dim=1).values, x.max(1)[0], torch.maximum(x, x), x.topk(1)


@prog
def p_kwonly(x):
    import operator

    return (
        operator.itemgetter(1)([1, 2]),
        operator.attrgetter("shape")(x),
        functools.reduce(lambda a, b: a + b, [x, x, x]),
    )


@prog
def p_genexpr(x):
    return tuple(x * i for i in range(2)), dict((i, i) for i in range(2)), set(i for i in [1, 1])


@prog
def p_assert(x):
    assert x.shape[0] == 3, "bad"
    return x


@prog
def p_del(x):
    y = x + 1
    z = y
    del y
    return z


@prog
def p_classattr(x):
    U.k
    return x * U.k, U.__name__, V.__mro__[1].__name__


@prog
def p_isin(x):
    return (
        isinstance(x, torch.Tensor),
        isinstance([], (list, tuple)),
        isinstance(1, int | str),
        issubclass(V, U),
        callable(p_isin),
        type(x) is torch.Tensor,
    )


@prog
def p_gensend(x):
    def g():
        r = yield 1
        try:
            r2 = yield r
        except KeyError:
            r2 = 7
        yield r2

    it = g()
    a = next(it)
    b = it.send(x)
    c = it.throw(KeyError())
    return a, b, c, next(it, None)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__.removeprefix("p_"))
def test_captured_whole(program):
    torch.manual_seed(0)
    run = check_against_eager(program, torch.randn(3, 4), breaks=0)
    assert not run.skips, run.skips
    assert len(run.graphs) <= 1 and run.frames == 1


def test_iterating_over_a_set_follows_its_order():
    def f(x, names):
        return x + 1, list({3, 1, 2, 40}), [n for n in {"b", "a", "c"}], sorted(names)

    check_against_eager(f, torch.ones(2), {"q", "a", "b"}, breaks=0)

    def g(x, names):
        return x + 1, list(names)

    check_against_eager(g, torch.ones(2), {"q", "a", "b"}, breaks=1)


def test_grad_fn_of_an_input_is_not_guessed():
    def f(x):
        y = x * 2
        return y, x.grad_fn is None, x.is_leaf, y.is_leaf

    leaf = torch.ones(2, requires_grad=True)
    from tests.capture.check import Run, capture

    for x in (leaf, leaf * 2, leaf.detach()):
        assert capture(f, Run())(x)[1:] == f(x)[1:]


def test_grad_mode_is_restored_when_the_graph_raises():
    def f(x, i):
        with torch.no_grad():
            return x[i]

    x, i = torch.ones(3), torch.tensor([7])
    check_against_eager(f, x, i)
    assert torch.is_grad_enabled()


class Base:
    def size(self, k=2):
        return k


class Child(Base):
    def size(self, k=3):
        return super().size(k) + 1


def test_patching_is_noticed():
    from tests.capture.check import Run, capture

    def f(x, of):
        return x * of.size()

    x, of = torch.ones(2), Child()
    g = capture(f, Run())
    assert g(x, of)[0] == 4
    Base.size, saved = (lambda self, k: 10), Base.size
    assert g(x, of)[0] == 11
    Base.size = saved
    Child.size.__defaults__ = (5,)
    assert g(x, of)[0] == 6
    Child.size.__defaults__ = (3,)
    of.size = lambda: 100
    assert g(x, of)[0] == 100
    other = Base()
    assert g(x, other)[0] == 2


def test_floats_are_guarded_by_bits_and_types():
    from tests.capture.check import Run, capture

    def f(x, s):
        return torch.copysign(x, torch.full((), 1.0)) * s

    g, x = capture(f, Run()), torch.ones(1)
    for s in (0.0, -0.0, 1, True, 1.0):
        assert repr(g(x, s)) == repr(f(x, s))

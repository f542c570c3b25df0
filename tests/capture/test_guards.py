"""Guards: what was assumed and changes makes the check fail, what was not does not; no user code
runs meanwhile, nothing is kept alive, and the explanation names the culprit."""

import collections
import copy
import gc
import math
import types
import weakref

import pytest
import torch
from hypothesis import given, settings, strategies as st

import minicompiler
from minicompiler.capture import source as S
from minicompiler.capture.facts import AMBIENT, TensorFacts, overlaps
from minicompiler.capture.guards import GuardSet, vector_of
from minicompiler.errors import Unsupported
from tests.capture.paths import attribute, part

torch.set_num_threads(1)
V = S.Local("v")


def default(function, index):
    return S.Item(S.Field(function, "__defaults__"), index)


def kw_default(function, name):
    return S.Item(S.Field(function, "__kwdefaults__"), name)


def guards(*rows, vector=("v",), f_globals=None):
    made = GuardSet(vector, {} if f_globals is None else f_globals)
    for kind, source, expected in rows:
        made.add(kind, source, expected, "user.py:7")
    return made


def holds(made, *vector):
    """The check's answer; the explanation must agree with it."""
    answer = made.build()(*vector)
    failure = made.explain_failure(*vector)
    assert answer is (failure is None)
    return answer


# ---------------------------------------------------------------- constants
CONSTANTS = [
    None, True, False, 0, 1, -1, 2**70, "", "a", b"a", 0.0, -0.0, 1.0, 1.5, math.nan, -math.nan,
    math.inf, -math.inf, 1j, 0j, complex(0.0, -0.0), (), (1,), (1.0,), (True,), (0.0,), (-0.0,),
    (1, (2, "x")), (math.nan,), ..., NotImplemented, range(3), range(0, 3, 2), range(0),
    range(5, 5), slice(None), slice(0, None), slice(0.0, None), slice(-0.0, None), frozenset({1}),
    frozenset({True}), frozenset({1.0}), frozenset({0.0}), frozenset({-0.0}), {1}, {"a", 2},
    frozenset({int, str}), torch.float32, torch.float64, torch.strided, torch.device("cpu"),
    torch.device("cpu", 0), torch.device("meta"), torch.channels_last, torch.Size([1]),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(CONSTANTS)))
def test_a_constant_equals_itself_and_no_other(i):
    made = guards(("EQUALS", V, CONSTANTS[i]))
    check = made.build()
    assert [j for j, other in enumerate(CONSTANTS) if check(other)] == [i]
    if not isinstance(CONSTANTS[i], torch.Size):
        assert check(copy.deepcopy(CONSTANTS[i]))


def test_what_is_no_constant_is_refused():
    class Int(int):
        pass

    for value in (Int(1), [1], {}, object(), collections.namedtuple("P", "x")(1)):
        with pytest.raises(Unsupported):
            guards(("EQUALS", V, value))
    assert not holds(guards(("EQUALS", V, 1)), Int(1))
    with pytest.raises(KeyError):
        guards(("NO_SUCH_KIND", V, 1))


atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(width=16, allow_nan=False),
    st.just(math.nan),
    st.text("ab", max_size=2),
)
constants = st.recursive(atoms, lambda inner: st.tuples(inner, inner), max_leaves=4)


@given(constants, constants)
def test_equals_is_equality_of_text(a, b):
    """For these, repr tells apart exactly what a program can (except the payload of a nan)."""
    assert guards(("EQUALS", V, a)).build()(b) is (repr(a) == repr(b))


# ---------------------------------------------------------------- a random world, mutated
class Node:
    """An object of the random world; user code in it must not run while it is checked."""

    running = True

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __eq__(self, other):
        assert not Node.checking, "user code ran"
        return self is other

    __hash__ = object.__hash__
    checking = False

    def __getattribute__(self, name):
        assert not Node.checking, "user code ran"
        return object.__getattribute__(self, name)


worlds = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("xyz"), inner, min_size=1).map(lambda d: Node(**d)),
    ),
    max_leaves=12,
)


def leaves(value, source):
    """(source, value, containers above as (source, value)) of each leaf."""
    if type(value) in (list, tuple):
        parts = [(S.Item(source, i), part) for i, part in enumerate(value)]
    elif type(value) is dict:
        parts = [(S.Item(source, k), part) for k, part in value.items()]
    elif type(value) is Node:
        parts = [(attribute(source, k), part) for k, part in vars(value).items()]
    else:
        yield source, value, []
        return
    for inner, value_there in parts:
        for leaf, found, above in leaves(value_there, inner):
            yield leaf, found, [(source, value), *above]


def put(source, world, value):
    """Write at a path; tuples on the way are made anew. Returns the new world."""
    if source == V:
        return value
    of = source.of
    container = at(of, world)
    if type(container) is tuple:
        return put(of, world, container[: source.key] + (value,) + container[source.key + 1 :])
    container[source.key] = value
    return world


def at(source, world):
    if source == V:
        return world
    container = at(source.of, world)
    return vars(container) if isinstance(source, S.OwnDict) else container[source.key]


@settings(max_examples=60, deadline=None)
@given(worlds, st.data())
def test_mutating_what_is_guarded_fails_and_the_rest_does_not(world, data):
    everything = list(leaves(world, V))
    guarded = [leaf for leaf in everything if data.draw(st.booleans())]
    rows = []
    for source, value, above in guarded:
        rows += [("TYPE", s, type(v)) for s, v in above] + [("EQUALS", source, value)]
    made = guards(*data.draw(st.permutations(rows)))
    check = made.build()
    Node.checking = True
    try:
        assert check(world) and made.explain_failure(world) is None
    finally:
        Node.checking = False
    for source, value, _ in everything:
        other = data.draw(atoms.filter(lambda o: repr(o) != repr(value)), label="other")
        changed = put(source, copy.deepcopy(world), other)
        is_guarded = any(s == source for s, _, _ in guarded)
        Node.checking = True
        try:
            assert check(changed) is not is_guarded
            failure = made.explain_failure(changed)
        finally:
            Node.checking = False
        assert (failure.guard.source if failure else None) == (source if is_guarded else None)
    for source, _, above in guarded:
        for container, _ in above:  # the container itself becomes something else
            for intruder in (None, Node(), [], {}, "text", torch.ones(1)):
                changed = put(container, copy.deepcopy(world), intruder)
                if type(intruder) is not type(at(container, world)):
                    Node.checking = True
                    try:
                        assert check(changed) is False
                    finally:
                        Node.checking = False


# ---------------------------------------------------------------- intruders with user code
class Hostile:
    """Every door to user code, armed."""

    def _ran(self, *args, **kwargs):
        raise AssertionError("user code ran")

    __eq__ = __ne__ = __hash__ = __len__ = __bool__ = __iter__ = __contains__ = __getitem__ = _ran
    __repr__ = __str__ = __index__ = __float__ = __int__ = __call__ = __getattr__ = _ran
    __class__ = property(_ran)

    def __getattribute__(self, name):
        raise AssertionError("user code ran")


class HostileList(list):
    __eq__ = __len__ = __iter__ = __contains__ = __getitem__ = __repr__ = Hostile._ran


class HostileDict(dict):
    __eq__ = __len__ = __iter__ = __contains__ = __getitem__ = __repr__ = Hostile._ran
    keys = items = get = __missing__ = Hostile._ran


class HostileMeta(type):
    __eq__ = __instancecheck__ = __subclasscheck__ = __getattribute__ = __repr__ = Hostile._ran
    __hash__ = type.__hash__


HOSTILE = [Hostile(), HostileList([1]), HostileDict(a=1)]


@pytest.mark.parametrize("hostile", [0, 1, 2])
@pytest.mark.parametrize(
    "kind, source, expected",
    [
        ("TYPE", V, list),
        ("ID", V, list),
        *(("EQUALS", V, c) for c in (None, 1, 0.0, "a", (1,), range(1), frozenset({1}))),
        ("LENGTH", V, 5),
        ("HAS_KEY", V, ("b", True)),
        ("DICT_KEYS", V, ["b"]),
        ("TENSOR", V, torch.ones(2)),
        ("TYPE", S.TypeOf(V), str),
        ("ID", S.ClassAttr(S.TypeOf(V), "forward"), list),
        ("ID", attribute(V, "b"), 1),
        ("ID", S.Slot(V, "b"), 1),
        ("ID", S.ItemAs(V, "b", dict), 1),
        ("ID", S.ItemAs(V, 4, list), 1),
        ("ID", S.DictKey(V, 3), "b"),
        ("ID", S.ItemAs(V, S.DictKey(V, 0), dict), "b"),
        ("ID", S.Item(S.Mro(S.TypeOf(V)), 0), int),
    ],
)
def test_an_intruder_fails_the_check_and_is_never_asked(hostile, kind, source, expected):
    made = guards((kind, source, expected))
    assert holds(made, HOSTILE[hostile]) is False
    str(made.explain_failure(HOSTILE[hostile]))


def test_items_of_a_dictionary_may_be_hostile():
    key = Hostile.__new__(Hostile)
    assert holds(guards(("DICT_KEYS", V, ["a"])), dict.fromkeys([1])) is False
    assert holds(guards(("EQUALS", V, {1})), {(1, 2)}) is False
    with_object = collections.OrderedDict([(object, key)])
    assert holds(guards(("DICT_KEYS", V, [object])), with_object)
    assert not holds(guards(("DICT_KEYS", V, [int])), with_object)


def test_a_hostile_metaclass():
    class Odd(metaclass=HostileMeta):
        pass

    odd = object.__new__(Odd)
    made = guards(("TYPE", V, list), ("ID", S.ClassAttr(S.TypeOf(V), "f"), None))
    assert made.build()(odd) is False


# ---------------------------------------------------------------- objects and their death
class Thing:
    pass


def test_an_address_used_again_is_not_the_object():
    thing = Thing()
    made = guards(("ID", V, thing))
    check = made.build()
    assert check(thing) and not made.dead
    del thing
    assert made.dead and not check(None)
    for _ in range(100):
        assert not check(Thing())
    assert made.explain_failure(None).expected == "the same Thing object"


def test_guards_keep_nothing_alive():
    class Net(torch.nn.Module):
        pass

    net, key = Net(), Thing()
    refs = [weakref.ref(o) for o in (Net, net, key)]
    made = guards(
        ("TYPE", V, Net),
        ("ID", attribute(V, "n"), net),
        ("DICT_KEYS", attribute(V, "d"), [key]),
        ("TENSOR", attribute(V, "t"), torch.ones(1)),
    )
    check = made.build()
    del Net, net, key
    gc.collect()
    assert [r() for r in refs] == [None] * 3 and made.dead and not check(None)


def test_kinds_about_objects():
    class Base:
        def method(self):
            pass

    class Derived(Base):
        pass

    thing = Derived()
    made = guards(
        ("TYPE", V, Derived),
        ("ID", S.ClassAttr(S.TypeOf(V), "method"), Base.method),
        ("HAS_KEY", S.OwnDict(V), ("method", False)),
        ("HAS_KEY", S.OwnDict(V), ("other", False)),
        ("ID", S.ClassAttr(S.TypeOf(V), "__getattr__"), S.MISSING),
    )
    assert holds(made, thing)
    thing.method = 1  # shadows the method
    assert not holds(made, thing)
    del thing.method
    thing.other = 1
    assert not holds(made, thing)
    del thing.other
    thing.unrelated = 1
    assert holds(made, thing)
    Derived.method = lambda self: 1  # found before the one of Base
    assert not holds(made, thing)
    del Derived.method
    assert holds(made, thing)
    Derived.__getattr__ = lambda self, name: 1
    assert not holds(made, thing)
    del Derived.__getattr__
    thing.__class__ = Base
    assert not holds(made, thing)


def test_functions_cells_defaults_and_globals():
    def make(x, unbound=False):
        def f(a=1, *, k=2):
            return a, k, x, g  # noqa: F821

        if unbound:
            del x
        return f

    f = make([0])
    space = {"g": len}
    made = guards(
        ("ID", S.Field(V, "__code__"), f.__code__),
        ("EQUALS", default(V, 0), 1),
        ("EQUALS", kw_default(V, "k"), 2),
        ("TYPE", S.Contents(S.Item(S.Field(V, "__closure__"), 0)), list),
        ("LENGTH", S.Contents(S.Cell("c")), 1),
        ("ID", S.Item(S.Globals(), "g"), len),
        ("HAS_KEY", S.Globals(), ("len", False)),
        vector=("v", "c"),
        f_globals=space,
    )
    cell = types.CellType([1])
    assert holds(made, f, cell)
    for change, undo in [
        (lambda: setattr(f, "__defaults__", (5,)), lambda: setattr(f, "__defaults__", (1,))),
        (lambda: setattr(f, "__defaults__", None), lambda: setattr(f, "__defaults__", (1,))),
        (lambda: f.__kwdefaults__.update(k=3), lambda: f.__kwdefaults__.update(k=2)),
        (
            lambda: setattr(cell, "cell_contents", [1, 2]),
            lambda: setattr(cell, "cell_contents", [1]),
        ),
        (lambda: space.update(g=max), lambda: space.update(g=len)),
        (lambda: space.update(len=1), lambda: space.pop("len")),
    ]:
        change()
        assert not holds(made, f, cell)
        undo()
        assert holds(made, f, cell)
    space["unrelated"] = 1
    assert holds(made, f, cell)
    del cell.cell_contents
    assert not holds(made, f, cell)
    assert not holds(made, make((0,)), types.CellType([1]))

    empty = guards(("EMPTY_CELL", S.Cell("c"), True), vector=("c",))
    assert holds(empty, cell) and not holds(empty, types.CellType(1))
    assert vector_of(f.__code__) == ("a", "k", "x")


def test_containers():
    made = guards(("LENGTH", V, 2), ("DICT_KEYS", V, ["a", 1]))
    assert holds(made, {"a": 0, 1: 0}) and holds(made, collections.OrderedDict(a=0) | {1: 2})
    for other in (
        {1: 0, "a": 0},
        {"a": 0, 1.0: 0},
        {"a": 0, True: 0},
        {"a": 0},
        {"a": 0, 1: 1, 2: 2},
    ):
        assert not holds(made, other)
    swapped = collections.OrderedDict([(1, 0), ("a", 0)])
    swapped.move_to_end(1)
    assert holds(made, swapped)
    for value in ([1, 2], (1, 2), {1, 2}, "ab", collections.deque([1, 2]), HostileList([1, 2])):
        assert holds(guards(("LENGTH", V, 2)), value)
        assert not holds(guards(("LENGTH", V, 3)), value)
    assert holds(guards(("HAS_KEY", V, ("a", True))), HostileDict(a=1))


# ---------------------------------------------------------------- tensors
def base():
    return torch.zeros(2, 3)


TENSORS = {
    "plain": base,
    "dtype": lambda: base().double(),
    "size": lambda: torch.zeros(3, 2),
    "rank": lambda: torch.zeros(2, 3, 1),
    "stride": lambda: torch.zeros(3, 2).t(),
    "requires_grad": lambda: base().requires_grad_(),
    "parameter": lambda: torch.nn.Parameter(base()),
    "frozen parameter": lambda: torch.nn.Parameter(base(), requires_grad=False),
    "device": lambda: torch.zeros(2, 3, device="meta"),
    "neg": lambda: torch.zeros(2, 3, dtype=torch.complex64).conj().imag,
    "complex": lambda: torch.zeros(2, 3, dtype=torch.complex64),
    "conj": lambda: torch.zeros(2, 3, dtype=torch.complex64).conj(),
    "inference": lambda: torch.inference_mode()(base)(),
    "sparse": lambda: torch.zeros(2, 3).to_sparse(),
    "number": lambda: 0.0,
}


@pytest.mark.parametrize("name", [n for n in TENSORS if n != "number"])
def test_tensor_facts_tell_these_apart(name):
    expected = TENSORS[name]()
    made = GuardSet(("v",), {})
    made.add("TENSOR", V, TensorFacts.of(expected))
    assert holds(made, TENSORS[name]())
    assert [other for other in TENSORS if holds(made, TENSORS[other]())] == [name]


def test_tensor_facts_do_not_ask_for_more():
    t = torch.zeros(4, 6)
    made = guards(("TENSOR", V, t[:2, :3]))
    assert holds(made, t[1:3, 2:5])  # another offset
    t.add_(1)  # another version
    assert holds(made, t[:2, :3])
    p = torch.nn.Parameter(torch.zeros(2, 3))
    made = guards(("TENSOR", V, p))
    p.data = torch.zeros(3, 3)  # neither the version nor the identity tells
    assert not holds(made, p)
    p.data = torch.ones(2, 3)
    assert holds(made, p)
    p.requires_grad_(False)
    assert not holds(made, p)


def test_subclasses_of_tensor_are_refused():
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *args, **kwargs):
            raise AssertionError("user code ran")

    sub = torch.zeros(2).as_subclass(Sub)
    with pytest.raises(Unsupported):
        guards(("TENSOR", V, sub))
    made = guards(("TENSOR", V, torch.zeros(2)))
    assert made.build()(sub) is False
    assert "Sub" in str(made.explain_failure(sub))


# ---------------------------------------------------------------- relations
def test_aliasing():
    W = S.Local("w")
    a, b = [], []
    alias = guards(("ALIASED", V, W), vector=("v", "w"))
    other = guards(("NOT_ALIASED", V, W), vector=("v", "w"))
    assert holds(alias, a, a) and not holds(alias, a, b)
    assert holds(other, a, b) and not holds(other, a, a)
    three = guards(("DISTINCT", None, (V, W, S.Local("x"))), vector=("v", "w", "x"))
    assert holds(three, a, b, 1) and not holds(three, a, b, a)


def test_overlapping_memory():
    t = torch.zeros(10)
    array = torch.zeros(4).numpy()
    cases = [
        ((t[:5], t[5:]), [(0, 1)]),  # one storage
        ((t[:6], t[5:]), [(0, 1)]),
        ((t, t), [(0, 1)]),
        ((t[:3], torch.zeros(3), t[2:], t[9:]), [(0, 2), (0, 3), (2, 3)]),
        ((t[:0], t), []),
        ((torch.from_numpy(array), torch.from_numpy(array)[1:]), [(0, 1)]),
        ((t.view(2, 5)[:, 0], t.view(2, 5)[:, 1]), [(0, 1)]),  # by extent: never too few
    ]
    for tensors, pairs in cases:
        shared = overlaps(tensors)
        assert sorted(found[:2] for found in shared) == pairs
        vector = tuple("abcd"[: len(tensors)])
        sources = [S.Local(name) for name in vector]
        for others, _ in cases:
            if len(others) == len(tensors):
                made = guards(("OVERLAPS", None, (sources, shared)), vector=vector)
                assert holds(made, *others) is (shared == overlaps(others))


# ---------------------------------------------------------------- ambient state
def default_dtype():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def precision():
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision("highest")


def cached_casts():
    torch.set_autocast_cache_enabled(False)
    yield
    torch.set_autocast_cache_enabled(True)


def entered(context):
    with context:
        yield


STATES = {
    "grad mode": lambda: entered(torch.no_grad()),
    "inference": lambda: entered(torch.inference_mode()),
    "autocast": lambda: entered(torch.autocast("cpu", dtype=torch.bfloat16)),
    "autocast to half": lambda: entered(torch.autocast("cpu", dtype=torch.float16)),
    "default dtype": default_dtype,
    "default device": lambda: entered(torch.device("meta")),
    "another default device": lambda: entered(torch.device("cpu")),
    "deterministic": deterministic,
    "matmul precision": precision,
}


@pytest.mark.parametrize("state", [None, *STATES])
def test_ambient_state(state):
    """Guards taken in one state hold in it, and in none of the others."""

    def within(name):
        return STATES[name]() if name else iter([None])

    context = within(state)
    next(context)
    made = GuardSet(("v",), {})
    made.add_ambient()
    made.add("TENSOR", V, torch.zeros(2, device="cpu"))
    x = torch.zeros(2, device="cpu")
    if state == "inference":
        x = torch.zeros(2, device="cpu")
    assert holds(made, x)
    next(context, None)
    for other in (None, *STATES):
        context = within(other)
        next(context)
        assert holds(made, x) is (other == state), other
        next(context, None)


def test_the_cache_of_autocast_is_state_too():
    with torch.autocast("cpu"):
        made = GuardSet((), {})
        made.add_ambient()
        assert holds(made)
        context = cached_casts()
        next(context)
        assert not holds(made)
        next(context, None)


def test_modes_that_may_change_any_operator_are_refused():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Function(TorchFunctionMode):
        def __torch_function__(self, *args, **kwargs):
            raise AssertionError("user code ran")

    class Dispatch(TorchDispatchMode):
        pass

    made = GuardSet(("v",), {})
    made.add_ambient()
    made.add("TENSOR", V, torch.zeros(2))
    check, x = made.build(), torch.zeros(2)
    for mode in (Function(), Dispatch()):
        with mode:
            assert not check(x)
            with pytest.raises(Unsupported):
                GuardSet((), {}).add_ambient()
    assert check(x)


# ---------------------------------------------------------------- the set
def test_equal_rows_are_one_and_bits_count():
    made = guards(*[("EQUALS", V, 0.0)] * 3, ("TYPE", V, float), ("TYPE", V, float))
    assert len(made) == 2
    made.add("EQUALS", V, -0.0)
    assert len(made) == 3


def test_what_makes_a_read_safe_comes_before_it_and_cheap_checks_come_first():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    first = part(V, "_modules", "0")
    weight = part(first, "_parameters", "weight")
    made = guards(
        ("TYPE", S.Field(weight, "grad"), type(None)),
        ("TENSOR", weight, net[0].weight),
        ("TYPE", first, torch.nn.Linear),
        ("EQUALS", attribute(first, "training"), True),
        ("TYPE", V, torch.nn.Sequential),
    )
    made.add_ambient()
    rows = list(made)
    order = [(g.kind, g.source) for g in rows if g.source]
    assert order == [
        ("TYPE", V),
        ("TYPE", first),
        ("EQUALS", attribute(first, "training")),
        ("TENSOR", weight),
        ("TYPE", S.Field(weight, "grad")),
    ]
    assert [g.kind in AMBIENT for g in rows].index(True) == 2  # after the types
    assert holds(made, net)
    net.eval()
    assert not holds(made, net)


def test_failures_are_told_in_words():
    net = torch.nn.Linear(2, 3)
    weight = part(V, "_parameters", "weight")
    made = guards(("TENSOR", weight, net.weight), ("EQUALS", attribute(V, "out_features"), 3))
    assert str(made.explain_failure(torch.nn.Linear(4, 3))) == (
        "L['v'].weight: expected size (3, 2), stride (2, 1), "
        "found size (3, 4), stride (4, 1) (assumed at user.py:7)"
    )
    net.out_features = 3.0
    failure = made.explain_failure(net)
    assert (failure.expected, failure.found, failure.guard.where) == (
        "3",
        "3.0 (float)",
        "user.py:7",
    )
    del net.out_features
    assert "nothing there (KeyError" in str(made.explain_failure(net))
    made = guards(("ID", V, len), ("TYPE", V, int))
    assert "builtin_function_or_method len" in str(made.explain_failure(max))
    with torch.no_grad():
        ambient = GuardSet((), {})
        ambient.add_ambient()
    assert str(ambient.explain_failure()) == "GRAD_MODE: expected False, found True"


def test_odd_names():
    made = GuardSet((".0", "len", "v0", "c0", "G"), {"G": 1})
    for i, name in enumerate((".0", "len", "v0", "c0", "G")):
        made.add("LENGTH", S.Local(name), i)
    assert holds(made, "", "a", "ab", "abc", "abcd") and not holds(
        made, "", "", "ab", "abc", "abcd"
    )

    def len_(x):
        return 99

    len_.__name__ = "len"
    made = guards(("ID", V, len_), ("LENGTH", S.Item(V, 0), 1))
    assert not holds(made, [[1]])


def test_names_of_an_imported_module():
    """A module that is a value: what is read through it is guarded, what is written is written."""
    names = types.ModuleType("names")
    exec("scale = 3.0\nlog = []\ndef twice(x): return x * 2 * scale", vars(names))

    def f(x, module):
        module.seen = module.twice(x).shape
        module.log.append(module.scale)
        return module.twice(x) + module.scale, getattr(module, "absent", None)

    compiled, x = minicompiler.compile(f, fullgraph=True), torch.ones(3)
    for scale in (3.0, 4.0, 3.0):
        names.scale = scale
        found = compiled(x, names)
        assert vars(names).pop("seen") == (3,) and names.log.pop() == scale
        assert torch.equal(found[0], f(x, names)[0]) and found[1] is None
        names.log.clear()
    names.absent = 1
    assert compiled(x, names)[1] == 1
    names.twice = lambda x: x
    assert torch.equal(compiled(x, names)[0], x + 3)
    with pytest.raises(AttributeError, match="no attribute 'scale'"):
        del names.scale
        minicompiler.compile(f)(x, names)

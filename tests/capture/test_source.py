"""Sources: their text reaches the object, past all user code, and their repr says how."""

import collections
import functools
import types

import pytest
import torch

from minicompiler.capture import source as S
from minicompiler.capture.guards import GuardSet
from tests.capture.paths import attribute, part


def default(function, index):
    return S.Item(S.Field(function, "__defaults__"), index)


def kw_default(function, name):
    return S.Item(S.Field(function, "__kwdefaults__"), name)


def function_global(function, name):
    return S.Item(S.Field(function, "__globals__"), name)


class Slots:
    __slots__ = ("a",)


armed = []  # pytest looks at the examples too


class Tricky:
    """Looks like something else through every door that user code can open."""

    def __init__(self):
        object.__setattr__(self, "a", 1)

    def __getattribute__(self, name):
        assert not armed, f"user code ran: {name}"
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        assert not armed, f"user code ran: {name}"
        raise AttributeError(name)


class Base:
    shared = ["base"]


class Derived(Base):
    own = ["derived"]


class Items(collections.OrderedDict):
    def __getitem__(self, key):
        raise AssertionError("user code ran")

    __iter__ = keys = __getitem__


def with_defaults(a, b=[1], *, c=[2]):
    return a


def closing(x):
    return lambda: x


space = {"torch": torch, "f": with_defaults}
key_object = object()
slots = Slots()
slots.a = 5
items = Items(x=1, y=2)
items.move_to_end("x")
fallback = collections.defaultdict(list, k=[3])
point = collections.namedtuple("Point", "x y")([1], [2])
module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
outer = closing([4])
partial = functools.partial(with_defaults, 1)
L = S.Local


@pytest.mark.parametrize(
    "source, value, expected, text",
    [
        (L("v"), 3, 3, "L['v']"),
        (S.Cell("v"), types.CellType(3), None, "cell['v']"),
        (S.Contents(S.Cell("v")), types.CellType(key_object), key_object, "C['v']"),
        (S.Item(S.Globals(), "torch"), None, torch, "G['torch']"),
        (attribute(S.Item(S.Globals(), "torch"), "nn"), None, torch.nn, "G['torch'].nn"),
        (S.Const(key_object), None, key_object, "const(object)"),
        (attribute(L("v"), "a"), Tricky(), 1, "L['v'].a"),
        (S.Slot(L("v"), "a"), slots, 5, "L['v'].a"),
        (S.Field(L("v"), "__code__"), with_defaults, with_defaults.__code__, "L['v'].__code__"),
        (default(L("v"), 0), with_defaults, [1], "L['v'].__defaults__[0]"),
        (kw_default(L("v"), "c"), with_defaults, [2], "L['v'].__kwdefaults__['c']"),
        (
            S.Contents(S.Item(S.Field(L("v"), "__closure__"), 0)),
            outer,
            [4],
            "L['v'].__closure__[0].cell_contents",
        ),
        (
            function_global(L("v"), "torch"),
            with_defaults,
            torch,
            "L['v'].__globals__['torch']",
        ),
        (S.Field(L("v"), "func"), partial, with_defaults, "L['v'].func"),
        (S.Item(L("v"), 1), [1, [2]], [2], "L['v'][1]"),
        (S.Item(S.Item(L("v"), "k"), 0), {"k": ([9],)}, [9], "L['v']['k'][0]"),
        (S.ItemAs(L("v"), "x", dict), items, 1, "L['v']['x']"),
        (S.ItemAs(L("v"), "k", dict), fallback, [3], "L['v']['k']"),
        (S.ItemAs(L("v"), 1, tuple), point, [2], "L['v'][1]"),
        (S.DictKey(L("v"), 0), {key_object: [7]}, key_object, "list(L['v'])[0]"),
        (S.DictKey(L("v"), 0), items, "y", "list(L['v'])[0]"),
        (S.ItemAs(L("v"), S.DictKey(L("v"), 0), dict), {key_object: [7]}, [7], None),
        (S.TypeOf(L("v")), Tricky(), Tricky, "type(L['v'])"),
        (S.ClassAttr(L("v"), "shared"), Derived, Base.shared, "L['v'].shared"),
        (S.ClassAttr(L("v"), "nothing"), Derived, S.MISSING, "L['v'].nothing"),
        (S.Item(S.Mro(L("v")), 1), Derived, Base, "L['v'].__mro__[1]"),
        (S.Item(S.ClassDict(L("v")), "own"), Derived, Derived.own, "L['v'].__dict__['own']"),
        (
            part(part(L("v"), "_modules", "0"), "_parameters", "weight"),
            module,
            module[0].weight,
            "L['v'][0].weight",
        ),
        (
            part(part(L("v"), "_modules", "1"), "_buffers", "running_mean"),
            module,
            module[1].running_mean,
            "L['v'][1].running_mean",
        ),
    ],
)
def test_text_reads_what_the_path_says(source, value, expected, text):
    function_space = with_defaults.__globals__
    assert function_space["torch"] is torch
    read = GuardSet(("v",), space).reader([source])
    armed.append(True)
    try:
        (found,) = read(value)
    finally:
        armed.clear()
    if expected is not None:
        assert found is expected or (type(found) is type(expected) and found == expected)
    if text is not None:
        assert repr(source) == text


def test_paths_that_are_gone_raise():
    for source, value in [
        (attribute(L("v"), "gone"), types.SimpleNamespace()),
        (S.Item(L("v"), 4), [1]),
        (S.ItemAs(L("v"), "gone", dict), fallback),
        (S.Contents(S.Cell("v")), types.CellType()),
        (S.Item(S.Globals(), "gone"), None),
        (S.OwnDict(L("v")), slots),
        (S.OwnDict(L("v")), Derived),  # a class's dictionary is not an instance's
        (S.DictKey(L("v"), 3), {1: 2}),
    ]:
        with pytest.raises(Exception):
            GuardSet(("v",), {}).reader([source])(value)
    assert list(fallback) == ["k"]  # reading inserted nothing


def test_equal_paths_are_equal_and_hash_alike():
    def path():
        return attribute(S.Item(attribute(L("self"), "layers"), 3), "weight")

    assert path() == path() and hash(path()) == hash(path())
    assert path() != attribute(S.Item(attribute(L("self"), "layers"), 4), "weight")
    assert attribute(L("x"), "a") != S.Slot(L("x"), "a")
    assert S.Const([]) != S.Const([]) and S.Const(key_object) == S.Const(key_object)
    assert path().root == L("self")


def test_each_path_is_read_once():
    sources = [attribute(attribute(L("v"), "a"), name) for name in ("b", "c")]
    text = GuardSet(("v",), {}).reader(sources).text
    assert text.count("own_dict(") == 2  # of v and of v.a

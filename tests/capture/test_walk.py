"""Walks: whatever changes on the way from the root is noticed, even where an address is used again.

Runs on a bare Python too (no torch): `python -m pytest tests/capture/test_walk.py`.
"""

import gc
import importlib.util
import random
import sys
import types
import weakref
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:  # the packages without what their __init__ imports
    for name in ("minicompiler", "minicompiler.capture"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(Path(__file__).parents[2] / name.replace(".", "/"))]
        sys.modules.setdefault(name, bare)

from minicompiler.capture import frame_hook
from minicompiler.capture.frame_hook import Walk

pytestmark = pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)
OWN_DICT, ITEM, NO_ITEM, WHOLE, CLASS_ITEM = range(5)


class Module:
    def __init__(self, **parts):
        self.parts, self.k = parts, 0.5

    def forward(self):
        pass


class Other(Module):
    def forward(self):
        pass


STEPS = (
    (OWN_DICT, -1, ""),
    (ITEM, 0, "k"),
    (ITEM, 0, "parts"),
    (ITEM, 2, "a"),  # a Module
    (OWN_DICT, 3, ""),
    (ITEM, 4, "k"),
    (NO_ITEM, 4, "forward"),
    (CLASS_ITEM, 3, "forward"),
    (CLASS_ITEM, 3, "__getattr__"),
)
WANTED = (1, 5, 3)


def tree():
    return Module(a=Module(), b=Module())


def bind(root, steps=STEPS, wanted=WANTED):
    return Walk(steps, wanted, root)


def test_what_is_wanted_is_returned():
    root = tree()
    a = root.parts["a"]
    walk = bind(root)
    for _ in range(3):
        assert walk(root) == (0.5, 0.5, a)
    assert bind(root, STEPS, ())(root) == ()


CHANGES = {
    "value of the root": lambda root: setattr(root, "k", 1.5),
    "value below": lambda root: setattr(root.parts["a"], "k", 1.5),
    "equal value": lambda root: setattr(root.parts["a"], "k", float("0.5")),
    "deleted": lambda root: delattr(root, "k"),
    "item replaced": lambda root: root.parts.update(a=Module()),
    "item deleted": lambda root: root.parts.pop("a"),
    "cleared": lambda root: root.parts.clear(),
    "dictionary replaced": lambda root: setattr(root, "parts", {"a": Module()}),
    "no dictionary": lambda root: setattr(root, "parts", [1]),
    "own dictionary replaced": lambda root: setattr(root.parts["a"], "__dict__", {"k": 3}),
    "class": lambda root: setattr(root.parts["a"], "__class__", Other),
    "shadowed": lambda root: setattr(root.parts["a"], "forward", 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_noticed_for_good(name):
    root = tree()
    walk = bind(root)
    assert walk(root) is not None
    CHANGES[name](root)
    assert walk(root) is None and walk(root) is None


def test_what_is_not_on_the_way_may_change():
    root = tree()
    walk = bind(root)
    for i in range(50):
        root.step = i
        root.parts["b"] = Module()
        root.parts["a"].unrelated = i
        root.parts[f"new{i}"] = i
        assert walk(root) is not None


def test_stores_by_specialised_instructions_are_noticed():
    """Warm code stores attributes and items past the functions that cold code calls."""

    def set_attribute(o, value):
        o.k = value

    def set_item(o, value):
        o.parts["a"] = value

    def del_attribute(o, value):
        del o.k

    kept = tree()
    for store in (set_attribute, set_item, del_attribute):
        for i in range(300):
            root = tree() if i % 2 else kept
            root.parts["a"], root.k = Module(), 0.25
            walk = bind(root)
            assert walk(root) is not None
            store(root.parts["a"] if i % 3 and store is not set_item else root, Module())
            assert walk(root) is None


def test_the_class_of_what_leads_nowhere_is_noticed():
    class Slots:
        __slots__ = ("x",)

    class MoreSlots:
        __slots__ = ("x",)

    class Space(types.ModuleType):
        pass

    for leaf, cls in ((Slots(), MoreSlots), (Module(), Other), (types.ModuleType("m"), Space)):
        root = Module(a=leaf)
        walk = bind(root, STEPS[:4], (3,))
        assert walk(root) == (leaf,)
        leaf.__class__ = cls
        assert walk(root) is None


def test_class_changes_are_noticed():
    root = tree()
    for patch in ("forward", "__getattr__"):
        walk = bind(root)
        before = Module.__dict__.get(patch)
        setattr(Module, patch, lambda self, name="": 1)
        assert walk(root) is None
        delattr(Module, patch) if before is None else setattr(Module, patch, before)
        assert bind(root)(root) is not None


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="no dictionary versions")
def test_whole_dictionaries():
    root = tree()
    walk = bind(root, (*STEPS, (WHOLE, 2, "")))
    root.step = 1
    assert walk(root) is not None
    root.parts["c"] = 1
    assert walk(root) is None


def test_an_address_used_again_is_noticed():
    """Objects are freed and made until one lies where the guarded one was."""
    again = 0
    for _ in range(2000):
        root = tree()
        walk = bind(root)
        address = id(root.parts["a"])
        del root.parts["a"]
        root.parts["a"] = Module()
        again += id(root.parts["a"]) == address
        assert walk(root) is None
        walk = bind(root)
        root.k = None
        root.k = float(str(random.random()))
        assert walk(root) is None
    assert again


def test_only_constants_are_kept_alive():
    root = tree()
    root.parts["a"].up = root  # a cycle through what was walked
    walk = bind(root)
    gone = [weakref.ref(o) for o in (root, root.parts["a"])]
    del root
    gc.collect()
    assert [r() for r in gone] == [None, None]
    assert walk(tree()) is None


def test_classes_that_die_and_walks_that_form_cycles():
    class Local(Module):
        pass

    root = Local(a=Local())
    walk = bind(root)
    Local.walk = walk
    gone = weakref.ref(Local)
    del root, walk, Local
    gc.collect()
    assert gone() is None


def test_no_references_are_lost():
    root = tree()
    values = [root, root.k, root.parts, root.parts["a"], Module, Module.forward]
    walk = bind(root)
    del walk
    before = [sys.getrefcount(v) for v in values]
    for i in range(500):
        walk = bind(root)
        for _ in range(3):
            walk(root)
        if i % 2:
            root.extra = i
            walk(root)
            root.parts["a"].k = 0.5
            walk(root)
        with pytest.raises(LookupError):
            bind(root, (*STEPS, (ITEM, 0, "gone")))
    del walk
    values[1] = root.k
    after = [sys.getrefcount(v) for v in values]
    assert max(abs(a - b) for a, b in zip(after, before)) <= 2


def test_a_path_that_does_not_exist():
    with pytest.raises(LookupError):
        Walk(((OWN_DICT, -1, ""), (ITEM, 0, "k")), (), object())


def test_random_mutations_agree_with_looking():
    """After each mutation a walk answers exactly if all paths lead to the same objects."""

    def look(root):
        a = root.parts.get("a")
        shadow = hasattr(a, "__dict__") and "forward" in vars(a)
        return root.__dict__.get("k"), root.parts, a, getattr(a, "k", None), type(a), shadow

    mutations = [
        lambda root: setattr(root, "k", random.choice([0.5, 1.5])),
        lambda root: setattr(root, "extra", 1),
        lambda root: root.__dict__.pop("extra", None),
        lambda root: root.parts.update(a=random.choice(pool)),
        lambda root: root.parts.update(b=1),
        lambda root: setattr(random.choice(pool), "k", random.choice(values)),
        lambda root: setattr(random.choice(pool), "other", 1),
        lambda root: random.choice(pool).__dict__.pop("forward", None),
        lambda root: setattr(random.choice(pool), "forward", 1),
    ]
    random.seed(1)
    pool, values = [Module(), Module()], [0.5, 1.5, 2.5]
    root = Module(a=pool[0])
    for _ in range(300):
        for m in pool:
            m.__dict__.pop("forward", None)
        walk, before = bind(root), look(root)
        for _ in range(8):
            random.choice(mutations)(root)
            same = all(x is y for x, y in zip(look(root), before))
            assert (walk(root) is not None) is same
            if not same:
                break

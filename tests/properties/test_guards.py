"""Between two calls anything that the program read is changed: the answer stays eager's. What it
did not read may change as well: nothing is compiled again.

The world is a module's text, run twice; each change is made in both, one is called compiled. A
change that undoes itself is made by drawing it again.
"""

import contextlib
import random
import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st
from torch import nn

import minicompiler
from minicompiler.capture import frame_hook
from tests.properties.tensor_programs import execute

pytestmark = pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)

WORLD = """
import collections, dataclasses, enum, math
from torch import nn

FLAG, WEIGHTS, TABLE, UNREAD = True, [0.5, -0.0, 2.0], {"a": 1, "b": (2, 3)}, 0
NAMES, QUEUE = {"x", "y"}, collections.deque([1, 2])

class Mode(enum.Enum):
    ADD = 1
    MUL = 2

@dataclasses.dataclass
class Options:
    scale: float = 2.0
    mode: Mode = Mode.ADD
    unread: int = 0

class Base:
    bias = 0.25
    def shift(self, x):
        return x + self.bias
    @property
    def twice(self):
        return 2 * self.k
    def __getattr__(self, name):
        if name == "absent":
            return 0.125
        raise AttributeError(name)

class Helper(Base):
    def __init__(self):
        self.k, self.unread = 3, 0
    def shift(self, x):
        return super().shift(x) * self.k

class Other(Base):
    k = 5

class Slotted:
    __slots__ = ("a", "unread")
    def __init__(self):
        self.a, self.unread = 1.5, 0

def scaled(x, by=2.0, *, plus=1):
    return x * by + plus

def counter():
    n, unread = 1, 0
    def count(x):
        return x + n
    def write(value):
        nonlocal n
        n = value
    def write_unread(value):
        nonlocal unread
        unread = value
    return count, write, write_unread

count, write_cell, write_unread_cell = counter()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Tanh(), nn.Dropout(0.5)])
        self.register_buffer("offset", torch.ones(3))
        self.register_buffer("unread_buffer", torch.ones(3))
        self.options, self.helper, self.slotted = Options(), Helper(), Slotted()
        self.extra, self.unread = [torch.ones(3), 1], 0
        self.other = nn.Linear(3, 3)  # unread

    def forward(self, x, y, k=1):
        h = self.fc(x) + self.offset
        for layer in self.layers:
            h = layer(h)
        if FLAG:
            h = h * WEIGHTS[0] + math.copysign(1.0, WEIGHTS[1])
        if self.options.mode is Mode.ADD:
            h = h + y * self.options.scale
        else:
            h = h * y
        h = self.helper.shift(h) + self.helper.twice + self.helper.absent
        h = scaled(h) + count(h) + self.slotted.a
        for name, value in TABLE.items():
            h = h + (value if name == "a" else value[1])
        if "x" in NAMES:
            h = h + len(QUEUE)
        h = h + self.extra[0] * self.extra[1]
        if x is y:
            h = h * 2
        if h.requires_grad:
            h = h + 1
        if x.dtype == torch.float64:
            h = h - 1
        return h + k, h.shape, x.stride()

def inputs():
    return dict(x=torch.linspace(-1, 1, 6).view(2, 3), y=torch.ones(2, 3))

net, a = Net().eval(), inputs()
"""


class World:
    def __init__(self) -> None:
        self.space = types.SimpleNamespace(**execute(WORLD))
        self.module = self.space.Net.forward.__globals__
        self.net, self.a = self.space.net, self.module["a"]
        self.grad, self.autocast = True, False


def set_code(f: Any, source: str) -> None:
    space: dict[str, Any] = {}
    exec(source, space)
    f.__code__ = space["f"].__code__


def toggle_hook(w: World) -> None:
    if w.net.fc._forward_hooks:
        w.net.fc._forward_hooks.clear()
    else:
        w.net.fc.register_forward_hook(lambda m, args, out: out * 3)


def shared(w: World) -> None:
    base = torch.linspace(0, 1, 9)
    w.a["x"], w.a["y"] = base[:6].view(2, 3), base[3:].view(2, 3)


def set_all(of: Any, **values: Any) -> None:
    for name, value in values.items():
        of[name] = value


Change = Callable[[World], Any]
READ: dict[str, Change] = {
    "global": lambda w: set_all(w.module, FLAG=not w.module["FLAG"]),
    "global of another type": lambda w: set_all(w.module, FLAG=[]),
    "list item": lambda w: set_all(w.module, WEIGHTS=[0.75, -0.0, 2.0]),
    "list item in place": lambda w: w.module["WEIGHTS"].__setitem__(0, 1.5),
    "sign of zero": lambda w: w.module["WEIGHTS"].__setitem__(1, -w.module["WEIGHTS"][1]),
    "int for float": lambda w: w.module["WEIGHTS"].__setitem__(0, 1),
    "dict item": lambda w: w.module["TABLE"].__setitem__("a", 7),
    "dict order": lambda w: w.module["TABLE"].update(a=w.module["TABLE"].pop("a")),
    "tuple in a dict": lambda w: w.module["TABLE"].__setitem__("b", (2, 5)),
    "dict value of another type": lambda w: w.module["TABLE"].__setitem__("a", 1.0),
    "set": lambda w: w.module["NAMES"].symmetric_difference_update({"x"}),
    "deque": lambda w: w.module["QUEUE"].append(1),
    "cell": lambda w: w.module["write_cell"](random.randint(2, 9)),
    "defaults": lambda w: setattr(w.module["scaled"], "__defaults__", (3.0,)),
    "keyword defaults": lambda w: w.module["scaled"].__kwdefaults__.update(plus=4),
    "code": lambda w: set_code(w.module["scaled"], "def f(x, by=2.0, *, plus=1): return x - by"),
    "function": lambda w: set_all(w.module, scaled=lambda x: x / 2),
    "method": lambda w: setattr(w.module["Helper"], "shift", lambda self, x: x - 1),
    "method of a base": lambda w: setattr(w.module["Base"], "shift", lambda self, x: x + 9),
    "class attribute": lambda w: setattr(w.module["Base"], "bias", 0.5),
    "class attribute shadowed": lambda w: setattr(w.net.helper, "bias", 0.75),
    "method shadowed": lambda w: setattr(w.net.helper, "shift", lambda x: x * 7),
    "absent is there": lambda w: setattr(w.net.helper, "absent", 1.0),
    "property": lambda w: setattr(w.module["Base"], "twice", property(lambda self: self.k)),
    "__getattr__": lambda w: setattr(w.module["Base"], "__getattr__", lambda self, name: 8.0),
    "attribute": lambda w: setattr(w.net.helper, "k", w.net.helper.k + 1),
    "__class__": lambda w: setattr(w.net.helper, "__class__", w.module["Other"]),
    "bases": lambda w: setattr(w.module["Helper"], "__bases__", (w.module["Base"],)),
    "slot": lambda w: setattr(w.net.slotted, "a", 2.5),
    "object": lambda w: setattr(w.net, "helper", w.module["Other"]()),
    "dataclass": lambda w: setattr(w.net.options, "scale", -1.5),
    "enum": lambda w: setattr(w.net.options, "mode", w.module["Mode"].MUL),
    "tensor in a list": lambda w: w.net.extra.__setitem__(0, torch.full((3,), 2.0)),
    "tensor in a list, in place": lambda w: w.net.extra[0].add_(1),
    "number beside a tensor": lambda w: w.net.extra.__setitem__(1, 3),
    "training": lambda w: w.net.train(not w.net.training),
    "training of a part": lambda w: w.net.layers[2].train(not w.net.layers[2].training),
    "p of dropout": lambda w: setattr(w.net.layers[2], "p", 0.0),
    "hook": toggle_hook,
    "layer replaced": lambda w: w.net.layers.__setitem__(1, nn.ReLU()),
    "layer added": lambda w: w.net.layers.append(nn.ReLU()),
    "layer removed": lambda w: w.net.layers.pop(len(w.net.layers) - 1),
    "parameter": lambda w: setattr(w.net.fc, "weight", nn.Parameter(torch.ones(3, 3))),
    "parameter in place": lambda w: w.net.fc.weight.data.mul_(0.5),
    "data": lambda w: setattr(w.net.fc.weight, "data", torch.ones(3, 3).t() * 2),
    "bias gone": lambda w: setattr(w.net.fc, "bias", None),
    "requires_grad_": lambda w: w.net.requires_grad_(not w.net.fc.weight.requires_grad),
    "requires_grad_ of one": lambda w: w.net.fc.bias is not None and w.net.fc.bias.requires_grad_(),
    "buffer": lambda w: setattr(w.net, "offset", torch.zeros(3)),
    "double": lambda w: (w.net.double(), set_all(w.a, x=w.a["x"].double())),
    "strides": lambda w: set_all(w.a, x=w.a["x"].t().contiguous().t()),
    "size": lambda w: set_all(w.a, x=torch.ones(3, 3), y=torch.zeros(3, 3)),
    "size one": lambda w: set_all(w.a, y=torch.ones(1, 3)),
    "rank": lambda w: set_all(w.a, y=torch.tensor(2.0)),
    "dtype": lambda w: set_all(w.a, y=torch.ones(2, 3, dtype=torch.int64)),
    "same object": lambda w: set_all(w.a, y=w.a["x"]),
    "shared memory": shared,
    "argument": lambda w: set_all(w.a, k=random.choice([1, True, 2.0, -0.0, 0.0])),
    "no argument": lambda w: w.a.pop("k", None),
    "no tensor": lambda w: set_all(w.a, y=3),
    "input requires grad": lambda w: set_all(w.a, x=w.a["x"].detach().requires_grad_()),
    "grad mode": lambda w: setattr(w, "grad", not w.grad),
    "autocast": lambda w: setattr(w, "autocast", not w.autocast),
    "global deleted": lambda w: w.module.pop("count", None),
    "attribute deleted": lambda w: vars(w.net.helper).pop("k", None),
}
UNREAD: dict[str, Change] = {
    "global": lambda w: set_all(w.module, UNREAD=w.module["UNREAD"] + 1),
    "new global": lambda w: set_all(w.module, **{f"new{random.random()}": 1}),
    "attribute": lambda w: setattr(w.net, "unread", w.net.unread + 1),
    "new attribute": lambda w: setattr(w.net, f"new{random.random()}", 1),
    "attribute of a helper": lambda w: setattr(w.net.helper, "unread", w.net.helper.unread + 1),
    "field": lambda w: setattr(w.net.options, "unread", w.net.options.unread + 1),
    "slot": lambda w: setattr(w.net.slotted, "unread", w.net.slotted.unread + 1),
    "cell": lambda w: w.module["write_unread_cell"](random.randint(1, 9)),
    "list item": lambda w: w.module["WEIGHTS"].__setitem__(2, random.random()),
    "tuple item": lambda w: set_all(w.module["TABLE"], b=(9, w.module["TABLE"]["b"][1])),
    "values of a parameter": lambda w: w.net.fc.weight.data.mul_(0.9),
    "values of a buffer": lambda w: w.net.offset.add_(1),
    "values of an input": lambda w: w.a["x"].data.mul_(0.9),
    "another input": lambda w: set_all(w.a, x=w.a["x"].clone()),
    "parameter of the same kind": lambda w: setattr(
        w.net.fc, "weight", nn.Parameter(w.net.fc.weight.detach() * 2)
    ),
    "data of the same kind": lambda w: setattr(w.net.fc.weight, "data", torch.ones(3, 3)),
    "unread parameter": lambda w: setattr(w.net.other, "bias", None),
    "hook of an unread module": lambda w: w.net.other.register_forward_hook(print),
    "training of an unread module": lambda w: w.net.other.train(not w.net.other.training),
    "unread buffer": lambda w: setattr(w.net, "unread_buffer", torch.zeros(5)),
    "a method that is not called": lambda w: setattr(w.module["Other"], "shift", None),
    "gradients": lambda w: [setattr(p, "grad", torch.ones_like(p)) for p in w.net.parameters()],
}


def observe(world: World, net: Callable[..., Any]) -> list[Any]:
    """What a call gives: values with their gradients, or the exception."""
    torch.manual_seed(1)
    with contextlib.ExitStack() as modes:
        modes.enter_context(torch.set_grad_enabled(world.grad))
        modes.enter_context(torch.autocast("cpu", torch.bfloat16, enabled=world.autocast))
        try:
            out, *rest = net(**world.a)
        except Exception as error:
            return [type(error).__name__, str(error).partition(" at 0x")[0]]
    seen = [str(out.dtype), out.stride(), out.requires_grad, out.detach().clone(), *rest]
    if out.requires_grad:
        leaves = [t for t in (*world.a.values(), *world.net.parameters()) if needs_grad(t)]
        seen += torch.autograd.grad(out.sum(), leaves, allow_unused=True)
    return seen


def needs_grad(t: Any) -> bool:
    return isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.dtype == b.dtype and torch.allclose(a, b, 1e-5, 1e-6, equal_nan=True)
    return bool(a == b)


def check(changes: list[tuple[str, Change]], backend: str) -> None:
    """`changes` one after the other, with a call after each."""
    mine, eager = World(), World()
    minicompiler.reset()
    torch.manual_seed(0)
    options = {"recompile_limit": 64, "fallback_random": True}
    compiled = minicompiler.compile(mine.net, backend=backend, options=options)
    done = []
    for name, change in [("nothing", lambda w: None), *changes]:
        done.append(name)
        state = random.getstate()
        for world in (mine, eager):
            random.setstate(state)
            with contextlib.suppress(Exception):  # some do not fit on others
                change(world)
        expected = observe(eager, eager.net)
        for _ in range(2):
            found = observe(mine, compiled)
            assert len(found) == len(expected) and all(map(same, found, expected)), (
                f"after {done}: {found} instead of {expected}"
            )


@pytest.mark.parametrize("name", READ)
def test_one_change_and_back(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check([(name, READ[name]), (name, READ[name])], "eager")


changes = st.sampled_from([*READ.items(), *((f"{k}, unread", v) for k, v in UNREAD.items())])


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(st.lists(changes, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_any_changes(drawn: list[tuple[str, Change]], rng: random.Random) -> None:
    random.seed(rng.random())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(drawn, "eager")


@pytest.mark.parametrize("name", UNREAD)
def test_what_was_not_read_compiles_nothing_again(name: str) -> None:
    world = World()
    minicompiler.reset()
    compiled = minicompiler.compile(world.net, backend="eager")
    observe(world, compiled)
    before = minicompiler.stats()
    assert before["graphs"] == 1 and not before["breaks"]
    for _ in range(2):
        UNREAD[name](world)
        observe(world, compiled)
    after = minicompiler.stats()
    assert (after["graphs"], after["frames"]) == (1, before["frames"]), after["recompile_reasons"]

"""Bindings: the fast check answers as the plain one does, whatever is done to the module."""

import copy
import gc
import random
import weakref

import pytest
import torch
from torch import nn

from minicompiler.capture import binding, frame_hook, source as S
from minicompiler.capture.facts import TensorFacts
from minicompiler.capture.guards import GuardSet
from tests.capture.paths import attribute, part

torch.set_num_threads(1)
pytestmark = pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)


SELF, X = S.Local("self"), S.Local("x")
TABLES = ("_modules", "_parameters", "_buffers")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)
        self.scale, self.sizes, self.shape = 0.5, [1, 2], (3, (4, 5))

    def forward(self, x):
        return x + self.norm(self.fc(x)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.step = 0

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def assume(made, source, module):
    """What a capture of the whole module assumes."""
    made.add("TYPE", source, type(module))
    made.add("ID", S.TypeOf(source), type(module))
    made.add("HAS_KEY", S.OwnDict(source), ("forward", False))
    made.add("ID", S.ClassAttr(S.TypeOf(source), "forward"), type(module).forward)
    made.add("EQUALS", attribute(source, "training"), module.training)
    made.add("TYPE", attribute(source, "_forward_hooks"), type(module._forward_hooks))
    made.add("LENGTH", attribute(source, "_forward_hooks"), 0)
    for table in TABLES:
        made.add("TYPE", attribute(source, table), dict)
        made.add("DICT_KEYS", attribute(source, table), list(vars(module)[table]))
        for name, value in vars(module)[table].items():
            if table == "_modules":
                assume(made, part(source, table, name), value)
            else:
                made.add("TENSOR", part(source, table, name), value, "net.py:1")
    if isinstance(module, Block):
        made.add("EQUALS", attribute(source, "scale"), module.scale)
        made.add("TYPE", attribute(source, "sizes"), list)
        made.add("EQUALS", S.Item(attribute(source, "sizes"), 1), 2)
        shape = attribute(source, "shape")
        for of in (shape, S.Item(shape, 1)):
            made.add("TYPE", of, tuple)
            made.add("LENGTH", of, 2)
        made.add("EQUALS", S.Item(S.Item(shape, 1), 0), 4)


def assumptions(net, x):
    made = GuardSet(("self", "x"), {})
    made.add_ambient()
    made.add("TENSOR", X, TensorFacts.of(x))
    assume(made, SELF, net)
    weight = part(net_path("0", "fc"), "_parameters", "weight")
    other = part(net_path("1", "fc"), "_parameters", "weight")
    made.add("DISTINCT", None, (X, weight, other))
    made.add("OVERLAPS", None, ((X, weight), ()))
    return made


def whole(made):
    """All checks of a set as one."""
    checks = binding.build(made)
    return lambda *vector: bool(binding.found(checks, vector))


def net_path(block, name):
    blocks = part(SELF, "_modules", "blocks")
    return part(part(blocks, "_modules", block), "_modules", name)


def in_python(rows):
    """A tensor guard as the run-time extension has it: compiled rows, called with the tensors."""

    def holds(row, t):
        return type(t) is row[0] and TensorFacts.of(t).row()[1:] == row[1:]

    return lambda *tensors: len(tensors) == len(rows) and all(map(holds, rows, tensors))


@pytest.fixture(params=[None, in_python], ids=["python", "rows"])
def tensor_guard(request, monkeypatch):
    monkeypatch.setattr(binding, "tensor_guard", request.param)


def set_data(p, *size):
    p.data = torch.ones(size)


def set_bias(block, values):
    block.fc.bias = nn.Parameter(values)


def tie(one, other):
    other.fc.weight = one.fc.weight


def first(net):
    return net.blocks[0]


CHANGES = {
    "nothing": (lambda net: None, True),
    "values of parameters": (lambda net: [p.data.add_(1) for p in net.parameters()], True),
    "data": (lambda net: set_data(first(net).fc.weight, 3), False),
    "data of the same kind": (lambda net: set_data(first(net).fc.weight, 3, 3), True),
    "requires_grad": (lambda net: net.blocks[1].norm.bias.requires_grad_(False), False),
    "dtype": (lambda net: net.double(), False),
    "new parameter, same facts": (lambda net: set_bias(first(net), torch.ones(3)), True),
    "no parameter": (lambda net: setattr(first(net).fc, "bias", None), False),
    "new module, same facts": (lambda net: setattr(first(net), "fc", nn.Linear(3, 3)), True),
    "new module": (lambda net: setattr(first(net), "fc", nn.Linear(3, 4)), False),
    "module more": (lambda net: setattr(first(net), "extra", nn.ReLU()), False),
    "module less": (lambda net: net.blocks.pop(1), False),
    "one weight twice": (lambda net: tie(*net.blocks), False),
    "eval": (lambda net: net.eval(), False),
    "eval below": (lambda net: net.blocks[1].norm.eval(), False),
    "number": (lambda net: setattr(first(net), "scale", -0.5), False),
    "number and back": (lambda net: [setattr(first(net), "scale", s) for s in (1.0, 0.5)], True),
    "counter": (lambda net: setattr(net, "step", net.step + 1), True),
    "list": (lambda net: first(net).sizes.__setitem__(1, 3), False),
    "list, unread": (lambda net: first(net).sizes.__setitem__(0, 3), True),
    "tuple": (lambda net: setattr(first(net), "shape", (3, (5, 5))), False),
    "tuple, unread": (lambda net: setattr(first(net), "shape", (2, (4, 6))), True),
    "shorter tuple": (lambda net: setattr(first(net), "shape", (3, (4,))), False),
    "hook": (lambda net: first(net).register_forward_hook(lambda *a: None), False),
    "shadowed method": (lambda net: setattr(first(net), "forward", len), False),
    "class": (lambda net: setattr(first(net), "__class__", Net), False),
    "class of the root": (lambda net: setattr(net, "__class__", Block), False),
    "own dictionary": (lambda net: setattr(first(net), "__dict__", vars(Block())), True),
    "buffer": (lambda net: setattr(first(net).norm, "running_mean", torch.zeros(4)), False),
    "buffer removed": (lambda net: delattr(first(net).norm, "running_var"), False),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_judged_as_by_the_plain_check(name, tensor_guard):
    net, x = Net(), torch.zeros(2, 3)
    made = assumptions(net, x)
    plain, bound = made.build(), binding.of(made)
    check = bound.check(list(made))
    assert bound.root == SELF
    for _ in range(3):
        assert plain(net, x) and check(net, x)
    apply, expected = CHANGES[name]
    apply(net)
    for _ in range(3):
        assert check(net, x) is plain(net, x) is expected
    assert bound.find(net) is not None or not expected


def test_other_arguments_and_ambient_state(tensor_guard):
    net, x = Net(), torch.zeros(2, 3)
    check = whole(assumptions(net, x))
    assert check(net, x) and not check(net, torch.zeros(3, 3)) and not check(net, None)
    assert not check(None, x) and not check(net.blocks, x) and check(net, torch.ones(2, 3))
    with torch.no_grad():
        assert not check(net, x)
    assert not check(net, net.blocks[0].fc.weight.detach()[:2])  # shares memory
    with torch.device("cpu"):
        device = whole(assumptions(net, x))
        assert device(net, x)
    assert not device(net, x)


def test_random_sequences_of_changes():
    random.seed(0)
    x = torch.zeros(2, 3)
    names = [n for n in CHANGES if n not in ("class of the root", "hook", "module less")]
    for _ in range(6):
        net = Net()
        made = assumptions(net, x)
        plain, check = made.build(), whole(made)
        saved = copy.deepcopy(net)
        for _ in range(8):
            try:
                CHANGES[random.choice(names)][0](net)
            except Exception:  # some changes do not fit on others
                pass
            assert check(net, x) is plain(net, x)
            if random.random() < 0.5:
                vars(net).update(copy.deepcopy(vars(saved)))
                assert check(net, x) is plain(net, x) is True


def test_instances_share_one_check():
    nets, x = [Net() for _ in range(5)], torch.zeros(2, 3)
    made = assumptions(nets[0], x)
    bound = binding.of(made)
    weight = part(net_path("1", "fc"), "_parameters", "weight")
    assert bound.place(weight) == "found[0]" and bound.place(X) == ""
    check = bound.check(list(made))
    full = 0

    def counting(root, in_full=bound.in_full):
        nonlocal full
        full += 1
        return in_full(root)

    bound.in_full = counting
    for _ in range(10):
        assert all(check(net, x) for net in nets)
    assert full == 5
    nets[0].step += 1
    assert check(nets[0], x) and full == 5  # nobody assumed anything about it
    nets[0].eval()
    assert not check(nets[0], x) and full == 6
    nets[0].train()
    assert check(nets[0], x) and full == 7
    expected = [net.blocks[1].fc.weight for net in nets]
    assert all(check(net, x)[0] is weight for net, weight in zip(nets, expected))


def test_roots_die():
    x = torch.zeros(2, 3)
    made = assumptions(Net(), x)
    bound = binding.of(made)
    check = bound.check(list(made))
    for i in range(6):
        net = Net()
        if i % 2:  # what was walked leads back to the root
            vars(net.blocks[0])["up"] = net
            net.blocks[0].fc.weight.register_hook(lambda grad, net=net: grad)
        assert check(net, x)
        gone = weakref.ref(net)
        del net
        gc.collect()
        assert gone() is None
    assert not bound.known


def test_roots_in_a_cell_or_a_global():
    x = torch.zeros(2, 3)
    for source, vector in ((S.Contents(S.Cell("net")), ("net",)), (S.Item(S.Globals(), "net"), ())):
        net = Net()
        made = GuardSet(vector, {"net": net})
        assume(made, source, net)
        assert binding.of(made).root == source
        check = whole(made)
        vector = [(lambda: net).__closure__[0]] if vector else []
        assert check(*vector) and check(*vector)
        net.eval()
        assert not check(*vector)


def test_small_sets_need_no_binding():
    made = GuardSet(("self",), {})
    made.add("TYPE", SELF, Net)
    made.add("EQUALS", attribute(SELF, "training"), True)
    assert binding.of(made) is None
    assert whole(made)(Net())


def test_the_run_time_extensions_rows():
    """The row is what runtime/extension/guard.cpp reads; see there."""
    t = torch.zeros(4, 3, dtype=torch.float64)[:, 1:].requires_grad_()
    facts = TensorFacts.of(t)
    keys = torch._C._dispatch_keys(t).raw_repr()
    assert facts.row() == (torch.Tensor, torch.float64, None, (4, 2), (3, 1), True, keys)

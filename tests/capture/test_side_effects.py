"""Writes to objects that exist outside come after the graph, once, and look like eager's."""

import collections

import torch
from torch import nn

from tests.capture.check import Run, capture, check_against_eager

torch.set_num_threads(1)
COUNTER = 0
REGISTRY = {"b": 1}


def x():
    torch.manual_seed(0)
    return torch.randn(3, 4)


class Box:
    limit = 3

    def __init__(self, value=None):
        self.value = value


def test_attributes_in_order_of_first_write():
    def f(x, box):
        box.c = x + 1
        box.a = 1
        box.c = x + 2
        del box.value
        box.value = 5
        return list(vars(box))

    check_against_eager(f, x(), Box(), graphs=1, breaks=0, calls=1)


def test_lists_dicts_sets_deques():
    def f(x, items, table, names, queue, ordered, default):
        items.append(x + 1)
        items[0] = items
        table["new"] = x * 2
        del table["a"]
        table["a"] = 3
        names.add("z")
        queue.appendleft(x)
        queue.pop()
        ordered.move_to_end("a")
        ordered["q"] = 1
        default["k"].append(x)
        return items

    check_against_eager(
        f,
        x(),
        [1, 2],
        {"a": 1, "b": 2},
        {"y"},
        collections.deque([1, 2]),
        collections.OrderedDict(a=1, b=2),
        collections.defaultdict(list),
        graphs=1,
        breaks=0,
        calls=1,
    )


def test_aliases_of_what_is_written():
    def f(x, a, b):
        a.append(x)
        b.append(1)
        return a, b

    shared = [0]
    check_against_eager(f, x(), shared, shared, calls=1)
    check_against_eager(f, x(), [0], [0], calls=1)


def test_aliasing_is_guarded():
    def f(x, a, b):
        a.append(1)
        return x + len(b)

    run = Run()
    g = capture(f, run)
    one, other = [0], [0]
    assert torch.equal(g(x(), one, other), x() + 1)
    shared = [0]
    assert torch.equal(g(x(), shared, shared), x() + 2)
    assert len(run.graphs) == 2


def test_globals_and_nonlocals():
    def f(x):
        global COUNTER
        COUNTER += 1
        REGISTRY["n"] = COUNTER
        return x + COUNTER

    global COUNTER
    COUNTER = 0
    run = Run()
    g = capture(f, run)
    assert torch.equal(g(x()), x() + 1) and COUNTER == 1 and REGISTRY["n"] == 1
    assert torch.equal(g(x()), x() + 2) and COUNTER == 2 and REGISTRY["n"] == 2

    n = 0

    def h(x):
        nonlocal n
        n += 1
        return x * n

    check = capture(h, Run())
    assert torch.equal(check(x()), x()) and n == 1
    assert torch.equal(check(x()), x() * 2) and n == 2


def test_new_objects_escape_with_identity():
    def f(x):
        a = Box(x)
        a.me = a
        b = [a, a]
        c = {"b": b}
        b.append(c)
        return c, (a, b)

    check_against_eager(f, x(), breaks=0)


def test_results_are_fresh_each_call():
    def f(x):
        return [x + 1], {"k": []}

    run = Run()
    g = capture(f, run)
    first, second = g(x()), g(x())
    assert first[0] is not second[0] and first[1]["k"] is not second[1]["k"]


def test_functions_made_inside():
    def f(x):
        def add(y, n=2, *, k=3):
            return x + y + n + k

        add.tag = "t"
        return add

    run = Run()
    made = capture(f, run)(x())
    assert torch.equal(made(1), x() + 1 + 2 + 3) and made.tag == "t" and made.__defaults__ == (2,)


def test_setattr_hook_is_called_once():
    class Logged:
        def __init__(self):
            object.__setattr__(self, "log", [])

        def __setattr__(self, name, value):
            self.log.append(name)
            object.__setattr__(self, name, value)

    def f(x, of):
        of.a = x + 1
        of.b = of.a * 2
        return of

    check_against_eager(f, x(), Logged(), graphs=1, breaks=0, calls=1)


def test_slots_and_properties():
    class Slotted:
        __slots__ = ("a", "_b")

        @property
        def b(self):
            return self._b

        @b.setter
        def b(self, value):
            self._b = value * 2

    def f(x):
        s = Slotted()
        s.a = x
        s.b = x + 1
        return s.a + s.b, s._b

    check_against_eager(f, x(), graphs=1, breaks=0)


def test_module_state():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.register_buffer("seen", torch.zeros(()))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            self.seen += 1
            self.last = x.sum()
            return self.fc(x)

    torch.manual_seed(0)
    net = Net()
    run = Run()

    def call(net, x):
        return net(x)

    g = capture(call, run)
    with torch.no_grad():
        for i in range(3):
            assert torch.equal(g(net, x()), net.fc(x()))
    assert net.calls == 3 and net.seen == 3 and torch.equal(net.last, x().sum())


def test_inputs_written_in_place():
    def f(x, y):
        x.add_(1)
        y[0] = x[0] * 2
        x.mul_(2)
        return x, y[1]

    check_against_eager(f, x(), x() + 1, graphs=1, breaks=0)


def test_hooks_run():
    def call(net, x):
        return net(x)

    net = nn.Linear(4, 4)
    seen = []
    net.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    net.register_forward_hook(lambda m, args, out: seen.append(1) or out * 2)
    run = Run()
    with torch.no_grad():
        expected = net(x())
        found = capture(call, run)(net, x())
    assert torch.equal(expected, found) and seen == [1, 1] and len(run.graphs) == 1


def test_a_hook_added_later_is_noticed():
    def call(net, x):
        return net(x)

    net, run = nn.Linear(4, 4), Run()
    g = capture(call, run)
    with torch.no_grad():
        plain = g(net, x())
        net.register_forward_hook(lambda m, args, out: out + 1)
        assert torch.equal(g(net, x()), plain + 1)
        net.forward = lambda x: x * 0
        assert torch.equal(g(net, x()), torch.ones(3, 4))


def test_exceptions_leave_the_world_as_eager_does():
    def f(x, items):
        items.append(1)
        if len(items) > 2:
            raise ValueError(len(items))
        items.append(2)
        return x + 1

    check_against_eager(f, x(), [], calls=3)


class Kept:
    def __init__(self) -> None:
        self.a, self.b, self.c = 1, 2, 3


def test_deleted_and_stored_again():
    """Such a key comes last, in a dictionary and among the attributes of an object."""

    def f(x, d, o, kept):
        d["n"] = d.get("n", 0) + 1
        a = d.pop("a")
        d["a"] = a
        last = d.popitem(), d.pop("gone", 5)
        d["z"] = last
        o.move_to_end(True, last=False)
        first = o.popitem(last=False)
        o[first[0]] = first[1]
        b = kept.b
        del kept.b
        kept.d, kept.b = x + 1, b
        del kept.d
        try:
            o.move_to_end("gone")
        except KeyError as error:
            return x * 2, str(error), d == dict(d), d != o, o == collections.OrderedDict(o)

    o = collections.OrderedDict([("k", 0), (1, 1), ("m", 2)])
    check_against_eager(f, torch.ones(2), {"a": 1, "b": 2}, o, Kept(), calls=1, graphs=1, breaks=0)

"""The frame hook: what it replaces, what it leaves alone, and that nobody can tell.

Runs on a bare Python too (no torch): `python -m pytest tests/capture/test_frame_hook.py`.
"""

import contextlib
import gc
import importlib.util
import inspect
import sys
import threading
import traceback
import types
import warnings
import weakref
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:  # the packages without what their __init__ imports
    for name in ("minicompiler", "minicompiler.capture"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(Path(__file__).parents[2] / name.replace(".", "/"))]
        sys.modules.setdefault(name, bare)

from minicompiler.capture import frame_hook
from minicompiler.capture.frame_hook import skip
from minicompiler.errors import Unsupported
from tests.capture.hooks import active, disabled, entries, forget, record, status

pytestmark = pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)


def replacing(*pairs):
    """A callback that knows a replacement for each function, and takes no interest in others."""
    table = {function.__code__: new for function, new in pairs}
    return lambda code, function, vector: table.get(code)


def silent(code, function, vector):
    return None


# ---------------------------------------------------------------- what the vector is
def all_kinds(a, b=2, /, c=3, *args, k=5, **kw):
    return str("original")


@pytest.mark.parametrize(
    "call, vector",
    [
        (lambda: all_kinds(1), (1, 2, 3, 5, (), {})),
        (lambda: all_kinds(1, 3, 4, 6, 7, k=8, q=9), (1, 3, 4, 8, (6, 7), {"q": 9})),
        (lambda: all_kinds(*range(9)), (0, 1, 2, 5, (3, 4, 5, 6, 7, 8), {})),
    ],
)
def test_arguments(call, vector):
    with active(replacing((all_kinds, lambda *v: v))):
        assert call() == vector


def test_methods_and_calls_from_c():
    class Thing:
        def method(self, x):
            return str("original")

        def __getitem__(self, i):
            return str("original")

    with active(
        replacing(
            (Thing.method, lambda self, x: (type(self), x)), (Thing.__getitem__, lambda s, i: i)
        )
    ):
        got = Thing().method(1), list(map(Thing().method, [2, 3])), Thing()[4]
    assert got == ((Thing, 1), [(Thing, 2), (Thing, 3)], 4)


def test_closure_cells_follow_the_arguments():
    def counter(total):
        def add(n, k=1):
            nonlocal total
            total += n
            return total

        return add

    def tenfold(n, k, cell):
        cell.cell_contents += 10 * n
        return cell.cell_contents, k

    add = counter(1)
    with active(replacing((add, tenfold))):
        assert add(1) == (11, 1) and add(2) == (31, 1)
    assert add(1) == 32


def test_an_argument_that_is_a_cell_is_plain_in_the_vector():
    def captured(a):
        return (lambda: a)()

    with active(replacing((captured, lambda a: ("new", a)))):
        assert captured(4) == ("new", 4)


@pytest.mark.parametrize("n", [0, 1, 23, 24, 25, 64, 65, 300])
@pytest.mark.parametrize("closure", [False, True])
def test_any_number_of_arguments(n, closure):
    names = [f"a{i}" for i in range(n)]
    uses = "str(extra)" if closure else "str(0)"
    text = f"def make(extra):\n  def wide({', '.join(names)}):\n    return {uses}\n  return wide"
    space = {}
    exec(text, space)
    wide = space["make"]("cell")
    record(wide.__code__, lambda *v: True, lambda *v: v)
    with active(silent):
        got = wide(*range(n))
    assert got[:n] == tuple(range(n))
    assert [c.cell_contents for c in got[n:]] == (["cell"] if closure else [])


def test_functions_of_one_constant():
    def seven():
        return 7

    def nothing():
        pass

    with active(replacing((seven, lambda: "new"), (nothing, lambda: "new"))):
        got = seven(), nothing()
    # 3.12 gives some such functions no stack to end on: they may run as they are, never crash
    assert got[0] in ("new", 7) and got[1] in ("new", None)


# ---------------------------------------------------------------- entries and regions
def test_entries_are_tried_in_order_and_the_last_hit_comes_first():
    def f(x):
        return str("eager")

    def kind(t):
        return lambda x: type(x) is t

    for t in (int, str, float):
        record(f.__code__, kind(t), lambda x, t=t: t)
    known = {e.replacement(0) for e in entries(f.__code__)}
    with active(silent):
        got = f(1), f("a"), f(1.0), f([])
        assert f("a") is str
    assert got == (int, str, float, "eager") and known == {int, str, float}
    assert entries(f.__code__)[0].replacement(0) is str
    forget(f.__code__)
    with active(silent):
        assert f(1) == "eager" and entries(f.__code__) == []


def test_regions_do_not_see_each_other():
    def f():
        return str("eager")

    one, two = object(), object()
    record(f.__code__, None, lambda: 1, one)
    record(f.__code__, None, None, two)  # this region has decided: run it as it is
    calls = []

    def ask(code, function, vector):
        calls.append(code.co_name)

    def under(region):
        with active(ask, region):
            return f()

    skip(under.__code__)
    assert (under(one), under(two), calls) == (1, "eager", [])
    assert under(None) == "eager" and calls == ["f"]
    assert frame_hook.run(ask, one, f) == 1


def test_run_passes_everything_on():
    got = frame_hook.run(replacing((all_kinds, lambda *v: v)), None, all_kinds, 1, k=2, z=3)
    assert got == (1, 2, 3, 2, (), {"z": 3})
    assert not status().on


def test_a_replacement_that_dies_while_its_guard_runs():
    """What the guard found is for nobody else."""

    def f(x):
        return x

    kept = [lambda x, found: found]

    def guard(x):
        kept.clear()
        return (x,)

    record(f.__code__, guard, weakref.ref(kept[0]))
    asked = lambda x: "asked"  # noqa: E731
    frame_hook.skip(asked.__code__)
    with active(lambda *frame: asked if frame[0] is f.__code__ else None):
        assert f(1) == "asked"


def test_entries_without_guard_come_last():
    def f(x):
        return str("eager")

    record(f.__code__, None, None)
    record(f.__code__, lambda x: x == 1, lambda x: "one")
    record(f.__code__, lambda x: x == 2, lambda x: "two")
    with active(silent):
        assert [f(i) for i in (1, 3, 2, 3, 1)] == ["one", "eager", "two", "eager", "one"]
    assert entries(f.__code__)[-1].guards == ()


def test_entries_are_for_one_namespace():
    def f():
        return str("eager")

    twin = types.FunctionType(f.__code__, {"__builtins__": __builtins__})
    record(f.__code__, None, lambda: "new", f_globals=f.__globals__)
    with active(silent):
        assert (f(), twin()) == ("new", "eager")


def test_weak_entries_die_with_their_function():
    def f():
        return str("eager")

    def new():
        return "new"

    record(f.__code__, None, weakref.ref(new))
    with active(silent):
        assert f() == "new"
        del new
        gc.collect()
        assert f() == "eager"


def test_a_guard_may_change_the_chain_it_is_in():
    def f(x):
        return str("eager")

    def saboteur(x):
        forget(f.__code__)
        gc.collect()
        return True

    record(f.__code__, None, lambda x: "last")
    record(f.__code__, saboteur, lambda x: "first")
    with active(silent):
        assert f(0) == "first"
        assert f(0) == "eager"


def test_callback_and_guards_run_with_the_hook_off():
    def inner():
        return status().on, status().installed

    seen = []

    def f(x):
        return x + 0

    def ask(code, function, vector):
        if code is f.__code__:
            seen.append(inner())
        return None

    record(f.__code__, lambda x: seen.append(inner()[0]), None)
    with active(ask):
        f(1)
        assert status().on
    assert seen == [False, (False, False)]


def test_nested_mode_and_skipping():
    def leaf():
        return int(1)

    def middle():
        return leaf() + 0

    def outer():
        return middle() + 0

    def names(*never):
        seen = []

        def ask(code, function, vector):
            seen.append(code.co_name)

        with active(ask):
            outer()
        return seen

    assert names() == ["outer", "middle", "leaf"]
    skip(middle.__code__)
    assert names() == ["outer", "leaf"]
    skip(middle.__code__, calls=True)
    assert names() == ["outer"]
    with active(replacing((leaf, lambda: 5))):
        assert leaf() == 5 and outer() == 1
        with disabled():
            assert leaf() == 1 and not status().on
        assert leaf() == 5
    forget(middle.__code__)
    with active(replacing((leaf, lambda: 5))):
        assert outer() == 5


def test_a_replacement_is_never_offered_but_what_it_calls_is():
    def leaf():
        return int(1)

    def f():
        return leaf() - 1

    def new(*cells):
        return leaf()

    seen = []

    def ask(code, function, vector):
        seen.append(code.co_name)
        return (lambda: int(2)) if code is leaf.__code__ else None

    record(f.__code__, None, new)
    with active(ask):
        assert f() == 2
    assert seen == ["leaf", "<lambda>"]  # an answer that was not recorded is a function like others


# ---------------------------------------------------------------- left alone
def test_generators_coroutines_classes_and_modules_run_as_they_are():
    def gen(n):
        for i in range(n):
            sent = yield i
            if sent:
                yield sent

    async def coroutine():
        return 5

    def leaf():
        return int(1)

    asked = []

    def ask(code, function, vector):
        asked.append(code.co_name)
        return (lambda: int(2)) if code is leaf.__code__ else None

    with active(ask):
        g = gen(3)
        assert [next(g), g.send(9), next(g)] == [0, 9, 1]
        with pytest.raises(KeyError):
            g.throw(KeyError)
        with pytest.raises(StopIteration) as stop:
            coroutine().send(None)
        assert stop.value.value == 5

        class Body:
            value = leaf()
            listed = [i for i in range(3)]

        space = {"leaf": leaf}
        exec("q = leaf()", space)
        assert (Body.value, Body.listed, space["q"]) == (2, [0, 1, 2], 2)
    assert not {"gen", "coroutine", "Body", "<module>"} & set(asked)


# ---------------------------------------------------------------- errors
def test_an_exception_of_the_replacement():
    def f(x):
        return x

    def boom(x):
        raise ValueError("boom", x)

    def handled():
        try:
            raise KeyError(1)
        except KeyError:
            try:
                f(1)
            except ValueError as error:
                return error

    with active(replacing((f, boom))):
        error = handled()
    assert error.args == ("boom", 1) and type(error.__context__) is KeyError
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == [
        "handled",
        "boom",
    ]


def test_errors_of_guard_and_callback_propagate():
    def f(x):
        return x

    def bad_guard(x):
        raise OSError("guard")

    def bad_callback(code, function, vector):
        if code is f.__code__:
            raise OSError("callback")

    with active(bad_callback), pytest.raises(OSError, match="callback"):
        f(1)
    record(f.__code__, bad_guard, lambda x: x)
    with active(silent), pytest.raises(OSError, match="guard"):
        f(1)
    assert status() == (False, False)


def test_faults_of_the_compiler_are_reported_once_and_run_eagerly():
    def f(x):
        return x + 1

    def broken(code, function, vector):
        if code is f.__code__:
            raise ZeroDivisionError("our fault")

    def strict(code, function, vector):
        if code is f.__code__:
            raise Unsupported("fullgraph")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with active(frame_hook.tolerant(broken)):
            assert f(1) == 2 and f(2) == 3
    assert len(caught) == 1 and "our fault" in str(caught[0].message)
    with active(frame_hook.tolerant(strict)), pytest.raises(Unsupported, match="fullgraph"):
        f(1)


# ---------------------------------------------------------------- references
class Thing:
    pass


def test_references_are_given_back():
    def f(a, b):
        c = a
        return c

    def boom(a, b):
        raise ValueError

    x, y = Thing(), Thing()

    def counts():
        return sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(f.__code__)

    before = counts()
    with active(replacing((f, lambda a, b: a))):
        for _ in range(1000):
            f(x, y)
        gone = weakref.ref(f(Thing(), Thing()))
    with active(replacing((f, boom))):
        for _ in range(1000):
            with contextlib.suppress(ValueError):
                f(x, y)
    assert counts() == before and gone() is None


def test_no_memory_is_lost_over_many_calls():
    def f(a, b):
        return a

    def boom(a):
        raise ValueError

    def g(a):
        return a

    record(f.__code__, lambda a, b: type(a) is int, lambda a, b: b)
    record(f.__code__, lambda a, b: type(a) is list, lambda a, b: b)
    record(g.__code__, None, boom)

    def work(n):
        for i in range(n):
            f([i], "x%d")
            f(i, "x%d")
            with contextlib.suppress(ValueError):
                g([i])

    skip(work.__code__)
    with active(silent):
        work(2000)
        gc.collect()
        before = sys.getallocatedblocks()
        work(20000)
        gc.collect()
        assert sys.getallocatedblocks() - before < 200


def test_entries_are_freed_with_their_code():
    space = {}
    exec("def f(): return [1][0]", space)
    new = lambda: 2  # noqa: E731
    gone = weakref.ref(new)
    record(space["f"].__code__, None, new)
    del new
    gc.collect()
    assert gone() is not None
    del space
    gc.collect()
    assert gone() is None


def test_finalizers_see_the_caller():
    seen = []

    class Final:
        def __del__(self):
            seen.append(sys._getframe(1).f_code.co_name)
            gc.collect()
            f(1)

    def f(a):
        return a

    def caller():
        return f(Final())

    with active(replacing((f, lambda a: 3))):
        assert caller() == 3
    assert seen == ["caller"]


# ---------------------------------------------------------------- frames, tracing
def test_the_replacement_has_the_callers_frame_below_it():
    def f():
        return sys._getframe(1).f_code.co_name

    def new():
        return "new", sys._getframe(1).f_code.co_name

    def caller():
        return f()

    with active(replacing((f, new))):
        assert caller() == ("new", "caller")


@pytest.mark.parametrize("setter", [sys.settrace, sys.setprofile])
@pytest.mark.parametrize("fails", [False, True])
def test_tracers_see_the_replacement_only(setter, fails):
    def f(x):
        return x

    def new(x):
        if fails:
            raise ValueError
        return x

    def body():
        return f(1)

    events = []

    def trace(frame, event, arg):
        if frame.f_code.co_name in ("f", "new", "body") and event in ("call", "return"):
            events.append((event, frame.f_code.co_name))
        return trace

    with active(replacing((f, new))):
        setter(trace)
        try:
            with contextlib.suppress(ValueError):
                body()
        finally:
            setter(None)
    assert events == [("call", "body"), ("call", "new"), ("return", "new"), ("return", "body")]


# ---------------------------------------------------------------- recursion, threads
def test_what_listens_to_the_interpreter_is_left_alone():
    def listen(*event):
        return None

    def audited(event, arguments):  # stays for good, as the interpreter forgets none
        return listen() if offered is not None else None

    def f():
        return types.FunctionType(silent.__code__, {})

    offered = []
    sys.addaudithook(audited)
    sys.setprofile(listen)
    try:
        with active(lambda code, function, vector: offered.append(code)):
            f()
    finally:
        sys.setprofile(None)
    assert offered == [f.__code__]
    offered = None


def test_recursion():
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    def new(n, *cells):
        return 1 if n <= 1 else n * factorial(n - 1)

    with active(replacing((factorial, new))):
        assert factorial(50) == 1 * new(50)


def test_skipped_functions_recurse_as_deep_as_without_hook():
    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)

    depth = sys.getrecursionlimit() - len(inspect.stack(0)) - 100
    skip(deep.__code__)
    with active(silent):
        assert deep(depth) == depth
        assert status().installed

    def ping(n):
        return 0 if n == 0 else 1 + pong(n - 1)

    def pong(n):
        return 0 if n == 0 else 1 + ping(n - 1)

    skip(ping.__code__)  # pong is asked about each time
    with active(silent):
        assert ping(400) == 400


def test_too_deep_recursion_is_a_recursion_error():
    def endless(n):
        return endless(n + 1)

    record(endless.__code__, lambda *v: True, lambda n, *cells: endless(n + 1))
    with active(silent), pytest.raises(RecursionError):
        endless(0)
    assert not status().installed


def test_the_hook_is_per_thread_and_installed_only_when_needed():
    def f(a):
        return str("original")

    record(f.__code__, lambda a: True, lambda a: "new")
    results, start = [], threading.Barrier(4)

    def work(on):
        start.wait()
        switch = active(silent) if on else contextlib.nullcontext()
        with switch:
            results.append((on, {f(i) for i in range(3000)}))

    skip(work.__code__)
    threads = [threading.Thread(target=work, args=(on,)) for on in (True, False, True, False)]
    assert not status().installed
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results, key=str) == [
        (False, {"original"}),
        (False, {"original"}),
        (True, {"new"}),
        (True, {"new"}),
    ]
    assert status() == (False, False)


def test_a_thread_started_in_a_region_is_not_in_it():
    def f():
        return str("original")

    got = []

    def work():
        got.append(f())

    with active(replacing((f, lambda: "new"))):
        t = threading.Thread(target=work)
        t.start()
        t.join()
        got.append(f())
    assert got == ["original", "new"]


def test_warm_call_sites_are_hooked_too():
    """Specialised instructions must not run a Python call without asking the evaluator. One does:
    3.13 enters `__init__` itself. Constructors at warm sites then run eagerly, which is right too.
    """

    class P:
        def __init__(self):
            self.a = 1

        @property
        def prop(self):
            return [1]

        def __getitem__(self, i):
            return i

        def method(self):
            return self

    def plain(x):
        return x

    def work():
        for i in range(100):
            p = P()
            plain(i), p.prop, p[i], p.method()

    for _ in range(20):
        work()
    met = set()

    def ask(code, function, vector):
        met.add(code.co_name)

    with active(ask):
        work()
    init = {"__init__"} if sys.version_info < (3, 13) else set()
    assert {"plain", "prop", "__getitem__", "method"} | init <= met


# ---------------------------------------------------------------- another evaluator
@pytest.mark.slow  # importing torch._dynamo takes its time
def test_with_torch_compile_around_and_inside():
    torch = pytest.importorskip("torch")
    graphs = []

    def backend(gm, inputs):
        graphs.append(gm)
        return gm.forward

    def ours(x):
        return x * 2

    @torch.compile(backend=backend)
    def theirs(x):
        return torch.sin(x) + 1

    x = torch.ones(2)

    def inside(x):
        return ours(x), theirs(x), ours(x)

    callback = replacing((ours, lambda x: x * 3))
    record(inside.__code__, None, None)
    with active(callback):
        a, b, c = inside(x)
    assert (a == 3).all() and (c == 3).all() and torch.equal(b, torch.sin(x) + 1) and graphs
    assert not status().installed

    graphs.clear()

    @torch._dynamo.disable
    def region(x):
        with active(callback):
            return ours(x)

    @torch.compile(backend=backend)
    def around(x):
        y = torch.cos(x)
        return region(y) + 1

    with contextlib.suppress(ImportError):
        for _ in range(2):
            assert torch.equal(around(x), torch.cos(x) * 3 + 1)
    assert graphs and not status().installed

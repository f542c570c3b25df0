"""The cache: compiled once, again when a guard fails, up to a limit; gone when nobody needs it."""

import builtins
import gc
import pickle
import sys
import threading
import time
import types
import warnings
import weakref

import pytest
import torch

from minicompiler import report
from minicompiler.capture import cache, frame_hook, source as S
from minicompiler.capture.cache import OWNER, CodeCache, Compiled, Entry, find_or_compile
from minicompiler.capture.guards import GuardSet, vector_of
from minicompiler.errors import Unsupported
from minicompiler.settings import config
from tests.capture.hooks import active, entries
from tests.capture.paths import attribute

pytestmark = pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)


@pytest.fixture(autouse=True)
def fresh():
    cache.reset()
    report.reset_totals()
    yield
    cache.reset()


class Toy:
    """A compiler of functions of one argument: assumes the type of it, and its value if asked."""

    def __init__(self, by_value=False, artefact=None, refuse=lambda code, vector: False):
        self.by_value, self.artefact, self.refuse = by_value, artefact, refuse
        self.compiled = []

    def __call__(self, code, function, vector):
        if (code.co_filename, code.co_name) != ("<string>", "f"):
            return None
        f_globals = function.__globals__

        def compile():
            if self.refuse(code, vector):
                return None
            made = GuardSet(vector_of(code), f_globals)
            name = vector_of(code)[0]
            kind, of = ("EQUALS", vector[0]) if self.by_value else ("TYPE", type(vector[0]))
            made.add(kind, S.Local(name), of, "user.py:1")
            number = len(self.compiled)
            self.compiled.append(code.co_name)
            replacement = types.FunctionType(compile_text(f"lambda x: ({number}, x)"), f_globals)
            artefact = number if self.artefact is None else self.artefact(code, vector)
            return Compiled(made, replacement, artefact)

        return find_or_compile(code, f_globals, vector, None, compile)

    def __enter__(self):
        self.switch = active(self)
        self.switch.__enter__()
        return self

    def __exit__(self, *error):
        self.switch.__exit__(*error)


def compile_text(text):
    return compile(text, "<toy>", "eval").co_consts[0]


for method in (Toy.__enter__, Toy.__exit__):
    frame_hook.skip(method.__code__)
frame_hook.skip(compile_text.__code__)


def new_function(text="def f(x): return ('eager', x)", **names):
    space = {"__builtins__": builtins, **names}
    exec(text, space)
    return space["f"]


# ---------------------------------------------------------------- compile, compile again, give up
def test_compiled_once_for_each_type():
    f = new_function()
    with Toy() as toy:
        got = [f(1), f(2), f("a"), f("b"), f(3)]
    assert got == [(0, 1), (0, 2), (1, "a"), (1, "b"), (0, 3)] and len(toy.compiled) == 2
    totals = report.totals.as_dict()
    assert totals["recompiles"] == 1 and totals["guards"] == 2
    (reason,) = totals["recompile_reasons"]
    assert "f (<string>:1): L['x']: expected a int, found a str (assumed at user.py:1)" in reason


def test_at_the_limit_it_runs_eagerly_with_one_warning_and_entries_stay_of_use():
    f = new_function()
    with warnings.catch_warnings(record=True) as caught, Toy(by_value=True) as toy:
        warnings.simplefilter("always")
        for i in range(20):
            f(i)
        assert f(3) == (3, 3) and f(17) == ("eager", 17)
    assert len(toy.compiled) == config.recompile_limit == 8
    (warning,) = caught
    for text in ("f (<string>:1)", "expected 7, found 8", "compiled 8 times", "stats()"):
        assert text in str(warning.message)
    assert report.totals.as_dict()["recompiles"] == 7
    assert len(report.totals.recompile_reasons) == 8


def test_equal_artefacts_do_not_count_against_the_limit():
    f = new_function()
    with Toy(by_value=True, artefact=lambda code, vector: "same") as toy:
        got = [f(i) for i in range(30)]
        assert [f(i) for i in range(30)] == got
    assert len(toy.compiled) == 30 and got[29] == (29, 29)


def test_refused_for_good_and_refused_under_guards():
    f, g = new_function(), new_function()
    with Toy(refuse=lambda code, vector: True) as toy:
        assert f(1) == ("eager", 1) and f(2) == ("eager", 2)
    asked = []

    def refuse_ints(code, function, vector):
        def compile():
            asked.append(vector)
            made = GuardSet(("x",), function.__globals__)
            made.add("TYPE", S.Local("x"), type(vector[0]))
            replacement = None if type(vector[0]) is int else lambda x: "compiled"
            return Compiled(made, replacement, type(vector[0]))

        return find_or_compile(code, function.__globals__, vector, None, compile)

    with active(refuse_ints):
        got = g(1), g("a"), g(2), g("b"), g(3)
    assert got == (("eager", 1), "compiled", ("eager", 2), "compiled", ("eager", 3))
    assert asked == [(1,), ("a",)]


def test_a_guard_that_fails_at_once_is_never_relied_on():
    f = new_function()

    def wrong(code, function, vector):
        made = GuardSet(("x",), function.__globals__)
        made.add("TYPE", S.Local("x"), str)
        return find_or_compile(
            code, function.__globals__, vector, None, lambda: Compiled(made, lambda x: "bad", 0)
        )

    with active(wrong):
        assert f(1) == ("eager", 1) and f(2) == ("eager", 2)
    assert "a guard fails right after compiling" in report.totals.reasons[0]


def test_errors_of_compiling_pass_through_and_nothing_is_kept():
    f = new_function()

    def failing(code, function, vector):
        def compile():
            raise Unsupported("no")

        return find_or_compile(code, function.__globals__, vector, None, compile)

    with pytest.raises(Unsupported), active(failing):
        f(1)
    with Toy():
        assert f(1) == (0, 1)


def test_regions_have_entries_of_their_own_and_equal_settings_are_one_region():
    assert cache.token("eager", 1) is cache.token("eager", 1) is not cache.token("eager", 2)
    f = new_function()
    with Toy() as toy:
        f(1)
    calls = []

    def other(code, function, vector):
        calls.append(code.co_name)

    with active(other, cache.token("other")):
        assert f(1) == ("eager", 1)
    assert calls == ["f"]


def test_the_same_code_with_other_globals_is_left_alone():
    f = new_function("def f(x): return ('eager', y)", y=1)
    twin = types.FunctionType(f.__code__, {"__builtins__": builtins, "y": 2})
    with Toy() as toy:
        assert f(1) == (0, 1) and twin(1) == ("eager", 2) and f(2) == (0, 2)
    assert len(toy.compiled) == 1


def test_reset_forgets():
    f = new_function()
    with Toy() as toy:
        f(1)
        cache.reset()
        assert OWNER not in f.__globals__ and entries(f.__code__) == []
        f(1)
    assert len(toy.compiled) == 2


def test_lookup_and_failures():
    f = new_function()
    with Toy():
        f(1), f("a")
    of = cache.cache_of(f.__code__, f.__globals__)
    assert of.lookup(None, (1,))[0].compiled.artefact == 0
    assert of.lookup(None, (1.0,)) is None and of.lookup("region", (1,)) is None
    assert [failure.expected for failure in of.failures(None, (1.0,))] == ["a str", "a int"]
    assert of.artefacts(None, (1,)) == 2


def test_the_limit_counts_for_each_module():
    """nn.Module's own methods are the code of every module there is."""
    f = new_function()

    def by_id(code, function, vector):
        if code is not f.__code__:
            return None

        def compile():
            made = GuardSet(("x",), function.__globals__)
            made.add("ID", S.Local("x"), vector[0])
            made.add("EQUALS", attribute(S.Local("x"), "n"), vector[0].n)
            return Compiled(made, lambda x: "compiled")

        return find_or_compile(code, function.__globals__, vector, None, compile)

    modules = [torch.nn.Module() for _ in range(20)]
    with warnings.catch_warnings(record=True) as caught, active(by_id):
        warnings.simplefilter("always")
        for m in modules:
            m.n = 0
            assert f(m) == "compiled"
        assert not caught
        for n in range(1, 12):
            modules[0].n = n
            f(modules[0])
    assert len(caught) == 1 and "compiled 8 times" in str(caught[0].message)


# ---------------------------------------------------------------- threads
def test_threads_that_need_the_same_compile_it_once():
    f = new_function()
    start, results = threading.Barrier(4), []

    class Slow(Toy):
        def __call__(self, code, function, vector):
            time.sleep(0.02)
            return super().__call__(code, function, vector)

    toy = Slow()

    def work():
        start.wait()
        with active(toy):
            results.append([f(i) for i in range(50)])

    frame_hook.skip(work.__code__)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert toy.compiled == ["f"] and results == [[(0, i) for i in range(50)]] * 4


# ---------------------------------------------------------------- lifetimes
def alive(*kinds):
    gc.collect()
    return sum(type(o) in kinds for o in gc.get_objects())


def test_a_namespace_that_is_dropped_takes_its_compiled_code_along():
    """The replacement refers to the namespace, that to the function, that to the code, which hangs
    on nothing the garbage collector sees: so the namespace owns the entries."""
    before = alive(Entry, CodeCache, GuardSet)  # what other tests keep
    with Toy() as toy:
        for i in range(100):
            new_function()(i)
    assert len(toy.compiled) == 100 and alive(Entry, CodeCache, GuardSet) <= before


def test_2000_recompiled_closures():
    def make(thing):
        def f(x):
            return ("eager", thing)

        return f

    class Thing:
        pass

    def by_closure(code, function, vector):
        if code is not f_code:
            return None

        def compile():
            made = GuardSet(vector_of(code), function.__globals__)
            made.add("ID", S.Contents(S.Cell("thing")), vector[1].cell_contents)
            compiled.append(weakref.ref(vector[1].cell_contents))
            return Compiled(made, lambda x, cell: ("new", cell.cell_contents), len(compiled))

        return find_or_compile(code, function.__globals__, vector, None, compile)

    compiled = []
    f_code = make(None).__code__
    with warnings.catch_warnings(), active(by_closure):
        warnings.simplefilter("error")
        for i in range(2000):
            thing = Thing()
            f = make(thing)
            assert f(i) == ("new", thing) and f(i) == ("new", thing)
            del f, thing
    assert len(compiled) == 2000 and sum(r() is not None for r in compiled) <= 1
    assert alive(Entry) <= 2 and len(entries(f_code)) <= 2


def test_compiled_code_dies_with_its_code_object():
    before = alive(Entry), alive(Entry, CodeCache)  # what other tests keep
    space = {"__builtins__": builtins}
    exec("def f(x): return ('eager', x)", space)
    with Toy():
        space["f"](1)
        assert alive(Entry) == before[0] + 1
        exec("def f(x): return ('other', x)", space)  # as a notebook does
        assert alive(Entry, CodeCache) == before[1]
        assert space["f"](1) == (1, 1)


def test_many_calls_lose_no_memory():
    f = new_function()

    def work(n):
        for i in range(n):
            f(i), f("a")

    frame_hook.skip(work.__code__)
    with Toy():
        work(1000)
        gc.collect()
        before = sys.getallocatedblocks()
        work(10000)
        gc.collect()
        assert sys.getallocatedblocks() - before < 300


def test_a_namespace_with_entries_still_pickles():
    f = new_function()
    with Toy():
        f(1)
    assert pickle.loads(pickle.dumps(f.__globals__[OWNER])) == {}

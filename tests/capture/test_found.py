"""Programs that once differed from eager, each as small as it could be made."""

import abc
import bisect
import builtins
import collections
import contextlib
import enum
import functools
import gc
import heapq
import inspect
import itertools
import logging
import math
import operator
import re
import sys
import threading
import traceback
import types
import weakref
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import minicompiler
from tests.capture.check import check_against_eager

torch.set_num_threads(1)


def test_a_key_that_comes_and_goes():
    def f(x, table):
        table.update(u=3)
        table.popitem()
        return x + 1

    check_against_eager(f, torch.ones(3), {}, breaks=0)


def test_an_error_that_only_the_kernel_finds_is_caught_where_it_is():
    def f(x, *rest, **named):
        try:
            x @ torch.ones(7)
        except RuntimeError:
            named["seen"](rest)
        x.add_(1)
        return x * 2

    seen = []
    x = torch.ones(3)
    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(2):
        assert torch.equal(compiled(x, 5, seen=seen.append), x * 2)
    assert seen == [(5,), (5,)]
    assert torch.equal(x, torch.full((3,), 3.0))


def test_sizes_that_do_not_fit_are_found_before_something_is_written():
    def f(x):
        x += x
        try:
            x @ torch.ones(7)
        except RuntimeError:
            return x + 1
        return x

    check_against_eager(f, torch.ones(3))


def test_a_generator_that_has_started_before_a_break():
    def numbers(n):
        yield from range(n)

    def f(x):
        it = numbers(4)
        x = x + next(it)
        for i in it:
            x = x * i
            print(x.sum().item())
        return x, next(it, 7)

    check_against_eager(f, torch.ones(3))


def test_a_resume_function_that_cannot_load_what_it_was_given():
    def f(x, table, other):
        for _ in table | other.items():  # a set: no guard speaks of its order
            x = x + 1
        return x

    check_against_eager(f, torch.ones(3), {"u": 1}, {"u": 1, "w": 5})


def test_a_generator_that_is_dropped_runs_its_finally():
    def f(x, log):
        def numbers():
            try:
                yield 1
                yield 2
            finally:
                log.append("closed")

        for i in numbers():
            break
        return x + i

    check_against_eager(f, torch.ones(3), [])


def test_a_loop_that_always_ends_in_break_breaks():
    def numbers():
        yield 1

    def f(x, it):
        for i in it:
            break
        return x + i

    for _ in range(2):
        x = torch.ones(3)
        minicompiler.reset()
        compiled = minicompiler.compile(f, backend="eager")
        assert torch.equal(compiled(x, numbers()), x + 1)
    assert minicompiler.stats()["graphs"] == 1


def test_try_inside_of_except_behind_a_break():
    def f(x, seen):
        print(x.sum().item())
        try:
            x @ torch.ones(7)
        except RuntimeError:
            try:
                try:
                    raise KeyError(7)
                except KeyError as error:
                    raise ValueError(2) from error
            except ValueError as error:
                seen.append((type(error.__cause__).__name__, error.args))
        return x + 1

    check_against_eager(f, torch.ones(3), [])


def test_locals_behind_a_break():
    def f(x, n):
        print(x.sum().item())
        return x + 1, sorted(locals())

    check_against_eager(f, torch.ones(3), 2)


def test_a_generator_that_was_closed_before_it_started():
    def f(x):
        it = (i for i in range(3))
        it.close()
        print(x.sum().item())
        return x + next(it, 7)

    check_against_eager(f, torch.ones(3))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_graph_is_compiled_under_the_grad_mode_that_it_is_entered_with(backend):
    def f(x, w):
        y = x * w
        with torch.no_grad():
            if y.sum() > -100:
                y += 1
        x += y * w
        return y, x, torch.is_grad_enabled()

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend=backend)
    for grad in (True, False):
        for way in (compiled, f):
            x, w = torch.ones(3), torch.ones(3, requires_grad=True)
            with torch.set_grad_enabled(grad):
                y, x, now = way(x, w)
            assert (y.requires_grad, x.requires_grad, now) == (grad, grad, grad)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "auto"])
def test_what_happened_before_an_index_out_of_range(backend):
    def f(x, index, out, caught):
        x.add_(1)
        out.append(torch.rand(2) if backend == "eager" else "drawn")
        print("before a break", x.sum().item())
        x.mul_(2)
        out.append("before")
        try:
            y = x[index]
            out.append("after")
        except IndexError:
            if not caught:
                raise
            y = x.clone()
        x.mul_(3)
        return (y + torch.rand(2)) if backend == "eager" else y

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend=backend)
    for index, caught in ((1, True), (7, True), (7, False)):
        seen = []
        for way in (f, compiled):
            torch.manual_seed(0)
            x, out, y = torch.ones(2), [], None
            try:
                y = way(x, torch.tensor([0, index]), out, caught)
            except IndexError:
                out.append("raised")
            seen.append(repr((x, out, y, torch.rand(1))))
        assert seen[0] == seen[1]


PATCHES = {
    "a function of C": (torch, "relu", lambda x: torch.relu(x)),
    "one of Python": (F, "gelu", lambda x: F.gelu(x)),
    "what a module calls": (F, "linear", lambda x: LINEAR(x)),
    "a method": (torch.Tensor, "add", lambda x: x.add(1)),
    "an operator": (torch.Tensor, "__add__", lambda x: x + 1),
    "a method of a module": (torch.nn.Linear, "forward", lambda x: LINEAR(x)),
    "a class": (torch.nn, "ReLU", lambda x: torch.nn.ReLU()(x)),
    "Python's own": (math, "sqrt", lambda x: x * math.sqrt(4)),
    "what was not there": (torch.Tensor, "mine", lambda x: x.mine(2) if hasattr(x, "mine") else x),
}
LINEAR = torch.nn.Linear(2, 2)


@pytest.mark.parametrize("name", PATCHES)
def test_patches_of_what_is_taken_as_it_is(name, monkeypatch):
    space, attribute, f = PATCHES[name]
    x = torch.ones(2)
    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="aot_eager")
    before = compiled(x)
    assert torch.equal(before, f(x))
    with monkeypatch.context() as patch:
        value = lambda *args: next((a - 9 for a in args if isinstance(a, torch.Tensor)), 7)
        patch.setattr(
            space, attribute, (lambda: lambda x: x - 9) if name == "a class" else value, False
        )
        expected = f(x)
        assert torch.equal(compiled(x), expected) and not torch.equal(expected, before)
    assert torch.equal(compiled(x), before)
    assert minicompiler.stats()["recompiles"] <= 1


def test_a_cached_function_runs_as_often_as_in_python():
    def program():
        seen = []

        @functools.lru_cache(None)
        def noted(n):
            seen.append(n)
            return n * 2

        @functools.cache
        def plain(n):
            return n * 3

        def f(x):
            return x * noted(3) + noted(3) + plain(4)

        return f, seen, noted, plain

    eager, seen, *cached = program()
    minicompiler.reset()
    ours, our_seen, *our_cached = program()
    compiled = minicompiler.compile(ours, backend="eager")
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(3)), eager(torch.ones(3)))
    assert seen == our_seen == [3]
    assert [c.cache_info() for c in our_cached] == [c.cache_info() for c in cached]


def test_a_cached_function_that_remembers_an_old_global():
    @functools.lru_cache
    def scaled(n):
        return n * SCALE["now"]

    def f(x):
        return x * scaled(3)

    minicompiler.reset()
    scaled(3)
    SCALE["now"] = 5
    assert torch.equal(minicompiler.compile(f, backend="eager")(torch.ones(3)), torch.full((3,), 6))


SCALE = {"now": 2}


def test_identity_comes_before_equality():
    class Bag:
        def __init__(self, *items):
            self.items = items

        def __iter__(self):
            return iter(self.items)

    def f(x, nan, y):
        items = [nan, x]
        return (
            x + 1,
            (nan in items, nan in (nan,), nan in {nan}, nan in {1: nan}.values(), nan in Bag(nan)),
            (items == [nan, x], (nan,) == (nan,), {1: nan} == {1: nan}, items.index(nan)),
            (y in [x, y], y in Bag(x, y) if y is x else None, [nan].count(nan), nan == nan),
            collections.deque([nan]) == collections.deque([nan]),
        )

    x = torch.ones(3)
    check_against_eager(f, x, float("nan"), x, breaks=0)


def test_in_on_an_iterator_stops_where_it_finds():
    def f(x):
        it = iter(range(5))
        numbers = (i for i in range(9))
        return x + 1, 2 in it, list(it), 3 in numbers, next(numbers)

    check_against_eager(f, torch.ones(3), breaks=0)


def test_a_deque_that_changes_while_it_is_iterated_over():
    def f(x):
        q = collections.deque([1, 2, 3])
        try:
            for i in q:
                q.append(i)
        except RuntimeError as error:
            return x + 1, str(error)
        return x

    check_against_eager(f, torch.ones(3))


def test_a_function_made_inside_has_its_own_names():
    def f(x):
        def inner(y):
            "what it does"
            return y + 1

        return inner(x), inner.__doc__, inner.__module__, inner.__name__

    check_against_eager(f, torch.ones(3), breaks=0)


def test_methods_that_python_itself_runs():
    def f(x):
        q = collections.deque([1, x, 3], 3)
        q.rotate(1)
        q.extendleft([7])
        items = [1, 2, 3, 4, 5, 6]
        items[::2] = [x, 8, 9]
        errors = []
        for act in (
            lambda: items.pop(9),
            lambda: (1, 2)[5],
            lambda: [].pop(),
            lambda: collections.deque().popleft(),
            lambda: items.__setitem__(slice(None, None, 2), [1]),
            lambda: set().pop(),
            lambda: {1}.remove(2),
            lambda: {}.popitem(),
            lambda: collections.defaultdict(list).pop(1),
        ):
            try:
                act()
            except (IndexError, ValueError, KeyError) as error:
                errors.append((type(error).__name__, str(error)))
        numbers = {1, 2, 3}
        numbers &= {2, 3, 4}
        numbers.difference_update([3])
        return x + 1, list(q), items, errors, numbers, dict.fromkeys("ab", 1), {1: 2} | {3: 4}

    check_against_eager(f, torch.ones(3), breaks=0)


def test_what_a_tensor_class_has_is_there():
    def f(x):
        return x + 1, hasattr(x, "__torch_function__"), hasattr(x, "nothing_of_the_kind")

    check_against_eager(f, torch.ones(3), breaks=0)


def test_sums_of_floats_are_python_s():
    def f(x):
        return x + sum([0.1] * 10), sum((x, x)), sum([[1], [x]], [])

    check_against_eager(f, torch.ones(3), breaks=0)


def test_texts_of_sets_have_their_own_order():
    def f(x):
        names = {"b", "a", "c", "d"}
        names.discard("a")
        numbers = {8, 0, 16}
        return x + 1, str(names), ",".join(names), f"{numbers}", list(reversed({1: 2, 3: 4}))

    check_against_eager(f, torch.ones(3), breaks=0)


def test_what_bound_methods_sizes_and_views_answer():
    def f(x, table):
        errors = []
        for act in (lambda: (1,).index(2), lambda: collections.deque([1]).index(2)):
            try:
                act()
            except ValueError as error:
                errors.append(str(error))
        return (
            (x + 1).reshape((1,) + x.shape),
            (table.keys() - ["a"], table.keys() & ("a", "z"), table.keys() == ["a"]),
            (f.__name__, int.bit_length.__name__, table.get.__name__, hash((1, 2)), errors),
        )

    check_against_eager(f, torch.ones(3), {"a": 1, "b": 2})


def test_the_signature_of_a_method():
    class Layer(torch.nn.Module):
        def chunk(self, a, b=1):
            return a + b

        def forward(self, x):
            return self.chunk(x) * len(inspect.signature(self.chunk).parameters)

    check_against_eager(Layer(), torch.ones(2), graphs=1, breaks=0)


def made_under_no_grad(write):
    y = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        view = y[..., None].squeeze(-1)
    return view, (y, view, None)[write]


@pytest.mark.parametrize("write", [0, 1, 2])
@pytest.mark.parametrize("backend", ["auto", "eager"])
def test_a_view_that_no_grad_hid(write, backend):
    """It looks like any leaf, and raises once it or its base was written to."""

    def f(view, written, done):
        done.append(1)
        if written is not None:
            with torch.no_grad():
                written.add_(1)
        return view * 2

    seen = []
    for g in (f, minicompiler.compile(f, backend=backend)):
        g(torch.ones(3, requires_grad=True), None, [])  # guards of a leaf must not take it
        (view, written), done, found = made_under_no_grad(write), [], []
        for _ in range(2):
            try:
                found.append(g(view, written, done).tolist())
            except RuntimeError as error:
                found.append(str(error)[:30])
        seen.append((found, done))
    assert seen[0] == seen[1]


def test_each_write_to_an_input_counts():
    def f(x):
        tail = x[1:]
        tail.add_(1)
        torch.add(x, 1, out=x)
        x.mul_(2)
        x[0] = 3
        return x.relu_() + 1

    for called in (f, minicompiler.compile(f)):
        x = torch.ones(3)
        called(x)
        assert x._version == 5


def _written(x):
    y = x[1:]
    y.mul_(2)
    x.add_(y.sum())
    return x.relu(), y


def _caught(x):
    try:
        x.add_(1)
    except RuntimeError:
        return x * 3
    return x * 2


@pytest.mark.filterwarnings("error:minicompiler")  # that it runs eagerly
@pytest.mark.parametrize("backend", ["auto", "eager"])
@pytest.mark.parametrize("made", [False, True], ids=["normal", "inference"])
@pytest.mark.parametrize(
    "program",
    [
        _written,
        _caught,
        lambda x: F.scaled_dot_product_attention(x, x, x),
        lambda x: F.dropout(F.layer_norm(x, (4,)), 0.5, training=False) @ x.T,
        torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU(), torch.nn.Linear(3, 2)),
    ],
)
def test_inference_mode(program, made, backend):
    minicompiler.reset()
    compiled = minicompiler.compile(program, backend=backend)
    for inside in (True, False):
        with torch.inference_mode(made):
            x = torch.randn(4, 4)
            y = x.clone()
        with torch.inference_mode(inside):
            try:
                expected = program(x)
            except RuntimeError as error:
                with pytest.raises(RuntimeError, match=str(error)[:30]):
                    compiled(y)
                continue
            found = compiled(y)
        torch.testing.assert_close((found, y), (expected, x), check_stride=True)
        for a, b in zip(found, expected):
            assert a.is_inference() == b.is_inference()
        assert minicompiler.stats()["graphs"] >= 1


def _norm_of_gradient(y, x):
    return torch.autograd.grad(y, x, create_graph=True)[0].norm()


@pytest.mark.parametrize("break_before", [False, True])
@pytest.mark.parametrize("by", ["grad", "function", "backward", "hessian"])
def test_a_gradient_of_a_gradient_is_eager(by, break_before):
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())

    def f(x):
        y = net(x).sum()
        if break_before and by != "function":
            float(y)
        if by == "function":
            return _norm_of_gradient(y, x)
        if by == "hessian":
            return torch.autograd.functional.hessian(lambda x: net(x).sum(), x).sum()
        if by == "backward":
            y.backward(create_graph=True)
            return x.grad.norm()
        return torch.autograd.grad(y, x, create_graph=True)[0].norm()

    minicompiler.reset()
    results = []
    for called in (f, minicompiler.compile(f), minicompiler.compile(f)):
        for _ in range(3):
            x = torch.arange(4.0, requires_grad=True)
            found = called(x)
            if found.requires_grad:
                found.backward()
            results.append((found.detach(), x.grad))
    for found, gradient in results:
        assert torch.equal(found, results[0][0])
        assert gradient is None or torch.equal(gradient, results[0][1])
    assert minicompiler.stats()["graphs"] == 0


@pytest.mark.parametrize("backend", ["auto", "aot_eager", "eager"])
def test_classes_are_checked_after_the_effects_before(backend):
    def f(classes, done):
        done.append(1)
        return F.one_hot(classes, 4) * 2

    seen = []
    for g in (f, minicompiler.compile(f, backend=backend, fullgraph=True)):
        done = []
        for classes in ([1, 2], [1, 4], [-1, 2], [3, 0]):
            try:
                done.append(g(torch.tensor(classes), done).tolist())
            except RuntimeError as error:
                done.append(str(error))
        seen.append(done)
    assert seen[0] == seen[1]


class Planet(enum.Enum):
    EARTH = (1, 2)
    MARS = (3, 4)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    def ratio(self):
        return self.mass / self.radius


def test_what_members_of_an_enum_hold():
    def f(x):
        known = Planet.EARTH in Planet
        return x * Planet.MARS.mass + Planet((1, 2)).ratio(), known, getattr(Planet.MARS, "no", 3)

    check_against_eager(f, torch.ones(3), graphs=1, breaks=0)
    Planet.MARS.mass = 5
    check_against_eager(f, torch.ones(3), graphs=1, breaks=0)
    Planet.MARS.mass = 3


def test_the_context_of_an_exception():
    def waits():
        try:
            raise KeyError(5)
        except KeyError:
            yield 1
            raise

    def f(x):
        found = []
        try:
            raise KeyError(1)
        except KeyError as first:
            try:
                raise ValueError(2)
            except ValueError as second:
                found.append(type(second.__context__).__name__)
                kept = second
            try:
                raise first
            except KeyError as third:
                found.append(third.__context__)
        generator = waits()
        next(generator)
        try:
            next(generator)
        except KeyError as error:
            found.append(error.args)
        return x + 1, found, kept

    def seen(g):
        y, found, kept = g(torch.ones(3))
        return y.tolist(), found, repr(kept), repr(kept.__context__)

    assert seen(minicompiler.compile(f, backend="eager")) == seen(f)


WRONG = [
    lambda: [1] + (2,),
    lambda: [1] * 1.5,
    lambda: [1] * Planet,
    lambda: dict([1]),
    lambda: {}.update([1]),
    lambda: [*5],
    lambda: {**5},
    lambda: print(*5),
    lambda: print(**5),
    lambda: print("a", end=3),
    lambda: bool(1, 2),
    lambda: vars(1),
    lambda: reversed(5),
    lambda: collections.OrderedDict().popitem(),
    lambda: (lambda: (yield))().send(1),
    lambda: len(*(lambda a: a)(5)),
    lambda: collections.deque([1], 3).maxlen,
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_a_wrong_call_says(number):
    """Python knows many ways to say that something does not fit: it is asked itself."""

    def f(x, act):
        try:
            found = act()
        except Exception as error:
            found = type(error).__name__, str(error)
        try:
            a, b = 5
        except TypeError as error:
            return x + 1, found, str(error)

    check_against_eager(f, torch.ones(3), WRONG[number])


def test_what_a_program_lets_go_of_while_it_is_captured():
    """Generators end, and weak references die, where they do eagerly: not at a collection."""

    def f(x, log):
        def waits():
            try:
                yield 1
            finally:
                log.append("ended")

        waiting = waits()
        next(waiting)
        numbers = (i for i in range(3))
        try:
            sum(numbers)
            numbers.throw(KeyError(1))
        except KeyError:
            return x + 1

    gc.disable()
    try:
        for g in (f, minicompiler.compile(f, backend="eager")):
            for _ in range(2):
                g(torch.ones(3), log := [])
                assert log == ["ended"]
    finally:
        gc.enable()


def test_the_class_of_an_iterator():
    def f(x, items):
        kinds = [type(reversed(items)), type(map(abs, items)), type(zip(items)), type(iter(items))]
        kinds += [type(filter(None, items)), type(enumerate(items)), type(itertools.count())]
        return x + 1, [k.__name__ for k in kinds], isinstance(reversed(items), types.GeneratorType)

    check_against_eager(f, torch.ones(2), [1, 2])


def test_an_operator_that_tensors_have_not_in_place():
    def f(x, tensors):
        x @= torch.eye(2)
        tensors[0].add_(1)
        return x, tensors[0]

    x = torch.ones(2)
    check_against_eager(f, x, [x], breaks=0)


@pytest.mark.parametrize("of", [reversed, iter, enumerate, lambda items: map(abs, items)])
def test_an_iterator_over_what_is_written(of):
    def f(x, items, table):
        items.remove(items[0])
        table["b"] = 2
        return x + 1, of(items), of(table.values())

    run = []
    for g in (f, minicompiler.compile(f)):
        _, *iterators = g(torch.ones(2), [3, 1, 2], {"a": 1})
        run.append([list(i) for i in iterators])
    assert run[0] == run[1]


def test_names_of_attributes_are_strings():
    class Kind(str, enum.Enum):
        A = "shape"

    def f(x, name):
        return x + 1, getattr(x, name, 5)

    check_against_eager(f, torch.ones(2), Kind.A)
    check_against_eager(f, torch.ones(2), None)


def test_super_without_arguments_behind_a_break():
    class Base:
        def go(self, x, k):
            return x * k

    class Printing(Base):
        def go(self, x, k):
            print(x.sum().item())
            return super().go(x, k) + 1

    class OnTheStack(Base):
        def go(that, a, k):
            return a + super().go(a, print(a.sum().item()) or k)

    class Shared(Base):
        def go(self, x, k):
            print(x.sum().item())
            return super().go(x, k) + len([self for _ in range(k)])

    for cls in (Printing, OnTheStack, Shared):
        check_against_eager(cls().go, torch.ones(3), 2)


def test_a_method_of_c_that_wants_its_class_is_handed_over_a_break():
    def f(x, pattern, log):
        found = pattern.sub(lambda m: m[0] + "x", "uv")
        return x + 1, found

    check_against_eager(f, torch.ones(3), re.compile("u"), [])


def test_groups_of_exceptions_are_left_to_python():
    def f(x):
        try:
            raise ExceptionGroup("two", [KeyError(1), ValueError(2)])
        except ExceptionGroup as group:
            found, rest = group.split(KeyError)
            count = len(group.exceptions)
        return x + 1, repr(found), repr(rest), count

    check_against_eager(f, torch.ones(3))


class Doubling:
    """Takes part in torch's functions, and has an operator of its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__

    def __radd__(self, other):
        return "radd"


class Comparing:
    def __eq__(self, other):
        return 5


def test_operators_of_a_tensor_and_an_object_ask_the_object():
    def f(x, of):
        return x + of, x == of, x != of, of == x, x * 2

    check_against_eager(f, torch.ones(3), Doubling())
    check_against_eager(lambda x, of: (x == of, of != x, x * 2), torch.ones(3), Comparing())


def test_next_at_the_end_raises_with_what_the_generator_returned():
    class Ending:
        def __next__(self):
            raise StopIteration(7)

        def __iter__(self):
            return self

    def three():
        yield 1
        return 3

    def f(x):
        found = []
        for it in (three(), Ending()):
            try:
                while True:
                    found.append(next(it))
            except StopIteration as error:
                found.append(error.value)
        return x + 1, found, [*both()]

    def both():
        yield (yield from Ending())
        yield (yield from three())

    check_against_eager(f, torch.ones(3), breaks=0)


# ---------------------------------------------------------------- found by CPython's own tests
class Backwards(dict):
    def keys(self):
        return reversed(list(dict.keys(self)))

    __iter__ = keys


class Spelled(dict):
    def __iter__(self):
        return iter(["z"])

    def __getitem__(self, key):
        return "got " + key


class SpelledInOrder(collections.OrderedDict):
    def __getitem__(self, key):
        return "got " + key


def copies(of):
    made = {"q": 1}
    made.update(of)
    return [
        *map(list, (dict(of).items(), {**of}.items(), of.copy().items(), made.items())),
        list((of | {}).items()),
        list(({"q": 1} | of).items()),
        list(collections.OrderedDict(of).items()),
        (lambda **named: list(named.items()))(**of),
        type(of | {}),
        type(of.copy()),
    ]


@pytest.mark.parametrize("cls", [dict, Backwards, Spelled, SpelledInOrder, collections.OrderedDict])
def test_classes_of_dicts_say_what_a_copy_holds(cls):
    check_against_eager(lambda of: (copies(of), copies(cls(b=2, a=1))), cls(a=1, b=2))


def test_only_mappings_are_unpacked_into_dicts():
    def f():
        try:
            return {**[("a", 1)]}
        except TypeError as error:
            return str(error)

    check_against_eager(f)


def test_defaults_of_a_dict_from_outside_are_written():
    def f(table):
        table.default_factory = list
        return table["new"]

    check_against_eager(f, collections.defaultdict(int), calls=1)


def test_iteration_sees_what_is_written_meanwhile():
    def f(x):
        table, queue = dict(a=1, b=2, c=3), collections.deque([1, 2, 3])
        seen, back, later = [], reversed(table.items()), reversed(queue)
        items = zip(table, table.values())
        seen += [next(items), next(back), next(later)]
        for key, value in table.items():
            seen.append((key, value))
            table["c"] += 10
        table["a"] = 7
        return x + 1, seen, list(items), list(back)

    check_against_eager(f, torch.ones(2), breaks=0)


@pytest.mark.parametrize("kind", [dict.fromkeys, set, collections.deque])
def test_iterators_notice_a_change_wherever_they_go(kind):
    def f(x):
        made = kind("abc")
        it = iter(made)
        next(it)
        made.pop() if isinstance(made, set | collections.deque) else made.popitem()
        return x + 1, it

    def consumed(f, x):
        try:
            return list(f(x)[1])
        except RuntimeError as error:
            return str(error)

    eager, found = consumed(f, torch.ones(2)), consumed(minicompiler.compile(f), torch.ones(2))
    assert eager == found and isinstance(found, str)


def test_lists_are_read_backwards_from_their_end_as_it_was():
    def f(x):
        made = [1, 2, 3]
        back = reversed(made)
        made.append(4)
        made[0] = 5
        return x + 1, list(back)

    check_against_eager(f, torch.ones(2))


def test_modules_in_c_that_write_what_they_are_given():
    def f(x, heap):
        bisect.insort(heap, 2)
        heapq.heapify(heap)
        heapq.heappush(heap, 0)
        return x + heapq.heappop(heap), heap, bisect.bisect(heap, 2)

    check_against_eager(f, torch.ones(2), [1, 3, 5], breaks=0)


def test_generators_are_named_by_their_function_as_it_is_when_called():
    def f(x, function):
        function.__name__ = "other"
        made = function()
        return x + 1, made.__name__, made

    def make():
        def function():
            yield 1

        return function

    assert minicompiler.compile(f)(torch.ones(2), make())[1] == "other"


class Meta(type):
    flag = 1

    @property
    def twice(cls):
        return 2 * cls.flag

    def __getattr__(cls, name):
        return name + str(cls.flag)


class OfMeta(metaclass=Meta):
    pass


def test_what_a_metaclass_answers_is_guarded():
    def f(x):
        return x + OfMeta.flag, OfMeta.twice, OfMeta.unknown, hasattr(OfMeta, "__len__")

    compiled = minicompiler.compile(f)
    for flag in (1, 5):
        Meta.flag = flag
        assert compiled(torch.ones(2))[1:] == f(torch.ones(2))[1:]
    OfMeta.unknown, Meta.twice = 3, property(lambda cls: 4)
    assert compiled(torch.ones(2))[1:] == (4, 3, True)


class OnlySet:
    def __set__(self, of, value):
        of.__dict__["a"] = value


class WithOnlySet:
    a = OnlySet()


class OwnNew:
    def __new__(cls, *args):
        return object.__new__(cls, *args)


class OwnInit:
    def __init__(self, *args):
        object.__init__(self, *args)


def test_objects_take_arguments_where_cpython_lets_them():
    def f(x, cls, *args):
        try:
            cls(*args)
        except TypeError as error:
            return x + 1, str(error)
        return x + 2

    for cls in (object, OwnNew, OwnInit):
        check_against_eager(f, torch.ones(2), cls)
        check_against_eager(f, torch.ones(2), cls, 1)

    def keywords(x):
        try:
            return x + 1, ValueError(reason=1)
        except TypeError as error:
            return x + 2, str(error)

    check_against_eager(keywords, torch.ones(2))


def test_attributes_behind_descriptors_that_only_set():
    def f(x, of):
        of.a = 2
        return x + 1, of.a

    check_against_eager(f, torch.ones(2), WithOnlySet())


def test_an_error_made_again_forgets():
    def f(x):
        error = ImportError("no", name="n", path="p")
        error.__init__("yes")
        return x + 1, error.name, error.path, error.args

    check_against_eager(f, torch.ones(2))


class Wrapped:
    def __init__(self, function):
        self.function = function

    def __get__(self, of, owner):
        return functools.partial(self.function, owner.__name__)


class WithClassMethods:
    through = classmethod(Wrapped(lambda *args: args)) if sys.version_info < (3, 13) else None
    partial = classmethod(functools.partial(lambda *args: args[1:], 3))


def test_class_methods_around_other_things():
    def f(x, of):
        return x + 1, of.through and of.through(2), of.partial(4), of.partial

    assert (
        minicompiler.compile(f)(torch.ones(2), WithClassMethods())[1:3]
        == (f(torch.ones(2), WithClassMethods())[1:3])
    )


def test_names_that_the_module_of_builtins_makes_up():
    def f(x):
        try:
            return __annotations__
        except NameError as error:
            return x + 1, str(error)

    check_against_eager(f, torch.ones(2))


class Virtual(abc.ABC):
    def __eq__(self, other):
        return "first"


class Registered:
    def __eq__(self, other):
        return "second"


def test_a_registered_class_is_no_subclass_for_operators():
    Virtual.register(Registered)
    check_against_eager(lambda x: (x + 1, Virtual() == Registered()), torch.ones(2))


def test_what_computes_for_long_without_tensors_runs_eagerly():
    def f(x, n):
        total = 0
        for i in range(n):
            total += i % 3
        return x + total

    check_against_eager(f, torch.ones(2), 100_000, breaks=1, calls=1)


def test_tracebacks_name_the_function_of_the_program():
    def f(x):
        y = x + 1
        list(map(id, [x]))
        raise ValueError(len(y))

    with pytest.raises(ValueError) as caught:
        minicompiler.compile(f)(torch.ones(2))
    names = {entry.name for entry in caught.traceback}
    assert "f" in names and not any(name.startswith("f_") for name in names)


def test_a_stop_iteration_that_leaves_a_generator_is_the_cause_of_a_runtime_error():
    def stops():
        yield 1
        yield next(iter(()))

    def thrown(first):
        made = stops()
        first and next(made)
        made.throw(StopIteration(3))

    def f(x):
        seen = []
        for run in (lambda: list(stops()), lambda: thrown(True)):
            try:
                try:
                    raise KeyError
                except KeyError:
                    run()
            except Exception as error:
                shown = error.__cause__, error.__context__, error.__suppress_context__
                seen += [type(error).__name__, *error.args, *map(repr, shown)]
        try:
            thrown(False)
        except (StopIteration, RuntimeError) as error:
            seen.append(type(error).__name__)
        return x + 1, seen

    check_against_eager(f, torch.ones(2))


class Seats:
    def __getitem__(self, i):
        return range(4)[i]


def test_iterators_of_what_has_items_only():
    compiled = minicompiler.compile(lambda x, of: (x + 1, iter(of)))
    made = compiled(torch.ones(2), Seats())[1]
    assert type(made) is type(iter(Seats())) and list(made) == [0, 1, 2, 3]


def test_lists_that_change_while_they_are_sorted():
    def f(x):
        made = [3, 2, 1]

        def key(item):
            made.append(item)
            return item

        try:
            made.sort(key=key)
        except ValueError as error:
            return x + 1, str(error)
        return x

    check_against_eager(f, torch.ones(2))


def test_guards_that_fail_at_every_call_end_in_eager_calls():
    def f(x, of):
        return x + 1 if of["limit"][0] < 1000 else x

    compiled = minicompiler.compile(f)
    before = minicompiler.stats()["recompiles"]
    with pytest.warns(UserWarning, match="runs eagerly from now on"):
        for i in range(40):
            compiled(torch.ones(2), {"limit": [i + 0.5]})
    assert minicompiler.stats()["recompiles"] - before < 40


class Ends:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration("done")


def test_what_ends_an_iterator_is_kept():
    def returning(value):
        yield 1
        return value

    def delegating(of):
        yield (yield from of)

    def f(x):
        found = list(delegating(Ends()))
        for it in (returning(x), returning((2,)), Ends()):
            try:
                while True:
                    next(it)
            except StopIteration as stop:
                found += [stop.value, stop.args]
        return x + 1, found

    check_against_eager(f, torch.ones(2))


class NoContainer:
    __contains__ = None

    def __iter__(self):
        return iter([1])


class Indexed:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: 1 in NoContainer(),
        lambda x: [1].__mul__(Indexed(2)),
        lambda x: [1].__add__((2,)),
        lambda x: operator.index(Indexed("no")),
        lambda x: setattr((lambda: x), "__closure__", None),
    ],
)
def test_what_python_insists_on(ask):
    def f(x):
        try:
            return x + 1, ask(x.size())
        except (TypeError, AttributeError) as error:
            return x + 2, str(error)

    check_against_eager(f, torch.ones(2))


class Keeping:
    def __enter__(self):
        return self

    def __exit__(self, cls, error, traceback):
        self.kept = traceback is None, error, traceback and type(traceback).__name__
        return True


def test_exceptions_have_tracebacks_where_they_are_handled():
    def f(x):
        with Keeping() as keeping:
            raise MemoryError("of a class that BaseException does not make")
        return x + 1, keeping.kept

    found = minicompiler.compile(f)(torch.ones(2))[1]
    assert repr(found) == repr(f(torch.ones(2))[1])


class Subscripted:
    asked = 0

    def __class_getitem__(cls, key):
        cls.asked += 1
        return key


def test_subscripts_of_classes_are_taken_once():
    minicompiler.compile(lambda x: (x + 1, Subscripted[int]))(torch.ones(2))
    assert Subscripted.asked == 1


class Point:
    __match_args__ = ("x",)

    def __init__(self, x):
        self.x = x


class Number(int):
    pass


def test_patterns_of_classes():
    def f(t):
        found = []
        for subject in (Point(1), Number(2), 3, "four", Ends()):
            try:
                match subject:
                    case Point(x):
                        found.append(x)
                    case Number(n):
                        found.append(n)
                    case str() as text:
                        found.append(text)
                    case int(n):
                        found.append(-n)
                    case Ends(x):
                        found.append(x)
            except TypeError as error:
                found.append(str(error))
            try:
                match subject:
                    case Point(x, y):
                        found.append((x, y))
            except TypeError as error:
                found.append(str(error))
        return t + 1, found

    check_against_eager(f, torch.ones(2))


class Deleting:  # what super() asks for
    def __init__(self, x):
        y = x + 1
        list(map(id, [y]))
        del self
        try:
            super().__init__()
        except RuntimeError as error:
            x.add_(len(str(error)))


def test_super_of_what_was_deleted():
    def f(x):
        Deleting(x)
        return x + 1

    check_against_eager(f, torch.ones(2))


def test_names_of_builtins_and_of_functions_are_guarded(monkeypatch):
    def named():
        "first"

    def f(x):
        return x * len([1, 2]), named.__doc__

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="eager")
    assert compiled(torch.ones(1))[0] == 2
    named.__doc__ = "second"
    assert compiled(torch.ones(1))[1] == "second"
    monkeypatch.setattr("builtins.len", lambda of: 9)
    found = compiled(torch.ones(1))[0].item()
    monkeypatch.undo()
    assert found == 9


def test_comprehensions_that_hide_what_closures_share():
    def f(t):
        x = 1
        g = lambda: x  # noqa: E731
        return t + 1, [x for x in range(4) if x % 2], g()

    check_against_eager(f, torch.ones(2))
    check_against_eager(lambda t: f(t), torch.ones(2))


def test_calls_under_lru_cache_are_counted_once():
    """Also where what was captured up to then is thrown away."""

    def f(x):
        g = functools.lru_cache(lambda q: q * 7)
        n = g(3)
        return x * 2, g.cache_info(), n

    check_against_eager(f, torch.ones(2))
    check_against_eager(f, torch.ones(2), empty=False)


def test_what_abstract_classes_take_for_theirs_may_change():
    class A(abc.ABC):
        pass

    class C:
        pass

    o = C()

    def f(x):
        both = isinstance(o, A) + isinstance(x, A)
        return x * (2 + both) + issubclass(C, (int, A))

    check = minicompiler.compile(f, backend="eager")
    x = torch.ones(2)
    for cls in (int, C, torch.Tensor):
        A.register(cls)
        assert torch.equal(check(x), f(x))
    assert f(x)[0] == 5


def test_a_metaclass_is_not_asked_while_capturing():
    asked = []

    class Meta(type):
        def __getattr__(cls, name):
            asked.append(name)
            raise AttributeError(name)

    class C(metaclass=Meta):
        pass

    def f(x, o):
        return x * (2 if isinstance(o, C) else 3)

    assert minicompiler.compile(f, backend="eager")(torch.ones(1), C()) == 2 and not asked


def test_signatures_are_those_of_the_day():
    def g(x, k=1):
        return x

    def f(x):
        default = inspect.signature(g).parameters["k"].default
        return x * default + inspect.getfullargspec(g).defaults[0]

    check = minicompiler.compile(f, backend="eager")
    x = torch.ones(2)
    assert torch.equal(check(x), f(x))
    g.__defaults__ = (5,)
    assert torch.equal(check(x), f(x)) and f(x)[0] == 10


@functools.lru_cache(maxsize=4)
def doubled(n):
    return n * 2


@pytest.mark.parametrize("first", [True, False])
def test_calls_under_lru_cache_are_counted_once_where_a_check_fails(first):
    """What the graph cannot raise itself, Python runs again: the cache would be asked twice."""

    def f(x, n):
        if first:
            k = doubled(n)
        if x.mean() > 0.5:
            raise KeyError(1)
        if not first:
            k = doubled(n)
        return x * k

    def counts(g):
        doubled.cache_clear()
        for x in (torch.zeros(3), torch.ones(3), torch.zeros(3)):
            with suppress(KeyError):
                g(x, 2)
            yield doubled.cache_info()

    assert list(counts(minicompiler.compile(f, backend="eager"))) == list(counts(f))


def test_a_cache_that_has_become_stale_is_asked_once():
    """It answers as it did, whatever its function would compute by now."""
    world = {"by": 2}
    cached = functools.lru_cache(lambda n: n * world["by"])

    def f(x, n):
        return x * cached(n)

    compiled, x = minicompiler.compile(f, backend="eager"), torch.ones(2)
    for k in range(4):
        world["by"] += k > 1
        assert torch.equal(compiled(x, 3), x * 6)
        assert cached.cache_info().hits == k


@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_caches_are_asked_behind_a_graph_that_writes(backend):
    """Where it raises, Python asks them; where they answer otherwise, what it wrote is undone."""
    made = functools.lru_cache(lambda n: [n])

    def f(x, at):
        k = made(3)
        x.add_(1)
        noise = torch.rand(3)
        try:
            return x[at] * k[0], noise
        except IndexError:
            return x - k[0], noise

    def seen(f):
        made.cache_clear()
        for at in (1, 7, 1, 7, 1):
            x = torch.ones(3)
            torch.manual_seed(3)
            yield [*f(x, torch.tensor([at])), x, torch.rand(1)], made.cache_info()
        made.cache_clear()  # from now on another list
        x = torch.ones(3)
        yield [*f(x, torch.tensor([1])), x, torch.rand(1)], None

    compiled = minicompiler.compile(f, backend=backend)
    for (values, info), (expected, counted) in zip([*seen(compiled)], [*seen(f)], strict=True):
        assert info == counted
        drawn = {1, 3} if backend == "auto" else set()  # other numbers than eager's
        pairs = zip(values, expected, strict=True)
        assert all(torch.equal(a, b) for i, (a, b) in enumerate(pairs) if i not in drawn)


def test_sum_adds_while_a_generator_computes():
    """The order of operators is that in which gradients are added up: seen in their last bit."""

    def doubling(t):
        for _ in range(3):
            yield t
            t = t * 2 + 3

    def f(x, y):
        return sum(doubling(y)), sum([y, 1, y, y], x), sum([0.1] * 10), sum([[1], [2]], [])

    check_against_eager(f, torch.ones(3), torch.tensor([0.3, 0.1, -0.7], requires_grad=True))


ASKING = dict(
    sum=sum,
    product=math.prod,
    exact=math.fsum,
    bytes=bytes,
    text="{}{}".format,
    least=lambda it: min(it, key=lambda v: v + 1),
    common={1, 2}.intersection,
    apart={1, 2}.isdisjoint,
    above={1, 2}.issuperset,
    found=lambda it: 4 in it,
    first=any,
    counted=collections.Counter,
    **{f"sum from {start!r}": lambda it, s=start: sum(it, s) for start in (1.5, "a", None, ())},
)


def test_a_cache_is_given_the_iterator_itself():
    same = functools.lru_cache(lambda it: it)

    def f(x):
        it = (k for k in (1, 2))
        return x * 2, same(it) is it, next(it)

    check_against_eager(f, torch.ones(2))


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
@pytest.mark.parametrize(
    "items", [(1, None, 3), ("a", 1), (1, [2], 3), (1, 2, 3, 4, 5), (1, -1, 300)]
)
def test_iterators_go_as_far_as_they_are_asked(ask, items):
    """What C raises, or has seen enough, leaves them where they are."""

    def f(x):
        told = []

        def telling():
            for item in items:
                told.append(item)
                yield item
            told.append("over")

        it = telling()
        try:
            told.append(ask(it))
        except (TypeError, ValueError, IndexError) as error:
            told.append(str(error))
        told.append(next(it, "end"))
        return x * 2, told

    check_against_eager(f, torch.ones(2))


SOURCES = [list, tuple, str, dict, lambda d: d.values(), range]


@pytest.mark.parametrize("make, way", [*itertools.product(SOURCES, (iter, reversed)), (set, iter)])
def test_an_exhausted_iterator_keeps_its_class(make, way):
    def f(x, made):
        it = way(made)
        list(it)
        return x * 2, type(it), it

    of = make(3 if make is range else {1: 2})
    it = minicompiler.compile(f, backend="eager")(torch.ones(1), of)[2]
    assert type(it) is type(way(of)) and list(it) == []


def test_what_a_graph_wrote_to_a_leaf_is_put_back_where_it_raises():
    def f(x, y, at):
        with torch.no_grad():
            y.add_(1)
        try:
            t = x[at]
        except IndexError:
            t = x
        return t * y

    leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    check_against_eager(f, torch.ones(3), leaf, torch.tensor([7]), backend="eager")


def test_what_a_class_shows_of_itself_is_guarded():
    class Base: ...

    class Left(Base): ...

    class Right(Base): ...

    class Both(Left, Right): ...

    def f(x):
        return x, [c.__name__ for c in Both.__mro__], Both.__bases__, Both.__base__, Both.__name__

    check = minicompiler.compile(f, backend="eager")
    x = torch.ones(1)
    for name, to in (("__bases__", (Right, Left)), ("__bases__", (Right,)), ("__name__", "B")):
        assert check(x)[1:] == f(x)[1:]
        setattr(Both, name, to)
        assert check(x)[1:] == f(x)[1:]


def test_history_that_a_graph_gave_before_it_raised_is_not_left_behind():
    def f(x, t, at):
        t.copy_(x)
        try:
            return t[at] * 2, t
        except IndexError:
            return t, t

    x = torch.ones(3, requires_grad=True)
    for at in (1, 7):
        check_against_eager(f, x, torch.zeros(3), torch.tensor([at]), backend="eager")


def test_statistics_of_batch_norm_are_put_back_where_the_graph_raises():
    norm = torch.nn.BatchNorm1d(3)

    def f(x, at, norm):
        y = norm(x)
        try:
            return y[at]
        except IndexError:
            return y + norm.running_mean

    for at in (1, 7):
        check_against_eager(f, torch.rand(4, 3), torch.tensor([at]), norm, backend="eager")
        for train in (True, False):  # what autograd saved before the call is still as it was
            x = torch.rand(4, 3, requires_grad=True)
            earlier = norm.train(train)(x)
            minicompiler.compile(f, backend="eager")(x, torch.tensor([at]), norm)
            torch.autograd.grad(earlier.sum(), x)


@pytest.mark.parametrize("reverse", ["", 2.0, None, [], 1, torch.tensor(1)])
def test_reverse_is_a_number(reverse):
    def f(x, reverse):
        found = [2, 1]
        found.sort(reverse=reverse)
        return x * 2, found, sorted(found, reverse=reverse)

    check_against_eager(f, torch.ones(1), reverse)


def test_a_variable_that_closures_share_is_unbound_behind_a_break() -> None:
    def late(x: torch.Tensor, n: int) -> object:
        try:
            found = [1, 2][n]
        except IndexError:
            pass
        minicompiler.graph_break()
        try:
            return x + found, (lambda: found)()
        except Exception as error:
            return x, type(error), str(error)

    def deleted(x: torch.Tensor, n: int) -> object:
        found = 1
        minicompiler.graph_break()
        get = lambda: found  # noqa: F821
        del found
        try:
            return x + found, get()  # noqa: F821
        except Exception as error:
            return x, type(error), str(error)

    def later(x: torch.Tensor, n: int) -> object:
        y = x + n
        minicompiler.graph_break()
        found = y * 2
        return (lambda: found)()

    for f, breaks in ((late, 0), (deleted, 0), (later, 1)):
        minicompiler.reset()
        compiled = minicompiler.compile(f, backend="eager")
        for n in (5, 0):
            assert str(compiled(torch.ones(2), n)[1:])[:40] == str(f(torch.ones(2), n)[1:])[:40]
        assert minicompiler.stats()["breaks"] >= breaks


def test_what_iter_gives_is_an_iterator_also_behind_a_break() -> None:
    class Odd:
        __iter__ = lambda self: None

    def f(x: torch.Tensor) -> object:
        try:
            return [i for i in Odd()]
        except TypeError as error:
            return x + 1, str(error)

    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(2):
        assert compiled(torch.ones(2))[1] == "iter() returned non-iterator of type 'NoneType'"


def test_tensor_functions_take_no_iterators() -> None:
    makers = (iter, reversed, collections.deque, lambda items: (i for i in items))
    for make in (
        *makers,
        lambda items: map(abs, items),
        lambda items: dict.fromkeys(items).values(),
    ):
        for function in (torch.stack, torch.cat, torch.zeros, torch.tensor):

            def f(x: torch.Tensor) -> object:
                items = [2, 3] if function in (torch.zeros, torch.tensor) else [x, x]
                try:
                    return function(make(items)), x + 1
                except (TypeError, RuntimeError) as error:
                    return type(error), x + 1

            minicompiler.reset()
            expected, found = (
                f(torch.ones(2)),
                minicompiler.compile(f, backend="eager")(torch.ones(2)),
            )
            assert str(found) == str(expected)


def test_writes_through_data_are_not_counted() -> None:
    def before(x: torch.Tensor, p: torch.Tensor) -> object:
        y = x * p
        p.data.mul_(2)
        return y

    def after(x: torch.Tensor, p: torch.Tensor) -> object:
        p.data[0:1].mul_(2)
        return x * p

    def reads(x: torch.Tensor, p: torch.Tensor) -> object:
        return x * p + p.data.sum()

    def leaves(x: torch.Tensor, p: torch.Tensor) -> object:
        kept.append(p.data.view(3, 1))
        return x * p

    for f, graphs in ((before, 1), (after, 1), (reads, 1), (leaves, 1)):
        seen = []
        for backend in (None, "eager", "auto"):
            minicompiler.reset()
            kept: list[torch.Tensor] = []
            x = torch.arange(3.0, requires_grad=True)
            p = torch.nn.Parameter(torch.ones(3) * 3)
            y = (f if backend is None else minicompiler.compile(f, backend=backend))(x, p)
            assert backend is None or minicompiler.stats()["graphs"] >= graphs
            version = p._version
            for t in kept:
                t.mul_(2)
            y.sum().backward()
            seen.append((y.tolist(), x.grad.tolist(), p.grad.tolist(), version, p._version))
        assert seen[1:] == [seen[0], seen[0]], f.__name__


class Uncounted:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, of: object, owner: object = None) -> object:
        return vars(of).get(self.name, 0)

    def __set__(self, of: object, to: object) -> None:
        vars(of)[self.name] = to


class Described:
    size = Uncounted()


class Classes:
    @classmethod
    def __new__(*args: object) -> object:  # type: ignore[misc]
        return args


class Local(threading.local):
    done = False


class Warns(type):
    def __getattribute__(cls, name: str) -> object:
        return len(LOOKED) if name == "size" else super().__getattribute__(name)


class Looked(metaclass=Warns): ...


LOOKED: list[str] = []


def test_classes_look_attributes_up_in_their_own_ways() -> None:
    def through_the_dictionary(x: torch.Tensor) -> object:
        made = Described()
        made.size = 3
        vars(made)["size"] = 99
        return x * made.size, vars(made)

    def class_method(x: torch.Tensor) -> object:
        return x + 1, Classes(1, 2)

    def asks_the_metaclass(x: torch.Tensor) -> object:
        return x * Looked.size

    for f in (through_the_dictionary, class_method, asks_the_metaclass):
        compiled = minicompiler.compile(f, backend="eager")
        for _ in range(2):
            assert str(compiled(torch.ones(1))) == str(f(torch.ones(1)))
            LOOKED.append("again")


def test_threads_see_their_own_locals() -> None:
    local, seen = Local(), []

    def writes(x: torch.Tensor) -> torch.Tensor:
        local.done = True
        return x * 2

    def reads(x: torch.Tensor) -> torch.Tensor:
        return x * (2 if local.done else 3)

    writing, reading = (minicompiler.compile(f, backend="eager") for f in (writes, reads))

    def run() -> None:
        seen.append(reading(torch.ones(1)).item())
        writing(torch.ones(1))
        seen.append(reading(torch.ones(1)).item())

    for _ in range(2):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == [3, 2, 3, 2] and not local.done


def test_super_finds_its_object_behind_a_break() -> None:
    class Base:
        @abc.abstractproperty
        def size(self) -> int:
            return 3

    class Sub(Base):
        @property
        def size(self) -> int:  # type: ignore[override]
            return super().size

        def asked(self) -> object:
            return super().__class__

    def f(x: torch.Tensor) -> torch.Tensor:
        return x * Sub().size if Sub().asked() is super else x

    assert minicompiler.compile(f, backend="eager")(torch.ones(1)).item() == 3


def test_an_exception_that_is_kept_tells_where_it_was_raised() -> None:
    def raises(n: int) -> int:
        return [1, 2][n] // 0

    def f(x: torch.Tensor, n: int) -> object:
        try:
            x = x * raises(n)
        except (ZeroDivisionError, IndexError) as error:
            return x + 1, error

    for n in (0, 5):
        trace = minicompiler.compile(f, backend="eager")(torch.ones(1), n)[1].__traceback__
        expected = f(torch.ones(1), n)[1].__traceback__
        lines = [[at.lineno for at in traceback.extract_tb(t)] for t in (trace, expected)]
        assert lines[0] == lines[1] and len(lines[0]) == 2


def test_a_graph_that_raises_has_asked_no_cache() -> None:
    def f(x: torch.Tensor, at: torch.Tensor) -> object:
        double = functools.lru_cache(lambda n: n * 2)
        n = double(3)
        try:
            x = x[at]
        except IndexError:
            x = x - 1
        return x * n, double

    compiled = minicompiler.compile(f, backend="eager")
    for at in (1, 7, 1):
        (x, cache), (y, same) = (
            compiled(torch.ones(2), torch.tensor([at])),
            f(torch.ones(2), torch.tensor([at])),
        )
        assert x.tolist() == y.tolist() and cache.cache_info() == same.cache_info()


def test_iterators_over_views_have_their_classes() -> None:
    def f(x: torch.Tensor, d: dict[str, int]) -> object:
        return x + 1, [type(iter(way)) for way in (d, d.values(), d.items(), d.keys())]

    for d in ({"a": 1}, collections.OrderedDict(a=1)):
        assert minicompiler.compile(f)(torch.ones(1), d)[1] == f(torch.ones(1), d)[1]


def test_keywords_may_have_the_names_that_rules_give_their_own() -> None:
    class Keeps:
        def __init__(self, of: int, method: str, ev: int = 0) -> None:
            self.held = of, method, ev

    def named(**kwargs: object) -> object:
        return kwargs

    def f(x: torch.Tensor) -> object:
        made = Keeps(of=1, method="m", ev=2).held, dict(self=1, ev=2, cls=3)
        return x + 1, made, functools.partial(named, function=1, ev=2)(), named(self=3, ev=x)

    run = check_against_eager(f, torch.ones(2))
    assert len(run.graphs) == 1 and not run.breaks


def test_a_class_is_given_a_special_method_that_it_did_not_have() -> None:
    def reads(of: Any, x: torch.Tensor) -> object:
        return x + of.b

    def writes(of: Any, x: torch.Tensor) -> object:
        of.b = x + 1
        return x

    def asks(of: Any, x: torch.Tensor) -> object:
        return x + (1 if of else 2) + (3 if callable(of) else 4)

    def either(of: Any, name: str) -> object:
        return 5 if name == "b" else object.__getattribute__(of, name)

    def twice(of: Any, name: str, value: object) -> None:
        object.__setattr__(of, name, (value, value))

    later = {"__getattribute__": either, "__setattr__": twice, "__len__": lambda of: 0}
    later["__call__"] = lambda of: None
    for name, how in zip(later, (reads, writes, asks, asks)):
        cls: Any = type("Plain", (), {"b": 1})
        compiled = minicompiler.compile(how)
        compiled(cls(), torch.ones(1))
        setattr(cls, name, later[name])
        a, b = cls(), cls()
        assert compiled(a, torch.ones(1)) == how(b, torch.ones(1)) and a.b == b.b, name


def agree(f, args, changes):
    """Eager's answers before and after each change of what `f` reads, and after all again."""
    ours = minicompiler.compile(f, backend="eager")
    for change in (lambda: None, *changes, lambda: None):
        change()
        expected, found = (observed_call(g, args) for g in (f, ours))
        assert str(expected) == str(found)


def observed_call(f, args):
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("read", "change"),
    [
        (torch.is_anomaly_enabled, lambda on: torch.set_anomaly_enabled(on)),
        (
            lambda: torch.get_autocast_dtype("cpu"),
            lambda on: torch.set_autocast_dtype("cpu", torch.float16 if on else torch.bfloat16),
        ),
        (torch.is_autocast_cache_enabled, lambda on: torch.set_autocast_cache_enabled(not on)),
        (
            torch.backends.mha.get_fastpath_enabled,
            lambda on: torch.backends.mha.set_fastpath_enabled(not on),
        ),
    ],
)
def test_switches_of_torch_are_guarded_where_they_are_read(read, change):
    try:
        changes = [lambda: change(True), lambda: change(False)]
        agree(lambda x: (x + 1, read()), (torch.ones(1),), changes)
        compiled = minicompiler.compile(lambda x: x + 1, backend="eager")
        compiled(torch.ones(1))
        before = minicompiler.stats()["frames"]
        change(True)
        compiled(torch.ones(1))
        assert minicompiler.stats()["frames"] == before
    finally:
        change(False)


def test_each_call_makes_its_own_random_generator():
    def f(x):
        return x + torch.randn(2, generator=torch.Generator())

    agree(f, (torch.ones(2),), [lambda: None])


def test_callable_asks_the_class_as_it_is_now():
    class Given:
        pass

    given, call = Given(), lambda self: 1
    changes = [lambda: setattr(Given, "__call__", call), lambda: delattr(Given, "__call__")]
    agree(lambda x: x * (2 if callable(given) else 3), (torch.ones(1),), changes)


def test_a_method_of_tensors_that_was_replaced_and_taken_away_is_gone():
    def f(x):
        return x.minicompiler_test(2)

    changes = [
        lambda: setattr(torch.Tensor, "minicompiler_test", lambda self, k: self * k),
        lambda: setattr(torch.Tensor, "minicompiler_test", lambda self, k: self * k * 10),
        lambda: delattr(torch.Tensor, "minicompiler_test"),
    ]
    agree(f, (torch.ones(1),), changes)


def test_an_import_finds_the_module_that_is_there_now(monkeypatch):
    def f(x):
        import minicompiler_test_module
        from minicompiler_test_module import k

        return x * minicompiler_test_module.k + k

    def module(k):
        made = types.ModuleType("minicompiler_test_module")
        made.k = k
        return made

    def imported(name, *rest):
        return module(5) if name == "minicompiler_test_module" else importer(name, *rest)

    importer = builtins.__import__
    put = functools.partial(monkeypatch.setitem, sys.modules, "minicompiler_test_module")
    changes = [lambda k=k: put(k and module(k)) for k in (1, 50, None, 2)]
    changes += [lambda: monkeypatch.setattr(builtins, "__import__", imported)]
    changes += [lambda: monkeypatch.setattr(builtins, "__import__", importer)]
    agree(f, (torch.ones(1),), changes)


def test_who_takes_output_may_look_at_what_was_written():
    state, seen = {"n": 0}, []

    class Takes(logging.Handler):
        def write(self, text):
            seen.append((text, state["n"]))

        def emit(self, record):
            self.write(record.getMessage())

    def f(x, log):
        log("a")
        state["n"] += 1
        log("b")
        state["n"] += 1
        log("c")
        return x * state["n"]

    logger = logging.getLogger("minicompiler.test")
    logger.addHandler(taker := Takes())
    with contextlib.redirect_stdout(taker):
        for log in (print, logger.warning):
            for g in (f, minicompiler.compile(f, backend="eager")):
                state["n"] = 0
                g(torch.ones(1), log)
    half = len(seen) // 2
    prints = [s for s in seen if s[0] != "\n"]
    assert half and prints == [("a", 0), ("b", 1), ("c", 2)] * 4


def test_an_enum_that_looks_for_members_itself_is_asked_each_time():
    asked = []

    class Kind(enum.Enum):
        A, B = 1, 2

        @classmethod
        def _missing_(cls, value):
            asked.append(value)
            return cls[value]

    def f(x, value):
        return x * Kind(value).value, len(asked)

    compiled = minicompiler.compile(f, backend="eager")
    for value in (1, "A", "B", "A", 2):
        asked.clear()
        expected = f(torch.ones(1), value)
        asked.clear()
        assert compiled(torch.ones(1), value) == expected


def test_except_clauses_take_exceptions_only():
    class Anything(type):
        def __instancecheck__(cls, of):
            return True

    class Error(Exception, metaclass=Anything):
        pass

    def caught(*what):
        def f(x):
            x = x + 1
            try:
                raise KeyError(2)
            except what:
                return x

        return f

    wrong = (int, (KeyError, OSError), Anything("A", (), {}))
    for what in ((KeyError,), (OSError, LookupError), (Error,), *((w, KeyError) for w in wrong)):
        agree(caught(*what), (torch.ones(1),), [])


def test_a_proxy_that_answers_for_its_class_is_asked_each_time():
    class Proxy:
        def __init__(self, of):
            object.__setattr__(self, "of", of)

        def __getattribute__(self, name):
            of = object.__getattribute__(self, "of")
            return type(of) if name == "__class__" else getattr(of, name)

    proxy = Proxy(1)

    def f(x):
        return x * isinstance(proxy, int) + isinstance(proxy, Proxy)

    agree(f, (torch.ones(1),), [lambda: object.__setattr__(proxy, "of", "text")])


def test_where_a_view_begins_is_no_constant():
    def f(x):
        again = torch.as_strided(x, (2,), (1,), x.storage_offset() + 1)
        return x * x.storage_offset(), again * 1, torch.as_strided(x, (2,), (1,)) * 1

    ours = minicompiler.compile(f)
    for x in torch.arange(12.0).view(4, 3)[:3]:
        assert str(ours(x)) == str(f(x))


@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_nothing_compiled_runs_while_torch_traces(backend):
    def f(x):
        return x * (2 if torch.jit.is_tracing() else 3)

    model = torch.nn.Linear(2, 2)
    for g, x in ((f, torch.ones(2)), (model, torch.ones(1, 2))):
        ours = minicompiler.compile(g, backend=backend)
        for _ in range(2):
            ours(x)
            texts = [
                str(observed_call(lambda: torch.jit.trace(lambda x: h(x) * 2, x)(x), ()))  # noqa: B023
                for h in (g, ours)
            ]
            assert texts[0] == texts[1]


def test_views_combine_in_the_order_of_their_dictionaries() -> None:
    def f(x: torch.Tensor, d: dict[str, None]) -> object:
        kept = made = {"a", "b", "k"}
        made |= d.keys()
        orders = [d.keys() | {"c", "q"}, {"c", "q"} | d.keys(), d.keys() ^ {"v"}, d.keys() - {"v"}]
        return x + 1, type(d.keys()), made is kept, [list(s) for s in [kept, made, *orders]]

    for kind in (dict, collections.OrderedDict):
        for keys in ("ab", "zyxwv", "zyxwvutsrqponmlkji"):
            run = check_against_eager(f, torch.ones(2), kind.fromkeys(keys))
            assert len(run.graphs) == 1 and not run.breaks


@torch.jit.script
def scripted(x: torch.Tensor, k: int) -> torch.Tensor:
    return x * k if k > 1 else x + k


def test_scripted_functions_are_followed():
    run = check_against_eager(lambda x: scripted(x, 1) + scripted(x, 3), torch.ones(2), breaks=0)
    assert len(run.graphs) == 1


def test_a_generator_left_in_its_yield_from_has_nothing_more_to_do():
    def f(x, model):
        return x * next(p.sum() for p in model.parameters() if p.dim() > 1)

    assert len(check_against_eager(f, torch.ones(2), torch.nn.Linear(2, 2), breaks=0).graphs) == 1


def breaking_off(n):
    yield from [(f"k{i}", i) for i in range(n)]
    raise KeyError(n)


@pytest.mark.parametrize(
    ("make", "reads"),
    [
        (list, lambda made: made.extend(breaking_off(2))),
        (list, lambda made: made.__iadd__(breaking_off(2))),
        (list, lambda made: made.__setitem__(slice(0, 0), breaking_off(2))),
        (collections.deque, lambda made: made.extend(breaking_off(2))),
        (collections.deque, lambda made: made.extendleft(breaking_off(2))),
        (set, lambda made: made.update(breaking_off(2))),
        (lambda: {("k0", 0)}, lambda made: made.difference_update(breaking_off(2))),
        (dict, lambda made: made.update(breaking_off(2))),
        (dict, lambda made: made.__ior__(breaking_off(2))),
        (collections.OrderedDict, lambda made: made.update(breaking_off(2))),
    ],
)
def test_what_was_read_before_an_iterable_raised_stays(make, reads):
    def f(x, made):
        try:
            reads(made)
        except KeyError as error:
            return x + 1, made, error.args

    check_against_eager(f, torch.ones(1), make())


def test_max_asks_for_the_key_of_an_item_before_the_next():
    def f(x, grows):
        key = lambda e: grows.append(e + 1) or e if len(grows) < 4 else e  # noqa: E731
        return x + max(grows, key=key), min((e for e in grows), key=lambda e: len(grows) - e)

    check_against_eager(f, torch.ones(1), [1, 2])


def test_the_text_of_a_graph_dies_with_it():
    def compiled_once(k):
        namespace = {}
        exec(f"def f(x): return x * {k}", namespace)
        minicompiler.compile(namespace["f"], backend="eager")(torch.ones(1))

    compiled_once(1)
    gc.collect()
    before = len(torch.fx.graph_module._loader.eval_cache)
    for k in range(20):
        compiled_once(k)
    minicompiler.stats()
    minicompiler.reset()
    gc.collect()
    assert len(torch.fx.graph_module._loader.eval_cache) <= before


def test_a_class_is_given_a_property_that_hides_what_instances_have():
    class Plain:
        v = 1

    def f(x, of):
        x = x * of.v
        of.v = 7
        return x, vars(of)["v"]

    def set_(of, to):
        vars(of)["v"] = to * 2

    compiled = minicompiler.compile(f, backend="eager")
    for given in (1, lambda of: 3, property(lambda of: 21, set_), 4):
        Plain.v = given
        for g in (f, compiled, compiled):
            of = Plain()
            vars(of)["v"] = 5
            found = str(g(torch.ones(1), of))
            if g is f:
                expected = found
            assert found == expected


@pytest.mark.parametrize("make", [list, tuple, sorted, lambda of: [0, *of], lambda of: max(*of)])
@pytest.mark.parametrize("answer", [3, -1, TypeError(), KeyError(1)])
def test_who_makes_a_list_asks_for_the_length_first(make, answer):
    class Counted:
        def __init__(self):
            self.asked = 0

        def __iter__(self):
            self.asked += 10
            return iter([3, 1, 2])

        def __len__(self):
            self.asked += 1
            if isinstance(answer, Exception):
                raise answer
            return answer

    def f(x, of):
        try:
            return x + 1, make(of), of.asked
        except (ValueError, KeyError) as error:
            return x + 2, type(error), of.asked

    check_against_eager(f, torch.ones(1), Counted())


def test_what_is_printed_is_as_it_was(capsys):
    def f(x):
        made = [1]
        print(made, {"k": made})
        made.append(2)
        return x + len(made)

    for g in (f, minicompiler.compile(f, backend="eager")):
        assert g(torch.ones(1)).tolist() == [3]
        assert capsys.readouterr().out == "[1] {'k': [1]}\n"


def test_filters_of_a_logger_may_look_at_what_was_written():
    state, seen = {"n": 0}, []

    def looks(record):
        seen.append((record.getMessage(), state["n"]))
        return False

    def f(x):
        state["n"] = 1
        logger.warning("a")
        state["n"] = 2
        return x + 1

    logger = logging.getLogger("minicompiler.filtered")
    logger.addFilter(looks)
    try:
        for g in (f, minicompiler.compile(f, backend="eager")):
            g(torch.ones(1))
    finally:
        logger.removeFilter(looks)
    assert seen == [("a", 1)] * 2


def test_records_of_logging_say_who_logged_and_what_was_handled(caplog):
    log = logging.getLogger("tests.found.records")
    caplog.set_level(logging.INFO)

    def inner(x):
        log.info("inner %d", 1)
        return x + 1

    def f(x):
        try:
            int("a")
        except ValueError:
            log.warning("bad", exc_info=True)
        logging.info("of the root")
        return inner(x) * 2

    def records():
        found = [(r.getMessage(), r.lineno, r.funcName, r.pathname) for r in caplog.records]
        errors = [r.exc_info and r.exc_info[0] for r in caplog.records]
        caplog.clear()
        return found, errors

    f(torch.ones(2))
    eager = records()
    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(2):
        compiled(torch.ones(2))
        assert records() == eager


@torch.jit.script
def longer(xs: list[torch.Tensor]) -> list[torch.Tensor]:
    xs.append(xs[0] * 2)
    return xs


@torch.jit.script
def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    return x * by


@torch.jit.script
def size_of(x: torch.Tensor):
    return x.shape


@torch.jit.script
def powers(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * 2**n


@torch.jit.script
def asks(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if torch.jit.is_scripting() else x * 3


@pytest.mark.parametrize(
    "use",
    [
        lambda x: (given := [x], longer(given)),
        lambda x: scaled(x, 3),
        lambda x: (size_of(x), type(size_of(x))),
        lambda x: powers(x, 2),
        lambda x: asks(x),
        lambda x: powers(x, 2.5),
    ],
)
def test_scripts_that_mean_something_else_in_python_run_as_scripts(use):
    check_against_eager(lambda x: (x + 1, use(x)), torch.tensor([1, 2]))


class Hinting:
    def __init__(self, log):
        self.log, self.left = log, 3

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        self.log.append("next")
        return self.left if self.left >= 0 else next(iter(()))

    def __length_hint__(self):
        self.log.append("hint")
        return 1


def unpacked(it):
    first, *rest = it
    return first, rest


def put_in(it):
    made = [1, 2]
    made[1:] = it
    return made


@pytest.mark.parametrize("take", [unpacked, put_in])
def test_who_takes_the_rest_asks_for_its_length(take):
    def f(x, log):
        return x + 1, take(Hinting(log))

    check_against_eager(f, torch.ones(2), [])


def test_a_set_grows_while_it_is_updated():
    def f(x, s):
        s.update(len(s) + 10 for _ in range(3))
        return x + 1, set(len(s) + i for i in range(2))

    def g(x, s):
        s.update([7], (len(s) + 10 for _ in range(2)))
        s.difference_update(len(s) - 1 for _ in range(3))
        return x + 1

    check_against_eager(f, torch.ones(2), {1, 2}, breaks=0)
    check_against_eager(g, torch.ones(2), {1, 2, 4})


def test_appending_reads_nothing():
    """What a list holds already is not guarded where a frame only appends to it."""
    history, rows = [0], [[]]

    def f(x):
        history.append(float(x.shape[0]))
        history.extend([x.dtype, len(rows[0]) * 0])
        known = history
        known += (i for i in range(2))
        return x + 1

    compiled = minicompiler.compile(f, backend="eager")
    before = minicompiler.stats()["recompiles"]
    for _ in range(4):
        compiled(torch.ones(3))
    assert history == [0, *[3.0, torch.float32, 0, 0, 1] * 4]
    assert minicompiler.stats()["recompiles"] == before


def test_a_list_is_read_behind_what_was_appended():
    class Raising(Exception):
        pass

    def f(x, of, other):
        def some():
            yield 7
            yield len(of)
            other.append(of[0])
            raise Raising

        of.append(5)
        print(of)
        try:
            of.extend(some())
        except Raising:
            of.append(of[-1])
        other.append(6)
        torch._dynamo.graph_break()
        of.append(8)
        of += of
        other.extend(of)
        return x + len(other), other is of

    first, same = [1, 2], [3]
    check_against_eager(f, torch.ones(1), first, [])
    check_against_eager(f, torch.ones(1), same, same)


def test_torchs_own_graph_break_breaks():
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    check_against_eager(f, torch.ones(1))
    assert any("graph_break" in why for why in minicompiler.stats()["reasons"])


class Borg:
    pass


class AttrDict(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


def an_object(**attributes):
    made = Borg()
    vars(made).update(attributes)
    return made


def of_one_dictionary():
    first, second = an_object(k=2), Borg()
    second.__dict__ = vars(first)
    return first, second


def by_its_variables(of):
    return vars(of), of


DICTIONARIES_THAT_ARE_ONE = {
    "variables": lambda: by_its_variables(an_object(k=2)),
    "shared": of_one_dictionary,
    "itself": lambda: (AttrDict(k=2),) * 2,
    "proxy": lambda: (types.MappingProxyType(d := {"k": 2}), d),
    "module": lambda: by_its_variables(torch.nn.ReLU()),
    "function": lambda: by_its_variables(lambda: 2),
}


def get(of):
    return of["k"] if isinstance(of, dict | types.MappingProxyType) else of.k


def put(of, value):
    if type(of) is dict:
        of["k"] = value
    elif not isinstance(of, types.MappingProxyType):
        of.k = value


@pytest.mark.parametrize("kind", DICTIONARIES_THAT_ARE_ONE)
@pytest.mark.parametrize("turned", [False, True])
def test_a_dictionary_is_reached_in_two_ways(kind, turned):
    def f(x, a, b):
        y = x * get(a)
        put(b, 5)
        return y + get(a)

    def pair():
        return DICTIONARIES_THAT_ARE_ONE[kind]()[:: -1 if turned else 1]

    def observe(g):
        (a, b), other, seen = pair(), pair(), []
        for one, two in ((a, other[1]), (a, b), (other[0], b), (a, b)):
            put(a, 2)
            put(b, 2)
            seen.append((g(torch.ones(1), one, two).item(), get(a), get(b)))
        return seen

    minicompiler.reset()
    assert observe(minicompiler.compile(f, backend="eager")) == observe(f)


def test_variables_need_not_be_names():
    def f(x, of):
        of.k = 1
        vars(of)[3] = 4
        return x + len(vars(of))

    check_against_eager(f, torch.ones(1), Borg())


def test_what_was_compiled_on_its_own_is_followed():
    @minicompiler.compile(backend="eager")
    def steps(x, n):
        return x if n == 0 else steps(x * 2 + n, n - 1)

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = minicompiler.compile(torch.nn.Linear(3, 3), backend="eager")

        def forward(self, x):
            return self.inner(x) + steps(x, 3)

    run = check_against_eager(Outer(), torch.ones(2, 3))
    assert len(run.graphs) == 1 and not run.breaks
    check_against_eager(lambda x: minicompiler.disable(lambda y: y + 1)(x) * 2, torch.ones(3))


def test_tracebacks_show_where_the_graph_broke():
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        raise ValueError(y)

    with pytest.raises(ValueError) as caught:
        minicompiler.compile(f, backend="eager")(torch.ones(1))
    lines = [at.lineno for at in traceback.extract_tb(caught.tb) if at.name == "f"]
    assert [line - f.__code__.co_firstlineno for line in lines] == [2, 3]


def test_sizes_are_printed_without_a_break():
    def f(x):
        print(x.shape, x.stride(), [x.shape])
        log.info("%s", x.shape)
        return x + 1

    log = logging.getLogger("minicompiler.sizes")
    run = check_against_eager(f, torch.ones(2, 3))
    assert not run.breaks


def test_bound_methods_of_c_are_known_by_their_object_and_name():
    """They are made anew each time: one that is on the stack at a break compiled for ever."""
    seen = []

    def f(x, of):
        y = (x * x).sum()
        of.append(y.item() > 0)
        return y * 2, "{}-{}".format(y.item() > 0, len(of))

    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(2):
        compiled(torch.ones(3), seen)
    before = minicompiler.stats()["graphs"]
    for _ in range(4):
        compiled(torch.ones(3), seen)
    assert minicompiler.stats()["graphs"] - before <= 4  # the length is in the text
    assert seen == [True] * 6

    def g(x, method):
        return x + method(2), method.__name__

    of = [3, 2, 2]
    for method in (of.count, of.index, [2].count, of.count, (2, 2).count, "a2".count):
        argument = (lambda n: method(str(n))) if isinstance(method.__self__, str) else method
        check_against_eager(g, torch.ones(1), argument)


def test_what_is_only_moved_is_not_read():
    def f(x):
        y = (x * x).sum()
        y.item()
        value = y.item()
        del value
        return y * 2

    compiled = minicompiler.compile(f, backend="eager")
    compiled(torch.ones(3))
    before = minicompiler.stats()["graphs"]
    for k in range(3):
        compiled(torch.full((3,), float(k)))
    assert minicompiler.stats()["graphs"] == before


def test_keys_made_in_the_frame_are_found_in_dictionaries_from_outside():
    """A tuple of constants is equal to a key of the dictionary, whoever made it."""
    pair = collections.namedtuple("pair", "a b")
    table = {(1, 2): 3, (1, (2, 3)): 4, frozenset((1, 2)): 5, torch.float32: 6}
    named, numbers = {pair(1, 2): 3}, {Decimal(1): 3}

    def f(x, n):
        keys = (n, 2), (n, (2, 3)), (7, n), frozenset((n, 2)), torch.float32
        found = [(key in table, table.get(key)) for key in keys]
        others = named.get((n, 2)), [type(k) for k in named], numbers.get(n), len(numbers)
        return x + 1, found, others

    def g(x, n):
        table[n, 2] = 7
        table.setdefault((n, (2, 3)), 8)
        return x + 1, table.pop((n, 2)), list(table)

    check_against_eager(f, torch.ones(1), 1)
    before = dict(table)
    wanted = g(torch.ones(1), 1)[1:]
    table.clear(), table.update(before)
    assert minicompiler.compile(g, backend="eager")(torch.ones(1), 1)[1:] == wanted


def test_a_dictionary_keeps_its_own_key():
    class Name(str):
        pass

    def f(x, table, names):
        table.get(1.0), table.get(True), names.get("a")
        table[2.0] = 5
        return x + 1, [(type(k), k) for k in table], [type(k) for k in names]

    check_against_eager(f, torch.ones(1), {1: "u", 2: "v"}, {Name("a"): 1})


class Failure(OSError):
    def __init__(self, code):
        self.code = code


class Told(OSError):
    def __init__(self, code):
        super().__init__(code, "told", "file")


@pytest.mark.parametrize(
    "make",
    [
        lambda n: OSError(n, "gone"),
        lambda n: OSError(n, "gone", "file"),
        lambda n: OSError(n),
        Failure,
        Told,
        lambda n: SyntaxError(n, 3),
        lambda n: UnicodeDecodeError("utf8"),
        lambda n: ImportError("u", name="v"),
    ],
)
def test_exceptions_are_what_their_classes_make_of_the_arguments(make):
    def f(x, n):
        try:
            raise make(n)
        except (OSError, TypeError, ImportError) as error:
            return x + 1, type(error), error.args, str(error)

    check_against_eager(f, torch.ones(1), 2)


def test_fields_of_exceptions_are_set_by_C():
    def f(x):
        error, other = ValueError(1), OSError(2, "gone")
        error.args = [1, 2]
        error.__cause__, other.strerror = other, "here"
        return x + 1, error.args, error.__suppress_context__, str(other)

    check_against_eager(f, torch.ones(1))


def test_methods_of_enums_are_guarded():
    class P(enum.Enum):
        A = 1

        def double(self):
            return 11

        @property
        def half(self):
            return 5

    def f(x, p):
        return x + p.double(), P.A.double(), p.half

    compiled = minicompiler.compile(f, backend="eager")
    compiled(torch.ones(1), P.A)
    P.double = lambda self: 22
    assert compiled(torch.ones(1), P.A) == (torch.tensor(23.0), 22, 5)
    P.half = property(lambda self: 6)
    assert compiled(torch.ones(1), P.A)[1:] == (22, 6)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: filter(None, d),
        lambda d: zip(d.keys(), d),
        lambda d: enumerate(d.items()),
        lambda d: map(str, d),
        lambda d: itertools.product(d.values()),
    ],
)
def test_iterators_leave_over_a_break_as_they_were_made(make):
    def f(x, make):
        d = {"u": 1}
        made = make(d)
        d["k"] = 4
        torch._dynamo.graph_break()
        try:
            return x + 1, list(made)
        except RuntimeError as error:
            return x + 2, str(error)

    check_against_eager(f, torch.ones(1), make)


def test_iterators_ask_once():
    class Two:
        def __iter__(self):
            asked.append(1)
            return iter((1, 2))

    def f(x):
        made = zip(Two())
        torch._dynamo.graph_break()
        return x + 1, list(made)

    asked = []
    minicompiler.compile(f, backend="eager")(torch.ones(1))
    assert asked == [1]


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(
    "mode",
    [torch.no_grad, lambda: torch.autocast("cpu"), lambda: torch.device("meta")],
)
def test_a_generator_that_is_let_go_leaves_its_mode(mode, broken):
    def one(mode):
        with mode():
            if broken:
                torch._dynamo.graph_break()
            yield 1

    def f(x, mode):
        y = x + next(one(mode))
        modes = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.ones(1).device
        return y, modes

    check_against_eager(f, torch.ones(1), mode)


def test_a_default_device_is_not_set_while_capturing():
    def f(x):
        y = x + 1
        with torch.device("meta"):
            z = torch.ones(2)
        return y, z.device, torch.ones(1).device

    check_against_eager(f, torch.ones(1))
    assert torch.ones(1).device.type == "cpu"


def test_a_training_step_is_compiled_around_backward():
    def make():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    eager, step = make(), minicompiler.compile(make(), backend="eager")
    before = minicompiler.stats()["graphs"]
    for k in range(3):
        x = torch.full((2, 3), float(k))
        torch.testing.assert_close(step(x), eager(x))
    assert minicompiler.stats()["graphs"] > before


def test_an_attribute_error_tells_what_was_asked_for():
    class Asked:
        @property
        def data(self):
            raise AttributeError("none")

        def __getattr__(self, name):
            raise AttributeError(f"no {name}", name="own" if name == "own" else None)

    class Plain:
        @property
        def data(self):
            return [].missing

    def f(x, of, name):
        try:
            getattr(of, name)
        except AttributeError as error:
            return x + 1, error.name, error.obj is of, error.args

    for of, name in itertools.product((Asked(), Plain()), ("data", "own", "other")):
        check_against_eager(f, torch.ones(1), of, name)


def test_lists_that_pure_functions_make_are_made_at_every_call():
    seen = []

    def f(x):
        seen.append("a,b".split(","))
        return x + 1, "c d".split()

    compiled = minicompiler.compile(f, backend="eager")
    first, second = compiled(torch.ones(1))[1], compiled(torch.ones(1))[1]
    assert first is not second and seen[0] is not seen[1]


def test_a_frozenset_is_its_own_copy_and_a_deque_has_its_bound():
    def f(x, queue):
        some = frozenset({1, len(queue)})
        queue = queue + collections.deque([9])
        return x + 1, some.copy() is some, some.union([5]) is some, queue.maxlen, queue

    compiled = minicompiler.compile(f, backend="eager")
    for bound in (3, None, 2):
        queue = collections.deque([1], bound)
        assert compiled(torch.ones(1), queue)[1:] == f(torch.ones(1), queue)[1:]


SCALES = [2.0, 3.0]


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * SCALES[0]

    @staticmethod
    def backward(ctx, g):
        return g * SCALES[0]


def test_a_backward_reads_what_is_there_when_it_runs():
    def f(x):
        y = Scaled.apply(x)
        SCALES.reverse()
        return y * 2

    found = []
    for g in (f, minicompiler.compile(f, backend="eager")):
        x, SCALES[:] = torch.ones(1, requires_grad=True), [2.0, 3.0]
        y = g(x)
        SCALES[0] = 7.0
        y.backward()
        found.append((y.item(), x.grad.item(), [*SCALES]))
    assert found[0] == found[1]


def test_what_needs_a_gradient_does_not_hang_on_the_mode():
    class Asks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            asked.append(ctx.needs_input_grad)
            return x * n

        @staticmethod
        def backward(ctx, g):
            return g, None

    asked = []
    compiled = minicompiler.compile(lambda x: Asks.apply(x, 2) + 1, backend="eager")
    for enabled, requires in itertools.product((True, False), repeat=2):
        with torch.set_grad_enabled(enabled):
            compiled(torch.ones(2, requires_grad=requires))
            Asks.apply(torch.ones(2, requires_grad=requires), 2)
    assert asked[::2] == asked[1::2]


def test_an_attribute_error_from_outside_is_told_once():
    class Stored:
        def __init__(self):
            self.error = AttributeError("none")

        first = property(lambda self: self.fail())
        second = property(lambda self: self.fail())

        def fail(self):
            raise self.error

    def f(x, of, first):
        try:
            of.first if first else of.second
        except AttributeError as error:
            return x + 1, error.name

    for g in (f, minicompiler.compile(f, backend="eager")):
        of = Stored()
        names = [g(torch.ones(1), of, first)[1] for first in (True, False, False)]
        assert names == ["first"] * 3 and of.error.name == "first"


@pytest.mark.parametrize("base", [-1, -2.0, 3, -1j])
def test_a_number_to_the_power_of_a_tensor(base):
    f = lambda x, base: base**x  # noqa: E731
    x = torch.arange(4)
    assert torch.equal(minicompiler.compile(f, backend="eager")(x, base), f(x, base))


NUMPY = [np.bool_(True), np.complex64(1j), np.uint64(1), np.longdouble(2), np.uint8(3)]


@pytest.mark.parametrize("number", NUMPY, ids=[type(n).__name__ for n in NUMPY])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "take",
    [
        lambda n: torch.full((3,), n),
        lambda n: torch.arange(3) * n,
        lambda n: torch.arange(3)[n],
        lambda n: torch.ones(2, 1).view(2, n),
        lambda n: torch.tensor(n),
        lambda n: torch.ones(3).sum(0, keepdim=n),
    ],
)
def test_numbers_of_numpy_are_what_torch_takes_them_for(take, number):
    def ran(f):
        try:
            return (out := f(number)).dtype, out.tolist()
        except Exception as error:
            return type(error), str(error)

    assert ran(minicompiler.compile(take, backend="eager")) == ran(take)


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: [(a,)], lambda a: {"u": a}])
def test_a_set_is_printed_as_it_was(wrap, capsys):
    def f(x):
        made = {1}
        for k in (2, 3):
            made.add(k)
            print(wrap(made))
        made.clear()
        return x * 2

    for g in (f, minicompiler.compile(f, backend="eager")):
        g(torch.ones(1))
        assert "{1, 2}" in (text := capsys.readouterr().out) and "{1, 2, 3}" in text


class Plain:
    v = 1

    def up(self):
        return super()


ODD = [Plain().up(), weakref.proxy(Plain), list[int], int | str, None, [1].append, ValueError(2)]


@pytest.mark.parametrize("of", ODD, ids=[type(of).__name__ for of in ODD])
@pytest.mark.parametrize(
    "name", "v __origin__ append __init__ __module__ __self__ __name__".split()
)
def test_attributes_of_what_c_looks_up_in_its_own_way(of, name):
    def f(x, of):
        return x + 1, getattr(of, name, "none"), hasattr(of, name)

    found = minicompiler.compile(f, backend="eager")(torch.ones(1), of)
    assert repr(found) == repr(f(torch.ones(1), of))


def test_a_super_that_is_kept():
    class Kept(set):
        def __init__(self, items, more=None):
            parent = super()
            torch._dynamo.graph_break()
            parent.__init__(items)
            self.more = more

    f = lambda x: (x + 1, sorted(Kept([1, 2], more=3)), Kept([1], 4).more)  # noqa: E731
    assert minicompiler.compile(f, backend="eager")(torch.ones(1))[1:] == ([1, 2], 4)


def same_answers(f, *calls):
    """The same calls, eagerly and compiled, each with fresh arguments."""
    shown = []
    for g in (f, minicompiler.compile(f, backend="eager")):
        shown.append([])
        for make in calls:
            try:
                shown[-1].append(repr(g(*make())))
            except Exception as error:
                shown[-1].append(repr(error))
    assert shown[0] == shown[1]


def test_an_empty_slot_of_an_object_from_outside():
    class Slots:
        __slots__ = ("a", "b")

    held = [Slots(), Slots()]
    held[1].b = 3
    f = lambda x, s: (x * getattr(s, "b", 7), hasattr(s, "b"))  # noqa: E731
    same_answers(f, *[lambda s=s: (torch.ones(2), s) for s in (held[0], held[1], held[0])])


def test_what_isinstance_asks_and_what_not():
    class Meta(type):
        def __instancecheck__(cls, of):
            asked.append(type(of))
            return isinstance(of, torch.Tensor) and bool(of.sum() > 0)

    class Asked(metaclass=Meta):
        pass

    asked: Any = []
    f = lambda x: (x * 2, isinstance(x, Asked), isinstance(Asked(), Asked), len(asked))  # noqa: E731
    for g in (f, minicompiler.compile(f, backend="eager")):
        asked.clear()
        assert [g(sign * torch.ones(2))[1:] for sign in (1, -1, 1)] == [
            (True, True, 1),
            (False, True, 2),
            (True, True, 3),
        ]


@pytest.mark.parametrize("method", ["__set__", "__delete__", "__get__"])
@pytest.mark.parametrize("first", [False, True])
def test_a_class_becomes_a_descriptor(method, first):
    class Maybe:
        def __get__(self, of, owner):
            return 1

    class Holder:
        made = Maybe()

    own = method == "__get__"
    f = lambda x, a: x * a.made if type(a.made) is int else x  # noqa: E731
    for g in (f, minicompiler.compile(f, backend="eager")):
        of, got = Holder(), []
        of.__dict__["made"] = 7
        for there in (first, not first, first):
            if there:
                setattr(Maybe, method, (lambda *a: 1) if own else lambda *a: None)
            elif method in vars(Maybe):
                delattr(Maybe, method)
            got.append(g(torch.ones(1), of).item())
        Maybe.__get__ = lambda self, of, owner: 1
        if g is f:
            expected = got
    assert got == expected


@pytest.mark.parametrize("number", [complex(0.0, -0.0), complex(-0.0, 1), complex("inf"), 1e-05j])
def test_complex_numbers_in_graphs(number):
    same_answers(lambda x: (x * number, torch.full((2,), number)), lambda: (torch.ones(2),))


def test_the_order_of_a_set_from_outside():
    def popped(x, s):
        s.pop()
        s.add(40)
        return list(s), x * 2

    def taken(x, s):
        s -= {8}
        s.add(72)
        s.update([5, 13])
        return list(s), x * 2

    def again(x, s):
        s.clear()
        s.update(s | {16, 8})
        s.discard(8)
        s.add(24)
        return list(s), x * 2

    for f in (popped, taken, again):
        same_answers(
            f, lambda: (torch.ones(2), {0, 8, 16}), lambda: (torch.ones(2), {16, 0, 8, 32})
        )


def test_a_cause_given_to_an_exception_from_outside():
    def f(x):
        try:
            raise error from KeyError("k")
        except ValueError:
            return x * 2

    error = ValueError("shared")
    minicompiler.compile(f, backend="eager")(torch.ones(1))
    assert type(error.__cause__) is KeyError and error.__suppress_context__


@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_a_function_that_returns_its_input(backend, view):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 1) if view else x

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2) * 5

    x = torch.ones(2, requires_grad=True)
    y = minicompiler.compile(lambda x: Same.apply(x), backend=backend)(x)
    assert y.data_ptr() == x.data_ptr() and y._is_view()


def test_a_generator_left_in_a_loop_closes_at_once():
    def f(x):
        def made():
            yield 0
            try:
                yield 1
                yield 2
            except GeneratorExit:
                pass
            told.append("closed")

        told.append([e for e, _ in zip(made(), range(2))])
        return x * 2

    told: Any = []
    for g in (f, minicompiler.compile(f, backend="eager")):
        told.clear()
        g(torch.ones(1))
        assert told == ["closed", [0, 1]]


class Gone:
    """Says when it dies."""

    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")


def cleaned(log, n=2):
    for item in range(n):
        try:
            yield item
        finally:
            log.append(("over", item))


class Counted:
    """Entering it breaks the graph."""

    def __enter__(self):
        return sum(collections.Counter("z").values())

    def __exit__(self, *raised):
        LEFT.append(raised[0] and raised[0].__name__)


LEFT = []


def counting():
    with Counted():
        yield 2


def left_at_the_end(x, log):
    scaled = torch.nn.Linear(3, 3)(x)
    it = cleaned(log)
    log.append(next(it))
    log.append(scaled.shape[0])


def left_by_what_is_called(x, log):
    log.append(any(e == 2 for e in counting()))
    log.extend(LEFT)
    LEFT.clear()


def left_behind_a_break(x, log):
    it = cleaned(log)
    torch._dynamo.graph_break()
    log.append(next(it))
    it = None
    log.append("next")


def left_behind_a_throw(x, log):
    def waits():
        yield 7

    try:
        waits().throw(OSError(3))
    except OSError:
        pass
    it = cleaned(log)
    print(x.sum().item())
    log.append(next(it))


def dies_in_time(x, log):
    log.append(len([Gone(log), x + 1]))
    kept = Gone(log)
    log.append("kept")
    kept = None
    log.append(kept)


def has_no_such_attribute(x, log):
    class Named:
        def __getattr__(self, name):
            return len(name)

    it = cleaned(log)
    log.append(next(it) + Named().abc)


LEAVING = [left_at_the_end, left_by_what_is_called, left_behind_a_break, left_behind_a_throw]
LEAVING += [dies_in_time, has_no_such_attribute]


@pytest.mark.parametrize("f", LEAVING)
def test_what_a_call_lets_go_of_dies_when_it_does_in_python(f):
    compiled = minicompiler.compile(f, backend="eager")
    seen = []
    gc.disable()  # it must not need the collector
    try:
        for run in (f, compiled, compiled):
            run(torch.ones(2, 3), log := [])
            seen.append([entry for entry in log])
    finally:
        gc.enable()
    assert seen[1:] == [seen[0]] * 2


def evaluation_objects():
    parts = ("minicompiler.capture.values", "minicompiler.capture.evaluator")
    return [o for o in gc.get_objects() if str(type(o).__module__).startswith(parts)]


@pytest.mark.parametrize("f", [*LEAVING, lambda x, log: log.append(x.shape) or x.add_(1)])
def test_nothing_of_an_evaluation_outlives_it(f):
    compiled = minicompiler.compile(f, backend="eager")
    compiled(torch.ones(2, 3), [])  # what is made once in the process
    compiled = minicompiler.compile(f, backend="eager")
    gc.collect()
    before = {id(o) for o in evaluation_objects()}
    gc.disable()
    try:
        compiled(torch.ones(2, 3), [])
        left = [o for o in evaluation_objects() if id(o) not in before]
    finally:
        gc.enable()
    kinds = {type(o).__name__ for o in left}
    assert kinds <= {"Pin", "Const"}, kinds  # the guards hold these


def test_a_new_given_to_a_class_later_makes_the_object_and_its_class_says_how_it_begins():
    class Made:
        def __init__(self, k):
            self.k = k

    class Other(Made):
        def __init__(self, k):
            self.k = k + 40

    def f(x):
        return x * Made(3).k

    compiled = minicompiler.compile(f, backend="eager")
    assert compiled(torch.ones(1)) == 3
    Made.__new__ = lambda cls, k: object.__new__(Other)
    assert compiled(torch.ones(1)) == f(torch.ones(1)) == 43


class GivesBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t

    @staticmethod
    def backward(ctx, g):
        return g * 7


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("requires", [True, False])
@pytest.mark.parametrize("leaf", [True, False])
def test_what_an_autograd_function_gives_back_is_no_input(grad, requires, leaf):
    def f(x):
        found = GivesBack.apply(x)
        return found, found * 2

    def seen(run):
        x = torch.ones(3, requires_grad=requires)
        x = x if leaf else x * 1
        with torch.set_grad_enabled(grad):
            found = run(x)
        base = found[0]._base is x if found[0]._is_view() else None
        ways = [(t.requires_grad, t.is_leaf, t.grad_fn is None, t._is_view()) for t in found]
        return ways, base, found[0] is x, found[0].data_ptr() == x.data_ptr()

    assert seen(minicompiler.compile(f, backend="eager")) == seen(f)

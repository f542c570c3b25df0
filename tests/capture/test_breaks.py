"""Graph breaks: the program is right whatever could not be captured, and captured around it."""

import contextlib

import pytest
import torch

from minicompiler.errors import Unsupported
from tests.capture.check import Run, capture, check_against_eager

torch.set_num_threads(1)


def opaque(*args):
    """A callee that breaks inside; it then gets a frame of its own."""
    print(*args)
    return args[0] if args else None


def x():
    torch.manual_seed(0)
    return torch.randn(3, 4)


def test_branch_on_data():
    def branchy(x):
        y = x + 1
        if y.sum() > 0:
            y = y * 2
        else:
            y = y - 1
        return y.sin()

    run = check_against_eager(branchy, x(), graphs=2, breaks=1)
    assert "branches on the value of a tensor" in run.breaks[0]
    check_against_eager(branchy, x() - 100, graphs=2, breaks=1)


def test_print_of_a_tensor():
    def prints(x):
        y = x + 1
        print(y)
        return y * 2

    check_against_eager(prints, x(), graphs=2, breaks=1)


def test_item_and_values_on_the_stack():
    def stacked(x):
        return [x + 1, (x * 2, x.sum().item()), {"k": x - 1}]

    check_against_eager(stacked, x(), graphs=2, breaks=1)


def test_in_an_inlined_callee():
    def inner(x):
        y = x + 1
        print(y.sum())
        return y * 3

    def outer(x):
        a = x * 2
        b = inner(a)
        return b - a

    run = check_against_eager(outer, x(), breaks=2)
    assert len(run.graphs) == 4  # outer before, inner before and after, outer after


def test_in_a_loop():
    def loops(x):
        y = x + 1
        for i in range(4):
            y = y * 2
            print(y.sum())
        return y.sin() + 1

    run = check_against_eager(loops, x(), breaks=1)
    assert len(run.graphs) == 2  # before and after; the loop itself runs eagerly


def test_while_on_data():
    def loops(x):
        n = 0
        while x.sum() < 100:
            x = x + 1
            n += 1
        return x * 2, n

    check_against_eager(loops, x())


def test_in_with_no_grad():
    def f(x):
        with torch.no_grad():
            y = x * 2
            print(y.sum())
            z = y * 3
        w = x * 2
        return y, z, w

    check_against_eager(f, x().requires_grad_(), graphs=2, breaks=1)


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return len(self.log)

    def __exit__(self, kind, value, tb):
        self.log.append(("out", kind))
        return kind is ValueError


def test_in_a_user_context_manager():
    def f(x, log):
        with Manager(log) as n:
            y = x + n
            print(y.sum())
            y = y * 2
        return y

    check_against_eager(f, x(), [])


def test_exception_in_the_broken_instruction_under_with():
    def bad(x):
        raise ValueError(float(x.sum()))

    def f(x, log):
        with Manager(log):
            y = x + 1
            bad(y)
        return x * 2

    check_against_eager(f, x(), [])


@contextlib.contextmanager
def logged(log):
    log.append("in")
    try:
        yield 5
    finally:
        log.append("out")


def test_in_a_generator_context_manager():
    def f(x, log):
        with logged(log) as n:
            y = x + n
            print(y.sum())
            y = y * 2
        return y + 1

    check_against_eager(f, x(), [])


def test_in_try_finally_and_except():
    def f(x, log):
        try:
            y = x + 1
            print(y.sum())
            if y.sum() > 1e9:
                raise KeyError("no")
            y = y * 2
        except KeyError:
            log.append("caught")
        finally:
            log.append("done")
        return y - 1

    check_against_eager(f, x(), [])
    check_against_eager(f, x() + 1e10, [])


def test_exception_of_the_broken_instruction_is_caught():
    def f(x):
        y = x + 1
        try:
            z = torch.mm(y, y)  # shapes do not fit
        except RuntimeError as error:
            z = y * len(str(error).split("\n"))
        return z * 2

    check_against_eager(f, x())


def test_while_an_exception_is_handled():
    def f(x):
        try:
            raise ValueError("a")
        except ValueError as error:
            print(x.sum(), error)
            y = x + 1
        return y * 2

    check_against_eager(f, x())


def test_comprehension():
    def f(x):
        a = x + 1
        b = [v.item() for v in a[0]]
        return a * sum(b)

    check_against_eager(f, x())


def test_between_two_writes_to_one_object():
    class Box:
        pass

    def f(x, box):
        box.a = x + 1
        box.n = 1
        print(box.a.sum())
        box.n += 1
        box.b = box.a * 2
        return box

    check_against_eager(f, x(), Box())


def test_closures_and_cells_survive():
    def f(x):
        n = 0
        y = x * 2

        def bump():
            nonlocal n
            n += 1
            return y + n

        a = bump()
        print(a.sum())
        b = bump()
        return a, b, n, bump

    check_against_eager(f, x())


def test_free_variables():
    scale = 3

    def f(x):
        y = x * scale
        print(y.sum())
        return y + scale

    check_against_eager(f, x(), graphs=2, breaks=1)


def test_aliasing_survives():
    def f(x):
        a = [x]
        b = {"a": a}
        print(x.sum())
        a.append(x + 1)
        return a, b

    check_against_eager(f, x())


def test_method_call_breaks():
    class Log:
        def __init__(self):
            self.seen = []

        def add(self, v):
            self.seen.append(float(v.sum()))
            return v + 1

    def f(x, log):
        return log.add(x * 2) * 3

    check_against_eager(f, x(), Log())


def test_uncaught_exception_is_eager_s():
    def f(x):
        y = x + 1
        raise ValueError(f"shape {tuple(y.shape)}")

    check_against_eager(f, x())

    def g(x):
        return torch.mm(x, x)

    check_against_eager(g, x())


def test_every_iteration_breaks_but_compiling_ends():
    def f(x):
        for i in range(300):
            x = x + 1
            if x.sum() > 1e9:
                break
        return x

    run = check_against_eager(f, x())
    assert run.frames < 10


def test_nested_loops_and_else():
    def f(x):
        y = x * 1
        for i in range(3):
            for j in range(3):
                y = y + i * j
                if y.sum() > 1e9:
                    return y
        else:
            y = y * 2
        return y.cos()

    check_against_eager(f, x())


def test_try_in_a_loop():
    def f(x):
        out = []
        for i in range(3):
            try:
                if float(x.sum()) > 1e9 or i == 1:
                    raise ValueError(i)
                out.append(x + i)
            except ValueError as e:
                out.append(e.args)
                continue
            finally:
                out.append("f")
        return out, x * 2

    check_against_eager(f, x())


def test_a_loop_that_a_handler_continues_is_one_of_its_own():
    def f(x, table):
        for key in "abc":
            try:
                x = x + table[key]
            except KeyError:
                continue
            x = x * 2
        for i in range(2):
            print(x.sum(), i)
        return x.cos()

    run = check_against_eager(f, x(), {"b": 2}, breaks=1)
    assert len(run.graphs) == 2 and len(run.operations) == 3  # + and * before the second loop, cos


def test_a_break_in_the_handler_that_continues_a_loop():
    def f(x, table):
        for key in "abc":
            try:
                x = x + table[key]
            except KeyError:
                continue
            finally:
                print(key, x.sum())
        return x.cos()

    run = check_against_eager(f, x(), {"b": 2}, breaks=1)
    assert len(run.graphs) <= 2 and run.frames < 4


def test_kwargs_call():
    def callee(a, *, b, **kw):
        print(a.sum(), sorted(kw))
        return a * b

    def f(x):
        return callee(x + 1, b=2, c=3) + callee(*[x], **{"b": 1})

    check_against_eager(f, x())


def test_fullgraph_names_line_construct_and_way_out():
    def f(x):
        y = x + 1
        if y.sum() > 0:
            return y
        return x

    with pytest.raises(Unsupported) as caught:
        capture(f, Run(), fullgraph=True)(x())
    assert "branches on the value of a tensor" in str(caught.value)
    assert "torch.where" in str(caught.value)
    assert f"{__file__}:{f.__code__.co_firstlineno + 2}" in str(caught.value)


def test_a_frame_left_for_one_kind_of_argument_is_compiled_for_another():
    def f(x, flag):
        if flag:
            return x
        return x * 2

    run = Run()
    compiled = capture(f, run)
    for flag in (True, False, True, False):
        assert torch.equal(compiled(x(), flag), f(x(), flag))
    assert len(run.graphs) == 1 and run.skips == ["f: no tensor operations"]


def test_a_frame_that_is_left_again_and_again_is_given_up_in_silence(recwarn):
    def f(x, n):
        return x if n else None

    run = Run()
    compiled = capture(f, run)
    for n in range(1, 30):
        assert compiled(x(), n) is not None
    assert len(run.skips) == 8 and not recwarn.list


def test_a_module_breaks_in_its_forward_only():
    class Net(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            print(y.sum())
            return y * 2

    check_against_eager(Net(), x(), graphs=2, breaks=1)


def test_many_variables_around_a_break():
    """Instructions that name two variables have four bits for each (3.13)."""

    def f(x, g):
        t, u, v, w = range(4)  # the first variables, and after the break the last
        a, b, c, d, e, h = range(t, 6)
        i, j, k, l, m, n = (x + i for i in range(u, v + w + 2))
        o, p, q, r, s = c, d, e, h, "text"
        a1, a2, a3, a4, a5, a6 = i, j, k, l, m, n
        for t, u in [(a, b), (c, d)]:
            bytearray(1)  # breaks
            v, w = t, u
            y = lambda: (v, w, s)  # noqa: B023
        return g(*(k, l), **{}), m + n + i + j, o + p + q + r, y(), a1, a2, a3, a4, a5, a6

    check_against_eager(f, torch.ones(2), lambda k, l: k * l)

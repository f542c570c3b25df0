"""The questions of the chapter: each is a function, and prints the answer."""

import warnings

import torch
from jaxlike import jit
from lazy import counts, lazy
from limits import branch, decorated, mutates, plain, without_deprecations
from script import Script
from symbolic import symbolic_trace
from tracer import trace

import minicompiler

ones, minus = torch.ones(2), torch.tensor([-3.0, 1.0])


def frozen_branch():
    """The run that was written down took one side of the branch, and what that side did to tensors
    is in the program. The comparison is there as well, `gt`, but nobody reads its result."""
    warnings.simplefilter("ignore")
    traced = trace(branch, ones)
    print(traced)
    print(branch(minus).tolist(), "and traced", traced(minus).tolist())
    print("torch.jit.trace:", torch.jit.trace(branch, ones)(minus).tolist())


def source_of_a_decorated_function():
    """`functools.wraps` says where the function inside is, `inspect.getsource` follows it there,
    and what the decorator did is gone without a word. It was never in the source that is read."""
    without_deprecations()
    print(decorated(ones).tolist(), "and scripted", Script(decorated)(ones).tolist())
    print("torch.jit.script:", torch.jit.script(decorated)(ones).tolist())


def python_that_is_not_in_the_subset():
    """A compiler that reads source has to know each construct of the language. Ours knows no loop.
    PyTorch's knows loops, lists and classes, and stops at `try`, as it does at `yield` and
    `**kwargs`. What is refused is at least not wrong."""

    def looped(x):
        for _ in range(3):
            x = x + 1
        return x

    def careful(x):
        try:
            return x + 1
        except ValueError:
            return x

    without_deprecations()
    for script in Script, torch.jit.script:
        for f in looped, careful:
            try:
                print(f.__name__, script(f)(ones).tolist())
            except Exception as error:
                print(f.__name__, "is refused,", str(error).splitlines()[0])


def lazy_overhead():
    """The program is compiled once, but the function runs each time, and each time every operation
    is noted anew: how else would it be known that the program is the same? A step of a thousand
    small operations costs a thousand notes, however fast the compiled program is."""
    run = lazy(plain)
    for x in ones, minus, ones:
        run(x)
        print(dict(counts))


def lazy_delay():
    """To note an operation takes the shapes, and they are as they should be; that an index is too
    large shows only when values are there. So the error comes where a value is read, here at the
    very end, long after the line that is wrong. The time is spent there, too."""

    def pick(table):
        print("picking")
        return table[torch.tensor([0, 7])]

    def use(row):
        print("using")
        return row * 2

    try:
        lazy(lambda table: use(pick(table)))(ones)
    except IndexError as error:
        print(error)


def lazy_recompilation():
    """A number that differs in each step, as a learning rate may, is part of the program, and so is
    the length of a loop. A program that is unlike all before is compiled. A real system turns
    numbers into inputs, and then compiles `decay` once (the run below shows it); a loop whose
    length follows the data stays what it is."""

    def decay(x, step):
        return x - 0.1 / step * x

    def unrolled(x, step):
        for _ in range(step):
            x = x * 2
        return x

    for f in decay, unrolled:
        counts.clear()
        for step in range(1, 6):
            lazy(lambda x: f(x, step))(ones)
        print(f.__name__, counts["compiled"], "programs in 5 steps")


def proxies_and_values():
    """There is no value to decide by, so the branch is refused, and rightly. `size`, above, goes
    through, and one program serves all sizes, because the shape is a proxy, too. Where Python needs
    a real integer, as in `range(x.shape[0])`, the same is refused."""
    for traced in symbolic_trace, torch.fx.symbolic_trace:
        try:
            traced(branch)
        except Exception as error:
            print(type(error).__name__, error)


def proxies_and_mutation():
    """A proxy has no `+=` of its own, so Python takes `x = x + 1`, and the program has an addition
    that leaves the caller's tensor alone. The results agree; only the argument tells."""
    for make in (lambda f: f), symbolic_trace, torch.fx.symbolic_trace:
        x = torch.zeros(2)
        print(make(mutates)(x).tolist(), x.tolist())


def side_effects_of_a_jitted_function():
    """The function runs when there is no program for such shapes; that is when it prints, and when
    it reads `rate`. The third call has a known shape, so it gets the program with the 2. The fourth
    is traced, and sees the 5."""
    rate = 2

    def f(x):
        print("traced with rate", rate)
        return x * rate

    jitted = jit(f)
    for rate, n in (2, 2), (2, 2), (5, 2), (5, 3):
        print(jitted(torch.ones(n)).tolist())


def what_bytecode_capture_does_with_a_global():
    """The value is in the graph, as in a trace. But what was read on the way is written down, too,
    and checked before the graph is used again: a guard. One that does not hold leads to a new graph
    beside the old one, which serves the fourth call."""
    rate = 2

    def f(x):
        return x * rate

    compiled = minicompiler.compile(f, backend="eager")
    for rate in 2, 2, 5, 2:
        print(compiled(ones).tolist(), minicompiler.stats()["graphs"], "graphs")
    print(*minicompiler.stats()["recompile_reasons"])


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

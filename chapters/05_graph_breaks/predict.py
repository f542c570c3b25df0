"""The questions of the chapter: each is a function, and prints the answer."""

import smallest
import torch
from captured import beside, replacements

import minicompiler


def a_break_and_a_recompile():
    """Calls 1 and 2: one break, two graphs, and nothing more, since a break is part of what was
    compiled. Call 3 takes the other way out of the branch: a graph for that way, still without
    recompiling anything. Call 4 brings another size: a guard fails, so the frame is compiled again,
    and its break is counted again. Ours counts one recompile; the resume functions of the old call
    are not asked, as the new landing has made its own. torch finds its resume function by the code,
    compiles that again too, and counts two."""

    def branch(x):
        y = x + 1
        if y.sum() > 0:
            y = y * 2
        return y.sin()

    x = torch.ones(3)
    beside(branch, (x,), (x,), (-5 * x,), (torch.ones(4),))


def in_the_middle_of_an_expression():
    """Two values wait on the stack when `.item()` is called, and the bound method is the third. All
    of them are arguments: the landing takes them, pushes them again and makes the call; its result
    becomes one more value of the stack, which the resume function is handed. The tuple, the dict
    and the list are built at the end, by the second replacement."""

    def middle(x):
        return [x + 1, (x * 2, x.sum().item()), {"k": x - 1}]

    replacements(middle, torch.ones(3))


def in_a_loop():
    """The loop runs eagerly as a whole: a resume function that begins inside would itself break one
    turn later, and so would the next. What comes before and behind it is captured. torch leaves the
    whole frame to Python when a break lies in a loop."""

    def loop(x):
        y = x + 1
        for i in range(4):
            y = y * 2
            if y.sum() > 100:
                y = y - 100
        return y.sin() + 1

    beside(loop, (torch.ones(3),), (torch.ones(3),))


def a_loop_in_the_smallest_version():
    """One graph for each turn that was ever taken, as each resume function is cut again where the
    branch comes next: the second call goes the same way and adds none, one that takes more turns
    would add more. A compiler that has to end needs a rule for loops."""

    def loop(x):
        while (x < 10).all():
            x = x * 2
        return x + 1

    compiled = smallest.compile(loop)
    for _ in range(2):
        print(compiled(torch.ones(2)))


def in_an_inlined_call():
    """Four graphs. `outer` was following the call into `inner` when that broke. What is handed over
    belongs to one frame, so `outer` breaks *at the call*: its landing makes the call, the hook sees
    `inner` start, and `inner` is compiled as a frame of its own, with a break of its own. The same
    in torch."""

    def inner(x):
        y = x + 1
        if y.sum() > 0:
            y = y * 2
        return y * 3

    def outer(x):
        a = x * 2
        return inner(a) - a

    beside(outer, (torch.ones(3),))
    replacements(outer, torch.ones(3))


def inside_of_with():
    """`with` has pushed the bound `__exit__` on the stack, so that is handed over like any value:
    here of a `no_grad` made anew. The replacement also switches gradients off, as the program would
    have by then, and the resume function, in which the block ends, on again: `y` was computed
    without gradients, in both pieces, and `x * 2` with them."""

    def f(x):
        with torch.no_grad():
            y = x * 2
            if y.sum() > 0:
                y = y * 3
            y = y + 1
        return y, x * 2

    x = torch.ones(3, requires_grad=True)
    replacements(f, x)
    print([t.requires_grad for t in minicompiler.compile(f, backend="eager")(x)])


def inside_of_try():
    """The landing is the original bytecode with its exception table, entered in the middle of the
    protected region. So the error of `check`, which runs eagerly, meets the handler that is written
    around it. Call 1 has one graph: the handler, and what follows it, run in the landing, as a
    resume function is called only where the broken instruction ends without an error. So it does in
    call 2, which adds a graph. torch leaves the frame to Python when a break lies in `try`."""

    @torch.compiler.disable
    def check(y):
        if y.sum() > 0:
            raise ValueError("positive")

    def f(x):
        y = x * 2
        try:
            check(y)
        except ValueError:
            y = -y
        return y + 1

    print(minicompiler.compile(f, backend="eager")(torch.ones(2)))
    beside(f, (torch.ones(2),), (-torch.ones(2),))


def a_number_from_a_tensor():
    """`.item()` breaks, and hands the resume function a number. Behind the break that number is an
    argument like any other, and was guarded as a constant: another value, another compilation. This
    is a recompile *because of* a break, and the usual reason why the two are taken for one. torch
    makes a number symbolic when its value changes, and then compiles no more."""

    def scaled(x):
        return x * x.sum().item()

    beside(scaled, *((torch.ones(3) * n,) for n in (1, 2, 3, 4)))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

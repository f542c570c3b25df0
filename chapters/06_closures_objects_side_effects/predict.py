"""The questions of the chapter: each is a function, and prints the answer."""

import contextlib

import torch
from captured import beside, compiled_frames, replacements

import minicompiler


class Box:
    def __init__(self, value=0):
        self.value = value


def each_write_once_and_in_order():
    """`last` is written twice and replayed once, with what it ended up as: nobody can look in
    between. Its place is that of the first write. `value` was deleted and stored again, which moves
    it to the end of the object's dictionary; so the replay gives the dictionary all of its items,
    in their order. The order can be seen: by `vars`, in a `repr`, in a pickle. Ours is eager's, and
    torch's is not."""

    def f(x, box):
        box.last = x + 1
        box.seen = 1
        box.last = box.last * 2
        del box.value
        box.value = 3
        return x

    orders = []
    for compile in (lambda f: f, minicompiler.compile, torch.compile):
        box = Box()
        options = {} if not orders else {"backend": "eager"}
        compile(f, **options)(torch.ones(2), box)
        orders.append(list(vars(box)))
    print("eager, ours, torch.compile:", *orders, sep="\n    ")
    replacements(f, torch.ones(2), Box())


def a_hook_is_called_once():
    """Once for each assignment, and while evaluating: `__setattr__` is code of the program's, so it
    is evaluated like all other, and what it does is what is noted. The replay writes the results,
    past the hook. A replay that assigned `box.a = ...` would call it a second time."""

    class Logged:
        def __init__(self):
            object.__setattr__(self, "log", [])

        def __setattr__(self, name, value):
            self.log.append(name)
            object.__setattr__(self, name, value)

    def f(x, box):
        box.a = x + 1
        box.b = box.a * 2
        return x

    box = Logged()
    replacements(f, torch.ones(2), box)
    print(vars(box))


def two_names_of_one_object():
    """Two lists: one is written, the length of the other is known. The third call brings one list
    under two names, where what is written through the first name is read through the second. So
    where something is written, a guard says which objects are distinct, and this call is compiled
    for itself."""

    def f(x, a, b):
        a.append(x)
        return x + len(b)

    x, both = torch.ones(2), []
    beside(f, (x, [], []), (x, [], []), (x, both, both))


def what_escapes_is_built():
    """Three boxes are made while evaluating, one is built: `scaled` and `shifted` are read, and are
    gone when the frame ends. The one that leaves does so twice, under one name: `is` holds."""

    def f(x):
        scaled = Box(x * 2)
        shifted = Box(scaled.value + 1)
        kept = Box(shifted.value)
        return [kept, kept]

    replacements(f, torch.ones(2))
    first, second = minicompiler.compile(f, backend="eager")(torch.ones(2))
    print(first is second)


def variables_of_a_closure():
    """A variable that an inner function shares lives in a cell, and the cell is an object that is
    written like any other. With a tensor in it nothing of what was assumed changes. A number is
    guarded by its value, so here each call finds another one. torch compiles a second time, with a
    number that is symbolic, and that serves all further calls."""

    def adding(total):
        def add(x):
            nonlocal total
            total = total + 1
            return x + total

        return add

    x = torch.ones(2)
    replacements(adding(0), x)
    beside(adding(torch.zeros(2)), (x,), (x,), (x,), (x,))
    beside(adding(0), (x,), (x,), (x,), (x,))


def half_an_iterator():
    """The iterator that leaves is made anew, one item further. It is a list's iterator, as eager's.
    torch hands out a tuple's, which is another object to `type`, and which does not see what is
    appended to the list from now on."""

    def f(x, items):
        steps = iter(items)
        return x + next(steps), steps

    replacements(f, torch.ones(2), [1, 2, 3])
    for compile in (minicompiler.compile, torch.compile):
        items = [1, 2, 3]
        _, steps = compile(f, backend="eager")(torch.ones(2), items)
        items.append(4)
        print(type(steps).__name__, *steps)


def an_exception_between_two_writes():
    """Call 1 is compiled. In call 2 the list is longer, and evaluation meets a `raise` that leaves
    the frame. A replacement does not end in that, so the frame would break at the `raise`; as no
    tensor operation came before it there is nothing to compile, and the frame is left to Python.
    Either way `append` has happened once, since evaluation has touched nothing."""

    def f(x, items):
        items.append("before")
        if len(items) > 2:
            raise ValueError(f"{len(items)} items")
        items.append("behind")
        return x + 1

    compiled, items = minicompiler.compile(f, backend="eager"), []
    for _ in range(2):
        try:
            compiled(torch.ones(2), items)
        except ValueError as error:
            print(error)
        print(items)
    known = minicompiler.stats()
    print({key: known[key] for key in ("graphs", "breaks", "recompiles")})


def who_listens_to_print():
    """The stream is the program's own. `tells` has only the print, of what is known, so it waits
    until the graph has run: one frame. `writes_and_tells` has a write before it, and the stream's
    `write` may look at the box, or at anything else. So the graph breaks at the `print`, and what
    was written by then is replayed before it. To a file or a terminal, which do not look, such a
    print waits, too, in one list with the writes."""

    class Lines(list):
        def write(self, text):
            self.append(text)

    def tells(x, box):
        print("told")
        return x + 1

    def writes_and_tells(x, box):
        box.value = 5
        print("told")
        return x + 1

    for f in (tells, writes_and_tells):
        with contextlib.redirect_stdout(lines := Lines()):
            records = compiled_frames(f, torch.ones(2), Box())
        whys = [why.reason.split("\n")[0] for record in records for why in record.whys]
        print(f.__name__, lines, len(records), "frames", whys)


def an_autograd_function():
    """`Twice` is one node. Its `forward` and `backward` are both evaluated where `apply` is called,
    so that what they read is guarded; what they made of the graph is cut out again, and becomes the
    methods of a Function that computes and does nothing else. `Logging` does something else: its
    `backward` writes to a list, which has to happen when the backward runs, not when the graph
    does. So the graph breaks, Python calls `apply`, and `forward` is compiled as a frame."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2
            return x * ctx.factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    class Logging(Twice):
        @staticmethod
        def backward(ctx, grad):
            seen.append(1)
            return grad * ctx.factor

    seen = []
    for cls in (Twice, Logging):
        for record in compiled_frames(lambda x: cls.apply(x).sin(), torch.ones(2).requires_grad_()):
            graphs = record.stages.get("graph", [])
            print(record.name.split(".")[-1], *([n.name for n in gm.graph.nodes] for gm in graphs))
            for why in record.whys:
                print("    break:", why.reason.split("\n")[0])


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

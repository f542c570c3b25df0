"""What is often said of side effects under compilation, and a run that shows what is so."""

import torch
from captured import beside

import minicompiler

CALLS = []
LAST = None


class Box:
    pass


def effects_happen_while_tracing():
    """That is so for a tracer that runs the program once and keeps the operations. Here the writes
    and the prints are part of the replacement, so they happen at each call, after its graph."""

    def f(x):
        CALLS.append(len(x))
        print("called with", len(x))
        return x + 1

    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(3):
        compiled(torch.ones(2))
    print(len(CALLS), "calls noted,", minicompiler.stats()["graphs"], "graph")
    CALLS.clear()


def writes_break_the_graph():
    """A list, a dictionary, an attribute, a global, a tensor in place: one graph, and no other at
    the second call. A write to a tensor is an operation of the graph; the others are replayed."""

    def f(x, items, table, box):
        global LAST
        items.append(x.sum())
        table["last"] = items[-1]
        box.items = items
        LAST = table
        x.add_(1)
        return x * 2

    beside(f, *((torch.ones(2), [], {}, Box()) for _ in range(2)))


def objects_are_made_once():
    """The text of the replacement makes them, so each call has its own. What is one object within a
    call is one, and what are two are two."""

    def f(x):
        inner = [x + 1]
        return [inner, inner, [x + 1]]

    compiled = minicompiler.compile(f, backend="eager")
    first, second = compiled(torch.ones(2)), compiled(torch.ones(2))
    print(first is second, first[0] is first[1], first[0] is first[2])


def what_is_written_is_free():
    """Writing is cheap. *Reading* what was written is an assumption: a counter that is an int is
    guarded by its value, and the next call has another. torch does the same for an attribute of a
    module. In a tensor the counter is data, and nothing is assumed of its value."""

    class Counting(torch.nn.Module):
        def __init__(self, start):
            super().__init__()
            self.seen = start

        def forward(self, x):
            self.seen += 1
            return x.sin()

    def call(module, x):
        return module(x)

    x = torch.ones(2)
    for start in (0, torch.zeros(())):
        module = Counting(start)
        beside(call, *((module, x) for _ in range(3)))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

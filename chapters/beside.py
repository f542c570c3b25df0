"""One function under both compilers, without a back end: how often each had to compile."""

import logging

import torch
from torch._dynamo.utils import clear_compilation_metrics, counters, get_compilation_metrics

import minicompiler

KEYS = ("graphs", "breaks", "recompiles")


def beside(make, *calls):
    """Two of `make()`, each called with each of `calls`: arguments, or a function that changes
    something before the same arguments come again. Prints the counts after each call."""
    minicompiler.reset()
    torch.compiler.reset()
    counters.clear()
    clear_compilation_metrics()
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    graphs = []

    def keep(gm, inputs):
        graphs.append(gm)
        return gm.forward

    both = minicompiler.compile(make(), backend="eager"), torch.compile(make(), backend=keep)
    print(" " * 9, *KEYS, " torch.compile:", *KEYS)
    args = ()
    for n, call in enumerate(calls, 1):
        if callable(call):
            call()
        else:
            args = call
        for compiled in both:
            compiled(*args)
        ours = [minicompiler.stats()[key] for key in KEYS]
        again = [m for m in get_compilation_metrics() if m.recompile_reason]
        theirs = [len(graphs), sum(counters["graph_break"].values()), len(again)]
        row = [f"{count:>{len(key)}}" for key, count in zip(KEYS * 2, ours + theirs)]
        print(f"call {n}:  ", *row[:3], " " * 15, *row[3:])

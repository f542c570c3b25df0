"""What capture makes of a function: counts, beside those of torch.compile, and what it writes."""

import logging

import torch
from torch._dynamo.output_graph import graph_break_reasons
from torch._dynamo.utils import clear_compilation_metrics, get_compilation_metrics

import minicompiler
from minicompiler import report

KEYS = "graphs", "breaks", "recompiles"
torch._logging.set_logs(dynamo=logging.ERROR)  # torch warns of some breaks, with the time of day


def beside(f, *calls):
    """Call `f` with each of `calls` under both; print counts after each. A call is a tuple of
    arguments, or a function that changes something before the same arguments come again."""
    compare(f, f, calls)


def beside_each(make, *calls):
    """The same with a function of its own for each, as calls change what it refers to."""
    compare(make(), make(), calls)


def compare(mine, other, calls):
    graphs, args = [], ()

    def keeping(gm, inputs):
        graphs.append(gm)
        return gm.forward

    minicompiler.reset()
    torch.compiler.reset()
    graph_break_reasons.clear()
    clear_compilation_metrics()
    both = minicompiler.compile(mine, backend="eager"), torch.compile(other, backend=keeping)
    name = getattr(mine, "__name__", type(mine).__name__)
    print(f"{name:<14}", *KEYS, "| torch.compile:", *KEYS)
    for n, call in enumerate(calls, 1):
        if callable(call):
            call()
        else:
            args = call
        for compiled in both:
            compiled(*args)
        again = [m for m in get_compilation_metrics() if m.recompile_reason]
        counts = [minicompiler.stats()[key] for key in KEYS]
        counts += [len(graphs), len(graph_break_reasons), len(again)]
        row = [f"{count:>{len(key)}}" for key, count in zip(KEYS * 2, counts)]
        print(f"  after call {n} ", *row[:3], "|               ", *row[3:])


def compiled_frames(f, *args):
    """Call `f` compiled, with graphs that run as they are; the record of each frame compiled."""
    minicompiler.reset()
    with report.collecting() as records:
        minicompiler.compile(f, backend="eager")(*args)
    return [record for record in records if record.counts["frames"]]


def replacements(f, *args, whole=False):
    """Call `f` compiled; print what runs in place of each frame, behind its graph or as a whole."""
    for record in compiled_frames(f, *args):
        text = str(record.stages["replacement"][0]).rstrip()
        head, behind, rest = text.partition("    if before is None:\n        return ")
        if behind and not whole:
            graph = next(line for line in head.splitlines() if "graph(" in line)
            rest = rest[rest.index("\n") + 1 :]
            text = f"{head.splitlines()[0]}\n    {graph.strip()}\n{rest}"
        print(f"# {record.name}\n{text}")

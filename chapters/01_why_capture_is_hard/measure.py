"""Five steps of two functions: how many programs each way makes, and how many results are right."""

import torch
from jaxlike import jit
from lazy import compiled, lazy
from real_lazy import decay, unrolled
from tracer import trace

import minicompiler

STEPS = range(1, 6)
x = torch.ones(4)


def results_of_a_trace(f):
    traced = trace(lambda x: f(x, 1), x)
    return [traced(x) for _ in STEPS], 1


def results_of_lazy(f):
    compiled.clear()
    return [lazy(lambda x: f(x, step))(x) for step in STEPS], len(compiled)


def results_of_jaxlike(f):
    step = 1
    jitted = jit(lambda x: f(x, step))
    results = [jitted(x) for step in STEPS]
    return results, len(jitted.programs)


def results_of_bytecode(f):
    minicompiler.reset()
    g = minicompiler.compile(f, backend="eager")
    return [g(x, step) for step in STEPS], minicompiler.stats()["graphs"]


if __name__ == "__main__":
    for f in decay, unrolled:
        for way in results_of_a_trace, results_of_lazy, results_of_jaxlike, results_of_bytecode:
            results, programs = way(f)
            right = sum(torch.equal(r, f(x, step)) for r, step in zip(results, STEPS))
            name = way.__name__.split("_")[-1]
            print(f"{f.__name__:9} {name:9} {programs} programs, {right} of {len(STEPS)} right")

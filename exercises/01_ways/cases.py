"""What is true is found by running the functions of the stub."""

import runpy
from pathlib import Path

WHY = {
    "trace_branch": "A trace is one run: the side that was taken is the program, whatever the "
    "value.",
    "trace_size": "While torch traces, a size is a tensor, and dividing by it is an operation: "
    "it follows the input.",
    "trace_loop": "range() needs a number, and the loop runs once, while tracing: as many "
    "additions are in the program as there were then, whatever comes later.",
    "trace_counter": "What is done to a list is no operation on a tensor. It happened once, "
    "while tracing.",
    "symbolic_branch": "A stand-in has no value to branch by, so symbolic tracing raises: it "
    "does not guess.",
    "symbolic_global": "What is not a tensor is read while tracing, and is a constant of the "
    "graph; nobody looks at the global again.",
    "symbolic_counter": "The function ran once, on stand-ins; the graph holds what was done to "
    "tensors only.",
    "bytecode_branch": "The graph ends at the branch; each side is a graph of its own, made "
    "when it is first taken, and all of them are used again.",
    "bytecode_global": "The global is guarded: where it has changed, the graph is not used, and "
    "another is made.",
    "bytecode_counter": "Effects are done again at each call, around one graph.",
}


def truth(name):
    def run():
        return runpy.run_path(str(Path(__file__).with_name("stub.py")))[name]()

    run.__doc__ = WHY[name]
    return run


TRUTH = {name: truth(name) for name in WHY}

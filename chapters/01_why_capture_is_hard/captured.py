"""What capture from bytecode does with the same programs and the same calls."""

import torch
from limits import LIMITS, branch, called

import minicompiler


def printing(gm, inputs):
    """A backend that shows the graph and runs it as it is."""
    print("graph:", *(n.format_node() or n for n in gm.graph.nodes), sep="\n  ")
    return gm


if __name__ == "__main__":
    f = minicompiler.compile(branch, backend=printing)
    for numbers in [1.0, 2.0], [3.0, 5.0], [-9.0, 1.0]:
        print(numbers, "gives", f(torch.tensor(numbers)).tolist())
    print(*minicompiler.stats()["reasons"])

    print("\n           graphs  breaks  recompilations")
    for f in LIMITS:
        minicompiler.reset()
        called(lambda f, x: minicompiler.compile(f, backend="eager"), f, torch.tensor)
        told = minicompiler.stats()
        print(f"{f.__name__:10} {told['graphs']:6} {told['breaks']:7} {told['recompiles']:15}")

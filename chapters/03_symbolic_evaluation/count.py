"""How much of a program is Python that vanishes: instructions, frames, nodes."""

from collections import Counter

import torch
from running import Block
from torch import nn

import minicompiler
from minicompiler import report
from minicompiler.capture.opcodes import HANDLERS


def counting(handler, counts):
    def count(frame, inst):
        counts["instructions"] += 1
        counts["frames"] += inst.opname == "RESUME" and inst.arg == 0
        return handler(frame, inst)

    return count


def count(name, module, x):
    counts, before = Counter(), dict(HANDLERS)
    HANDLERS.update({op: counting(handler, counts) for op, handler in before.items()})
    try:
        with report.collecting() as records:
            minicompiler.compile(lambda: module(x), backend="eager")()
    finally:
        HANDLERS.update(before)
    graphs = [gm for record in records for gm in record.stages.get("graph", ())]
    nodes = sum(n.op.startswith("call") for gm in graphs for n in gm.graph.nodes)
    print(f"{name:<26}{counts['instructions']:>8}{counts['frames']:>8}{nodes:>8}")


if __name__ == "__main__":
    print(f"{'':<26}{'instr.':>8}{'frames':>8}{'nodes':>8}")
    count("Block", Block(), torch.randn(4, 8))
    count("Linear", nn.Linear(8, 8), torch.randn(4, 8))
    count("16 of them in Sequential", nn.Sequential(*[nn.Linear(8, 8)] * 16), torch.randn(4, 8))
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    count("TransformerEncoderLayer", layer, torch.randn(2, 5, 16))

"""The training step in one graph, if that can be; and in as many as it takes."""

import torch
from captured import compiled_frames
from running import Block, step

import minicompiler


def main():
    torch.manual_seed(0)
    block, x = Block(), torch.randn(4, 8)
    try:
        minicompiler.compile(step, backend="eager", fullgraph=True)(block, x)
    except minicompiler.Unsupported as error:
        print("fullgraph:", error, "\n")
    for record in compiled_frames(step, block, x):
        graphs = record.stages.get("graph", [])
        calls = sum(n.op.startswith("call") for gm in graphs for n in gm.graph.nodes)
        print(f"{record.name}: {len(graphs)} graph, {calls} calls")
        for why in record.whys:
            print("    break:", why.reason.split("\n")[0])


if __name__ == "__main__":
    main()

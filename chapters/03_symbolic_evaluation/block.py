"""The running example: what evaluating `Block.forward` leaves."""

import torch
from running import Block

import minicompiler
from minicompiler import report


def told(of):
    return f"%{of}" if isinstance(of, torch.fx.Node) else repr(of)


if __name__ == "__main__":
    block = Block()
    with report.collecting() as records:
        minicompiler.compile(block.forward, backend="eager")(torch.randn(4, 8))
    stages = records[0].stages
    for node in stages["graph"][0].graph.nodes:
        if node.op == "placeholder":
            print(f"%{node}")
        elif node.op != "output":
            name = getattr(node.target, "__name__", node.target)
            place = node.meta["stack"].rpartition("/")[2]
            print(f"%{node} = {name}({', '.join(map(told, node.args))})".ljust(92), place)
    print(len(stages["guards"][0]), "guards")
    print(*stages["replacement"][0].splitlines()[-2:], sep="\n")

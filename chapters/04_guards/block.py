"""The running example: what is assumed of the block, and which call finds it changed."""

from collections import Counter

import torch
from running import Block, step

import minicompiler
from minicompiler import report

if __name__ == "__main__":
    block, compiled = Block(), minicompiler.compile(step, backend="eager")
    with report.collecting() as records:
        compiled(block, torch.randn(4, 8))
    guards = next(r for r in records if r.name == "Block.forward").stages["guards"][0]
    kinds = Counter(guard.kind for guard in guards)
    print(len(guards), "guards:", *(f"{n} {kind}" for kind, n in kinds.items() if n > 1))
    for rows in (4, 8):
        before = len(minicompiler.stats()["recompile_reasons"])
        compiled(block, torch.randn(rows, 8))
        print(f"batch {rows}:")
        print(*minicompiler.stats()["recompile_reasons"][before:], sep="\n")

"""The graphs of the running example, as `explain` shows them."""

import torch
from running import Block

import minicompiler


def graphs():
    print(minicompiler.explain(Block().forward, torch.randn(4, 8)).graph)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

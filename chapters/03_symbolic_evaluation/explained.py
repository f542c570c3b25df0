"""The graphs of the running example, as `explain` shows them."""

import torch
from running import Block

import minicompiler


def graphs():
    print(minicompiler.explain(Block().forward, torch.randn(4, 8)).graph)

"""How often the counter of the running example is written while it is compiled, and for real."""

from unittest import mock

import torch
from captured import replacements
from running import Block

from minicompiler.capture.values import Dict

noted = []
write = Dict.set


def noting(self, ev, key, value):
    if key.real == "seen":
        noted.append(value.real)
    write(self, ev, key, value)


if __name__ == "__main__":
    torch.manual_seed(0)
    block, x = Block(), torch.randn(4, 8)
    with mock.patch.object(Dict, "set", noting):
        replacements(Block.forward, block, x)
    print("written while evaluating:", noted)
    print("and in the end it is", block.seen)

"""The block of the running example, traced by PyTorch, after training made its values larger."""

import torch
from limits import without_deprecations
from running import Block

if __name__ == "__main__":
    without_deprecations()
    block, x = Block(), torch.randn(4, 8)
    traced = torch.jit.trace(block, x, check_trace=False)
    print("seen:", block.seen)
    with torch.no_grad():
        block.norm.weight *= 10
    print("traced:")
    traced(x)
    print("seen:", block.seen)
    print("eager:")
    block(x)
    print("seen:", block.seen)

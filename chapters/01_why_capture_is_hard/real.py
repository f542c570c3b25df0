"""The same table for what PyTorch has, or had, of these."""

import logging

import torch
from limits import table

if __name__ == "__main__":
    logging.disable(logging.WARNING)  # torch.compile explains its graph breaks
    table(
        {
            "jit.trace": lambda f, x: torch.jit.trace(f, x),
            "jit.script": lambda f, x: torch.jit.script(f),
            "fx": lambda f, x: torch.fx.symbolic_trace(f),
            "compile": lambda f, x: torch.compile(f, backend="eager"),
        }
    )
    logging.disable(logging.NOTSET)

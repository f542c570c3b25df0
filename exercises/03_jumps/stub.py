"""The conditional jumps. Replace the lines that raise."""

from collections.abc import Callable
from typing import Any

import torch

from minicompiler.capture import data_model as model
from minicompiler.capture.decode import VERSION, Instruction
from minicompiler.capture.frame import Frame
from minicompiler.capture.values import Tensor, Value

Handler = Callable[[Frame, Instruction], Value | None]


def branch(test: Callable[[Frame, Value], bool], on: bool, keep: bool = False) -> Handler:
    def handler(f: Frame, inst: Instruction) -> None:
        raise NotImplementedError("write me")

    return handler


def truth(f: Frame, value: Any) -> bool:
    return model.truth(f.ev, value)  # right for all but tensors: begin with the other two


def FOR_ITER(f: Frame, inst: Instruction) -> None:
    raise NotImplementedError("write me")

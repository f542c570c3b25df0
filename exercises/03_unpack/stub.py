"""a, *rest, b = items. Replace the line that raises."""

from minicompiler.capture import data_model as model  # noqa: F401
from minicompiler.capture.decode import Instruction
from minicompiler.capture.frame import Frame
from minicompiler.capture.values import List, refuse  # noqa: F401


def UNPACK_EX(f: Frame, inst: Instruction) -> None:
    raise NotImplementedError("write me")

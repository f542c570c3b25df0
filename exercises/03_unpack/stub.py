"""a, *rest, b = items. Replace the line that raises."""

from minicompiler.capture.decode import Instruction
from minicompiler.capture.frame import Frame


def UNPACK_EX(f: Frame, inst: Instruction) -> None:
    raise NotImplementedError("write me")

import itertools

from minicompiler.capture import data_model as model
from minicompiler.capture.decode import Instruction
from minicompiler.capture.frame import Frame
from minicompiler.capture.values import List, refuse


def UNPACK_EX(f: Frame, inst: Instruction) -> None:
    before, after = inst.arg & 0xFF, inst.arg >> 8
    it = model.iter_(f.ev, f.pop())
    first = list(itertools.islice(iter(lambda: model.next_(f.ev, it), None), before))
    items = model.unpack(f.ev, it, hint=True)
    if len(first) < before or (rest := len(items) - after) < 0:
        refuse("too few items")
    f.stack += reversed([*first, List(items[:rest]), *items[rest:]])

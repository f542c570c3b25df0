# teaches: and eager's is (tensor([2., 3., 4., 5.]), [3, 4])
from minicompiler.capture import data_model as model
from minicompiler.capture.values import Tuple, refuse


def UNPACK_EX(f, inst):
    before, after = inst.arg & 0xFF, inst.arg >> 8
    items = model.unpack(f.ev, f.pop())
    rest = len(items) - after
    if rest < before:
        refuse("few")
    f.stack += reversed([*items[:before], Tuple(items[before:rest]), *items[rest:]])

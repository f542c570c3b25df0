# teaches: Too few items raise ValueError
from minicompiler.capture import data_model as model
from minicompiler.capture.values import NONE, List


def UNPACK_EX(f, inst):
    before, after = inst.arg & 0xFF, inst.arg >> 8
    items = model.unpack(f.ev, f.pop())
    items += [NONE] * (before + after - len(items))
    rest = len(items) - after
    f.stack += reversed([*items[:before], List(items[before:rest]), *items[rest:]])

# teaches: The names before the star take the first items
from minicompiler.capture import data_model as model
from minicompiler.capture.values import List


def UNPACK_EX(f, inst):
    before, after = inst.arg & 0xFF, inst.arg >> 8
    items = model.unpack(f.ev, f.pop())
    rest = len(items) - after
    f.stack += [*items[:before], List(items[before:rest]), *items[rest:]]

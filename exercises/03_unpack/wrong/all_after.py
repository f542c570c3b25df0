# teaches: The names after the star take the last items
from minicompiler.capture import data_model as model
from minicompiler.capture.values import List


def UNPACK_EX(f, inst):
    items = model.unpack(f.ev, f.pop())
    before = inst.arg & 0xFF
    f.stack += reversed([*items[:before], List(items[before:])])

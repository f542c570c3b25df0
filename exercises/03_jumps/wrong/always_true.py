# teaches: the graph checks that it is false
import torch

from minicompiler.capture import data_model as model
from minicompiler.capture.decode import VERSION
from minicompiler.capture.values import Tensor


def branch(test, on, keep=False):
    def handler(f, inst):
        if test(f, f.stack[-1]) == on:
            f.index = inst.target
            if keep:
                return
        f.pop()

    return handler


def truth(f, value):
    jump = f.inst if f.inst.target >= 0 else f.code.instructions[f.index]
    if isinstance(value, Tensor) and value.fake.numel() == 1 and jump.target > 0:
        on = "TRUE" in jump.opname
        for side, answer in ((jump.target, not on), (jump.index + 1, on)):
            if f.code.raises(side):
                f.ev.graph.call(f.ev, torch._assert_async, [value])
                return answer
    return model.truth(f.ev, value)


def FOR_ITER(f, inst):
    found = model.next_(f.ev, f.stack[-1])
    if found is not None:
        f.push(found)
        return
    f.index = inst.target
    if VERSION < (3, 14):
        f.pop()

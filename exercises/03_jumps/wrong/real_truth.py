# teaches, until 3.12: Each value is asked once
from minicompiler.capture import data_model as model
from minicompiler.capture.decode import VERSION


def branch(test, on, keep=False):
    def handler(f, inst):
        if test(f, f.stack[-1]) and not test(f, f.stack[-1]):
            return
        if test(f, f.stack[-1]) == on:
            f.index = inst.target
            if keep:
                return
        f.pop()

    return handler


def truth(f, value):
    return model.truth(f.ev, value)


def FOR_ITER(f, inst):
    found = model.next_(f.ev, f.stack[-1])
    if found is not None:
        f.push(found)
        return
    f.index = inst.target
    if VERSION < (3, 14):
        f.pop()

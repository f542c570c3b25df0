"""The evaluator at work: after each instruction, what lies on the stack of its frame."""

import torch
from program import f

import minicompiler
from minicompiler.capture.opcodes import HANDLERS
from minicompiler.capture.values import NULL, Const, Tensor


def shown(value):
    if value is NULL:
        return "NULL"
    if isinstance(value, Tensor):
        return f"%{value.node}"
    if isinstance(value, Const):
        return repr(value.value)
    return getattr(value.real, "__name__", value.cls.__name__)


def telling(handler):
    def tell(frame, inst):
        result = handler(frame, inst)
        indent = "    " * (len(frame.ev.frames) - 1)
        print(f"{indent}{inst.opname:<18} {'  '.join(map(shown, frame.stack))}".rstrip())
        return result

    return tell


if __name__ == "__main__":
    before = dict(HANDLERS)
    HANDLERS.update({name: telling(handler) for name, handler in before.items()})
    try:
        minicompiler.compile(f, backend="eager")(torch.ones(2, 3), 1)
    finally:
        HANDLERS.update(before)

"""One function with a break, and the two functions that go on behind it."""

from types import FunctionType

from minicompiler.capture.decode import decode
from minicompiler.capture.resume import Entry, enter


def f(x):
    y = x + 1
    if y.any():
        y = y * 2
    return x - y


code = decode(f.__code__)
jump = next(i for i in code.instructions if i.opname.startswith("POP_JUMP"))
# on the stack: the condition, then nothing; in the locals: what may still be read
at_the_jump = Entry(f.__code__, jump.index, (True,), tuple(sorted(code.live[jump.index])))
behind_it = {
    index: Entry(f.__code__, index, (), tuple(sorted(code.live[index])))
    for index in (jump.index + 1, jump.target)
}
landing = FunctionType(enter(at_the_jump, behind_it, globals()), globals())
resume = FunctionType(enter(behind_it[jump.target], None, globals()), globals())

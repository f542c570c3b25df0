"""What primer P1 shows: each function is called, and prints the answer."""

import dis
import sys


def scaled(x, factor=2):
    y = x * factor
    return y + 1


def branching(x):
    if x > 0:
        return x
    return -x


def what_a_code_object_holds():
    """The code object holds what is known without running: names, constants, the instructions. The
    default value 2 is not there. It was computed when `def` ran, and belongs to the function."""
    code = scaled.__code__
    print("arguments ", code.co_varnames[: code.co_argcount])
    print("locals    ", code.co_varnames)
    print("constants ", code.co_consts)
    print("globals   ", code.co_names)
    print("defaults  ", scaled.__defaults__)


def two_functions_one_code():
    """`def` and `lambda` make a function of a code object that the compiler of Python made once.
    Two functions with one code object differ in defaults, globals and closure."""

    def make(factor):
        return lambda x: x * factor

    double, triple = make(2), make(3)
    print(double is triple, double.__code__ is triple.__code__)
    print(double.__code__.co_freevars, [f.__closure__[0].cell_contents for f in (double, triple)])


def a_frame_for_each_call():
    """Each call has a frame of its own, with its own variables and its own place in the same code.
    A frame knows who called it, `f_back`; that chain is the stack that a traceback shows."""

    def down(n):
        if n:
            return down(n - 1)
        frame, found = sys._getframe(), []
        while frame.f_code is down.__code__:
            found.append(frame.f_locals["n"])
            frame = frame.f_back
        return found

    print(down(3))


def names_and_where_they_live():
    """A name that a function assigns to is local in all of it, and is found by number. `outer` is
    in a cell, as it belongs to the function around `f`; `len` is looked up by name, in the globals
    and then in the builtins, each time the instruction runs."""

    def f(x):
        n = len(x)
        return n + outer

    outer = 1
    for inst in dis.get_instructions(f):
        if inst.opname.startswith("LOAD") and inst.argval is not None:
            print(inst.opname, inst.argval)


def the_stack_by_hand():
    """Instructions take their operands from a stack and leave results on it: two values go on, the
    multiplication takes both and puts one back. To evaluate bytecode *symbolically* is to do this
    with descriptions of values in the place of values."""
    stack, variables = [], {"x": 5, "factor": 2}
    for inst in dis.get_instructions(scaled):
        names = inst.argval if isinstance(inst.argval, tuple) else [inst.argval]
        if inst.opname.startswith("STORE_FAST"):  # from 3.13 on it may load the next one as well
            variables[names[0]], names = stack.pop(), names[1:]
        if "LOAD_FAST" in inst.opname:
            stack += [variables[name] for name in names]
        elif inst.opname.startswith("LOAD"):
            stack.append(inst.argval)
        elif inst.opname == "BINARY_OP":
            right, left = stack.pop(), stack.pop()
            stack.append(left * right if inst.argrepr == "*" else left + right)
        print(f"{inst.opname:12} {inst.argrepr:8}", stack)


def how_many_of_each():
    """One code object, one function, three frames: one for each call. The frames are of three calls
    that follow one another; they are kept here, and would else be gone when their call returned."""

    def f():
        return sys._getframe()

    frames = [f() for _ in range(3)]
    print(len({id(frame) for frame in frames}), "frames")
    print(len({id(frame.f_code) for frame in frames}), "code object")


def where_a_default_lives():
    """It is evaluated once, when `def` is executed, and hangs on the function. Each execution of
    `def` makes another function, with another list, of the same code object."""

    def make():
        def f(seen=[]):  # noqa: B006
            seen.append(1)
            return len(seen)

        return f

    first, second = make(), make()
    print(first(), first(), second())


def a_frame_can_be_read():
    """A frame shows its variables to who holds it. That is how debuggers and `locals()` work, and
    why a compiler must care who looks: a frame that runs other code has other variables. `looking`
    is among them, a variable of the enclosing function."""

    def looking():
        return sorted(sys._getframe(1).f_locals)

    def f(a, b):
        c = a + b  # noqa: F841
        return looking()

    print(f(1, 2))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

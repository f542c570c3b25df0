"""Tracing as in JAX: run the function on abstract values, a shape and a dtype each."""

from program import Program, StandIn, abstract
from torch.utils._pytree import tree_map


class ConcretizationError(TypeError):
    """Python asked an abstract value for its value."""


class Tracer(StandIn):
    def __init__(self, program, name, meta):
        self.program, self.name, self.meta = program, name, meta
        program.types[name] = f"{str(meta.dtype)[6:]}{list(meta.shape)}"

    def operation(self, target, *args, **kwargs):
        meta = abstract(target, args, kwargs)
        args, kwargs = tree_map(named, (args, kwargs))
        return Tracer(self.program, self.program.add(target, *args, **kwargs), meta)

    def refuse(self):
        raise ConcretizationError(f"{self.name}:{self.program.types[self.name]} has no value")

    shape = property(lambda self: self.meta.shape)  # known, and the same at every call
    item = __bool__ = __index__ = __float__ = refuse


def named(value):
    return value.name if isinstance(value, Tracer) else value


class Jaxpr(Program):
    def __init__(self, f, *inputs):
        super().__init__()
        self.types = {}
        tracers = [Tracer(self, self.input(), x.to("meta")) for x in inputs]
        self.output = tree_map(named, f(*tracers))

    def __str__(self):
        text = super().__str__()
        for name, kind in self.types.items():
            text = text.replace(f"{name} =", f"{name}:{kind} =")
        inputs = " ".join(f"{name}:{self.types[name]}" for name in self.inputs)
        return text.replace(f"inputs {', '.join(self.inputs)}", f"lambda {inputs}")


def jit(f):
    programs = {}  # shapes and dtypes of the inputs -> the program for them

    def run(*inputs):
        key = tuple((x.shape, x.dtype) for x in inputs)
        if key not in programs:
            programs[key] = Jaxpr(f, *inputs)
        return programs[key](*inputs)

    run.programs = programs
    return run


if __name__ == "__main__":
    from limits import check, size

    jitted = jit(size)
    check(jitted, size)
    print(*jitted.programs.values(), sep="\n\n")

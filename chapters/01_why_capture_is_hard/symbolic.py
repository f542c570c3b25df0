"""Symbolic tracing: run the function on proxies, which have neither values nor shapes."""

import inspect

from program import Program, StandIn
from torch.utils._pytree import tree_map


class Proxy(StandIn):
    def __init__(self, program, name):
        self.program, self.name = program, name

    def operation(self, target, *args, **kwargs):
        args, kwargs = tree_map(named, (args, kwargs))
        return Proxy(self.program, self.program.add(target, *args, **kwargs))

    def refuse(self):
        raise TypeError(f"{self.name} has no value that Python could decide by")

    shape = property(lambda self: self.operation(getattr, self, "shape"))
    __bool__ = __len__ = __iter__ = __index__ = __float__ = refuse


def named(value):
    return value.name if isinstance(value, Proxy) else value


def symbolic_trace(f):
    program = Program()
    proxies = [Proxy(program, program.input()) for _ in inspect.signature(f).parameters]
    program.output = tree_map(named, f(*proxies))
    return program


if __name__ == "__main__":
    from limits import check, size

    check(symbolic_trace(size), size)

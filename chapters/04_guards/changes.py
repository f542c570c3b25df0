"""Something that the frame relies on changes between two calls. Who notices?"""

import collections
from types import SimpleNamespace

import torch

import minicompiler


class Helper:
    def scale(self, x):
        return x * 2


def make():
    """A function, and what may change about what it uses."""
    helper, options = Helper(), SimpleNamespace(sign=0.0)
    table = collections.OrderedDict(a=1, b=2)

    def f(x):
        for k in table.values():
            x = helper.scale(x) + k
        return torch.copysign(x, x * options.sign)

    return f, {
        "an attribute": lambda: setattr(options, "sign", -1.0),
        "the sign of a zero": lambda: setattr(options, "sign", -0.0),
        "the order of an OrderedDict": lambda: table.move_to_end("a"),
        "a method": lambda: setattr(Helper, "scale", lambda self, x: x * 5),
        "the code of a method": lambda: setattr(
            Helper.scale, "__code__", (lambda self, x: x * 5).__code__
        ),
    }


if __name__ == "__main__":
    method, code = Helper.scale, Helper.scale.__code__
    for name in make()[1]:
        minicompiler.reset()
        torch.compiler.reset()
        f, changes = make()
        both = minicompiler.compile(f, backend="eager"), torch.compile(f, backend="eager")
        x = torch.ones(1)
        assert all(torch.equal(compiled(x), f(x)) for compiled in both)
        changes[name]()
        expected = f(x)
        told = ["right" if torch.equal(compiled(x), expected) else "stale" for compiled in both]
        print(f"{name:<28} here {told[0]}, torch.compile {told[1]}")
        Helper.scale, method.__code__ = method, code

"""Lazy tensors: an operation is noted, not done; who reads a value has all that it needs done."""

from collections import Counter

import torch
from program import Program, StandIn, abstract
from torch.utils._pytree import tree_map

counts = Counter()
compiled = {}  # text of a program -> the program; a real one would make machine code of it


class Lazy(StandIn):
    def __init__(self, value=None, meta=None, recipe=None):
        self.value, self.recipe = value, recipe
        self.meta = value.to("meta") if meta is None else meta

    def operation(self, target, *args, **kwargs):
        counts["recorded"] += 1
        wrap = lambda a: Lazy(a) if isinstance(a, torch.Tensor) else a
        args, kwargs = tree_map(wrap, (args, kwargs))
        return Lazy(None, abstract(target, args, kwargs), (target, args, kwargs))

    def read(self):
        if self.value is None:
            program, known = Program(), {}
            program.output = self.write(program, known)
            leaves = [t.value for t in known if t.value is not None]
            text = f"{program} for {[t.shape for t in leaves]}"
            if text not in compiled:
                counts["compiled"] += 1
                compiled[text] = program
            self.value = compiled[text](*leaves)
        return self.value

    def write(self, program, known):
        """The name of this value in the program, behind the lines that it needs."""
        if self not in known:
            if self.value is not None:
                known[self] = program.input()
            else:
                named = lambda a: a.write(program, known) if isinstance(a, Lazy) else a
                target, args, kwargs = tree_map(named, self.recipe)
                known[self] = program.add(target, *args, **kwargs)
        return known[self]

    shape = property(lambda self: self.meta.shape)
    item = lambda self: self.read().item()
    __bool__ = lambda self: bool(self.read())


def lazy(f):
    """Runs f each time it is called, on lazy tensors; the result is read at the end."""
    return lambda *inputs: f(*map(Lazy, inputs)).read()


if __name__ == "__main__":
    from limits import branch, check

    check(lazy(branch), branch)
    print(*compiled, sep="\n\n")
    print(dict(counts))

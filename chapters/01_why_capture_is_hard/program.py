"""What most of the six write down: a graph in its plainest form, one operation a line."""

import operator

import torch
from torch.utils._pytree import tree_leaves, tree_map


class Name(str):
    """The name of a value, where an operation would have the value itself."""

    __repr__ = str.__str__


def shown(value):
    if isinstance(value, torch.Tensor):
        return f"tensor{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(shown, value))})"
    return getattr(value, "__name__", None) or repr(value)


class Program:
    def __init__(self):
        self.inputs, self.lines, self.output = [], [], None

    def input(self):
        self.inputs.append(Name(f"x{len(self.inputs)}"))
        return self.inputs[-1]

    def add(self, target, *args, **kwargs):
        name = Name(f"v{len(self.lines)}")
        self.lines.append((name, target, args, kwargs))
        return name

    def __call__(self, *values):
        known = dict(zip(self.inputs, values))
        given = lambda tree: tree_map(lambda a: known[a] if type(a) is Name else a, tree)
        for name, target, args, kwargs in self.lines:
            known[name] = target(*given(args), **given(kwargs))
        return given(self.output)

    def __str__(self):
        lines = [f"inputs {', '.join(self.inputs)}"]
        for name, target, args, kwargs in self.lines:
            given = [*map(shown, args), *(f"{k}={shown(v)}" for k, v in kwargs.items())]
            lines.append(f"{name} = {target.__name__}({', '.join(given)})")
        return "\n".join([*lines, f"return {shown(self.output)}"])


class StandIn:
    """What a function may be given for a tensor: each operation on it calls `operation`."""

    def __getattr__(self, name):
        method = getattr(torch.Tensor, name)
        return lambda *args, **kwargs: self.operation(method, self, *args, **kwargs)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        first = next(a for a in tree_leaves(args) if isinstance(a, cls))
        return first.operation(func, *args, **kwargs or {})


def abstract(target, args, kwargs):
    """Shape and dtype of a result: torch runs the operation on tensors without data."""
    if target.__name__.endswith("_"):
        raise NotImplementedError(f"{target.__name__} writes to a tensor")
    meta = lambda a: a.meta if isinstance(a, StandIn) else a
    return target(*tree_map(meta, args), **tree_map(meta, kwargs))


for _name in "add sub mul truediv matmul neg abs gt lt getitem".split():
    _target = getattr(operator, _name)
    _first = lambda self, *other, target=_target: self.operation(target, self, *other)
    _second = lambda self, other, target=_target: self.operation(target, other, self)
    setattr(StandIn, f"__{_name}__", _first)
    setattr(StandIn, f"__r{_name}__", _second)

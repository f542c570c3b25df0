"""Small programs written by hand."""

import torch

from minicompiler.ir import ops
from minicompiler.ir.nodes import (
    BufferRef,
    Computed,
    Layout,
    Pointwise,
    Program,
    Reduction,
    Scatter,
)
from minicompiler.symbolic.expr import as_expr
from minicompiler.symbolic.shapes import contiguous_strides

CPU = torch.device("cpu")
F32, I64 = torch.float32, torch.int64


def sizes(*numbers):
    return tuple(map(as_expr, numbers))


def layout(*size, dtype=F32, stride=None):
    """Contiguous unless strides are given."""
    strides = contiguous_strides(sizes(*size)) if stride is None else sizes(*stride)
    return Layout(CPU, dtype, sizes(*size), strides)


def loads(name, *size, dtype=F32):
    """The body that reads buffer `name` in its own shape."""
    where = layout(*size, dtype=dtype)
    return lambda i: ops.load(name, where.index(i))


def pointwise(name, body, *size, dtype=F32, into=None):
    return Computed(name, layout(*size, dtype=dtype), Pointwise(sizes(*size), body), into)


def reduction(name, kind, body, size, folded, dtype=F32):
    loop = Reduction(sizes(*size), sizes(*folded), kind, body)
    return Computed(name, layout(*size, dtype=dtype), loop)


def scatter(name, target, body, ranges, size, mode="store", into=None, dtype=F32):
    loop = Scatter(sizes(*ranges), target, body, mode)
    return Computed(name, layout(*size, dtype=dtype), loop, into)


def program(*operations, outputs=None, **inputs):
    """Inputs by name; the outputs are, if not said, what the last operation defines."""
    last = operations[-1]
    given = [(n, x) for n, x in zip(last.names, last.layouts)] if outputs is None else outputs
    refs = tuple(BufferRef(*x) if isinstance(x, tuple) else x for x in given)
    return Program("graph", dict(inputs), operations=list(operations), outputs=refs)

"""Node by node through a functional ATen graph."""

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

from ..errors import InternalError
from ..ir.dtypes import recorded
from ..ir.nodes import BufferRef, Computed, Program, variables
from ..report.record import current as record
from ..settings import config
from ..symbolic.expr import Expr, as_expr
from ..symbolic.shapes import TensorSpec, spec_of
from . import creation, indexing, lazy, pointwise, reductions, reshaping  # noqa: F401
from .externs import call, is_extern, reference, stored
from .lazy import Box, Lazy, building, building_program, in_memory
from .promotion import SUPPORTED, cast
from .table import BY_NAME, LOWERINGS, VIEWS, aten

# every operator that some lowering above is registered for
KNOWN = frozenset(LOWERINGS)


def lower(gm: fx.GraphModule, name: str = "graph") -> Program:
    """The program of a functional ATen graph; Unsupported where it must run eagerly."""
    values: dict[fx.Node, Any] = {}
    copies: list[fx.Node] = []  # the writes to inputs, which end the graph
    with building_program(name):
        for node in gm.graph.nodes:
            building().node = node
            if node.op == "placeholder":
                values[node] = _placeholder(node)
            elif node.op == "get_attr":
                values[node] = _constant(node, getattr(gm, str(node.target)))
            elif node.op == "call_function" and node.target is aten.copy_.default:
                copies.append(node)
                values[node] = values[node.args[0]]
            elif node.op == "call_function":
                values[node] = _call(node, values)
            elif node.op == "output":
                _finish(node, copies, values)
        return building().program


def _placeholder(node: fx.Node) -> Any:
    """An input under its own name; data pointers include the storage offset, so it begins at 0."""
    val = node.meta["val"]
    if not isinstance(val, TensorSpec):
        building().program.inputs[node.name] = as_expr(val) if type(val) is int else val
        return val
    building().program.inputs[node.name] = val.layout
    return in_memory(BufferRef(node.name, val.layout), val.stride)


def _constant(node: fx.Node, tensor: torch.Tensor) -> Lazy:
    """A tensor that the graph holds; of one element it is a number, since tracing."""
    layout = spec_of(tensor).layout
    building().program.constants[node.name] = tensor
    return in_memory(BufferRef(node.name, layout), layout.stride)


def _call(node: fx.Node, values: dict[fx.Node, Any]) -> Any:
    val = node.meta["val"]
    if node.target is operator.getitem:
        source, position = node.args
        assert isinstance(source, fx.Node)
        return values[source][position]
    if isinstance(val, (int, float, bool, Expr)):
        return val  # arithmetic on sizes, which tracing has done
    target: Any = node.target
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: _settled(values[n]))
    rule = "check" not in node.meta and (LOWERINGS.get(target) or BY_NAME.get(str(target)))
    made = NotImplemented
    if rule and (target in VIEWS or _plain(val, (*args, *kwargs.values()))):
        made = rule(*args, **kwargs)
    if made is NotImplemented:
        return call(target, args, kwargs)
    record().count("native_ops")
    return _checked(node, made, val)


def _settled(x: Any) -> Any:
    """A reduction is run before its first reader, outputs nobody reads never."""
    for item in x if isinstance(x, (list, tuple)) else (x,):
        if isinstance(item, Lazy) and not item.box.inlines:
            building().realise(item.box)
    return x


def _plain(val: Any, args: Any) -> bool:
    """Whether generated code can compute this: it knows every dtype, on one device."""
    found = [x for x in tree_leaves((val, args)) if isinstance(x, TensorSpec | Lazy)]
    return len({x.device for x in found}) == 1 and all(x.dtype in SUPPORTED for x in found)


def _checked(node: fx.Node, made: Any, val: Any) -> Any:
    if isinstance(made, tuple):
        return tuple(_checked(node, x, v) for x, v in zip(made, val))
    if (made.dtype, made.size) != (val.dtype, val.size):
        found = f"{made.dtype}{list(made.size)}, not {val.dtype}{list(val.size)}"
        raise InternalError(f"lowering of {node.target} made {found}")
    box: Box = made.box
    if box.inlines and not made.views and _worth_storing(node, box):
        building().realise(box)
    return replace(made, stride=val.stride)


# ----------------------------------------------------------------------------------- what is stored


def readers(node: fx.Node) -> list[fx.Node]:
    """Who reads the values of `node`, directly or through views."""
    found = []
    for user in node.users:
        if user.target in VIEWS or user.target is operator.getitem:
            found += readers(user)
        else:
            found.append(user)
    return found


def _worth_storing(node: fx.Node, box: Box) -> bool:
    """Whether a fresh pointwise value gets a buffer at once, rather than being computed in each of
    its readers. Fusion may still keep it out of memory."""
    if not config.inline_pointwise or box.weight > lazy.LONG or len(box.reads) > lazy.MANY_READS:
        return True
    users = readers(node)
    if len(users) < 2 or not box.reads:
        return False
    stored_anyway = any(
        user.op == "output" or is_extern(user.target) or user.target not in LOWERINGS
        for user in users
    )
    # who loads it reads one buffer, who computes it again reads all of `reads`
    return stored_anyway or box.weight >= lazy.COSTLY or len(box.reads) > 1


# ------------------------------------------------------------------------------- outputs, mutations


def _finish(node: fx.Node, copies: Sequence[fx.Node], values: dict[fx.Node, Any]) -> None:
    """Outputs in eager's strides; then the writes to inputs, which nothing reads any more."""
    inputs = [c.args[0] for c in copies]
    written = {values[x].box.ref.name for x in inputs if isinstance(x, fx.Node)}
    (results,) = node.args
    given: list[Any] = list(results) if isinstance(results, (list, tuple)) else [results]
    outputs = {r: values[r] for r in given if isinstance(r, fx.Node)}
    for r, x in outputs.items():
        if isinstance(x, Lazy) and r not in copies:
            outputs[r] = reference(x, exact=True)
            if outputs[r].name in written:  # what the input held before
                outputs[r] = reference(stored(x), exact=True)
    writes = {c: _write(c, values, written) for c in copies}
    for c, write in writes.items():  # all new values were read before the first of these
        building().node = c
        building().emit(write)
        outputs[c] = BufferRef(write.name, write.layout)
    building().program.outputs = tuple(outputs.get(r, r) for r in given)


def _write(node: fx.Node, values: dict[fx.Node, Any], written: set[str]) -> Computed:
    """copy_(input, value) as a loop that writes into the input."""
    building().node = node
    into, new = node.args[:2]
    assert isinstance(into, fx.Node) and isinstance(new, fx.Node)
    source, input_ = values[new], values[into]
    write = _copy(source, input_)
    loads, place = recorded(write, *variables(write.loop), building().program.layouts())
    elsewhere = (name in written and (name, at) != (write.into, place) for name, at in loads.loads)
    if loads.checks or any(elsewhere):
        # it may raise, or reads an input elsewhere than where it writes: keep the new value apart
        write = _copy(stored(source), input_)
    return write


def _copy(source: Lazy, into: Lazy) -> Computed:
    ref, dtype = into.box.ref, into.dtype
    value = lazy.each(lambda v: cast(v, source.dtype, dtype), source, like=into)
    assert ref is not None and value.box.loop is not None
    return Computed(building().fresh(), ref.layout, value.box.loop, into=ref.name)

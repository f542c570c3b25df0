"""autograd.Function where gradients are wanted: one node of the graph.

Its `forward` and its `backward` are evaluated where it is applied, like any code of the user's, so
what they read is guarded and what they must not do is refused. What they made of the graph is then
cut out, and becomes the two methods of a Function that calls nothing but torch.
"""

# ruff: noqa: I001  (imports fill their lines)

from typing import Any

import torch
from torch import fx
from torch.utils.checkpoint import checkpoint

from . import data_model as model, frame_hook, polyfills
from ..symbolic.fake import storage
from .graph import as_module, version
from .calls import rule
from .values import E, FALSE, NONE, TRUE, Tensor, Tuple, Value, const_bool, refuse


def with_gradients(ev: E, cls: Value, args: tuple[Value, ...]) -> Value:
    """`cls.apply(*args)`. Raises Unsupported where the methods do more than compute."""
    given = [a for a in args if isinstance(a, Tensor)]
    old, before = set(ev.graph.graph.nodes), _writes(ev, given)
    needs = Tuple([const_bool(isinstance(a, Tensor) and a.fake.requires_grad) for a in args])
    found = model.call_real(ev, polyfills.forward_and_backward, cls, needs, *args)
    out, *parts = model.unpack(ev, found)
    tangents, grads, constant = (model.unpack(ev, part) for part in parts)
    outs = [out] if isinstance(out, Tensor) else model.unpack(ev, out)
    if {storage(t.fake) for t in given} & {storage(_node(t).meta["val"]) for t in outs}:
        refuse(f"the autograd.Function {cls.real.__name__} returns an input, or a view of it")
    method = cls.real.backward  # which runs later, and reads then what is there
    outside = map(method.__globals__.get, method.__code__.co_names)
    if any(isinstance(v, list | dict | set) for v in outside):
        refuse(f"the backward of {cls.real.__name__} reads what may change before it runs")
    if _writes(ev, given) != before or len(grads) != len(args):
        refuse(f"the autograd.Function {cls.real.__name__} does more than compute")
    made = _made(ev, old)
    cut = made.index(_node(tangents[0]))
    first, second = made[1:cut], made[cut + len(tangents) : -1]  # without the switches of no_grad
    wanted = [None if g is NONE else _node(g) for g, a in zip(grads, args) if isinstance(a, Tensor)]
    incoming = [_node(t) for t in tangents]
    inputs = [t.node for t in given]
    inputs += [n for n in _read(made, []) if n not in {*made, *inputs}]
    saved = [n for n in _read(second, wanted) if n not in {*second, *incoming}]
    forward = _cut(first, inputs, [*map(_node, outs), *saved])
    backward = _cut(second, [*saved, *incoming], wanted + [None] * (len(inputs) - len(given)))
    fixed = [k for k, out in enumerate(outs) if out in constant]
    apply = _applied(cls.real.__name__, forward, backward, len(outs), fixed)
    return _instead(ev, made, apply, inputs, isinstance(out, Tensor))


@rule(checkpoint)
def _checkpoint(ev: E, f: Value, *args: Value, use_reentrant: Value = TRUE, **rest: Value) -> Value:
    """Activation checkpointing: one node that calls it, on what `f` made of the graph."""
    same_draws = rest.pop("preserve_rng_state", TRUE) is TRUE
    given = [a for a in args if isinstance(a, Tensor)]
    old, before = set(ev.graph.graph.nodes), _writes(ev, given)
    found = model.call(ev, f, list(args), rest)
    if not torch.is_grad_enabled():
        return found
    reached = use_reentrant is FALSE or any(t.fake.requires_grad for t in given)
    if _writes(ev, given) != before or not reached or not isinstance(found, Tensor | Tuple):
        refuse("a checkpoint of more than computation, or of what needs no gradient")
    made = _made(ev, old)
    inputs = [n for n in _read(made, []) if n not in made]
    outs = [found] if isinstance(found, Tensor) else model.unpack(ev, found)
    body = _cut(made, inputs, list(map(_node, outs)))

    def apply(*tensors: Any) -> Any:
        return plainly(body.forward, *tensors, use_reentrant=False, preserve_rng_state=same_draws)

    return _instead(ev, made, apply, inputs, isinstance(found, Tensor))


plainly = checkpoint.__wrapped__  # type: ignore[attr-defined]  # without torch._dynamo


def _made(ev: E, old: set[fx.Node]) -> list[fx.Node]:
    return [n for n in ev.graph.graph.nodes if n not in old and n.op != "placeholder"]


def _instead(ev: E, made: list[fx.Node], apply: Any, inputs: list[fx.Node], one: bool) -> Value:
    """The result of a node in the place of those made: a tuple, or the one tensor in it."""
    for node in reversed(made):
        ev.graph.graph.erase_node(node)
    known = [ev.graph.known[id(n.meta["val"])] for n in inputs]
    result = model.unpack(ev, ev.graph.call(ev, apply, known))
    return result[0] if one else Tuple(result)


def _writes(ev: E, given: list[Tensor]) -> tuple[int, int]:
    """How many objects and how often tensors from outside were written."""
    fakes = [t.fake for t in (*given, *ev.graph.inputs)]
    versions = (version(fake) - ev.graph.versions.get(id(fake), 0) for fake in fakes)
    return len(ev.effects.order), sum(versions)


def _node(v: Value) -> fx.Node:
    return v.node if isinstance(v, Tensor) else refuse("an autograd.Function of more than tensors")


def _read(nodes: list[fx.Node], more: list[fx.Node | None]) -> list[fx.Node]:
    """What they take, each once, in order."""
    taken = [i for n in nodes for i in n.all_input_nodes] + [n for n in more if n is not None]
    return list(dict.fromkeys(taken))


def _cut(nodes: list[fx.Node], inputs: list[fx.Node], outputs: list[Any]) -> fx.GraphModule:
    graph = fx.Graph()
    table = {n: graph.placeholder(f"{n.name}_{k}") for k, n in enumerate(inputs)}
    for n in nodes:
        table[n] = graph.node_copy(n, table.__getitem__)
    graph.output(tuple(None if n is None else table[n] for n in outputs))
    made = as_module(graph)
    frame_hook.skip(type(made).forward.__code__)
    return made


def _applied(
    name: str, first: fx.GraphModule, second: fx.GraphModule, count: int, constant: list[int]
) -> Any:
    def forward(ctx: Any, *inputs: Any) -> Any:
        made = first.forward(*inputs)
        ctx.save_for_backward(*made[count:])
        ctx.mark_non_differentiable(*(made[k] for k in constant))
        return made[:count]

    def backward(ctx: Any, *grads: Any) -> Any:
        return second.forward(*ctx.saved_tensors, *grads)

    def apply(*inputs: Any) -> Any:
        return captured.apply(*inputs)

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    captured: Any = type(name, (torch.autograd.Function,), methods)
    apply.__name__ = name
    return apply

"""Run a program eagerly and through the AOT stage, and compare everything a user could notice."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from minicompiler import aot
from minicompiler.errors import Unsupported
from minicompiler.runtime.autograd import bind


def captured(fn: Callable[..., Any], count: int) -> fx.GraphModule:
    """What capture would hand over, as one call: its body runs on the fakes all the same."""
    graph = fx.Graph()
    inputs = [graph.placeholder(f"input_{i}") for i in range(count)]
    call = graph.call_function(as_tuple(fn), tuple(inputs))
    call.meta["stack"] = f"test.py:1 in {getattr(fn, '__name__', 'fn')}"
    graph.output(call)
    return fx.GraphModule(torch.nn.Module(), graph)


def as_tuple(fn: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    def run(*inputs: Any) -> tuple[Any, ...]:
        out = fn(*inputs)
        return tuple(out) if isinstance(out, list | tuple) else (out,)

    return run


def interpreted(module: fx.GraphModule) -> Callable[[list[Any]], list[Any]]:
    return lambda inputs: list(module(*inputs))


@dataclass
class Run:
    call: Callable[..., Any]
    joint: aot.Joint
    parts: aot.Partitioned


def compiled(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    rewrite: Callable[[fx.GraphModule], fx.GraphModule] | None = None,
) -> Run:
    joint = aot.joint_graph(captured(fn, len(inputs)), inputs)
    if rewrite is not None:
        joint = joint.rewritten(rewrite)
    parts = aot.partition(joint)
    assert_functional(parts)
    backward = parts.backward and functools.partial(ready, parts)
    return Run(bind(parts.signature, interpreted(parts.forward), backward), joint, parts)


def ready(parts: aot.Partitioned, layouts: aot.Layouts) -> Any:
    """As pipeline.Backward, without compiling."""
    copied = tuple(
        s and tuple(map(int, t.stride)) for s, t in zip(layouts, parts.signature.tangents)
    )
    try:
        return layouts, interpreted(aot.backward_for(parts, layouts))
    except Unsupported:
        return copied, interpreted(aot.backward_for(parts, copied))


def assert_functional(parts: aot.Partitioned) -> None:
    for module in filter(None, (parts.forward, parts.backward)):
        module.graph.lint()
        calls = [n for n in module.graph.nodes if n.op == "call_function"]
        writers = [
            n for n in calls if getattr(n.target, "_schema", None) and n.target._schema.is_mutable
        ]
        assert all(n.target is torch.ops.aten.copy_.default for n in writers), writers
        assert calls[len(calls) - len(writers) :] == writers, "a write before the end"
        assert module is parts.forward or not writers
        for node in module.graph.nodes:
            assert node.op == "output" or "val" in node.meta, node


def clones(inputs: Sequence[Any], nonleaf: bool = False) -> list[Any]:
    """Copies that alias one another as the originals do."""
    storages: dict[int, torch.UntypedStorage] = {}
    copies: list[Any] = []
    for x in inputs:
        if not isinstance(x, Tensor):
            copies.append(x)
            continue
        memory = x.untyped_storage()
        mine = storages.setdefault(memory._cdata, memory.clone())
        copy = torch.empty(0, dtype=x.dtype, device=x.device).set_(
            mine, x.storage_offset(), x.shape, x.stride()
        )
        copy.requires_grad_(x.requires_grad)
        copies.append(copy)
    if nonleaf:
        copies = [
            c.view_as(c) * 1 if isinstance(c, Tensor) and c.requires_grad else c for c in copies
        ]
    return copies


def same(a: Any, b: Any, exact: bool = True) -> None:
    assert (a is None) == (b is None)
    if not isinstance(a, Tensor):
        assert type(a) is type(b) and a == b
        return
    assert (a.shape, a.dtype, a.requires_grad) == (b.shape, b.dtype, b.requires_grad)
    a, b = a.detach(), b.detach()
    assert (
        all(n == 1 or s == t for n, s, t in zip(a.shape, a.stride(), b.stride())) or not a.numel()
    ), (
        a.stride(),
        b.stride(),
    )
    tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(b, a, equal_nan=True, **tolerance)


def aliases(tensors: Sequence[Any]) -> list[list[bool]]:
    memory = [t.untyped_storage()._cdata if isinstance(t, Tensor) else id(t) for t in tensors]
    return [[x == y for y in memory] for x in memory]


def run_both(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    exact: bool = True,
    nonleaf: bool = False,
    seed: int = 1,
    rewrite: Callable[[fx.GraphModule], fx.GraphModule] | None = None,
    identity: bool = True,
) -> Run:
    """Outputs, gradients, inputs afterwards, aliasing, versions: all as eager has them."""
    state = torch.get_rng_state()
    example = clones(inputs, nonleaf)
    before = [x.clone() if isinstance(x, Tensor) else x for x in example]
    run = compiled(fn, example, rewrite)
    assert torch.equal(state, torch.get_rng_state()), "tracing draws no numbers"
    for x, y in zip(example, before):
        same(x.detach() if isinstance(x, Tensor) else x, y.detach() if isinstance(y, Tensor) else y)

    sides = []
    for call in (as_tuple(fn), run.call):
        mine = clones(inputs)
        leaves = [x for x in mine if isinstance(x, Tensor) and x.requires_grad]
        given = [
            x * 1 if nonleaf and isinstance(x, Tensor) and x.requires_grad else x for x in mine
        ]
        versions = [x._version for x in given if isinstance(x, Tensor)]
        torch.manual_seed(seed)
        outs = call(*given)
        grown = [
            x._version > v for x, v in zip([x for x in given if isinstance(x, Tensor)], versions)
        ]
        wanted = [o for o in outs if isinstance(o, Tensor) and o.requires_grad]
        tensors = [x for x in given if isinstance(x, Tensor)]
        wanted += [  # inputs that autograd has seen change
            x
            for x, more in zip(tensors, grown)
            if more and x.grad_fn is not None and not any(x is w for w in wanted)
        ]
        torch.manual_seed(5)
        tangents = [torch.randn_like(o) for o in wanted]
        if leaves and wanted:
            torch.autograd.backward(wanted, tangents)
        grads = [x.grad for x in leaves]
        sides.append((outs, given, grads, grown))
    (outs, given, grads, grown), (outs2, given2, grads2, grown2) = sides
    assert len(outs) == len(outs2) and all(more2 or not more for more, more2 in zip(grown, grown2))
    for a, b in [*zip(outs, outs2), *zip(given, given2), *zip(grads, grads2)]:
        same(a, b, exact)
    assert aliases([*outs, *given]) == aliases([*outs2, *given2])
    identical = lambda xs: [
        [x is y for y in xs if isinstance(y, Tensor)] for x in xs if isinstance(x, Tensor)
    ]
    assert not identity or identical([*outs, *given]) == identical([*outs2, *given2])
    return run

"""One operator, decomposed as far as the rules go, against eager and against float64."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx

from minicompiler.decompositions import RULES, decompose
from minicompiler.symbolic.fake import FakeMode
from minicompiler.symbolic.shapes import spec_of

HALF = (torch.bfloat16, torch.float16)


def over(f: Callable[[Any], Any], leaf: Any, x: Any) -> Any:
    if isinstance(x, leaf):
        return f(x)
    if isinstance(x, list | tuple):
        return type(x)([over(f, leaf, item) for item in x])
    return x


def graph_of(op: Any, args: Any, kwargs: Any) -> tuple[fx.GraphModule, list[Tensor]]:
    """A graph of one call, with everything that a graph of the AOT stage says about it."""
    graph, mode, tensors = fx.Graph(), FakeMode(), []

    def place(t: Tensor) -> fx.Node:
        node = graph.placeholder(f"x{len(tensors)}")
        node.meta["val"] = mode.fake(t).spec
        tensors.append(t)
        return node

    node = graph.call_function(op, over(place, Tensor, tuple(args)), kwargs)
    with torch.no_grad():
        node.meta["val"] = over(spec_of, Tensor, op(*args, **kwargs))
    graph.output(node)
    return fx.GraphModule(torch.nn.Module(), graph), tensors


def check(
    op: Any,
    *args: Any,
    tolerance: float | None = None,
    against_eager: bool = False,
    **kwargs: Any,
) -> fx.GraphModule:
    """The decomposed operator gives eager's values, dtypes, sizes and strides. In float32 it may be
    as far from float64 as eager is, or `tolerance`; in half precision it agrees to its rounding."""
    assert op in RULES, op
    graph, tensors = graph_of(op, args, kwargs)
    new = decompose(graph, known=())
    calls = [n.target for n in new.graph.nodes if n.op == "call_function"]
    assert op not in calls, f"{op} stayed"
    rest = [c for c in calls if c in RULES and c is not torch.ops.aten.pow.Tensor_Scalar]
    assert not rest, rest
    with torch.no_grad():
        mine, eager = new(*tensors), op(*args, **kwargs)
        widened = over(lambda t: t.double() if t.is_floating_point() else t, Tensor, args)
        try:
            exact = eager if against_eager else op(*widened, **kwargs)
        except RuntimeError:
            exact = eager
    same(mine, eager, exact, tolerance)
    return new


def same(mine: Any, eager: Any, exact: Any, tolerance: float | None) -> None:
    if not isinstance(eager, Tensor):
        assert isinstance(eager, list | tuple) == isinstance(mine, list | tuple)
        for parts in (
            zip(mine, eager, exact, strict=True) if isinstance(eager, list | tuple) else ()
        ):
            same(*parts, tolerance)
        return
    if mine is None:
        return  # masked out: eager's value means nothing
    assert (mine.dtype, mine.shape) == (eager.dtype, eager.shape), (mine.dtype, eager.dtype)
    strides = zip(mine.shape, mine.stride(), eager.stride())
    assert not mine.numel() or all(n == 1 or a == b for n, a, b in strides), (
        mine.shape,
        mine.stride(),
        eager.stride(),
    )
    if not mine.is_floating_point():
        assert torch.equal(mine, eager)
        return
    if tolerance is None:
        tolerance = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 1e-3}.get(
            mine.dtype, 8e-3
        )
    scale = exact.abs().nan_to_num(0, 0, 0).amax().item() if exact.numel() else 0
    torch.testing.assert_close(
        mine.double(),
        exact.double(),
        rtol=tolerance,
        atol=tolerance * max(scale, 1e-3),
        equal_nan=True,
    )

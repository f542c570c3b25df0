"""A graph of ATen calls while it is written, with the fake of every value."""

import operator
from typing import Any, cast

from torch import Tensor, fx

from ..settings import config
from .fake import FakeMode, aten, substitute
from .shapes import TensorSpec

# they give a view where they can
OR_COPY = {aten.reshape.default, aten._unsafe_view.default}


def is_view(node: fx.Node) -> bool:
    return node.target in OR_COPY or getattr(node.target, "is_view", False)


# they look at values, and raise where these are out of range
RAISES = (*"index gather take embedding scatter nll_loss multinomial floor_div remainder".split(),)


def remove_dead(graph: fx.Graph) -> None:
    """Under fallback_random every draw stays: it moves the generator on. What has no result is a
    check, and so is what may raise where nobody reads its result."""

    def stays(node: fx.Node) -> bool:
        raises = getattr(node.target, "__name__", "").startswith(RAISES)
        if raises and not node.users and node.meta.get("phase") != "backward":
            node.meta["effect"] = node.meta["check"] = True
        acts = node.meta.get("effect") and (config.fallback_random or not node.meta["val"])
        return bool(acts) or "check" in node.meta or node.op in ("placeholder", "output")

    graph.eliminate_dead_code(stays)


class Emitter:
    """An fx graph that grows. Fakes are kept by node, or made of what its meta says."""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.mode = FakeMode()
        self.marks: dict[str, Any] = {}  # goes to the meta of what is emitted
        self._fakes: dict[fx.Node, Any] = {}

    def fake(self, node: fx.Node) -> Any:
        if node not in self._fakes:
            self._fakes[node] = substitute(node.meta["val"], TensorSpec, self.mode.fake)
        return self._fakes[node]

    def describe(self, node: fx.Node, fake: Any) -> fx.Node:
        self._fakes[node] = fake
        node.meta = {**self.marks, "val": substitute(fake, Tensor, lambda f: f.spec)}
        return node

    def call(
        self, op: Any, *args: Any, outs: Any = None, effect: bool = False, **kwargs: Any
    ) -> Any:
        """-> a node; nested lists of nodes (None where the operator gives none) for several
        results. `outs`: the fakes of the results where they are known."""
        if outs is None:
            outs = self.infer(op, args, kwargs)
        node = self.describe(self.graph.call_function(op, args, kwargs), outs)
        if effect:
            node.meta["effect"] = True
        return self._unpack(node, outs)

    def _unpack(self, node: fx.Node, outs: Any) -> Any:
        """Attention returns numbers besides tensors: they are known and need no node."""
        if not isinstance(outs, list | tuple):
            return node
        items: list[Any] = []
        for i, out in enumerate(outs):
            if isinstance(out, Tensor | list | tuple):
                item = self.graph.call_function(operator.getitem, (node, i))
                items.append(self._unpack(self.describe(item, out), out))
            else:
                items.append(out)
        return items

    def infer(self, op: Any, args: Any, kwargs: Any) -> Any:
        """The fakes of what `op` makes of these nodes."""
        args, kwargs = substitute((tuple(args), kwargs), fx.Node, self.fake)
        return self.mode.__torch_dispatch__(op, (), args, kwargs)

    def layout(self, node: fx.Node, like: TensorSpec) -> fx.Node:
        """The same values with the strides of `like`."""
        if self.fake(node).stride() == like.stride:
            return node
        empty = self.call(aten.empty_strided.default, *like.numbers, **like.options)
        return cast(fx.Node, self.call(aten.copy.default, empty, node))

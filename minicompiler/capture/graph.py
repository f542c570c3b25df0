"""The torch-level FX graph under construction, run on fakes as it grows.

In: calls of torch functions with values. Out: `fx.GraphModule` whose placeholders are the outside
tensors in order of first use. Invariant: every node's meta has "val" (a fake or a Python value) and
"stack" (the user's line); evaluation of a call on fakes never changes a real tensor.
"""

# ruff: noqa: I001  (imports fill their lines)

import linecache
import operator
import re
from collections import deque
from collections.abc import Iterable
from typing import Any
from weakref import finalize

import torch
from torch import fx
from torch.fx.node import map_aggregate

from ..errors import Unsupported
from ..symbolic.fake import FakeMode, tensors
from .facts import NUMBERS
from .source import Source
from .values import ABSENT, E, Const, Dict, List, Sequence, Slice, Tensor, Tuple, Value
from .values import Unbuildable, calls_back, constant, describe, operators, python_value, refuse


class Watching(FakeMode):  # type: ignore[no-untyped-call]
    draws = False  # has an operator taken numbers from a random generator?
    statistics: tuple[Any, ...] = ()  # what batch norms update, though their schema does not say so

    def record(self, func: torch._ops.OpOverload, args: Any, kwargs: Any, outs: Any) -> None:
        self.draws |= torch.Tag.nondeterministic_seeded in func.tags
        if "batch_norm" in str(func) and "backward" not in str(func):
            self.statistics += args[3:5]


class CapturedGraph:
    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.mode = Watching()
        self.inputs: list[Tensor] = []
        self.known: dict[int, Tensor] = {}  # id(fake) -> its value
        self.operations = 0
        self.versions: dict[int, int] = {}  # id(fake) of inputs -> version at entry
        self.uncounted: list[Tensor] = []  # `.data`, whose writes autograd does not see

    def input(self, real: torch.Tensor, source: Source) -> Tensor:
        """A placeholder for an outside tensor, its fake a leaf where the real one is."""
        name = "".join(c if c.isalnum() else "_" for c in repr(source)).strip("_").lower()
        last = self.inputs[-1].node if self.inputs else self.graph._root
        with self.graph.inserting_after(last):
            node = self.graph.placeholder(name)
        node.target = node.name  # unlike any other
        # In inference mode a fake that is none counts writes; outside it, one that is refuses them.
        with torch.inference_mode(real.is_inference() and not torch.is_inference_mode_enabled()):
            fake = self.mode.fake(real)
        node.meta.update(val=fake, source=source)
        made = Tensor(node, fake, type(real)).outside(real, source)
        self.inputs.append(made)
        self.known[id(fake)] = made
        self.versions[id(fake)] = version(fake)
        return made

    def call(
        self, ev: E, target: Any, args: Iterable[Value], kwargs: Any = None, keep: bool = False
    ) -> Value:
        """Run `target` (a function, or the name of a tensor method) on fakes and record it. What
        returns no tensor is a constant and leaves no node, unless `keep` says that it acts."""
        ev.idle = 0
        fx_args = tuple(self.argument(ev, a) for a in args)
        fx_kwargs = {k: self.argument(ev, v) for k, v in (kwargs or {}).items()}
        fake_args, fake_kwargs = fx.map_arg((fx_args, fx_kwargs), lambda n: n.meta["val"])
        run = getattr(torch.Tensor, target) if isinstance(target, str) else target
        try:
            with self.mode:
                out = run(*fake_args, **fake_kwargs)
        except Unsupported:
            raise
        except Exception as error:
            # Eager reaches the same error at the same place, once the instruction runs for real.
            name = getattr(target, "__name__", target)
            refuse(f"{name} raises {type(error).__name__}: {error}")
        for made in self.uncounted:
            if version(made.fake) > 0:
                raise Unbuildable(made.born, "writes through .data")
        if not keep and not tensors(out) and out is not None:
            return ev.wrap(out, None)
        if target is operator.pow and not isinstance(fx_args[0], fx.Node):
            target = torch.pow  # torch.fx prints -1 ** x without parentheses
        kind = "call_method" if isinstance(target, str) else "call_function"
        node = self.graph.create_node(kind, target, fx_args, fx_kwargs)
        node.meta.update(val=out, stack=ev.where())
        self.operations += 1
        return self.result(ev, node, out)

    def result(self, ev: E, node: fx.Node, out: Any) -> Value:
        """The value of a call's result; parts of a tuple become getitem nodes."""
        if isinstance(out, torch.Tensor):
            if (known := self.known.get(id(out))) is not None:
                return known  # in place, or an operator that returned its input
            if type(out) in (torch.Tensor, torch.nn.Parameter):
                out = node.meta["val"] = self.mode.lift(out)
            self.known[id(out)] = made = Tensor(node, out)
            return made
        if not isinstance(out, tuple | list) or not tensors(out):
            return ev.wrap(out, None)
        items: list[Value] = []
        for i, part in enumerate(out):
            item = self.graph.call_function(operator.getitem, (node, i))
            item.meta.update(val=part, stack=node.meta.get("stack"))
            items.append(self.result(ev, item, part))
        return (List if isinstance(out, list) else Tuple)(items, type(out))

    def argument(self, ev: E, v: Value) -> Any:
        """A value as an argument of a node."""
        if isinstance(v, Tensor):
            return refuse("a value made inside of one node") if v.node._erased else v.node
        if isinstance(v, Const):
            return map_aggregate(v.value, plain)
        own = operators(v.cls) & {"__iter__", "__len__", "__getitem__"}
        if isinstance(v, Sequence) and not issubclass(v.cls, deque) and not own:
            items = [self.argument(ev, item) for item in v.read(ev)]
            return tuple(items) if isinstance(v, Tuple) else items
        if isinstance(v, Slice):
            return slice(*(self.argument(ev, p) for p in v.fields.values()))
        if isinstance(v, Dict) and v.cls is dict:
            return {python_value(k): self.argument(ev, x) for k, x in zip(v.keys(ev), v.values(ev))}
        why = f"{describe(v)} as an argument of a tensor operation"
        return refuse(why) if (found := constant(v)) is ABSENT or calls_back(found) else found

    def undone(self) -> list[Tensor]:
        """Inputs to be put back where the graph raises."""
        updated = [t for t in self.inputs if any(t.fake is s for s in self.mode.statistics)]
        return self.mutated() + updated

    def mutated(self) -> list[Tensor]:
        """Inputs that the graph writes."""
        return [t for t in self.inputs if version(t.fake) != self.versions[id(t.fake)]]


def as_module(graph: fx.Graph, name: str = "GraphModule") -> fx.GraphModule:
    """The graph to be called. torch keeps the text of each for tracebacks, and ours no longer than
    they live."""
    made = fx.GraphModule({}, graph, name)
    finalize(made, _forget, made.forward.__code__.co_filename)
    return made


def _forget(file: str) -> None:
    linecache.cache.pop(file, None)
    fx.graph_module._loader.eval_cache.pop(file, None)


def plain(value: Any) -> Any:
    """Numbers of numpy as torch's operators take them; some they read in ways of their own."""
    if isinstance(value, NUMBERS) and value.dtype.char not in "bhilqBHIefd":
        refuse(f"{type(value).__name__} of numpy as an argument of a tensor operation")
    if type(value) is complex and re.search("-0[-+j]|inf|nan", repr(value)):
        refuse("a complex number that is not read as it is printed")
    return value.item() if isinstance(value, NUMBERS) else value


def version(t: torch.Tensor) -> int:
    """How often it was written; inference tensors do not tell."""
    return -1 if t.is_inference() else t._version

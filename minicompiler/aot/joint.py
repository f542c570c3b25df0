"""One captured graph of torch calls to one functional ATen graph of forward and backward.

The captured graph runs on fakes under the recorder; then the autograd engine itself runs over what
that left, into the same list of calls. So every rule of autograd is torch's own: what requires
grad, version errors, hooks, autograd.Function, checkpointing.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx._lazy_graph_module import _LazyGraphModule

from ..errors import CompilerError, Unsupported
from ..ir.signature import Constant, Fresh, Input, Mutation, Output, Signature, Step, View
from ..symbolic.emitter import remove_dead
from ..symbolic.expr import as_expr
from ..symbolic.fake import Fake, aten, storage, tensors
from ..symbolic.shapes import contiguous_strides, is_dense
from . import rng
from .functionalize import Functionalizer, Memory
from .recorder import Recorder
from .tangents import sent_on

# grad_fns that only look at their operand's memory
VIEWS = frozenset(
    f"{name}Backward{n}"
    for name in (
        "Alias AsStrided Diagonal Expand Permute ReshapeAlias Select Slice Split SplitWithSizes"
        " Squeeze T Transpose Unbind Unfold UnsafeView Unsqueeze View ViewAsComplex ViewAsReal"
    ).split()
    for n in range(5)
)


@dataclass(frozen=True, slots=True)
class Joint:
    """`module` maps primals and tangents to (results, new values of inputs that the forward writes
    itself, one gradient or None an argument). `writes` are the arguments of those new values,
    `traced` is the module as it was before it was rewritten."""

    module: fx.GraphModule
    signature: Signature
    writes: tuple[int, ...]
    traced: fx.GraphModule

    @property
    def graph(self) -> fx.Graph:
        return self.module.graph

    def rewritten(self, rewrite: Callable[[fx.GraphModule], fx.GraphModule]) -> "Joint":
        """The same contract with another graph."""
        return replace(self, module=rewrite(self.module))


class _Same(torch.autograd.Function):
    """Makes an input a non-leaf, as it is at the call, so that it may be written to."""

    @staticmethod
    def forward(ctx: Any, x: Fake) -> Fake:
        return Fake(x.meta, x.device)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """The graph's own changes of ambient state end with it; tracing draws no random numbers."""
    grad, state = torch.is_grad_enabled(), torch.get_rng_state()
    autocast = {d: torch.is_autocast_enabled(d) for d in ("cpu", "cuda")}
    try:
        with (
            torch.autograd.set_multithreading_enabled(False),
            torch.autograd.grad_mode._force_original_view_tracking(True),
        ):
            yield
    finally:
        torch.set_grad_enabled(grad)
        torch.set_rng_state(state)
        for device, enabled in autocast.items():
            torch.set_autocast_enabled(device, enabled)
        torch.clear_autocast_cache()  # of fakes


def joint_graph(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Joint:
    """Raises Unsupported where the program cannot be shown to be traced right."""
    with _undisturbed():
        try:
            try:
                return _Trace(example_inputs).run(gm)
            except RuntimeError as error:
                if "use_reentrant=True" not in str(error):
                    raise
            return _Trace(example_inputs, accumulate=True).run(gm)
        except CompilerError:
            raise
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            # most often the program's own error, which eager then raises in its own words
            raise Unsupported(f"{type(error).__name__} while tracing: {error}") from error


class _Trace:
    """`accumulate`: gradients by way of the leaves' .grad, which reentrant checkpointing asks for;
    it costs copies."""

    def __init__(self, example_inputs: Sequence[Any], accumulate: bool = False) -> None:
        self.example_inputs, self.accumulate = example_inputs, accumulate
        self.recorder = Recorder()
        self.functional = Functionalizer(self.recorder.constants)
        self.leaves = [
            self.recorder.fake(x) if isinstance(x, Tensor) else x for x in example_inputs
        ]
        self.inputs = [
            _Same.apply(f)  # type: ignore[no-untyped-call]
            if isinstance(x, Tensor) and x.requires_grad and not x.is_leaf
            else f
            for x, f in zip(example_inputs, self.leaves)
        ]
        self.metas = [getattr(x, "meta", None) for x in self.inputs]
        self.history = [x.grad_fn if isinstance(x, Fake) else None for x in self.inputs]
        self.versions = [version(x) for x in self.inputs]
        self.results: list[Fake] = []  # what the forward gives, in order

    def run(self, gm: fx.GraphModule) -> Joint:
        recorder, functional = self.recorder, self.functional
        with recorder:
            outputs = run_captured(gm, self.inputs, recorder)
        if any(isinstance(x, Fake) and x.meta is not m for x, m in zip(self.inputs, self.metas)):
            raise Unsupported("the shape of an input is changed in place")
        written = {storage(x) for call in recorder.calls for x in call.written}
        arguments = functional.start(self.leaves, written)
        for a, node in zip(arguments, functional.emit.graph.nodes):
            # parameters, buffers and data outlive the call; activations of another graph may not
            x = self.example_inputs[a.index]
            node.meta["kept"] = isinstance(x, Tensor) and x.is_leaf
        seeds = self._place_seeds()
        for call in recorder.calls:
            functional.push(call)
        forward_calls = len(recorder.calls)
        functional.emit.marks = {"stack": "", "phase": "forward"}
        kinds = self._outputs(outputs)
        mutations, writes = self._mutations()
        result_nodes = self._result_nodes()
        write_nodes = [memory.node for memory in writes.values()]

        wanted = tuple(i for i, x in enumerate(self.results) if x.requires_grad)
        frees, inside, reach = _history([self.results[i] for i in wanted])
        tangents, gradients = self._backward(wanted)
        for call in recorder.calls[forward_calls:]:
            functional.push(call)
        functional.emit.marks = {"stack": "", "phase": "backward"}
        by_input = {i: functional.read(g) for i, g in gradients.items() if g is not None}
        gradient_nodes = [by_input.get(a.index) for a in arguments]
        for device, node in seeds.items():
            count = len(recorder.drawn[device])
            node.args = (count,)
            node.meta["val"] = replace(node.meta["val"], size=(as_expr(count),))
        graph = functional.emit.graph
        graph.output((*result_nodes, *write_nodes, *gradient_nodes))
        # a gradient that was made of no tangent (zeros) comes with those whose way leads there
        sent = sent_on(graph)
        of = {i: sent[g] or reach.get(id(self.leaves[i]), ()) for i, g in by_input.items()}
        remove_dead(graph)
        mark_recomputed(graph)
        signature = Signature(
            arguments,
            kinds,
            mutations,
            visible=len(result_nodes),
            differentiable=wanted,
            tangents=tuple(t.spec for t in tangents),
            frees=tuple(frees),
            inside=tuple(inside),
            gradients=tuple(frozenset(of.get(a.index, ())) for a in arguments),
        )
        root = torch.nn.Module()
        for name, value in functional.constants.items():
            root.register_buffer(name, value, persistent=False)
        module = _LazyGraphModule(root, graph)
        return Joint(module, signature, tuple(writes), module)

    def _place_seeds(self) -> dict[torch.device, fx.Node]:
        placed = {}
        for device, fake in self.recorder.seeds.items():
            node = self.functional.emit.call(rng.seeds, 1, device=device, outs=fake)
            node.meta["phase"] = "forward"
            placed[device] = self.functional.bind(fake, node).node
        return placed

    # ------------------------------------------------------------------- outputs and mutations

    def _result(self, x: Fake) -> int:
        for i, other in enumerate(self.results):
            if other is x:
                return i
        if x.requires_grad and x.grad_fn is None:
            raise Unsupported("a leaf that requires grad is made in the graph and returned")
        self.results.append(x)
        return len(self.results) - 1

    def _outputs(self, outputs: Sequence[Any]) -> tuple[Output, ...]:
        fakes = {id(o): o for o in outputs if isinstance(o, Fake)}
        sharing = Counter(map(storage, fakes.values()))
        return tuple(self._output(o, sharing) for o in outputs)

    def _output(self, o: Any, sharing: Counter[int]) -> Output:
        if not isinstance(o, Tensor):
            return Constant(o)
        assert isinstance(o, Fake), "a real tensor left a graph of fakes"
        for i, x in enumerate(self.inputs):
            if o is x:
                return Input(i)
        shared = [
            (i, x)
            for i, x in enumerate(self.inputs)
            if isinstance(x, Fake) and storage(x) == storage(o) and looks_at(o, x)
        ]
        for i, x in shared:
            if (steps := self._steps(o, x)) is not None:
                return View(Input(i), steps, x.requires_grad and not o.requires_grad)
        for i, x in shared:
            if o.dtype != x.dtype:
                raise Unsupported("an output sees an input's memory as another dtype", "clone() it")
            place = ([*o.shape], [*o.stride()], o.storage_offset() - x.storage_offset())
            strided = (Step(aten.as_strided.default, place),)
            return View(Input(i), strided, x.requires_grad and not o.requires_grad)
        root = self.functional.home(o)[0].root
        if sharing[storage(o)] == 1 or o is root:
            return Fresh(self._result(o))
        if not looks_at(o, root):
            raise Unsupported("two outputs share memory but not their autograd history")
        detached = root.requires_grad and not o.requires_grad
        return View(Fresh(self._result(root)), self.functional.home(o)[1], detached)

    def _steps(self, o: Fake, x: Fake) -> tuple[Step, ...] | None:
        """How the program came from input `x` to its view `o`; None where it did not."""
        (memory, chain), (source, before) = self.functional.home(o), self.functional.home(x)
        follows = memory is source and chain[: len(before)] == before
        return chain[len(before) :] if follows else None

    def _mutations(self) -> tuple[tuple[Mutation, ...], dict[int, Memory]]:
        """What happens to inputs, and the memory of the arguments that the graph itself writes."""
        mutations, writes = [], dict[int, Memory]()
        for i, x in enumerate(self.inputs):
            if not isinstance(x, Fake):
                continue
            memory = self.functional.home(x)[0]
            if not memory.version:
                continue
            assert memory.argument is not None
            tracked = x.requires_grad and x.grad_fn is not self.history[i]
            if not tracked:
                writes[memory.argument] = memory
            result = self._result(x) if tracked else None
            mutations.append(Mutation(i, result, version(x) - self.versions[i] - tracked))
        return tuple(mutations), writes

    def _result_nodes(self) -> list[fx.Node]:
        """A value of its own for every result, with eager's strides."""
        emit, nodes = self.functional.emit, []
        for x in self.results:
            node = emit.layout(self.functional.read(x), x.spec)
            borrowed = self.functional.home(x)[0].argument is not None
            if borrowed or node in nodes or node.op in ("placeholder", "get_attr"):
                node = emit.call(aten.clone.default, node)
            nodes.append(node)
        return nodes

    # -------------------------------------------------------------------------------- backward

    def _backward(self, wanted: Sequence[int]) -> tuple[list[Fake], dict[int, Fake | None]]:
        """Tangents of the wanted results, and by input the gradients that the engine finds."""
        leaves = {
            i: x for i, x in enumerate(self.leaves) if isinstance(x, Fake) and x.requires_grad
        }
        if not wanted:
            return [], {}
        if not leaves:
            raise Unsupported("a result requires grad though no input does")
        tangents = []
        for n, i in enumerate(wanted):
            spec = self.results[i].spec
            stride = spec.stride if is_dense(spec) else contiguous_strides(spec.size)
            spec = replace(spec, stride=stride, offset=as_expr(0), requires_grad=False)
            tangents.append(self.recorder.fake(spec))
            self.functional.place(f"tangents_{n + 1}", tangents[-1])
        self.recorder.phase = "backward"
        roots = [self.results[i] for i in wanted]
        prods = (n for n in behind(roots) if n.name().startswith("ProdBackward"))
        if not all(n._saved_self.is_contiguous() for n in prods):
            raise Unsupported("the strides of prod's gradient depend on its values")
        inputs = () if self.accumulate else tuple(leaves.values())
        with self.recorder:
            found = _run_engine(roots, tangents, inputs) or [x.grad for x in leaves.values()]
        return tangents, dict(zip(leaves, found))


def _run_engine(roots: Sequence[Fake], tangents: Sequence[Fake], inputs: Any) -> Any:
    """Gradients of `inputs` (None where nothing leads to one); without inputs those of all leaves,
    in their .grad. torch.autograd.grad does no more, but imports sympy to do it."""
    engine: Any = torch.autograd.Variable._execution_engine
    way = {"allow_unreachable": True, "accumulate_grad": not inputs}
    return engine.run_backward(tuple(roots), tuple(tangents), False, False, inputs, **way)


def version(x: Any) -> int:
    """How often autograd has seen `x` written to; it does not look at inference tensors."""
    return x._version if isinstance(x, Fake) and not x.is_inference() else 0


def looks_at(o: Fake, base: Fake) -> bool:
    """Whether autograd, too, knows `o` as a view of `base`: the output of an autograd.Function may
    share its input's memory and yet have a gradient of its own."""
    if not o.requires_grad:
        return True
    node = o.grad_fn
    while node is not None:
        if node is base.grad_fn or getattr(node, "variable", None) is base:
            return True
        if node.name() not in VIEWS:
            return False
        node = node.next_functions[0][0]
    return False


# --------------------------------------------------------------------------- the captured graph


def run_captured(gm: fx.GraphModule, inputs: Sequence[Any], recorder: Recorder) -> Sequence[Any]:
    """The graph's outputs on these inputs; each call is recorded with the user's line."""

    class Interpreter(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if n.op in ("call_module", "get_attr"):
                raise Unsupported(f"{n.op} {n.target} in a captured graph")
            recorder.stack = n.meta.get("stack") or ""
            found = super().run_node(n)
            if recorder.stack and n.op != "output":
                _sign(found, recorder.stack)
            return found

    interpreter = Interpreter(gm)
    interpreter.extra_traceback = False  # errors are those of the operators
    outputs = interpreter.run(*inputs, enable_io_processing=False)
    return outputs if isinstance(outputs, list | tuple) else (outputs,)


def _sign(x: Any, stack: str) -> None:
    """Leave the user's line with the grad_fns that `x` brought: backward is told by them."""
    pending = [t.grad_fn for t in tensors(x) if t.grad_fn is not None]
    while pending:
        node = pending.pop()
        if "stack" not in node.metadata:
            node.metadata["stack"] = stack
            pending += [n for n, _ in node.next_functions if n is not None]


# ------------------------------------------------------------------------------ on the joint graph


def mark_recomputed(graph: fx.Graph) -> None:
    """What backward computes although forward has computed the same: activation checkpointing
    wants it so, and the partitioner must not save it after all."""
    first: dict[fx.Node, fx.Node] = {}  # the forward's node of the same value, else itself
    known: dict[Any, fx.Node] = {}
    for node in graph.nodes:
        first[node] = node
        if node.op != "call_function" or node.meta.get("effect") or node.target is rng.seeds:
            continue
        # as text, a node is its name, and 1, 1.0 and True differ
        key = node.target, repr(fx.map_arg((node.args, node.kwargs), first.__getitem__))
        if node.meta.get("phase") == "forward":
            known.setdefault(key, node)
        elif key in known:
            node.meta["recomputed"] = True
            first[node] = known[key]


# ---------------------------------------------------------------------------- what autograd shares


def behind(outputs: Sequence[torch.Tensor]) -> set[Any]:
    """The nodes of autograd that a backward of `outputs` runs."""
    nodes, pending = set(), [x.grad_fn for x in outputs]
    while pending:
        node = pending.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            pending += [following for following, _ in node.next_functions]
    return nodes


def _history(roots: Sequence[Fake]) -> tuple[list[frozenset[int]], list[frozenset[int]], Any]:
    """`frees` and `inside` of the Signature, by what autograd knows of the results, and by id
    of a leaf the roots that lead to it."""
    reach: dict[Any, set[int]] = {}  # by node, and by (node, number of its output): the roots
    for i, x in enumerate(roots):
        reach.setdefault(x.grad_fn, set()).add(i)
    frees: list[set[int]] = [set() for _ in roots]
    for node in sorted(behind(roots), key=lambda n: -n._sequence_nr()):  # the latest come first
        mine = reach.get(node, set())
        for edge in node.next_functions:
            for place in (edge, edge[0]):
                reach.setdefault(place, set()).update(mine)
        for i in mine if _saves(node) else ():
            frees[i] |= mine
    inside = [reach.get((x.grad_fn, x.output_nr), set()) - {i} for i, x in enumerate(roots)]
    leaves = {id(n.variable): mine for n, mine in reach.items() if hasattr(n, "variable")}
    return list(map(frozenset, frees)), list(map(frozenset, inside)), leaves


def _saves(node: Any) -> bool:
    """Whether a grad_fn keeps tensors, which it frees when it ran."""
    saved = (name for name in dir(type(node)) if name.startswith("_raw_saved_"))
    return node.name() == "CopySlices" or any(getattr(node, name) for name in saved)

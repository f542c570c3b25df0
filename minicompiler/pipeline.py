"""The compiler on one page: every stage, in order, with what flows between them.

    frame     --capture-->   graph of torch calls, guards, new bytecode      (capture.convert)
    graph     --aot------>   functional ATen graphs, forward and backward    (joint, decompose, cut)
    ATen      --lower---->   loop IR: a Program of loops and extern calls
    loops     --schedule->   a Plan: fused kernels, order, memory
    kernels   --codegen-->   C++ or Triton text, and a readable Python wrapper
    text      --runtime-->   something to call

A stage never imports another: what it must call elsewhere is handed to it here.
"""

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import fx

from . import aot, codegen, decompositions, lowering, report, runtime, schedule
from .capture import binding, frame_hook
from .capture.facts import overlaps
from .errors import BackendError, InternalError, Unsupported, UserError, warn, warn_once
from .ir.evaluate import evaluate
from .ir.verify import verify
from .settings import config, overriding

Graph: TypeAlias = Callable[..., Any]  # takes the graph's inputs one by one, returns a tuple
Flat: TypeAlias = Callable[[list[Any]], list[Any]]  # takes and empties a list, returns a list
Backend: TypeAlias = Callable[[fx.GraphModule, list[Any]], Graph]


def compile_graph(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Graph:
    """One captured graph, forward and backward, compiled as far as `config.stop_after` says."""
    record = report.current()
    if config.stop_after == "capture":
        return gm
    with record.stage("aot"):
        joint = aot.joint_graph(gm, list(example_inputs))
        if joint.signature.differentiable and not torch.is_grad_enabled():
            raise Unsupported(
                "turns gradients on where they are off", "enable them around the call"
            )
        joint = joint.rewritten(lambda gm: decompositions.decompose(gm, lowering.KNOWN))
        record.add("joint", joint)
        record.count("joint_nodes", len(joint.graph.nodes))
        parts = aot.partition(joint)
        record.add("partition", parts)
    forward = build(parts.forward, "forward")
    backward = parts.backward and Backward(parts)
    seeded = torch.Tag.nondeterministic_seeded  # it takes numbers from a random generator
    draws = any(seeded in getattr(n.target, "tags", ()) for n in parts.forward.graph.nodes)
    return or_as_captured(runtime.bind(parts.signature, forward, backward), gm, draws)


def build(graph: fx.GraphModule, name: str) -> Flat:
    """One functional ATen graph to something that runs on a list of tensors."""
    if config.stop_after == "aot":
        return interpreted(graph)
    record = report.current()
    with record.stage("lower"):
        program = lowering.lower(graph, name)
        if config.verify:
            verify(program)
        record.add("program", program)
    if config.stop_after in ("lower", "schedule"):
        return functools.partial(evaluate, program)
    with record.stage("schedule"):
        plan = schedule.schedule(program)
        if config.verify:
            schedule.verify_plan(plan)
        record.add("plan", plan)
    with record.stage("codegen"):
        kernels = codegen.generate(plan)
        flat = runtime.flatten(plan, kernels)
        wrapper = codegen.wrapper(plan, flat)
        record.add("kernels", kernels)
        record.add("wrapper", wrapper)
    with record.stage("build"):
        return runtime.load(plan, kernels, flat, wrapper)


class Backward:
    """The backward, compiled when tangents of such strides, or without some of them, first arrive:
    most forward passes are never followed by one.

    Called with the tangents' strides, None for an undefined one, it gives the strides that it can
    take, and what takes them. The switches and the record are those of the forward, not of the
    thread that runs the backward.
    """

    def __init__(self, parts: aot.Partitioned) -> None:
        self.parts = parts
        self.traced = [tuple(map(int, spec.stride)) for spec in parts.signature.tangents]
        self.made: dict[aot.Layouts, tuple[aot.Layouts, Flat]] = {}
        self.record, self.lock = report.current(), threading.Lock()
        self.switches = dict(vars(config))

    def __call__(self, layouts: aot.Layouts) -> tuple[aot.Layouts, Flat]:
        with self.lock, report.recording(self.record), overriding(self.switches):
            copied = tuple(s and t for s, t in zip(layouts, self.traced))  # strides as traced
            if layouts not in self.made and len(self.made) >= config.recompile_limit:
                layouts = copied
            if layouts not in self.made:
                self.made[layouts] = self._make(layouts, copied)
            return self.made[layouts]

    def _make(self, layouts: aot.Layouts, copied: aot.Layouts) -> tuple[aot.Layouts, Flat]:
        try:
            return layouts, build(aot.backward_for(self.parts, layouts), "backward")
        except Unsupported as refusal:
            if layouts != copied:
                return self._make(copied, copied)
            if config.verify:
                raise
            report.current().reason(f"the backward runs as traced: {refusal}")
        return layouts, interpreted(aot.backward_for(self.parts, layouts))


# the engine calls it where the hook may be on: a compiler that compiles itself takes minutes
frame_hook.skip(Backward.__call__.__code__, calls=True)


def interpreted(graph: fx.GraphModule) -> Flat:
    """Run an ATen graph node by node."""
    return torch.no_grad()(lambda inputs: list(graph.forward(*inputs)))


# ---------------------------------------------------------------------------------------- backends


def _under(**switches: Any) -> Backend:
    """Ours, where these switches are set; a kernel that does not build is our fault there."""

    def backend(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Graph:
        with overriding(switches):
            try:
                return compile_graph(gm, example_inputs)
            except runtime.build.BuildFailed as error:
                raise InternalError(str(error)) from error

    return backend


BACKENDS: dict[str, Backend] = {
    "auto": compile_graph,
    "eager": lambda gm, example_inputs: gm,  # capture only: the graph of torch calls, as it is
    "aot_eager": _under(stop_after="aot"),
    "interpret": _under(stop_after="lower"),
}


# stage -> switches under which it is the last one that can be at fault: for `bisect`, in order
LAST: dict[str, dict[str, Any]] = {
    "aot": {"stop_after": "aot", "python_runtime": True},
    "lower": {"stop_after": "lower", "python_runtime": True},
    "codegen": {"fusion": False, "python_runtime": True},  # a kernel a loop: nothing was decided
    "schedule": {"python_runtime": True},
    "runtime": {},
}


def _as_far_as(stage: str, **switches: Any) -> Backend:
    """Raises where the whole compiler would fall back on the captured graph."""
    return _under(**LAST[stage], verify=True, **switches)


def trials() -> list[report.Trial]:
    """The compiler run part of the way, further and further: first with eager's random numbers,
    then with our own, which only we can judge."""
    like_eager = [report.Trial(s, _as_far_as(s, fallback_random=True)) for s in LAST]
    ours = [report.Trial(s, _as_far_as(s), _as_far_as("aot")) for s in LAST if s != "aot"]
    return like_eager + ours


def backend_named(backend: str | Backend) -> Backend:
    """The backend itself; raises UserError for a name that was never registered."""
    if callable(backend):
        return backend
    if backend not in BACKENDS:
        raise UserError(f"unknown backend {backend!r}; there are {', '.join(sorted(BACKENDS))}")
    return BACKENDS[backend]


def compile_or_keep(backend: Backend, gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Graph:
    """Right or refused: a graph that our stages cannot compile runs as it was captured.

    Raises BackendError where a backend of the user's fails.
    """
    if native := runtime.extension.module():
        # guards made from now on are checked in C++ as far as possible
        binding.tensor_guard, binding.frame_guard = native.TensorGuard, native.FrameGuard
    try:
        if callable(compiled := backend(gm, list(example_inputs))):
            return compiled
        raise TypeError(f"it returned {compiled!r}, which cannot be called")
    except Unsupported as refusal:
        report.current().reason(text := f"the graph runs as captured: {refusal}")
        if isinstance(refusal, runtime.build.NoCompiler):
            warn_once(text)
    except Exception as error:
        if backend not in BACKENDS.values():
            raise BackendError(f"backend {backend!r} failed: {error}") from error
        _our_fault(gm, "compiling", error)
    return gm


def or_as_captured(compiled: Graph, gm: fx.GraphModule, draws: bool) -> Graph:
    """`compiled`; where it raises, the captured graph runs, to raise what eager raises.

    The graph's inputs are written last, so a compiled graph that raised has changed nothing but
    the state of the random generator, where it `draws`; that is put back.
    """

    def call(*inputs: Any) -> Any:
        state = torch.get_rng_state() if draws else None
        try:
            return compiled(*inputs)
        except Exception as error:
            if state is not None:
                torch.set_rng_state(state)
            # where eager raises, too, nothing is written: capture goes on from there
            with torch.random.fork_rng((), enabled=draws):
                gm.forward(*[i.clone() if isinstance(i, torch.Tensor) else i for i in inputs])
            outputs = gm.forward(*inputs)
            _our_fault(gm, "running", error)
            return outputs

    return call


def where_they_lay(compiled: Graph, gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Graph:
    """`compiled` where inputs share memory as the example did, else the captured graph: for a
    graph that writes to them, where nobody else guards that (Dynamo does not)."""

    def shared(inputs: Sequence[Any]) -> Any:
        return overlaps([x for x in inputs if isinstance(x, torch.Tensor)])

    expected = shared(example_inputs)
    return lambda *inputs: (compiled if shared(inputs) == expected else gm)(*inputs)


def _our_fault(gm: fx.GraphModule, doing: str, error: Exception) -> None:
    """Eager has an answer and we have none: say so once a graph, or raise where we are tested."""
    where = next((n.meta["stack"] for n in gm.graph.nodes if n.meta.get("stack")), "")
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    text = f"{doing} a graph failed ({what}), it runs eagerly; {where}"
    if config.verify:
        raise InternalError(text) from error
    report.current().reason(text)
    warn(text)

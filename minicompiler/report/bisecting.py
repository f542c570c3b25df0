"""The first stage that is wrong, on the smallest graph on which it still is.

Every stage has an interpreter, so the real code can be run up to any of them: a `Trial` is such a
run. A captured graph goes through the trials in order until one differs from eager; then parts of
the graph are left out, with eager's values in their place, as long as the same stage still differs.
"""

import base64
import contextlib
import inspect
import operator
import re
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from ..errors import Unsupported
from . import record
from .compare import Difference, Run, ambient_kept, clone, differences, in_float64, run
from .display import Part, as_text
from .explanation import blocks

Backend: TypeAlias = Callable[[fx.GraphModule, list[Any]], Callable[..., Any]]

SHRINK_SECONDS = 120.0  # then the smallest graph so far is shown
WRITTEN_OUT = 64  # elements of a tensor that a program shows as numbers
PACKAGE = Path(__file__).parents[1]
# where an internal error was raised -> the stage
FOLDERS = dict(capture="capture", aot="aot", decompositions="aot", lowering="lower")
FOLDERS |= dict(schedule="schedule", codegen="codegen")
# stage -> what it made of the graph, as `explain` shows it
LOOK = {
    "capture": ("breaks", "graph", "bytecode"),
    "aot": ("joint", "partition"),
    "lower": ("loops",),
    "schedule": ("fusion", "buffers", "kernels"),
    "codegen": ("loops", "kernels"),
    "runtime": ("buffers", "wrapper"),
}


@dataclass(frozen=True)
class Divergence:
    """Where compiled code leaves eager, and a program that shows it."""

    stage: str  # capture, aot, lower, schedule, codegen or runtime
    difference: Difference  # the worst: both values, and how far apart
    source: str  # runnable: f and its inputs
    operations: int  # in f
    look: str  # what the stage made of f

    @property
    def eager(self) -> Any:
        return self.difference.eager

    @property
    def compiled(self) -> Any:
        return self.difference.other

    @property
    def largest(self) -> float:
        return self.difference.largest

    def __str__(self) -> str:
        program = f"{'-' * 8} program {'-' * 8}\n{self.source}"
        return f"{self.stage} differs from eager: {self.difference}\n\n{program}\n\n{self.look}"


class Trial(NamedTuple):
    """The compiler run as far as `stage`. It is compared with eager or, in a graph that draws
    random numbers of our own, with what `judge` makes of it."""

    stage: str
    compile: Backend
    judge: Backend | None = None


class Case(NamedTuple):
    """A graph and the inputs of one call, as they were before it."""

    gm: fx.GraphModule
    inputs: Sequence[Any]

    @property
    def operations(self) -> list[fx.Node]:
        return [n for n in self.gm.graph.nodes if n.op not in ("placeholder", "output")]


class Finding(NamedTuple):
    stage: str
    difference: Difference

    def like(self, other: "Finding | None") -> bool:
        """The same fault, as far as one can tell: an error is not a wrong value."""
        if other is None or self.stage != other.stage:
            return False
        return (self.difference.place == "error") == (other.difference.place == "error")


def first_wrong_stage(
    call: Callable[..., Any],
    compiled: Callable[..., Any],
    whole: Callable[..., Any],
    inputs: Sequence[Any],
    cases: Sequence[Case],
    trials: Sequence[Trial],
) -> Divergence | None:
    """`call(*inputs)` is eager. `compiled` runs the captured graphs as they are, and puts each of
    their calls into `cases`; `whole` runs all that there is."""
    eager = attempt(call, inputs)
    with record.collecting() as records:
        other = attempt(compiled, inputs)
    if found := worst(differences(eager, other), "capture"):
        look = "\n\n".join(text for r in records if (text := texts(r, found.stage)))
        case = never_computed(call, inputs, cases)
        if case is None:
            return Divergence(found.stage, found.difference, text_of(call, inputs), 0, look)
        return Divergence(*found, program(case), len(case.operations), look)
    for case in list(cases):
        for at, trial in enumerate(trials):
            if found := wrong(case, trial):
                return explained(shrunk(case, found, trials[max(at - 1, 0) : at + 1]), trial, found)
    with record.collecting() as records:
        other = attempt(whole, inputs)
    if found := worst(differences(eager, other, attempt(call, nudged(inputs))), "runtime"):
        look = "\n\n".join(as_text(block) for r in records for block in blocks(r, "bytecode"))
        return Divergence(found.stage, found.difference, text_of(call, inputs), 0, look)
    return None


def attempt(fn: Callable[..., Any], inputs: Sequence[Any]) -> Run:
    with ambient_kept():
        return run(fn, clone(inputs))


def worst(found: Sequence[Difference], stage: str) -> Finding | None:
    """The largest difference; an error counts for the stage that raised it."""
    if not found:
        return None
    most = max(found, key=lambda d: d.largest if d.largest == d.largest else -1.0)
    error = most.other if isinstance(most.other, BaseException) else None
    return Finding(raised_in(error, stage), most)


def raised_in(error: BaseException | None, stage: str) -> str:
    """The stage whose code raised an error, or `stage`, that ran when it was raised."""
    while error is not None and error.__cause__ is not None:
        error = error.__cause__
    for frame in reversed(traceback.extract_tb(error.__traceback__) if error else []):
        path = Path(frame.filename)
        if path.is_relative_to(PACKAGE) and (
            found := FOLDERS.get(path.relative_to(PACKAGE).parts[0])
        ):
            return found
    return stage


def wrong(case: Case, trial: Trial) -> Finding | None:
    """What `trial` does differently; a graph that it refuses runs eagerly, so nothing."""
    drawn = draws(case)
    if trial.judge is not None and not drawn:
        return None
    judge = case.gm if trial.judge is None else trial.judge(case.gm, list(clone(case.inputs)))
    eager = attempt(judge, case.inputs)
    # in float64 other numbers would be drawn: there, what the last bit of the inputs changes
    exact = attempt(judge, nudged(case.inputs) if drawn else in_float64(case.inputs))
    if exact.error is not None:
        exact = eager
    try:
        with ambient_kept():
            compiled = trial.compile(case.gm, list(clone(case.inputs)))
    except Unsupported:
        return None
    except Exception as error:
        what = f"compiling raised {error!r}"
        return worst([Difference("error", what, eager.error, error)], trial.stage)
    return worst(differences(eager, attempt(compiled, case.inputs), exact), trial.stage)


def nudged(inputs: Any) -> Any:
    """The inputs, each number off by about its last bit, some up and some down."""

    def nudge(x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return x
        moved = x.detach() * (1 + torch.finfo(x.dtype).eps * ramp(x).sign())
        return moved.requires_grad_(x.requires_grad)

    return tree_map(nudge, inputs)


def draws(case: Case) -> bool:
    """Does the graph take random numbers?"""
    before = torch.manual_seed(0).get_state()
    attempt(case.gm, case.inputs)
    return not torch.equal(before, torch.get_rng_state())


# --------------------------------------------------------------------------------------- shrinking


def shrunk(case: Case, found: Finding, trials: Sequence[Trial]) -> Case:
    """The smallest case on which the last trial still differs in this way; the others agree."""
    end = time.monotonic() + SHRINK_SECONDS

    def still(make: Callable[[], Case]) -> Case | None:
        with contextlib.suppress(Exception):  # a part of a program need not be a program
            smaller = make()
            if time.monotonic() < end and found.like(wrong(smaller, trials[-1])):
                return None if any(wrong(smaller, trial) for trial in trials[:-1]) else smaller
        return None

    case = still(lambda: Case(case.gm, without_grad(case.inputs))) or case
    whole, keep = case, case.operations
    size = (len(keep) + 1) // 2
    while size:  # delta debugging: leave out halves, quarters, ... single operations
        start = 0
        while start < len(keep) > 1:
            fewer = keep[:start] + keep[start + size :]
            if fewer and (smaller := still(lambda: part(whole, fewer))):  # noqa: B023
                case, keep = smaller, fewer
            else:
                start += size
        size = (size + 1) // 2 if size > 1 else 0
    outputs = results(case.gm)
    for output in outputs if len(outputs) > 1 else []:
        if smaller := still(lambda: returning(case, output)):  # noqa: B023
            case = smaller
            break
    case = still(lambda: Case(case.gm, without_grad(case.inputs))) or case
    return still(lambda: Case(case.gm, [plain(x) for x in case.inputs])) or case


def without_grad(inputs: Iterable[Any]) -> list[Any]:
    return [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]


def plain(x: Any) -> Any:
    """A tensor too large to be written out, as one that `text_of_tensor` makes from few words."""
    large = isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel() > WRITTEN_OUT
    return ramp(x).requires_grad_(x.requires_grad) if large and x.is_contiguous() else x


def ramp(x: torch.Tensor) -> torch.Tensor:
    numbers = torch.arange(x.numel(), dtype=torch.float64).cos()
    return numbers.to(x).reshape(x.shape)


def results(gm: fx.GraphModule) -> Sequence[Any]:
    outputs = gm.graph.output_node().args[0]
    return outputs if isinstance(outputs, (tuple, list)) else [outputs]


def returning(case: Case, output: Any) -> Case:
    """The same graph with one output."""
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    graph.graph_copy(case.gm.graph, copies)
    graph.output((copies[output],))
    return Case(fx.GraphModule({}, graph), case.inputs)


class Snapshots(fx.Interpreter):
    """Runs a graph; keeps what the operations `keep` need of others, as it is when first needed."""

    def __init__(self, gm: fx.GraphModule, keep: Iterable[fx.Node]) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.keep, self.memo = set(keep), dict[int, Any]()
        self.taken: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        for needed in n.all_input_nodes if n in self.keep else ():
            if needed not in self.keep and needed not in self.taken:
                self.taken[needed] = clone(self.env[needed], self.memo)
        return super().run_node(n)


def part(case: Case, keep: Sequence[fx.Node]) -> Case:
    """The operations `keep` alone, on eager's values of the others. The outputs are all values that
    the others use, or that nobody does."""
    ran = Snapshots(case.gm, keep)
    attempt(ran.run, case.inputs)
    graph, inputs, made = fx.Graph(), list[Any](), dict[fx.Node, Any]()

    def given(node: fx.Node, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        inputs.append(value)
        return graph.placeholder(node.name)

    def leaves(node: fx.Node, value: Any) -> list[fx.Node]:
        if isinstance(value, torch.Tensor):
            return [node]
        items = enumerate(value) if isinstance(value, (tuple, list)) else ()
        return [
            leaf
            for i, item in items
            for leaf in leaves(graph.call_function(operator.getitem, (node, i)), item)
        ]

    for node, value in ran.taken.items():
        made[node] = tree_map(lambda leaf: given(node, leaf), value)  # noqa: B023
    for node in keep:
        made[node] = graph.node_copy(node, made.__getitem__)
    ends = [n for n in keep if not n.users or not ran.keep.issuperset(n.users)]
    graph.output(tuple(leaf for n in ends for leaf in leaves(made[n], ran.env[n])))
    return Case(fx.GraphModule({}, graph), inputs)


# ----------------------------------------------------------------------------------------- capture


class Digests(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What eager computes, by its bytes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **kwargs or {})
        for leaf in tree_leaves((args, kwargs, out)):
            if isinstance(leaf, torch.Tensor):
                self.seen.add(digest(leaf))
        return out


def digest(t: torch.Tensor) -> int:
    flat = t.detach().cpu().contiguous().reshape(-1)
    return hash((t.dtype, t.shape, flat.view(torch.uint8).numpy().tobytes()))


def never_computed(
    call: Callable[..., Any], inputs: Sequence[Any], cases: Sequence[Case]
) -> Case | None:
    """The first operation of a captured graph whose value eager never had, or the last graph."""
    with Digests() as eager:
        attempt(call, inputs)
    for case in cases:
        for node in case.operations:
            with contextlib.suppress(Exception):
                alone = part(case, [node])
                values = tree_leaves(attempt(alone.gm, alone.inputs).outputs or ())
                if any(digest(v) not in eager.seen for v in values):
                    return alone
    return cases[-1] if cases else None


# -------------------------------------------------------------------------------- telling the user


def explained(case: Case, trial: Trial, before: Finding) -> Divergence:
    made = record.Record()
    with record.recording(made):
        found = wrong(case, trial) or before
    return Divergence(*found, program(case), len(case.operations), texts(made, found.stage))


def texts(made: record.Record, stage: str) -> str:
    return "\n\n".join(as_text(Part(n, told)) for n in LOOK[stage] if (told := blocks(made, n)))


def text_of(call: Callable[..., Any], inputs: Sequence[Any]) -> str:
    """The user's own function, where no graph says more."""
    fn = inputs[0]
    with contextlib.suppress(OSError, TypeError):
        return inspect.getsource(type(fn) if isinstance(fn, torch.nn.Module) else fn)
    return repr(fn)


def program(case: Case) -> str:
    """A Python file: the graph as `f`, its inputs, and the call that shows the difference."""
    code = case.gm.graph.python_code("self")
    body = re.sub(r"def forward\(self(, )?", "def f(", code.src.strip())
    body = re.sub(r";  (\w+ = )+None\b.*", "", body)
    head = ["import torch", "from torch import device, inf, nan"]
    for name, value in code.globals.items():
        if re.search(rf"\b{name}\b", body) and name not in ("torch", "device", "inf", "nan"):
            head.append(imported(name, value))
    made = [text_of_tensor(x) if isinstance(x, torch.Tensor) else repr(x) for x in case.inputs]
    if any("base64" in text for text in made):
        head.insert(0, "import base64\n")
    tail = ["inputs = (", *(f"    {text}," for text in made), ")", "", 'if __name__ == "__main__":']
    tail += ["    import minicompiler", "", "    print(minicompiler.bisect(f, *inputs))", ""]
    return "\n".join([*head, "\n", body, "\n", *tail])


def imported(name: str, value: Any) -> str:
    if inspect.ismodule(value):
        return f"import {value.__name__} as {name}"
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    return f"from {module} import {path} as {name}" if path else f"{name} = {value!r}"


def text_of_tensor(t: torch.Tensor) -> str:
    """An expression that makes this tensor, strides and all."""
    grad = ".requires_grad_()" if t.requires_grad else ""
    where = f", device={str(t.device)!r}" if t.device.type != "cpu" else ""
    t = t.detach()
    if not t.numel():
        return f"torch.empty_strided({tuple(t.shape)}, {t.stride()}, dtype={t.dtype}{where}){grad}"
    reach = 1 + sum((size - 1) * stride for size, stride in zip(t.shape, t.stride()))
    flat = t.as_strided((reach,), (1,))
    shape = "" if t.is_contiguous() else f".as_strided({tuple(t.shape)}, {t.stride()})"
    if reach <= WRITTEN_OUT:
        numbers = t.tolist() if t.is_contiguous() else flat.tolist()
        return f"torch.tensor({numbers}, dtype={t.dtype}{where}){shape}{grad}"
    size = f".reshape({tuple(t.shape)})" if t.is_contiguous() else shape
    if t.is_floating_point() and t.is_contiguous() and torch.equal(t, ramp(t)):
        made = f"torch.arange({t.numel()}, dtype=torch.float64).cos().to({t.dtype})"
    else:
        data = base64.b64encode(flat.cpu().view(torch.uint8).numpy().tobytes()).decode()
        made = f"torch.frombuffer(bytearray(base64.b64decode({data!r})), dtype={t.dtype})"
    return made + (f".to({str(t.device)!r})" if where else "") + size + grad

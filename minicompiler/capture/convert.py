"""The entry of capture: one frame, once.

In: a code object, the arguments of this call, and `compile_graph`. Out: `Compiled` (a replacement
function and the guards under which it stands for the frame) or `Skip` (run it eagerly, and why).
Invariant: nothing that the user can see has happened when this returns.
"""

# ruff: noqa: I001  (imports fill their lines)

import gc
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import groupby
from types import CodeType, MappingProxyType
from typing import Any

import torch
from torch import fx
from torch.nn.functional import scaled_dot_product_attention

from .. import report
from ..errors import BackendError, Unsupported
from ..settings import config
from . import builtin_rules, container_rules, frame_hook, numpy_rules, polyfills  # noqa: F401
from .cache import Compiled
from .decode import parameters
from .emit import Text
from .evaluator import Evaluation
from .facts import AMBIENT, overlaps
from .frame import BreakHere, Frame, Handled
from .graph import as_module, version
from .guards import GuardSet, vector_of
from .resume import Entry, after, cells, enter
from .source import Cell as CellSource, Const as ConstSource, Local
from .values import NULL, Dict, Lazy, Obj, Raised, Tensor, Unbuildable, Value, describe, trusted

CompileGraph = Callable[[fx.GraphModule, list[Any]], Callable[..., Any]]
# Frames of Python and torch themselves are not worth a graph of their own, but for these.
COMPILED_PARTS: tuple[str, ...] = ("torch.nn.modules", "torch.nn.utils", "torch.optim")
COMPILED_PARTS += ("torch.distributions", "minicompiler.tools")  # the tour
COMPILED_PARTS += ("minicompiler.api",)  # calls a compiled module
# A module is captured as part of what calls it, or by its own `forward`.
for _call in (torch.nn.Module._wrapped_call_impl, torch.nn.Module._call_impl):
    frame_hook.skip(_call.__code__)


@dataclass(frozen=True)
class Skip:
    """`guards`: what was read until capture gave up; None where no call is worth compiling."""

    reason: str
    guards: GuardSet | None = None


def convert(
    code: CodeType,
    args: tuple[Any, ...],
    f_globals: dict[str, Any],
    compile_graph: CompileGraph,
    fullgraph: bool = False,
    strict: bool = False,
) -> Compiled | Skip:
    """Evaluate the frame symbolically; where that is not possible, again up to the break.
    `strict` lets the compiler's own errors through."""
    module = f_globals.get("__name__")
    if trusted(module) and not str(module).startswith(COMPILED_PARTS):
        return Skip(f"code of {module} runs eagerly unless it is called by compiled code")
    break_at, why = None, Unsupported("")
    while True:
        guards = GuardSet(vector_of(code), f_globals)
        guards.add_ambient()
        with closing(Evaluation(guards, f_globals, break_at)) as ev:
            frame = outermost(ev, code, args)
            if frame.code.hidden:
                return Skip("a comprehension hides a variable that closures share")
            try:
                found: Value | None = None
                with suppress(BreakHere):
                    found = frame.enter()
                return finish(ev, frame, found, why, compile_graph)
            except Raised as raised:
                where, at = raised.where or frame.where(), raised.step
                why = Unsupported(f"raises {told(raised.value)}", where=where)
                if not ev.graph.operations:
                    return skip(str(why), guards, frame)
            except Unsupported as error:  # its traceback would keep the arguments alive
                why = Unsupported(error.reason, error.hint, error.where or frame.where())
                at = error.step if isinstance(error, Unbuildable) else ev.at
            except RecursionError:
                return Skip("evaluation nests too deeply")
            except Exception as error:
                if strict or isinstance(error, BackendError):
                    raise
                return Skip(f"internal error: {type(error).__name__}: {error}")
            finally:  # evaluation sets the real grad mode and autocast state, for fakes
                set_ambient_back(ev)
            if fullgraph:
                raise why
            if ev.differentiates_twice:
                report.current().reason(f"a gradient of a gradient: {why.reason}\n  at {why.where}")
                return all_in_python(ev, code)
            if not {"locals", "vars", "dir", "eval", "exec"}.isdisjoint(code.co_names):
                return Skip(f"{why.reason}; the frame looks at its own variables")
            step = at and break_step(frame, at)
            again = break_at is not None and step >= break_at
            if step == 0 or again or not beyond_head(frame, step):
                return skip(str(why), guards, frame)
            break_at = step


def told(exception: Obj) -> str:
    args = exception.fields.get("args")
    texts = [describe(i) for i in getattr(args, "contents", []) if isinstance(i, Value)]
    name = exception.cls.__name__
    return f"{name}: {', '.join(texts)}" if texts else name


def outermost(ev: Evaluation, code: CodeType, args: tuple[Any, ...]) -> Frame:
    """The frame itself. Arguments are read, and guarded, only when it uses them."""
    names = parameters(code)
    cells = zip(code.co_freevars, args[len(names) :])
    free: Any = tuple(ev.wrap(cell, CellSource(name)) for name, cell in cells)
    frame = Frame(ev, code, ev.globals_of(ev.f_globals, None), free)
    frame.locals = {n: Lazy(a, Local(n)) for n, a in zip(names, args)}
    return frame


def break_step(frame: Frame, at: int) -> int:
    """Where to break for the sake of step `at`: inside a loop, where the loop is first entered."""
    loop = loop_around(frame, frame.steps[at] if at < len(frame.steps) else frame.inst.index)
    if loop is None or loop.start not in frame.steps:
        return at
    return frame.steps.index(loop.start)


def loop_around(frame: Frame, index: int) -> range | None:
    """The outermost loop that runs this instruction; in an exception handler, which may lie
    anywhere: the one that has begun and that it leads back to."""
    leads = frame.code.depths(index, 0, range(len(frame.code.instructions)))
    begun = leads.keys() & set(frame.steps)
    return next((r for r in frame.code.loops if index in r or r.start in begun), None)


HEAD = {"COPY_FREE_VARS", "RESUME", "LOAD_CONST", "LOAD_FAST", "PUSH_NULL", "JUMP_FORWARD"}


def beyond_head(frame: Frame, step: int) -> bool:
    """False where a resume function would break while it loads its own arguments, and so would the
    next one, without end."""
    done = {frame.code.instructions[i].opname for i in frame.steps[: step + 1]}
    at = frame.code.instructions[frame.steps[step]] if step < len(frame.steps) else frame.inst
    past = [op for op in done - HEAD if not op.startswith(("POP_JUMP", "LOAD_FAST"))]
    return bool(past) or not at.opname.startswith("LOAD_FAST")


def finish(
    ev: Evaluation, frame: Frame, found: Value | None, why: Unsupported, compile_graph: CompileGraph
) -> Compiled | Skip:
    """Write the replacement: returns `found`, or breaks where the frame stands, and says why."""
    record = report.current()
    code = frame.code.code
    careful = [g for g in ev.generators if not g.finished and g.frame.cleans_up]
    if any(g.started or found is None for g in careful):  # behind a break it would live on
        raise Unbuildable(0, "a generator may be left inside of `try` or `with`")
    worth = ev.graph.operations or config.keep_empty_graphs
    text = Text(ev, vector_of(code))
    fits = " and ".join(text.asks())
    if found is not None:
        if not worth:
            return skip("no tensor operations", ev.guards, frame)
        result = text.value(found)
        text.effects()
        text.after.append(f"return {result}")
    else:
        if not worth and not handles_tensors(frame):
            return Skip(str(why))
        landing = write_break(ev, frame, text)
    leave_ambient(ev)
    set_ambient_back(ev)  # compiled under what it will find
    run = [f"if not ({fits}): return {in_python(text, code)}"] * bool(fits)
    if ev.graph.operations:
        run = graph_call(code, text, compile_graph, fits)
    guard_aliasing(ev, frame)
    replacement = text.replacement(run)
    record.add("replacement", replacement.text)
    record.add("guards", ev.guards)
    record.count("frames")
    if found is None:
        record.graph_break(why, landing)
    numbers = [repr(v) for v in text.namespace.values() if type(v) in (float, complex)]
    return Compiled(ev.guards, replacement, (replacement.text, text.graph, *numbers), text.binding)


def graph_call(code: CodeType, text: Text, compile_graph: CompileGraph, fits: str) -> list[str]:
    """Lines that run the graph. If it raises, or `fits` is false then, what it has done is undone
    and the frame runs as Python would, whose except clauses see the exception at its place."""
    record, ev, graph = report.current(), text.ev, text.ev.graph.graph
    inputs = [text.read(t.source) for t in ev.graph.inputs if t.source is not None]
    graph.output(tuple(text.outputs))
    if graph.find_nodes(op="call_function", target=scaled_dot_product_attention):
        ev.guards.add("SDP", None, AMBIENT["SDP"].read())  # which kernel is chosen on tracing
    gm = as_module(graph, code.co_name)
    text.graph = gm.code
    record.add("graph", gm)
    record.count("graphs")
    compiled = compile_graph(gm, [t.real for t in ev.graph.inputs])
    text.namespace["graph"] = frame_hook.graph(compiled)
    outputs = "".join(f"{n}, " for n in text.outputs.values())
    run = f"{outputs}{'= ' if outputs else ''}graph({', '.join(spread(inputs))})"
    undo = [f"    {text.setter(key, before)}" for key, (_, before) in ev.ambient.items()]
    # others write inputs last and reset generators; but caches are asked behind the graph
    captured = isinstance(getattr(compiled, "__self__", None), fx.GraphModule)
    copies = captured or bool(fits)
    if copies and (ev.handles or fits) and not all(t.fake.is_leaf for t in ev.graph.mutated()):
        raise Unsupported("what gives history to an argument cannot be undone if the graph raises")
    touched = ev.graph.undone() if captured else ev.graph.mutated()
    written = "".join(f"{text.read(t.source)}, " for t in touched if t.source)
    before = f"{text.const(Before)}(({written}), {copies}, {copies and ev.graph.mode.draws})"
    asked = [f"    if not ({fits}): raise {text.const(Exception)}"] * bool(fits)
    return [
        f"before = {before if written or copies else True}",
        *["try:", f"    {run}", *asked, "except BaseException as error:", *undo],
        f"    if not isinstance(error, {text.const(Exception)})"
        + (" or not before.put_back():" if written or copies else ":"),
        *["        raise", "    before = None"],
        *["if before is None:", f"    return {in_python(text, code)}"],
    ]


def spread(inputs: list[str]) -> list[str]:
    """`found[3], found[4]` as `found[3:5]`: the graph takes tuples for their items."""
    texts: list[str] = []
    for key, run in groupby(
        enumerate(inputs), lambda at: int(at[1][6:-1]) - at[0] if at[1][:6] == "found[" else at[1]
    ):
        names = [name for _, name in run]
        place = names[0][6:-1]
        several = type(key) is int and len(names) > 1
        texts += [f"found[{place}:{int(place) + len(names)}]"] if several else names
    return texts


def in_python(text: Text, code: CodeType, calls: bool = False) -> str:
    """A call of the frame as Python runs it; with `calls` also all that it calls."""
    vector, n = list(text.parameters.values()), len(parameters(code))
    # the arguments as they lie in the vector: the rest of them already as a tuple and a dict
    plain = dict(co_argcount=n, co_posonlyargcount=0, co_kwonlyargcount=0)
    eager = code.replace(**plain, co_flags=code.co_flags & ~(0x04 | 0x08))  # type: ignore[arg-type]
    frame_hook.skip(eager, calls)
    return f"{text.function_of(eager, vector[n:])}({', '.join(vector[:n])})"


def all_in_python(ev: Evaluation, code: CodeType) -> Compiled:
    """Gradients of compiled graphs have none of their own, so that a frame that asks for them runs
    eagerly with all that it calls, whatever it is given."""
    text = Text(ev, vector_of(code))
    replacement = text.function("replacement", [f"return {in_python(text, code, calls=True)}"])
    return Compiled(GuardSet(vector_of(code), ev.f_globals), replacement, replacement.text)


class Before:
    """What a graph may have changed when it raises. `copies`: it writes its inputs in the midst of
    the work, not as the last thing."""

    def __init__(self, written: tuple[torch.Tensor, ...], copies: bool, draws: bool) -> None:
        self.written = [(t, version(t), t.detach().clone() if copies else None) for t in written]
        self.generator = torch.get_rng_state() if draws else None

    def put_back(self) -> bool:
        """False where that cannot be done: the exception is the program's to handle as it is."""
        if self.generator is not None:
            torch.set_rng_state(self.generator)
        for t, before, copy in self.written:
            if version(t) != before and (copy is None or not t.is_leaf):
                return False  # its history cannot be put back
            if copy is not None:
                t.data.copy_(copy)  # no write that autograd counts: eager writes only once
        return True


frame_hook.skip(Before.__init__.__code__, calls=True)
frame_hook.skip(Before.put_back.__code__, calls=True)


def guard_aliasing(ev: Evaluation, frame: Frame) -> None:
    """Where something is written, which objects are one decides what the frame does."""
    written = [of for of in ev.effects.order.values() if isinstance(of, Obj)]
    classes = {of.cls for of in written if not isinstance(of, Dict)}
    groups: list[list[Any]] = [[v for v in ev.memo.values() if v.cls is cls] for cls in classes]
    groups += [meeting(ev, of) for of in written if isinstance(of, Dict)]
    groups += [ev.graph.inputs] if ev.graph.mutated() else []
    for group in groups:
        group = [v for v in group if v.source and not isinstance(v.source.root, ConstSource)]
        sources = tuple(v.source for v in group)
        if len(group) > 1:
            ev.guards.add("DISTINCT", None, sources, frame.where())
            if isinstance(group[0], Tensor):
                pairs = overlaps([t.real for t in group])
                homes = [t.real.untyped_storage()._cdata for t in group]
                if any(homes[i] != homes[j] for i, j, *_ in pairs):
                    raise Unsupported("two storages share memory that is written to")
                ev.guards.add("OVERLAPS", None, (sources, pairs), frame.where())


def meeting(ev: Evaluation, of: Dict) -> list[Any]:
    """The dictionaries of which the frame looked at a key that it writes to `of`, and `of`. Those
    of objects are among them: two objects may share one, and a program holds `vars(o)`."""

    def looked_at(d: Any) -> bool:
        asked = (
            d.items.get(k) or ("HAS_KEY", d.source, (k, False)) in ev.assumed for k in of.stored
        )
        return d is of or d.unread is None or of.changed > 0 or any(asked)

    found = [d for d in ev.memo.values() if isinstance(d, Dict) and looked_at(d)]
    for d in found:
        fixed = d.source is None or isinstance(d.source.root, ConstSource)
        if d.cls is MappingProxyType and (not fixed or gc.get_referents(d.real)[0] is of.real):
            raise Unsupported("a mappingproxy may show what is written")
    return found


def skip(reason: str, guards: GuardSet, frame: Frame) -> Skip:
    """Another call may be worth it if this one has to do with tensors and depends on something."""
    decided = handles_tensors(frame) and any(g.source is not None for g in guards.rows)
    return Skip(reason, guards if decided else None)


def handles_tensors(frame: Frame) -> bool:
    """Is there anything to compile behind the break? What a module is called with is a frame of
    its own."""
    for v in [*frame.locals.values(), *frame.stack, *(c.content for c in frame.cells.values())]:
        real = v.real if isinstance(v, Lazy) else getattr(v, "real", None)
        inside: Any = list(real.values()) if type(real) is dict else real
        parts = inside if type(inside) in (list, tuple) else [inside]
        if isinstance(v, Tensor) or any(isinstance(part, torch.Tensor) for part in parts):
            return True
    return False


def set_ambient_back(ev: Evaluation) -> None:
    for key, (setter, before) in ev.ambient.items():
        setter(*key[1:], before)


def leave_ambient(ev: Evaluation) -> None:
    """The graph leaves grad mode and autocast as it found them; the replacement sets them."""
    for key, (setter, before) in ev.ambient.items():
        if ev.ambient_now[key] != before:
            ev.graph.graph.call_function(setter, (*key[1:], before)).meta["val"] = None


def write_break(ev: Evaluation, frame: Frame, text: Text) -> CodeType:
    """Effects, then the landing with the stack and the live locals. Gives its code."""
    handled = ev.handled or next((v.previous for v in frame.stack if isinstance(v, Handled)), None)
    if handled is not None:
        step = handled.raised[0] if handled.raised else 0
        raise Unbuildable(step, "a graph break while an exception is being handled")
    if any(isinstance(v, Obj) and issubclass(v.cls, BaseException) for v in frame.stack):
        raise Unbuildable(0, "an exception on the stack: raised, it would keep its own frames")
    if not frame.code.first <= frame.locals.keys():
        raise Unbuildable(0, "a graph break where what super() reads is deleted, or in a closure")
    code, live = frame.code, frame.code.live
    deleted = [i for i in code.instructions if i.opname == "DELETE_DEREF"]
    if any(i.argval in live[i.index + 1] for i in deleted) or live[frame.index] & unbound(frame):
        # behind the break they lie in a closure: reading them would raise another exception
        raise Unbuildable(0, "a graph break while a variable shared by a closure is unbound")
    entry = entered(frame, frame.index, tuple(v is not NULL for v in frame.stack))
    landing = enter(entry, exits(frame, entry), ev.f_globals)
    stack = [text.value(v) for v in frame.stack if v is not NULL]
    passed = [text.value(frame.locals[n]) for n in entry.live]
    closure = [text.value(frame.cells[n]) for n in cells(frame.code.code)]
    text.effects()
    text.after.append(f"return {text.function_of(landing, closure)}({', '.join(passed + stack)})")
    return landing


def entered(frame: Frame, index: int, layout: tuple[bool, ...]) -> Entry:
    live = [n for n in frame.code.live[index] if n in frame.locals]
    live.sort(key=lambda name: (name not in frame.code.first, name))
    return Entry(frame.code.code, index, layout, tuple(live))


def unbound(frame: Frame) -> set[str]:
    """Variables of the frame's own that closures share and that hold nothing now."""
    return {n for n in frame.code.code.co_cellvars if frame.cells[n].get(frame.ev) is None}


def exits(frame: Frame, entry: Entry) -> dict[int, Entry]:
    """How the resume functions are entered. A loop that breaks runs eagerly as a whole; what
    follows it is captured, where all that it needs is bound before the loop."""
    code, layout = frame.code, entry.layout
    loop = loop_around(frame, entry.index)
    eager = loop or range(entry.index, entry.index + 1)
    bound = {*frame.locals, *frame.cells} - unbound(frame)
    found = {}
    for index, depth in code.depths(entry.index, len(layout), eager).items():
        if index not in eager and (loop is None or code.live[index] <= bound):
            behind = after(code.instructions[entry.index], layout, depth)
            behind = behind if loop is None else (*layout, *[True] * depth)[:depth]
            found[index] = entered(frame, index, behind)
    return found

"""What a user calls; the conventions are those of torch.compile.

A compiled function is the original one, called while the frame hook is on for this thread. The
hook shows every frame that starts to its region's `on_frame`, which answers with compiled code or
leaves the frame to the interpreter.
"""

import copy
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import fx, nn
from torch.utils._pytree import tree_leaves

from . import pipeline, report
from .aot.joint import behind
from .capture import cache, convert, facts, frame_hook
from .errors import Unsupported, UserError, warn_once
from .report.compare import clone, original
from .settings import config, overriding

F = TypeVar("F", bound=Callable[..., Any])


def compile(
    fn: Any = None,
    *,
    backend: str | pipeline.Backend = "auto",
    mode: str | None = None,
    dynamic: bool | None = None,
    fullgraph: bool = False,
    options: dict[str, Any] | None = None,
) -> Any:
    """`fn`, a function or nn.Module, compiled at its first call for inputs like those of the call.

    - `backend`: "auto", "eager" (capture only), "aot_eager", "interpret" (the loop IR, evaluated),
      a registered name, or `callable(gm, example_inputs) -> callable`
    - `mode`: only "default" exists now
    - `dynamic`: None, True or False; sizes are constants yet, another size compiles again
    - `fullgraph`: raise Unsupported, with the line and a way out, instead of breaking the graph
    - `options`: any switch of `config` for this function alone; `{"stop_after": "aot"}` runs the
      real code part of the way

    Without `fn` it is a decorator. Raises UserError for an unknown backend, mode or option.
    Warns once where there is no frame hook: then all runs eagerly.
    """
    if fn is None:
        return lambda f: compile(
            f, backend=backend, mode=mode, dynamic=dynamic, fullgraph=fullgraph, options=options
        )
    check_mode(mode)
    if not isinstance(dynamic, bool | None):
        raise UserError(f"dynamic is None, True or False, not {dynamic!r}")
    if dynamic:
        warn_once("dynamic=True changes nothing yet: another size is compiled again")
    return Region(backend, fullgraph, options or {}).around(fn)


def check_mode(mode: str | None) -> None:
    if mode not in (None, "default"):
        raise UserError(f"mode {mode!r} is not there (yet); say mode='default', or leave it out")


def under_hook(fn: Callable[..., Any], callback: Any, token: object) -> Callable[..., Any]:
    """`fn`, called while the hook asks `callback` about frames; None: it is off."""
    run = frame_hook.run

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(callback, token, fn, *args, **kwargs)

    frame_hook.skip(call.__code__)
    return functools.update_wrapper(call, fn)


class Region:
    """The settings of one `compile` call, and the answer to every frame reached from it."""

    def __init__(
        self, backend: str | pipeline.Backend, fullgraph: bool, options: dict[str, Any]
    ) -> None:
        config.override(options)  # raises for an unknown option now, not at the first call
        self.backend = pipeline.backend_named(backend)
        self.fullgraph, self.options = fullgraph, options
        self.token = cache.token(self.backend, fullgraph, tuple(sorted(options.items())))
        self.callback = frame_hook.tolerant(self.on_frame)
        if frame_hook.unavailable:
            text = f"all runs eagerly: no frame hook, see make doctor ({frame_hook.unavailable})"
            report.current().reason(text)
            warn_once(text)

    def around(self, fn: Any) -> Callable[..., Any]:
        """`fn`, called with the hook on."""
        if isinstance(fn, type) or not callable(fn):
            raise UserError(f"compile takes a function or an instance of nn.Module, not {fn!r}")
        if isinstance(fn, nn.Module):
            return CompiledModule(fn, self)
        return under_hook(fn, self.callback, self.token)

    def on_frame(
        self, code: types.CodeType, function: types.FunctionType, vector: tuple[Any, ...]
    ) -> frame_hook.Replacement | None:
        """Compiled code for this frame, or None to leave it to the interpreter."""
        record = report.open_record(code.co_qualname)
        record.add("bytecode", code)
        compile_frame = functools.partial(self.compile_frame, code, function, vector)
        with report.recording(record), overriding(self.options):
            try:
                return cache.find_or_compile(
                    code, function.__globals__, vector, self.token, compile_frame
                )
            except Unsupported:  # no frame can be compiled as things stand
                if self.fullgraph:
                    raise
                return None

    def compile_frame(
        self, code: types.CodeType, function: types.FunctionType, vector: tuple[Any, ...]
    ) -> cache.Compiled | None:
        """Capture the frame and compile its graph."""
        record, space = report.current(), function.__globals__
        try:
            with record.stage("capture"):
                made = convert.convert(
                    code, vector, space, self.compile_graph, self.fullgraph, config.verify
                )
        except Unsupported as refusal:
            record.left_to_python(refusal)
            raise
        if isinstance(made, convert.Skip):
            record.left_to_python(made.reason)
            return None if made.guards is None else cache.Compiled(made.guards, None)
        return made

    def compile_graph(self, gm: fx.GraphModule, example_inputs: list[Any]) -> pipeline.Graph:
        """The graph compiled by the backend."""
        compiled = pipeline.compile_or_keep(self.backend, gm, example_inputs)
        return compiled.forward if isinstance(compiled, fx.GraphModule) else compiled


class CompiledModule(nn.Module):
    """A module that is called compiled and is otherwise the original: the same parameters, state
    dict, hooks and `training`, also after either is changed. Pickles as the original; a copy is
    compiled too."""

    _original: nn.Module
    _region: Region
    _call: Callable[..., Any]

    def __new__(cls, module: nn.Module, region: Region) -> "CompiledModule":
        self = object.__new__(cls)

        def call(*args: Any, **kwargs: Any) -> Any:
            return module(*args, **kwargs)

        # code of its own, so that modules do not share a cache; named as what the user wrote
        name = type(module).__name__
        call.__code__ = call.__code__.replace(co_name=name, co_qualname=name)
        run = functools.partial(frame_hook.run, region.callback, region.token, call)
        vars(self).update(_original=module, _region=region, _call=run)
        return self

    def __init__(self, module: nn.Module, region: Region) -> None:
        """All state is the original's: nn.Module's own would hide it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_original"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._original, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(compiled, type(original))
        return type(self._original)

    def __dir__(self) -> list[str]:
        return dir(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._original.__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any]) -> "CompiledModule":
        return CompiledModule(copy.deepcopy(self._original, memo), self._region)


# ------------------------------------------------------------------- what else torch.compile offers


def reset() -> None:
    """Forget everything that was compiled in this process, and all counts."""
    cache.reset()
    report.reset_totals()


def stats() -> dict[str, Any]:
    """Counts since the last reset: frames, graphs, breaks, recompiles, native_ops, fallback_ops,
    kernels, cache_hits, guards, joint_nodes, saved_bytes, loops and fusions are ints; `seconds` by
    stage, `fallbacks` by operator, texts in `reasons` and `recompile_reasons`."""
    return report.totals.as_dict()


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> report.Explanation:
    """Compile `fn` afresh, call it once, and tell what every stage made and why.

    Print it, look at it in a notebook, or take one stage: `explain(f, x).guards`. Where the result
    requires grad its backward is computed too, without touching any `.grad`. `fn` may be compiled
    already: then it is the original that is compiled again. Why other arguments compile it once
    more: `explain(f, x).then(y).recompiles`. What `fn` raises passes through.
    """
    call = functools.partial(_with_backward, _afresh(original(fn), "auto"))
    return report.Explanation(call).then(*args, **kwargs)


def _with_backward(compiled: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    outputs = tree_leaves(compiled(*args, **kwargs))
    wanted = [t for t in outputs if isinstance(t, torch.Tensor) and t.requires_grad]
    variables = [getattr(node, "variable", None) for node in behind(wanted)]
    if leaves := [t for t in variables if t is not None]:
        torch.autograd.grad(wanted, leaves, [*map(torch.ones_like, wanted)], allow_unused=True)


def _afresh(fn: Callable[..., Any], backend: str | pipeline.Backend, **options: Any) -> Any:
    """`fn` compiled, sharing nothing with what was compiled before."""
    region = Region(backend, False, options)
    region.token = object()
    return region.around(fn)


def bisect(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> report.Divergence | None:
    """The first stage of the compiler that makes `fn(*args, **kwargs)`, or its gradients, differ
    from eager, with a small program that shows it; None where nothing differs.

    Works on copies of the arguments and of `fn`, where it is a module; what else `fn` changes is
    seen by all the runs. Takes as long as many compilations.
    """
    cases: list[report.Case] = []

    def keeping(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> pipeline.Graph:
        def graph(*inputs: Any) -> Any:
            cases.append(report.Case(gm, clone(inputs)))
            return gm(*inputs)

        return graph

    calling: Any = lambda compiled: lambda fn, args, kwargs: compiled(fn)(*args, **kwargs)
    with torch.random.fork_rng():
        return report.first_wrong_stage(
            calling(lambda fn: fn),
            calling(lambda fn: _afresh(fn, keeping, verify=True)),
            calling(lambda fn: _afresh(fn, "auto", verify=True, fallback_random=True)),
            (original(fn), args, kwargs),
            cases,
            pipeline.trials(),
        )


def list_backends() -> list[str]:
    """The names that `compile(..., backend=name)` takes."""
    return sorted(pipeline.BACKENDS)


def register_backend(name: str, fn: pipeline.Backend) -> pipeline.Backend:
    """Make `compile(..., backend=name)` call `fn(gm, example_inputs)`."""
    if name in pipeline.BACKENDS:
        raise UserError(f"there is a backend {name!r} already")
    pipeline.BACKENDS[name] = fn
    return fn


def disable(fn: F) -> F:
    """`fn` and all that it calls run eagerly, also when reached from compiled code."""

    disabled: Any = under_hook(fn, None, None)
    disabled._torchdynamo_disable = True  # torch's own mark
    return disabled  # type: ignore[no-any-return]


@disable
def graph_break() -> None:
    """Break the graph here; does nothing in eager code."""


def is_compiling() -> bool:
    """True while a function is being captured (capture answers in its place)."""
    return False


def dynamo_backend(
    gm: fx.GraphModule,
    example_inputs: list[Any],
    options: dict[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What `torch.compile(f, backend="minicompiler")` calls: everything after capture.

    A graph in which Dynamo left sizes open is compiled for each size that comes, up to
    config.recompile_limit of them; then it runs as captured.
    """
    check_mode(mode)
    switches = config.override(options or {})
    record = report.Record("torch.compile")

    def compiled(inputs: Sequence[Any]) -> Callable[..., Any]:
        with report.recording(record), overriding(vars(switches)):
            record.count("graphs")
            made = pipeline.compile_or_keep(pipeline.compile_graph, gm, list(inputs))
            writes = any(joint.signature.mutations for joint in record.stages.get("joint", ()))
            return pipeline.where_they_lay(made, gm, inputs) if writes else made

    def laid_out(x: Any) -> Any:
        return (*x.shape, *x.stride(), x.requires_grad) if isinstance(x, torch.Tensor) else x

    if all(type(n) in (int, bool) for x in example_inputs for n in tree_leaves(laid_out(x))):
        return compiled(example_inputs)
    known: dict[Any, Callable[..., Any]] = {}

    def call(*inputs: Any) -> Any:
        key = facts.signature(tuple(map(laid_out, inputs)))  # 0.0 is not -0.0, nor 1 True
        if key not in known and len(known) < switches.recompile_limit:
            known[key] = compiled(inputs)
        return known.get(key, gm)(*inputs)

    return call

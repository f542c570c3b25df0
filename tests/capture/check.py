"""Run a function eagerly and captured, and compare everything a program can see: results, changes
to arguments, which objects are one, exceptions, printed text. Also say what was captured."""

import collections
import contextlib
import copy
import io
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import fx

from minicompiler import report
from minicompiler.capture import cache, frame_hook
from minicompiler.capture.convert import Skip, convert
from minicompiler.settings import overriding


@dataclass
class Run:
    """What capture made of a program."""

    graphs: list[fx.GraphModule] = field(default_factory=list)
    breaks: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    guards: int = 0
    frames: int = 0
    result: Any = None

    @property
    def operations(self) -> list[Any]:
        return [n.target for g in self.graphs for n in g.graph.nodes if n.op.startswith("call")]


def capture(fn: Callable[..., Any], run: Run, **options: Any) -> Callable[..., Any]:
    """`fn` with its frames captured; graphs run as they are."""
    region = object()

    def compile_graph(gm: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        run.graphs.append(gm)
        gm.graph.lint()
        forward = type(gm).forward
        frame_hook.skip(forward.__code__, calls=True)
        return types.MethodType(forward, gm)

    def on_frame(code: Any, function: Any, vector: Any) -> Any:
        record = report.Record(code.co_qualname)

        def compile_frame() -> cache.Compiled | None:
            made = convert(
                code,
                vector,
                function.__globals__,
                compile_graph,
                strict=True,
                **options,
            )
            if isinstance(made, Skip):
                run.skips.append(f"{code.co_name}: {made.reason}")
                return None if made.guards is None else cache.Compiled(made.guards, None)
            run.frames += 1
            run.texts.append(str(made.artefact))
            run.guards += len(made.guards)
            return replace(made, artefact=object())

        with report.recording(record):
            found = cache.find_or_compile(code, function.__globals__, vector, region, compile_frame)
        run.breaks += [w.reason for w in record.whys if w.verdict == "break"]
        return found

    def compiled(*args: Any, **kwargs: Any) -> Any:
        return frame_hook.run(on_frame, region, fn, *args, **kwargs)

    frame_hook.skip(compiled.__code__)
    return compiled


def observe(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], must_return: bool = False
) -> Any:
    """All that a caller can see of a call, in a form that compares."""
    text = io.StringIO()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(text):
        try:
            outcome = ("returned", fn(*args, **kwargs))
        except Exception as error:
            if must_return:
                raise
            outcome = ("raised", (type(error), str(error)))
    return outcome, args, kwargs, text.getvalue()


def same(a: Any, b: Any, path: str, seen: dict[int, int]) -> None:
    """Asserts equality of structure, values, types, aliasing. `seen` pairs objects of the two."""
    if isinstance(a, type | types.ModuleType | types.BuiltinFunctionType):
        assert a is b, path
        return
    identity = not isinstance(a, int | float | str | bool | bytes | type(None) | tuple | torch.Size)
    if identity:
        if id(a) in seen or id(b) in seen.values():
            assert seen.get(id(a)) == id(b), f"{path}: aliased differently"
            return
        seen[id(a)] = id(b)
    assert type(a) is type(b), f"{path}: {type(a)} and {type(b)}: {a!r} {b!r}"
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride(), path
        assert a.requires_grad == b.requires_grad, f"{path}: requires_grad"
        torch.testing.assert_close(b, a, rtol=0, atol=0, equal_nan=True, msg=path)
    elif isinstance(a, dict):
        assert list(map(repr, a)) == list(map(repr, b)), f"{path}: keys {list(a)} {list(b)}"
        for key, other in zip(a, b):
            same(a[key], b[other], f"{path}[{key!r}]", seen)
    elif isinstance(a, types.FunctionType):
        assert a.__code__.co_code == b.__code__.co_code, path
        assert a.__name__ == b.__name__ and a.__qualname__ == b.__qualname__, path
        assert len(a.__closure__ or ()) == len(b.__closure__ or ()), path
    elif isinstance(a, float):
        assert repr(a) == repr(b), f"{path}: {a!r} and {b!r}"
    elif isinstance(a, list | tuple | collections.deque):
        items, others = list(a), list(b)
        assert len(items) == len(others), f"{path}: {a!r} and {b!r}"
        for i, (x, y) in enumerate(zip(items, others)):
            same(x, y, f"{path}[{i}]", seen)
    elif isinstance(a, int | str | bool | bytes | set | frozenset) or a is None:
        assert a == b, f"{path}: {a!r} and {b!r}"
    if hasattr(a, "__dict__") and not isinstance(a, types.FunctionType):
        same(vars(a), vars(b), f"{path}.__dict__", seen)


def check_against_eager(
    fn: Callable[..., Any],
    *args: Any,
    graphs: int | None = None,
    breaks: int | None = None,
    calls: int = 2,
    empty: bool = True,
    **kwargs: Any,
) -> Run:
    """`calls` calls of each, on copies of the arguments that stay the same objects from call to
    call; the second call must need no more compiling."""
    run = Run()
    eager_args, eager_kwargs = copy.deepcopy((args, kwargs))
    our_args, our_kwargs = copy.deepcopy((args, kwargs))
    compiled = capture(fn, run)
    with overriding({"keep_empty_graphs": empty}):
        for call in range(calls):
            expected = observe(fn, eager_args, eager_kwargs)
            returned = expected[0][0] == "returned"
            found = observe(compiled, our_args, our_kwargs, must_return=returned)
            same(expected, found, f"call {call}", {})
            run.result = found[0][1]
    if graphs is not None:
        assert len(run.graphs) == graphs, f"{len(run.graphs)} graphs: {run.breaks} {run.skips}"
    if breaks is not None:
        assert len(run.breaks) == breaks, run.breaks
    return run

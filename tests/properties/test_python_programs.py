"""Random Python programs do under capture what they do eagerly, call after call.

    python -m tests.properties.test_python_programs 2000 --seed 0 [--backend auto]

runs programs without stopping, makes what differs small, and counts. With `--construct NAME` each
of them contains that construct; with `--spread` every fourth those that were rarest so far, and
the others show one statement of python_revealing each; `--counts` says how many contained each.
"""

import argparse
import ast
import contextlib
import enum
import faulthandler
import functools
import gc
import io
import itertools
import random
import re
import signal
import traceback
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from torch.utils.hooks import RemovableHandle

import minicompiler
from minicompiler.report.compare import cotangent
from tests.properties.python_programs import (
    CALLS,
    CONSTRUCTS,
    REVEALING,
    Grower,
    Program,
    eager_accepts,
    python_programs,
    restore_ambient,
)
from tests.properties.test_tensor_programs import first_stage_that_differs

SLOW = dict(deadline=None, suppress_health_check=list(HealthCheck))


# ---------------------------------------------------------------- what can be seen
class Seen:
    """Takes objects apart into comparable lists; an object met again is only numbered."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.storages: dict[int, int] = {}
        self.kept: list[Any] = []
        self.inside = 0  # how many iterators

    def of(self, v: Any) -> Any:
        if isinstance(v, enum.Enum):  # each module has its own class
            return [type(v).__qualname__, str(v), v.value]
        if type(v) is str:  # each module has its own name, too
            return ["str", self.text(v)]
        if v is None or type(v) in (bool, int, float, bytes, complex):
            return [type(v).__name__, v]
        if isinstance(v, int | float | str | bytes | complex):
            return [type(v).__qualname__, repr(v), self.of(getattr(v, "__dict__", None))]
        if isinstance(v, torch.dtype | torch.device | torch.Size | types.ModuleType | range):
            return [type(v).__name__, str(v)]
        if isinstance(v, np.generic):  # a value, as a float is: not numbered
            return [str(v.dtype), v.tolist()]
        if isinstance(v, tuple):
            return [type(v).__qualname__, *map(self.of, v)]
        if id(v) in self.numbers:
            return ["again", self.numbers[id(v)]]
        self.numbers[id(v)] = len(self.numbers)
        self.kept.append(v)
        if isinstance(v, torch.Tensor):
            with torch._C.DisableTorchFunctionSubclass():
                return [type(v).__qualname__, *self.parts(v), self.of(vars(v))]
        kind = "iterator" if isinstance(v, Iterator) else type(v).__qualname__
        subclassed = isinstance(v, list | dict | deque | set | frozenset | functools.partial)
        own = [self.of(vars(v))] if subclassed and hasattr(v, "__dict__") else []
        return [kind, *self.parts(v), *own]

    def text(self, text: str) -> str:
        """Without addresses, and without the name of the autograd node, which is a graph's."""
        return re.sub(r"<program \d+>|0x[0-9a-f]{6,}|(?<=grad_fn=)<\w+>", "<...>", text)

    def parts(self, v: Any) -> list[Any]:
        if isinstance(v, torch.Tensor):
            storage = v.untyped_storage()._cdata
            number = self.storages.setdefault(storage, len(self.storages))
            try:
                leaf = v.is_leaf
            except RuntimeError as error:  # a view whose base was written when it must not be
                return [str(error)]
            about = [v.dtype, tuple(v.shape), v.stride(), v.requires_grad, leaf, number]
            grad = self.of(v.grad) if leaf or v.retains_grad else None
            values = None if v.is_meta else v.detach().clone().as_subclass(torch.Tensor)
            return [*map(str, about), values, grad]
        if isinstance(v, np.ndarray):
            return [str(v.dtype), v.tolist()]
        if isinstance(v, torch.nn.Module):  # hooks are numbered through the whole process
            own = {
                k: [*x.values()] if "_hooks" in k and isinstance(x, dict) else x
                for k, x in vars(v).items()
            }
            return [self.of(own)]
        if isinstance(v, RemovableHandle):
            return []
        if isinstance(v, random.Random):
            return [hash(v.getstate())]
        if isinstance(v, functools._lru_cache_wrapper):
            return [*map(str, v.cache_info())]
        if isinstance(v, list | deque):
            return [getattr(v, "maxlen", None), *map(self.of, v)]
        if isinstance(v, dict):
            factory = self.of(getattr(v, "default_factory", None))
            return [factory, *([self.of(k), self.of(x)] for k, x in v.items())]
        if isinstance(v, set | frozenset):
            return sorted(map(self.text, map(repr, v)))
        if isinstance(v, types.FunctionType):
            cells = v.__closure__ or ()
            about = [v.__defaults__, v.__kwdefaults__, vars(v)]
            return [v.__qualname__, *map(self.of, about), *map(self.of, cells)]
        if isinstance(v, types.CellType):
            return [self.of(v.cell_contents)] if v != types.CellType() else []
        if isinstance(v, type):
            own = {k: x for k, x in vars(v).items() if not k.startswith("__")}
            own.pop("_value2member_map_", None)  # an enum remembers what it was asked for
            data = {k: x for k, x in own.items() if not callable(x) and not hasattr(x, "__get__")}
            return [v.__qualname__, sorted(own), self.of(data)]
        if isinstance(v, types.MethodType):
            return [self.of(v.__func__), self.of(v.__self__)]
        if isinstance(v, BaseException):
            rest = [v.__cause__, v.__context__]
            trace = traceback.extract_tb(v.__traceback__)
            lines = [at.lineno for at in trace if at.lineno and "<program" in at.filename]
            where = lines[-1:]  # frames of resume functions stand beside the program's
            if isinstance(v, RecursionError):
                where = []  # an evaluator takes of the depth, too
            return [self.of(v.args), self.of(vars(v)), where, *[type(e).__name__ for e in rest]]
        if isinstance(v, functools.partial):
            return [self.of(v.func), self.of(v.args), self.of(v.keywords)]
        if isinstance(v, Iterator):  # generators may give generators without end
            self.inside += 1
            found = self.of(self.rest_of(v)) if self.inside < 9 else "deep"
            self.inside -= 1
            return [found]
        slots = [getattr(v, n, None) for n in getattr(type(v), "__slots__", ())]
        return [self.of(vars(v)) if hasattr(v, "__dict__") else "", *map(self.of, slots)]

    def rest_of(self, it: Iterator[Any]) -> list[Any]:
        found = []
        try:
            found += itertools.islice(it, 8)
        except Exception as error:
            found.append(error)
        return found


def globals_of(module: dict[str, Any]) -> dict[str, Any]:
    """The module's variables and classes, in order of their names."""
    ours = (types.FunctionType, types.ModuleType)
    kept = {k: v for k, v in module.items() if not k.startswith("__") and not isinstance(v, ours)}
    return {
        k: kept[k]
        for k in sorted(kept)
        if not isinstance(kept[k], type) or kept[k].__module__ == module["__name__"]
    }


def gradients(found: Any, a: Any) -> Any:
    """Of the tensors that were returned, for the arguments x and y."""
    parts = found if isinstance(found, list | tuple) else [found]
    outputs = [t for t in parts if isinstance(t, torch.Tensor) and t.requires_grad]
    leaves = [t for t in (a.x, a.y) if t.requires_grad and t.is_leaf]
    if not outputs or not leaves:
        return None
    try:
        along = [cotangent(t) for t in outputs]
        keep = dict(allow_unused=True, retain_graph=True)
        return torch.autograd.grad(outputs, leaves, along, **keep)
    except Exception as error:  # a hook's own may be any
        return type(error).__name__


def ambient() -> list[Any]:
    modes = [torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")]
    states = [hash(random.getstate()), hash(str(np.random.get_state()))]
    states.append(hash(torch.get_rng_state().numpy().tobytes()))  # last
    return [str(torch.get_default_dtype()), torch.is_inference_mode_enabled(), *modes, *states]


def observe(program: Program, wrap: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Everything that can be seen after each call."""
    seen_calls = []
    module = program.module()
    f = wrap(module["f"])
    gc.disable()  # what is in cycles goes away some time, in Python as well
    try:
        a = module["inputs"]()
        for k in range(CALLS):
            out, found, error = io.StringIO(), None, None
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found = f(**vars(a))
                except minicompiler.CompilerError:
                    raise
                except (Exception, SystemExit) as raised:
                    error = raised
                seen = Seen()
                seen_calls.append(
                    {
                        "raised": seen.of(error),
                        "returned": seen.of(found),
                        "arguments": seen.of(vars(a)),
                        "globals": seen.of(globals_of(module)),
                        "printed": seen.of(out.getvalue()),
                        "ambient": ambient(),
                        "gradients": seen.of(gradients(found, a)),
                    }
                )
            module["change"](a, k)
    finally:
        gc.enable()
        restore_ambient()
    return seen_calls


def unlike(eager: Any, compiled: Any, exact: bool, path: str = "") -> str:
    """Where two descriptions differ; empty: nowhere."""
    if isinstance(eager, torch.Tensor) and isinstance(compiled, torch.Tensor):
        close = dict(rtol=0.0, atol=0.0) if exact else dict(rtol=1e-4, atol=1e-5)
        if eager.shape == compiled.shape and torch.allclose(
            eager.double(), compiled.double(), equal_nan=True, **close
        ):
            return ""
    elif type(eager) is not type(compiled):
        pass
    elif isinstance(eager, dict):
        found = [unlike(eager[k], compiled[k], exact, f"{path}.{k}") for k in eager]
        return next(filter(None, found), "")
    elif isinstance(eager, list) and len(eager) == len(compiled):
        for i, (left, right) in enumerate(zip(eager, compiled)):
            if text := unlike(left, right, exact, f"{path}[{i}]"):
                return text
        return ""
    elif repr(eager) == repr(compiled):  # tells -0.0 from 0.0, and nan is nan
        return ""
    elif isinstance(eager, float) and not exact and abs(eager - compiled) < 1e-4 * abs(eager):
        return ""
    return f"{path}: {compiled!r}, eager {eager!r}"


def check(program: Program, options: dict[str, object] | None = None) -> list[str]:
    """Run both ways; one text for the first call that differs."""
    eager = observe(program, lambda f: f)
    minicompiler.reset()
    options = {"verify": True} | (options or {})
    wrap = lambda f: minicompiler.compile(f, backend=program.backend, options=options)
    try:
        compiled = observe(program, wrap)
    except minicompiler.CompilerError as error:
        return [f"{type(error).__name__}: {error}"]
    calls = zip(itertools.count(), eager, compiled)
    found = [text for call in calls if (text := unlike_call(program, *call))]
    if found and not settled(program):
        return []
    return found[:1]


def unlike_call(program: Program, k: int, left: Any, right: Any) -> str:
    if program.backend != "eager":  # torch's generator: others draw a seed from it
        left["ambient"].pop(), right["ambient"].pop()
    if ".backward()" in program.source and right["gradients"] == ["str", "RuntimeError"]:
        left["gradients"] = right["gradients"]  # what a second backward finds is ours to keep
    return unlike(left, right, exact=program.backend == "eager", path=f"call {k}")


def settled(program: Program) -> bool:
    """Does eager agree with itself? Not where the program shows addresses or memory never written
    (an index on the device "meta"). All runs are behind the compiled one: what that has left is
    there in each of them."""
    first, *others = (observe(program, lambda f: f) for _ in range(5))
    return not any(unlike(dict(enumerate(first)), dict(enumerate(o)), True) for o in others)


def agrees(program: Program) -> None:
    found = check(program)
    if found:
        note(repr(program))
        if program.backend == "auto":
            note(f"differs first {first_stage_that_differs(program, check)}")
    assert not found, found


# ---------------------------------------------------------------- tests
@settings(max_examples=20, **SLOW)
@given(python_programs())
def test_capture(program: Program) -> None:
    agrees(program)


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_each_construct(construct: str) -> None:
    """There are programs with it: the generator reaches what its table lists."""
    for k in itertools.count():
        pick = random.Random(f"{construct} {k}").randrange
        program = Grower(pick).program(1, "eager", [construct])
        if construct in program.constructs:
            return agrees(program)


def test_each_statement_shown_alone() -> None:
    """Eager accepts each of them; some are compiled here, all by `--spread`."""
    for k, shown in enumerate(REVEALING):
        grower = Grower(random.Random(f"{shown} {k}").randrange, shown)
        program = grower.program(1, "eager")
        assert grower.shows, shown
        assert k % 3 or not (found := check(program)), (found, program)


@settings(max_examples=10, **SLOW)
@given(python_programs(backend="auto"))
def test_whole_path(program: Program) -> None:
    agrees(program)


@pytest.mark.slow
@settings(max_examples=600, **SLOW)
@given(python_programs(statements=9))
def test_long_programs(program: Program) -> None:
    agrees(program)


@pytest.mark.slow
@settings(max_examples=80, **SLOW)
@given(python_programs(statements=9, backend="auto"))
def test_long_programs_whole_path(program: Program) -> None:
    agrees(program)


# ---------------------------------------------------------------- many programs, each made small
def without(source: str, place: int, keep_body: bool) -> str | None:
    """The source without one statement, or with a compound one replaced by its body. Places count
    from the end; None where there is no such place."""
    tree = ast.parse(source)
    blocks = [
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list)
    ]
    places = [(block, k) for block in blocks for k in range(len(block))]
    if place >= len(places):
        return None
    block, k = places[-1 - place]
    inner = getattr(block[k], "body", None) if keep_body else []
    if not isinstance(inner, list) or (keep_body and not inner):
        return source
    block[k : k + 1] = inner
    if not block and not keep_body:
        block.append(ast.Pass())
    with contextlib.suppress(Exception):
        return ast.unparse(ast.fix_missing_locations(tree))
    return source


def shrink(program: Program, tries: int) -> Program:
    """Leave out statements as long as eager runs and the same kind of thing differs in a call."""
    kind: Callable[[list[str]], str] = lambda found: re.split(r"[\[:]", (found or [""])[0])[0]
    best, changed, wanted = program.source, True, kind(differs_at_all(program))
    while changed and tries > 0:
        changed, place = False, 0
        while tries > 0 and without(best, place, False) is not None:
            for keep_body in (False, True):
                source = without(best, place, keep_body)
                if source is None or len(source) >= len(best):
                    continue
                if not eager_accepts(source, raises=True):
                    continue
                tries -= 1
                if kind(differs_at_all(Program(source, program.backend))) == wanted:
                    best, changed = source, True
                    break
            else:
                place += 1
    return Program(best, program.backend)


class Hangs(BaseException):
    """A program that takes more than `SECONDS` of the processor."""


SECONDS, WAITS = 20, 120


def in_time(seconds: float, run: Callable[[], Any]) -> Any:
    """What it gives; None where it took longer, though it may have swallowed what stopped it, and
    gone on to the next loop without end."""
    late = []

    def stop(*_: Any) -> None:
        late.append(True)
        raise Hangs

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        found = run()
    except Hangs:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None if late else found


def differs_at_all(program: Program) -> list[str]:
    try:
        found = in_time(SECONDS, lambda: check(program))
    except Exception as error:
        return [f"not even run: {type(error).__name__}: {error}"]
    if found is not None:
        return found
    eager = in_time(SECONDS / 10, lambda: observe(program, lambda f: f))  # lists may double
    return [f"takes more than {SECONDS} s"] if eager is not None else []


def in_turn(seed: int, backend: str) -> Iterator[str]:
    """What short programs show, each as often as the others."""
    known = [t for t in REVEALING if backend == "eager" or "torch.rand(" not in t]
    return itertools.cycle(random.Random(seed).sample(known, len(known)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--statements", type=int, default=8)
    parser.add_argument("--tries", type=int, default=300, help="to make one program small")
    parser.add_argument("--construct", choices=CONSTRUCTS, help="that each program contains")
    parser.add_argument("--spread", action="store_true", help="each construct in its turn")
    parser.add_argument("--counts", action="store_true", help="of programs with each construct")
    parser.add_argument("--first", action="store_true", help="stop at the first that differs")
    parser.add_argument("--last", type=Path, help="file for the program being run, lest it crash")
    options = parser.parse_args()
    torch.set_num_threads(1)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    differ, made, counts = 0, 0, dict.fromkeys(CONSTRUCTS, 0)
    turns = in_turn(options.seed, options.backend)
    for seed in itertools.count(options.seed):
        if made == options.programs or (options.first and differ):
            break
        faulthandler.dump_traceback_later(WAITS, exit=True)  # where does it wait, and for what?
        asked = [options.construct] if options.construct else []
        asked = sorted(counts, key=counts.__getitem__)[:12] if options.spread else asked
        shown = next(turns) if options.spread and made % 4 else None
        grower = Grower(random.Random(seed).randrange, shown)
        program = grower.program(options.statements, options.backend, [] if shown else asked)
        if options.construct and options.construct not in program.constructs:
            continue  # eager accepted it nowhere
        made += 1
        for name in program.constructs:
            counts[name] += 1
        if options.last:
            options.last.write_text(f"# seed {seed}\n{program!r}")
        if found := differs_at_all(program):
            differ += 1
            small = shrink(program, options.tries) if found[0].startswith("call") else program
            print(f"==== seed {seed}: {found[0][:300]}\n{small.source}", flush=True)
    if options.counts:
        for name, count in sorted(counts.items(), key=lambda item: item[1]):
            print(f"{count:6} {name}")
    print(f"{made} programs from seed {options.seed}, {differ} differ")


if __name__ == "__main__":
    main()

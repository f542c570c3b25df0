"""`minicompiler explain FILE:FUNCTION` and `bisect`: every stage of a user's function, as text."""

import inspect
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

import minicompiler
from minicompiler.report.compare import clone
from minicompiler.report.explanation import ORDER


def show(target: str, arguments: str, then: str, stage: str) -> int:
    """Print the explanation, in colours and to its width where it goes to a terminal; 2 and one
    line on stderr where that cannot be."""
    try:
        if stage and stage not in ORDER:
            raise ValueError(f"there is no stage {stage!r}; the stages are {', '.join(ORDER)}")
        fn, inputs, *again = load(target, arguments, *filter(None, [then]))
    except (ValueError, OSError) as error:
        print(f"minicompiler explain: {error}", file=sys.stderr)
        return 2
    try:
        explanation = minicompiler.explain(fn, *inputs)
        for others in again:
            explanation.then(*others)
    except Exception as error:
        print(f"minicompiler explain: {raised(target, error)}", file=sys.stderr)
        return 2
    alone = stage == "recompiles" and not again
    nothing = f"{stage}: nothing{', as there was one call: a second is made with --then' * alone}"
    told = (getattr(explanation, stage) or nothing) if stage else explanation
    if sys.stdout.isatty():
        Console().print(told)
    else:
        print(told)
    return 0


def find_divergence(target: str, arguments: str) -> int:
    """Print what differs: 1; 0 where nothing does, 2 and one line on stderr where that cannot be
    told."""
    try:
        fn, inputs = load(target, arguments)
    except (ValueError, OSError) as error:
        print(f"minicompiler bisect: {error}", file=sys.stderr)
        return 2
    try:
        with torch.random.fork_rng():  # bisect would only find that both raise the same
            call, args = clone((fn, inputs))
            call(*args)
        found = minicompiler.bisect(fn, *inputs)
    except Exception as error:
        print(f"minicompiler bisect: {raised(target, error)}", file=sys.stderr)
        return 2
    print(found or "every stage agrees with eager")
    return 1 if found else 0


def raised(target: str, error: Exception) -> str:
    """What a function raised, and at which line of its file."""
    file, _, name = target.rpartition(":")
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    said = (str(error).splitlines() or [""])[0]
    return f"{name} raised {type(error).__name__}: {said} ({file}:{lines[-1] if lines else '?'})"


def load(target: str, *arguments: str) -> tuple[Any, ...]:
    """The function and its inputs, once for each text of arguments. Raises ValueError, in words for
    the user, or OSError."""
    file, _, name = target.rpartition(":")
    if not file or not name:
        raise ValueError(f"say FILE:FUNCTION, not {target!r}")
    if not Path(file).is_file():
        raise ValueError(f"there is no file {file}")
    try:
        scope = {"torch": torch, **runpy.run_path(file, run_name="explained")}
    except Exception as error:
        raise ValueError(f"{file} fails by itself: {type(error).__name__}: {error}") from error
    if not callable(fn := scope.get(name)):
        raise ValueError(f"{file} has no function {name!r}")
    return fn, *(inputs_of(fn, scope, file, name, text) for text in arguments)


def inputs_of(fn: Any, scope: dict[str, Any], file: str, name: str, text: str) -> tuple[Any, ...]:
    if not text:
        inputs = scope.get("example_inputs", ())
        inputs = inputs() if callable(inputs) else inputs
    else:
        try:
            inputs = eval(f"({text},)", scope)
        except Exception as error:
            raise ValueError(f"--args {text!r}: {type(error).__name__}: {error}") from error
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    try:
        inspect.signature(getattr(fn, "forward", fn)).bind(*inputs)
    except TypeError as error:
        raise ValueError(
            f"{name} does not take {len(inputs)} arguments ({error}); pass others with --args, or "
            f"give {file} a tuple `example_inputs`"
        ) from error
    return inputs

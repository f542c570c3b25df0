"""Plan -> a Python module that a person can read and run.

The text is what `explain` shows and what runs under `config.python_runtime`. It says the flat plan
(see runtime/plan.py, the one place that knows registers and arguments) step by step, and
names things as Inductor's wrapper does: `call(args)` takes and empties the list of inputs and
returns the list of outputs; each kernel is a function of its buffers. `runtime`
in the text is minicompiler.runtime.python_runtime.
"""

import keyword
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import torch

from ..ir.nodes import Extern
from ..ir.plan import Plan

HEADER = """\
import math

import torch

from minicompiler.runtime import python_runtime as runtime


def call(args):
"""
TAKEN = {"args", "call", "math", "runtime", "torch", *keyword.kwlist}


def emit(plan: Plan, flat: dict[str, Any]) -> str:
    """The module. Its kernels are not in it: the loader puts them beside `call` by name."""
    return HEADER + "".join(f"    {line}\n" for line in _Writer(plan, flat).lines())


class _Writer:
    """One handler for each kind of flat step, named as the step."""

    def __init__(self, plan: Plan, flat: dict[str, Any]) -> None:
        self.plan, self.flat = plan, flat
        self.names = [f"{name}_" if name in TAKEN else name for name in flat["names"]]

    def lines(self) -> Iterator[str]:
        inputs = self.flat["inputs"]
        yield f"[{', '.join(self.names[:inputs])}] = args"
        yield "args.clear()"
        for name, constant in zip(self.names[inputs:], self.flat["constants"]):
            yield f"{name} = constants[{constant!r}]"
        steps: list[Any] = self.plan.steps
        for step, (kind, *row) in zip(steps, self.flat["steps"], strict=True):
            if kind in ("launch", "call"):
                yield from self.origin(step)
            # a call is said in the terms of its schema, which the flat plan only follows
            yield from self.call(step.extern, *row) if kind == "call" else getattr(self, kind)(*row)
        yield f"return [{', '.join(map(self.value, self.flat['outputs']))}]"

    def origin(self, step: Any) -> Iterator[str]:
        """What of the user's program the next line computes, as a comment."""
        kernel, origins = getattr(step, "kernel", None), self.plan.program.origins
        names = [node.name for node in kernel.nodes] if kernel else step.extern.names
        if about := dict.fromkeys(text for n in names for text in origins.get(n, ())):
            yield textwrap.shorten(f"# {', '.join(about)}", 96, placeholder=" ...")

    # ------------------------------------------------------------------------------------- steps

    def alloc(self, k: int, device: Any, layout: Any) -> Iterator[str]:
        what = f"{self.layout(layout)}, device={self.value(device)}"
        yield f"{self.names[k]} = runtime.empty_strided({what})"

    def reuse(self, k: int, old: int, layout: Any) -> Iterator[str]:
        yield f"{self.names[k]} = runtime.reuse({self.names[old]}, {self.layout(layout)})"
        yield f"del {self.names[old]}"

    def launch(self, kernel: int, registers: Any, _: int) -> Iterator[str]:
        yield f"{self.flat['kernels'][kernel]}({', '.join(self.names[k] for k in registers)})"

    def call(
        self, extern: Extern, name: str, overload: str, arguments: Any, made: Any, expected: Any
    ) -> Iterator[str]:
        schema = (extern.out_variant or extern.target)._schema
        texts, by_name = list[str](), False
        for parameter, argument in zip(schema.arguments, arguments):
            by_name |= parameter.kwarg_only or argument == ["default"]
            if argument != ["default"]:
                key = f"{parameter.name}=" if by_name else ""
                texts.append(key + self.value(argument))
        results = ["_" if k < 0 else self.names[k] for k in made]
        listed = any(isinstance(r.type, torch.ListType) for r in schema.returns)
        several = results and (listed or len(results) > 1)
        target = f"[{', '.join(results)}] = " if several else "".join(f"{r} = " for r in results)
        operator = f"{name.replace('::', '.')}.{overload or 'default'}"
        yield f"{target}torch.ops.{operator}({', '.join(texts)})"
        for result, layout in ((r, e) for r, e in zip(results, expected) if e):
            yield f"{result} = runtime.foreseen({result}, {self.layout(layout)})"

    def free(self, k: int) -> Iterator[str]:
        yield f"del {self.names[k]}"

    # ------------------------------------------------------------------------------------ values

    def value(self, value: Any) -> str:
        """A number, argument or output as Python text."""
        match value:
            case ["register", k]:
                return str(self.names[k])
            case ["view", k, size, stride, offset]:
                return f"runtime.view({self.names[k]}, {tuple(size)}, {tuple(stride)}, {offset})"
            case ["list", items]:
                return f"[{', '.join(map(self.value, items))}]"
            case torch.device():
                return f"torch.device({str(value)!r})"
            case float() if not math.isfinite(value):
                return f"float({str(value)!r})"
        return repr(value)

    def layout(self, layout: Any) -> str:
        dtype, size, stride = layout
        return f"{tuple(size)}, {tuple(stride)}, dtype={dtype}"

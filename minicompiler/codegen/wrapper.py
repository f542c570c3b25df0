"""Plan -> a Python module that a person can read and run.

The text is what `explain` shows and what runs under `config.python_runtime`. It names things as
Inductor's wrapper does: `call(args)` takes and empties the list of inputs and returns the list of
outputs; each kernel is a function of its buffers. `runtime` in the text is
minicompiler.runtime.python_runtime.
"""

import keyword
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..errors import Unsupported
from ..ir.nodes import BufferRef, Computed, Extern
from ..symbolic.expr import Expr
from ..symbolic.printing import to_python

if TYPE_CHECKING:
    from ..schedule import plan as steps

HEADER = """\
import math

import torch

from minicompiler.runtime import python_runtime as runtime

"""
TAKEN = {"args", "call", "math", "runtime", "torch", *keyword.kwlist}


def emit(plan: "steps.Plan") -> str:
    """The module. Its kernels are not in it: the loader puts them beside `call` by name."""
    writer = _Writer(plan)
    body = [*writer.inputs(), *writer.body(), writer.outputs()]
    return HEADER + "\ndef call(args):\n" + "".join(f"    {line}\n" for line in body)


class _Writer:
    """One handler for each kind of step, named as the step; each yields lines."""

    def __init__(self, plan: "steps.Plan") -> None:
        self.plan, self.program = plan, plan.program
        self.layouts = dict(plan.program.layouts())
        computed = [o for o in self.program.operations if isinstance(o, Computed)]
        # what is written in place keeps the name of its memory
        self.older = {o.name: o.into for o in computed if o.into is not None}
        self.relied_on = plan.relied_on()
        self.alive: set[str] = set()

    def memory(self, name: str) -> str:
        """The variable that holds the memory of buffer `name`."""
        while name not in self.alive and name in self.older:
            name = self.older[name]
        return f"{name}_" if name in TAKEN else name

    def inputs(self) -> Iterator[str]:
        self.alive.update(self.program.inputs, self.program.constants)
        yield f"[{', '.join(map(self.memory, self.program.inputs))}] = args"
        yield "args.clear()"
        for name in self.program.constants:
            yield f"{self.memory(name)} = constants[{name!r}]"

    def body(self) -> Iterator[str]:
        for step in self.plan.steps:
            yield from getattr(self, type(step).__name__)(step)

    def outputs(self) -> str:
        return f"return [{', '.join(map(self.value, self.program.outputs))}]"

    # ------------------------------------------------------------------------------------- steps

    def Alloc(self, step: "steps.Alloc") -> Iterator[str]:
        self.alive.add(step.name)
        self.layouts[step.name] = layout = step.layout
        what = f"dtype={layout.dtype}, device={self.value(layout.device)}"
        where = f"{sizes(layout.size)}, {sizes(layout.stride)}"
        yield f"{self.memory(step.name)} = runtime.empty_strided({where}, {what})"

    def Reuse(self, step: "steps.Reuse") -> Iterator[str]:
        old, before, layout = self.memory(step.old), self.layouts[step.old], step.layout
        self.alive.add(step.name)
        self.layouts[step.name] = layout
        where = f"{sizes(layout.size)}, {sizes(layout.stride)}, dtype={layout.dtype}"
        what = old if before == layout else f"runtime.reuse({old}, {where})"
        yield f"{self.memory(step.name)} = {what}"
        yield f"del {old}"

    def Launch(self, step: "steps.Launch") -> Iterator[str]:
        yield from self.origin(node.name for node in step.kernel.nodes)
        yield f"{step.kernel.name}({', '.join(map(self.memory, step.args))})"

    def Call(self, step: "steps.Call") -> Iterator[str]:
        extern = step.extern
        yield from self.origin(name for name in extern.names if name)
        args = [*map(self.value, extern.args)]
        args += [f"{key}={self.value(value)}" for key, value in extern.kwargs.items()]
        names = [self.memory(name or "_") for name in extern.names]
        if extern.out_variant is None:
            self.alive.update(name for name in extern.names if name is not None)
            several = len(names) > 1 or returns_list(extern)
            made = f"[{', '.join(names)}] = " if several else "".join(f"{n} = " for n in names)
            yield f"{made}torch.ops.{extern.target}({', '.join(args)})"
            for name, result in zip(extern.names, names):
                if name in self.relied_on:
                    layout = self.layouts[name]
                    where = f"{sizes(layout.size)}, {sizes(layout.stride)}, {layout.dtype}"
                    yield f"{result} = runtime.foreseen({result}, {where})"
        else:
            args += [f"{key}={name}" for key, name in zip(out_arguments(extern), names)]
            yield f"torch.ops.{extern.out_variant}({', '.join(args)})"

    def Free(self, step: "steps.Free") -> Iterator[str]:
        yield f"del {self.memory(step.name)}"

    def origin(self, names: Iterator[str]) -> Iterator[str]:
        """What of the user's program the next line computes, as a comment."""
        about = dict.fromkeys(text for n in names for text in self.program.origins.get(n, ()))
        if about:
            yield textwrap.shorten(f"# {', '.join(about)}", 96, placeholder=" ...")

    # ------------------------------------------------------------------------------------ values

    def value(self, value: Any) -> str:
        """An argument or output as Python text."""
        match value:
            case BufferRef():
                return self.view(value)
            case Expr():
                return to_python(value)
            case torch.device():
                return f"torch.device({str(value)!r})"
            case float() if not math.isfinite(value):
                return f"float({str(value)!r})"
            case list():
                return f"[{', '.join(map(self.value, value))}]"
            case tuple():
                return f"({''.join(f'{self.value(v)}, ' for v in value).rstrip()})"
        return repr(value)

    def view(self, ref: BufferRef) -> str:
        layout, own = ref.layout, self.layouts[ref.name]
        if layout == own:
            return self.memory(ref.name)
        if layout.dtype != own.dtype:
            raise Unsupported(f"{ref.name} of {own.dtype} read as {layout.dtype}")
        where = f"{sizes(layout.size)}, {sizes(layout.stride)}, {to_python(layout.offset)}"
        return f"runtime.view({self.memory(ref.name)}, {where})"


def sizes(values: Sequence[Expr]) -> str:
    """A tuple of ints as Python text."""
    return f"({', '.join(map(to_python, values))}{',' if len(values) == 1 else ''})"


def out_arguments(extern: Extern) -> list[str]:
    """Names of the arguments that the out variant writes, in order."""
    assert extern.out_variant is not None
    arguments = extern.out_variant._schema.arguments
    return [a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write]


def returns_list(extern: Extern) -> bool:
    """Does the operator return one list of tensors, rather than tensors?"""
    returns = extern.target._schema.returns
    return len(returns) == 1 and isinstance(returns[0].type, torch.ListType)

"""Plan -> flat plan: lists, dicts, strings and numbers, as JSON has them, and torch's names for
dtypes, devices, layouts and memory formats; never code.

This is what the run-time extension executes. A tensor lives in a numbered register, inputs first,
then constants. Steps, and what an argument of a call may be:

    ["alloc", register, device, layout]
    ["reuse", register, old register, layout]
    ["launch", kernel, [register], how many of these are written in place]
    ["call", operator, overload, [argument] in the order of the schema, [register or -1],
             [layout or null]]    what each result must be, where that matters
    ["free", register]
    layout = [dtype, [size], [stride]]
    argument = None, bool, int, float, str, complex, a name of torch's | ["list", [argument]]
             | ["register", r] | ["view", r, [size], [stride], offset] | ["default"]
    outputs:  argument of the kinds None, bool, int, float, register, view
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from ..errors import Unsupported
from ..ir import plan as steps
from ..ir.nodes import BufferRef, Computed, Layout, defined
from ..ir.plan import KernelSource
from ..symbolic.expr import Expr

Flat: TypeAlias = dict[str, Any]

NAMES = torch.dtype, torch.device, torch.layout, torch.memory_format


def flatten(plan: steps.Plan, sources: Sequence[KernelSource]) -> Flat:
    """The flat plan. Raises Unsupported for what it cannot say."""
    return _Flattener(plan, sources).flat()


class _Flattener:
    """One handler for each kind of step, named as the step."""

    def __init__(self, plan: steps.Plan, sources: Sequence[KernelSource]) -> None:
        self.plan, self.program = plan, plan.program
        self.sources = list(sources)
        self.kernels = {source.name: k for k, source in enumerate(sources)}
        self.layouts = plan.program.layouts()
        self.relied_on = plan.relied_on()
        operations = self.program.operations
        self.older = {
            o.name: o.into for o in operations if isinstance(o, Computed) and o.into is not None
        }
        self.registers: dict[str, int] = {}
        self.steps: list[list[Any]] = []

    def flat(self) -> Flat:
        for name in (*self.program.inputs, *self.program.constants):
            self.new(name)
        for step in self.plan.steps:
            getattr(self, type(step).__name__)(step)
        gpus = {k.device for k in self.plan.kernels if k.device.type == "cuda"}
        if len(gpus) > 1:
            raise Unsupported(f"kernels on {' and '.join(sorted(map(str, gpus)))} in one graph")
        return {
            "name": self.program.name,
            "inputs": len(self.program.inputs),
            "constants": list(self.program.constants),
            "kernels": [source.name for source in self.sources],
            "checks": [list(source.checks) for source in self.sources],
            "steps": self.steps,
            "outputs": [self.argument(output) for output in self.program.outputs],
            "gpu": gpus.pop() if gpus else None,
            "names": list(self.registers),
        }

    def new(self, name: str) -> int:
        return self.registers.setdefault(name, len(self.registers))

    def memory(self, name: str) -> int:
        """The register that holds the memory of buffer `name`."""
        while name not in self.registers:
            name = self.older[name]
        return self.registers[name]

    # ------------------------------------------------------------------------------------- steps

    def Alloc(self, step: steps.Alloc) -> None:
        layout = step.layout
        self.steps.append(["alloc", self.new(step.name), layout.device, flat_layout(layout)])

    def Reuse(self, step: steps.Reuse) -> None:
        old = self.memory(step.old)
        self.steps.append(["reuse", self.new(step.name), old, flat_layout(step.layout)])

    def Launch(self, step: steps.Launch) -> None:
        kernel = self.kernels[step.kernel.name]
        registers = list(map(self.memory, step.args))
        self.steps.append(["launch", kernel, registers, len(step.kernel.mutated)])

    def Call(self, step: steps.Call) -> None:
        extern = step.extern
        written = extern.out_variant
        schema = (written or extern.target)._schema
        given = dict(zip((a.name for a in schema.arguments), extern.args)) | extern.kwargs
        outs = list(defined(extern))
        arguments: list[Any] = []
        for parameter in schema.arguments:
            if written and parameter.alias_info is not None and parameter.alias_info.is_write:
                listed = isinstance(parameter.type, torch.ListType)
                out = [["register", self.memory(n)] for n in (outs if listed else outs[:1])]
                outs = outs[len(out) :]
                arguments.append(["list", out] if listed else out[0])
            elif parameter.name in given:
                arguments.append(self.argument(given[parameter.name]))
            else:
                arguments.append(["default"])
        names = () if written else extern.names
        made = [-1 if n is None else self.new(n) for n in names]
        expected = [flat_layout(self.layouts[n]) if n in self.relied_on else None for n in names]
        name, overload = schema.name, schema.overload_name
        self.steps.append(["call", name, overload, arguments, made, expected])

    def Free(self, step: steps.Free) -> None:
        self.steps.append(["free", self.memory(step.name)])

    # --------------------------------------------------------------------------------- arguments

    def argument(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, complex, str, *NAMES)):
            return value
        if isinstance(value, BufferRef):
            return self.view(value)
        if isinstance(value, Expr):
            return int(value)
        if isinstance(value, (list, tuple)):
            return ["list", [self.argument(v) for v in value]]
        raise Unsupported(f"a plan cannot hold {value!r}")

    def view(self, ref: BufferRef) -> list[Any]:
        layout, own = ref.layout, self.layouts[ref.name]
        register = self.memory(ref.name)
        if layout == own:
            return ["register", register]
        if layout.dtype != own.dtype:
            raise Unsupported(f"{ref.name} of {own.dtype} read as {layout.dtype}")
        _, size, stride = flat_layout(layout)
        return ["view", register, size, stride, int(layout.offset)]


def flat_layout(layout: Layout) -> list[Any]:
    return [layout.dtype, *layout.numbers]

"""Programs run through schedule, C++ and the Python wrapper."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from minicompiler import codegen, runtime, schedule
from minicompiler.decompositions import decompose
from minicompiler.ir.nodes import BufferRef, Computed, Layout, Pointwise, Program
from minicompiler.ir.plan import KernelSource, Launch, Plan
from minicompiler.lowering import KNOWN, lower
from minicompiler.settings import overriding
from minicompiler.symbolic.expr import as_expr, product
from tests.lowering.tracing import duplicate, trace

CPU = torch.device("cpu")
Function = Callable[..., Any]


def layout(size: Sequence[Any], dtype: torch.dtype = torch.float32, stride: Any = None) -> Layout:
    size = tuple(map(as_expr, size))
    if stride is None:
        stride = [product(size[d + 1 :]) for d in range(len(size))]
    return Layout(CPU, dtype, size, tuple(map(as_expr, stride)))


def pointwise(name: str, size: Sequence[Any], dtype: torch.dtype, inner: Function) -> Computed:
    where = layout(size, dtype)
    return Computed(name, where, Pointwise(where.size, inner))


def program(
    operations: Sequence[Any], outputs: Sequence[str], **inputs: Layout | Tensor
) -> Program:
    """A program of these operations; an input may be given as a tensor of its layout."""
    made = Program("graph", {})
    for name, x in inputs.items():
        if isinstance(x, Tensor):
            x = layout(x.shape, x.dtype, x.stride())
        made.inputs[name] = x
    made.operations = list(operations)
    layouts = made.layouts()
    made.outputs = tuple(BufferRef(name, layouts[name]) for name in outputs)
    return made


def planned(what: Program | Function, *inputs: Tensor, fusion: bool = True) -> Plan:
    """The verified plan of a program, or of what a function does to `inputs`."""
    if not isinstance(what, Program):
        graph = trace(what, *map(duplicate, inputs))
        writes = any(node.target is torch.ops.aten.copy_.default for node in graph.graph.nodes)
        what = lower(graph if writes else decompose(graph, KNOWN))
    with overriding({"fusion": fusion}):
        plan = schedule.schedule(what)
    schedule.verify_plan(plan)
    return plan


def generated(plan: Plan) -> tuple[list[KernelSource], Callable[[list[Any]], list[Any]]]:
    """The kernels of a plan, and the plan as a function."""
    sources = codegen.generate(plan)
    with overriding({"python_runtime": True}):
        flat = runtime.flatten(plan, sources)
        return sources, runtime.load(plan, sources, flat, codegen.wrapper(plan, flat))


def outputs(what: Program | Function, *inputs: Tensor, fusion: bool = True) -> list[Any]:
    """What the kernels give; they work on `inputs` themselves."""
    return generated(planned(what, *inputs, fusion=fusion))[1](list(inputs))


def check(
    f: Function, *inputs: Tensor, rtol: float = 1e-5, atol: float = 1e-6, kernels: int | None = None
) -> list[KernelSource]:
    """`f` compiled gives what eager gives, in values and mutations; `kernels`: launches made."""
    plan = planned(f, *inputs)
    sources, run = generated(plan)
    ours, theirs = list(map(duplicate, inputs)), list(map(duplicate, inputs))
    got = run(list(ours))
    with torch.no_grad():
        expected = f(*theirs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for a, b in zip([*got, *ours], [*expected, *theirs], strict=True):
        assert a.dtype == b.dtype and a.stride() == b.stride()
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if kernels is not None:
        assert launches(plan) == kernels, plan.program
    return sources


def launches(plan: Plan) -> int:
    return sum(isinstance(step, Launch) for step in plan.steps)


def body(source: KernelSource) -> str:
    """The kernel without the functions it calls."""
    return source.text[source.text.index('extern "C"') :]

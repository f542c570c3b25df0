"""Code generation: the kernels of a plan as C++ (CPU) or Triton (CUDA) text, and the wrapper.

In: a Plan (schedule). Out: a KernelSource for each distinct kernel; `wrapper` makes a Python module
that runs the whole plan. Invariant: the text computes what the loop bodies say, value for value.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import Unsupported
from .source import KernelSource
from .wrapper import emit as wrapper

if TYPE_CHECKING:
    from ..schedule.plan import Kernel, Plan

__all__ = ["KernelSource", "generate", "wrapper"]


def generate(plan: "Plan") -> list[KernelSource]:
    """The text of every kernel, once for those that differ in the names of buffers only.

    Their launches in `plan` are made launches of the one that stays.
    """
    sources: list[KernelSource] = []
    known: dict[str, Kernel] = {}
    steps: list[Any] = plan.steps
    for number, step in enumerate(steps):
        if not hasattr(step, "kernel"):
            continue
        kernel: Kernel = step.kernel
        source = emit(kernel, plan)
        key = source.text.replace(kernel.name, "kernel")
        if key not in known:
            known[key] = kernel
            sources.append(source)
        steps[number] = replace(step, kernel=known[key])
    return sources


def emit(kernel: "Kernel", plan: "Plan") -> KernelSource:
    """One kernel in the language of its device."""
    if kernel.device.type == "cpu":
        from .cpp import CppWriter

        return CppWriter(kernel, plan).source()
    if kernel.device.type == "cuda":
        from .triton import TritonWriter

        return TritonWriter(kernel, plan).source()
    raise Unsupported(f"kernels for the device {kernel.device}")

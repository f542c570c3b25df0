"""Code generation: the kernels of a plan as C++ (CPU) or Triton (CUDA) text, and the wrapper.

In: a Plan (schedule). Out: a KernelSource for each distinct kernel; `wrapper` makes a Python module
that runs the whole plan. Invariant: the text computes what the loop bodies say, value for value.
"""

from dataclasses import replace

from ..errors import Unsupported
from ..ir.plan import Kernel, KernelSource, Launch, Plan
from .cpp import CppWriter
from .triton import TritonWriter
from .wrapper import emit as wrapper

__all__ = ["KernelSource", "generate", "wrapper"]

WRITERS: dict[str, type[CppWriter | TritonWriter]] = {"cpu": CppWriter, "cuda": TritonWriter}


def generate(plan: Plan) -> list[KernelSource]:
    """The text of every kernel, once for those that differ in the names of buffers only.

    Their launches in `plan` are made launches of the one that stays.
    """
    sources: list[KernelSource] = []
    known: dict[str, Kernel] = {}
    for number, step in enumerate(plan.steps):
        if not isinstance(step, Launch):
            continue
        kernel = step.kernel
        source = emit(kernel, plan)
        key = source.text.replace(kernel.name, "kernel")
        if key not in known:
            known[key] = kernel
            sources.append(source)
        plan.steps[number] = replace(step, kernel=known[key])
    return sources


def emit(kernel: Kernel, plan: Plan) -> KernelSource:
    """One kernel in the language of its device."""
    if kernel.device.type not in WRITERS:
        raise Unsupported(f"kernels for the device {kernel.device}")
    return WRITERS[kernel.device.type](kernel, plan).source()

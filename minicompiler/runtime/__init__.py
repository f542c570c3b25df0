"""Plan and kernel texts -> something to call.

In: a schedule Plan, the KernelSources of its kernels, the flat plan, the wrapper text.
Out: a callable: list of inputs -> list of outputs; the list of inputs is emptied. And with a
forward, a backward and their Signature: what the captured function was, for autograd too.
Invariant: the Python wrapper and the run-time extension give the same outputs, write the same
inputs and raise the same errors.
"""

from collections.abc import Callable, Sequence
from ctypes import c_void_p, cast
from typing import Any

from ..ir.plan import KernelSource, Plan
from ..ir.signature import Signature
from . import autograd, build, extension, python_runtime, triton
from .plan import flatten
from .python_runtime import Flat

__all__ = ["bind", "flatten", "load"]


def load(plan: Plan, sources: Sequence[KernelSource], flat: dict[str, Any], wrapper: str) -> Flat:
    """Something that runs `plan`.

    Raises NoCompiler, BuildFailed and DiskFull (all Unsupported) where kernels cannot be built.
    """
    constants = plan.program.constants
    on_cpu = {kernel.name for kernel in plan.kernels if kernel.device.type == "cpu"}
    native: dict[str, Any] = build.compile_cpp([s for s in sources if s.name in on_cpu])
    launchers: dict[str, Any] = {
        source.name: triton.load(source) for source in sources if source.name not in native
    }
    if made := extension.module():
        launchers |= {name: cast(kernel, c_void_p).value for name, kernel in native.items()}
        kernels = [launchers[source.name] for source in sources]
        loaded: Flat = made.Plan(flat, kernels, list(constants.values()))
        return loaded
    for source in sources:
        if source.name in native:
            launchers[source.name] = python_runtime.launcher(native[source.name], source)
    return python_runtime.load(wrapper, launchers, constants, plan.program.name)


def bind(
    signature: Signature, forward: Flat, backward: autograd.Backward | None
) -> Callable[..., Any]:
    """f(*inputs), which returns the tuple that the captured function returns, and is a function
    that autograd can differentiate."""
    made = extension.module()
    make: Callable[..., Callable[..., Any]] = made.Function if made else autograd.bind
    return make(signature, forward, backward)

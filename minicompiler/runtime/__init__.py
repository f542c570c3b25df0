"""Plan and kernel texts -> something to call.

In: a schedule Plan, the KernelSources of its kernels, the wrapper text.
Out: a callable: list of inputs -> list of outputs; the list of inputs is emptied.
Invariant: the Python wrapper and the run-time extension give the same outputs, write the same
inputs and raise the same errors.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import build, extension, python_runtime
from .plan import flatten
from .python_runtime import Flat

if TYPE_CHECKING:
    from ..codegen.source import KernelSource
    from ..schedule.plan import Plan


def load(plan: "Plan", sources: "Sequence[KernelSource]", wrapper: str) -> Flat:
    """Something that runs `plan`.

    Raises NoCompiler, BuildFailed and DiskFull (all Unsupported) where kernels cannot be built.
    """
    constants = plan.program.constants
    native = build.compile_cpp(sources)
    if made := extension.module():
        addresses = [native[source.name].address for source in sources]
        loaded: Flat = made.Plan(flatten(plan, sources), addresses, list(constants.values()))
        return loaded
    launchers = {s.name: python_runtime.launcher(native[s.name], s) for s in sources}
    return python_runtime.load(wrapper, launchers, constants, plan.program.name)

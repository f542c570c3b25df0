"""Generated Triton text -> something to launch.

Triton reads a kernel's source from a file, so the text is stored in the cache folder under the hash
of its content; what Triton makes of it lies in Triton's own cache.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..ir.plan import KernelSource
from . import store

THREADS = 32  # in a warp


class Launcher:
    """`launch(*buffers)` of a kernel's module; it returns before the kernel ends."""

    def __init__(self, launch: Callable[..., tuple[Any, Any]]) -> None:
        self.launch = launch  # -> grid, what Triton compiled

    def __call__(self, *args: Any) -> None:
        self.launch(*args)

    def record(self, *args: Any) -> list[Any] | None:
        """Launch, and say how to launch the same again with other buffers of the same alignment.

        [address of the device function, grid, threads, shared bytes]; None where the machine code
        takes more than buffers.
        """
        grid, compiled = self.launch(*args)
        about = compiled.metadata
        more = ("launch_cooperative_grid", "global_scratch_size", "profile_scratch_size")
        if about.num_ctas != 1 or any(getattr(about, name, 0) for name in more):
            return None
        return [compiled.function, [*grid, 1, 1][:3], THREADS * about.num_warps, about.shared]


def load(source: KernelSource) -> Launcher:
    def write(folder: Path) -> None:
        (folder / "kernel.py").write_text(source.text)

    path, _ = store.fetch("triton", store.digest(source.text), "kernel.py", write)
    return Launcher(store.imported(f"minicompiler_{source.name}", path).launch)

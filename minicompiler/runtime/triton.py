"""Generated Triton text -> something to launch.

Triton reads a kernel's source from a file, so the text is stored in the cache folder under the hash
of its content; what Triton makes of it lies in Triton's own cache.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InternalError
from . import store

if TYPE_CHECKING:
    from ..codegen.source import KernelSource


def load(source: "KernelSource") -> Callable[..., None]:
    """The `launch(*buffers, *symbols)` of a kernel's module; it returns before the kernel ends."""

    def write(folder: Path) -> None:
        (folder / "kernel.py").write_text(source.text)

    path, _ = store.fetch("triton", store.digest(source.text), "kernel.py", write)
    spec = importlib.util.spec_from_file_location(f"minicompiler_{source.name}", path)
    if spec is None or spec.loader is None:
        raise InternalError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    launch: Callable[..., Any] = module.launch
    return launch

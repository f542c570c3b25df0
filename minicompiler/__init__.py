"""minicompiler: torch.compile, small enough to read in a week.

    import minicompiler

    @minicompiler.compile
    def f(x, w):
        return torch.relu(x @ w).sum()

The conventions are those of torch.compile. Start reading at `pipeline.py`, which names every stage.
"""

from .api import (
    bisect,
    compile,
    disable,
    dynamo_backend,
    explain,
    graph_break,
    is_compiling,
    list_backends,
    register_backend,
    reset,
    stats,
)
from .errors import BackendError, CompilerError, InternalError, Unsupported, UserError
from .settings import config

__all__ = [
    "BackendError",
    "CompilerError",
    "InternalError",
    "Unsupported",
    "UserError",
    "bisect",
    "compile",
    "config",
    "disable",
    "dynamo_backend",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "register_backend",
    "reset",
    "stats",
]

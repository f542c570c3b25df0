"""minicompiler: torch.compile, small enough to read in a week.

    import minicompiler

    @minicompiler.compile
    def f(x, w):
        return torch.relu(x @ w).sum()

The conventions are those of torch.compile. Start reading at `pipeline.py`, which names every stage.
"""

# ruff: noqa: I001  (imports fill their lines)

from .api import bisect, compile, disable, dynamo_backend, explain, graph_break, is_compiling
from .api import list_backends, register_backend, reset, stats
from .errors import BackendError, CompilerError, InternalError, Unsupported, UserError
from .settings import config

# as torch.compile has them; what else tells about a compilation; what can go wrong
__all__ = ["compile", "disable", "graph_break", "is_compiling", "reset", "config"]
__all__ += ["bisect", "explain", "stats", "dynamo_backend", "list_backends", "register_backend"]
__all__ += ["BackendError", "CompilerError", "InternalError", "Unsupported", "UserError"]

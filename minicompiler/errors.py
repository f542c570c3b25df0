"""What can go wrong, in the words of the person who wrote the program.

`Unsupported` is the compiler's own signal: a stage met something that it cannot prove right. The
stage above then breaks the graph or runs eagerly; it becomes visible only under `fullgraph=True`.
Everything a user sees derives from `CompilerError` and says what to do instead.
"""

import functools
import sys
import warnings


class CompilerError(RuntimeError):
    """Base of every error that the compiler itself raises at its user."""


class Unsupported(CompilerError):
    """This program, or this part of it, runs eagerly. `hint` says how it could be compiled."""

    def __init__(self, reason: str, hint: str = "", where: str = "") -> None:
        self.reason, self.hint, self.where = reason, hint, where
        super().__init__(reason, hint, where)

    def __str__(self) -> str:
        place = f"\n  at {self.where}" if self.where else ""
        way_out = f"\n  instead: {self.hint}" if self.hint else ""
        return f"{self.reason}{place}{way_out}"


class BackendError(CompilerError):
    """A backend failed on a graph; carries the backend's name and the graph's first user line."""


class InternalError(CompilerError):
    """An invariant of the compiler does not hold: our fault. Names the stage."""


class UserError(CompilerError):
    """The compiler was called wrongly (an unknown backend, option or mode)."""


def warn(text: str) -> None:
    """A warning at the line of the user's that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(f"minicompiler: {text}", stacklevel=level)


warn_once = functools.cache(warn)  # in this process, for each text

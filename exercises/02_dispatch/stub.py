"""What runs in the place of a frame that no entry fits? Replace the line that raises."""

from collections.abc import Callable
from types import CodeType
from typing import Any

from minicompiler.capture.cache import Compiled, cache_of, with_found
from minicompiler.errors import warn
from minicompiler.report import current
from minicompiler.settings import config


def find_or_compile(
    code: CodeType,
    f_globals: dict[str, Any],
    vector: tuple[Any, ...],
    region: object,
    compile: Callable[[], Compiled | None],
) -> Callable[..., Any] | None:
    raise NotImplementedError("write me")

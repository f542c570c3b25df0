"""An object from outside, met for the first time. Replace the line that raises."""

from types import CellType, FunctionType, MappingProxyType, MethodType  # noqa: F401
from typing import Any

import torch  # noqa: F401

from minicompiler.capture import source as sources  # noqa: F401
from minicompiler.capture.evaluator import IMMUTABLE, Evaluation  # noqa: F401
from minicompiler.capture.facts import ARRAY  # noqa: F401
from minicompiler.capture.frame_hook import MISSING  # noqa: F401
from minicompiler.capture.source import Field, Source, field  # noqa: F401
from minicompiler.capture.values import (  # noqa: F401
    Cell,
    Const,
    Dict,
    Function,
    Method,
    Obj,
    Set,
    Slice,
    Value,
    c_method,
    is_fixed,
    is_literal,
    refuse,
)


def _wrap_new(self: Evaluation, real: Any, source: Source | None) -> Value:
    raise NotImplementedError("write me")

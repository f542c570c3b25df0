"""What evaluation knows about Python objects: one class for each kind that behaves differently."""

# ruff: noqa: I001  (imports fill their lines)

from .base import ABSENT as ABSENT, FALSE as FALSE, FIXED as FIXED, NONE as NONE, NULL as NULL
from .base import TRUE as TRUE, Const as Const, Lazy as Lazy, Null as Null, Obj as Obj
from .base import Raised as Raised, Value as Value, const_bool as const_bool, constant as constant
from .base import describe as describe, is_fixed as is_fixed, is_literal as is_literal
from .base import new_exception as new_exception, python_value as python_value, refuse as refuse
from .base import Tensor as Tensor, trusted as trusted
from .containers import Dict as Dict, List as List, Sequence as Sequence, keyed as keyed
from .containers import Set as Set, Slice as Slice, Tuple as Tuple, View as View, key_of as key_of
from .functions import Cell as Cell, Function as Function, Generator as Generator
from .functions import Iterator as Iterator, Method as Method, Stepped as Stepped, Super as Super

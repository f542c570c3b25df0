"""What evaluation knows about Python objects: one class for each kind that behaves differently."""

from .base import (
    ABSENT,
    FALSE,
    FIXED,
    NONE,
    NULL,
    TRUE,
    Const,
    Lazy,
    Null,
    Obj,
    Raised,
    Value,
    const_bool,
    constant,
    describe,
    is_fixed,
    is_literal,
    new_exception,
    python_value,
    refuse,
    throw,
)
from .containers import Dict, Items, List, Sequence, Set, Slice, Tuple, View, key_of
from .functions import (
    Cell,
    Function,
    Generator,
    Iterator,
    Method,
    Super,
    constant_iterator,
    sequence_iterator,
    snapshot_iterator,
)
from .tensor import Tensor

__all__ = """ABSENT FALSE NONE NULL TRUE Cell Const Dict Function Generator Items Iterator Lazy List
Method Null Obj Raised Sequence Set Slice Super Tensor Tuple Value View const_bool constant
constant_iterator describe is_fixed is_literal key_of new_exception python_value refuse sequence_iterator
snapshot_iterator throw""".split()

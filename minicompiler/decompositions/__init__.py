"""Large operators as small ones, and graph passes.

In:         a functional ATen graph, and the operators that the next stage knows.
Out:        a graph of the same function; what is neither known nor has a rule stays as it is.
Invariant:  every value keeps its dtype, size and strides, and its number up to the order of
            floating-point sums; half precision is computed in float32 and rounded where eager
            rounds.
"""

from . import activations, from_torch, losses, normalization, tensors, windows  # noqa: F401
from .retrace import decompose
from .table import RULES

__all__ = ["RULES", "decompose"]

"""Sizes as expressions, and tensors that have nothing but a shape.

In:         nothing of the compiler's: Python numbers, real tensors, calls of ATen operators.
Out:        Expr (expr.py) with ranges (ranges.py) and texts (printing.py); TensorSpec (shapes.py);
            Fake and FakeMode (fake.py), on which the other stages run programs without computing;
            Emitter (emitter.py), by which they write graphs of ATen calls.
Invariant:  an expression equals its rewritten form for all values within the given ranges; a Fake
            has the shape, strides, dtype, device and aliasing of the tensor that eager would make.
"""

from . import rules as rules  # registers itself
from .expr import Const, Expr, Symbol, as_expr, sym
from .fake import Fake, FakeMode
from .printing import to_c, to_python, to_triton
from .ranges import Interval, bounds, index_range, simplify
from .shapes import TensorSpec, spec_of

__all__ = ["Const", "Expr", "Symbol", "as_expr", "sym", "Fake", "FakeMode", "TensorSpec", "spec_of"]
__all__ += ["to_c", "to_python", "to_triton", "Interval", "bounds", "index_range", "simplify"]

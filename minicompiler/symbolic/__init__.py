"""Sizes as expressions, and tensors that have nothing but a shape.

In:         nothing of the compiler's: Python numbers, real tensors, calls of ATen operators.
Out:        Expr (expr.py) with ranges (ranges.py) and texts (printing.py); TensorSpec (shapes.py);
            Fake and FakeMode (fake.py), on which the other stages run programs without computing;
            Emitter (emitter.py), by which they write graphs of ATen calls.
Invariant:  an expression equals its rewritten form for all values within the given ranges; a Fake
            has the shape, strides, dtype, device and aliasing of the tensor that eager would make.
"""

from . import rules as rules  # registers itself

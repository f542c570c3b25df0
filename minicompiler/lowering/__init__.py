"""ATen graph to loop IR: each operator becomes loops, a view, or a call.

In: fx.GraphModule of functional ATen calls, `meta["val"]` a TensorSpec (or a tuple, or a size).
Out: ir.Program. Invariant: the program computes what the graph computes in eager, in eager's
dtypes, roundings and output strides; what has no lowering is an Extern of kind "fallback".
"""

from .graph import KNOWN, lower

__all__ = ["KNOWN", "lower"]

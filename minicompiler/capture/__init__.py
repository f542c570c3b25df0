"""Capture: the bytecode of a frame is evaluated symbolically, into a graph and what is around it.

In: a code object and the arguments of a call. Out: guards, a graph of tensor operators, and a
replacement: the function that runs in place of the frame. Invariant: where the guards hold, the
replacement does what Python would have done; what cannot be proved to be so runs eagerly.
"""

"""Plan and kernel texts -> something to call.

In: a schedule Plan, the KernelSources of its kernels, the wrapper text.
Out: a callable: list of inputs -> list of outputs; the list of inputs is emptied.
Invariant: the Python wrapper and the run-time extension give the same outputs, write the same
inputs and raise the same errors.
"""

"""What code generation hands to the run time for each kernel."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The text of one kernel, complete and readable, and how to call it.

    `args`: the buffers in the order of the kernel's parameters, by the names that the text was
    written for; a launch passes its own buffers in this order (`Launch.args`), as equal kernels
    share one text. `checks[k - 1]` is the message of the IndexError for return value k.

    C++:  extern "C" int64_t NAME(void** buffers)
    Base pointers are data pointers; a layout's offset is part of the index expressions, as sizes
    are: numbers in the text.
    """

    name: str
    text: str
    args: tuple[str, ...]
    checks: tuple[str, ...] = ()

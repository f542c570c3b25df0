"""What a wrapper module calls, in Python: the path for debugging, and where nothing is built.

The run-time extension does the same from C++; the tests hold the two against one another.
"""

import contextlib
import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd import profiler

from ..ir.plan import KernelSource
from .build import Native

Flat: TypeAlias = Callable[[list[Any]], list[Any]]
Launchers: TypeAlias = Mapping[str, Callable[..., None]]
Sizes: TypeAlias = Sequence[int]

empty_strided = torch.empty_strided


def view(buffer: Tensor, size: Sizes, stride: Sizes, offset: int) -> Any:
    """The memory of `buffer` seen otherwise; `offset` counts elements from its data pointer."""
    return torch.as_strided(buffer, size, stride, buffer.storage_offset() + offset)


def reuse(old: Tensor, size: Sizes, stride: Sizes, dtype: torch.dtype) -> Tensor:
    """A tensor over the memory of one that is no more."""
    storage = old.untyped_storage()
    return torch.empty(0, dtype=dtype, device=old.device).set_(storage, 0, size, stride)


def foreseen(made: Tensor, size: Sizes, stride: Sizes, dtype: torch.dtype) -> Tensor:
    """What an operator returned, in the strides that were foreseen. Raises RuntimeError where it
    is of another size or dtype."""
    if tuple(made.shape) != tuple(size) or made.dtype != dtype:
        raise RuntimeError(
            f"{made.dtype}{list(made.shape)} is not the {dtype}{list(size)} foreseen"
        )
    return laid_out(made, stride)


def laid_out(x: Tensor, stride: Sizes) -> Tensor:
    """`x` with these strides; those of dimensions of size 1 do not matter."""
    if x.numel() == 0 or all(n == 1 or a == b for n, a, b in zip(x.shape, x.stride(), stride)):
        return x
    return torch.empty_strided(x.shape, stride, dtype=x.dtype, device=x.device).copy_(x)


def named(name: str) -> AbstractContextManager[Any]:
    """Seen in a profile under this name; costs next to nothing while none is taken."""
    recording = profiler._is_profiler_enabled
    return torch.profiler.record_function(name) if recording else contextlib.nullcontext()


def launcher(kernel: Native, source: KernelSource) -> Callable[..., None]:
    """`kernel` as a function of tensors. Raises IndexError where a check fails."""
    pointers_type = ctypes.c_void_p * len(source.args)

    def launch(*tensors: Tensor) -> None:
        pointers = pointers_type(*[tensor.data_ptr() for tensor in tensors])
        with named(source.name):
            failed = kernel(pointers)
        if failed:
            raise IndexError(source.checks[failed - 1])

    launch.__name__ = source.name
    return launch


def load(text: str, launchers: Launchers, constants: Mapping[str, Tensor], name: str) -> Flat:
    """Run the wrapper module and take its `call`."""
    module: dict[str, Any] = {"__name__": f"minicompiler.{name}", "constants": constants}
    module.update(launchers)
    exec(compile(text, f"<{module['__name__']}>", "exec"), module)
    call: Flat = module["call"]

    def run(args: list[Any]) -> list[Any]:
        # it was traced below autograd and autocast: no version counters, no casts
        below, uncast = torch._C._AutoDispatchBelowADInplaceOrView(), torch._C._DisableAutocast()
        with below, uncast, named(module["__name__"]):
            return call(args)

    return run

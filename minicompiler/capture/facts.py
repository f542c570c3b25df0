"""Facts that a guard can expect: an object, a constant, a tensor's properties, ambient state.

Each has a stored form that keeps nothing alive and compares without running user code, and reads
the same fact of another value. The functions at the end are what generated checks call.
"""

import abc
import contextlib
import functools
import itertools
import struct
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import ref

import torch
from torch.utils._device import DeviceContext

from ..errors import Unsupported
from .frame_hook import MISSING, patched
from .source import Source, builtin_of as builtin_of, keys_of


# ---------------------------------------------------------------- objects and constants
class Pin:
    """An expected object, by weak reference where it has any: guards keep nothing alive. (Objects
    without weak references are numbers, strings, None, tuples, static types, C functions.)"""

    __slots__ = ("strong", "text", "weak")

    def __init__(self, value: Any) -> None:
        self.text = describe(value)
        self.strong, self.weak = MISSING, None
        with contextlib.suppress(TypeError):
            static = isinstance(value, type) and not value.__flags__ & 1 << 9  # Py_TPFLAGS_HEAPTYPE
            self.weak = None if static else ref(value)
        if self.weak is None:
            self.strong = value

    @property
    def value(self) -> Any:
        """The object; MISSING once it has died."""
        if self.weak is None:
            return self.strong
        found = self.weak()
        return MISSING if found is None else found

    @property
    def dead(self) -> bool:
        return self.weak is not None and self.weak() is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pin) or self.dead or other.dead:
            return False  # MISSING may be what was pinned
        return other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return self.text


numpy: Any = sys.modules.get("numpy")  # torch brings it where it is installed
NUMBERS: Any = (numpy.number, numpy.bool_) if numpy else ()
ARRAY: Any = numpy.ndarray if numpy else types.NoneType
ATOMS: Any = (int, bool, str, bytes, types.NoneType, types.EllipsisType, torch._C._SDPBackend)
ATOMS += (types.NotImplementedType, torch.dtype, torch.layout, torch.memory_format, torch.device)


def signature(value: Any) -> Any:
    """Hashable; equal for two values exactly if no program can tell them apart as constants: types
    are exact, floats equal by bits (0.0 and -0.0 differ), other objects by identity."""
    cls = type(value)
    if cls in (float, complex):
        return cls, struct.pack("<dd", value.real, value.imag)
    if cls in (tuple, list, torch.Size):
        return cls, tuple(map(signature, value))
    if cls in (set, frozenset):
        return cls, frozenset(map(signature, value))
    if cls in (range, slice):
        return cls, tuple(map(signature, (value.start, value.stop, value.step)))
    if issubclass(cls, NUMBERS):
        return cls, value.tobytes()
    return (cls, value) if cls in ATOMS else (cls, Pin(value))


NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def describe(value: Any, like: type = types.NoneType) -> str:
    """A short text, made without user code; tells the type where it is not `like`."""
    cls = type(value)
    if value is MISSING:
        return "nothing"
    if isinstance(value, Source):
        return repr(value)
    if cls in (*ATOMS, float, complex, tuple):
        text = "(" + ", ".join(map(describe, value)) + ")" if cls is tuple else f"{value!r:.200}"
        return text if like in (cls, types.NoneType) else f"{text} ({cls.__name__})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}".removeprefix("builtins.")
    return f"{cls.__name__} {value.__qualname__}" if cls in NAMED else f"{cls.__name__} object"


CONSTANTS = (*ATOMS, float, complex, tuple, torch.Size, range, slice, set, frozenset)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: compares by signature."""

    sign: Any
    value: Any = field(compare=False)

    @classmethod
    def of(cls, value: Any) -> "Literal":
        """Raises Unsupported for what has no constant form (a subclass of int, an object)."""
        if type(value) not in CONSTANTS and not isinstance(value, NUMBERS):
            raise Unsupported(f"a {type(value).__name__} cannot be guarded as a constant")
        return cls(signature(value), value)


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What is assumed of a tensor. `_version` is none of it: writing to a tensor is no reason to
    fail."""

    cls: Pin
    dtype: torch.dtype
    device: torch.device
    size: tuple[int, ...]
    stride: tuple[int, ...] | None  # None: not strided
    requires_grad: bool
    keys: int  # dispatch keys: backend, layout, conj and neg bits, inference, functorch wrappers

    @classmethod
    def of(cls, t: torch.Tensor) -> "TensorFacts":
        """Facts of a tensor. Raises Unsupported for subclasses, and for a view that no_grad made of
        what requires grad: which of its uses raise depends on what was written since."""
        if type(t) not in (torch.Tensor, torch.nn.Parameter):
            raise Unsupported(f"the tensor subclass {type(t).__name__} cannot be guarded")
        with torch._C.DisableTorchFunction():
            if t.requires_grad and t._is_view() and made_without_gradients(t):
                raise Unsupported("a view of a tensor that requires grad, made under no_grad")
            stride = tuple(t.stride()) if t.layout is torch.strided else None
            keys, size = torch._C._dispatch_keys(t).raw_repr(), tuple(t.shape)
            return cls(Pin(type(t)), t.dtype, t.device, size, stride, t.requires_grad, keys)

    def row(self) -> tuple[Any, ...]:
        """The facts as the run-time extension's TensorGuard takes them."""
        _, dtype, device, *rest = (getattr(self, name) for name in self.__slots__)
        return self.cls.value, dtype, device.index, *rest

    def tell(self, found: Any) -> tuple[str, str]:
        """The facts that differ, expected and found."""
        if type(found) is not self.cls.value:
            return f"a {self.cls}", describe(found)
        now = TensorFacts.of(found)
        differ = [f for f in self.__slots__ if getattr(self, f) != getattr(now, f)]
        if "keys" in differ and len(differ) > 1:
            differ.remove("keys")  # follows from the others
        return self.show(differ), now.show(differ)

    def show(self, names: list[str]) -> str:
        values = {f: getattr(self, f) for f in names}
        if "keys" in names:
            values["keys"] = torch._C.DispatchKeySet.from_raw_repr(self.keys)
        return ", ".join(f"{f} {str(v).removeprefix('torch.')}" for f, v in values.items())


def made_without_gradients(view: torch.Tensor) -> bool:
    made = torch._C._autograd.CreationMeta
    hidden = torch._C._autograd._get_creation_meta(view) in (made.NO_GRAD_MODE, made.INFERENCE_MODE)
    return hidden and view._base.requires_grad  # type: ignore[union-attr]


# ---------------------------------------------------------------- ambient state
class Ambient(NamedTuple):
    """State of the thread or process. `quick() == idle` says cheaply that `read() == usual`."""

    read: Callable[[], Any]
    usual: Any = MISSING
    quick: Callable[[], Any] = bool
    idle: Any = False

    def question(self, expected: Any) -> tuple[Callable[[], Any], Any]:
        """What to call, and what it answers as long as the state is `expected`."""
        usual = self.usual is not MISSING and expected == self.usual
        return (self.quick, self.idle) if usual else (self.read, expected)


def autocast_state() -> tuple[Any, ...]:
    """(device, dtype) for each device where autocast is on, then whether casts are cached."""
    if not torch._C._is_any_autocast_enabled():
        return ()
    on = [d for d in torch._C._autocast_supported_devices() if torch.is_autocast_enabled(d)]
    return (*((d, torch.get_autocast_dtype(d)) for d in on), torch.is_autocast_cache_enabled())


def function_modes() -> tuple[Any, ...]:
    """TorchFunction modes, outermost first: the default device by name, others by class."""
    modes = map(torch._C._get_function_stack_at, range(torch._C._len_torch_function_stack()))
    return tuple(str(m.device) if type(m) is DeviceContext else type(m) for m in modes)


saved_hooks = functools.partial(torch._C._autograd._top_saved_tensors_default_hooks, False)
SDP_KERNELS = "flash math mem_efficient cudnn overrideable".split()
SDP_FLAGS = [getattr(torch._C, f"_get_{kind}_sdp_enabled") for kind in SDP_KERNELS]
AMBIENT = {
    "GRAD_MODE": Ambient(torch.is_grad_enabled),
    "INFERENCE": Ambient(torch.is_inference_mode_enabled),
    "AUTOCAST": Ambient(autocast_state, (), torch._C._is_any_autocast_enabled),
    "DEFAULT_DTYPE": Ambient(torch.get_default_dtype),
    "FUNCTION_MODES": Ambient(function_modes, (), torch._C._len_torch_function_stack, 0),
    "DISPATCH_MODES": Ambient(torch._C._len_torch_dispatch_stack),
    "TRACING": Ambient(torch._C._get_tracing_state),
    "SAVED_TENSORS_HOOKS": Ambient(saved_hooks, None, saved_hooks, None),
    "DETERMINISTIC": Ambient(torch._C._get_deterministic_algorithms),
    "MATMUL_PRECISION": Ambient(torch._C._get_float32_matmul_precision),  # read by matmuls
    "PATCHES": Ambient(  # of torch's and Python's own modules and classes
        lambda: tuple((name, Pin(now)) for name, now in patched()), (), patched, ()
    ),
    # for frames that ask
    "ABC": Ambient(abc.get_cache_token),  # what was registered with any abstract class
    "SDP": Ambient(lambda: tuple(read() for read in SDP_FLAGS)),  # for graphs with attention
}


# ---------------------------------------------------------------- what checks call
@functools.cache
def of_builtin(name: str) -> Callable[..., Any]:
    """A method as the builtin container has it, whatever a subclass says."""
    return lambda container, *args: getattr(builtin_of(type(container)), name)(container, *args)


length = of_builtin("__len__")


def same_keys(container: Any, expected: tuple[Any, ...]) -> bool:
    """Keys and their order; `expected` holds strings as they are, other keys as signatures."""
    if length(container) != len(expected):
        return False
    for key, want in zip(keys_of(container), expected):
        if key is not want and key_form(key) != want:
            return False
    return True


def key_form(key: Any) -> Any:
    return key if type(key) is str else signature(key)


def is_empty(cell: types.CellType) -> bool:
    return cell == types.CellType()  # two of which one is empty compare without their contents


def overlaps(tensors: Sequence[torch.Tensor]) -> frozenset[tuple[int, ...]]:
    """(i, j, where both are in their storages, its bytes) for pairs, i < j, that share a storage or
    whose memory from first to last element has bytes in common. By address: two storages can share
    memory (from_numpy twice). A graph that writes to a shared storage knows its inputs by place."""
    spans, homes = [], dict[int, list[int]]()
    for i, t in enumerate(tensors):
        if t.numel():
            last = sum((size - 1) * step for size, step in zip(t.shape, t.stride()))
            start, width = t.data_ptr(), t.element_size()
            spans.append((start, start + (last + 1) * width, i))
            homes.setdefault(start - int(t.storage_offset()) * width, []).append(i)
    pairs = {pair for group in homes.values() for pair in itertools.combinations(group, 2)}
    spans.sort()
    for n, (_, end, i) in enumerate(spans):
        for start, _, j in spans[n + 1 :]:
            if start >= end:
                break
            pairs.add((min(i, j), max(i, j)))
    return frozenset((i, j, *_place(tensors[i]), *_place(tensors[j])) for i, j in pairs)


def _place(t: torch.Tensor) -> tuple[int, int]:
    return int(t.storage_offset()), t.untyped_storage().nbytes()

"""Tensors without memory, and the mode that runs ATen calls on them.

A `Fake` shows autograd and user code what the real tensor would: shape, strides, dtype, and the
device's own dispatch keys, so that autocast, attention and recurrent layers choose the operators
that they choose for real tensors. Inside is a tensor on the meta device; views share its storage.

Shapes come from ATen itself wherever it can compute them without data (kernels.py); rules.py has
the operators where it cannot.
"""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx.node import Node, map_aggregate

from ..errors import Unsupported
from . import kernels
from .kernels import META, Mode
from .shapes import TensorSpec, is_dense, spec_of

CPU = torch.device("cpu")


class Fake(torch.Tensor):
    """A tensor of which only the description exists. `.meta` is the tensor that computes it."""

    meta: torch.Tensor

    @staticmethod
    def __new__(
        cls, meta: torch.Tensor, device: torch.device, requires_grad: bool = False
    ) -> "Fake":
        place = {"strides": meta.stride(), "storage_offset": meta.storage_offset()}
        what = {"dtype": meta.dtype, "device": device, "requires_grad": requires_grad}
        make: Any = torch.Tensor._make_wrapper_subclass
        fake: Fake = make(cls, meta.size(), **place, **what)
        fake.meta = meta
        return fake

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError(f"{func} on a fake tensor outside of its FakeMode")

    @property
    def spec(self) -> TensorSpec:
        return spec_of(self)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Fake({self.spec})"

    def data_ptr(self) -> int:
        raise Unsupported("data_ptr() of a tensor while it is compiled", "it has no memory yet")

    def numpy(self, **_: Any) -> Any:
        raise Unsupported("numpy() of a tensor while it is compiled", "it has no values yet")

    def tolist(self) -> Any:
        raise Unsupported("tolist() depends on data", "keep the computation in tensors")


def substitute(x: Any, leaf: Any, f: Callable[[Any], Any]) -> Any:
    """`x` with `f` applied to what is a `leaf` in it, however deep."""
    return map_aggregate(x, lambda a: f(a) if isinstance(a, leaf) else a)


def tensors(x: Any) -> list[Any]:
    """The tensors, or nodes, in nested lists and tuples, in order."""
    if isinstance(x, list | tuple):
        return [t for item in x for t in tensors(item)]
    return [x] if isinstance(x, torch.Tensor | Node) else []


def storage(x: Fake) -> int:
    """What stands for the memory behind `x`."""
    return int(x.meta.untyped_storage()._cdata)


class FakeMode(Mode):  # type: ignore[no-untyped-call]
    """Within it ATen calls compute descriptions: Fakes in, Fakes out, recorded through `record`."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.constants: list[tuple[torch.Tensor, Fake]] = []  # real tensors met, and their fakes
        self._storages: dict[int, tuple[torch.Tensor, torch.UntypedStorage]] = {}

    def record(self, func: OpOverload, args: Any, kwargs: Any, outs: Any) -> None:
        """Called after each ATen call; tensors are Fakes. For subclasses."""

    def lift(self, t: torch.Tensor) -> Fake:
        """The fake of a real tensor met on the way (torch.tensor(3.), a closed-over buffer)."""
        for real, fake in self.constants:
            if real is t:
                return fake
        if t.requires_grad and torch.is_grad_enabled():
            raise Unsupported("a tensor that requires grad is used without being an input")
        self.constants.append((t, self.fake(t)))
        return self.constants[-1][1]

    def fake(self, t: torch.Tensor | TensorSpec) -> Fake:
        """The fake of an input. Inputs that share memory get metas that share a storage; that of
        a description has memory of its own, which begins with its first element."""
        if isinstance(t, TensorSpec):
            meta = torch.empty_strided(*t.numbers, dtype=t.dtype, device=META)
            return Fake(meta, t.device, t.requires_grad)
        if type(t) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer, Fake):
            raise Unsupported(f"a tensor subclass: {type(t).__name__}")
        if t.layout is not torch.strided or t.is_quantized or t.is_nested or t._is_zerotensor():
            raise Unsupported(f"a tensor that is not plainly strided ({t.layout})")
        if t.is_conj() or t.is_neg():
            raise Unsupported("a lazily conjugated or negated tensor", "call resolve_conj() first")
        with torch.utils._python_dispatch._disable_current_modes():
            meta = torch.empty(0, dtype=t.dtype, device=META)
            meta.set_(self._storage(t), t.storage_offset(), t.size(), t.stride())
            fake = Fake(meta, t.device, t.requires_grad)
        if isinstance(t, torch.nn.Parameter):
            fake._is_param = True
        return fake

    def _storage(self, t: torch.Tensor) -> torch.UntypedStorage:
        """The same memoryless storage for all views of one real storage."""
        if isinstance(t, Fake):
            return t.meta.untyped_storage()
        real = t.untyped_storage()
        if real._cdata not in self._storages:
            made = torch.UntypedStorage(real.nbytes(), device=META)  # type: ignore[no-untyped-call]
            self._storages[real._cdata] = t.detach(), made  # `t` keeps the address taken
        return self._storages[real._cdata][1]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in LOOKS:
            look_as(args[0], func(aten.alias.default(args[0].meta), *args[1:]))
            return args[0]
        how = kernels.plan(func)
        if how.decomposes:  # inference_mode brings composites down whole
            with self:
                return func.decompose(*args, **kwargs)
        if any(not isinstance(t, Fake) for t in how.written(args, kwargs)):
            raise Unsupported(f"{func} writes to a tensor that is no input of the graph")
        fakes: list[Fake] = []

        def take(t: torch.Tensor) -> Fake:
            fakes.append(t if isinstance(t, Fake) else self.lift(t))
            return fakes[-1]

        args, kwargs = substitute((args, kwargs), torch.Tensor, take)
        written = how.written(args, kwargs)
        if any(_clashes(w, fakes, len(written) > 1) for w in written):
            raise Unsupported(f"{func} reads memory that it writes to", "clone() what it reads")
        _ask_eager(func, args, kwargs, fakes)
        device = _result_device(func, fakes, kwargs)
        metas, named = substitute((args, kwargs), Fake, lambda fake: fake.meta)
        inner = {k: v for k, v in named.items() if k != "generator"}
        if how.takes_device and (not fakes or inner.get("device") is not None):
            inner["device"] = META
        outs = how.run(metas, inner, device)
        same = {id(f.meta): f for f in fakes} if how.writes else {}

        def give(m: torch.Tensor) -> Fake:
            if id(m) in same:
                return same[id(m)]
            return m if isinstance(m, Fake) else Fake(m, device)

        outs = substitute(outs, torch.Tensor, give)
        if not isinstance(outs, int | float | bool):
            self.record(func, args, kwargs, outs)
        return outs


DTYPES = re.compile("not implemented for|support|dtype|oolean|scalar type|loating|overflow")


def _ask_eager(func: OpOverload, args: Any, kwargs: Any, fakes: list[Fake]) -> None:
    """Raise what eager raises for dtypes without fractions, as its kernels alone know them."""
    masked = func in (aten.where.self, aten.masked_fill.Scalar, aten.masked_fill.Tensor)
    draws = torch.Tag.nondeterministic_seeded in func.tags or func.namespace != "aten"
    known = draws or any(f.is_floating_point() and not masked for f in fakes)
    if known or any(f.device != CPU or f.numel() > 100_000 for f in fakes):
        return
    real = substitute((args, kwargs), Fake, lambda f: torch.zeros(f.shape, dtype=f.dtype))
    try:
        with torch.utils._python_dispatch._disable_current_modes():
            func(*real[0], **real[1])
    except RuntimeError as error:
        if DTYPES.search(str(error)):
            raise


def look_as(x: Fake, meta: torch.Tensor) -> None:
    """Make `x` show what `meta` shows, as an in-place change of its shape does."""
    x.meta = meta
    python = torch._C.DispatchKeySet(torch._C.DispatchKey.Python)
    python |= torch._C.DispatchKeySet(torch._C.DispatchKey.PythonTLSSnapshot)
    with torch._C._ExcludeDispatchKeyGuard(python), torch._C._AutoDispatchBelowAutograd():
        aten.as_strided_.default(x, meta.shape, meta.stride(), meta.storage_offset())


def overlaps_itself(x: Fake) -> bool:
    """May two of its elements lie at one place?"""
    reach = 0
    for step, size in sorted(zip(x.meta.stride(), x.meta.shape)):
        if size > 1 and step <= reach:
            return True
        reach += step * (size - 1)
    return False


def _clashes(written: Any, fakes: list[Fake], several: bool) -> bool:
    """Is the order of reads and writes seen? Not where what is read is the same as what is written
    (unless `several` are, one after the other) or lies apart from it."""
    a, others = written.meta, [f for f in fakes if storage(f) == storage(written)]
    del others[next(i for i, f in enumerate(others) if f is written)]
    if overlaps_itself(written):
        return True
    for read in others:
        b = read.meta
        (p, m), (q, n) = ((t.storage_offset(), t.numel()) for t in (a, b))
        if (a.dtype, p, a.shape, a.stride()) == (b.dtype, q, b.shape, b.stride()):
            meet = several
        elif a.dtype != b.dtype or (is_dense(written.spec) and is_dense(read.spec)):
            meet = p * a.itemsize < (q + n) * b.itemsize and q * b.itemsize < (p + m) * a.itemsize
        else:
            meet = bool(torch.isin(_places(a), _places(b)).any())
        if meet:
            return True
    return False


def _places(meta: torch.Tensor) -> torch.Tensor:
    """Where the elements lie in their storage."""
    place = torch.tensor(meta.storage_offset())
    for size, step in zip(meta.shape, meta.stride()):
        place = place.unsqueeze(-1) + torch.arange(size) * step
    return place.flatten()


def _result_device(func: OpOverload, fakes: list[Fake], kwargs: dict[str, Any]) -> torch.device:
    """Eager's rule: one device, besides which a 0-d tensor of the CPU may join."""
    if kwargs.get("device") is not None:
        device = torch.device(kwargs["device"])
        if device.type != "cuda" or device.index is not None:
            return device
        return torch.device("cuda", torch.cuda.current_device() if torch.cuda.is_available() else 0)
    first = fakes[0].device if fakes else CPU
    if len(fakes) < 2 or func in MIXED_DEVICES:
        return first
    devices = {f.device for f in fakes if f.dim() or f.device != CPU}
    if len(devices) > 1:
        a, b = sorted(map(str, devices))[:2]
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{a} and {b}! ({func})"
        )
    return devices.pop() if devices else first


aten = torch.ops.aten
# they change how their operand looks at its memory; matmul and adaptive pooling do it on the way
LOOKS = {aten.as_strided_.default, aten.t_.default, aten.transpose_.default}
LOOKS |= {aten.unsqueeze_.default, *(getattr(aten.squeeze_, o) for o in ("default", "dim", "dims"))}
# copies, and indexing a tensor of the GPU by one of the CPU
MIXED_DEVICES = {aten.copy_.default, aten.index.Tensor, aten.index_put.default}
MIXED_DEVICES |= {aten.index_put_.default}

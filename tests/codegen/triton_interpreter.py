"""Triton's interpreter, mended so that its values can be compared: import before any launch.

It runs a kernel on NumPy arrays. Mended here: tensors as bounds of `range` under NumPy 2, bfloat16
(its arithmetic is done in float32 and rounded to nearest even), the libdevice functions (stubs that
return nothing), and reductions with an own combine function (one Python call an element).
"""

import numpy as np
import scipy.special
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter

Handle = interpreter.TensorHandle
Builder = interpreter.InterpreterBuilder

# ------------------------------------------------------------------------------ range over tensors

_patch_tensor = interpreter._patch_lang_tensor


def patch_tensor(tensor, *scope):
    _patch_tensor(tensor, *scope)

    def index(self):
        return int(self.handle.data.item())

    if scope and hasattr(scope[0], "set_attr"):
        scope[0].set_attr(tensor, "__index__", index)
    else:
        tensor.__index__ = index


interpreter._patch_lang_tensor = patch_tensor

# ---------------------------------------------------------------------------------------- bfloat16


def widen(handle):
    """A bfloat16 handle (uint16 bits) in float32."""
    if handle.dtype.scalar != tl.bfloat16:
        return handle
    bits = np.ascontiguousarray(handle.data).astype(np.uint32) << np.uint32(16)
    return Handle(bits.view(np.float32), tl.float32)


def narrow(array):
    """float32 to bfloat16 bits, rounding to nearest even."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + even) >> np.uint32(16)).astype(np.uint16)
    return Handle(np.where(np.isnan(array), np.uint16(0x7FC0), rounded), tl.bfloat16)


_cast = Builder.cast_impl


def cast(self, source, target):
    source_type, target_type = source.dtype.scalar, target.scalar
    if source_type == target_type:
        return source
    if source_type == tl.bfloat16:
        return cast(self, widen(source), target)
    if target_type == tl.bfloat16:
        return narrow(source.data.astype(np.float32))
    return _cast(self, source, target)


_round = Builder.create_fp_to_fp
Builder.cast_impl = cast
Builder.create_fp_to_fp = lambda self, source, target, mode: (
    cast(self, source, target)
    if tl.bfloat16 in (source.dtype.scalar, target.scalar)
    else _round(self, source, target, mode)
)


def in_float32(method):
    def call(self, *args):
        handles = [a for a in args if isinstance(a, Handle)]
        if not any(h.dtype.scalar == tl.bfloat16 for h in handles):
            return method(self, *args)
        result = method(self, *[widen(a) if isinstance(a, Handle) else a for a in args])
        return narrow(result.data) if result.data.dtype == np.float32 else result

    return call


for _name in ("binary_op", "unary_op", "ternary_op"):
    setattr(Builder, _name, in_float32(getattr(Builder, _name)))
_dot = Builder.create_dot
Builder.create_dot = lambda self, a, b, *rest: _dot(self, widen(a), widen(b), *rest)

# --------------------------------------------------------------------------------------- libdevice

NUMPY = {
    **{n: getattr(np, n) for n in "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan".split()},
    **{n: getattr(np, n) for n in "sinh cosh tanh floor ceil trunc copysign fmod".split()},
    **{f"a{n}": getattr(np, f"arc{n}") for n in "sin cos tan sinh cosh tanh".split()},
    "atan2": np.arctan2,
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "nearbyint": np.rint,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "lgamma": scipy.special.gammaln,
}


def from_numpy(function):
    def call(*args):
        first = next(a for a in args if isinstance(a, tl.tensor))
        dtype = first.handle.data.dtype
        arrays = [
            a.handle.data
            if isinstance(a, tl.tensor)
            else np.asarray(getattr(a, "value", a), dtype=dtype)
            for a in args
        ]
        with np.errstate(all="ignore"):
            data = np.asarray(function(*arrays)).astype(dtype)
        return wrap(data, first.dtype.scalar)

    return call


def wrap(data, scalar):
    if data.ndim:
        return tl.tensor(Handle(data, scalar), tl.block_type(scalar, list(data.shape)))
    return tl.tensor(Handle(data.reshape(1), scalar), scalar)


for _name, _function in NUMPY.items():
    setattr(libdevice, _name, from_numpy(_function))

# -------------------------------------------------------------------------------------- reductions


def reduce_by_halves(self, blocks):
    """Combine the even with the odd elements until one is left: few calls on whole arrays."""
    wanted = self.axis
    inputs, axis = self.unravel(blocks, self.axis)
    scalars = [x.dtype.scalar for x in inputs]
    data = [np.moveaxis(x.handle.data, axis, -1) for x in inputs]
    rank = data[0].ndim
    while data[0].shape[-1] > 1:
        left = [wrap(d[..., 0::2], s) for d, s in zip(data, scalars)]
        right = [wrap(d[..., 1::2], s) for d, s in zip(data, scalars)]
        made = self.combine_fn.fn(*left, *right)
        made = made if isinstance(made, tuple) else (made,)
        data = [np.asarray(m.handle.data).astype(d.dtype) for m, d in zip(made, data)]
    results = []
    for d, scalar in zip(data, scalars):
        d = d[..., 0]
        if self.keep_dims:
            d = np.expand_dims(d, axis) if wanted is not None else d.reshape((1,) * rank)
        elif wanted is None:
            d = d.item()
        results.append(self.to_tensor(d, scalar))
    return results


interpreter.ReduceOps.generic_reduce = reduce_by_halves

"""Device functions that generated Triton kernels call: torch's semantics where Triton's differ."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

# mypy: disable-error-code="no-untyped-def, no-any-return, untyped-decorator"


@triton.jit
def minimum(a, b):
    """NaN if either is NaN; Triton's own drops it."""
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def maximum(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def argmin(a, i, b, j):
    """The smaller of two (value, position); NaN is smallest, of equals the first position."""
    first = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def argmax(a, i, b, j):
    first = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def sign(x):
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


@triton.jit
def truediv(a, b):
    """Rounded once: double precision divides exactly, and Triton has no div_rn for it."""
    return a / b if a.dtype.is_fp64() else tl.div_rn(a, b)


@triton.jit
def reciprocal(x):
    return truediv(tl.full(x.shape, 1, x.dtype), x)


@triton.jit
def sigmoid(x):
    return reciprocal(1 + libdevice.exp(-x))


@triton.jit
def truncdiv(a, b):
    """Rounding toward zero, as `//` of integers, which is C's."""
    return libdevice.trunc(truediv(a, b)) if a.dtype.is_floating() else a // b


@triton.jit
def fmod(a, b):
    return libdevice.fmod(a, b) if a.dtype.is_floating() else a % b


@triton.jit
def remainder(a, b):
    """With the divisor's sign."""
    r = fmod(a, b)
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


@triton.jit
def floordiv(a, b):
    """Rounding down. Floats by way of fmod, so that -1e-20 // 1 is -1 and 1 // 0.1 is 9."""
    r = fmod(a, b)
    if a.dtype.is_floating():
        q = (a - r) / b
    else:
        q = a // b
    q = tl.where((r != 0) & ((r < 0) != (b < 0)), q - 1, q)
    if a.dtype.is_floating():
        down = libdevice.floor(q)
        down = tl.where(q - down > 0.5, down + 1, down)
        q = tl.where(b == 0, a / b, tl.where(q == 0, libdevice.copysign(q * 0, a / b), down))
    return q


@triton.jit
def left_shift(a, n):
    outside = (n < 0) | (n >= a.dtype.primitive_bitwidth)
    return tl.where(outside, a * 0, a << tl.where(outside, n * 0, n))


@triton.jit
def right_shift(a, n):
    width: tl.constexpr = a.dtype.primitive_bitwidth
    outside = (n < 0) | (n >= width)
    return a >> tl.where(outside, n * 0 + (width - 1), n)


@triton.jit
def _philox(seed, offset):
    key_low, key_high = (seed & 0xFFFFFFFF).to(tl.uint32), ((seed >> 32) & 0xFFFFFFFF).to(tl.uint32)
    low, high = (offset & 0xFFFFFFFF).to(tl.uint32), ((offset >> 32) & 0xFFFFFFFF).to(tl.uint32)
    zero = low * 0
    return tl.philox_impl(low, high, zero, zero, key_low + zero, key_high + zero, 10)


@triton.jit
def _uniform(word):
    """24 bits of a word as a float32 in [0, 1)."""
    return (word >> 8).to(tl.int32).to(tl.float32) * 5.9604644775390625e-08


@triton.jit
def random_rand(seed, offset):
    a, b, c, d = _philox(seed, offset)
    return _uniform(a)


@triton.jit
def random_randn(seed, offset):
    a, b, c, d = _philox(seed, offset)
    radius = libdevice.sqrt(-2.0 * libdevice.log(1.0 - _uniform(a)))
    return radius * libdevice.cos(6.283185307179586 * _uniform(b))


@triton.jit
def random_randint(seed, offset):
    a, b, c, d = _philox(seed, offset)
    return a.to(tl.int64)

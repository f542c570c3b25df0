"""The functions of math.cpp: units in the last place, special values, conversions, vectors."""

import ctypes
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from minicompiler.codegen.cpp_math import with_math
from minicompiler.runtime import build

# function: reference, most ulp allowed in float, in double (0: not ours, the C library's)
FUNCTIONS = {
    "exp": (np.exp, 1.02, 1.0),
    "exp2": (np.exp2, 1.2, 1.2),
    "expm1": (np.expm1, 2, 2),
    "log": (np.log, 1, 1),
    "log1p": (np.log1p, 1.5, 1.5),
    "log2": (np.log2, 0.51, 1),
    "log10": (np.log10, 0.51, 2),
    "tanh": (np.tanh, 3, 3),
    "sin": (np.sin, 1.6, 1),
    "cos": (np.cos, 1.6, 1),
    "erf": (None, 3, 0),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 3, 3),
}
LOOP = """
extern "C" int64_t {name}_{T}(void** buffers) {{
    const {T}* __restrict__ in = (const {T}*)buffers[0];
    {T}* __restrict__ out = ({T}*)buffers[1];
    #pragma omp simd
    for (int64_t i = 0; i < *(int64_t*)buffers[2]; i++) out[i] = {name}(in[i]);
    return 0;
}}
"""
CONVERT = """
extern "C" int64_t {name}(void** buffers) {{
    const {A}* __restrict__ in = (const {A}*)buffers[0];
    {B}* __restrict__ out = ({B}*)buffers[1];
    #pragma omp simd
    for (int64_t i = 0; i < *(int64_t*)buffers[2]; i++) out[i] = {name}(in[i]);
    return 0;
}}
"""
CONVERSIONS = {
    "from_bfloat16": ("uint16_t", "float"),
    "to_bfloat16": ("float", "uint16_t"),
    "from_float16": ("uint16_t", "float"),
    "to_float16": ("float", "uint16_t"),
}


@dataclass(frozen=True)
class Text:
    name: str
    text: str


@pytest.fixture(scope="module")
def kernels() -> dict[str, build.Native]:
    texts = [
        Text(f"{name}_{T}", with_math(LOOP.format(name=name, T=T)))
        for name in FUNCTIONS
        for T in ("float", "double")
    ]
    texts += [
        Text(name, with_math(CONVERT.format(name=name, A=a, B=b)))
        for name, (a, b) in CONVERSIONS.items()
    ]
    return build.compile_cpp(texts)


def call(kernel: build.Native, x: np.ndarray, dtype: type) -> np.ndarray:
    x, out = np.ascontiguousarray(x), np.empty(len(x), dtype)
    count = ctypes.c_int64(len(x))
    kernel((ctypes.c_void_p * 3)(x.ctypes.data, out.ctypes.data, ctypes.addressof(count)))
    return out


def samples(dtype: type) -> np.ndarray:
    """All exponents, dense where functions bend, subnormals, and what is special."""
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    n, word = 200_000, {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    everything = rng.integers(0, np.iinfo(word).max, n, dtype=word, endpoint=True).view(dtype)
    scales = [1e-6, 1e-3, 0.05, 0.3, 1, 3, 10, 100, 1000]
    dense = [rng.normal(size=n // 2) * scale for scale in scales]
    near_one = 1 + rng.normal(size=n // 2) * 1e-3
    subnormal = rng.normal(size=n // 4) * info.tiny
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, info.tiny, info.max, -info.max]
    special += [info.smallest_subnormal, -info.smallest_subnormal, 88.72284, -88.72284, -103.97]
    huge = np.exp2(rng.uniform(20, 127, n // 4)) * rng.choice([-1, 1], n // 4)
    parts = [everything, *dense, near_one, subnormal, special, huge, rng.uniform(-760, 760, n)]
    return np.concatenate([np.asarray(part).astype(dtype) for part in parts])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(kernels, name, dtype) -> None:
    reference, *allowed = FUNCTIONS[name]
    most = allowed[dtype is np.float64]
    wide = {np.float32: np.float64, np.float64: np.longdouble}[dtype]
    if not most or np.finfo(wide).nmant == np.finfo(dtype).nmant:
        pytest.skip("the C library's, or there is no wider float here")
    x = samples(dtype)
    if name == "sigmoid":  # below, exp(-x) overflows and gives 0, in eager too
        x = x[~(x < (-88.7 if dtype is np.float32 else -709.7))]
    with np.errstate(all="ignore"):
        if reference is None:
            wanted = torch.special.erf(torch.from_numpy(x.astype(np.float64))).numpy()
        else:
            wanted = reference(x.astype(wide))
        got = call(kernels[f"{name}_{'float' if dtype is np.float32 else 'double'}"], x, dtype)
        rounded = wanted.astype(dtype)
        ulp = np.spacing(np.abs(rounded)).astype(wide)
        error = np.abs(got.astype(wide) - wanted) / ulp
    finite = np.isfinite(rounded) & np.isfinite(got)
    assert np.array_equal(got[~finite], rounded[~finite], equal_nan=True)
    assert np.array_equal(np.signbit(got[finite]), np.signbit(rounded[finite]))
    worst = np.argmax(np.where(finite, error, 0))
    assert error[worst] <= most, (x[worst], got[worst], wanted[worst], error[worst])


HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


@pytest.mark.parametrize("name", HALVES)
def test_half_precision_loads(kernels, name) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    got = torch.from_numpy(call(kernels[f"from_{name}"], every, np.float32))
    wanted = torch.from_numpy(every.view(np.int16)).view(HALVES[name]).float()
    assert torch.equal(got.isnan(), wanted.isnan())
    assert torch.equal(got[~got.isnan()].view(torch.int32), wanted[~got.isnan()].view(torch.int32))


@pytest.mark.parametrize("name", HALVES)
def test_half_precision_rounds_to_even(kernels, name) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    halves = torch.from_numpy(every.view(np.int16)).view(HALVES[name]).float().numpy()
    finite = np.sort(halves[np.isfinite(halves)])
    between = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)  # ties
    x = np.concatenate(
        [samples(np.float32), finite, between, np.nextafter(between, np.float32(9e9))]
    )
    x = np.concatenate([x, np.float32([65504, 65519, 65520, 65536, 3.3e38, 3.4e38])])
    got = torch.from_numpy(call(kernels[f"to_{name}"], x, np.uint16).view(np.int16))
    wanted = torch.from_numpy(x).to(HALVES[name])
    assert torch.equal(got.view(HALVES[name]).isnan(), wanted.isnan())
    keep = ~wanted.isnan()
    assert torch.equal(got[keep], wanted.view(torch.int16)[keep])


def test_everything_becomes_vectors(tmp_path) -> None:
    """gcc says of each loop that it is one of 32 byte vectors (where the processor has them)."""
    compiler = build.compiler()
    if "gcc" not in compiler.version.lower() and "g++" not in compiler.version.lower():
        pytest.skip("gcc's words")
    names = [n for n, (_, _, double) in FUNCTIONS.items() if n not in ("erf",)]
    text = with_math("".join(LOOP.format(name=n, T="float") for n in [*names, "erf"]))
    source = tmp_path / "math.cpp"
    source.write_text(text)
    command = [*compiler.command, *build.kernel_flags(), "-fopenmp", "-fopt-info-vec"]
    said = subprocess.run(
        [*command, str(source), "-o", str(tmp_path / "math.so")], capture_output=True, text=True
    ).stderr
    lines = {line.split(":")[1] for line in said.splitlines() if "loop vectorized" in line}
    assert len(lines) == len(names) + 1, said

"""On a CUDA machine: a fused pointwise, a split reduction and a matrix product with epilogue,
against eager and torch.compile in the same run.

    python tests/gpu/three_kernels.py [--out table.json]

Each is checked against float64 first; times are medians of CUDA events with the cache flushed.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from triton.testing import do_bench

sys.path.insert(0, str(Path(__file__).parents[2]))
import minicompiler


def pointwise(x: torch.Tensor, bias: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + bias, approximate="tanh") * torch.sigmoid(y)


def reduction(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum()


def product(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ w + bias)


def rand(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype)


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], w, b)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def cases():
    """name, function, inputs, bytes moved at least, operations."""
    n = 8192
    yield "pointwise", pointwise, (rand(n, n), rand(n), rand(n, n)), 3 * 2 * n * n, 0
    yield "split reduction", reduction, (rand(64 << 20, dtype=torch.float32),), 4 * (64 << 20), 0
    w = rand(1024, dtype=torch.float32)
    yield "layer norm", layer_norm, (rand(32768, 1024, dtype=torch.float32), w, w), 8 << 25, 0
    yield "softmax", softmax, (rand(16384, 2048),), 4 << 25, 0
    m, k = 4096, 4096
    yield "matmul+bias+relu", product, (rand(m, k), rand(k, m), rand(m)), 6 * m * k, 2 * m * m * k


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    asked = parser.parse_args()
    rows, wrong = [], 0
    for name, fn, inputs, moved, operations in cases():
        exact = fn(*[t.double() for t in inputs])
        options = {"templates": True} if operations else {}
        variants = {
            "eager": fn,
            "inductor": torch.compile(fn),
            "minicompiler": minicompiler.compile(fn, options=options),
        }
        row = {"case": name}
        for variant, call in variants.items():
            minicompiler.reset()
            out = call(*inputs)
            error = ((out.double() - exact).norm() / exact.norm()).item()
            ms = do_bench(lambda call=call: call(*inputs), return_mode="median")
            row[variant] = {"ms": ms, "error": error}
            if variant == "minicompiler":
                row["stats"] = {k: v for k, v in minicompiler.stats().items() if v}
        eager = row["eager"]["error"]
        ok = row["minicompiler"]["error"] <= 3 * eager + 1e-6 and row["stats"].get("kernels")
        wrong += not ok
        speeds = [
            f"{v} {row[v]['ms']:.4f} ms {moved / row[v]['ms'] / 1e6:.0f} GB/s"
            + (f" {operations / row[v]['ms'] / 1e9:.0f} TFLOP/s" if operations else "")
            for v in variants
        ]
        print(f"{'ok ' if ok else 'BAD'} {name:18} {' | '.join(speeds)}", flush=True)
        if not ok:
            print(row)
        rows.append(row)
    if asked.out:
        Path(asked.out).write_text(json.dumps(rows, indent=1))
    return wrong


if __name__ == "__main__":
    sys.exit(main())

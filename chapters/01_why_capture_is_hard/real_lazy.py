"""PyTorch's lazy tensors, in a process of their own: they can be switched on once in each."""

import subprocess
import sys

from limits import table


def lazy(f, x):
    def run(x):
        given = x.to("lazy")
        result = f(given).cpu()
        x.copy_(given.cpu())
        return result

    return run


def decay(x, step):
    return x - 0.1 / step * x


def unrolled(x, step):
    for _ in range(step):
        x = x * 2
    return x


def main():
    import torch._lazy.metrics as metrics
    import torch._lazy.ts_backend

    torch._lazy.ts_backend.init()
    table({"torch._lazy": lazy})
    for f in decay, unrolled:
        metrics.reset()
        for step in range(1, 6):
            f(torch.ones(4).to("lazy"), step).cpu()
        noted = [n for n in metrics.counter_names() if n.startswith("lazy::")]
        print(f"{f.__name__}: {metrics.counter_value('UncachedCompile')} compiled, noted", end=" ")
        print(*(f"{metrics.counter_value(n)} {n.removeprefix('lazy::')}" for n in noted))


if __name__ == "__main__":
    if sys.argv[-1] == "alone":
        main()
    else:
        child = [sys.executable, "-W", "ignore", __file__, "alone"]
        print(subprocess.run(child, capture_output=True, text=True, check=True).stdout, end="")

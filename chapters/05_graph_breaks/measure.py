"""What a break costs, in counts, and two ways to do without."""

import torch

import minicompiler


def breaks(x):
    h = x.sin()
    if h.max() > 0.5:
        h = h * 0.5
    return (h * 2 + x).cos()


def with_where(x):
    h = x.sin()
    h = torch.where(h.max() > 0.5, h * 0.5, h)
    return (h * 2 + x).cos()


def moved_out(x, large):
    h = x.sin()
    if large:
        h = h * 0.5
    return (h * 2 + x).cos()


def main():
    x = torch.linspace(0, 1, 64)
    keys = "frames", "guards", "graphs", "loops", "kernels"
    for f, args in ((breaks, (x,)), (with_where, (x,)), (moved_out, (x, True))):
        minicompiler.reset()
        minicompiler.compile(f)(*args)
        known = minicompiler.stats()
        print(f"{f.__name__:<10}", *(f"{known[key]} {key}" for key in keys), sep="  ")


if __name__ == "__main__":
    main()

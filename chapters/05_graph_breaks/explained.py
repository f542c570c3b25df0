"""What `explain` says of a break, and of the functions that go on behind it."""

import torch

import minicompiler


def f(x):
    y = x + 1
    if y.any():
        y = y * 2
    return x - y


def breaks():
    print(minicompiler.explain(f, torch.ones(4)).breaks)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

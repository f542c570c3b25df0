"""What `explain` says of guards: why they are there, and which of them failed."""

import torch

import minicompiler

bias = 1.5


def f(x, k=2):
    return (x * k + bias).relu()


def guards():
    print(minicompiler.explain(f, torch.ones(4)).guards)


def recompiles():
    print(minicompiler.explain(f, torch.ones(4)).then(torch.ones(8)).recompiles)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)

"""The guards of a small function, and the check that is generated of them."""

from types import SimpleNamespace

import torch

import minicompiler
from minicompiler import report
from minicompiler.capture.facts import AMBIENT

OFFSETS = [1, 2, 3]


def f(x, options):
    return x * options.scale + OFFSETS[0]


if __name__ == "__main__":
    with report.collecting() as records:
        minicompiler.compile(f, backend="eager")(torch.ones(2), SimpleNamespace(scale=0.5))
    guards = records[0].stages["guards"][0]
    print(*(guard for guard in guards if guard.kind not in AMBIENT), sep="\n")
    print(guards.build().text)

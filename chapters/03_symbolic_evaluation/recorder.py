"""Capture without evaluation: run the function, and write down which torch functions it calls."""

import torch
from torch.overrides import TorchFunctionMode


class Recorder(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        print("  recorded", function.__name__)
        return function(*args, **(kwargs or {}))


options = {"double": True}
seen = []


def f(x):
    seen.append(x.shape[0])
    if options["double"]:
        x = torch.mul(x, 2)
    return torch.relu(x)


if __name__ == "__main__":
    x = torch.ones(3)
    with Recorder():
        f(x)
    print("seen is now", seen)

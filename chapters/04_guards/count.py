"""How many guards a model has, and how many of them a walk answers for."""

import torch
from torch import nn

import minicompiler
from minicompiler import report
from minicompiler.capture import binding

if __name__ == "__main__":
    print("layers  guards  bound to a walk  checked at each call")
    for n in (1, 4, 16):
        model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(n)))
        with report.collecting() as records:
            minicompiler.compile(model.forward, backend="eager")(torch.ones(2, 4))
        guards = records[0].stages["guards"][0]
        bound = binding.of(guards)
        tensors = sum(guard.kind == "TENSOR" for guard in bound.bound)
        rest = len(guards) - len(bound.bound)
        print(f"{n:>6}  {len(guards):>6}  {len(bound.bound):>15}  {rest} and {tensors} tensors")

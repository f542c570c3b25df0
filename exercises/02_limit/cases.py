"""Programs from simple to hard; the lesson of each is told where it goes wrong."""

CALLS = 12  # above the limit, which is 8

HEAD = """
import torch

seen = []
"""

CASES = [
    (
        "What was compiled for a number counts, until the limit is reached.",
        HEAD
        + """
def inputs(k):
    return torch.arange(4.0), k

def f(x, k):
    return x * k
""",
    ),
    (
        "What differs in its guards only is one artefact.",
        HEAD
        + """
def inputs(k):
    return torch.arange(4.0), k

def f(x, k):
    return x * 2 if k >= 0 else x
""",
    ),
    (
        "Each instance of a module has the limit to itself.",
        HEAD
        + """
class Scale(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

modules = [Scale(k) for k in range(12)]

def inputs(k):
    return modules[k], torch.arange(4.0)

def f(module, x):
    return x * module.by
""",
    ),
    (
        "But one instance that changes at each call uses its limit up.",
        HEAD
        + """
class Scale(torch.nn.Module):
    by = 0

module = Scale()

def inputs(k):
    module.by = k
    return module, torch.arange(4.0)

def f(module, x):
    return x * module.by
""",
    ),
    (
        "A call that was left to Python is no compilation.",
        HEAD
        + """
def inputs(k):
    return torch.arange(4.0), k

def f(x, k):
    if k < 6:
        return x
    return x * k
""",
    ),
    (
        "Each region has the limit to itself.",
        HEAD
        + """
import minicompiler

def inputs(k):
    minicompiler.compile(f, backend="eager")(torch.ones(2), -1 - k)
    return torch.arange(4.0), k

def f(x, k):
    return x * k
""",
    ),
]

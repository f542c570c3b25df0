"""How many? Read each program, and write a number for each name in ANSWERS. Each is compiled with
minicompiler.compile and called in turn with what CALLS says; the judge runs its own copy."""

import torch


def plain(x):
    y = x + 1
    return y.sin() * 2


def branch(x):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    return y.sin()


def at_the_end(x):
    y = x * 2
    return y.sum().item()


def loop(x):
    y = x + 1
    for _ in range(5):
        y = y * 2
        if y.sum() > 100:
            y = y - 100
    return y.sin() + 1


def inner(x):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    return y * 3


def outer(x):
    a = x * 2
    return inner(a) - a


def scaled(x):
    return x * x.sum().item()


ones = torch.ones(3)
CALLS = {
    "plain": (plain, ones, ones),
    "branch": (branch, ones, ones, -5 * ones),
    "branch, another size": (branch, ones, torch.ones(4)),
    "at_the_end": (at_the_end, ones, 2 * ones),
    "loop": (loop, ones, ones),
    "outer": (outer, ones),
    "scaled": (scaled, ones, 2 * ones, 3 * ones),
}

# None: how many graphs, breaks or recompiles there are after all calls of the program.
ANSWERS = {
    "graphs of plain": None,
    "breaks of plain": None,
    "graphs of branch": None,
    "breaks of branch": None,
    "graphs of branch, another size": None,
    "recompiles of branch, another size": None,
    "graphs of at_the_end": None,
    "recompiles of at_the_end": None,
    "graphs of loop": None,
    "breaks of outer": None,
    "graphs of outer": None,
    "graphs of scaled": None,
    "recompiles of scaled": None,
}

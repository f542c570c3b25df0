"""What is true, by running the compiler; what a docstring says is told to whom it surprises."""

import runpy
from collections.abc import Callable
from pathlib import Path

import minicompiler

WHY = {
    "graphs of plain": "Nothing stops the capture, and the second call finds the graph.",
    "breaks of plain": "Everything in it is a tensor operation.",
    "graphs of branch": "One before the branch, one behind it for each way that was taken.",
    "breaks of branch": "A break is part of what was compiled; a later call passes it for free.",
    "graphs of branch, another size": "Both pieces see another size, so both are compiled again.",
    "recompiles of branch, another size": "The new landing has made its own resume function, which "
    "is new and has nothing to fail.",
    "graphs of at_the_end": "Behind the break no tensor operation is left: no graph for that.",
    "recompiles of at_the_end": "The number is only returned. Nothing reads it, nothing guards it.",
    "graphs of loop": "A loop that breaks runs eagerly as a whole; what is before and behind it is "
    "captured.",
    "breaks of outer": "Each frame breaks for itself: outer at the call, inner at its branch.",
    "graphs of outer": "Each of two frames is cut in two.",
    "graphs of scaled": "Behind the break the number is an argument that is guarded by its value.",
    "recompiles of scaled": "Not the break recompiles, but the guard on the number behind it.",
}


def truth(what: str) -> Callable[[], int]:
    key, _, name = what.partition(" of ")

    def count() -> int:
        program = runpy.run_path(str(Path(__file__).with_name("stub.py")))
        f, *calls = program["CALLS"][name]
        compiled = minicompiler.compile(f, backend="eager")
        for x in calls:
            compiled(x)
        return int(minicompiler.stats()[key])

    count.__doc__ = WHY[what]
    return count


TRUTH = {what: truth(what) for what in WHY}

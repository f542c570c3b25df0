"""What is true is found by running the functions of the stub."""

import runpy
from pathlib import Path

WHY = {
    "construction": "A class statement that ran before is no frame, making an instance none "
    "either: type.__call__ is C. The __init__ that it calls is Python.",
    "a_property": "The getter of a property is a function of Python. A plain attribute is none.",
    "recursion_below_c": "max and map are C, and call Python back: each call of depth is a "
    "frame, one for each list, the empty ones too. A callback that answers None is asked at "
    "every call.",
    "generator": "A generator's frame is offered to nobody, but what it calls is; list is C.",
    "star_arguments": "The vector is what the arguments were bound to, defaults among it: "
    "positional, keyword-only, then *args as one tuple and **kwargs as one dict.",
    "skipped": "A skipped code runs as it is, and what it calls is met all the same.",
    "first_that_fits": "Entries are tried in their order, all guards of one must hold, the "
    "first that fits runs; where none does, the callback is asked, and here it leaves the "
    "frame to Python.",
    "another_region": "Entries of another region are not seen: what one backend compiled is not "
    "for another.",
    "replacement": "f had an entry, so nobody was asked about it. The replacement is a "
    "function, which starts as every other: it is offered itself. That is why a compiler "
    "skips what it makes.",
}


def truth(name):
    def run():
        return runpy.run_path(str(Path(__file__).with_name("stub.py")))[name]()

    run.__doc__ = WHY[name]
    return run


TRUTH = {name: truth(name) for name in WHY}

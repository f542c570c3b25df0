"""Mutate between calls. `check` raises AssertionError where a compiled function differs from the
function itself; it is to find most of the faults that were planted in the guards."""

import random
from collections.abc import Callable
from typing import Any


def check(compile: Callable[[Any], Any], rng: random.Random) -> None:
    raise NotImplementedError("write me")

"""Side effects and identity. `check` raises AssertionError where a compiled function does something
else than the function itself; it is to find most of the faults that were planted in the replay."""

import random
from collections.abc import Callable
from typing import Any


def check(compile: Callable[[Any], Any], rng: random.Random) -> None:
    raise NotImplementedError("write me")

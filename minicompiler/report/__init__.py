"""The record of compilations: what `stats`, `explain` and `bisect` stand on.

In: what the stages say while they work (objects, counts, seconds, why-records).
Out: `Record`, one compilation of one frame; `totals`, the sums over the process.
Invariant: recording never changes what is compiled; without a record every call is a no-op.
"""

from .bisecting import Case, Divergence, Trial, first_wrong_stage
from .explanation import Explanation
from .record import Record, Why, collecting, current, open_record, recording, reset_totals, totals

__all__ = [
    "Case",
    "Divergence",
    "Explanation",
    "Record",
    "Trial",
    "Why",
    "collecting",
    "current",
    "first_wrong_stage",
    "open_record",
    "recording",
    "reset_totals",
    "totals",
]

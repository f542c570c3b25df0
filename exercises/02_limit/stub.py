"""How many artefacts count against the limit? There is one fault in this; find it."""

from typing import Any

from minicompiler.capture.cache import EQUAL, MODULES, module_of
from minicompiler.settings import config


def artefacts(self, region: object, vector: tuple[Any, ...]) -> int:
    """How many different things were compiled in this region for such a call."""
    pairs = [(e, e.compiled) for e in self.entries if e.compiled]
    entries = [(e, c.artefact) for e, c in pairs if c.replacement is not None]
    module = module_of(vector)
    if module is not None and len(entries) < MODULES * config.recompile_limit:
        entries = [(e, a) for e, a in entries if e.module is None or e.module() is module]
    made = [artefact for _, artefact in entries]
    return max(len(set(made) - {None}) + made.count(None), len(made) // EQUAL)

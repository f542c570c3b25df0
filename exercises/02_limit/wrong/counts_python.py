# teaches: A call that was left to Python
from minicompiler.capture.cache import EQUAL, MODULES, module_of
from minicompiler.settings import config


def artefacts(self, region, vector):
    """How many different things were compiled in this region for such a call."""
    entries = [(e, c.artefact) for e, c in self.of(region)]
    module = module_of(vector)
    if module is not None and len(entries) < MODULES * config.recompile_limit:
        entries = [(e, a) for e, a in entries if e.module is None or e.module() is module]
    made = [artefact for _, artefact in entries]
    return max(len(set(made) - {None}) + made.count(None), len(made) // EQUAL)

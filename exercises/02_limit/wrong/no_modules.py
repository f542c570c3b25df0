# teaches: Each instance of a module
from minicompiler.capture.cache import EQUAL


def artefacts(self, region, vector):
    """How many different things were compiled in this region for such a call."""
    entries = [(e, c.artefact) for e, c in self.of(region) if c.replacement is not None]
    made = [artefact for _, artefact in entries]
    return max(len(set(made) - {None}) + made.count(None), len(made) // EQUAL)

# teaches: What is not read any more is not handed over
from minicompiler.capture.decode import Code


def live(self: Code) -> list[frozenset[str]]:
    return [frozenset(self.code.co_varnames)] * (len(self.instructions) + 1)

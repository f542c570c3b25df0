"""What is built and written behind the graph, in counts."""

import torch
from captured import compiled_frames


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def nothing_written(x, pair):
    return x + pair.a


def one_write(x, pair):
    pair.b = x + pair.a
    return pair.b


def hundred_writes(x, pair):
    for i in range(100):
        pair.b = x + pair.a * i
    return pair.b


def hundred_objects(x, pair):
    for i in range(100):
        pair = Pair(x + pair.a * i, i)
    return pair.a


def all_escape(x, pair):
    return [Pair(x + pair.a * i, i) for i in range(100)]


if __name__ == "__main__":
    for f in (nothing_written, one_write, hundred_writes, hundred_objects, all_escape):
        (record,) = compiled_frames(f, torch.ones(2), Pair(1.0, 2.0))
        text = str(record.stages["replacement"][0])
        built, written = text.count("object.__new__"), text.count("object.__setattr__(L_")
        breaks = record.counts["breaks"]
        print(f"{f.__name__:<16} {breaks} breaks, {built} objects built, {written} writes")

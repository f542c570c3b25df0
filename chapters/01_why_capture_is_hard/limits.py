"""Programs that are easy for Python, and what the ways to a graph make of them."""

import functools
import warnings

import torch

scale = 2.0
seen = []


def plain(x):
    h = x * 2
    return h + x.sum()


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def loop(x):
    while (x * x).sum() < 100:
        x = x * 2
    return x


def size(x):
    return x / x.shape[0]


def rows(x):
    total = 0
    for i in range(x.shape[0]):
        total = total + x[i] * i
    return total


def value(x):
    return x / x.max().item()


def outside(x):
    return x * scale


def counter(x):
    seen.append("called")
    return x * 2


def mutates(x):
    x += 1
    return x * 2


def dictionary(x):
    factors = {"a": 3.0}
    return x * factors["a"]


def negated(f):
    @functools.wraps(f)
    def run(x):
        return -f(x)

    return run


@negated
def decorated(x):
    return x * 2


LIMITS = plain, branch, loop, size, rows, value, outside, counter, mutates, dictionary, decorated
CALLS = ([1.0, 2.0], 2.0), ([3.0, 5.0], 2.0), ([-9.0, 1.0], 3.0), ([1.0, 2.0, 4.0], 3.0)


def without_deprecations():
    """All of torch.jit is deprecated, and says so at each call."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)


def check(captured, f):
    """Print the graph, where there is one to print, and what it gives beside what `f` gives."""
    if type(captured).__str__ is not object.__str__:
        print(captured)
    for numbers, _ in CALLS[1:]:
        given, eager = [g(torch.tensor(numbers)).tolist() for g in (captured, f)]
        print(numbers, "gives", given, *(() if given == eager else ("and not", eager)))


def called(make, f, array):
    """What can be seen of a few calls: results, arguments, side effects."""
    global scale
    seen.clear()
    told, captured = [], None
    for numbers, scale in CALLS:
        x = array(numbers)
        captured = captured or make(f, array(CALLS[0][0]))
        result = captured(x)
        told.append((result.tolist(), x.tolist(), len(seen)))
    return told


def verdict(make, f, array=torch.tensor):
    eager = called(lambda f, x: f, f, array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "right" if called(make, f, array) == eager else "WRONG"
        except Exception:
            return "refuses"


def table(ways, array=torch.tensor):
    """ways: name -> make(f, x), which gives something to call in the place of f."""
    print(" ".join([" " * 10, *(f"{name:11}" for name in ways)]).rstrip())
    for f in LIMITS:
        verdicts = [f"{verdict(make, f, array):11}" for make in ways.values()]
        print(" ".join([f"{f.__name__:10}", *verdicts]).rstrip())

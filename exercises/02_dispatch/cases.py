"""Programs from simple to hard; the lesson of each is told where it goes wrong.

In the second half `inputs` asks for itself: `ask` is what the hook does, with a compiler that
assumes the value of the only argument, and notes in `seen` when it is called.
"""

CALLS = 12  # above the limit, which is 8

HEAD = """
import torch

seen = []
"""

ASK = """
import gc, threading, time, types, warnings
from minicompiler.capture import source
from minicompiler.capture.cache import Compiled, find_or_compile
from minicompiler.capture.guards import GuardSet

seen = []

def g(x):
    return "eager"

def f():
    return len(seen)

def ask(value, function=g, region="mine", by="EQUALS", assumed=..., answer=lambda x: "compiled"):
    def compile():
        seen.append("compiles")
        if answer is None or isinstance(answer, Exception):
            if answer is not None:
                raise answer
            return None
        guards = GuardSet(("x",), function.__globals__)
        guards.add(by, source.Local("x"), value if assumed is ... else assumed)
        return Compiled(guards, answer or None)

    code, space = function.__code__, function.__globals__
    replacement = find_or_compile(code, space, (value,), region, compile)
    return (replacement or function)(value)

def inputs(k):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if k == 0:
            steps()
    if told:
        seen.append(f"{len(told)} warnings")
    return ()
"""

CASES = [
    (
        "What was compiled runs at this very call, and at those after it.",
        HEAD
        + """
def inputs(k):
    return (torch.arange(4.0) + k,)

def f(x):
    return x.sin() * 2
""",
    ),
    (
        "A call that no entry fits is compiled for; the entries before stay of use.",
        HEAD
        + """
def inputs(k):
    return torch.arange(4.0), k % 3

def f(x, k):
    return x * k
""",
    ),
    (
        "At the limit nothing more is compiled; what there is stays of use.",
        HEAD
        + """
def inputs(k):
    return torch.arange(4.0), k % 10

def f(x, k):
    return x * k
""",
    ),
    (
        "A replacement is handed what its guards have found, at its first call as at any other.",
        HEAD
        + """
layers = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(4)]).requires_grad_(False)
for p in layers.parameters():
    p.fill_(0.5)

def inputs(k):
    return layers, torch.arange(4.0) + k

def f(layers, x):
    return layers(x).sin()
""",
    ),
    (
        "There is one warning, when the limit is reached.",
        ASK
        + """
def steps():
    for n in range(11):
        seen.append(ask(n))
""",
    ),
    (
        "An entry that fits already is taken, and nothing is compiled.",
        ASK
        + """
def steps():
    seen.append([ask(1), ask(2), ask(1), ask(2)])
""",
    ),
    (
        "A frame that can never be compiled is asked about once in each region.",
        ASK
        + """
def steps():
    seen.append([ask(1, answer=None), ask(2, answer=None), ask(3)])
    seen.append(ask(1, region="other"))
""",
    ),
    (
        "An assumption that fails right after compiling is never run on.",
        ASK
        + """
def steps():
    seen.append(ask(1, assumed=5))
    seen.append([ask(2), ask(5)])
""",
    ),
    (
        "Leaving a frame to Python under its guards is an answer; a limit of them is enough.",
        ASK
        + """
def steps():
    for n in range(8):
        seen.append(ask(n, answer=False))
    seen.append([ask(3), ask(20), ask(21)])
""",
    ),
    (
        "What compiling raises passes through, and the next call is asked about again.",
        ASK
        + """
def steps():
    try:
        ask(1, answer=KeyError("no"))
    except KeyError as error:
        seen.append(str(error))
    seen.append(ask(1))
""",
    ),
    (
        "Entries whose object has died do not count.",
        ASK
        + """
class Thing:
    pass

def steps():
    for n in range(20):
        thing = Thing()
        ask(thing, by="ID")
        del thing
        gc.collect()
    seen.append(ask(Thing(), by="ID"))
""",
    ),
    (
        "A function with the code of another and other globals is left to Python.",
        ASK
        + """
def steps():
    seen.append(ask(1))
    other = types.FunctionType(g.__code__, {})
    seen.append(ask(1, other))
""",
    ),
    (
        "Two threads that need the same compile it once.",
        ASK
        + """
def steps():
    def work():
        start.wait()
        ask(1, answer=slow)

    class Slow:
        def __bool__(self):
            time.sleep(0.2)
            return True

        def __call__(self, x):
            return "compiled"

    slow = Slow()
    start = threading.Barrier(3)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
""",
    ),
]

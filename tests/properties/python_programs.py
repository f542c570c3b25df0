"""Random Python programs around tensors, as source text: control flow, containers, functions,
classes, exceptions, and state that changes between calls.

A program is a module: `f`, what it uses, `inputs()` and `change(a, k)`, which stands for the caller
between call k and the next. It grows by one statement (with its blocks) at a time; whatever eager
does not accept in all of its calls is left out again.

Templates are text with holes. `<T>` is an expression of a kind, `<@T>` a variable of that kind,
`<~T>` one that may be assigned to, `<+T>` a new name for the rest of the block, `<.T>` a new name
for the template's own blocks. `<a:+T>` also labels a hole, and `<a>` repeats what filled it. In
`<T|e=int>` the expression may use the name e. `<block>`, `<function:T>`,
`<generator>` are lines. `<?one || other?>` is either text; a line `# <a:?one || other?>` only gives
it a label. Lines behind `...` are the caller's between two calls, or stand at the end.
"""

import contextlib
import ctypes
import functools
import heapq
import io
import math
import random
import re
import string
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch._dynamo  # here, as growing waits for no program that imports it
from hypothesis import strategies as st

from tests.properties import (
    python_constructs as constructs,
    python_details as details,
    python_more_templates as more,
    python_revealing as revealing,
    python_templates as core,
)
from tests.properties.python_constructs import CONSTRUCTS, labels
from tests.properties.python_templates import ARGUMENTS, ENDINGS, GLOBALS, LITERALS
from tests.properties.tensor_programs import execute

CALLS = 3
HEADER = core.HEADER.replace("import collections\n", "import collections\n" + more.HEADER, 1)
HEADER = HEADER.replace("import torch\n", "import torch\n" + constructs.HEADER + details.HEADER, 1)
STATEMENTS = core.STATEMENTS + more.STATEMENTS + constructs.STATEMENTS
CHANGES = core.CHANGES + more.CHANGES + constructs.CHANGES
DEFINITIONS = core.DEFINITIONS | more.DEFINITIONS | constructs.DEFINITIONS | revealing.DEFINITIONS
DEFINITIONS |= details.DEFINITIONS
REVEALING = revealing.REVEALING + details.REVEALING
EXPRESSIONS = {
    kind: core.EXPRESSIONS.get(kind, []) + more.EXPRESSIONS.get(kind, [])
    for kind in core.EXPRESSIONS | more.EXPRESSIONS
}
PLAIN = {
    kind: [t for t in templates if not re.search(r"<[@]?(O|It|LT|DT|D|Q|P|DC|F|FI|V|M|K)>|:=", t)]
    for kind, templates in EXPRESSIONS.items()
}
PLAIN = {
    kind: [t for t in templates if not set(re.findall(r"\w+", t)) & DEFINITIONS.keys()]
    for kind, templates in PLAIN.items()
}
HOLE = re.compile(r"<(?:([a-z]):)?([@~+.]?)([A-Za-z]\w*)(?::(\w+))?(?:\|([\w.=, ]+))?>")
CHOICE = re.compile(r"<(?:([a-z]):)?\?((?:(?!<(?:[a-z]:)?\?|\?>).)*)\?>", re.DOTALL)
Pick = Callable[[int], int]  # n -> a number below n


@dataclass
class Program:
    """`source` is the module; `backend` what to compile it with. `constructs`: what it holds."""

    source: str
    backend: str = "eager"
    constructs: frozenset[str] = frozenset()

    def module(self) -> dict[str, Any]:
        return start(self.source)

    def __repr__(self) -> str:
        return f"{self.source}\n{MAIN.format(calls=CALLS, backend=self.backend)}"


MAIN = """
if __name__ == "__main__":  # eager first; with an argument: compiled
    if len(sys.argv) > 1:
        import minicompiler

        f = minicompiler.compile(f, backend="{backend}")
    a = inputs()
    for k in range({calls}):
        try:
            print("returns", f(**vars(a)))
        except Exception as error:
            print("raises", repr(error))
        print(a)
        change(a, k)
"""


def start(source: str, in_parts: bool = False) -> dict[str, Any]:
    """The module, run with the same random numbers each time. In parts: what stands before `f` is
    compiled once for many programs."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    if not in_parts:
        return execute(source)
    before, _, rest = source.partition(MARK)
    module = execute("")
    exec(compiled(before), module)
    exec(compile(rest, module["__name__"], "exec"), module)
    return module


@functools.lru_cache(maxsize=32)
def compiled(source: str) -> Any:
    return compile(source, "<program>", "exec")


MARK = "# ---- the program\n"


class Impossible(Exception):
    """A hole that nothing fits: the template is not used."""


@dataclass
class Scope:
    """Names of one block, and of those around it. `fixed`: may be read, not assigned to."""

    names: dict[str, str]
    fixed: set[str] = field(default_factory=set)
    loop: bool = False
    returns: str = "result"  # the kind of value that a return gives
    generator: bool = False
    depth: int = 0

    def inner(self, **changes: Any) -> "Scope":
        kept = dict(loop=self.loop, returns=self.returns, generator=self.generator)
        kept |= dict(depth=self.depth + 1) | changes
        return Scope(dict(self.names), set(self.fixed), **kept)  # type: ignore[arg-type]


class Grower:
    def __init__(self, pick: Pick, shown: str | None = None) -> None:
        """`shown`: a statement that the program holds first, and little besides."""
        self.pick, self.shown = pick, shown
        self.count = 0
        self.definitions: dict[str, str] = {}  # name -> text, each after those that it uses
        self.defining = 0
        self.used: list[str] = []  # templates, of all that the program holds
        self.waiting: str | None = None  # a template for the next block
        self.host, self.backend = constructs.PLAIN, "eager"
        # sixths of its statements; 0: one, and little else, as two of them can hide one another
        self.revealing = 0 if shown else self.choose((1, 1, 4, 0))
        self.alone = self.revealing == 0 and not shown
        self.shows = False  # was it accepted?
        self.meanwhile: list[str] = []  # what the caller does between calls, for what is shown

    # ------------------------------------------------------------ choices
    def choose(self, options: Any) -> Any:
        return options[self.pick(len(options))]

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind.lower()}{self.count}"

    # ------------------------------------------------------------ holes
    def expression(self, kind: str, scope: Scope, depth: int = 2) -> str:
        variables = [n for n, k in scope.names.items() if k == kind]
        way = self.pick(10)
        if variables and (way < 4 or depth == 0):
            recent = variables[-4:] if way % 2 else variables
            return str(self.choose(recent))
        if kind in LITERALS and (way < 6 or depth == 0):
            return str(self.choose(LITERALS[kind]))
        if depth < 0:
            raise Impossible(kind)
        # what definitions compute is plain, so that they do not call one another for ever
        chosen = self.choose((PLAIN if self.defining else EXPRESSIONS)[kind])
        self.used.append(chosen)
        return self.fill(chosen, scope, depth - 1)

    def fill(self, template: str, scope: Scope, depth: int = 1) -> str:
        """One line, or an expression. Names it makes are known afterwards."""
        return self._fill(template, scope, depth, {}, [])

    def _fill(
        self, template: str, scope: Scope, depth: int, labels: dict[str, str], inside: list[Any]
    ) -> str:
        made: list[tuple[str, str]] = []

        def one(hole: re.Match[str]) -> str:
            label, mark, kind, _, extra = hole.groups()
            if not mark and kind in labels:
                return labels[kind]
            if mark == "+" or mark == ".":
                text = self.fresh(kind)
                (made if mark == "+" else inside).append((text, kind))
            elif mark:
                known = [n for n, k in scope.names.items() if k == kind]
                known = [n for n in known if mark == "@" or n not in scope.fixed]
                if not known:
                    raise Impossible(kind)
                text = self.choose(known)
            else:
                at = scope
                if extra:
                    at = scope.inner()
                    at.names |= dict(pair.split("=") for pair in extra.split(", "))
                text = self.expression(kind, at, depth)
                if label and not text.isidentifier():
                    text = f"({text})"
            if label:
                labels[label] = text
            return text

        text = HOLE.sub(one, template)
        self.define(text)
        scope.names |= dict(made)
        return text

    def define(self, text: str) -> None:
        """The definitions that a text uses, before it."""
        for name in re.findall(r"\b[A-Za-z_]\w*", text):
            if name in DEFINITIONS and name not in self.definitions:
                self.definitions[name] = ""
                self.defining += 1
                found: list[str] = []
                while not found:
                    found = self.try_lines(DEFINITIONS[name], Scope(dict(GLOBALS)))
                self.defining -= 1
                del self.definitions[name]
                self.definitions[name] = "\n".join(found)

    # ------------------------------------------------------------ statements
    def lines(self, template: str, labels: dict[str, str], scope: Scope) -> list[str]:
        """Fill a statement. Blocks see the names made before them in it; the others do not."""
        inside: list[tuple[str, str]] = []
        before = dict(scope.names)
        here = scope.inner(depth=scope.depth)
        done: list[str] = []
        for line in template.split("\n"):
            if not line.strip() or line.startswith("#"):
                continue
            indent = line[: len(line) - len(line.lstrip())]
            word = HOLE.fullmatch(line.strip())
            if word is None or word[3] not in ("block", "loop", "function", "generator"):
                own = here.inner(depth=scope.depth)
                own.names |= dict(inside)
                known = set(own.names)
                done.append(self._fill(line, own, 1, labels, inside))
                here.names |= {n: k for n, k in own.names.items() if n not in known}
                continue
            block = here.inner(loop=scope.loop or word[3] == "loop")
            block.names = before | dict(inside)
            if word[3] in ("function", "generator"):
                block = block.inner(loop=False, returns=word[4], generator=word[3] == "generator")
                done += [indent + text for text in self.function(block, dict(inside))]
            else:
                done += [indent + text for text in self.block(block)]
        scope.names |= {n: k for n, k in here.names.items() if n not in dict(inside)}
        return done

    def decide(self, text: str, labels: dict[str, str]) -> str:
        """One of the texts of each choice, the inner ones first."""
        while found := CHOICE.search(text):
            chosen = str(self.choose(re.split(r" \|\|(?: |(?=\n))", found[2])))
            if found[1]:
                chosen = re.sub(r"<([a-z])>", lambda hole: labels.get(hole[1], hole[0]), chosen)
                labels[found[1]] = chosen
            text = text[: found.start()] + chosen + text[found.end() :]
        return text

    def with_change(self, own: str, change: str, labels: dict[str, str], caller: bool) -> str:
        """What changes is the caller's to do, or done at the end; unless only a caller can."""
        if caller:  # whose arguments are attributes of `a`
            names = "|".join(ARGUMENTS)
            seen = {k: re.sub(rf"^({names})\b", r"a.\1", text) for k, text in labels.items()}
            done = []  # all, or none where one is impossible
            for _ in range(CALLS - 1):
                text = self._fill(self.decide(change, seen), Scope({}), 1, seen, [])
                done.append(self.alive(text))
            self.meanwhile = done
        elif not re.search(r"(^|\W)(?!G[A-Z]\b)[A-Z]+ = ", change):
            own += "\n" + re.sub(r"\ba\.", "", self.decide(change, labels))
        return own

    def alive(self, change: str) -> str:
        """At times what is replaced lives on: a guard that asks for it must not find it dead."""
        old = re.match(r"([\w.]+(?:\[[^\]]*\])?) = ", change)
        if not old or not self.pick(3):
            return change
        return self.fill(f"ALIVE.append({old[1]})\n", Scope({})) + change

    def function(self, scope: Scope, own: dict[str, str]) -> list[str]:
        """The body of a nested function: outer names are fixed, but for those it declares."""
        outer = [n for n in scope.names if n not in own and n.isidentifier()]
        scope.fixed |= set(outer)
        local = [n for n in outer if n not in GLOBALS and scope.names[n] in ("T", "int", "LI")]
        head = []
        if local and scope.depth < 3 and not self.pick(3):
            name = self.choose(local)
            head, scope.fixed = [f"nonlocal {name}"], scope.fixed - {name}
        body = self.block(scope)
        if scope.generator:
            return head + body + [self.fill("yield <int>", scope)]
        return head + body + [self.fill(f"return <{scope.returns}>", scope)]

    def block(self, scope: Scope) -> list[str]:
        done: list[str] = []
        for _ in range(1 + self.pick(2)):
            done += self.statement(scope)
        if scope.loop and not self.pick(4):
            done += self.try_lines("if <bool>:\n    " + self.choose(["break", "continue"]), scope)
        elif scope.generator:
            done += self.try_lines("yield <int>", scope)
        elif not self.pick(6):
            done += self.try_lines(f"if <bool>:\n    return <{scope.returns}>", scope)
        return done or ["pass"]

    def statement(self, scope: Scope) -> list[str]:
        if self.waiting is not None and scope.depth > 0:
            template, self.waiting = self.waiting, None
            return self.try_lines(template, scope)
        pool = REVEALING if self.alone or self.pick(6) < self.revealing else STATEMENTS
        self.alone = False
        options = [s for s in pool if scope.depth < 2 or s.count("\n") < 2]
        if self.backend != "eager":  # which draws other numbers
            options = [s for s in options if "torch.rand(" not in s]
        return self.try_lines(self.choose(options), scope)

    def try_lines(self, template: str, scope: Scope) -> list[str]:
        names, used, labels = dict(scope.names), len(self.used), dict[str, str]()
        own, _, change = template.partition("\n...\n")
        self.used.append(text := self.decide(own, labels))
        try:
            if change and scope.depth == 0:
                caller = template == self.shown and self.pick(4) > 0
                text = self.with_change(text, change, labels, caller)
            return self.lines(text, labels, scope)
        except Impossible:
            scope.names = names
            del self.used[used:]
            return []

    def with_construct(self, construct: str, scope: Scope) -> list[str]:
        """A statement with one of its templates, at times within a block of another's."""
        own, others = templates_of(construct)
        template = self.choose(own if own and (not others or self.pick(2)) else others)
        if self.pick(3):
            return self.try_lines(template, scope)
        self.waiting = template
        done = self.try_lines(self.choose(COMPOUND), scope)
        inside, self.waiting = self.waiting is None, None
        return done if inside else []

    # ------------------------------------------------------------ programs
    def module(self, body: list[str], ending: str, changes: list[str]) -> str:
        text = [HEADER, *self.definitions.values(), MARK]
        for line in re.sub(r"\bargs\b", ", ".join(ARGUMENTS), self.host).split("\n"):
            indent, word = line[: len(line) - len(line.lstrip())], line.strip()
            lines = ["global GN, GT, GL, GD", *body, ending] if word == "body" else [word]
            text += [indent + part for part in lines]
        text += ["", "", "def inputs():", "    a = SimpleNamespace()"]
        text += [f"    a.{name} = {make}" for name, (_, make) in ARGUMENTS.items()]
        written = re.findall(r"^(\w+) =", "\n".join(changes), re.M)
        names = ", ".join(["GN", "GT", "GL", "GD", *sorted(DEFINITIONS.keys() & written)])
        text += ["    return a", "", "", "def change(a, k):", f"    global {names}"]
        for k, change in enumerate(changes):
            text += [f"    if k == {k}:"] + [f"        {line}" for line in change.split("\n")]
        return "\n".join(text) + "\n"

    def program(self, statements: int, backend: str, held: Sequence[str] = ()) -> Program:
        """Each statement holds one of the constructs `held`, as long as there are some to place."""
        scope = Scope({n: kind for n, (kind, _) in ARGUMENTS.items()} | GLOBALS)
        self.backend, body = backend, list[str]()
        changes = ["pass"] * (CALLS - 1)
        while not self.definitions or not eager_accepts(self.module([], "return x", changes)):
            self.definitions.clear()
            self.define(" ".join(make for _, make in ARGUMENTS.values()))
        self.used.clear()  # what definitions hold is in many programs, and seldom run
        if not self.pick(4 if self.shown else 2):
            self.used.append(host := self.choose(constructs.HOSTS))
            self.host = host
        few = 1 + self.pick(2 if self.shown else 3)
        wanted = 2 + self.pick(statements) if self.revealing else few
        todo, start = list(held), self.pick(wanted)  # how many statements stand before them
        for _ in range(3 * wanted + 30 * (len(todo) + bool(self.shown))):
            before, known, used = dict(scope.names), dict(self.definitions), len(self.used)
            asked = todo[0] if todo and wanted <= max(start, len(todo)) else None
            first = self.shown if not body else None
            if first:
                more = self.try_lines(first, scope)
            else:
                more = self.with_construct(asked, scope) if asked else self.statement(scope)
            todo = todo[1:] + todo[:1] if asked else todo
            changes = self.meanwhile or changes
            if not more or not eager_accepts(self.module(body + more, "return x", changes)):
                scope.names, self.definitions = before, known
                self.meanwhile, changes = [], ["pass"] * (CALLS - 1) if first else changes
                del self.used[used:]
                continue
            body += more
            self.shows |= first is not None
            todo = todo[:-1] if asked else todo
            if len(body) > 45 or (wanted := wanted - 1) == 0:
                break
        ending = "return x + 1"
        all_endings = [*ENDINGS, *[EVERYTHING] * len(ENDINGS) * (4 if self.shown else 1)]
        for _ in range(4):
            self.definitions = dict(known := self.definitions)
            used = len(self.used)
            try:
                self.used.append(template := self.choose(all_endings))
                filled = self.fill(template.replace("everything", ", ".join(scope.names)), scope)
            except Impossible:
                self.definitions = known
                del self.used[used:]
                continue
            if eager_accepts(self.module(body, filled, changes), raises=True):
                ending = filled
                break
            self.definitions = known
            del self.used[used:]
        found = frozenset().union(*map(labels, self.used))
        still = self.shown and self.pick(3)  # what changes is in the statement itself
        theme = self.choose(THEMES) if not still and not self.pick(4) else None
        own = [*changes]
        for k in range(0 if still else CALLS - 1):
            changes[k] = f"{own[k]}\n{theme[k]}" if theme else self.change(k, body, ending, changes)
        if theme and not eager_accepts(self.module(body, ending, changes), raises=True):
            changes = own
        return Program(self.module(body, ending, changes), backend, found)

    def change(self, k: int, body: list[str], ending: str, changes: list[str]) -> str:
        """What the caller does after call k: most often one thing, which matters to the program;
        at times nothing, as where anything else compiles it again no guard is missed."""
        words = set(re.findall(r"\w+", "\n".join(body).lower()))
        near = [c for c in CHANGES if touched(c) <= words]
        related = [c for c in near if len(re.findall(r"\ba\.|\bG[A-Z]\b", c)) > 1]
        ways = [AMBIENT, related, near, near, near, CHANGES]
        for _ in range(6):
            known = dict(self.definitions)
            picked = [
                self.fill(self.choose(self.choose(ways) or CHANGES), Scope({}), 1)
                for _ in range(self.choose((0, 1, 1, 1, 2)))
            ]
            trial = [*changes[:k], "\n".join([changes[k], *picked]), *changes[k + 1 :]]
            if eager_accepts(self.module(body, ending, trial), raises=True):
                return trial[k]
            self.definitions = known
        return changes[k]


@functools.cache
def touched(change: str) -> set[str]:
    """What a change is about: names, in small letters; none but these need to be in a program."""
    target = re.match(r"(?:del |next\()?([\w.]+)", change)
    names = target[1].split(".") if target else []
    called = change[target.end() :].startswith("(") if target else False
    names = names[: len(names) - called]
    return {n.lower() for n in names if n not in ("a", "torch") and not n.startswith("_")}


CAST, HALF = (
    "torch.set_autocast_enabled('cpu', True)",
    "torch.set_autocast_dtype('cpu', torch.float16)",
)
THEMES = [  # what is only seen where nothing else changes: one thing, and another way or back
    ("torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)"),
    ("torch.set_default_dtype(torch.float64)", "torch.set_default_dtype(torch.float32)"),
    (CAST, HALF),
    (HALF, CAST),
    ("a.s = 0.0", "a.s = -0.0"),
    ("a.n = 1", "a.n = True"),
    ("a.n = 2", "a.n = 2.0"),
    ("pass", "pass"),
]
AMBIENT = [one for theme in THEMES[:4] for one in theme]
EVERYTHING = "return everything"
COMPOUND = [t for t in STATEMENTS if re.search(r"^ +<(block|loop|function:T)>", t, re.M)]


@functools.cache
def templates_of(construct: str) -> tuple[list[str], list[str]]:
    """Statements that hold the construct: those written for it, and the others."""
    own = CONSTRUCTS[construct][1]
    others = [t for t in STATEMENTS if construct in labels(t) and t not in own]
    for kind, expressions in EXPRESSIONS.items():
        if kind != "result":
            others += [f"<+{kind}> = {t}" for t in expressions if construct in labels(t)]
    return own, others


# ---------------------------------------------------------------- does eager accept it?
class TooLong(BaseException):
    """More lines were run, or lists grew longer, than in a small program."""


def is_large(v: Any, depth: int = 4) -> bool:
    """What doubles with every step is found wherever a program keeps it."""
    if isinstance(v, int):
        return v.bit_length() > 10_000
    if isinstance(v, dict):
        v = list(v.values())
    elif type(v).__module__.startswith("<program") and type(v).__dictoffset__:
        v = list(vars(v).values())
    if not isinstance(v, str | bytes | list | tuple | set | deque):
        return False
    if len(v) > 60 or depth == 0 or isinstance(v, str | bytes):
        return len(v) > 60
    return any(is_large(e, depth - 1) for e in v)


def eager_accepts(source: str, raises: bool = False, lines: int = 3_000) -> bool:
    """Run all calls. Exceptions that leave `f` are fine where `raises`, mistakes in names never."""
    running, patience = GROWING.submit(accepts, source, raises, lines), 10.0
    while True:
        try:
            return running.result(timeout=patience)
        except TimeoutError:  # where the program swallowed `TooLong` it goes on, untraced
            patience = 0.01
            thread = ctypes.c_ulong(next(iter(GROWING._threads)).ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TooLong))


# a thread of its own: a tracer that raises can leave Python with an exception as handled
GROWING = ThreadPoolExecutor(1)


def accepts(source: str, raises: bool, left: int) -> bool:

    def count(frame: Any, event: str, arg: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith("<program"):
            return None
        left -= 1
        if left < 0 or left % 8 == 0 and is_large(frame.f_locals):
            raise TooLong
        return count

    before = sys.gettrace()
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = start(source, in_parts=True)
            a = module["inputs"]()
            sys.settrace(count)
            for k in range(CALLS):
                try:
                    module["f"](**vars(a))
                except NameError:
                    return False
                except (Exception, SystemExit):
                    if not raises:
                        return False
                if any(isinstance(v, list) and len(v) > 12 for v in vars(a).values()):
                    return False
                module["change"](a, k)
    except (Exception, SystemExit, TooLong):
        return False
    finally:
        sys.settrace(before)
        restore_ambient()
    return True


def restore_ambient() -> None:
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_cache_enabled(True)
    torch.set_anomaly_enabled(False)
    torch.set_default_device(None)
    torch.backends.cuda.enable_math_sdp(True)
    for of, name, real in PATCHED:
        if getattr(of, name) is not real:
            setattr(of, name, real)


# What programs may exchange of modules and classes that are not theirs; nothing that fx calls.
PATCHED: Any = [(math, "floor"), (torch, "sin"), (torch.nn.ReLU, "forward"), (string, "capwords")]
PATCHED += [(torch.nn.functional, "softplus"), (torch.Tensor, "tanh"), (Counter, "most_common")]
PATCHED += [(heapq, "nlargest"), (torch.nn.Sequential, "forward")]
PATCHED = [(of, name, getattr(of, name)) for of, name in PATCHED]


@st.composite
def python_programs(draw: Any, statements: int = 6, backend: str = "eager") -> Program:
    return Grower(lambda n: draw(st.integers(0, n - 1))).program(statements, backend)

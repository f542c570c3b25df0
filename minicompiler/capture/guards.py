"""Guards: what a compiled frame assumes, as data, and the readings of that data.

A `Guard` is a row: a kind, a source, what is expected there (a fact, see facts.py), and the user's
line that made us assume it. KINDS says for each kind how the check looks as Python text and how a
failure is told. `GuardSet.build` is one reading of the rows: a generated function that reads every
path once, does cheap checks first, and reads nothing before the guards that make it safe to read.
`GuardSet.explain_failure` is another.

A check never raises (what cannot be read has changed) and never runs user code: see source.py for
reading; comparing trusts only `==` of exact builtin types. Objects that may die are expected by
weak reference, so that an address used again is not taken for the object.
"""

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import torch

from ..errors import Unsupported
from . import facts
from .decode import parameters
from .facts import AMBIENT, Literal, Pin, TensorFacts, describe, key_form, signature
from .frame_hook import MISSING
from .source import Globals, Local, OwnDict, Source, keys_of


# ---------------------------------------------------------------- kinds
@dataclass(frozen=True, slots=True)
class Guard:
    kind: str
    source: Source | None  # None: ambient state, or a relation of the sources in `expected`
    expected: Any
    where: str = field(default="", compare=False)  # "file:line" of the user's program

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that checking this guard reads."""
        own = () if self.source is None else (self.source,)
        return (*own, *KINDS[self.kind].others(self.expected))

    @property
    def alone(self) -> bool:
        """Can the run-time extension look at it, and before all others? Ambient state that a C
        function tells, and tensors among the arguments."""
        if self.kind in AMBIENT:
            return type(AMBIENT[self.kind].question(self.expected)[0]) is not FunctionType
        return self.kind == "TENSOR" and type(self.source) is Local

    def __repr__(self) -> str:
        return f"{self.kind} {self.source or ''} {KINDS[self.kind].tell(self.expected, None)[0]}"


def has_died(expected: Any) -> bool:
    """Something expected by identity no longer exists (the classes of tensors always do)."""
    if isinstance(expected, tuple | frozenset):
        return any(map(has_died, expected))
    return isinstance(expected, Pin) and expected.dead


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of guard is kept, checked and told.

    cost    checks run in this order, unless one makes reading another safe
    holds   (text of the value, expected, scope) -> Python text, true while the guard holds
    keep    what is stored for the `expected` given to `add`
    tell    (expected, value found) -> how both read in a failure
    others  sources in `expected`
    """

    cost: int
    holds: Callable[[str, Any, "Text"], str]
    keep: Callable[[Any], Any] = lambda expected: expected
    tell: Callable[[Any, Any], tuple[str, str]] = lambda e, v: (describe(e), describe(v))
    others: Callable[[Any], tuple[Source, ...]] = lambda expected: ()


def _equals(x: str, literal: Any, scope: "Text") -> str:
    value = literal.value if isinstance(literal, Literal) else literal
    cls = type(value)
    if value is None or cls is bool:
        return f"{x} is {value}"
    if cls in (int, str, bytes) or (cls is float and value and value == value):
        text = repr(value) if cls is not float or abs(value) != float("inf") else scope.const(value)
        return f"type({x}) is {scope.const(cls)} and {x} == {text}"
    if cls is tuple:
        items = "".join(f" and {_equals(f'{x}[{i}]', v, scope)}" for i, v in enumerate(value))
        return f"type({x}) is tuple and len({x}) == {len(value)}{items}"
    return f"{scope.const(signature)}({x}) == {scope.const(signature(value))}"


def _reads(sources: Iterable[Source], scope: "Text") -> str:
    return ", ".join(map(scope.read, sources)) + ","


def _pair(test: str, expected: str, found: str) -> Kind:
    return Kind(
        5,
        lambda x, other, scope: f"{x} {test} {scope.read(other)}",
        tell=lambda other, v: (f"{expected} {other!r}", found),
        others=lambda other: (other,),
    )


def _ambient(name: str) -> Kind:
    state = AMBIENT[name]

    def holds(x: str, expected: Any, scope: "Text") -> str:
        call, answer = state.question(expected)
        return f"{scope.const(call)}() == {scope.const(answer)}"

    return Kind(2, holds, tell=lambda e, v: (describe(e), describe(state.read())))


KINDS: dict[str, Kind] = {
    # one object
    "TYPE": Kind(
        1,
        lambda x, pin, scope: scope.same(f"type({x})", pin),
        Pin,
        lambda pin, v: (f"a {pin}", f"a {describe(type(v))}"),
    ),
    "ID": Kind(
        1,
        lambda x, pin, scope: scope.same(x, pin),
        Pin,
        lambda pin, v: (f"the same {pin}", "another " * (str(pin) == describe(v)) + describe(v)),
    ),
    "EQUALS": Kind(
        2, _equals, Literal.of, lambda e, v: (describe(e.value), describe(v, type(e.value)))
    ),
    "EMPTY_CELL": Kind(
        2,
        lambda x, e, scope: f"{scope.const(facts.is_empty)}({x}) is {e}",
        tell=lambda e, v: ("unbound", "bound") if e else ("bound", "unbound"),
    ),
    # what an object holds
    "LENGTH": Kind(
        2,
        lambda x, n, scope: f"{scope.method(x, '__len__')}({x}) == {n}",
        tell=lambda n, v: (f"length {n}", f"length {_attempt(facts.length, v)}"),
    ),
    "HAS_KEY": Kind(
        2,
        lambda x, e, s: f"{s.method(x, '__contains__')}({x}, {s.const(e[0])}) is {e[1]}",
        tell=lambda e, v: (f"{'' if e[1] else 'no '}key {describe(e[0])}", "the contrary"),
    ),
    "DICT_KEYS": Kind(
        3,
        lambda x, keys, scope: (  # most are empty, which asks for no call of Python
            f"{scope.method(x, '__len__')}({x}) == {len(keys)}"
            + (f" and {scope.const(facts.same_keys)}({x}, {scope.const(keys)})" if keys else "")
        ),
        lambda keys: tuple(map(key_form, keys)),
        lambda keys, v: (_keys(keys), _attempt(lambda v: _keys(map(key_form, keys_of(v))), v)),
    ),
    "TENSOR": Kind(
        4,
        lambda x, t, scope: f"{scope.const(TensorFacts.of)}({x}) == {scope.const(t)}",
        lambda e: TensorFacts.of(e) if isinstance(e, torch.Tensor) else e,
        lambda t, v: t.tell(v),
    ),
    # relations
    "ALIASED": _pair("is", "the same object as", "different objects"),
    "NOT_ALIASED": _pair("is not", "another object than", "one object"),
    "DISTINCT": Kind(  # expected: sources of objects, no two of which are one
        5,
        lambda x, e, scope: f"len({{*map(id, ({_reads(e, scope)}))}}) == {len(e)}",
        tell=lambda e, v: (f"{len(e)} different objects", "one of them twice"),
        others=lambda e: tuple(e),
    ),
    "OVERLAPS": Kind(  # expected: (sources of tensors, which of them share memory, where)
        6,
        lambda x, e, s: f"{s.const(facts.overlaps)}(({_reads(e[0], s)})) == {s.const(e[1])}",
        lambda e: (tuple(e[0]), frozenset(e[1])),
        lambda e, v: (f"shared memory only as {sorted(e[1])} of {e[0]}", "something else"),
        lambda e: e[0],
    ),
    **{name: _ambient(name) for name in AMBIENT},
    "STATE": Kind(  # expected: (a function of torch's, its arguments, what it answers)
        2,
        lambda x, e, s: f"{s.const(e[0])}(*{s.const(e[1])}) == {s.const(e[2])}",
        tell=lambda e, v: (f"{e[0].__name__}{e[1]} to be {e[2]}", str(e[0](*e[1]))),
    ),
}


def _attempt(read: Callable[[Any], Any], value: Any) -> str:
    try:
        return str(read(value))
    except Exception as error:
        return f"{describe(value)} ({type(error).__name__})"


def _keys(keys: Iterable[Any]) -> str:
    return f"keys [{', '.join(repr(k) if type(k) is str else describe(k[1]) for k in keys)}]"


# ---------------------------------------------------------------- guards as Python text
TensorGuard = Callable[[list[tuple[Any, ...]]], Callable[..., bool]]
WRITTEN = (int, str, bool, bytes, type(None))  # as literals


class Text:
    """Python text under construction; a `Scope` for sources. Each path is read once, when first
    needed, into a variable."""

    def __init__(self, vector: Sequence[str], namespace: dict[str, Any], exact: Any) -> None:
        self.exact = exact  # source -> type that guards before have made sure of
        self.containers: dict[str, Any] = {}  # variables, and what builtin container they hold
        self.parameters = {n: f"L_{n if n.isidentifier() else i}" for i, n in enumerate(vector)}
        self.namespace = namespace  # globals of the text: G and what `const` was asked for
        self.constants: dict[int, str] = {}
        self.variables: dict[Source, str] = {}
        self.lines: list[str] = []

    def const(self, value: Any) -> str:
        return repr(value) if type(value) in WRITTEN else self.name(value)

    def name(self, value: Any) -> str:
        if (known := self.constants.get(id(value))) is not None:
            return known
        name = value.__name__ if type(value) in (*facts.NAMED, type) else ""
        if name and vars(builtins).get(name) is value:
            return name
        name = f"_{name}" if name.isidentifier() else f"c{len(self.constants)}"
        name = name if name not in self.namespace else f"c{len(self.constants)}"
        self.constants[id(value)] = name
        self.namespace[name] = value  # keeps the id valid
        return name

    def same(self, x: str, pin: Pin) -> str:
        """A dead reference reads None, and so might x."""
        if pin.weak is None:
            return f"{x} is {self.name(pin.strong)}"
        return f"{x} is {self.name(pin.weak)}() is not None"

    def read(self, source: Source) -> str:
        if (known := self.variables.get(source)) is not None:
            return known
        text = source.python(self)
        if not text.isidentifier():
            name = f"v{len(self.variables)}"
            self.lines.append(f"{name} = {text}")
            text = name
        self.variables[source] = text
        cls = dict if isinstance(source, Globals | OwnDict) else self.exact.get(source, object)
        self.containers[text] = facts.builtin_of(cls)
        return text

    def method(self, x: str, name: str) -> str:
        """A method as the builtin container has it, whatever a subclass says."""
        of = self.containers.get(x)
        return self.const(getattr(of, name) if of else facts.of_builtin(name))

    def require(self, guard: Guard, otherwise: str = "False") -> None:
        value = "" if guard.source is None else self.read(guard.source)
        condition = KINDS[guard.kind].holds(value, guard.expected, self)
        self.lines.append(f"if not ({condition}): return {otherwise}")

    def require_all(self, rows: Iterable[Guard], tensor_guard: TensorGuard | None = None) -> None:
        """Rows in the order of checking."""
        for guard in rows:
            if guard.kind == "TENSOR" and tensor_guard and guard.source:
                check = self.name(tensor_guard([guard.expected.row()]))
                self.lines.append(f"if not {check}({self.read(guard.source)}): return False")
            else:
                self.require(guard)

    def function(self, name: str, lines: Iterable[str], *more: str) -> Any:
        """The lines as a function of the vector; `text` of the function is what was compiled."""
        body = "".join(f"\n    {line}" for line in lines)
        text = f"def {name}({', '.join([*self.parameters.values(), *more])}):{body}\n"
        exec(compile(text, f"<{name}>", "exec"), self.namespace)
        made: Any = self.namespace.pop(name)
        made.text = text
        return made

    def tried(self, result: str, on_error: str = "raise") -> Any:
        body = [f"    {line}" for line in (*self.lines, f"return {result}")]
        return self.function("check", ["try:", *body, f"except Exception: {on_error}"])

    def check(self, modes: bool = False, result: str = "True") -> Callable[..., Any]:
        """The lines as a check. `modes`: under a default device, whose mode would see each read."""
        if modes:
            off = f"with {self.const(torch._C.DisableTorchFunction)}():"
            self.lines = [off, *(f"    {line}" for line in self.lines)]
        return self.tried(result, "return False")  # type: ignore[no-any-return]


class Failure(NamedTuple):
    """The first guard that does not hold."""

    guard: Guard
    expected: str
    found: str

    def __str__(self) -> str:
        subject = f"{self.guard.source!r}: " if self.guard.source else f"{self.guard.kind}: "
        place = f" (assumed at {self.guard.where})" if self.guard.where else ""
        return f"{subject}expected {self.expected}, found {self.found}{place}"


class GuardSet:
    """The assumptions of one compiled frame.

    `vector` names what checks are called with: arguments in localsplus order, then closure cells
    (`vector_of(code)`). `f_globals` is the dictionary of the frame.
    """

    def __init__(self, vector: Sequence[str], f_globals: dict[str, Any]) -> None:
        self.vector, self.f_globals = tuple(vector), f_globals
        self.rows: dict[Guard, None] = {}  # in order of adding; equal rows are one

    def add(self, kind: str, source: Source | None, expected: Any, where: str = "") -> None:
        """Assume something (see KINDS for what `expected` is). For ID and TYPE it is the object and
        the type; for EQUALS a constant; for TENSOR a tensor or its TensorFacts; for ALIASED another
        source. Raises Unsupported where the assumption cannot be checked."""
        self.rows.setdefault(Guard(kind, source, KINDS[kind].keep(expected), where))

    def add_ambient(self) -> None:
        """Assume the present state of the thread and process, on which every frame depends. Raises
        Unsupported under modes that may change any operator."""
        for kind in (k for k in AMBIENT if k not in ("ABC", "SDP")):
            self.add(kind, None, AMBIENT[kind].read())
        modes = [m for m in facts.function_modes() if not isinstance(m, str)]
        if modes or torch._C._len_torch_dispatch_stack():
            raise Unsupported("a torch function or dispatch mode is active", "leave it first")
        if facts.saved_hooks() is not None:
            raise Unsupported("hooks see each tensor that is saved", "leave saved_tensors_hooks")
        if AMBIENT["TRACING"].read() is not None:
            raise Unsupported("torch.jit.trace is at work", "trace the function itself")

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Guard]:
        """The rows in the order of checking: cheap ones first, but what reads through a tensor
        after the checks of tensors. Types, which make reads safe, are the cheapest."""
        tensors = {g.source for g in self.rows if g.kind == "TENSOR"}

        def key(guard: Guard) -> tuple[int, int, int]:
            through = [len(tensors & source.above) for source in guard.sources]
            depth = max((len(source.above) for source in guard.sources), default=0)
            return max(through, default=0), KINDS[guard.kind].cost, depth

        return iter(sorted(self.rows, key=key))

    @property
    def dead(self) -> bool:
        """Something expected by identity no longer exists: the check can never hold again."""
        return any(has_died(guard.expected) for guard in self.rows)

    def classes(self) -> dict[Source, Any]:
        """The types that TYPE rows expect, and those of the objects that ID rows name."""
        of: dict[str, Any] = {"TYPE": lambda cls: cls, "ID": type}
        rows = [g for g in self.rows if g.kind in of]
        return {g.source: of[g.kind](g.expected.value) for g in rows if g.source}

    def text(self, vector: Sequence[str] | None = None) -> Text:
        """An empty text over the vector, for rows in the order of checking."""
        return Text(vector or self.vector, {"G": self.f_globals}, self.classes())

    def build(
        self, tensor_guard: TensorGuard | None = None, rows: list[Guard] | None = None
    ) -> Callable[..., bool]:
        """check(*vector) -> whether every guard holds, or all of `rows`. Its `text` is the Python
        it was made of; tensors are looked at in Python too, or by what `tensor_guard` makes."""
        text = self.text()
        text.require_all(self if rows is None else rows, tensor_guard)
        return text.check(any(g.kind == "FUNCTION_MODES" and g.expected for g in self.rows))

    def reader(self, sources: Sequence[Source]) -> Callable[..., list[Any]]:
        """read(*vector) -> the values of the sources; raises where a path no longer exists."""
        text = self.text()
        names = [text.read(source) for source in sources]
        return text.tried(f"[{', '.join(names)}]")  # type: ignore[no-any-return]

    def explain_failure(self, *vector: Any) -> Failure | None:
        """The first guard that does not hold for these arguments, or None if all do."""
        rows, text = list(self), self.text()
        for i, guard in enumerate(rows):
            text.lines.append(f"at = {i}")
            text.require(guard, otherwise="at")
        at = text.tried("None", "return at")(*vector)
        if at is None:
            return None
        guard, value = rows[at], None
        try:
            if guard.source is not None:
                (value,) = self.reader([guard.source])(*vector)
            expected, found = KINDS[guard.kind].tell(guard.expected, value)
        except Exception as error:
            expected = KINDS[guard.kind].tell(guard.expected, MISSING)[0]
            found = f"nothing there ({type(error).__name__}: {error})"
        return Failure(guard, expected, found)


def vector_of(code: CodeType) -> tuple[str, ...]:
    """Names of what the hook hands to checks and replacements of this code."""
    return parameters(code) + code.co_freevars

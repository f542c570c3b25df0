"""From evaluated values back to Python: the text of the replacement function.

In: values (what to return or hand on), effects, the graph. Out: Python source and its namespace.
Every object is rebuilt once, so that identity and aliasing survive; outside objects are read by
their sources before the graph runs; effects come after it, in program order.
"""

# ruff: noqa: I001  (imports fill their lines)

import functools
from itertools import islice
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from types import CellType, ClassMethodDescriptorType, CodeType, FunctionType, MappingProxyType
from types import MethodType
from typing import Any, cast
from weakref import ref

import torch

from . import binding, guards
from .attributes import METHOD_DESCRIPTORS, TRACEBACK, is_data_descriptor
from .calls import POLYFILLS
from .facts import ARRAY
from .frame_hook import own_dict, type_lookup
from .side_effects import Call
from .source import Const as ConstSource, Source, builtin_of
from .values import ABSENT, E, Cell, Const, Dict, Function, Generator, Iterator, Lazy, List, Method
from .values import Obj, Set, Slice, Stepped, Tensor, Tuple, Unbuildable, Value, View, constant
from .values import describe, is_literal, operators, refuse


def skipped(it: Any, n: int) -> Any:
    """A fresh iterator, n items further."""
    next(islice(it, n, n), None)
    return it


class Text(guards.Text):
    """The text of a replacement: `lines` before the graph read each path once; `after` it comes
    what is built from its outputs."""

    def __init__(self, ev: E, vector: Sequence[str]) -> None:
        super().__init__(vector, {"G": ev.f_globals}, {})
        self.ev = ev
        self.binding = binding.of(ev.guards)
        self.after: list[str] = []
        self.made: dict[int, str] = {}
        self.kept: list[Value] = []  # keeps the ids in `made` valid
        self.cells: list[Cell] = []  # to be filled once what they are part of is complete
        self.building: dict[int, list[int]] = {}  # id -> line number where creation may go
        self.outputs: dict[torch.fx.Node, str] = {}
        self.graph = ""  # its code

    def read(self, source: Source) -> str:
        return (self.binding and self.binding.place(source)) or super().read(source)

    def replacement(self, graph: Sequence[str]) -> Any:
        """The function: `graph` are the lines that run it."""
        found = self.binding and (self.binding.front or self.binding.back)
        lines = [*self.lines, *graph, *self.after]
        return self.function("replacement", lines, *["found"] * bool(found))

    # ---------------------------------------------------------------- values
    def value(self, v: Value | Lazy) -> str:
        """An expression for `v`: a name or a literal."""
        if isinstance(v, Lazy | Const):
            return self.outside(v)
        if id(v) in self.building:
            self.building[id(v)].append(1)  # a cycle
            return self.made[id(v)]
        if id(v) not in self.made:
            self.kept.append(v)
            self.made[id(v)] = self._make(v)
            while self.cells and not self.building:
                cell: Any = self.cells.pop()
                self.after.append(f"{self.value(cell)}.cell_contents = {self.value(cell.content)}")
        return self.made[id(v)]

    def outside(self, v: Value | Lazy) -> str:
        if isinstance(v.real, ARRAY) and isinstance(v, Const):
            raise Unbuildable(v.born, "an array of numpy leaves the graph")
        by_reference = v.source is None or isinstance(v, Const) or isinstance(v.source, ConstSource)
        return self.const(v.real) if by_reference else self.read(cast(Source, v.source))

    def _make(self, v: Value) -> str:
        if isinstance(v, Tensor) and v.source is None:
            for made in self.ev.graph.uncounted:
                if made.fake is v.fake or made.fake is v.fake._base:
                    raise Unbuildable(made.born, ".data leaves the graph")
            return self.outputs.setdefault(v.node, f"t{len(self.outputs)}")
        if v.real is not ABSENT:
            return self.outside(v)
        return self._new(cast(Obj, v))

    def _new(self, v: Obj) -> str:
        kind = v.cls.__name__.lower()  # no name of guards.Text has a "_" inside
        name = self.made[id(v)] = f"{kind if kind.isidentifier() else 'new'}_{len(self.made)}"
        at = len(self.after)
        used = self.building[id(v)] = []
        build = next((b for kind, b in BUILDERS.items() if isinstance(v, kind)), None)
        created, filled, fill = (build or build_object)(self, v)
        del self.building[id(v)]
        if used and fill is None:
            raise Unbuildable(v.born, f"{describe(v)} contains itself")
        whole = "" if used else filled
        self.after.insert(at if used else len(self.after), f"{name} = {whole or created}")
        if not whole:
            self.after += [line.replace("{}", name, 1) for line in fill or []]
        if v.attributes is not None and not isinstance(v, Cell):
            for key, value in v.attributes.items.values():
                item = f"{self.const(own_dict)}({name})[{self.value(key)}]"
                self.after.append(f"{item} = {self.value(value)}")
        return name

    def items(self, items: Any) -> str:
        return "".join(f"{self.value(i)}, " for i in items)

    def pairs(self, of: Dict) -> list[tuple[str, str]]:
        return [(self.value(k), self.value(v)) for k, v in list(of.items.values())]

    def function_of(self, code: CodeType, closure: list[str]) -> str:
        """Makes the function of a code object in the frame's globals."""
        if not closure:
            return self.const(FunctionType(code, self.ev.f_globals))
        cells = f"({', '.join(closure)},)"
        return f"{self.const(FunctionType)}({self.const(code)}, G, None, None, {cells})"

    def call(self, of: Call) -> str:
        named = "".join(f"{name}={self.value(x)}, " for name, x in of.kwargs.items())
        return f"{self.value(of.function)}({self.items(of.args)}{named})"

    def asks(self) -> Iterable[str]:
        """Calls of functions under lru_cache, but for the call that capture has made for an object:
        do they answer as then?"""
        for call, answer in self.ev.cached:
            kind, text = guards.KINDS["EQUALS" if is_literal(answer) else "ID"], self.call(call)
            if not is_literal(answer):
                first = self.const([answer])
                text = f"{first}.pop() if {first} else {text}"
            holds = kind.holds("answer", kind.keep(answer), self)
            yield f"[answer := {text}] and ({holds})"

    # ---------------------------------------------------------------- effects
    def effects(self) -> None:
        for of in self.ev.effects.order.values():
            replay(self, of)
        for key, (_, before) in self.ev.ambient.items():
            if (now := self.ev.ambient_now[key]) != before:
                self.after.append(self.setter(key, now))

    def setter(self, key: tuple[Any, ...], value: Any) -> str:
        """A call that sets an ambient switch."""
        args = ", ".join(map(self.const, (*key[1:], value)))
        return f"{self.const(self.ev.ambient[key][0])}({args})"


Built = tuple[str, str, "list[str] | None"]  # empty object, whole object ("" if none), filling


def build_list(t: Text, v: List) -> Built:
    items = t.items(v.contents)
    if issubclass(v.cls, deque):
        return f"{t.const(v.cls)}((), {v.contents.maxlen})", "", [f"{{}}.extend(({items}))"]
    if v.cls is not list:
        cls = t.const(v.cls)
        return f"{t.const(list)}.__new__({cls})", "", [f"{t.const(list)}.extend({{}}, ({items}))"]
    return "[]", f"[{items}]", [f"{{}}.extend(({items}))"]


def build_tuple(t: Text, v: Tuple) -> Built:
    items = t.items(v.contents)
    if v.cls is tuple:
        return "", f"({items})", None
    cls = t.const(v.cls)
    if v.cls is torch.Size or v.cls.__module__ == "torch.return_types":
        return "", f"{cls}(({items}))", None
    return "", f"{t.const(tuple)}.__new__({cls}, ({items}))", None


def build_dict(t: Text, v: Dict) -> Built:
    pairs = t.pairs(v)
    if v.cls is dict:
        text = ", ".join(f"{k}: {x}" for k, x in pairs)
        return "{}", f"{{{text}}}", [f"{{}}[{k}] = {x}" for k, x in pairs]
    if v.cls is MappingProxyType:
        refuse("a mappingproxy leaves the graph")
    cls = t.const(v.cls)
    setter = f"{t.const(builtin_of(v.cls))}.__setitem__"
    fill = [f"{setter}({{}}, {k}, {x})" for k, x in pairs]
    if v.cls is defaultdict:
        return f"{cls}({t.value(v.fields['default_factory'])})", "", fill
    made = f"{t.const(builtin_of(v.cls))}.__new__({cls})"
    slots = [set_slot(t, "{}", name, value) for name, value in v.fields.items()]
    return made, "", fill + slots


def build_set(t: Text, v: Set) -> Built:
    items = t.items(v.items.values())
    return f"{t.const(v.cls)}()", f"{t.const(v.cls)}(({items}))", None


build_slice: Any = lambda t, v: ("", f"{t.const(slice)}({t.items(v.fields.values())})", None)


def build_cell(t: Text, v: Cell) -> Built:
    if v.content is not None:
        t.cells.append(v)
    return f"{t.const(CellType)}()", "", []


def build_function(t: Text, v: Function) -> Built:
    cells = f"({t.items(v.closure)})" if v.closure else "None"
    parts = [t.const(v.code), t.value(v.globals), repr(v.name.rpartition(".")[2])]
    text = f"{t.const(FunctionType)}({', '.join([*parts, t.value(v.defaults), cells])})"
    fill = [f"{{}}.__qualname__ = {v.name!r}"] if "." in v.name else []
    if constant(v.kwdefaults) is not None:
        fill.append(f"{{}}.__kwdefaults__ = {t.value(v.kwdefaults)}")
    if isinstance(v.annotations, Function):
        fill.append(f"{{}}.__annotate__ = {t.value(v.annotations)}")
    elif v.annotations is not None:
        pairs = t.value(v.annotations)
        fill.append(f"{{}}.__annotations__ = dict(zip({pairs}[::2], {pairs}[1::2]))")
    fill += [f"{{}}.{name} = {t.value(v.fields[name])}" for name in v.written]
    return text, text if not fill else "", fill


def build_method(t: Text, v: Method) -> Built:
    function, of = t.value(v.function), t.value(v.self_value)
    if v.function.cls not in (ClassMethodDescriptorType, *METHOD_DESCRIPTORS):
        return "", f"{t.const(MethodType)}({function}, {of})", None
    owner = f"{of}, {t.const(type)}({of})"  # CPython 3.11 crashes on some methods without a class
    bound = f"None, {of}" if v.function.cls is ClassMethodDescriptorType else owner
    return "", f"{function}.__get__({bound})", None


build_view: Any = lambda t, v: ("", f"{t.value(v.of)}.{v.kind}()", None)


def steady(t: Text, v: Obj, sources: Any) -> None:
    """An iterator looks at its source when it is made, which is before writes are replayed; one of
    Python's own again what it is made of, as it ended up, and asks it for its iterator."""
    sources = [of.of if isinstance(of, View | Iterator) else of for of in sources]
    after = v.made_after if isinstance(v, Stepped) else t.ev.effects.writes
    asks = isinstance(v, Stepped) and any("__iter__" in operators(of.cls) for of in sources)
    if asks or any(id(of) in t.ev.effects.order or of.last_write > after for of in sources):
        raise Unbuildable(v.born, "an iterator over what is written leaves the graph")


# by the class of their iterators, which stays when they are exhausted
NOTHING: Any = [], "", b"", {}, {}.values(), {}.items(), range(0)
EMPTY = {type(way(e)): e for e in NOTHING for way in (iter, reversed)} | {type(iter(set())): set()}


def build_iterator(t: Text, v: Iterator) -> Built:
    steady(t, v, [v.of])
    if v.exhausted:
        return "", f"{t.const(v.way)}({t.const(EMPTY.get(v.cls, ()))})", None
    v.read(1 << 62)  # refused where what it iterates over has changed
    made = f"{t.const(v.way)}({t.value(v.of)})"
    return "", f"{t.const(skipped)}({made}, {v.index})" if v.index else made, None


def build_generator(t: Text, v: Generator | Stepped) -> Built:
    if v.started:
        raise Unbuildable(v.born, "a generator that has started leaves the graph")
    fn, args, kwargs = v.origin
    steady(t, v, (fn, *args, *kwargs.values()))
    original = next((Const(o) for o, p in POLYFILLS.items() if p is fn.real), fn)
    return "", t.call(Call(original, tuple(args), kwargs)), None


def build_object(t: Text, v: Obj) -> Built:
    cls = t.const(v.cls)
    if v.cls is functools.partial:
        func, args, keywords = (t.value(v.fields[n]) for n in ("func", "args", "keywords"))
        return "", f"{cls}({func}, *{args}, **{keywords})", None
    if v.cls is ref:
        return "", f"{cls}({t.value(v.fields['of'])})", None
    if issubclass(v.cls, BaseException):
        if v.raised:
            raise Unbuildable(v.raised[0], "an exception leaves the graph, and where it was raised")
        builtin = t.const(next(b for b in v.cls.__mro__ if not b.__flags__ & 1 << 9))
        fields = {n: t.value(x) for n, x in v.fields.items()}
        args = fields.pop("args")
        fill = [f"{{}}.{n} = {x}" for n, x in fields.items()]
        fill.insert(0, f"{builtin}.__init__({{}}, *{args})")
        return f"{builtin}.__new__({cls}, *{args})", "", fill
    known = v.cls in POLYFILLS.values() or issubclass(v.cls, property)
    if type(v) is not Obj or v is TRACEBACK or known:
        raise Unbuildable(v.born, f"{describe(v)} leaves the graph")
    fill = [set_slot(t, "{}", name, value) for name, value in v.fields.items()]
    return f"{t.const(object)}.__new__({cls})", "", fill


def set_slot(t: Text, of: str, name: str, value: Value) -> str:
    return f"{t.const(object)}.__setattr__({of}, {name!r}, {t.value(value)})"


BUILDERS: dict[type, Any] = {List: build_list, Tuple: build_tuple, Dict: build_dict, Set: build_set}
BUILDERS |= {Slice: build_slice, Cell: build_cell, Function: build_function, Method: build_method}
BUILDERS |= {View: build_view, Stepped: build_generator, Iterator: build_iterator}
BUILDERS |= {Generator: build_generator}


def replay(t: Text, of: Obj | Call) -> None:
    """The lines that bring an outside object into its final state."""
    if isinstance(of, Call):
        t.after.append(t.call(of))
        return
    if isinstance(of, Dict):
        replay_dict(t, of)
    name = t.value(of) if of.written or not isinstance(of, Dict) else ""
    if isinstance(of, Cell):
        content = f"{name}.cell_contents"
        t.after.append(f"{content} = {t.value(of.content)}" if of.content else f"del {content}")
    elif isinstance(of, Set):
        t.after += [f"{t.const(set)}.{step}({t.items([of, *on])})" for step, on in of.steps]
    elif isinstance(of, List) and of.changed:
        base = t.const(builtin_of(of.cls))
        t.after += [f"{base}.clear({name})"] * (of.unread is None)
        t.after.append(f"{base}.extend({name}, ({t.items(of.held)}))")
    t.after += [set_slot(t, name, field, of.fields[field]) for field in of.written]


def rebuild(kind: Any, of: Any, items: dict[Any, Any]) -> None:
    """Gives a dictionary these items, in this order. It may be a module's namespace that another
    thread reads: what stays is gone for no moment, unless its order is new."""
    for key in [k for k in kind.keys(of) if k not in items]:
        kind.__delitem__(of, key)
    if not items or any(a is not b for a, b in zip(kind.keys(of), items)):
        kind.clear(of)
    for key, value in items.items():
        kind.__setitem__(of, key, value)


def replay_dict(t: Text, of: Dict) -> None:
    owner = of.owner()
    name, kind = t.value(owner or of), t.const(builtin_of(of.cls))
    if of.changed:
        space = f"{t.const(own_dict)}({name})" if owner else name
        pairs = ", ".join(f"{k}: {x}" for k, x in t.pairs(of))
        t.after.append(f"{t.const(rebuild)}({kind}, {space}, {{{pairs}}})")
        return
    keys: list[Any] = [of.items[k][0].real for k in of.stored]
    if owner and any(
        type(k) is not str or is_data_descriptor(type_lookup(owner.cls, k)) for k in keys
    ):
        name, owner = f"{t.const(own_dict)}({name})", None  # a descriptor would take it
    setter = f"{t.const(object)}.__setattr__" if owner else f"{kind}.__setitem__"
    for key, value in [map(t.value, of.items[k]) for k in of.stored]:
        plain = of.cls is dict and not owner
        t.after.append(f"{name}[{key}] = {value}" if plain else f"{setter}({name}, {key}, {value})")

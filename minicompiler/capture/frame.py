"""One frame under evaluation: stack, locals, cells, and the loop over its instructions."""

# ruff: noqa: I001  (imports fill their lines)

from types import CodeType, FunctionType
from typing import Any

from ..errors import Unsupported
from . import data_model as model
from .decode import Code, Instruction, decode, parameters
from .values import E, Cell, Const, Dict, Function, Lazy, Obj, Raised, Tuple, Value, refuse

LOCALS: Any = lambda: locals()  # given other parameters, it binds them


class BreakHere(Exception):
    """The outermost frame has reached the instruction at which the graph is to be broken."""


class Yielded(Value):
    """What `run` returns where a generator pauses."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Frame:
    def __init__(self, ev: E, code: CodeType, space: Dict, closure: tuple[Cell, ...]) -> None:
        self.ev, self.space = ev, space
        self.code: Code = decode(code)
        self.stack: list[Value] = []
        self.push, self.pop = self.stack.append, self.stack.pop
        self.locals: dict[str, Value | Lazy] = {}
        self.cells: dict[str, Cell] = dict(zip(code.co_freevars, closure))
        self.index = 0  # of the next instruction
        self.inst: Instruction = self.code.instructions[0]
        self.outermost = not ev.frames
        self.steps: list[int] = []  # of the outermost frame: index of each instruction run
        ev.differentiates_twice |= self.code.differentiates_twice
        ev.handles |= bool(code.co_exceptiontable)

    def where(self) -> str:
        code = self.code.code
        return f"{code.co_filename}:{self.inst.line} in {code.co_name}"

    def as_caller(self, function: Any) -> Any:
        """`function`, called later from where the frame stands: records of logging say so."""
        code, call = self.code.code, lambda *args, **kwargs: function(*args, **kwargs)
        place: Any = dict(co_filename=code.co_filename, co_firstlineno=self.inst.line)
        call.__code__ = call.__code__.replace(**place, co_name=code.co_name)
        return call

    # ---------------------------------------------------------------- stack
    def popn(self, n: int) -> list[Value]:
        first = len(self.stack) - n
        items = self.stack[first:]
        del self.stack[first:]
        return items

    def local(self, name: str) -> Value:
        found = self.locals.get(name)
        if isinstance(found, Lazy):
            found = self.locals[name] = self.ev.wrap(found.real, found.source)
        return refuse(f"reads {name}, which is unbound") if found is None else found

    # ---------------------------------------------------------------- arguments
    def bind(self, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Arguments to parameters by CPython itself; a call that does not fit is refused."""
        self.call = fn, args, kwargs
        code, names = fn.code, parameters(fn.code)
        kinds = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_qualname")
        same: Any = {kind: getattr(code, kind) for kind in kinds}
        stars = code.co_flags & (0x04 | 0x08)
        flags, count = LOCALS.__code__.co_flags | stars, code.co_argcount + code.co_kwonlyargcount
        same |= dict(co_varnames=names, co_nlocals=len(names), co_flags=flags)
        bind = FunctionType(LOCALS.__code__.replace(**same), LOCALS.__globals__)
        if isinstance(fn.defaults, Tuple):
            bind.__defaults__ = tuple(fn.defaults.read(self.ev))
        if isinstance(fn.kwdefaults, Dict):
            found = {n: fn.kwdefaults.get(self.ev, Const(n)) for n in names[:count]}
            bind.__kwdefaults__ = {n: v for n, v in found.items() if v is not None}
        try:
            self.locals = bind(*args, **kwargs)
        except TypeError as error:
            refuse(str(error))
        for name in names[count:]:
            rest: Any = self.locals[name]
            star = isinstance(rest, tuple)
            self.locals[name] = Tuple(rest) if star else model.call_real(self.ev, dict, **rest)

    # ---------------------------------------------------------------- running
    def enter(self) -> Value:
        """First the cells of this frame's own captured variables; parameters among them move in."""
        for name in self.code.code.co_cellvars:
            self.cells[name] = cell = Cell()
            if name in self.locals:
                cell.content = self.local(name)
                del self.locals[name]
        return self.run()

    def run(self) -> Value:
        """Evaluate until a return (its value) or a yield (`Yielded`)."""
        from .opcodes import HANDLERS, REFUSED

        ev = self.ev
        ev.frames.append(self)
        try:
            while True:
                inst = self.inst = self.code.instructions[self.index]
                if self.outermost:
                    if ev.step == ev.break_at:
                        raise BreakHere
                    ev.step += 1
                    self.steps.append(inst.index)
                ev.idle += 1
                if ev.idle > 100_000:
                    refuse("computes for long without a tensor operation")
                self.index += 1
                if (handler := HANDLERS.get(inst.opname)) is None:
                    refuse(REFUSED.get(inst.opname, f"the instruction {inst.opname}"))
                try:
                    result = handler(self, inst)
                except Raised as raised:
                    if not self.unwind(raised.value):
                        raise
                    continue
                if result is not None:
                    return result
        except Unsupported as error:
            error.where = error.where or ev.where()
            raise
        finally:
            ev.frames.pop()

    def unwind(self, exception: Obj) -> bool:
        """Go to the handler of a Python exception; False: there is none, it leaves the frame."""
        if (handler := self.code.handler(self.inst.index)) is None:
            return False
        del self.stack[handler.depth :]
        if handler.lasti:
            self.push(Const(self.inst.offset))
        self.push(exception)
        self.index = handler.target
        return True

    # ---------------------------------------------------------------- generators
    def in_try(self, index: int) -> bool:
        """Whether a yield has code to run when the generator goes away while it waits there."""
        code, at = self.code.instructions, self.code.handler(index)
        while at is not None and code[at.target].opname == "CLEANUP_THROW":  # of `yield from`
            at = self.code.handler(at.target)
        # every generator of Python 3.12 and later has a handler that turns StopIteration
        return at is not None and code[at.target].opname != "CALL_INTRINSIC_1"

    @property
    def cleans_up(self) -> bool:
        yields = (i.index for i in self.code.instructions if i.opname == "YIELD_VALUE")
        return any(map(self.in_try, yields))

    def throw_in(self, exception: Obj) -> None:
        """Go on with what handles an exception that is raised at the yield."""
        self.inst = self.code.instructions[max(self.index - 1, 0)]
        if not self.unwind(exception):
            raise Raised(self.ev, exception)


class Handled(Value):
    """On the stack below an exception being handled: the one that was handled before."""

    def __init__(self, previous: Obj | None) -> None:
        self.previous = previous

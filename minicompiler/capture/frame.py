"""One frame under evaluation: stack, locals, cells, and the loop over its instructions."""

from types import CodeType
from typing import TYPE_CHECKING, NoReturn

from ..errors import Unsupported
from .decode import Code, Instruction, decode
from .values import Cell, Const, Dict, Function, Lazy, Obj, Raised, Tuple, Value, refuse

if TYPE_CHECKING:
    from .evaluator import Evaluation


class BreakHere(Exception):
    """The outermost frame has reached the instruction at which the graph is to be broken."""


class Yielded(Value):
    """What `run` returns where a generator pauses."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Frame:
    def __init__(
        self, ev: "Evaluation", code: CodeType, space: Dict, closure: tuple[Cell, ...]
    ) -> None:
        self.ev, self.space, self.closure = ev, space, closure
        self.code: Code = decode(code)
        self.stack: list[Value] = []
        self.locals: dict[str, Value | Lazy] = {}
        self.cells: dict[str, Cell] = dict(zip(code.co_freevars, closure))
        self.index = 0  # of the next instruction
        self.inst: Instruction = self.code.instructions[0]
        module = space.real.get("__name__") if isinstance(space.real, dict) else None
        self.module: str | None = module if isinstance(module, str) else None
        self.outermost = not ev.frames
        self.steps: list[int] = []  # of the outermost frame: index of each instruction run

    def where(self) -> str:
        code = self.code.code
        return f"{code.co_filename}:{self.inst.line} in {code.co_name}"

    # ---------------------------------------------------------------- stack
    def push(self, value: Value) -> None:
        self.stack.append(value)

    def pop(self) -> Value:
        return self.stack.pop()

    def popn(self, n: int) -> list[Value]:
        if n == 0:
            return []
        items = self.stack[-n:]
        del self.stack[-n:]
        return items

    def local(self, name: str) -> Value:
        found = self.locals.get(name)
        if isinstance(found, Lazy):
            found = self.locals[name] = self.ev.wrap(found.real, found.source)
        return self.unbound(name) if found is None else found

    def unbound(self, name: str) -> NoReturn:
        free = name in self.code.code.co_freevars
        kind, scope = ("free", " in enclosing scope") if free else ("local", "")
        self.ev.throw(
            NameError if free else UnboundLocalError,
            f"cannot access {kind} variable '{name}' where it is not associated with a value"
            + scope,
        )

    # ---------------------------------------------------------------- arguments
    def bind(self, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Arguments to parameters as CPython does it; a call that does not fit is refused."""
        code = fn.code
        names = code.co_varnames
        count, kwonly = code.co_argcount, code.co_kwonlyargcount
        positional, keyword_only = names[:count], names[count : count + kwonly]
        given: dict[str, Value | Lazy] = dict(zip(positional, args))
        extra: dict[str, Value] = {}
        bindable = {*positional[code.co_posonlyargcount :], *keyword_only}
        for name, value in kwargs.items():
            if name in bindable and name not in given:
                given[name] = value
            elif name in bindable or not code.co_flags & 0x08:
                refuse(f"the call does not fit the parameters of {fn.name}: {name!r}")
            else:
                extra[name] = value
        if len(args) > count and not code.co_flags & 0x04:
            refuse(f"too many arguments for {fn.name}")
        defaults = fn.defaults.read(self.ev) if isinstance(fn.defaults, Tuple) else []
        for name, default in zip(positional[count - len(defaults) :], defaults):
            given.setdefault(name, default)
        for name in keyword_only:
            if name not in given and isinstance(fn.kwdefaults, Dict):
                found = fn.kwdefaults.get(self.ev, Const(name))
                if found is not None:
                    given[name] = found
        if missing := [n for n in (*positional, *keyword_only) if n not in given]:
            refuse(f"{fn.name} is called without {', '.join(map(repr, missing))}")
        after = count + kwonly
        if code.co_flags & 0x04:
            given[names[after]] = Tuple(args[count:])
            after += 1
        if code.co_flags & 0x08:
            rest = Dict()
            for name, value in extra.items():
                rest.set(self.ev, Const(name), value)
            given[names[after]] = rest
        self.locals = given

    def make_cells(self) -> None:
        """Cells of this frame's own captured variables; parameters among them move in."""
        for name in self.code.code.co_cellvars:
            self.cells[name] = cell = Cell()
            if name in self.locals:
                cell.content = self.local(name)
                del self.locals[name]

    # ---------------------------------------------------------------- running
    def enter(self) -> Value:
        self.make_cells()
        return self.run()

    def run(self) -> Value:
        """Evaluate until a return (its value) or a yield (`Yielded`)."""
        from .opcodes import HANDLERS

        ev = self.ev
        ev.frames.append(self)

        instructions = self.code.instructions
        try:
            while True:
                inst = self.inst = instructions[self.index]
                if self.outermost:
                    if ev.step == ev.break_at:
                        raise BreakHere
                    ev.step += 1
                    self.steps.append(inst.index)
                self.index += 1
                handler = HANDLERS.get(inst.opname)
                if handler is None:
                    refuse(f"the instruction {inst.opname}")
                try:
                    result = handler(self, inst)
                except Raised as raised:
                    self.unwind(raised)
                    continue
                if result is not None:
                    return result
        except Unsupported as error:
            error.where = error.where or ev.where()
            raise
        finally:
            ev.frames.pop()

    def unwind(self, raised: Raised) -> None:
        """Go to the handler of a Python exception, or let it leave the frame."""
        handler = self.code.handler(self.inst.index)
        if handler is None:
            raise raised
        exception = raised.value
        del self.stack[handler.depth :]
        if handler.lasti:
            self.push(Const(self.inst.offset))
        self.push(exception)
        self.index = handler.target

    # ---------------------------------------------------------------- generators
    def resume(self, sent: Value) -> Value:
        """Run on from a yield; returns `Yielded`, or the return value at the end."""
        if self.index == 0:
            self.make_cells()
            while self.code.instructions[self.index].opname != "RETURN_GENERATOR":
                self.index += 1
            self.index += 1
        self.push(sent)
        return self.run()

    def in_try(self) -> bool:
        """Whether a yield at which the frame waits has code to run when the generator goes away."""
        handler = self.code.handler(max(self.index - 1, 0))
        if handler is None:
            return False
        # every generator of Python 3.12 and later has a handler that turns StopIteration
        return self.code.instructions[handler.target].opname != "CALL_INTRINSIC_1"

    def throw_in(self, raised: Raised) -> Value:
        self.inst = self.code.instructions[max(self.index - 1, 0)]
        self.unwind(raised)
        return self.run()


class Handled(Value):
    """On the stack below an exception being handled: the one that was handled before."""

    def __init__(self, previous: Obj | None) -> None:
        self.previous = previous

"""Is a plan one that its program allows? Raises InternalError where it is not."""

from ..errors import InternalError
from ..ir.dtypes import recorded
from ..ir.nodes import Layout, Reduction, Scatter, defined, references
from ..ir.plan import Alloc, Call, Free, Kernel, Launch, Plan, Reuse
from ..symbolic.expr import Expr
from ..symbolic.ranges import simplify
from .spaces import Space


def verify_plan(plan: Plan) -> None:
    """Run the plan on names: what is read was written and is alive, and nothing is lost."""
    walk = _Walk(plan)
    for step in plan.steps:
        getattr(walk, type(step).__name__)(step)
    for ref in references(plan.program.outputs):
        walk.holds(ref.name, "the outputs")


def check(holds: bool, text: str) -> None:
    if not holds:
        raise InternalError(f"schedule: {text}")


class _Walk:
    """`contents[variable]` are the names whose values the variable's memory holds now."""

    def __init__(self, plan: Plan) -> None:
        self.program = plan.program
        self.contents = {name: {name} for name in (*plan.program.inputs, *plan.program.constants)}
        self.layouts = plan.program.layouts()

    def holds(self, name: str, who: str) -> None:
        found = any(name in names for names in self.contents.values())
        check(found, f"{who} read {name}, which is not in memory")

    def Alloc(self, step: Alloc) -> None:
        check(step.name not in self.contents, f"{step.name} is allocated twice")
        self.contents[step.name] = set()

    def Reuse(self, step: Reuse) -> None:
        check(step.old in self.contents, f"{step.name} reuses {step.old}, which is gone")
        check(step.old not in self.program.inputs, f"{step.name} takes an input's memory")
        self.contents[step.name] = self.contents.pop(step.old)

    def Free(self, step: Free) -> None:
        check(self.contents.pop(step.name, None) is not None, f"{step.name} is freed twice")

    def Call(self, step: Call) -> None:
        for ref in step.extern.reads():
            self.holds(ref.name, str(step.extern.target))
        for name in defined(step.extern):
            allocated = step.extern.out_variant is not None
            check(allocated == (name in self.contents), f"{name} is allocated wrongly")
            self.contents[name] = {name}

    def Launch(self, step: Launch) -> None:
        kernel = step.kernel
        check(len(step.args) == len(kernel.args), f"{kernel.name} has other parameters")
        gone = [name for name in step.args if name not in self.contents]
        check(not gone, f"{kernel.name} needs {gone}")
        check(len(set(step.args)) == len(step.args), f"{kernel.name} has aliasing parameters")
        verify_kernel(kernel, self.layouts)
        given = dict(zip(kernel.args, step.args))
        for name in (*kernel.reads, *kernel.mutated):
            held = self.contents[given[name]]
            check(name in held, f"{kernel.name} reads {name}, memory holds {held}")
        for node in kernel.nodes:
            if node.name not in kernel.internal:
                self.contents[given[kernel.memory(node.name)]] = {node.name}


def verify_kernel(kernel: Kernel, layouts: dict[str, Layout]) -> None:
    """What a node reads of an earlier one, or overwrites, lies at the same iteration; and each of
    its iterations stores to a place of its own."""
    space = Space(kernel.ranges, kernel.folded)
    made: dict[str, Expr | None] = {}
    overwritten: set[str] = set()
    read: dict[str, set[Expr]] = {}
    for node in kernel.nodes:
        loop, down = node.loop, node.name in kernel.down
        index, folded = (space.y, space.x) if down else (space.symbols[: len(loop.ranges)], space.y)
        allowed = [(kernel.folded, kernel.ranges) if down else (kernel.ranges, kernel.folded)]
        if not isinstance(loop, Reduction):
            allowed = [(kernel.ranges, ()), (space.sizes, ())]
        fits = (loop.ranges, loop.folded) in allowed
        check(fits, f"{node.name} runs over another space than {kernel.name}")
        seen, target = recorded(node, index, folded, layouts)
        for buffer, at in seen.loads:
            at = simplify(at, space.limits)
            check(buffer not in overwritten, f"{node.name} reads {buffer} after it is overwritten")
            check(buffer not in kernel.down, f"{node.name} reads {buffer} before the last row")
            if buffer in made:
                check(made[buffer] is at, f"{node.name} reads {buffer} of another iteration")
            else:
                known = buffer in kernel.reads or buffer == node.into
                check(known, f"{node.name} reads {buffer}, no argument of {kernel.name}")
            read.setdefault(buffer, set()).add(at)
        place = None
        if isinstance(loop, Scatter):
            check(not kernel.folded, f"{node.name} may meet an element in any row, and rows fold")
        else:
            place = simplify(target, space.limits)
            still = {i for i, size in zip(index, loop.ranges) if size != 1} - place.free
            check(not still, f"{node.name} is at one place for all of {still}")
        if node.into is not None:
            early = read.get(node.into, set()) | {made.get(node.into, place)}
            check(early <= {place}, f"{node.name} overwrites {node.into} that others read")
            overwritten.add(node.into)
        made[node.name] = place

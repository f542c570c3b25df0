"""Schedule: which loops run as one kernel, in which order, and in which memory.

In: a Program (ir). Out: a Plan: kernels, calls, allocations and ends of life, in order.
Invariant: every buffer is written before it is read, memory is given away only after its last use,
and each kernel makes and meets every element in the iteration in which the program would.
"""

import re

from ..ir.nodes import Extern, Program, references
from ..ir.plan import Kernel, Launch, Plan
from ..report.record import Why, current
from ..settings import config
from .dependencies import dependencies
from .empty import without_empty_loops
from .fusion import Fusion, Group
from .kernels import kernel
from .memory import MemoryPlan
from .split import split_reductions
from .templates import product_kernel, product_of
from .verify import verify_plan

__all__ = ["schedule", "verify_plan"]

SLACK = 1.01  # on the peak of memory: results of two small sums may be alive together


def schedule(program: Program) -> Plan:
    """The plan of a program; loops fuse unless `config.fusion` is off."""
    program = split_reductions(without_empty_loops(program))
    nodes = dependencies(program)
    fusion = Fusion(program, nodes)
    apart = planned(program, fusion.in_order())
    plan = planned(program, fusion.run()) if config.fusion else apart
    if plan.peak_bytes > apart.peak_bytes * SLACK + 4096:
        reason = f"fused loops need {plan.peak_bytes} bytes at the peak, {apart.peak_bytes} apart"
        current().why(Why("schedule", program.name, "siblings not fused", reason))
        plan = planned(program, Fusion(program, nodes, siblings=False).run())
    current().count("kernels", sum(isinstance(step, Launch) for step in plan.steps))
    return plan


def planned(program: Program, groups: list[Group]) -> Plan:
    """The plan that runs `groups` one after the other."""
    outputs = {ref.name for ref in references(program.outputs)}
    users: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for name in group.reads | group.writes:  # writes: by the older names too
            users.setdefault(name, set()).add(number)
    products = {n: p for n in range(len(groups)) if (p := product_of(groups, n, outputs))}
    inside = {k for k, _, _ in products.values()}  # they run in the kernel of their reader
    kept, actions = [], list[Kernel | Extern]()
    for number, group in enumerate(groups):
        if number in inside:
            continue
        kept.append(group)
        operation = group.nodes[0].operation
        if isinstance(operation, Extern):
            actions.append(operation)
            continue
        needed = {n for n in group.makes if n in outputs or users.get(n, set()) - {number}}
        name = kernel_name(program, group, number)
        if number in products:
            _, product, epilogue = products[number]
            actions.append(product_kernel(product, epilogue, name, needed))
        else:
            actions.append(kernel(group, name, needed))
    steps, peak = MemoryPlan(program, kept, actions).steps()
    return Plan(program, steps, peak)


def kernel_name(program: Program, group: Group, number: int) -> str:
    """What it computes, and its number: fused_add_gelu_3."""
    origins = [o for node in group.nodes for o in program.origins.get(node.name, ())]
    ending = r"(_(default|tensor|scalar|dim|int|list|self))*_*\d*$"
    found = dict.fromkeys(re.sub(ending, "", o) for o in origins if o.isidentifier())
    name = "_".join(found) or "loop"
    return f"fused_{name[:60].rstrip('_')}_{number}"

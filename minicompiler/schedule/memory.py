"""When memory begins and ends: which buffers share it, and what the peak is.

A memory is born where the first of its names is made and dies after the last use of any of them.
A buffer takes over the memory of another one that dies

    in the same kernel, where both are accessed at the same element of the same iteration, or
    earlier, where it has the same size and keeping it so long does not raise the peak.

Outputs are never given away; inputs and constants belong to others.
"""

from collections import defaultdict
from dataclasses import dataclass

from ..ir.nodes import Extern, Layout, Program, Scatter, defined, references
from ..ir.plan import Alloc, Call, Free, Kernel, Launch, Reuse, Step
from .fusion import Group
from .kernels import overwriting

Action = Kernel | Extern


@dataclass(eq=False, slots=True)
class Memory:
    """One piece of memory. Times count actions; `death` is the time of the last use."""

    name: str  # of the variable that holds it
    layout: Layout
    birth: int
    death: int
    kept: bool = False  # an output, or not ours
    allocated: bool = True  # by the plan; else by the call that returns it
    shared: bool = False  # an operator that may return a view of it has seen it
    old: "Memory | None" = None  # whose memory this was

    @property
    def bytes(self) -> int:
        return int(self.layout.nbytes)


class MemoryPlan:
    """Walks the actions of a program, each with the group that it came from."""

    def __init__(self, program: Program, groups: list[Group], actions: list[Action]) -> None:
        self.program, self.groups, self.actions = program, groups, actions
        self.layouts = program.layouts()
        self.outputs = {ref.name for ref in references(program.outputs)}
        self.of: dict[str, Memory] = {}  # the memory of each name
        self.made: list[Memory] = []
        for name in (*program.inputs, *program.constants):
            if name in self.layouts:
                self.of[name] = Memory(name, self.layouts[name], -1, -1, kept=True)
        for time, action in enumerate(actions):
            self._live(time, action)
        for name in self.outputs:
            self.of[name].kept, self.of[name].death = True, len(actions)

    def _live(self, time: int, action: Action) -> None:
        """What the action makes, and uses for the last time so far."""
        older: dict[str, str] = {}
        allocated, shared = True, False
        if isinstance(action, Kernel):
            older = {node.name: node.into for node in action.nodes if node.into is not None}
            fresh, used = action.writes, [*action.args]
        else:
            fresh = tuple(defined(action))
            used = [ref.name for ref in action.reads()]
            allocated, shared = action.out_variant is not None, action.kind == "fallback"
        for name in fresh:
            memory = Memory(name, self.layouts[name], time, time, False, allocated, shared)
            self.of[name] = memory
            self.made.append(memory)
        for name, old in older.items():
            if old in self.of:  # not so for a buffer that exists within the kernel only
                self.of[name] = self.of[old]
        for name in used:
            self.of[name].death = max(self.of[name].death, time)
            self.of[name].shared |= shared

    def steps(self) -> tuple[list[Step], int]:
        """The steps, and the peak in bytes of what the plan and its calls allocate."""
        for time, action in enumerate(self.actions):
            if isinstance(action, Kernel):
                self.actions[time] = self._overwrite(time, action)
        live = [0] * len(self.actions)
        for memory in self.made:
            for time in range(memory.birth, min(memory.death + 1, len(live))):
                live[time] += memory.bytes
        peak = max(live, default=0)
        return self._steps(live, peak), peak

    def _overwrite(self, time: int, kernel: Kernel) -> Kernel:
        """Let what the kernel makes be written over what it reads for the last time."""
        if kernel.template is not None:  # other tiles still read what one has written
            return kernel
        group = self.groups[time]
        when = dict(zip((node.name for node in kernel.nodes), kernel.passes))
        for place, node in enumerate(kernel.nodes):
            if node.name not in {*kernel.writes} - kernel.down or isinstance(node.loop, Scatter):
                continue
            mine, late = self.of[node.name], when.get(node.name, 0)
            earlier = {n.name for n in kernel.nodes[: place + 1]} - kernel.again
            for old in kernel.reads:
                memory = self.of[old]
                dies = memory.death == time > memory.birth and memory.name == old
                ours = not (memory.kept or memory.shared) and old not in kernel.mutated
                same = memory.layout.dtype == mine.layout.dtype and memory.bytes == mine.bytes
                if not (dies and ours and same):
                    continue
                readers = {n.name for n in group.nodes if old in n.reads}
                before = readers <= earlier and all(when.get(n, 0) <= late for n in readers)
                places = group.places(old, "reads")
                meet = places == group.places(node.name, "writes") and None not in places
                if before and meet:
                    mine.old = memory
                    memory.death = time - 1  # from now on it is the new one's
                    kernel = overwriting(kernel, node.name, old)
                    break
        return kernel

    def _steps(self, live: list[int], peak: int) -> list[Step]:
        """Memory that has died goes to what is born later with the same size, or is freed."""
        births, deaths = (defaultdict[int, list[Memory]](list) for _ in range(2))
        for memory in self.made:
            births[memory.birth].append(memory)
            deaths[memory.death].append(memory)
        taken = {memory.old for memory in self.made}
        dead = defaultdict[tuple[object, int], list[Memory]](list)
        steps: list[Step] = []
        for now, action in enumerate(self.actions):
            for memory in births[now]:
                heritage = dead[memory.layout.device, memory.bytes]
                # first what is most likely still in the cache
                for old in reversed(heritage if memory.allocated and not memory.old else []):
                    idle = range(old.death + 1, now)
                    fits = all(live[time] + memory.bytes <= peak for time in idle)
                    if fits and (not memory.kept or memory.layout == old.layout):
                        for time in idle:
                            live[time] += memory.bytes
                        memory.old = old
                        heritage.remove(old)
                        steps.remove(Free(old.name))
                        break
                if memory.old is not None:
                    steps.append(Reuse(memory.name, memory.old.name, memory.layout))
                elif memory.allocated:
                    steps.append(Alloc(memory.name, memory.layout))
            if isinstance(action, Extern):
                steps.append(Call(action))
            else:
                # what is written over has its new name by now
                new = {node.into: node.name for node in action.nodes if node.name in self.of}
                names = [new.get(a, a) if a in action.mutated else a for a in action.args]
                steps.append(Launch(action, tuple(self.of[name].name for name in names)))
            for memory in deaths[now]:
                if memory in taken or memory.kept:
                    continue
                steps.append(Free(memory.name))
                if not memory.shared:
                    dead[memory.layout.device, memory.bytes].append(memory)
        return steps

"""Plans written by hand, with kernels written by hand."""

from dataclasses import dataclass, field, replace

import pytest
import torch

from minicompiler import runtime
from minicompiler.codegen.wrapper import emit
from minicompiler.ir.nodes import BufferRef, Computed, Extern, Layout, Pointwise, Program
from minicompiler.ir.plan import Alloc, Call, Free, Kernel, KernelSource, Launch, Plan, Reuse
from minicompiler.symbolic.expr import Expr, as_expr, product

CPU = torch.device("cpu")


def layout(size, stride=None, dtype=torch.float32, device=CPU, offset=0) -> Layout:
    size = tuple(map(as_expr, size))
    if stride is None:
        stride = [product(size[d + 1 :]) for d in range(len(size))]
    stride = tuple(map(as_expr, stride))
    return Layout(device, dtype, size, stride, as_expr(offset))


@dataclass
class Planned:
    """A plan being written down, step by step."""

    layout = staticmethod(layout)
    program: Program = field(default_factory=lambda: Program("planned", {}))
    steps: list = field(default_factory=list)
    sources: dict[str, KernelSource] = field(default_factory=dict)

    @property
    def layouts(self) -> dict[str, Layout]:
        allocated = {s.name: s.layout for s in self.steps if isinstance(s, Alloc)}
        return self.program.layouts() | allocated

    def input(self, name: str, what) -> None:
        if isinstance(what, Expr):
            self.program.inputs[name] = what
        else:
            self.program.inputs[name] = what if isinstance(what, Layout) else layout(what)

    def constant(self, name: str, tensor: torch.Tensor) -> None:
        self.program.constants[name] = tensor

    def alloc(self, name: str, where: Layout) -> None:
        self.steps.append(Alloc(name, where))

    def reuse(self, name: str, old: str, where: Layout) -> None:
        self.steps.append(Reuse(name, old, where))

    def free(self, *names: str) -> None:
        self.steps.extend(map(Free, names))

    def launch(
        self,
        name,
        body,
        reads=(),
        writes=(),
        mutated=(),
        checks=(),
        layouts=None,
        as_=None,
    ) -> None:
        """`body`: C++ over `buffers` (mutated, reads, writes)."""
        layouts = dict(layouts or {})
        nodes = []
        for new in (*writes, *(as_ or ())):
            into = dict(zip(as_ or (), mutated)).get(new)
            where = layouts.get(new) or next(
                s.layout for s in reversed(self.steps) if getattr(s, "name", "") == new
            )
            loop = Pointwise(where.size, lambda index: None)
            nodes.append(Computed(new, where, loop, into))
        self.program.operations.extend(nodes)
        kernel = Kernel(
            name, CPU, tuple(nodes), (), (), tuple(reads), tuple(writes), tuple(mutated)
        )
        text = f'extern "C" long {name}(void** buffers) {{ {body} }}'
        self.sources[name] = KernelSource(name, text, kernel.args, tuple(checks))
        self.steps.append(Launch(kernel, kernel.args))

    def again(self, name: str, *args: str) -> None:
        """Launch kernel `name` once more, on other buffers."""
        kernel = next(
            s.kernel for s in self.steps if isinstance(s, Launch) and s.kernel.name == name
        )
        nodes, names = {node.name: node for node in kernel.nodes}, dict(zip(kernel.args, args))
        made = [replace(nodes[name], name=names[name]) for name in kernel.writes]
        self.program.operations.extend(made)
        self.steps.append(Launch(kernel, args))

    def call(self, target, *args, names=(), layouts=(), out=None, **kwargs) -> None:
        extern = Extern(tuple(names), tuple(layouts), target, args, kwargs, out)
        self.program.operations.append(extern)
        self.steps.append(Call(extern))

    def ref(self, name: str, where: Layout | None = None) -> BufferRef:
        return BufferRef(name, where or self.layouts[name])

    def returns(self, *outputs) -> "Planned":
        self.program.outputs = tuple(
            self.ref(output) if isinstance(output, str) else output for output in outputs
        )
        return self

    @property
    def plan(self) -> Plan:
        return Plan(self.program, self.steps)

    @property
    def text(self) -> str:
        return emit(self.plan, runtime.flatten(self.plan, list(self.sources.values())))

    def load(self):
        sources = list(self.sources.values())
        return runtime.load(self.plan, sources, runtime.flatten(self.plan, sources), self.text)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def planned():
    return Planned()

"""Programs for Triton, traced on the CPU and given a CUDA device afterwards.

    TRITON_INTERPRET=1 python -m tests.codegen.triton_cases values    each against eager
    python -m tests.codegen.triton_cases compile                      each kernel for sm_90

Run as a process of its own: what TRITON_INTERPRET says is read once, at import.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from minicompiler import aot, codegen, decompositions, lowering, schedule
from minicompiler.ir.nodes import BufferRef, Computed, Layout, Program
from minicompiler.runtime import flatten, python_runtime, triton
from minicompiler.settings import overriding

CUDA = torch.device("cuda", 0)
Case = tuple[str, Callable[..., Any], tuple[torch.Tensor, ...]]


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def cases() -> Iterator[Case]:
    bf16 = torch.bfloat16
    yield "pointwise", lambda x, b: F.gelu(x + b) * torch.sigmoid(x), (rand(33, 20), rand(20))
    yield "pointwise bf16", lambda x, b: F.silu(x + b) * 2, (rand(9, 50, dtype=bf16), rand(50))
    yield "transposed read", lambda x, y: x.t() + y, (rand(17, 9), rand(9, 17))
    yield "split reduction", lambda x: (x * x).sum(), (rand(40000),)
    yield "rows", lambda x: x.sum(1), (rand(5, 300),)
    yield "columns", lambda x: x.amax(0), (rand(37, 11),)
    yield "softmax", lambda x: torch.softmax(x, -1), (rand(7, 65),)
    yield "softmax, long rows", lambda x: torch.softmax(x, -1), (rand(3, 5000),)
    yield "layer norm", lambda x, w: F.layer_norm(x, (48,), w, w), (rand(6, 48), rand(48))
    yield "any, all", lambda x: ((x > 2).any(1), (x > -2).all(1)), (rand(40, 30),)
    yield "any, all, long rows", lambda x: ((x > 3.5).any(1), (x > -3.5).all(1)), (rand(4, 5000),)
    yield "argmax", lambda x: x.argmax(1), (rand(6, 48),)
    yield "NaN", lambda x, y: torch.maximum(x / x, y), (torch.zeros(4), rand(4))
    yield "integers", lambda x: (x // 3, x % -3, x >> 1), (torch.arange(-9, 9),)
    yield "gather", lambda x, i: x[i] + 1, (rand(10, 4), torch.tensor([3, -1, 0]))
    yield "cat", lambda x, y: torch.cat([x, y * 2], 1), (rand(3, 4), rand(3, 5))
    yield "bool", lambda x: (x > 0) & (x < 1), (rand(50),)
    yield (
        "matmul, bias, relu",
        lambda x, w, b: F.relu(x @ w + b),
        (
            rand(70, 40),
            rand(40, 90),
            rand(90),
        ),
    )
    yield (
        "linear, gelu bf16",
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        (
            rand(40, 64, dtype=bf16),
            rand(80, 64, dtype=bf16),
            rand(80, dtype=bf16),
        ),
    )


def program(fn: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> tuple[Program, Any]:
    """The forward's loop IR on a CUDA device, and its Signature."""
    graph = torch.fx.Graph()
    names = [graph.placeholder(f"x{k}") for k in range(len(inputs))]
    out = graph.call_function(fn, tuple(names))
    graph.output(out)
    gm = torch.fx.GraphModule({}, graph)
    joint = aot.joint_graph(gm, list(inputs))
    joint = joint.rewritten(lambda g: decompositions.decompose(g, lowering.KNOWN))
    parts = aot.partition(joint)
    return retargeted(lowering.lower(parts.forward, "case")), parts.signature


def retargeted(made: Program) -> Program:
    """The same program with every CPU buffer on a CUDA device."""

    def move(x: Any) -> Any:
        if isinstance(x, Layout):
            return replace(x, device=CUDA)
        if isinstance(x, BufferRef):
            return replace(x, layout=move(x.layout))
        if isinstance(x, (list, tuple)):
            return type(x)(map(move, x))
        return x

    def operation(op: Any) -> Any:
        if isinstance(op, Computed):
            return replace(op, layout=move(op.layout))
        return replace(op, layouts=move(op.layouts), args=move(op.args))

    return replace(
        made,
        inputs={name: move(x) for name, x in made.inputs.items()},
        operations=[operation(op) for op in made.operations],
        outputs=move(made.outputs),
    )


def compiled(name: str, fn: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> Any:
    with overriding({"templates": True}):
        plan = schedule.schedule(program(fn, inputs)[0])
        return plan, codegen.generate(plan)


def values() -> int:
    """Run every case through the interpreter and compare with eager. How many differ."""
    import tests.codegen.triton_interpreter  # noqa: F401

    wrong = 0
    for name, fn, inputs in cases():
        plan, sources = compiled(name, fn, inputs)
        text = codegen.wrapper(plan, flatten(plan, sources))
        text = text.replace("cuda:0", "cpu").replace("cuda", "cpu")
        launchers = {source.name: triton.load(source) for source in sources}
        call = python_runtime.load(text, launchers, plan.program.constants, "case")
        got, want = call(list(inputs)), fn(*inputs)
        want = want if isinstance(want, tuple) else (want,)
        ok = len(got) >= len(want) and all(
            g.dtype == w.dtype and torch.allclose(g, w, 1e-2 if w.dtype == torch.bfloat16 else 1e-5,
                                                  1e-5, equal_nan=True)
            for g, w in zip(got, want)
        )  # fmt: skip
        wrong += not ok
        print(f"{'ok ' if ok else 'BAD'} {name}: {len(sources)} kernels", flush=True)
    return wrong


TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.int64: "i64", torch.bool: "i1"}


def ahead_of_time() -> int:
    """Compile every kernel for sm_90; how many fail or spill registers to memory."""
    import triton as compiler
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    tools = Path(compiler.__file__).parent / "backends" / "nvidia" / "bin"
    bad = 0
    for name, fn, inputs in cases():
        plan, sources = compiled(name, fn, inputs)
        layouts = plan.program.layouts()
        for source in sources:
            kernel = triton.load(source).launch.__globals__[source.name]
            blocks = dict(re.findall(r"(\w+BLOCK)=(\d+)", source.text))
            warps = int(re.findall(r"num_warps=(\d+)", source.text)[0])
            pointers = [f"*{TYPES[layouts[a].dtype]}" for a in source.args]
            kinds = [*pointers, *["constexpr"] * len(blocks)]
            signature = dict(zip(kernel.arg_names, kinds))
            constants = {(kernel.arg_names.index(b),): int(n) for b, n in blocks.items()}
            aligned = {(k,): [["tt.divisibility", 16]] for k in range(len(pointers))}
            made = compiler.compile(
                ASTSource(kernel, signature, constexprs=constants, attrs=aligned),
                target=GPUTarget("cuda", 90, 32),
                options={"num_warps": warps, "enable_fp_fusion": False},
            )
            with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
                file.write(made.asm["cubin"])
                file.flush()
                usage = subprocess.run(
                    [tools / "cuobjdump", "-res-usage", file.name], capture_output=True, text=True
                ).stdout
            found = re.findall(r"REG:(\d+) STACK:(\d+)", usage)
            ok = bool(found) and all(stack == "0" for _, stack in found)
            bad += not ok
            print(f"{'ok ' if ok else 'BAD'} {name}: {source.name} registers, stack {found}")
    return bad


if __name__ == "__main__":
    sys.exit(values() if sys.argv[1] == "values" else ahead_of_time())

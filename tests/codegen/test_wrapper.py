"""The wrapper's text: what a reader sees, step by step."""

import math

import pytest
import torch

from minicompiler.codegen.wrapper import emit
from minicompiler.errors import Unsupported
from minicompiler.ir.nodes import BufferRef, Computed, Extern, Layout, Pointwise, Program
from minicompiler.ir.plan import Alloc, Call, Free, Kernel, KernelSource, Launch, Plan, Reuse
from minicompiler.runtime import flatten
from minicompiler.symbolic.expr import as_expr, product

aten = torch.ops.aten
CPU = torch.device("cpu")


def layout(*size, stride=None, dtype=torch.float32, offset=0):
    size = tuple(map(as_expr, size))
    stride = stride or [product(size[d + 1 :]) for d in range(len(size))]
    return Layout(CPU, dtype, size, tuple(map(as_expr, stride)), as_expr(offset))


def body(program, *steps, sources=()):
    """The lines of `call`."""
    plan = Plan(program, list(steps))
    text = emit(plan, flatten(plan, sources))
    assert text.startswith("import math\n\nimport torch\n")
    compile(text, "wrapper", "exec")
    return [line.strip() for line in text.split("def call(args):\n")[1].splitlines()]


def kernel(name, nodes, reads=(), writes=(), mutated=()):
    return Kernel(name, CPU, tuple(nodes), (), (), tuple(reads), tuple(writes), tuple(mutated))


def computed(name, where, into=None):
    return Computed(name, where, Pointwise(where.size, lambda i: None), into)


def test_one_kernel_and_one_call():
    x, w = layout(8, 4), layout(4, 2)
    mm = Extern(
        ("buf1",),
        (layout(8, 2),),
        aten.mm.default,
        (BufferRef("buf0", x), BufferRef("primals_2", w)),
        {},
        aten.mm.out,
    )
    node = computed("buf0", x)
    program = Program(
        "forward",
        {"primals_1": x, "primals_2": w},
        {},
        [node, mm],
        (BufferRef("buf1", layout(8, 2)),),
        {"buf0": ["relu", "model.py:12 in forward"], "buf1": ["mm"]},
    )
    relu = kernel("cpp_relu", [node], reads=("primals_1",), writes=("buf0",))
    assert body(
        program,
        Alloc("buf0", x),
        Launch(relu, ("primals_1", "buf0")),
        Free("primals_1"),
        Alloc("buf1", layout(8, 2)),
        Call(mm),
        Free("buf0"),
        sources=[KernelSource("cpp_relu", "", ("primals_1", "buf0"))],
    ) == [
        "[primals_1, primals_2] = args",
        "args.clear()",
        "buf0 = runtime.empty_strided((8, 4), (4, 1), dtype=torch.float32,"
        " device=torch.device('cpu'))",
        "# relu, model.py:12 in forward",
        "cpp_relu(primals_1, buf0)",
        "del primals_1",
        "buf1 = runtime.empty_strided((8, 2), (2, 1), dtype=torch.float32,"
        " device=torch.device('cpu'))",
        "# mm",
        "torch.ops.aten.mm.out(buf0, primals_2, out=buf1)",
        "del buf0",
        "return [buf1]",
    ]


def test_memory_reused_and_written_in_place():
    x = layout(4)
    first, second = computed("buf0", x), computed("buf2", x, into="x")
    program = Program("f", {"x": x}, {}, [first, second], (BufferRef("buf2", x),))
    k0 = kernel("k0", [first], reads=("x",), writes=("buf0",))
    k1 = kernel("k1", [second], mutated=("x",))
    sources = [KernelSource(k.name, "", ()) for k in (k0, k1)]
    lines = body(
        program,
        Alloc("buf0", x),
        Launch(k0, ("x", "buf0")),
        Reuse("buf1", "buf0", x),
        Reuse("buf3", "buf1", layout(2, 2)),
        Launch(k1, ("x",)),
        sources=sources,
    )
    assert lines[3:] == [
        "k0(x, buf0)",
        "buf1 = runtime.reuse(buf0, (4,), (1,), dtype=torch.float32)",
        "del buf0",
        "buf3 = runtime.reuse(buf1, (2, 2), (2, 1), dtype=torch.float32)",
        "del buf1",
        "k1(x)",
        "return [x]",
    ]


def test_arguments_of_every_kind():
    x = layout(4, 4)
    transposed = BufferRef("x", layout(4, 4, stride=[1, 4], offset=2))
    full = Extern(
        ("buf0",),
        (x,),
        aten.full.default,
        ([2, 3], -math.inf),
        {"dtype": torch.float16, "device": CPU, "pin_memory": None},
    )
    cat = Extern(("buf1",), (x,), aten.cat.default, ([transposed, BufferRef("x", x)], 0), {})
    split = Extern(("buf2",), (x,), aten.split.Tensor, (transposed, 4), {})
    pair = Extern(
        ("buf3", None), (x, None), aten.native_dropout.default, (transposed, 0.5, True), {}
    )
    program = Program("f", {"x": x}, {}, [full, cat, split, pair])
    assert body(program, *map(Call, (full, cat, split, pair)))[2:] == [
        "buf0 = torch.ops.aten.full.default([2, 3], float('-inf'), dtype=torch.float16, "
        "device=torch.device('cpu'), pin_memory=None)",
        "buf1 = torch.ops.aten.cat.default([runtime.view(x, (4, 4), (1, 4), 2), x], 0)",
        "[buf2] = torch.ops.aten.split.Tensor(runtime.view(x, (4, 4), (1, 4), 2), 4)",
        "[buf3, _] = torch.ops.aten.native_dropout.default("
        "runtime.view(x, (4, 4), (1, 4), 2), 0.5, True)",
        "return []",
    ]


def test_reading_other_bits_is_refused():
    program = Program(
        "f", {"x": layout(4)}, outputs=(BufferRef("x", layout(4, dtype=torch.int32)),)
    )
    with pytest.raises(Unsupported, match="read as"):
        body(program)


def test_constants_and_names_that_python_or_the_wrapper_has_taken():
    names = ["args", "lambda", "torch"]
    x = layout(2)
    program = Program(
        "f",
        {name: x for name in names},
        {"c": torch.ones(2)},
        outputs=tuple(BufferRef(name, x) for name in [*names, "c"]),
    )
    assert body(program) == [
        "[args_, lambda_, torch_] = args",
        "args.clear()",
        "c = constants['c']",
        "return [args_, lambda_, torch_, c]",
    ]

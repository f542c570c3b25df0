"""Hand-written plans through every run time: outputs, writes to inputs, errors and lifetimes."""

import gc
import math
import threading
import weakref

import pytest
import torch
from torch import library as operators

from minicompiler.settings import config, overriding
from minicompiler.symbolic.expr import as_expr
from minicompiler.symbolic.shapes import spec_of

aten = torch.ops.aten

ADD = """
  const float *a = (const float*)buffers[0], *b = (const float*)buffers[1];
  float* out = (float*)buffers[2];
  for (long i = 0; i < {n}; i++) out[i] = a[i] + b[i];
  return 0;
"""
DOUBLE_IN_PLACE = "float* x = (float*)buffers[0]; for (long i = 0; i < 4; i++) x[i] *= 2; return 0;"
FILL = "float* x = (float*)buffers[0]; for (long i = 0; i < {n}; i++) x[i] = i; return 0;"


@pytest.fixture(params=["python", "extension"])
def run_time(request, monkeypatch):
    """Each test runs on the Python wrapper and on the extension."""
    monkeypatch.setattr(config, "python_runtime", request.param == "python")


pytestmark = pytest.mark.usefixtures("run_time")


def add(planned, size=(4,)):
    planned.input("a", size)
    planned.input("b", size)
    planned.alloc("buf0", planned.layout(size))
    planned.launch("add", ADD.format(n=math.prod(size)), reads=("a", "b"), writes=("buf0",))
    return planned


def test_allocates_launches_and_returns(planned):
    run = add(planned, (2, 3)).returns("buf0").load()
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    inputs = [a, b]
    [out] = run(inputs)
    assert torch.equal(out, a + b)
    assert inputs == []
    assert not out.requires_grad and out.is_leaf and out._version == 0
    [again] = run([a, b])
    assert again.data_ptr() != out.data_ptr()


def test_kernel_starts_at_the_storage_offset(planned):
    run = add(planned).returns("buf0").load()
    base = torch.arange(10.0)
    [out] = run([base[3:7], base[5:9]])
    assert torch.equal(out, base[3:7] + base[5:9])


def test_outputs_of_every_kind(planned):
    add(planned)
    ref = planned.ref("buf0", planned.layout((2, 2), (1, 2)))
    planned.returns("a", ref, "buf0", None, 3, 2.5, True, planned.ref("buf0"))
    a, b = torch.randn(4), torch.randn(4)
    same, view, whole, *plain, twice = planned.load()([a, b])
    assert same is a
    assert torch.equal(view, (a + b).view(2, 2).t()) and view.stride() == (1, 2)
    assert view.data_ptr() == whole.data_ptr() and view._base is None
    assert plain == [None, 3, 2.5, True] and type(plain[2]) is bool or plain[3] is True
    assert torch.equal(twice, whole)


def test_offset_of_a_view_counts_from_the_data_pointer(planned):
    planned.input("a", (4,))
    planned.returns(planned.ref("a", planned.layout((2,), (1,), offset=1)))
    [out] = planned.load()([torch.arange(10.0)[2:6]])
    assert out.tolist() == [3, 4]


def test_extern_with_out_variant(planned):
    planned.input("a", (2, 3))
    planned.input("b", (3, 2))
    planned.alloc("buf0", planned.layout((2, 2)))
    planned.call(
        aten.mm.default,
        planned.ref("a"),
        planned.ref("b"),
        names=("buf0",),
        layouts=(planned.layout((2, 2)),),
        out=aten.mm.out,
    )
    run = planned.returns("buf0").load()
    a, b = torch.randn(2, 3), torch.randn(3, 2)
    assert torch.equal(run([a, b])[0], a @ b)


def test_extern_reads_a_view(planned):
    planned.input("a", (2, 3))
    transposed = planned.ref("a", planned.layout((3, 2), (1, 3)))
    where = planned.layout((2, 2))
    planned.call(aten.mm.default, planned.ref("a"), transposed, names=("buf0",), layouts=(where,))
    run = planned.returns("buf0").load()
    a = torch.randn(2, 3)
    assert torch.equal(run([a])[0], a @ a.t())


def test_several_results_and_undefined_ones(planned):
    planned.input("a", (2, 3))
    planned.call(
        aten.var_mean.correction,
        planned.ref("a"),
        [1],
        correction=0,
        keepdim=True,
        names=("buf0", "buf1"),
        layouts=(planned.layout((2, 1)),) * 2,
    )
    planned.call(
        aten.native_dropout.default,
        planned.ref("a"),
        0.0,
        True,
        names=("buf2", None),
        layouts=(planned.layout((2, 3)), None),
    )
    run = planned.returns("buf0", "buf1", "buf2").load()
    a = torch.randn(2, 3)
    variance, mean, kept = run([a])
    expected = torch.var_mean(a, 1, correction=0, keepdim=True)
    assert torch.equal(variance, expected[0]) and torch.equal(mean, expected[1])
    assert torch.equal(kept, a)


def test_list_of_results(planned):
    planned.input("a", (4, 3))
    halves = planned.layout((2, 3))
    names = ("buf0", "buf1")
    planned.call(aten.split.Tensor, planned.ref("a"), 2, names=names, layouts=(halves,) * 2)
    whole = planned.layout((4, 3))
    planned.call(aten.split.Tensor, planned.ref("a"), 4, names=("buf2",), layouts=(whole,))
    run = planned.returns("buf0", "buf1", "buf2").load()
    a = torch.randn(4, 3)
    first, second, all_ = run([a])
    assert torch.equal(first, a[:2]) and torch.equal(second, a[2:]) and torch.equal(all_, a)


def test_result_in_other_strides_than_foreseen(planned):
    """A kernel and a view read what they were written for; the output has the plan's strides."""
    planned.input("a", (2, 3))
    by_column = planned.layout((2, 3), (1, 2))
    planned.call(aten.sin.default, planned.ref("a"), names=("buf0",), layouts=(by_column,))
    flat = planned.layout((6,))
    run = planned.returns("buf0", planned.ref("buf0", flat)).load()
    a = torch.randn(2, 3)
    out, memory = run([a])
    assert torch.equal(out, a.sin()) and out.stride() == (1, 2)
    assert torch.equal(memory, a.sin().t().flatten())


@pytest.mark.parametrize("size, dtype", [((3, 2), torch.float32), ((2, 3), torch.float64)])
def test_result_of_another_size_or_dtype_raises(planned, size, dtype):
    planned.input("a", (2, 3))
    wrong = planned.layout(size, dtype=dtype)
    planned.call(aten.sin.default, planned.ref("a"), names=("buf0",), layouts=(wrong,))
    run = planned.returns("buf0").load()
    with pytest.raises(RuntimeError, match="foreseen"):
        run([torch.randn(2, 3)])


def test_what_only_calls_read_may_be_as_the_operator_made_it(planned):
    planned.input("a", (2, 3))
    wrong, right = planned.layout((7,)), planned.layout((2, 3))
    planned.call(aten.sin.default, planned.ref("a"), names=("buf0",), layouts=(wrong,))
    planned.call(aten.cos.default, planned.ref("buf0"), names=("buf1",), layouts=(right,))
    a = torch.randn(2, 3)
    assert torch.equal(planned.returns("buf1").load()([a])[0], a.sin().cos())


@pytest.mark.parametrize("number", [2, 2.5, 1 + 2j, True])
@pytest.mark.parametrize("dtype", [torch.complex64, torch.float32, torch.int32])
def test_number_in_place_of_a_tensor(planned, number, dtype):
    given = torch.ones(3, dtype=dtype)
    expected = given * number
    planned.constant("a", given)
    where = planned.layout((3,), dtype=expected.dtype)
    planned.call(aten.mul.Tensor, planned.ref("a"), number, names=("buf0",), layouts=(where,))
    out = planned.returns("buf0").load()([])[0]
    assert out.dtype == expected.dtype and torch.equal(out, expected)


CALLS = [
    (aten.cat.default, lambda a: ([a, a], 1), {}),
    (aten.full_like.default, lambda a: (a, math.inf), {"dtype": torch.float64}),
    (aten.full_like.default, lambda a: (a, True), {"dtype": torch.bool}),
    (aten.add.Tensor, lambda a: (a, a), {"alpha": 2}),
    (aten.add.Scalar, lambda a: (a, 2.5), {}),
    (aten.mul.Scalar, lambda a: (a, 1 + 2j), {}),
    (aten.to.dtype_layout, lambda a: (a,), {"dtype": torch.int8, "layout": torch.strided}),
    (aten.clone.default, lambda a: (a,), {"memory_format": torch.contiguous_format}),
    (aten.zeros.default, lambda a: ([2, 3],), {"device": torch.device("cpu")}),
    (aten.gelu.default, lambda a: (a,), {"approximate": "tanh"}),
    (aten.div.Tensor_mode, lambda a: (a, a), {"rounding_mode": None}),
    (aten.sum.dim_IntList, lambda a: (a, [0], False), {}),
    (aten.sum.dim_IntList, lambda a: (a, None), {}),
    (aten.index.Tensor, lambda a: (a, [None, torch.tensor([0, 2])]), {}),
    (aten.clamp.default, lambda a: (a, None, 0), {}),
    (aten.upsample_nearest1d.vec, lambda a: (a.view(1, 2, 3), None, [2.0]), {}),
    (aten._assert_async.msg, lambda a: (torch.ones(()), "fine"), {}),
]


@pytest.mark.parametrize(
    "target,args,kwargs", CALLS, ids=[f"{n}-{c[0]}" for n, c in enumerate(CALLS)]
)
def test_arguments_of_every_kind(planned, target, args, kwargs):
    """Tensors become constants of the plan; all else must arrive as eager would get it."""
    given = args(torch.randn(2, 3))
    count = 0

    def held(value):
        nonlocal count
        if isinstance(value, torch.Tensor):
            count += 1
            planned.constant(f"c{count}", value)
            return planned.ref(f"c{count}")
        return [held(v) for v in value] if isinstance(value, list) else value

    results = [] if target is aten._assert_async.msg else ["buf0"]
    expected = target(*given, **kwargs)
    layouts = [spec_of(expected).layout] if results else []
    planned.call(target, *map(held, given), names=results, layouts=layouts, **kwargs)
    out = planned.returns(*results).load()([])
    if results:
        torch.testing.assert_close(out[0], expected, rtol=0, atol=0)


def test_equal_kernels_share_a_function(planned):
    add(planned)
    planned.alloc("buf1", planned.layout((4,)))
    planned.again("add", "buf0", "b", "buf1")
    planned.free("buf0")
    a, b = torch.randn(4), torch.randn(4)
    assert torch.equal(planned.returns("buf1").load()([a, b])[0], a + b + b)


def test_writing_an_input(planned):
    """Whether its version advances is for the signature to say: the plan leaves it."""
    planned.input("x", (4,))
    where = {"buf0": planned.layout((4,))}
    planned.launch("twice", DOUBLE_IN_PLACE, mutated=("x",), as_=("buf0",), layouts=where)
    x = planned.ref("x")
    planned.call(aten.copy_.default, x, x, names=("buf1",), layouts=(planned.layout((4,)),))
    run = planned.returns().load()
    x = torch.ones(4)
    assert run([x]) == []
    assert x.tolist() == [2] * 4 and x._version == 0


def test_reading_what_was_written_in_place(planned):
    planned.input("x", (4,))
    where = {"buf0": planned.layout((4,))}
    planned.launch("twice", DOUBLE_IN_PLACE, mutated=("x",), as_=("buf0",), layouts=where)
    view = planned.ref("buf0", planned.layout((2, 2)))
    planned.call(aten.neg.default, view, names=("buf1",), layouts=(planned.layout((2, 2)),))
    [out] = planned.returns("buf1").load()([torch.ones(4)])
    assert out.tolist() == [[-2, -2], [-2, -2]]


def test_writing_an_inference_tensor(planned):
    planned.input("x", (4,))
    where = {"buf0": planned.layout((4,))}
    planned.launch("twice", DOUBLE_IN_PLACE, mutated=("x",), as_=("buf0",), layouts=where)
    run = planned.returns("x").load()
    with torch.inference_mode():
        x = torch.ones(4)
        assert run([x])[0] is x
    assert x.tolist() == [2] * 4


@pytest.mark.parametrize("dtype,size", [(torch.float32, (4,)), (torch.float64, (1, 2))])
def test_memory_of_a_dead_buffer_is_reused(planned, dtype, size):
    add(planned)
    planned.reuse("buf1", "buf0", planned.layout(size, dtype=dtype))
    zero = "char* x = (char*)buffers[0]; for (int i = 0; i < 16; i++) x[i] = 0; return 0;"
    planned.launch("zero", zero, writes=("buf1",))
    [out] = planned.returns("buf1").load()([torch.ones(4), torch.ones(4)])
    assert torch.equal(out, torch.zeros(size, dtype=dtype))


def test_failed_index_check_is_an_index_error(planned):
    planned.input("a", (1,))
    planned.launch(
        "check",
        "return (long)*(float*)buffers[0];",
        reads=("a",),
        checks=("index out of range in model.py:3", "the second check"),
    )
    run = planned.returns("a").load()
    assert run([torch.zeros(1)])[0].item() == 0
    for code, message in ((1, "model.py:3"), (2, "the second check")):
        with pytest.raises(IndexError, match=message):
            run([torch.full((1,), float(code))])
    assert run([torch.zeros(1)])[0].item() == 0


def test_error_of_an_operator_is_eagers(planned):
    planned.input("a", (2, 3))
    where = planned.layout((2, 2))
    a = planned.ref("a")
    planned.call(aten.mm.default, a, a, names=("buf0",), layouts=(where,))
    run = planned.returns("buf0").load()
    a = torch.randn(2, 3)
    with pytest.raises(RuntimeError) as eager:
        a @ a
    with pytest.raises(RuntimeError) as ours:
        run([a])
    assert str(ours.value) == str(eager.value)


def test_error_of_a_python_operator_passes_through(planned):
    with operators._scoped_library("minicompiler_test", "FRAGMENT") as library:
        library.define("fails(Tensor x) -> Tensor")

        def fails(x):
            raise KeyError("from Python")

        library.impl("fails", fails, "CPU")
        planned.input("a", (2,))
        where = planned.layout((2,))
        target = torch.ops.minicompiler_test.fails.default
        planned.call(target, planned.ref("a"), names=("buf0",), layouts=(where,))
        with pytest.raises(KeyError, match="from Python"):
            planned.returns("buf0").load()([torch.ones(2)])


@pytest.mark.parametrize("count", [64, 300])
def test_many_arguments(planned, count):
    for i in range(count):
        planned.input(f"x{i}", (2,))
    planned.alloc("buf0", planned.layout((2,)))
    body = f"""float* out = (float*)buffers[{count}]; out[0] = out[1] = 0;
      for (int k = 0; k < {count}; k++) for (int i = 0; i < 2; i++)
        out[i] += ((const float*)buffers[k])[i];
      return 0;"""
    planned.launch("sum", body, reads=tuple(f"x{i}" for i in range(count)), writes=("buf0",))
    run = planned.returns("buf0").load()
    inputs = [torch.full((2,), float(i)) for i in range(count)]
    assert run(inputs)[0].tolist() == [count * (count - 1) / 2] * 2


def test_empty_and_zero_dimensional(planned):
    planned.input("a", (0, 3))
    planned.alloc("buf0", planned.layout(()))
    planned.alloc("buf1", planned.layout((0, 3)))
    planned.launch("nothing", FILL.format(n=0), writes=("buf1",))
    planned.launch("one", FILL.format(n=1), writes=("buf0",))
    scalar, empty = planned.returns("buf0", "buf1").load()([torch.empty(0, 3)])
    assert scalar.shape == () and scalar.item() == 0 and empty.shape == (0, 3)


def test_runs_below_autograd_and_autocast(planned):
    planned.input("a", (2, 2))
    a = planned.ref("a")
    planned.call(aten.mm.default, a, a, names=("buf0",), layouts=(planned.layout((2, 2)),))
    run = planned.returns("buf0").load()
    x = torch.randn(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        [out] = run([x])
        assert (x @ x).dtype == torch.bfloat16
    assert out.dtype == torch.float32 and not out.requires_grad


def test_buffers_die_at_their_last_use(planned):
    """Peak memory: 8 buffers of 8 MB one after the other never need more than 3 at once."""
    n = 2 << 20
    planned.input("a", (n,))
    last = "a"
    for i in range(8):
        planned.alloc(f"buf{i}", planned.layout((n,)))
        planned.call(
            aten.neg.default,
            planned.ref(last),
            names=(f"buf{i}",),
            layouts=(planned.layout((n,)),),
            out=aten.neg.out,
        )
        planned.free(last)
        last = f"buf{i}"
    run = planned.returns(last).load()
    x = torch.ones(n)
    with torch.profiler.profile(profile_memory=True) as profile:
        run([x])
    held = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    assert 0 < peak <= 2 * 4 * n


def test_inputs_are_let_go_when_freed(planned):
    planned.input("a", (4,))
    planned.alloc("buf0", planned.layout((4,)))
    planned.launch("fill", FILL.format(n=4), writes=("buf0",))
    planned.free("a")
    alive = []
    with operators._scoped_library("minicompiler_test", "FRAGMENT") as library:
        library.define("look(Tensor x) -> Tensor")
        library.impl("look", lambda x: alive.append(seen() is not None) or x.clone(), "CPU")
        target = torch.ops.minicompiler_test.look.default
        buf0 = planned.ref("buf0", planned.layout((4,)))
        planned.call(target, buf0, names=("buf1",), layouts=(planned.layout((4,)),))
        run = planned.returns("buf1").load()
        inputs = [torch.ones(4)]
        seen = weakref.ref(inputs[0])
        run(inputs)
    assert alive == [False]


def test_kernels_and_calls_are_seen_by_the_profiler(planned):
    run = add(planned).returns("buf0").load()
    with torch.profiler.profile() as profile:
        run([torch.ones(4), torch.ones(4)])
    assert {"add", "minicompiler.planned"} <= {event.key for event in profile.key_averages()}


def test_wrong_inputs_are_refused(planned):
    run = add(planned).returns("buf0").load()
    with pytest.raises((TypeError, ValueError)):
        run([torch.ones(4)])
    with pytest.raises((TypeError, AttributeError)):
        run([torch.ones(4), "text"])


def test_threads_run_one_plan(planned):
    size = (100_000,)
    run = add(planned, size).returns("buf0").load()
    wrong = []

    def work(value):
        for _ in range(50):
            [out] = run([torch.full(size, value), torch.ones(size)])
            if not torch.equal(out, torch.full(size, value + 1)):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def resident() -> int:
    """Resident bytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_nothing_leaks(planned):
    planned.input("n", as_expr(7))
    add(planned)
    planned.call(
        aten.neg.default, planned.ref("buf0"), names=("buf1",), layouts=(planned.layout((4,)),)
    )
    planned.launch("check", "return 1;", checks=("always",))
    run = planned.returns("buf1", as_expr(7)).load()
    a, b = torch.ones(4), torch.ones(4)

    def calls(count):
        for _ in range(count):
            try:
                run([7, a, b])
            except IndexError:
                pass

    calls(2000)
    gc.collect()
    before = resident()
    calls(10_000)
    gc.collect()
    assert resident() - before < 1 << 20


def test_loading_again_and_again_leaks_no_plans(planned):
    add(planned).returns("buf0")
    ends = [weakref.finalize(planned.load(), lambda: None) for _ in range(3)]
    gc.collect()
    assert not any(end.alive for end in ends)


def test_switch_picks_the_python_wrapper(planned):
    run = add(planned).returns("buf0").load()
    with overriding({"python_runtime": True}):
        other = planned.load()
    a = torch.randn(4)
    assert torch.equal(run([a, a])[0], other([a, a])[0])

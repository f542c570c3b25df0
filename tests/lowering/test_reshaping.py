"""Views and copies that move elements, against eager, through buffers and through loops."""

import torch
from hypothesis import given, settings, strategies as st

from minicompiler.ir.nodes import Scatter
from tests.lowering.tensors import DTYPES, build, tensors
from tests.lowering.tracing import check, loops

quick = settings(max_examples=40, deadline=None, derandomize=True)
PLAIN = (torch.float32, torch.int64, torch.bool)


def both(f, x):
    """The view of an input, of something computed, and read by something computed."""
    check(f, x)
    check(lambda x: f(x.logical_not()), x)
    return check(lambda x: f(x).logical_not(), x)


@st.composite
def view_chains(draw):
    """A tensor and a chain of views of it, as source text."""
    x = draw(tensors(PLAIN, edges=False))
    text, y = "x", x
    for _ in range(draw(st.integers(1, 4))):
        n = y.ndim
        d = draw(st.integers(-n, n - 1)) if n else 0
        options = ["unsqueeze", "flatten"]
        options += ["permute", "slice", "squeeze", "expand", "flip"] if n else []
        options += ["unfold"] if n and y.shape[d] else []
        options += ["select"] if n and y.shape[d] > 0 else []
        options += ["transpose", "diagonal"] if n > 1 else []
        kind = draw(st.sampled_from(options))
        match kind:
            case "unsqueeze":
                step = f".unsqueeze({draw(st.integers(0, n))})"
            case "flatten":
                step = f".reshape({draw(st.sampled_from(_factorings(y)))})"
            case "permute":
                step = f".permute({draw(st.permutations(range(n)))})"
            case "slice":
                low, high = draw(st.integers(-6, 6)), draw(st.integers(-6, 6))
                by = draw(st.integers(1, 3))
                step = f"[{':, ' * (d % n)}{low}:{high}:{by}]"
            case "squeeze":
                step = draw(st.sampled_from([".squeeze()", f".squeeze({d})"]))
            case "expand":
                step = f".expand({[3 if m == 1 else m for m in y.shape]})"
            case "flip":
                step = f".flip({d})"
            case "unfold":
                window = draw(st.integers(1, y.shape[d]))
                step = f".unfold({d}, {window}, {draw(st.integers(1, 2))})"
            case "select":
                step = f".select({d}, {draw(st.integers(-y.shape[d], y.shape[d] - 1))})"
            case "transpose":
                step = f".transpose({d}, {draw(st.integers(0, n - 1))})"
            case "diagonal":
                step = f".diagonal({draw(st.integers(-1, 1))}, {d % n}, {(d + 1) % n})"
        text += step
        y = eval(text, {"x": x})
    return x, text


def _factorings(y):
    n, found = y.numel(), [[y.numel()], [1, y.numel(), 1]]
    found += [[a, n // a] for a in (2, 3, 5) if n % a == 0]
    return found + [[a, n // (2 * a), 2] for a in (2, 3, 5) if n and n % (2 * a) == 0]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(case=view_chains())
def test_chains_of_views(case):
    x, text = case
    both(eval(f"lambda x: {text}"), x)


def test_views_of_inputs_copy_nothing():
    x = torch.rand(4, 6)
    for f in (lambda x: x.t(), lambda x: x[1:3, ::2], lambda x: x.view(2, 2, 6), lambda x: x[1]):
        assert check(f, x).operations == []
    # no strides show this one
    assert len(loops(check(lambda x: x.t().reshape(8, 3), x))) == 1


def test_a_slice_of_a_loop_computes_only_the_slice():
    program = check(lambda x: (x + 1)[2:3], torch.rand(100, 4))
    assert [op.layout.size for op in loops(program)] == [(1, 4)]


def test_as_strided():
    x = torch.rand(4, 6)
    check(lambda x: torch.as_strided(x, (2, 3), (1, 6)), x)
    check(lambda x: torch.as_strided(x * 2, (2, 3), (1, 6), 2), x)
    check(lambda x: torch.as_strided(x, (2, 2), (3, 3)).exp(), x)
    # from where an input's storage begins, or past its own end: only ATen knows what lies there
    for past in (lambda x: x.as_strided((2,), (1,), 0), lambda x: x.as_strided((5,), (1,))):
        check(past, torch.rand(20)[3:6], fallbacks=1)
    for f in (lambda x: x[1:].as_strided((2,), (1,), 0), lambda x: x[1:].as_strided((2,), (1,))):
        check(lambda x: f(x * 2), torch.rand(4))
        check(f, torch.rand(5)[1:], fallbacks=int(f(torch.arange(4))[0] == 0))
    check(lambda x: (x * 2).t().as_strided((3, 2), (1, 3)).exp(), torch.rand(2, 3))


@quick
@given(
    parts=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    dim=st.integers(-2, 1),
    dtypes=st.lists(st.sampled_from(DTYPES), min_size=6, max_size=6),
)
def test_cat(parts, dim, dtypes):
    inputs = []
    for n, dtype in zip(parts, dtypes):
        size = (n, 3) if dim % 2 == 0 else (3, n)
        inputs.append(build(size, dtype, n, "sliced", True))
    check(lambda *xs: torch.cat(xs, dim), *inputs)
    check(lambda *xs: torch.cat([x.logical_not() for x in xs], dim), *inputs)


def test_cat_skips_empty_vectors():
    check(lambda a, b: torch.cat([a, b]), torch.empty(0), torch.rand(2, 3))


@quick
@given(x=tensors(PLAIN), pad=st.lists(st.integers(-1, 2), max_size=6))
def test_padding(x, pad):
    pad = pad[: len(pad) // 2 * 2][: 2 * x.ndim]
    f = lambda x: torch.constant_pad_nd(x, pad, 1)
    try:
        f(x)
    except RuntimeError:
        return  # negative sizes
    check(f, x)


@quick
@given(
    x=tensors(PLAIN),
    start=st.integers(-4, 4),
    end=st.integers(-4, 8),
    step=st.integers(1, 3),
    data=st.data(),
)
def test_writes_to_slices(x, start, end, step, data):
    if x.ndim == 0:
        return
    d = data.draw(st.integers(-x.ndim, x.ndim - 1))
    part = torch.ops.aten.slice.Tensor(x, d, start, end, step).logical_not().float()
    check(lambda x, y: torch.slice_scatter(x, y, d, start, end, step), x, part)
    if x.shape[d]:
        at = data.draw(st.integers(-x.shape[d], x.shape[d] - 1))
        check(lambda x, y: torch.select_scatter(x, y, d, at), x, x.select(d, 0).logical_not())


def test_moved_elements():
    x = torch.rand(3, 4, 5)
    check(lambda x: x.flip(0, 2) + 1, x)


def test_bits():
    check(lambda x: x.view(torch.int32) & 0x7FFFFFFF, torch.randn(5))
    check(lambda x: x.view(torch.float16), torch.arange(5, dtype=torch.int16))


def test_many_parts_are_written_in_turn():
    parts = [torch.rand(3, n) for n in range(12)]
    program = check(lambda *xs: torch.cat([x * 2 for x in xs], 1) + 1, *parts)
    writes = [op for op in loops(program) if isinstance(op.loop, Scatter)]
    assert [op.into for op in writes] == [None, *(op.name for op in writes[:-1])]


def test_views_of_what_generated_code_cannot_compute():
    check(lambda x: torch.mm(x.t(), x)[1:], torch.rand(3, 4, dtype=torch.complex64))
    check(lambda x: torch.view_as_real(x) + 1, torch.rand(3, dtype=torch.complex64), fallbacks=1)

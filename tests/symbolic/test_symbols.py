"""Symbolic sizes through torch's own shape computation, and what ShapeEnv concludes."""

from typing import Any, Callable

import pytest
import torch
import torch.nn.functional as F
from torch._dispatch.python import enable_python_dispatcher

from minicompiler.errors import Unsupported
from minicompiler.symbolic import Interval, TensorSpec, as_expr, spec_of, sym
from minicompiler.symbolic import expr as ex
from minicompiler.symbolic.env import ShapeEnv
from minicompiler.symbolic.fake import FakeMode
from minicompiler.symbolic.shapes import contiguous_strides
from minicompiler.symbolic.symnode import SymNode, to_torch

long = torch.int64


def e(*size: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(size, dtype=dtype)


# s is 8 and t is 5 at this call
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "empty": lambda s, t: e(s, 4),
    "view": lambda s, t: e(s, 4).view(-1),
    "sum": lambda s, t: e(s, 4).view(-1).sum(),
    "sum_dim": lambda s, t: e(s, 4).sum(1),
    "add": lambda s, t: e(s, 4) + e(4),
    "add_ss": lambda s, t: e(s, 1) + e(1, t),
    "mul_scalar": lambda s, t: e(s, 4) * 2,
    "cat": lambda s, t: torch.cat([e(s, 4), e(t, 4)]),
    "matmul": lambda s, t: e(s, 4) @ e(4, t),
    "bmm": lambda s, t: e(2, s, 4) @ e(2, 4, t),
    "linear": lambda s, t: F.linear(e(s, 4), e(7, 4), e(7)),
    "expand": lambda s, t: e(1, 4).expand(s, 4),
    "conv2d": lambda s, t: F.conv2d(e(s, 3, 8, 8), e(6, 3, 3, 3), e(6), padding=1),
    "conv2d_hw": lambda s, t: F.conv2d(e(2, 3, s, t), e(6, 3, 3, 3), e(6)),
    "transpose": lambda s, t: e(s, 4).t(),
    "permute_contig": lambda s, t: e(s, 4).t().contiguous(),
    "reshape": lambda s, t: e(s, 2, 4).reshape(-1, 4),
    "view_split": lambda s, t: e(s * 4).view(s, 4),
    "slice": lambda s, t: e(s, 4)[1:],
    "slice_sym": lambda s, t: e(10, 4)[:s],
    "select": lambda s, t: e(s, 4)[:, 0],
    "unbind": lambda s, t: e(3, s).unbind()[0],
    "softmax": lambda s, t: e(s, 4).softmax(-1),
    "softmax_sym": lambda s, t: e(4, s).softmax(-1),
    "layer_norm": lambda s, t: F.layer_norm(e(s, 4), (4,), e(4), e(4)),
    "gelu": lambda s, t: F.gelu(e(s, 4)),
    "mean": lambda s, t: e(s, 4).mean(),
    "arange": lambda s, t: torch.arange(s),
    "zeros": lambda s, t: torch.zeros(s, 2),
    "new_full": lambda s, t: e(s).new_full((t, 2), 1.0),
    "index_tensor": lambda s, t: e(s, 4)[e(t, dtype=long)],
    "embedding": lambda s, t: F.embedding(e(s, t, dtype=long), e(10, 4)),
    "cumsum": lambda s, t: e(s, 4).cumsum(0),
    "where": lambda s, t: torch.where(e(s, 4) > 0, e(s, 4), e(4)),
    "sdpa": lambda s, t: F.scaled_dot_product_attention(*[e(2, 2, s, 8)] * 3),
    "max_pool": lambda s, t: F.max_pool2d(e(s, 3, 8, 8), 2),
    "pad": lambda s, t: F.pad(e(s, 4), (1, 1)),
    "repeat": lambda s, t: e(2, 4).repeat(s, 1),
    "chunk": lambda s, t: e(s, 8).chunk(2, 1)[0],
    "topk": lambda s, t: e(s, 8).topk(2)[0],
    "einsum": lambda s, t: torch.einsum("bi,ij->bj", e(s, 4), e(4, t)),
    "add_": lambda s, t: e(s, 4).add_(1),
    "batch_norm": lambda s, t: F.batch_norm(e(s, 3, 4, 4), e(3), e(3), e(3), e(3), True),
    "numel": lambda s, t: e(s, 4).numel(),
    "cross_entropy": lambda s, t: F.cross_entropy(e(s, 4), e(s, dtype=long)),
    "gather": lambda s, t: e(s, 4).gather(1, e(s, 2, dtype=long)),
    "scatter_add": lambda s, t: e(s, 4).scatter_add(0, e(t, 4, dtype=long), e(t, 4)),
    "sort": lambda s, t: e(s, 4).sort()[0],
    "interpolate": lambda s, t: F.interpolate(e(1, 3, s, t), scale_factor=2, mode="bilinear"),
    "group_norm": lambda s, t: F.group_norm(e(s, 4, 3), 2, e(4), e(4)),
    "roll": lambda s, t: e(s, 4).roll(1, 0),
    "tril": lambda s, t: e(s, s).tril(),
    "flip": lambda s, t: e(s, 4).flip(0),
    "split": lambda s, t: e(s, 8).split([3, 5], 1)[1],
    "stack": lambda s, t: torch.stack([e(s, 4), e(s, 4)]),
    "squeeze": lambda s, t: e(s, 1).squeeze(1),
    "std": lambda s, t: e(s, 4).std(1),
}
# some C++ of eager takes plain ints only (bmm until torch 2.12); a slice ends within 10
GUARDED = {"cross_entropy", "slice_sym", "interpolate", "bmm"}


def shown(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return [(tuple(x.shape), x.stride(), x.dtype)]
    return x


def at(x: Any, values: dict[str, int]) -> Any:
    """`x` with its symbols replaced."""
    if isinstance(x, torch.Tensor):
        spec = spec_of(x)
        return [
            tuple(tuple(n.evaluate(values) for n in ns) for ns in (spec.size, spec.stride))
            + (x.dtype,)
        ]
    return x.node.expr.evaluate(values) if isinstance(x, torch.SymInt) else x


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("how", ["meta tensors", "fakes"])
def test_symbolic_programs(name: str, how: str) -> None:
    """The symbolic result holds for this call's sizes, and for others that satisfy the guards."""
    env = ShapeEnv()
    s, t = (to_torch(env, env.size(n)) for n in (8, 5))
    if how == "fakes":
        with FakeMode(env):
            out = PROGRAMS[name](s, t)
    else:
        with enable_python_dispatcher(), torch.device("meta"):
            out = PROGRAMS[name](s, t)
    for sizes in ((8, 5), (9, 6), (30, 7)):
        values = dict(zip(("s0", "s1"), sizes))
        if all(g.evaluate(values) for g in env.guards):
            assert at(out, values) == shown(PROGRAMS[name](*sizes))
        else:
            assert name in GUARDED and sizes != (8, 5)


def test_gradients_of_symbolic_fakes() -> None:
    env = ShapeEnv()
    s = env.size(8)
    spec = TensorSpec(torch.float32, torch.device("cpu"), (s, as_expr(4)), (as_expr(4), as_expr(1)))
    mode = FakeMode(env)
    x, w = mode.fake(spec, requires_grad=True), mode.fake(torch.ones(4, 3, requires_grad=True))
    with torch.autograd.set_multithreading_enabled(False), mode:
        grads = torch.autograd.grad(torch.relu(x @ w)[1:].sum(), [x, w])
    assert [spec_of(g).size for g in grads] == [(s, 4), (4, 3)]
    assert [str(g) for g in env.guards] == ["s0 != 2"]  # else the slice would broadcast


def test_sizes() -> None:
    env = ShapeEnv()
    assert env.size(0) == 0 and env.size(1) == 1
    assert env.size(8) is env.size(8) is sym("s0")
    assert env.size(5) is sym("s1")
    assert env.hint(env.size(8) * 2 + 1) == 17
    x = to_torch(env, env.size(8))
    assert isinstance(x * 2, torch.SymInt) and (x * 2).node.expr is sym("s0") * 2
    assert type(x - x + 3) is int and x - x + 3 == 3
    assert type(x * 0) is int
    assert str(x // 3) == "s0//3"
    assert isinstance(x / 3, torch.SymFloat)
    assert torch.sym_max(x, 3).node.expr is ex.max_(sym("s0"), 3)
    assert not env.guards


def test_branches_guard_once_and_teach() -> None:
    env = ShapeEnv()
    s = env.size(8)
    x = to_torch(env, s)
    assert x > 1 and not env.guards  # 0 and 1 are not symbols
    assert x > 5 and [str(g) for g in env.guards] == ["6 <= s0"]
    assert x > 4 and not x == 3 and len(env.guards) == 1  # follows
    assert env.known(ex.ge(s, 6)) is True and env.known(ex.ge(s, 7)) is None
    assert x % 4 == 0 and len(env.guards) == 2
    assert (x + 8) % 4 == 0 and len(env.guards) == 2
    assert int(x) == 8 and str(env.guards[-1]) == "s0 == 8"
    assert env.simplify(s * 2) == 16
    assert x.node.maybe_as_int() == 8


def test_equal_symbols_become_one() -> None:
    env = ShapeEnv()
    a, b = env.symbol("a", 4, low=2), env.symbol("b", 4, low=2)
    assert to_torch(env, a) == to_torch(env, b)
    assert env.simplify(a - b) == 0 and len(env.guards) == 1
    assert env.free([a * b, b + 1]) == [env.simplify(a)]


def test_without_a_hint() -> None:
    env = ShapeEnv()
    u = env.symbol("u0", low=0)
    x = to_torch(env, u)
    assert env.evaluate(ex.ge(u, 0))
    with pytest.raises(Unsupported, match="u0"):
        bool(x > 3)
    with pytest.raises(Unsupported, match="u0"):
        int(x)
    assert x.node.ge(x.node.wrap_int(3)).guard_or_false("", 0) is False
    assert x.node.ge(x.node.wrap_int(3)).guard_or_true("", 0) is True
    torch._check(x <= 10)
    assert [str(c) for c in env.checks] == ["u0 <= 10"] and not env.guards
    assert env.ranges[u] == Interval(0, 10)
    assert env.evaluate(ex.lt(u, 11))
    with pytest.raises(RuntimeError):
        env.check(ex.gt(u, 10))


def test_shapes_of_unbacked_sizes() -> None:
    env = ShapeEnv()
    u = to_torch(env, env.symbol("u0", low=2))
    with FakeMode(env):
        for f, size in [
            (lambda: e(u, 4), ["u0", "4"]),
            (lambda: e(u, 4) * 2, ["u0", "4"]),
            (lambda: e(u, 4).view(-1), ["u0*4"]),
            (lambda: e(u, 4).sum(1), ["u0"]),
            (lambda: e(u, 4) @ e(4, 3), ["u0", "3"]),
            (lambda: torch.cat([e(u, 4), e(3, 4)]), ["u0 + 3", "4"]),
        ]:
            assert list(map(str, spec_of(f()).size)) == size


def test_floats() -> None:
    env = ShapeEnv()
    f = to_torch(env, env.symbol("f0", 0.5))
    n = to_torch(env, env.size(10))
    assert str((f * 2 + 1).node.expr) == "f0*2.0 + 1.0"
    assert torch.sym_int(n * 0.7).node.expr.evaluate({"s0": 9}) == int(9 * 0.7)
    assert float(f) == 0.5 and str(env.guards[-1]) == "f0 == 0.5"


# what torch may ask of a node: of a new version it shows here, not in a user's program
ASKED = """
    add sub mul mod floordiv int_floordiv truediv int_truediv float_truediv pow pow_by_natural
    float_pow eq ne lt le gt ge sym_min sym_max sym_and sym_or and_ or_ sym_not neg abs ceil floor
    trunc sym_float sym_sum sym_ite is_int is_float is_bool is_symbolic is_constant is_nested_int
    nested_int has_hint hint constant maybe_as_int maybe_as_float maybe_as_bool constant_int
    constant_bool clone str _graph_repr wrap_int wrap_float wrap_bool guard_int guard_float
    guard_bool guard_or_false guard_or_true guard_size_oblivious statically_known_true expect_true
    expect_size int_ bool_ shape_env pytype expr is_contiguous is_non_overlapping_and_dense
    is_non_overlapping_and_dense_indicator is_channels_last_contiguous_2d
    is_channels_last_contiguous_3d is_channels_last_strides_2d is_channels_last_strides_3d
""".split()


def test_every_method_that_torch_calls_exists() -> None:
    node = SymNode(ShapeEnv(), as_expr(3))
    assert [name for name in ASKED if not hasattr(node, name)] == []


def test_layouts_of_specs() -> None:
    from minicompiler.symbolic.shapes import (
        broadcast_shapes,
        channels_last_strides,
        is_channels_last,
        is_contiguous,
        is_dense,
        stride_order,
    )

    s = sym("s0")
    cpu = torch.device("cpu")

    def spec(size: Any, stride: Any) -> TensorSpec:
        return TensorSpec(
            torch.float32, cpu, tuple(map(as_expr, size)), tuple(map(as_expr, stride))
        )

    assert contiguous_strides((2, s, 4)) == (s * 4, 4, 1)
    assert contiguous_strides((0, 3)) == torch.empty(0, 3).stride()
    assert contiguous_strides((3, 0, 2)) == torch.empty(3, 0, 2).stride()
    assert channels_last_strides((2, s, 4, 5)) == (s * 20, 1, s * 5, s)
    assert is_contiguous(spec((2, s), (s, 1))) and is_contiguous(spec((1, s), (77, 1)))
    assert not is_contiguous(spec((s, 2), (1, s))) and is_dense(spec((s, 2), (1, s)))
    assert not is_dense(spec((2, s), (s * 2, 1))) and not is_dense(spec((3,), (0,)))
    assert is_contiguous(spec((0, 3), (9, 9))) and is_dense(spec((0,), (5,)))
    assert is_channels_last(spec((2, 3, 4, 5), (60, 1, 15, 3)))
    assert stride_order(spec((s, 2, 3), (1, s * 3, s))) == (0, 2, 1)
    assert broadcast_shapes((s, 1), (4,)) == (s, 4) and broadcast_shapes((), (2,)) == (2,)
    with pytest.raises(RuntimeError, match="must match"):
        broadcast_shapes((s, 2), (3,))
    one = spec((2, s), (s, 1))
    assert one.numel == s * 2 and one.nbytes == s * 8 and one.ndim == 2
    assert repr(one) == "float32[2, s0] cpu"
    for real in (torch.ones(2, 3).t(), torch.ones(4, 4)[1:, 1:], torch.ones(1, 2, 3, 4)):
        assert is_contiguous(spec_of(real)) == real.is_contiguous()
        assert spec_of(real).offset == real.storage_offset()

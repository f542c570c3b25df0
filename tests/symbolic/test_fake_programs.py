"""Whole programs: fakes must take the very ATen operators that real CPU tensors take."""

import dataclasses
import subprocess
import sys
from typing import Any, Callable

import pytest
import torch
import torch.nn.functional as F
from torch import library as operators, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from minicompiler.errors import Unsupported
from minicompiler.symbolic.fake import Fake, FakeMode
from minicompiler.symbolic.shapes import spec_of

Operators = list[tuple[str, list[Any]]]


class RealRecorder(TorchDispatchMode):
    """What eager runs on real tensors: operators, and the description of their outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Operators = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        composite = "CompositeImplicitAutograd"
        if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), composite):
            with self:
                return func.decompose(*args, **(kwargs or {}))
        outs = func(*args, **(kwargs or {}))
        self.seen.append((str(func), described(outs)))
        return outs


class FakeRecorder(FakeMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Operators = []

    def record(self, func: Any, args: Any, kwargs: Any, outs: Any) -> None:
        assert all(
            isinstance(t, Fake)
            for t in tree_leaves((args, kwargs, outs))
            if isinstance(t, torch.Tensor)
        )
        self.seen.append((str(func), described(outs)))


def described(outs: Any) -> list[Any]:
    tensors = [t for t in tree_leaves(outs) if isinstance(t, torch.Tensor)]
    # whether a result requires grad is settled only after the operator has returned
    return [dataclasses.replace(spec_of(t), requires_grad=False) for t in tensors]


def differentiate(f: Callable[..., Any], args: list[torch.Tensor]) -> Any:
    out = f(*args)
    leaves = [t for t in args if t.requires_grad]
    if leaves and isinstance(out, torch.Tensor) and out.requires_grad:
        return torch.autograd.grad(out.sum(), leaves, allow_unused=True)
    return out


def r(*size: int, grad: bool = True, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(size, dtype=dtype).requires_grad_(grad)


def autocast(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return f(*args)

    return run


def no_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    return torch.no_grad()(f)


def inference(f: Callable[..., Any]) -> Callable[..., Any]:
    return torch.inference_mode()(f)


def module(m: nn.Module, *inputs: torch.Tensor) -> tuple[Any, ...]:
    names = [n for n, _ in [*m.named_parameters(), *m.named_buffers()]]
    tensors = [
        t.detach().clone().requires_grad_(t.requires_grad) for t in [*m.parameters(), *m.buffers()]
    ]

    def run(*args: Any) -> Any:
        split = len(names)
        return torch.func.functional_call(m, dict(zip(names, args[:split])), args[split:])

    return run, *tensors, *inputs


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:  # type: ignore[override]
        return g * ctx.saved_tensors[0] * 2


def write_to_view(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[:, 1:].add_(1)
    y.t()[0].mul_(2)
    return y.sin()


def lstm(x: Any, *weights: Any) -> Any:
    zeros = torch.zeros(1, x.shape[0], 5)
    return torch.lstm(x, (zeros, zeros), list(weights), True, 1, 0.0, True, False, True)[0]


def attention(q: Any) -> Any:
    return F.scaled_dot_product_attention(q, q, q, is_causal=True)


def attention_block(x: Any, w: Any, o: Any) -> Any:
    b, t, c = x.shape
    q, k, v = (x @ w).view(b, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c) @ o


def conv_block(x: Any, w: Any, g: Any, m: Any, v: Any) -> Any:
    y = F.conv2d(x.to(memory_format=torch.channels_last), w, padding=1)
    return F.relu_(F.batch_norm(y, m, v, g, g, training=True))


def inner_gradient(x: Any) -> Any:
    return torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sin()


def sgd(x: Any, w: Any) -> Any:
    (g,) = torch.autograd.grad(F.linear(x, w).square().mean(), w)
    with torch.no_grad():
        w.add_(g, alpha=-0.1)
    return w.detach().norm()


mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
weights = [
    t.detach().clone().requires_grad_() for t in nn.LSTM(4, 5, batch_first=True).parameters()
]
encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
x34, q = r(3, 4), r(2, 2, 16, 8)
images = [r(2, 3, 8, 8), r(6, 3, 3, 3), r(6), torch.zeros(6), torch.ones(6)]
PROGRAMS: dict[str, tuple[Any, ...]] = {
    "mlp": module(mlp, r(3, 4)),
    "mlp, autocast": (autocast(module(mlp)[0]), *module(mlp)[1:], r(3, 4)),
    "mlp, no_grad": (no_grad(module(mlp)[0]), *module(mlp)[1:], r(3, 4)),
    "mlp, inference_mode": (inference(module(mlp)[0]), *module(mlp)[1:], r(3, 4, grad=False)),
    "linear, autocast": (autocast(F.linear), r(3, 4), r(5, 4), r(5)),
    "matmul, autocast, float back": (
        autocast(lambda a, b: (a @ b).float().softmax(1)),
        r(3, 4),
        r(4, 5),
    ),
    "mixed operations, autocast": (
        autocast(lambda a, b: torch.cat([a @ b, a]).sum() + F.mse_loss(a, b)),
        r(4, 4),
        r(4, 4),
    ),
    "attention": (attention, q),
    "attention, autocast": (autocast(attention), q),
    "attention, inference_mode": (inference(attention), q.detach()),
    "attention, float64": (attention, q.detach().double().requires_grad_()),
    "attention, mask": (
        lambda q, m: F.scaled_dot_product_attention(q, q, q, m),
        q,
        r(2, 1, 16, 16, grad=False),
    ),
    "attention block": (attention_block, r(2, 5, 8), r(8, 24), r(8, 8)),
    "lstm": (lstm, r(2, 3, 4), *weights),
    "lstm, no_grad": (no_grad(lstm), r(2, 3, 4), *weights),
    "conv, batch norm, channels last": (conv_block, *images),
    "conv, batch norm, autocast": (autocast(conv_block), *images),
    "conv, batch norm, no_grad": (no_grad(conv_block), *images),
    "conv, batch norm, inference_mode": (inference(conv_block), *[t.detach() for t in images]),
    "encoder layer": module(encoder, r(2, 5, 8)),
    "dropout": (lambda x: F.dropout(x, 0.5).sin(), x34),
    "embedding": (lambda i, w: F.embedding(i, w).sum(1), torch.tensor([[0, 1], [2, 1]]), r(5, 4)),
    "view written": (write_to_view, x34),
    "cross entropy": (F.cross_entropy, x34, torch.tensor([0, 1, 3])),
    "checkpoint": (
        lambda x: checkpoint(lambda x: F.dropout(x.sin()).cos(), x, use_reentrant=False),
        x34,
    ),
    "custom function": (lambda x: Exp.apply(x.sin()), x34),
    "inner gradient": (inner_gradient, x34),
    "sgd step": (sgd, r(3, 4, grad=False), r(5, 4)),
    "tensor hook": (lambda x: (x.register_hook(lambda g: g * 3), x.sin())[1], x34),
    "factories": (
        lambda x: x + torch.arange(4) + torch.zeros(4) + torch.tensor(3.0) + x.new_ones(3, 4),
        x34,
    ),
    "conversions": (lambda x: x.to(torch.float64).to(torch.bfloat16).float() + x.to(x.dtype), x34),
    "detach": (lambda x: x * x.detach() + x.data, x34),
    "foreach": (lambda x: torch._foreach_add(torch._foreach_mul([x, x], 2.0), [x, x])[0], x34),
    "pooling": (
        lambda x: (
            F.max_pool2d(x, 2)
            + F.adaptive_avg_pool2d(x, 4)
            + F.interpolate(F.avg_pool2d(x, 4), scale_factor=2, mode="bilinear")
        ),
        r(2, 3, 8, 8),
    ),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->ki", a, b), r(2, 3, 4), r(2, 4, 5)),
    "sorting": (lambda x: x.topk(2)[0] + x.sort(-1)[0][:, :2] + x.cumsum(1)[:, 1:3], x34),
    "fourier": (lambda x: torch.fft.rfft(x).abs(), r(3, 8)),
    "index": (lambda x, i: x[i].sum() + x.gather(1, i[None]).sum(), x34, torch.tensor([0, 2])),
    "out": (lambda x: torch.add(x, 1, out=torch.empty(3, 4)), x34.detach()),
    "reshape of permuted": (lambda x: x.permute(1, 0).reshape(2, 6).contiguous(), x34),
    "rms norm": (lambda x, w: F.rms_norm(x, (4,), w), x34, r(4)),
    "group norm": (lambda x, w: F.group_norm(x, 2, w, w), r(2, 4, 3), r(4)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_operators_as_real_tensors(name: str) -> None:
    f, *args = PROGRAMS[name]
    assert_same_operators(f, args, shapes="lstm" not in name)  # oneDNN alone knows its workspace


def assert_same_operators(f: Any, args: list[Any], shapes: bool = True) -> None:
    fake, real = FakeRecorder(), RealRecorder()
    fakes = [fake.fake(t) for t in args]
    reals = [t.detach().clone().requires_grad_(t.requires_grad) for t in args]
    views = torch.autograd._force_original_view_tracking(True)  # fakes replay views so anyway
    with torch.autograd.set_multithreading_enabled(False), views:
        with fake:
            got = differentiate(f, fakes)
        with real:
            want = differentiate(f, reals)
    assert [s for s, _ in fake.seen] == [s for s, _ in real.seen]
    if shapes:
        assert fake.seen == real.seen
    assert [spec_of(t) for t in tree_leaves(got)] == [spec_of(t) for t in tree_leaves(want)]


def test_leaves_views_and_versions() -> None:
    mode = FakeMode()
    x = mode.fake(r(3, 4))
    p = mode.fake(nn.Parameter(torch.ones(3)))
    with mode:
        y = x * 2
        v = y[1:]
        assert x.is_leaf and not y.is_leaf and y.grad_fn is not None
        assert v._base is y and v.is_contiguous() and v.storage_offset() == 4
        assert v.meta.untyped_storage()._cdata == y.meta.untyped_storage()._cdata
        before = y._version
        v.add_(1)
        assert y._version == before + 1
        with pytest.raises(RuntimeError, match="leaf"):
            x.add_(1)
        saved = (f := y.exp()).grad_fn._saved_result
        assert saved.meta.untyped_storage()._cdata == f.meta.untyped_storage()._cdata
        f.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(f.sum(), x)
        made = nn.Parameter(x.detach())
        assert isinstance(made, nn.Parameter) and isinstance(made, Fake) and made.is_leaf
    assert isinstance(p, nn.Parameter) and p.requires_grad and p.is_leaf
    assert x.device.type == "cpu" and x.is_cpu and not x.is_meta


def test_inputs_that_share_memory() -> None:
    mode, base = FakeMode(), torch.zeros(4, 4)
    a, b, c = mode.fake(base[1:]), mode.fake(base.t()), mode.fake(torch.zeros(4))
    storages = [t.meta.untyped_storage()._cdata for t in (a, b, c)]
    assert storages[0] == storages[1] != storages[2]
    assert a.storage_offset() == 4 and b.stride() == (1, 4)


def test_constants_are_lifted_once() -> None:
    mode, table = FakeMode(), torch.arange(4.0)
    with mode:
        a = mode.fake(torch.zeros(4)) + table
        b = a * table + torch.tensor(2.0)
    assert [t.shape for t, _ in mode.constants] == [(4,), ()] and mode.constants[0][0] is table
    assert isinstance(b, Fake)


OUTSIDE = torch.ones(4, requires_grad=True)
REFUSED: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: bool(x.sum() > 0),
    "float": lambda x: float(x.sum()),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.detach().numpy(),
    "data_ptr": lambda x: x.data_ptr(),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "unique": lambda x: x.unique(),
    "equal": lambda x: torch.equal(x, x),
    "resize_": lambda x: (x * 2).detach().resize_(2, 2),
    "requires grad outside": lambda x: x + OUTSIDE,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_reason(name: str) -> None:
    mode = FakeMode()
    x = mode.fake(r(3, 4))
    with mode, pytest.raises(Unsupported) as e:
        REFUSED[name](x)
    assert e.value.reason


def test_inputs_that_cannot_be_fakes() -> None:
    class Subclass(torch.Tensor):
        pass

    mode = FakeMode()
    for t in (
        torch.eye(3).to_sparse(),
        torch.zeros(3, dtype=torch.complex64).conj(),
        torch.zeros(3).as_subclass(Subclass),
    ):
        with pytest.raises(Unsupported):
            mode.fake(t)


def test_errors_are_eagers() -> None:
    mode = FakeMode()
    x, y, n = (mode.fake(torch.zeros(s)) for s in ((3, 4), (5, 4), (3,)))
    for f in (
        lambda x, y, n: x + y,
        lambda x, y, n: x @ y,
        lambda x, y, n: n.int().add_(1.5),
        lambda x, y, n: x.view(5),
        lambda x, y, n: torch.cat([x, y], 1),
        lambda x, y, n: F.conv2d(x, y),
    ):
        with pytest.raises(RuntimeError) as real:
            f(torch.zeros(3, 4), torch.zeros(5, 4), torch.zeros(3))
        with mode, pytest.raises(RuntimeError) as fake:
            f(x, y, n)
        assert str(fake.value).splitlines()[0] == str(real.value).splitlines()[0]


def test_other_devices() -> None:
    cuda, mode = torch.device("cuda", 0), FakeMode()
    x = mode.fake(dataclasses.replace(spec_of(torch.zeros(3, 4)), device=cuda))
    with mode:
        assert x.is_cuda and not x.is_cpu
        assert (x * torch.tensor(2.0)).device == x.t().device == (x @ x.t()).device == cuda
        assert torch.ops.aten._to_copy(x, device="cpu").device.type == "cpu"
        with pytest.raises(RuntimeError, match="same device"):
            x + mode.fake(torch.zeros(3, 4))


@operators.custom_op("minicompiler_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * 2)


@operators.custom_op("minicompiler_test::unknown", mutates_args=())
def unknown(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * 2)


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape)


def test_custom_operators() -> None:
    mode = FakeRecorder()
    x = mode.fake(torch.zeros(3, 4).t())
    with mode:
        assert twice(x).stride() == (3, 1)
        with pytest.raises(Unsupported, match="no shape rule"):
            unknown(x)
    assert "minicompiler_test.twice.default" in [name for name, _ in mode.seen]


COLD = """
import sys, torch
from torch import nn
from minicompiler.symbolic.fake import FakeMode
m = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Dropout(), nn.Linear(16, 4))
mode = FakeMode()
p = {n: mode.fake(t) for n, t in m.named_parameters()}
with mode:
    out = torch.func.functional_call(m, p, (mode.fake(torch.zeros(3, 8)),))
    loss = nn.functional.cross_entropy(out, mode.fake(torch.zeros(3, dtype=torch.long)))
    for w, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
        w.data.sub_(g, alpha=0.1)
print(*[n for n in ("sympy", "torch._dynamo", "torch._inductor") if n in sys.modules])
"""


def test_a_training_step_imports_nothing_heavy() -> None:
    run = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""

"""Shapes, strides, dtypes and aliasing of single operators, against real CPU tensors."""

from typing import Any

import hypothesis.strategies as st
import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, assume, given, settings
from torch.utils._pytree import tree_leaves

from minicompiler.symbolic.fake import FakeMode

from .compare import DTYPES, FLOATS, compare, partner, size_lists, tensors

few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
more = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

UNARY = """
    abs neg sign relu exp log sqrt rsqrt reciprocal sin cos tanh sigmoid erf floor ceil round trunc
    isnan isinf logical_not bitwise_not square log1p expm1 atan lgamma positive clone
    zeros_like ones_like rand_like empty_like
""".split()
BINARY = """
    add sub mul div floor_divide remainder fmod pow maximum minimum atan2 eq ne lt le gt ge
    logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor rsub
""".split()
ACTIVATIONS = (
    "gelu silu elu leaky_relu hardtanh hardswish hardsigmoid mish softplus relu6 selu celu".split()
)


@pytest.mark.parametrize("name", UNARY)
@few
@given(x=tensors())
def test_unary(name: str, x: torch.Tensor) -> None:
    compare(getattr(torch, name), x)


@pytest.mark.parametrize("name", ACTIVATIONS)
@few
@given(x=tensors(dtypes=FLOATS))
def test_activations(name: str, x: torch.Tensor) -> None:
    compare(getattr(F, name), x)


@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_binary(name: str, data: Any) -> None:
    size = data.draw(size_lists())
    x = data.draw(tensors(size))
    other = st.sampled_from([2, 1.5, True]) | partner(size).flatmap(tensors)
    y = data.draw(other)
    compare(
        getattr(torch, name), *data.draw(st.permutations([x, y])) if torch.is_tensor(y) else (x, y)
    )


@pytest.mark.parametrize(
    "name", ["add_", "mul_", "div_", "sub_", "copy_", "fmod_", "eq_", "clamp_min_"]
)
@few
@given(data=st.data())
def test_in_place(name: str, data: Any) -> None:
    size = data.draw(size_lists())
    x = data.draw(tensors(size).map(torch.clone))
    y = data.draw(st.sampled_from([2, 1.5]) | partner(size).flatmap(tensors))
    compare(lambda x, y: getattr(x, name)(y), x, y)


TERNARY: dict[str, Any] = dict(
    where=lambda a, b, c: torch.where(a > 0, b, c),
    addcmul=lambda a, b, c: torch.addcmul(a, b, c, value=2),
    addcdiv=lambda a, b, c: torch.addcdiv(a, b, c),
    lerp=torch.lerp,
    clamp=torch.clamp,
    masked_fill=lambda a, b, c: a.masked_fill(b > 0, 1),
    masked_fill_=lambda a, b, c: a.clone().masked_fill_(b > 0, 1),
)


@pytest.mark.parametrize("name", TERNARY)
@more
@given(data=st.data())
def test_ternary(name: str, data: Any) -> None:
    size = data.draw(size_lists())
    dtypes = DTYPES if name in ("where", "clamp", "masked_fill") else FLOATS[:1]
    args = [data.draw(tensors(size, dtypes))]
    args += [data.draw(partner(size).flatmap(lambda s: tensors(s, dtypes))) for _ in range(2)]
    compare(TERNARY[name], *data.draw(st.permutations(args)))


REDUCTIONS: dict[str, Any] = dict(
    sum=torch.sum,
    mean=torch.mean,
    prod=torch.prod,
    amax=torch.amax,
    amin=torch.amin,
    max=torch.max,
    min=torch.min,
    any=torch.any,
    all=torch.all,
    argmax=torch.argmax,
    argmin=torch.argmin,
    std=torch.std,
    var=torch.var,
    var_mean=torch.var_mean,
    logsumexp=torch.logsumexp,
    norm=torch.linalg.vector_norm,
    count_nonzero=torch.count_nonzero,
    nansum=torch.nansum,
    median=torch.median,
    cumsum=torch.cumsum,
    cumprod=torch.cumprod,
    cummax=torch.cummax,
    softmax=torch.softmax,
    log_softmax=torch.log_softmax,
    sort=torch.sort,
    flip=torch.flip,
    logcumsumexp=torch.logcumsumexp,
)


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data())
def test_reductions(name: str, data: Any) -> None:
    x = data.draw(tensors())
    if x.dim() == 0 or data.draw(st.integers(0, 3)) == 0:
        compare(REDUCTIONS[name], x)
        return
    dim = data.draw(st.integers(-x.dim(), x.dim() - 1))
    if name in ("sum", "mean", "amax", "std", "var_mean", "logsumexp") and data.draw(st.booleans()):
        dims = data.draw(st.lists(st.integers(0, x.dim() - 1), unique=True))
        compare(lambda x: REDUCTIONS[name](x, dim=dims, keepdim=True), x)
    elif name in ("norm", "flip", "sort"):
        compare(
            lambda x: REDUCTIONS[name](
                x, **{"dims" if name == "flip" else "dim": (dim,) if name != "sort" else dim}
            ),
            x,
        )
    else:
        keep = name not in (
            "count_nonzero",
            "cumsum",
            "cumprod",
            "cummax",
            "softmax",
            "log_softmax",
            "logcumsumexp",
        )
        options = {"keepdim": data.draw(st.booleans())} if keep else {}
        compare(lambda x: REDUCTIONS[name](x, dim=dim, **options), x)


VIEWS: dict[str, Any] = dict(
    t=lambda x: x.transpose(0, -1),
    mT=lambda x: x.mT,
    permute=lambda x: x.permute(list(range(x.dim()))[::-1]),
    unsqueeze=lambda x: x.unsqueeze(-1),
    squeeze=lambda x: x.squeeze(),
    squeeze0=lambda x: x.squeeze(0),
    select=lambda x: x.select(0, -1),
    slice=lambda x: x[1:],
    slice_step=lambda x: x[..., ::2],
    index_none=lambda x: x[None, ..., 0],
    flatten=lambda x: x.flatten(),
    view=lambda x: x.view(-1),
    reshape=lambda x: x.reshape(x.shape[::-1]),
    expand=lambda x: x.unsqueeze(0).expand(3, *x.shape),
    narrow=lambda x: x.narrow(0, 0, 1),
    chunk=lambda x: x.chunk(2, -1),
    split=lambda x: x.split(2, 0),
    unbind=lambda x: x.unbind(),
    diagonal=lambda x: x.diagonal(),
    detach=lambda x: x.detach(),
    view_dtype=lambda x: x.view(torch.int32),
    as_strided=lambda x: x.as_strided((1,), (1,)),
    unfold=lambda x: x.unfold(0, 1, 1),
    movedim=lambda x: x.movedim(0, -1),
    contiguous=lambda x: x.contiguous(),
    channels_last=lambda x: x.contiguous(memory_format=torch.channels_last),
    to_double=lambda x: x.to(torch.float64),
    to_half=lambda x: x.half(),
    to_same=lambda x: x.to(x.dtype),
    to_channels_last=lambda x: x.to(torch.float64, memory_format=torch.channels_last),
    copy=lambda x: x.clone(memory_format=torch.contiguous_format),
    real=lambda x: x.real,
    view_as=lambda x: x.view_as(x),
    T=lambda x: x.T,
    roll=lambda x: x.roll(1, 0),
    flip=lambda x: x.flip(0),
    repeat=lambda x: x.repeat(2, *[1] * x.dim()),
    repeat_interleave=lambda x: x.repeat_interleave(2, 0),
    tile=lambda x: x.tile(2),
    tril=lambda x: x.tril(),
    pad=lambda x: F.pad(x, (1, 1)),
    pad_cut=lambda x: F.pad(x, (-1, 1)),
    cat=lambda x: torch.cat([x, x], 0),
    cat_last=lambda x: torch.cat([x, x.double()], -1),
    stack=lambda x: torch.stack([x, x], -1),
    new_zeros=lambda x: x.new_zeros((2, 3)),
    new_full=lambda x: x.new_full((2,), 1),
    full_like=lambda x: torch.full_like(x, 2),
    full_like_dtype=lambda x: torch.zeros_like(x, dtype=torch.int32),
    topk=lambda x: x.topk(1),
    meshgrid=lambda x: torch.meshgrid(x, x, indexing="ij"),
    foreach=lambda x: torch._foreach_mul([x, x.t() if x.dim() == 2 else x], 2.0),
    foreach_=lambda x: torch._foreach_add_([x.clone()], 1),
    triu=lambda x: torch.triu(x, 1),
    diag=lambda x: torch.diag(x),
    glu=lambda x: F.glu(x),
    dropout=lambda x: F.dropout(x),
    native_dropout=lambda x: torch.native_dropout(x, 0.5, True),
    bernoulli=lambda x: torch.bernoulli(x),
    dropout_=lambda x: F.dropout(x.clone(), inplace=True),
    zero_=lambda x: x.clone().zero_(),
    fill_=lambda x: x.clone().fill_(2),
    uniform_=lambda x: x.clone().uniform_(),
    normal_=lambda x: x.clone().normal_(),
    setitem=lambda x: x.clone().__setitem__(0, 1),
    rms_norm=lambda x: F.rms_norm(x, x.shape[-1:]),
    normalize=lambda x: F.normalize(x, dim=-1),
    cdist=lambda x: torch.cdist(x, x),
    cosine=lambda x: F.cosine_similarity(x, x, dim=-1),
)


NOT_EMPTY = {"native_dropout"}  # eager returns the empty input itself


@pytest.mark.parametrize("name", VIEWS)
@few
@given(x=tensors())
def test_views_and_copies(name: str, x: torch.Tensor) -> None:
    assume(x.numel() or name not in NOT_EMPTY)
    compare(VIEWS[name], x)


FACTORIES: dict[str, Any] = dict(
    zeros=lambda: torch.zeros(2, 3),
    ones=lambda: torch.ones(2, dtype=torch.int32),
    full=lambda: torch.full((2,), 3),
    full_bool=lambda: torch.full((2,), True),
    full_float=lambda: torch.full((), 1.5),
    arange=lambda: torch.arange(5),
    arange_float=lambda: torch.arange(0, 2, 0.3),
    arange_down=lambda: torch.arange(5, 0, -2),
    arange_big=lambda: torch.arange(0.0, 1e6, 0.1),
    arange_mixed=lambda: torch.arange(1, 4.5),
    arange_dtype=lambda: torch.arange(5, dtype=torch.float64),
    linspace=lambda: torch.linspace(0, 1, 5),
    eye=lambda: torch.eye(3),
    rand=lambda: torch.rand(2, 3),
    randn=lambda: torch.randn(2, 3, dtype=torch.float64),
    randint=lambda: torch.randint(0, 5, (2,)),
    randperm=lambda: torch.randperm(5),
    tensor=lambda: torch.tensor(3.0),
    tensor_list=lambda: torch.tensor([[1, 2], [3, 4]]),
    empty=lambda: torch.empty(2, 3),
    empty_strided=lambda: torch.empty_strided((2, 3), (1, 2)),
    channels_last=lambda: torch.empty(2, 3, 4, 5, memory_format=torch.channels_last),
    scalar=lambda: torch.scalar_tensor(2),
    tril_indices=lambda: torch.tril_indices(3, 3),
    hann=lambda: torch.hann_window(8),
    complex=lambda: torch.complex(torch.ones(2), torch.ones(2)).abs(),
)


@pytest.mark.parametrize("name", FACTORIES)
def test_factories(name: str) -> None:
    compare(FACTORIES[name])


def r(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.rand(size).to(dtype)


def i(*size: int, high: int = 2) -> torch.Tensor:
    return torch.randint(0, high, size)


cl = torch.channels_last
Q = r(2, 4, 8, 16)
bf = torch.bfloat16
CHANNELS = r(2, 3, 4, 4).to(memory_format=cl)
CALLS: dict[str, Any] = dict(
    mm=(torch.mm, r(2, 3), r(3, 4)),
    mm_t=(lambda a, b: a.t() @ b.t(), r(3, 2), r(4, 3)),
    mv=(torch.mv, r(2, 3), r(3)),
    dot=(torch.dot, r(3), r(3)),
    bmm=(torch.bmm, r(2, 3, 4), r(2, 4, 5)),
    matmul=(torch.matmul, r(2, 3, 4), r(4, 5)),
    matmul_bad=(torch.matmul, r(2, 3), r(2, 3)),
    addmm=(torch.addmm, r(4), r(2, 3), r(3, 4)),
    baddbmm=(torch.baddbmm, r(2, 3, 5), r(2, 3, 4), r(2, 4, 5)),
    addmm_bf16=(torch.addmm, r(4, dtype=bf), r(2, 3, dtype=bf), r(3, 4, dtype=bf)),
    linear=(F.linear, r(2, 3, 4), r(5, 4), r(5)),
    einsum=(lambda a, b: torch.einsum("bij,bjk->ki", a, b), r(2, 3, 4), r(2, 4, 5)),
    outer=(torch.outer, r(3), r(4)),
    embedding=(F.embedding, i(2, 3), r(5, 4)),
    embedding_grad=(torch.ops.aten.embedding_dense_backward, r(2, 3, 4), i(2, 3), 5, -1, False),
    index=(lambda x, i: x[i], r(4, 3), i(2)),
    index2=(lambda x, i: x[:, i], r(4, 3, 5), i(2, 2)),
    index3=(lambda x, i: x[i, :, i], r(4, 3, 5), i(2)),
    index_pair=(lambda x, i: x[i, i], r(4, 3, 5), i(2)),
    index_t=(lambda x, i: x.t()[i], r(4, 3), i(2)),
    index_perm=(lambda x, i: x.permute(2, 0, 1)[:, i], r(4, 3, 5), i(2)),
    index_select=(lambda x, i: x.index_select(1, i), r(4, 3), i(2)),
    index_put=(lambda x, i: x.index_put((i,), torch.tensor(1.0)), r(4, 3), i(2)),
    index_put_=(lambda x, i: x.index_put_((i,), x[i]), r(4, 3), i(2)),
    index_put_mask=(lambda x: x.index_put((x > 0,), torch.tensor(1.0)), r(4, 3)),
    index_add=(lambda x, i: x.index_add(0, i, x[i]), r(4, 3), i(2)),
    index_copy=(lambda x, i: x.index_copy(0, i, x[i]), r(4, 3), i(2)),
    index_fill=(lambda x, i: x.index_fill(0, i, 2), r(4, 3), i(2)),
    gather=(lambda x, i: x.gather(1, i), r(4, 3), i(4, 2)),
    scatter=(lambda x, i: x.scatter(1, i, 1.0), r(4, 3), i(4, 2)),
    scatter_add=(lambda x, i: x.scatter_add(1, i, x), r(4, 3), i(4, 2)),
    scatter_reduce=(lambda x, i: x.scatter_reduce(1, i, x, "amax"), r(4, 3), i(4, 2)),
    take=(torch.take, r(4, 3), i(2, 2)),
    take_along=(lambda x, i: x.take_along_dim(i, 1), r(4, 3), i(4, 2)),
    bucketize=(torch.bucketize, r(3), r(5)),
    layer_norm=(lambda x, w, b: F.layer_norm(x, (4,), w, b), r(2, 3, 4), r(4), r(4)),
    layer_norm2=(lambda x: F.layer_norm(x.transpose(0, 1), (3, 4)), r(3, 2, 4)),
    layer_norm_bf16=(
        lambda x: torch.native_layer_norm(x, (4,), None, None, 1e-5),
        r(3, 4, dtype=bf),
    ),
    layer_norm_mixed=(
        lambda x, w: torch.native_layer_norm(x, (4,), w, w, 1e-5),
        r(3, 4, dtype=bf),
        r(4),
    ),
    layer_norm_f64=(lambda x: torch.native_layer_norm(x, (4,), None, None, 1e-5), r(3, 4).double()),
    group_norm=(lambda x, w: F.group_norm(x, 2, w, w), r(2, 4, 3), r(4)),
    group_norm_cl=(
        lambda x, w: torch.native_group_norm(x, w, w, 2, 4, 9, 2, 1e-5),
        r(2, 4, 3, 3).to(memory_format=cl),
        r(4),
    ),
    group_norm_bf16=(
        lambda x: torch.native_group_norm(x, None, None, 2, 4, 9, 2, 1e-5),
        r(2, 4, 3, 3, dtype=bf),
    ),
    group_norm_mixed=(
        lambda x, w: torch.native_group_norm(x, w, w, 2, 4, 9, 2, 1e-5),
        r(2, 4, 3, 3, dtype=bf),
        r(4),
    ),
    batch_norm=(lambda x, w, m, v: F.batch_norm(x, m, v, w, w, True), r(2, 4, 3), r(4), r(4), r(4)),
    batch_norm_eval=(lambda x, w, m, v: F.batch_norm(x, m, v, w, w), r(2, 4, 3), r(4), r(4), r(4)),
    batch_norm_cl=(
        lambda x, w, m, v: F.batch_norm(x, m, v, w, w, True),
        r(2, 4, 3, 3).to(memory_format=cl),
        r(4),
        r(4),
        r(4),
    ),
    batch_norm_raw=(
        lambda x, w, m, v: torch.native_batch_norm(x, w, w, m, v, True, 0.1, 1e-5),
        r(2, 4, 3, 3),
        r(4),
        r(4),
        r(4),
    ),
    batch_norm_raw_eval=(
        lambda x, w, m, v: torch.native_batch_norm(x, w, w, m, v, False, 0.1, 1e-5),
        r(2, 4, 3, 3),
        r(4),
        r(4),
        r(4),
    ),
    batch_norm_raw_bf16=(
        lambda x, w, m, v: torch.native_batch_norm(x, w, w, m, v, True, 0.1, 1e-5),
        r(2, 4, 3, 3, dtype=bf),
        r(4),
        r(4),
        r(4),
    ),
    batch_norm_raw_t=(
        lambda x, w, m, v: torch.native_batch_norm(x.transpose(2, 3), w, w, m, v, True, 0.1, 1e-5),
        r(2, 4, 3, 3),
        r(4),
        r(4),
        r(4),
    ),
    instance_norm=(lambda x: F.instance_norm(x), r(2, 4, 3, 3)),
    conv1d=(F.conv1d, r(2, 3, 8), r(4, 3, 3), r(4)),
    conv1d_t=(lambda x, w: F.conv1d(x.transpose(1, 2), w), r(2, 8, 3), r(4, 3, 3)),
    conv2d=(F.conv2d, r(2, 3, 8, 8), r(4, 3, 3, 3), r(4)),
    conv2d_options=(lambda x, w: F.conv2d(x, w, None, 2, 1, 1, 3), r(2, 3, 8, 8), r(6, 1, 3, 3)),
    conv2d_same=(
        lambda x, w: F.conv2d(x, w, padding="same", dilation=2),
        r(2, 3, 8, 8),
        r(4, 3, 3, 3),
    ),
    conv2d_unbatched=(F.conv2d, r(3, 8, 8), r(4, 3, 3, 3)),
    conv2d_cl=(F.conv2d, r(2, 3, 8, 8).to(memory_format=cl), r(4, 3, 3, 3)),
    conv2d_wcl=(F.conv2d, r(2, 3, 8, 8), r(4, 3, 3, 3).to(memory_format=cl)),
    conv2d_big=(F.conv2d, r(2, 16, 32, 32), r(32, 16, 3, 3), r(32)),
    conv2d_bf16=(F.conv2d, r(2, 3, 8, 8, dtype=bf), r(4, 3, 3, 3, dtype=bf)),
    conv2d_f64=(F.conv2d, r(2, 3, 8, 8).double(), r(4, 3, 3, 3).double()),
    conv2d_f64_cl=(F.conv2d, r(2, 3, 8, 8).double().to(memory_format=cl), r(4, 3, 3, 3).double()),
    conv2d_empty=(F.conv2d, r(0, 3, 8, 8), r(4, 3, 3, 3)),
    conv2d_bad=(F.conv2d, r(2, 3, 8, 8), r(4, 2, 3, 3)),
    conv3d=(F.conv3d, r(2, 3, 4, 8, 8), r(4, 3, 3, 3, 3)),
    conv_transpose2d=(
        lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1),
        r(2, 3, 8, 8),
        r(3, 4, 3, 3),
    ),
    conv_transpose1d=(F.conv_transpose1d, r(2, 3, 8), r(3, 4, 3)),
    conv_transpose_groups=(
        lambda x, w: F.conv_transpose2d(x, w, None, groups=2),
        r(2, 4, 8, 8),
        r(4, 3, 3, 3),
    ),
    max_pool2d=(lambda x: F.max_pool2d(x, 2, return_indices=True), r(2, 3, 8, 8)),
    max_pool2d_cl=(lambda x: F.max_pool2d(x, 2), r(2, 3, 8, 8).to(memory_format=cl)),
    max_pool1d=(lambda x: F.max_pool1d(x, 2), r(2, 3, 8)),
    max_pool3d=(lambda x: F.max_pool3d(x, 2), r(2, 3, 8, 8, 8)),
    avg_pool2d=(lambda x: F.avg_pool2d(x, 3, 2, 1), r(2, 3, 8, 8)),
    avg_pool1d=(lambda x: F.avg_pool1d(x, 3, 2, 1), r(2, 3, 8)),
    adaptive=(lambda x: F.adaptive_avg_pool2d(x, 3), r(2, 3, 8, 8)),
    adaptive_cl=(lambda x: F.adaptive_avg_pool2d(x, 3), r(2, 3, 8, 8).to(memory_format=cl)),
    adaptive1=(lambda x: F.adaptive_avg_pool2d(x, 1), r(2, 3, 8, 8)),
    adaptive1d=(lambda x: F.adaptive_avg_pool1d(x, 3), r(2, 3, 8)),
    adaptive_max=(lambda x: F.adaptive_max_pool2d(x, 3), r(2, 3, 8, 8)),
    nearest=(lambda x: F.interpolate(x, scale_factor=2), r(2, 3, 4, 4)),
    nearest_cl=(lambda x: F.interpolate(x, scale_factor=2), r(2, 3, 4, 4).to(memory_format=cl)),
    bilinear=(lambda x: F.interpolate(x, size=(7, 5), mode="bilinear"), r(2, 3, 4, 4)),
    pixel_shuffle=(lambda x: F.pixel_shuffle(x, 2), r(2, 4, 3, 3)),
    unfold=(lambda x: F.unfold(x, 3), r(2, 3, 8, 8)),
    grid_sample=(
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        r(2, 3, 4, 4),
        r(2, 5, 5, 2),
    ),
    pad_reflect=(lambda x: F.pad(x, (1, 1, 1, 1), "reflect"), r(2, 3, 4, 4)),
    pad_replicate=(lambda x: F.pad(x, (1, 1), "replicate"), r(2, 3, 4)),
    cross_entropy=(F.cross_entropy, r(3, 4), i(3)),
    cross_entropy_soft=(F.cross_entropy, r(3, 4), r(3, 4)),
    cross_entropy_2d=(F.cross_entropy, r(3, 4, 5), i(3, 5)),
    cross_entropy_smooth=(lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), r(3, 4), i(3)),
    nll_none=(lambda x, y: F.nll_loss(x, y, reduction="none"), r(3, 4), i(3)),
    mse=(F.mse_loss, r(3, 4), r(3, 4)),
    mse_none=(lambda x, y: F.mse_loss(x, y, reduction="none"), r(3, 4), r(3, 4)),
    l1=(F.l1_loss, r(3, 4), r(3, 4)),
    smooth_l1=(F.smooth_l1_loss, r(3, 4), r(3, 4)),
    huber=(F.huber_loss, r(3, 4), r(3, 4)),
    bce=(F.binary_cross_entropy, r(3, 4), r(3, 4)),
    bce_none=(
        lambda x, y: F.binary_cross_entropy(x.t(), y.t(), reduction="none"),
        r(3, 4),
        r(3, 4),
    ),
    bce_logits=(F.binary_cross_entropy_with_logits, r(3, 4), r(3, 4)),
    kl=(lambda x, y: F.kl_div(x, y, reduction="batchmean"), r(3, 4), r(3, 4)),
    log_sigmoid=(F.logsigmoid, r(3, 4)),
    log_sigmoid_t=(F.logsigmoid, r(3, 4).t()),
    frexp=(torch.frexp, r(3, 4).t()),
    rot90=(torch.rot90, r(3, 4)),
    roll_cl=(lambda x: (x.roll(1, 1), x.roll(3, 1), x.roll((1, 2), (0, -1)), x.roll(1)), CHANNELS),
    logcumsumexp=(lambda x: x.t().logcumsumexp(0), r(3, 4)),
    pool_one_cl=(lambda x: F.adaptive_avg_pool2d(x, 1), CHANNELS),
    unpool_cl=(lambda x, i: F.max_unpool2d(x, i, 2), CHANNELS, i(2, 3, 4, 4).to(memory_format=cl)),
    prelu=(F.prelu, r(3, 4), r(4)),
    sdpa=(F.scaled_dot_product_attention, Q, Q, Q),
    sdpa_causal=(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), Q),
    sdpa_t=(lambda q: F.scaled_dot_product_attention(*[q.transpose(1, 2)] * 3), Q),
    sdpa_mask=(lambda q, m: F.scaled_dot_product_attention(q, q, q, m), Q, r(2, 1, 8, 8)),
    sdpa_dropout=(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.1), Q),
    sdpa_bf16=(F.scaled_dot_product_attention, Q.to(bf), Q.to(bf), Q.to(bf)),
    sdpa_f64=(F.scaled_dot_product_attention, Q.double(), Q.double(), Q.double()),
    fft=(lambda x: torch.fft.rfft(x).abs(), r(3, 8)),
    multinomial=(lambda x: torch.multinomial(x, 2), r(3, 8)),
    searchsorted=(torch.searchsorted, r(5), r(3)),
    cat_cl=(lambda x: torch.cat([x, x], 1), r(2, 3, 4, 4).to(memory_format=cl)),
    cat_mixed=(
        lambda x, y: torch.cat([x, y], 1),
        r(2, 3, 4, 4).to(memory_format=cl),
        r(2, 3, 4, 4),
    ),
    cat_empty=(lambda x, y: torch.cat([x, y]), r(0), r(2, 3)),
    stack_t=(lambda x: torch.stack([x.t(), x.t()]), r(2, 3)),
    out=(lambda x, y: torch.add(x, x, out=y), r(2, 3), r(2, 3)),
    polar=(lambda x: torch.polar(x, x).real, r(3)),
    triangular=(lambda x: torch.linalg.solve_triangular(x, x, upper=True), r(3, 3)),
    cholesky=(lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)), r(3, 3)),
    svd=(lambda x: torch.linalg.svd(x), r(3, 4)),
    inv=(torch.linalg.inv, r(3, 3)),
    logit=(torch.logit, r(3)),
    cumulative=(lambda x: torch.cumulative_trapezoid(x), r(3, 4)),
    renorm=(lambda x: torch.renorm(x, 2, 0, 1.0), r(3, 4)),
    quantile=(lambda x: torch.quantile(x, 0.5, dim=1), r(3, 4)),
    unflatten=(lambda x: x.unflatten(1, (2, 2)), r(3, 4)),
    histc=(lambda x: torch.histc(x, 5), r(3, 4)),
    kthvalue=(lambda x: x.kthvalue(2), r(3, 4)),
    mode=(lambda x: x.mode(), r(3, 4)),
    lstm_cell=(lambda x, w: torch.lstm_cell(x, (x, x), w, w), r(2, 3), r(12, 3)),
    gru_cell=(lambda x, w: torch.gru_cell(x, x, w, w), r(2, 3), r(9, 3)),
    embedding_bag=(lambda i, w: F.embedding_bag(i, w), i(2, 3), r(5, 4)),
    adamw=(
        lambda p, g, s: torch._fused_adamw_(
            [p],
            [g],
            [s],
            [s.clone()],
            [],
            [torch.tensor(1.0)],
            lr=0.1,
            beta1=0.9,
            beta2=0.9,
            weight_decay=0.1,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        ),
        r(3),
        r(3),
        r(3),
    ),
)


BATCH_NORMS = (
    "native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional "
    "_batch_norm_with_update _batch_norm_with_update_functional _batch_norm_no_update"
).split()


@pytest.mark.parametrize("name", BATCH_NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, bf])
@pytest.mark.parametrize("kept", [torch.float32, bf])
def test_statistics_of_batch_norms(name: str, dtype: torch.dtype, kept: torch.dtype) -> None:
    if dtype == torch.float32 and kept == bf:
        return
    w, b, mean, var = (r(3).abs().to(kept) for _ in range(4))
    for train in [True, False] if "legit" in name or name.startswith("native") else [None]:
        how = [] if train is None else [train]
        op = getattr(torch.ops.aten, name)
        compare(
            lambda x, *given: op(x, *given, *how, 0.1, 1e-5), r(2, 3, 4).to(dtype), w, b, mean, var
        )


@pytest.mark.parametrize("f", [lambda x: x.roll(1, -1), lambda x: torch.flip(x, [1])])
def test_dimensions_out_of_range(f: Any) -> None:
    with pytest.raises(IndexError), FakeMode() as mode:
        f(mode.fake(torch.ones(())))


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare(*CALLS[name])


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_gradient(name: str) -> None:
    f, *args = CALLS[name]
    with_gradient(name, f, args)


def with_gradient(name: str, f: Any, args: list[Any]) -> None:
    """The same under autograd: forward with requires_grad, then the gradients."""
    args = [t.clone() if isinstance(t, torch.Tensor) else t for t in args]
    floats = [k for k, t in enumerate(args) if torch.is_tensor(t) and t.is_floating_point()]
    if name.endswith("_") or name in ("out", "adamw") or not floats:
        pytest.skip("in place on a leaf, or nothing to differentiate")

    def run(*args: Any) -> Any:
        args = [
            t.detach().requires_grad_(k in floats) if torch.is_tensor(t) else t
            for k, t in enumerate(args)
        ]
        outs = [o for o in tree_leaves(f(*args)) if torch.is_tensor(o) and o.requires_grad]
        leaves = [args[k] for k in floats]
        sums = [o.sum() for o in outs]
        grads = torch.autograd.grad(sums, leaves, allow_unused=True) if outs else []
        return [o.detach() for o in outs], [g for g in grads if g is not None]

    compare(run, *args)


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like", "full_like"])
def test_what_is_empty_keeps_its_strides(name: str) -> None:
    for stride in (0, 1, 2):
        x = torch.ones(5).as_strided((0,), (stride,))
        compare(getattr(torch, name), x, *[2.0] * (name == "full_like"))

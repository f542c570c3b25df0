"""Tensor guards in the extension: each row notices what it must, and nothing else."""

import pytest
import torch

from minicompiler.runtime import extension


@pytest.fixture
def guard():
    return extension.module().TensorGuard


def row(t, size=None, device=None):
    size = tuple(t.shape) if size is None else size
    keys = torch._C._dispatch_keys(t).raw_repr()
    return (type(t), t.dtype, device, size, t.stride(), t.requires_grad, keys)


BASE = torch.zeros(4, 6)
SAME = [
    torch.ones(4, 6),
    torch.ones(8, 6)[2:6],
    torch.ones(4, 6).add_(1),
]
OTHERS = {
    "dtype": torch.zeros(4, 6, dtype=torch.float64),
    "size": torch.zeros(4, 7),
    "rank": torch.zeros(4, 6, 1),
    "stride": torch.zeros(6, 4).t(),
    "requires_grad": torch.zeros(4, 6, requires_grad=True),
    "device": torch.zeros(4, 6, device="meta"),
    "class": torch.nn.Parameter(torch.zeros(4, 6), requires_grad=False),
    "sparse": torch.zeros(4, 6).to_sparse(),
    "negative bit": torch._neg_view(torch.zeros(4, 6)),
    "no tensor": 3.5,
    "none": None,
}


@pytest.mark.parametrize("same", SAME, ids=str)
def test_holds(guard, same):
    assert guard([row(BASE)])(same) is True


@pytest.mark.parametrize("what", OTHERS)
def test_notices(guard, what):
    assert guard([row(BASE)])(OTHERS[what]) is False


def test_inference_tensors_differ(guard):
    with torch.inference_mode():
        inference = torch.zeros(4, 6)
    assert guard([row(BASE)])(inference) is False


def test_device_index(guard):
    meta = torch.zeros(2, device="meta")
    index = meta.device.index
    assert guard([row(meta, device=index)])(meta)
    assert not guard([row(meta, device=3)])(meta)


def test_without_strides(guard):
    sparse = torch.eye(3).to_sparse()
    keys = torch._C._dispatch_keys(sparse).raw_repr()
    check = guard([(torch.Tensor, sparse.dtype, None, (3, 3), None, False, keys)])
    assert check(sparse) and not check(torch.eye(3))


def test_several(guard):
    tensors = [torch.zeros(n, n) for n in range(1, 5)]
    check = guard([row(t) for t in tensors])
    assert check(*tensors) and check(tuple(tensors))
    assert not check(*reversed(tensors)) and not check(*tensors[:3]) and not check()


def test_malformed_rows_are_refused(guard):
    for rows in ([()], [(1,) * 7], [row(BASE)[:6]], [row(BASE, size=("a", 1))]):
        with pytest.raises((TypeError, RuntimeError)):
            guard(rows)


def test_subclass_of_tensor_is_another_class(guard):
    class Sub(torch.Tensor):
        pass

    sub = torch.zeros(4, 6).as_subclass(Sub)
    assert not guard([row(BASE)])(sub)

"""Backwards for the tangents that arrive: some are undefined, others lie differently in memory."""

import itertools

import pytest
import torch

from minicompiler import lowering
from minicompiler.aot import backward_for
from minicompiler.decompositions import decompose
from minicompiler.errors import Unsupported
from tests.aot.check import compiled

torch.set_num_threads(1)


def several(x, y, w):
    h = torch.tanh(x @ w)
    a, b = h.chunk(2, 1)
    return a.exp() * y, (b * y).log(), torch.nn.functional.layer_norm(h, (4,)).sum(1), x * 2


def test_every_subset_of_results():
    torch.manual_seed(0)
    args = [torch.randn(3, 4), torch.rand(3, 2), torch.randn(4, 4)]
    args = [x.requires_grad_() for x in args]
    for rewrite in (None, lambda g: decompose(g, lowering.KNOWN)):
        run = compiled(several, args, rewrite)
        results = run.parts.forward(*args)
        saved = [s.take(args, results) for s in run.parts.signature.saved]
        outs = several(*args)
        tangents = [torch.randn_like(o) for o in outs]
        for missing in itertools.chain(*(itertools.combinations(range(4), n) for n in range(4))):
            layouts = tuple(None if i in missing else t.stride() for i, t in enumerate(tangents))
            backward = backward_for(run.parts, layouts)
            given = [None if i in missing else t for i, t in enumerate(tangents)]
            mine = backward(*saved, *given)
            kept = [i for i in range(4) if i not in missing]
            eager = torch.autograd.grad(
                [outs[i] for i in kept],
                args,
                [tangents[i] for i in kept],
                allow_unused=True,
                retain_graph=True,
            )
            for a, b in zip(eager, mine):
                assert (a is None) == (b is None), missing
                if a is not None:
                    torch.testing.assert_close(b, a, equal_nan=True, rtol=1e-5, atol=1e-6)


def test_the_binding_asks_for_it():
    x = torch.zeros(3, requires_grad=True)
    run = compiled(lambda x: (x * 2, x.log()), [x])
    run.call(x)[0].sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))


def test_no_nan_from_what_is_not_computed():
    x = torch.zeros(3, requires_grad=True)
    run = compiled(lambda x: (x * 2, x.log()), [x])
    backward = backward_for(run.parts, ((1,), None))
    (gradient,) = backward(
        *[s.take([x], []) for s in run.parts.signature.saved], torch.ones(3), None
    )
    assert torch.equal(gradient, torch.full((3,), 2.0))


class Looks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.as_strided((2, 3), (3, 1)) * 2


def test_places_in_a_tangent_are_those_of_the_strides_that_were_traced():
    run = compiled(Looks.apply, [torch.ones(2, 3, requires_grad=True)])
    assert backward_for(run.parts, ((3, 1),)) is not None
    with pytest.raises(Unsupported, match="memory of a tangent"):
        backward_for(run.parts, ((1, 2),))

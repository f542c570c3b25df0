"""loss.backward() and the optimizer inside the graph: one forward graph that writes its inputs."""

import torch
import torch.nn.functional as F

from minicompiler import lowering
from minicompiler.decompositions import decompose
from tests.aot.check import run_both

torch.set_num_threads(1)


def momentum_step(x, y, w, b, velocity):
    loss = F.mse_loss(torch.tanh(F.dropout(x, 0.0) @ w + b), y)
    loss.backward()
    with torch.no_grad():
        velocity.mul_(0.9).add_(w.grad)
        w.sub_(velocity, alpha=0.1)
        b.add_(b.grad, alpha=-0.1)
    gradients = w.grad, b.grad
    w.grad = b.grad = None
    return loss.detach(), *gradients


def adamw_step(x, y, w, exp_avg, exp_avg_sq):
    (F.linear(x, w) - y).square().mean().backward()
    with torch.no_grad():
        torch._foreach_mul_([w], 1 - 1e-3)
        torch._foreach_lerp_([exp_avg], [w.grad], 0.1)
        torch._foreach_mul_([exp_avg_sq], 0.999)
        torch._foreach_addcmul_([exp_avg_sq], [w.grad], [w.grad], 0.001)
        denominators = torch._foreach_sqrt([exp_avg_sq])
        torch._foreach_add_(denominators, 1e-8)
        torch._foreach_addcdiv_([w], [exp_avg], denominators, -1e-2)
    w.grad = None
    return ()


def inputs(*shapes):
    torch.manual_seed(0)
    return [torch.randn(s[1:]).requires_grad_() if s[0] else torch.randn(s[1:]) for s in shapes]


def test_momentum():
    data = inputs((0, 5, 4), (0, 5, 3), (1, 4, 3), (1, 3), (0, 4, 3))
    run = run_both(momentum_step, data)
    assert run.parts.backward is None
    run_both(momentum_step, data, exact=False, rewrite=lambda g: decompose(g, lowering.KNOWN))


def test_adamw():
    data = inputs((0, 5, 4), (0, 5, 3), (1, 3, 4), (0, 3, 4), (0, 3, 4))
    data[4].abs_()
    run_both(adamw_step, data)
    run = run_both(adamw_step, data, exact=False, rewrite=lambda g: decompose(g, lowering.KNOWN))
    names = {str(n.target) for n in run.parts.forward.graph.nodes}
    assert not any("foreach" in name for name in names), names

"""Rules that torch brings along: where its formulas give eager's values in loops as good as ours.

torch has many more; named here are those that are tested against eager, and which leave nothing
behind that the next stage does not know.
"""

import contextlib
import inspect
from functools import partial
from typing import Any

from torch._decomp import decomposition_table

from .table import RULES, Rule, in_float32, operators

NAMES = """
    sigmoid_backward tanh_backward silu_backward mish_backward threshold threshold_backward
    elu_backward softplus softplus_backward log_sigmoid_forward log_sigmoid_backward glu_backward
    _prelu_kernel _prelu_kernel_backward leaky_relu leaky_relu_backward hardshrink hardswish
    hardswish_backward hardtanh hardtanh_backward hardsigmoid hardsigmoid_backward
    binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits
    logaddexp logsumexp std.correction std_mean.correction norm.Scalar norm.ScalarOpt_dim celu mish
    elu glu gelu_backward _safe_softmax _log_softmax_backward_data
"""
OF_ANYTHING = """
    frac nansum count_nonzero count_nonzero.dim_IntList roll take select_backward slice_backward
    heaviside isposinf isneginf deg2rad rad2deg
"""


def where_it_runs(formula: Rule, numbers: bool, *args: Any, **kwargs: Any) -> Any:
    """Formulas of real numbers are not exact for integers: the operator converts first, or not."""
    if numbers and not args[0].is_floating_point():
        return NotImplemented
    with contextlib.suppress(RuntimeError):
        return formula(*args, **kwargs)
    return NotImplemented


for _op in operators(NAMES + OF_ANYTHING):
    # the bare formula: what torch wraps around it looks for symbols, and imports sympy for that
    _formula, _numbers = inspect.unwrap(decomposition_table[_op]), _op in operators(NAMES)
    RULES[_op] = in_float32(partial(where_it_runs, _formula, _numbers))

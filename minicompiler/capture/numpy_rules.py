"""What models do with numpy besides tensors: arithmetic on sizes, tables of constants.

Numbers are literals. Arrays that evaluation makes of literals are literals too, which no program
changes and which do not leave the graph; a tensor that is made of one is a copy.
"""

# ruff: noqa: I001  (imports fill their lines)

from typing import Any

import torch

from . import data_model as model
from .calls import PURE, rule
from .facts import ARRAY, NUMBERS, numpy
from .values import E, Const, Value, refuse

NAMES = """float16 float32 float64 int8 uint8 int32 int64 bool_ sqrt exp log log2 log10 power sin
cos tanh ceil floor absolute maximum minimum add subtract multiply divide floor_divide remainder
isnan isinf prod sum mean array asarray arange zeros ones full linspace concatenate stack round"""
PURE |= {getattr(numpy, name) for name in NAMES.split()} if numpy else set()


@rule(torch.tensor, torch.as_tensor, torch.asarray, torch.from_numpy, told=True)
def _made_of_data(maker: Any, ev: E, data: Value, *rest: Value, **named: Value) -> Value:
    """A number or an array of numpy has its own dtype; anything else is torch's to read."""
    known: Any = data.value if isinstance(data, Const) else None
    if isinstance(known, (ARRAY, *NUMBERS)) and getattr(known, "dtype", 0) != "uint64":
        known = torch.from_numpy(numpy.array(known))
        data = ev.graph.call(ev, torch.clone, [ev.wrap_fresh(known)])
        return ev.graph.call(ev, torch.as_tensor, [data, *rest], named)
    parts = model.read(ev, data)
    if maker is torch.from_numpy or any(isinstance(part.real, NUMBERS) for part in parts):
        refuse("makes a tensor of what numpy holds elsewhere")
    return ev.graph.call(ev, maker, [data, *rest], named)

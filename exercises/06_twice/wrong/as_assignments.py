# teaches: does not run again
from typing import Any

from minicompiler.capture.attributes import is_data_descriptor
from minicompiler.capture.emit import Text, rebuild
from minicompiler.capture.frame_hook import own_dict, type_lookup
from minicompiler.capture.source import builtin_of
from minicompiler.capture.values import Dict


def replay_dict(t: Text, of: Dict) -> None:
    owner = of.owner()
    name, kind = t.value(owner or of), t.const(builtin_of(of.cls))
    if of.changed:
        space = f"{t.const(own_dict)}({name})" if owner else name
        pairs = ", ".join(f"{k}: {x}" for k, x in t.pairs(of))
        t.after.append(f"{t.const(rebuild)}({kind}, {space}, {{{pairs}}})")
        return
    keys: list[Any] = [of.items[k][0].real for k in of.stored]
    if owner and any(
        type(k) is not str or is_data_descriptor(type_lookup(owner.cls, k)) for k in keys
    ):
        name, owner = f"{t.const(own_dict)}({name})", None  # a descriptor would take it
    for key, value in [map(t.value, of.items[k]) for k in of.stored]:
        if owner:
            t.after.append(f"{name}.{key[1:-1]} = {value}")
        else:
            t.after.append(f"{kind}.__setitem__({name}, {key}, {value})")

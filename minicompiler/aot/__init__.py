"""A captured graph of torch calls to functional ATen graphs of forward and backward.

In:         an fx.GraphModule of torch calls, and this call's example inputs.
Out:        `joint_graph` gives a Joint: one ATen graph of both passes and its Signature;
            `partition` cuts it in two, a forward and a backward GraphModule;
            `backward_for` is the backward for the tangents that arrive.
Invariant:  no node writes to memory, but for copies into inputs at the very end of the forward;
            what eager promises beyond values (aliases, mutation, autograd) is in the Signature.
"""

from ..ir.signature import Layouts
from .joint import Joint, joint_graph
from .mincut import Partitioned, partition
from .tangents import backward_for

__all__ = ["Joint", "Layouts", "Partitioned", "backward_for", "joint_graph", "partition"]

"""All ways against all limits: what each makes of calls that differ in values, size and globals."""

from jaxlike import jit
from lazy import lazy
from limits import table
from script import Script
from symbolic import symbolic_trace
from tracer import trace

import minicompiler

if __name__ == "__main__":
    table(
        {
            "trace": trace,
            "script": lambda f, x: Script(f),
            "lazy": lambda f, x: lazy(f),
            "symbolic": lambda f, x: symbolic_trace(f),
            "jaxlike": lambda f, x: jit(f),
            "bytecode": lambda f, x: minicompiler.compile(f, backend="eager"),
        }
    )

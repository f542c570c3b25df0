"""Every switch of the compiler, one line each.

`config` is the one instance. A switch is overridden by the environment variable
`MINICOMPILER_<NAME>` (upper case), read once at import, or by assignment, or for one compilation by
`compile(..., options={name: value})`.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import UserError

STAGES = ("capture", "aot", "lower", "schedule", "codegen")


@dataclass
class Config:
    """Switches and limits. Counts are counts, sizes are bytes unless the name says otherwise."""

    # capture
    recompile_limit: int = 8  # artefacts per code object before the frame runs eagerly
    keep_empty_graphs: bool = False  # rewrite frames even where no operator was captured
    inline_depth: int = 64  # nested Python calls followed before the graph breaks
    # aot
    fallback_random: bool = False  # eager's random numbers bit for bit, at eager's speed
    memory_budget: float = 1.0  # share of the activations that the backward may keep, 0 to 1
    # lower, schedule
    stop_after: str | None = None  # run the real code part of the way: one of STAGES
    fusion: bool = True  # False: one kernel a loop, for ablations
    templates: bool = False  # our own matrix products on GPUs, with what follows them fused in
    inline_pointwise: bool = True  # False: every operator gets a buffer of its own
    verify: bool = False  # check every intermediate form against its invariants
    # codegen, runtime
    openmp: bool = True
    fp_contract: bool = False  # let the C++ compiler contract a*b+c
    cxx: str = ""  # the C++ compiler; empty: $CXX, then c++, g++, clang++
    cache_dir: str = str(Path.home() / ".cache" / "minicompiler")
    extension_dir: str = cache_dir  # of the run-time extension, which serves every program
    disk_cache: bool = True
    compile_threads: int = 0  # parallel C++ compilers; 0: one a core
    python_runtime: bool = False  # True: never use the run-time extension

    def override(self, options: dict[str, Any]) -> "Config":
        """A copy with `options` applied; raises UserError for a name that does not exist."""
        if not isinstance(options, dict):
            raise UserError(f"options is a dict of switches, not {options!r}")
        known = {f.name: type(f.default) for f in fields(self)}
        for name, value in options.items():
            if name not in known:
                raise UserError(f"unknown option {name!r}; there are {', '.join(sorted(known))}")
            kind = known[name]
            fits = isinstance(value, int | float if kind is float else kind)
            if kind is not type(None) and (not fits or isinstance(value, bool) != (kind is bool)):
                raise UserError(f"the option {name} is of type {kind.__name__}, not {value!r}")
        if not 0 <= options.get("memory_budget", 0) <= 1:
            raise UserError("memory_budget is a share, from 0 to 1")
        if options.get("stop_after") not in (None, *STAGES):
            raise UserError(f"stop_after is None or one of {', '.join(STAGES)}")
        return replace(self, **options)


TRUTH = {"1": True, "true": True, "0": False, "false": False}


def _from_environment() -> Config:
    given: dict[str, Any] = {}
    for f in fields(Config):
        kind, variable = type(f.default), f"MINICOMPILER_{f.name.upper()}"
        reads: Any = {bool: lambda text: TRUTH[text.lower()], type(None): str}.get(kind, kind)
        if (text := os.environ.get(variable)) is not None:
            try:
                given[f.name] = reads(text)
            except (KeyError, ValueError):
                raise UserError(f"{variable}={text!r} is no {kind.__name__}") from None
    return Config().override(given)


config = _from_environment()


@contextlib.contextmanager
def overriding(options: dict[str, Any]) -> Iterator[None]:
    """Within the block every stage sees `options` in `config`."""
    before = vars(config).copy()
    vars(config).update(vars(config.override(options)))
    try:
        yield
    finally:
        vars(config).update(before)

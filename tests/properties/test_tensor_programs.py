"""Random tensor programs agree with eager, and where one does not, the first stage is named."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

import minicompiler
from tests.differential import differences, run
from tests.properties.tensor_programs import Program, tensor_programs

SLOW = dict(deadline=None, suppress_health_check=list(HealthCheck))
STAGES = ("capture", "aot", "lower", "codegen", None)


def first_stage_that_differs(program: Any, check: Callable[..., list[str]]) -> str:
    """Run the real code part of the way, further and further."""
    for stage in STAGES:
        if found := check(program, {"stop_after": stage, "verify": True}):
            return f"after {stage or 'the run time'}:\n" + "\n".join(found)
    return "none, when compiled again"


def check(program: Program, options: dict[str, object]) -> list[str]:
    minicompiler.reset()
    compiled = minicompiler.compile(program.function(), options=options)
    eager = run(program.function(), program.inputs())
    try:
        return list(map(str, differences(eager, run(compiled, program.inputs()))))
    except minicompiler.CompilerError as error:
        return [f"{type(error).__name__}: {error}"]


def agrees(program: Program) -> None:
    found = check(program, {"verify": True})
    if found:
        note(repr(program))
        note(str(minicompiler.bisect(program.function(), *program.inputs())))
    assert not found, found


@settings(max_examples=40, **SLOW)
@given(tensor_programs())
def test_programs(program: Program) -> None:
    agrees(program)


@pytest.mark.slow
@settings(max_examples=1000, **SLOW)
@given(tensor_programs(statements=14))
def test_long_programs(program: Program) -> None:
    agrees(program)

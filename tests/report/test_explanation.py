"""Every stage of one call as text, from Python and from the shell."""

from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import minicompiler
from minicompiler.report.explanation import ORDER
from minicompiler.tools.cli import app

SOURCE = """
import torch

def f(x):
    y = torch.softmax(x, -1)
    if y.sum() > 100:
        return y
    return (y * y).sum()

example_inputs = torch.randn(3, 5, requires_grad=True),
"""


def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x, -1)
    if y.sum() > 100:
        return y
    return (y * y).sum()


def test_every_stage_has_something_to_say() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    told = minicompiler.explain(f, x)
    assert x.grad is None
    silent = [name for name in ORDER if not getattr(told, name)]
    assert silent in ([], ["fusion"])  # fusion speaks of what was refused
    assert "branches on the value of a tensor" in told.breaks
    assert "backward" in told.partition and "float32[3, 5]" in told.loops
    assert 'extern "C"' in told.kernels and "def call(args)" in told.wrapper
    with pytest.raises(AttributeError, match="the stages are"):
        told.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("{file}:f", ""),
        ("{file}:g", "no function 'g'"),
        ("none.py:f", "no file"),
        ("x", "say FILE"),
    ],
)
def test_from_the_shell(tmp_path: Path, target: str, message: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    done = CliRunner().invoke(app, ["explain", target.format(file=file)])
    assert done.exit_code == (2 if message else 0), done.output
    assert message in done.output
    if not message:
        assert "-------- joint --------" in done.output


@pytest.mark.parametrize("command", ["explain", "bisect"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--args", "1, 2"], "f does not take 2 arguments (too many positional arguments)"),
        (["--args", "'x'"], "f raised TypeError"),
    ],
)
def test_arguments_that_do_not_fit(
    tmp_path: Path, command: str, arguments: list[str], message: str
) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    done = CliRunner().invoke(app, [command, f"{file}:f", *arguments])
    assert done.exit_code == 2 and message in done.output, done.output
    assert len(done.output.splitlines()) == 1
    if "raised" in message:
        assert done.output.endswith(f"({file}:5)\n")


def test_what_is_compiled_already_is_explained_as_the_original() -> None:
    x = torch.randn(3, 5)
    assert "float32[3, 5]" in minicompiler.explain(minicompiler.compile(f), x).loops
    module = minicompiler.compile(torch.nn.Softmax(-1))
    assert "float32[3, 5]" in minicompiler.explain(module, x).loops
    assert minicompiler.bisect(module, x) is None

"""Triton without a GPU: values under its interpreter, and every kernel compiled for sm_90."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")


def run(what: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.codegen.triton_cases", what]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def test_values_under_the_interpreter() -> None:
    done = run("values", TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_kernel_compiles_for_sm_90_without_spills(tmp_path: os.PathLike[str]) -> None:
    done = run("compile", TRITON_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr

"""What is missing on a machine, or asked for too early, is said once, at the user's line."""

import os
import subprocess
import sys
import warnings

import pytest
import torch

import minicompiler
from minicompiler import errors
from minicompiler.capture import frame_hook


@pytest.fixture(autouse=True)
def nothing_said_yet():
    errors.warn_once.cache_clear()
    minicompiler.reset()


def said(act):
    """The warnings of `act`, each told to be of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(w.filename == __file__ for w in caught), [w.filename for w in caught]
    return [str(w.message) for w in caught]


def f(x):
    return x.relu() + 1


@pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)
def test_no_compiler(tmp_path):
    options = {"cxx": str(tmp_path / "c++"), "python_runtime": True}
    x = torch.randn(3)

    def twice():
        for _ in range(2):
            compiled = minicompiler.compile(f, options=options)
            assert torch.equal(compiled(x), f(x))

    (text,) = said(twice)
    assert "runs as captured: no C++ compiler found" in text
    assert "no C++ compiler found" in minicompiler.stats()["reasons"][0]


@pytest.mark.skipif(bool(frame_hook.unavailable), reason=frame_hook.unavailable)
def test_no_compiler_where_the_backward_alone_has_kernels(tmp_path):
    def two(x, w, v):
        return x @ w, x @ v

    x, w, v = torch.randn(3, 3, 3).unbind()
    grads = []
    for fn in (two, minicompiler.compile(two, options={"cxx": str(tmp_path / "c++")})):
        leaf = x.clone().requires_grad_()
        a, b = fn(leaf, w, v)
        grads += torch.autograd.grad(a.sum() + b.sum(), leaf)
    assert torch.equal(*grads)
    assert any("the backward runs as traced" in r for r in minicompiler.stats()["reasons"])


def test_no_frame_hook(monkeypatch):
    monkeypatch.setattr(frame_hook, "unavailable", "not built")
    (text,) = said(lambda: [minicompiler.compile(f) for _ in range(2)])
    assert "all runs eagerly" in text and "not built" in text
    assert "all runs eagerly" in minicompiler.stats()["reasons"][0]


def test_no_frame_hook_in_a_process():
    program = (
        "import sys; sys.modules['minicompiler.capture._frame_hook'] = None\n"
        "import torch, minicompiler\n"
        "assert minicompiler.compile(lambda x: x + 1)(torch.ones(2)).tolist() == [2, 2]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0 and done.stderr.count("all runs eagerly") == 1, done.stderr


def test_dynamic():
    (text,) = said(lambda: [minicompiler.compile(f, dynamic=True) for _ in range(2)])
    assert "another size is compiled again" in text
    assert not said(lambda: minicompiler.compile(f, dynamic=False))
    with pytest.raises(minicompiler.UserError, match="dynamic is None, True or False, not 'x'"):
        minicompiler.compile(f, dynamic="x")


def test_modes():
    minicompiler.compile(f, mode="default")
    for mode in ("reduce-overhead", "max-autotune", "fast"):
        with pytest.raises(
            minicompiler.UserError, match=rf"mode '{mode}' is not there \(yet\); say"
        ):
            minicompiler.compile(f, mode=mode)


def test_stop_after_lists_names():
    with pytest.raises(minicompiler.UserError, match="one of capture, aot, lower, schedule"):
        minicompiler.compile(f, options={"stop_after": "nowhere"})

"""Builds the one C file; everything else about the package is in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

HOOK = Path("minicompiler/capture/_frame_hook.c")

# optional: where no compiler is, the package installs all the same and interprets, with a warning
setup(
    ext_modules=[
        Extension("minicompiler.capture._frame_hook", [str(HOOK)], optional=True)
        for _ in [HOOK]
        if HOOK.exists()
    ]
)

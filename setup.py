"""Builds the one C file; everything else about the package is in pyproject.toml."""

from setuptools import Extension, setup

# optional: where no compiler is, the package installs all the same and interprets, with a warning
hook = Extension(
    "minicompiler.capture._frame_hook", ["minicompiler/capture/_frame_hook.c"], optional=True
)
setup(ext_modules=[hook])

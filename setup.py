"""Builds the one C file; everything else about the package is in pyproject.toml."""

from setuptools import Extension, setup

FOLDER = "minicompiler/capture"

# optional: where no compiler is, the package installs all the same and runs eagerly, with a warning
hook = Extension(
    "minicompiler.capture._frame_hook",
    [f"{FOLDER}/_frame_hook.c"],
    depends=[f"{FOLDER}/_walk.c"],
    optional=True,
)
setup(ext_modules=[hook])

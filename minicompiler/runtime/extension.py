"""The run-time extension: built once per machine, torch and Python, then loaded from the cache.

It executes flat plans, checks guards and is the node of autograd; everything it does has a Python
twin, which serves where it cannot be built.
"""

import functools
import sys
import sysconfig
import threading
from pathlib import Path
from types import ModuleType

import torch

from ..errors import Unsupported, warn
from ..report import record
from ..settings import config
from . import build, store

NAME = "minicompiler_runtime"
PARTS = ("values", "cuda", "plan", "guard", "node", "module")
FLAGS = "-O2 -fPIC -shared -w -DNDEBUG -fvisibility=hidden -D_GLIBCXX_USE_CXX11_ABI=1".split()
OLD, NEW = "-std=c++17", "-std=c++20"  # the second where torch's headers want it
NOTICE = "minicompiler: building its run-time extension, once on this machine (about 20 s)"
_lock = threading.Lock()


def text() -> str:
    """The parts as one translation unit: reading torch's headers is what takes the time."""
    files = [Path(__file__).parent / "extension" / f"{part}.cpp" for part in PARTS]
    return "".join(f'#line 1 "{file.name}"\n{file.read_text()}' for file in files)


def identity() -> str:
    """What the machine code depends on besides text and compiler."""
    python = f"{sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}"
    return f"torch {torch.__version__} {torch.version.git_version} {torch.__file__} {python}"


def flags(standard: str, compiler: build.Compiler) -> tuple[str, ...]:
    home = Path(torch.__file__).parent
    includes = [home / "include", home / "include/torch/csrc/api/include"]
    includes.append(Path(sysconfig.get_paths()["include"]))
    libraries = [f"-L{home / 'lib'}", "-ltorch_python", "-ltorch_cpu", "-lc10", "-ldl"]
    # where only a static C++ library is installed, two copies of it would meet in one process
    shared = build.run((*compiler.command, "-print-file-name=libstdc++.so.6")).stdout.strip()
    if Path(shared).is_absolute():
        libraries.append(shared)
    if build.MAC:
        libraries += ["-undefined", "dynamic_lookup"]
    return (standard, *FLAGS, *(f"-I{folder}" for folder in includes), *libraries)


def module() -> ModuleType | None:
    """The extension, built where need be; None where it cannot be or is switched off."""
    if config.python_runtime:
        return None
    with _lock, record.current().stage("build"):
        return _module(config.extension_dir, config.disk_cache, config.cxx)


@functools.cache
def _module(extension_dir: str, disk_cache: bool, cxx: str) -> ModuleType | None:
    try:
        return store.imported(NAME, _built())
    except (Unsupported, ImportError) as error:
        warn(f"plans are run in Python: {error}")
        return None


def _built() -> Path:
    compiler = build.compiler()
    code = f"// {identity()}\n{text()}"
    try:
        return build.build("extension", NAME, code, compiler, flags(OLD, compiler), NOTICE)[0]
    except build.BuildFailed:
        return build.build("extension", NAME, code, compiler, flags(NEW, compiler), NOTICE)[0]

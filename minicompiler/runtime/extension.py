"""The run-time extension: built once per machine, torch and Python, then loaded from the cache.

It executes flat plans, checks guards and is the node of autograd; everything it does has a Python
twin, which serves where it cannot be built.
"""

import functools
import importlib.machinery
import importlib.util
import sys
import sysconfig
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from ..errors import Unsupported
from ..settings import config
from . import build, store

if TYPE_CHECKING:
    from ..aot.signature import Output, Signature

NAME = "minicompiler_runtime"
PARTS = ("values", "cuda", "plan", "guard", "node", "module")
FLAGS = "-O2 -fPIC -shared -w -DNDEBUG -fvisibility=hidden".split()
STANDARDS = ("-std=c++17", "-std=c++20")  # the second where torch's headers want it
NOTICE = "minicompiler: building its run-time extension, once on this machine (about 20 s)"
_lock = threading.Lock()


def text() -> str:
    """The parts as one translation unit: reading torch's headers is what takes the time."""
    folder = Path(__file__).parent / "extension"
    parts = [(f"{part}.cpp", (folder / f"{part}.cpp").read_text()) for part in PARTS]
    return "".join(f'#line 1 "{name}"\n{code}' for name, code in parts)


def identity() -> str:
    """What the machine code depends on besides text and compiler."""
    python = f"{sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}"
    return f"torch {torch.__version__} {torch.version.git_version} {torch.__file__} {python}"


def flags(standard: str) -> tuple[str, ...]:
    home = Path(torch.__file__).parent
    abi = int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
    includes = [home / "include", home / "include/torch/csrc/api/include"]
    includes.append(Path(sysconfig.get_paths()["include"]))
    libraries = [f"-L{home / 'lib'}", "-ltorch_python", "-ltorch_cpu", "-lc10", "-ldl"]
    if build.MAC:
        libraries += ["-undefined", "dynamic_lookup"]
    return (
        standard,
        *FLAGS,
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        *(f"-I{folder}" for folder in includes),
        *libraries,
    )


def module() -> ModuleType | None:
    """The extension, built where need be; None where it cannot be or is switched off."""
    if config.python_runtime:
        return None
    with _lock:
        return _module(config.cache_dir, config.disk_cache, config.cxx)


@functools.cache
def _module(cache_dir: str, disk_cache: bool, cxx: str) -> ModuleType | None:
    try:
        return _load(_built())
    except (Unsupported, ImportError) as error:
        warnings.warn(f"minicompiler runs its plans in Python: {error}", stacklevel=4)
        return None


def _built() -> Path:
    compiler = build.compiler()
    code = f"// {identity()}\n{text()}"
    with store.alone("extension"):
        for standard in STANDARDS:
            try:
                needed = flags(standard)
                return build.build("extension", NAME, code, compiler, needed, NOTICE)[0]
            except build.BuildFailed:
                if standard == STANDARDS[-1]:
                    raise
    raise AssertionError("unreachable")


def _load(path: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(path))
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made


KINDS = ("Fresh", "SameAsInput", "ViewOfInput", "ViewOfResult", "Constant")  # as node.cpp has them


def describe(signature: "Signature") -> dict[str, Any] | None:
    """The signature as lists of numbers; None where a size in it is symbolic."""
    try:
        return {
            "arguments": [[a.index, int(getattr(a, "numel", -1))] for a in signature.arguments],
            "outputs": [_output(output) for output in signature.outputs],
            "mutations": [[m.index, _or_none(m.result), m.versioned] for m in signature.mutations],
            "differentiable": list(signature.differentiable),
            "tangents": [
                [list(map(int, t.size)), list(map(int, t.stride))] for t in signature.tangents
            ],
            "gradients": [sorted(needs or ()) for needs in signature.gradients],
            "saved": [
                [_or_none(s.argument), _or_none(s.result), s.checked] for s in signature.saved
            ],
            "symbols": len(signature.symbols),
        }
    except TypeError:  # int(Expr) of a symbolic one
        return None


def _or_none(position: int | None) -> int:
    return -1 if position is None else position


def _output(output: "Output") -> list[Any]:
    kind = KINDS.index(type(output).__name__)
    fields = [getattr(output, name) for name in type(output).__slots__]
    if KINDS[kind].startswith("View"):
        index, size, stride, offset, detached = fields
        return [kind, index, list(map(int, size)), list(map(int, stride)), int(offset), detached]
    return [kind, *fields]

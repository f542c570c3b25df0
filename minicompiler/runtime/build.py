"""C++ text -> functions in this process.

The kernels of a graph are packed into few translation units, compiled side by side and kept on
disk under the hash of their text, compiler, flags and processor.
"""

import contextlib
import ctypes
import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch

from ..errors import Unsupported, warn_once
from ..ir.plan import KernelSource
from ..report import record
from ..settings import config
from . import store

Native: TypeAlias = Callable[..., int]  # `int64_t NAME(void** buffers)`, run without the GIL

MAC = sys.platform == "darwin"
COMPILE_SECONDS = 600.0  # a compiler that needs longer hangs

# The values that a program sees must be those of eager: no contraction of a*b+c, no fast-math.
VALUES = "-fno-math-errno -fno-trapping-math".split()
SHARED = "-std=c++17 -O3 -fPIC -shared -w".split()
THIS_CPU = "-march=native" if platform.machine() in ("x86_64", "AMD64") else "-mcpu=native"
TORCH = Path(torch.__file__).parent / "lib"  # on macOS, where there is no other, torch has a libomp
OPENMP = (  # where no way works the pragmas are ignored
    ["-fopenmp"],
    ["-Xpreprocessor", "-fopenmp", f"-L{TORCH}", "-lomp", f"-Wl,-rpath,{TORCH}"],
)


class NoCompiler(Unsupported):
    """There is no C++ compiler on this machine."""


class BuildFailed(Unsupported):
    """The compiler refused a kernel, which is our fault. Carries its first error lines."""


@dataclass(frozen=True, slots=True)
class Compiler:
    command: tuple[str, ...]
    version: str


def compiler() -> Compiler:
    """The C++ compiler of this machine. Raises NoCompiler."""
    return _compiler(config.cxx, os.environ.get("CXX", ""), os.environ.get("PATH", ""))


@functools.cache
def _compiler(chosen: str, cxx: str, path: str) -> Compiler:
    chosen = chosen or cxx
    for candidate in [chosen] if chosen else ["c++", "g++", "clang++"]:
        command = shlex.split(candidate)
        if not command or shutil.which(command[0]) is None:
            continue
        asked = run((*command, "--version"))
        if asked.returncode == 0:
            return Compiler(tuple(command), asked.stdout.strip())
    tried = f"{chosen} does not run" if chosen else "tried c++, g++, clang++"
    mend = "correct $CXX or config.cxx" if chosen else "install g++ or clang++"
    raise NoCompiler(f"no C++ compiler found ({tried})", mend)


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a compiler; its messages, in English, are in stdout."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=COMPILE_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, str(error))


@functools.cache
def processor() -> str:
    """What -march=native stands for here: code for one processor may not run on another."""
    about = [platform.machine(), sys.platform]
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        about += [line for line in lines if line.startswith(("model", "flags", "Features", "CPU"))]
    except OSError:
        about.append(run(("sysctl", "-n", "machdep.cpu.brand_string")).stdout)
    return " ".join(about)


def kernel_flags() -> tuple[str, ...]:
    """Flags of every kernel, for gcc and clang alike, as config says; without OpenMP's."""
    contract = f"-ffp-contract={'fast' if config.fp_contract else 'off'}"
    return (*SHARED, THIS_CPU, contract, *VALUES)


def build_kernels(text: str, compiler: Compiler) -> tuple[Path, bool]:
    """As `build`, with OpenMP where some way to ask for it works."""
    for way in OPENMP if config.openmp else ():
        with contextlib.suppress(BuildFailed):
            return build("kernels", "kernels", text, compiler, (*kernel_flags(), *way))
    built = build("kernels", "kernels", text, compiler, kernel_flags())
    if config.openmp:
        warn_once(f"{compiler.command[0]} has no OpenMP: kernels run in one thread")
    return built


def build(
    kind: str, name: str, text: str, compiler: Compiler, flags: Sequence[str], notice: str = ""
) -> tuple[Path, bool]:
    """A verified shared library of `text`, and whether the cache had it. Raises BuildFailed.

    `notice` is printed where it must be built, before and after."""

    def make(folder: Path) -> None:
        if notice:
            print(notice, file=sys.stderr, flush=True)
        source = folder / f"{name}.cpp"
        source.write_text(text)
        made = run((*compiler.command, str(source), "-o", str(folder / f"{name}.so"), *flags))
        if made.returncode != 0:
            if "No space left on device" in made.stdout:
                raise store.DiskFull("the C++ compiler ran out of disk space")
            errors = [line for line in made.stdout.splitlines() if "error" in line]
            said = "\n".join(errors[:5] or made.stdout.splitlines()[-5:])
            raise BuildFailed(f"the C++ compiler refused {name}:\n{said}")
        if notice:
            print(f"{notice}: done", file=sys.stderr, flush=True)

    key = store.digest(text, *compiler.command, compiler.version, processor(), *flags)
    return store.fetch(kind, key, f"{name}.so", make)


def compile_cpp(sources: Sequence[KernelSource]) -> dict[str, Native]:
    """Each kernel by its name. Raises NoCompiler, BuildFailed, DiskFull."""
    if not sources:
        return {}
    chosen = compiler()
    units = _units(sources)
    with ThreadPoolExecutor(len(units)) as pool:
        libraries = list(pool.map(lambda unit: _library(unit, chosen), units))
    for library, _ in libraries:  # clang's OpenMP is another than torch's, with its own count
        if hasattr(library, "omp_set_num_threads"):
            library.omp_set_num_threads(torch.get_num_threads())
    record.current().count("cache_hits", sum(hit for _, hit in libraries))
    return {
        source.name: _function(library, source.name)
        for unit, (library, _) in zip(units, libraries)
        for source in unit
    }


def _units(sources: Sequence[KernelSource]) -> list[list[KernelSource]]:
    """Equal shares by length of text: at least two kernels each, as starting a compiler costs
    half as much as a kernel does."""
    units: list[list[KernelSource]] = [[] for _ in range(min(_threads(), (len(sources) + 1) // 2))]
    sizes = [0] * len(units)
    for source in sorted(sources, key=lambda s: -len(s.text)):
        smallest = sizes.index(min(sizes))
        units[smallest].append(source)
        sizes[smallest] += len(source.text)
    return units


def _threads() -> int:
    cores = (os.cpu_count() or 1) if MAC else len(os.sched_getaffinity(0))
    return config.compile_threads or cores


def _library(unit: Sequence[KernelSource], compiler: Compiler) -> tuple[ctypes.CDLL, bool]:
    # a namespace each: two kernels may define the same helper functions
    text = "\n".join(f"namespace unit_{s.name} {{\n{s.text}\n}}" for s in unit)
    path, hit = build_kernels(text, compiler)
    try:
        return ctypes.CDLL(str(path)), hit  # what is loaded already is loaded once
    except OSError:  # somebody emptied the cache between the two lines above
        return ctypes.CDLL(str(build_kernels(text, compiler)[0])), False


def _function(library: ctypes.CDLL, name: str) -> Native:
    function: Any = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_int64, (ctypes.c_void_p,)
    return function  # type: ignore[no-any-return]

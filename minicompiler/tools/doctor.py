"""`make doctor`: is this machine ready for minicompiler, and if not, which command mends it?

Runs before anything is installed, so: the standard library alone, in syntax that an old Python
can parse, and never a traceback. A check returns (verdict, what was seen, what to do); only
FAIL makes the exit code non-zero, WARN names what will be missing or slower.
"""

from __future__ import print_function

import os
import shlex
import shutil
import subprocess
import sys
import tempfile

OK, WARN, FAIL = "ok", "warn", "FAIL"
OLDEST, NEWEST = (3, 11), (3, 14)
TORCH_OLDEST = (2, 11)
TORCH_BYTES_CUDA, TORCH_BYTES_CPU = 7 << 30, 3 << 30  # a CPU wheel and the rest take 2.1 GB
SECONDS = 20  # for any program that a check starts

MAC = sys.platform == "darwin"
INSTALL_COMPILER = "xcode-select --install" if MAC else "sudo apt-get install build-essential"
INSTALL_HEADERS = "brew install python@3.12" if MAC else "sudo apt-get install python3-dev"
INSTALL_OPENMP = "brew install libomp" if MAC else "sudo apt-get install libgomp1 g++"


def run(command):
    """(exit code, output) of a program; exit code None where it could not be started."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except (OSError, ValueError) as error:
        return None, str(error)
    try:
        output, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, "no answer within %d seconds" % SECONDS
    return child.returncode, output.decode("utf-8", "replace").strip()


def compile_and_run(compiler, source, suffix, flags, start):
    """None where `source` compiles (and, if asked, runs); else what was said about it."""
    try:
        folder = tempfile.mkdtemp()
    except (OSError, IOError) as error:
        return "no temporary folder: %s" % error
    try:
        path, program = os.path.join(folder, "check" + suffix), os.path.join(folder, "check")
        with open(path, "w") as file:
            file.write(source)
        goal = ["-o", program] if start else ["-c", "-o", program + ".o"]
        code, said = run(compiler.split() + [path] + flags + goal)
        if code == 0 and start:
            code, said = run([program])
        if code == 0:
            return None
        errors = [line for line in said.splitlines() if "error" in line]
        return (errors or said.splitlines() or ["exit code %s" % code])[0]
    except (OSError, IOError) as error:
        return str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def python():
    version = "Python %d.%d.%d" % sys.version_info[:3]
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return OK, version, ""
    wanted = "3.11 to 3.14 is needed"
    try:
        found = newer_python()
    except Exception:  # so old that even asking fails
        found = None
    if found:
        return FAIL, "%s; %s" % (version, wanted), "make tour PYTHON=" + found
    mend = 'pyenv install 3.12 && make tour PYTHON="$(pyenv prefix 3.12)/bin/python"'
    return FAIL, "%s; %s" % (version, wanted), mend


def newer_python():
    """The full path of a Python on this machine that would do, or None."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    pyenv = os.path.join(os.path.expanduser("~"), ".pyenv", "versions")
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        name = "python3.%d" % minor
        candidates = [os.path.join(folder, name) for folder in folders]
        if os.path.isdir(pyenv):
            versions = [v for v in sorted(os.listdir(pyenv)) if v.startswith("3.%d." % minor)]
            candidates += [os.path.join(pyenv, v, "bin", name) for v in versions]
        for path in candidates:
            # it is started, too: what pyenv puts on the PATH may stand for nothing
            if os.path.isabs(path) and os.path.exists(path) and run([path, "-c", ""])[0] == 0:
                return path
    return None


def virtual_environments():
    try:
        import ensurepip  # noqa: F401  Debian ships it apart
        import venv  # noqa: F401
    except ImportError as error:
        mend = "sudo apt-get install python3-venv python3-pip"
        return FAIL, "this Python cannot make a virtual environment: %s" % error, mend
    return OK, "virtual environments", ""


def c_compiler():
    return compiler(os.environ.get("CC") or "cc", "C", ".c", "the frame hook cannot be built")


def cxx_compiler():
    return compiler(os.environ.get("CXX") or "c++", "C++", ".cpp", "no kernels for the CPU")


def compiler(program, language, suffix, loss):
    fault = compile_and_run(program, "int main(void) { return 0; }\n", suffix, [], True)
    if fault is None:
        return OK, "%s compiler: %s" % (language, program), ""
    return WARN, "no %s compiler (%s: %s): %s" % (language, program, fault, loss), INSTALL_COMPILER


def headers():
    import sysconfig

    internal = "pycore_interpframe.h" if sys.version_info >= (3, 14) else "pycore_frame.h"
    lines = ["#define Py_BUILD_CORE 1", "#include <Python.h>"]
    lines += ["#include <internal/%s>" % name for name in (internal, "pycore_ceval.h")]
    source = "\n".join(lines) + "\n"
    folder = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(folder, "Python.h")):
        return WARN, "no Python.h in %s: the frame hook cannot be built" % folder, INSTALL_HEADERS
    fault = compile_and_run(os.environ.get("CC") or "cc", source, ".c", ["-I" + folder], False)
    if fault is None:
        return OK, "Python.h and internal/%s" % internal, ""
    return WARN, "internal/%s does not compile: %s" % (internal, fault), INSTALL_HEADERS


def openmp():
    source = (
        "#include <omp.h>\n"
        "int main() { int n = 0;\n"
        "#pragma omp parallel reduction(+ : n)\n"
        "  n += 1;\n"
        "return n > 0 ? 0 : omp_get_max_threads(); }\n"
    )
    program = os.environ.get("CXX") or "c++"
    fault = compile_and_run(program, source, ".cpp", ["-fopenmp"], True)
    if fault is None:
        return OK, "OpenMP", ""
    return WARN, "no OpenMP (%s): kernels run in one thread" % fault, INSTALL_OPENMP


def cache_folder():
    home = os.path.join(os.path.expanduser("~"), ".cache", "minicompiler")
    folder = os.environ.get("MINICOMPILER_CACHE_DIR") or home
    mend = "export MINICOMPILER_CACHE_DIR=/a/folder/that/you/may/write"
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x" * 65536)
    except (OSError, IOError) as error:
        return WARN, "cannot write to %s (%s): nothing is cached" % (folder, error.strerror), mend
    return OK, "cache in %s" % folder, ""


def installed_torch(venv):
    """The version in the virtual environment, or in this Python where no environment is named."""
    program = os.path.join(venv, "bin", "python") if venv else sys.executable
    if not os.path.exists(program):
        return None
    code, said = run([program, "-c", "import importlib.metadata as m; print(m.version('torch'))"])
    return said.splitlines()[-1] if code == 0 else None


def torch(venv):
    version = installed_torch(venv)
    if version is None:
        return OK, "torch is not installed yet: make setup does it", ""
    numbers = tuple(int(n) for n in version.split("+")[0].split(".")[:2] if n.isdigit())
    if numbers >= TORCH_OLDEST:
        return OK, "torch %s" % version, ""
    return FAIL, "torch %s; 2.11 or newer is needed" % version, "pip install 'torch>=2.11'"


def disk(venv):
    if installed_torch(venv) is not None:
        return OK, "disk: torch is installed", ""
    folder = os.path.dirname(os.path.abspath(venv or "."))
    try:
        free = shutil.disk_usage(folder).free
    except (OSError, IOError) as error:
        return WARN, "cannot tell the free disk space of %s: %s" % (folder, error), ""
    said = "%.1f GB free in %s" % (free / float(1 << 30), folder)
    if free >= TORCH_BYTES_CUDA:
        return OK, said, ""
    if free >= TORCH_BYTES_CPU:
        mend = "make test TORCH=/path/to/a/CPU/wheel/of/torch.whl"
        return WARN, said + ": torch for the CPU fits (3 GB), the one for CUDA does not (7)", mend
    return FAIL, said + "; 3 GB are needed (7 with CUDA)", "free some space, or clone elsewhere"


def registry(venv):
    if installed_torch(venv) is not None:
        return OK, "network: not needed, torch is installed", ""
    folder = tempfile.mkdtemp()
    try:  # wheel: about 30 kB, and installed later anyhow
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
        get = ["install", "--no-deps", "--retries", "0", "--timeout", "5", "-t", folder, "wheel"]
        # make hands its PIP_ARGS on in the environment
        code, said = run(pip + get + shlex.split(os.environ.get("PIP_ARGS", "")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if code == 0:
        return OK, "the package index answers", ""
    last = (said.splitlines() or ["no answer"])[-1]
    mend = "check the network or proxy; offline: make setup PIP_ARGS='--no-index --find-links DIR'"
    return WARN, "the package index does not answer (%s)" % last, mend


def checks(venv):
    yield python
    yield virtual_environments
    yield c_compiler
    yield cxx_compiler
    yield headers
    yield openmp
    yield cache_folder
    for check in (torch, disk, registry):
        yield lambda check=check: check(venv)


NEEDS = {headers: c_compiler, openmp: cxx_compiler}  # checks that say nothing new without another
WITHOUT = [  # the worst first
    (c_compiler, "without a C compiler everything will run eagerly"),
    (headers, "without Python's headers everything will run eagerly"),
    (cxx_compiler, "without a C++ compiler every graph will run as captured"),
]


def examine(checks):
    """Prints what each check finds. How many failed, and which were not all right."""
    failed, missing = 0, []
    for check in checks:
        if NEEDS.get(check) in missing:
            continue
        try:
            verdict, seen, mend = check()
        except Exception as error:  # the doctor never falls ill
            name = getattr(check, "__name__", "a check")
            verdict, seen, mend = WARN, "%s could not be done: %r" % (name, error), ""
        print("%-5s %s" % (verdict, seen))
        if mend:
            print("      mend it with: " + mend)
        failed += verdict == FAIL
        if verdict != OK:
            missing.append(check)
        if check is python and failed:
            break  # nothing else can be judged from here
    return failed, missing


def main(arguments):
    venv = arguments[arguments.index("--venv") + 1] if "--venv" in arguments[:-1] else ""
    failed, missing = examine(checks(venv))
    if not failed:
        without = [what for check, what in WITHOUT if check in missing]
        print("doctor: ready, but " + without[0] if without else "doctor: this machine is ready")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

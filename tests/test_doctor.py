"""The doctor names what is missing and the command that mends it, and never shows a traceback."""

import itertools
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from minicompiler.tools import doctor

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "minicompiler" / "tools" / "doctor.py"
Usage = namedtuple("Usage", "total used free")


def consult(tmp_path, python=sys.executable, **environment):
    """Runs the doctor as make does, with the environment changed; exit code and text."""
    kept = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX")}
    kept["MINICOMPILER_CACHE_DIR"] = str(tmp_path / "cache")
    done = subprocess.run(
        [python, str(SCRIPT), "--venv", str(tmp_path / "venv")],
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stdout
    return done.returncode, done.stdout


def test_no_compiler(tmp_path):
    code, said = consult(tmp_path, CC="/nonexistent/cc", CXX="/nonexistent/c++")
    assert code == 0  # the package installs all the same, and interprets
    assert "warn  no C compiler (/nonexistent/cc" in said
    assert "warn  no C++ compiler (/nonexistent/c++" in said
    assert f"mend it with: {doctor.INSTALL_COMPILER}" in said
    assert "Python.h" not in said and "OpenMP" not in said  # these say nothing new
    assert said.endswith("doctor: ready, but without a C compiler everything will run eagerly\n")


def test_no_cxx_compiler(tmp_path):
    code, said = consult(tmp_path, CXX="/nonexistent/c++")
    assert code == 0 and "OpenMP" not in said
    assert "ready, but without a C++ compiler every graph will run as captured" in said


def test_nothing_on_the_path(tmp_path):
    code, said = consult(tmp_path, PATH=str(tmp_path))
    assert code == 0
    assert "warn  no C compiler (cc" in said


def test_a_compiler_that_fails(tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'error: no licence' >&2\nexit 1\n")
    broken.chmod(0o755)
    code, said = consult(tmp_path, CC=str(broken))
    assert code == 0
    assert f"no C compiler ({broken}: error: no licence)" in said


def test_no_openmp(tmp_path):
    without = tmp_path / "c++"
    without.write_text(
        '#!/bin/sh\ncase "$*" in *-fopenmp*) echo "error: no openmp" >&2; exit 1;; esac\n'
        'exec c++ "$@"\n'
    )
    without.chmod(0o755)
    code, said = consult(tmp_path, CXX=str(without))
    assert code == 0
    assert "no OpenMP (error: no openmp): kernels run in one thread" in said


def test_cache_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("a file where a folder should be")
    code, said = consult(tmp_path, MINICOMPILER_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert code == 0
    assert "warn  cannot write to" in said and "export MINICOMPILER_CACHE_DIR=" in said


def test_cache_folder_is_read_only(tmp_path, monkeypatch):
    # root may write anywhere, so the refusal is simulated
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setenv("MINICOMPILER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    verdict, seen, mend = doctor.cache_folder()
    assert verdict == doctor.WARN
    assert "Read-only file system" in seen and mend.startswith("export MINICOMPILER_CACHE_DIR=")


def test_no_temporary_folder(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(doctor.tempfile, "mkdtemp", refuse)
    verdict, seen, _ = doctor.c_compiler()
    assert verdict == doctor.WARN and "No space left on device" in seen
    assert doctor.main(["--venv", str(tmp_path / "venv")]) in (0, 1)


@pytest.mark.parametrize(
    "free, verdict, word",
    [
        (1 << 30, doctor.FAIL, "3 GB are needed"),
        (4 << 30, doctor.WARN, "torch for the CPU fits"),
        (9 << 30, doctor.OK, "9.0 GB free"),
    ],
)
def test_disk(tmp_path, monkeypatch, free, verdict, word):
    monkeypatch.setattr(doctor, "installed_torch", lambda venv: None)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: Usage(free, 0, free))
    found, seen, mend = doctor.disk(str(tmp_path / "venv"))
    assert found == verdict and word in seen
    assert bool(mend) == (verdict != doctor.OK)


def test_full_disk_fails_the_whole_visit(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "installed_torch", lambda venv: None)
    monkeypatch.setattr(doctor, "registry", lambda venv: (doctor.OK, "", ""))
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: Usage(1, 1, 0))
    assert doctor.main([]) == 1
    said = capsys.readouterr().out
    assert "FAIL  0.0 GB free" in said and "this machine is ready" not in said


def test_offline(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "installed_torch", lambda venv: None)
    monkeypatch.setattr(doctor, "run", lambda command: (1, "line\nERROR: no network"))
    verdict, seen, mend = doctor.registry(str(tmp_path))
    assert verdict == doctor.WARN and "ERROR: no network" in seen and "--find-links" in mend


def test_the_index_asked_is_that_of_pip_args(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "installed_torch", lambda venv: None)
    monkeypatch.setattr(doctor, "run", lambda command: (1, " ".join(command[-3:])))
    monkeypatch.setenv("PIP_ARGS", "--index-url 'http://a b/'")
    assert "(wheel --index-url http://a b/)" in doctor.registry(str(tmp_path))[1]


@pytest.mark.parametrize("version, verdict", [("2.10.1", doctor.FAIL), ("2.13.0+cpu", doctor.OK)])
def test_torch_version(monkeypatch, version, verdict):
    monkeypatch.setattr(doctor, "installed_torch", lambda venv: version)
    assert doctor.torch("")[0] == verdict


def test_headers_missing(tmp_path, monkeypatch):
    import sysconfig

    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    verdict, seen, mend = doctor.headers()
    assert verdict == doctor.WARN and "no Python.h" in seen and mend == doctor.INSTALL_HEADERS


def test_internal_headers_missing(tmp_path, monkeypatch):
    import sysconfig

    (tmp_path / "Python.h").write_text("int nothing;\n")
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    verdict, seen, mend = doctor.headers()
    if shutil.which("cc"):
        assert "internal/pycore_" in seen and "does not compile" in seen
    assert verdict == doctor.WARN and mend == doctor.INSTALL_HEADERS


def test_a_program_that_hangs(monkeypatch):
    monkeypatch.setattr(doctor, "SECONDS", 0.2)
    code, said = doctor.run([sys.executable, "-c", "import time; time.sleep(60)"])
    assert code is None and "no answer" in said


def test_a_check_that_falls_over(monkeypatch, capsys):
    def c_compiler():
        raise RuntimeError("surprise")

    monkeypatch.setattr(doctor, "c_compiler", c_compiler)
    assert doctor.main([]) == 0
    assert "c_compiler could not be done: RuntimeError('surprise')" in capsys.readouterr().out


def old_pythons():
    """Interpreters older than 3.11, if this machine has any."""
    names = ["python2.7", "python3.6", "python3.8", "python3.9", "python3.10"]
    found = [shutil.which(name) for name in names]
    found += map(str, Path.home().glob(".pyenv/versions/*/bin/python"))
    ask = "import sys; print(sys.version_info[:2] < (3, 11))"
    for python in dict.fromkeys(filter(None, found)):
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        if done.stdout.strip() == "True":
            yield python


def test_old_pythons(tmp_path):
    """One short sentence on every old Python at hand; make stops at it."""
    for python in itertools.islice(old_pythons(), 3):
        code, said = consult(tmp_path, python=python)
        assert code == 1
        assert "3.11 to 3.14 is needed" in said and len(said.splitlines()) == 2


def test_an_old_python_is_simulated(monkeypatch, capsys):
    Version = namedtuple("Version", "major minor micro")
    monkeypatch.setattr(doctor.sys, "version_info", Version(3, 10, 4))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("HOME", "/nonexistent")
    assert doctor.main([]) == 1
    said = capsys.readouterr().out
    assert said.startswith("FAIL  Python 3.10.4; 3.11 to 3.14 is needed")
    assert "mend it with: pyenv install 3.12 && make tour PYTHON=" in said


def test_a_newer_python_is_named(tmp_path, monkeypatch, capsys):
    Version = namedtuple("Version", "major minor micro")
    monkeypatch.setattr(doctor.sys, "version_info", Version(3, 10, 4))
    for folder, status in [("shims", 1), (".pyenv/versions/3.12.9/bin", 0)]:
        python = tmp_path / folder / "python3.12"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nexit {status}\n")
        python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert doctor.main([]) == 1
    assert f"mend it with: make tour PYTHON={python}\n" in capsys.readouterr().out


def test_the_file_parses_on_old_pythons():
    """No syntax newer than 3.6, by the grammar of the running Python."""
    import ast

    ast.parse(SCRIPT.read_text(), feature_version=(3, 6))


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
def test_make_stops_with_the_message(tmp_path):
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho 'FAIL  Python 3.6.15; 3.11 to 3.14 is needed'\nexit 1\n")
    old.chmod(0o755)
    venv = tmp_path / "venv"
    make = ["make", "-C", str(ROOT), "test", f"PYTHON={old}", f"VENV={venv}"]
    done = subprocess.run(make, capture_output=True, text=True)
    assert done.returncode != 0 and "3.11 to 3.14 is needed" in done.stdout
    assert not venv.exists()
    make[-2] = "PYTHON=/nonexistent/python"
    done = subprocess.run(make, capture_output=True, text=True)
    assert done.returncode != 0 and "install Python 3.11 or newer" in done.stdout


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
def test_an_interrupted_set_up_begins_again(tmp_path):
    """Half an environment is cleared; a whole one is kept, also where pip then fails."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "half").write_text("")
    make = ["make", "-C", str(ROOT), "setup", f"PYTHON={sys.executable}", f"VENV={venv}"]
    make.append("PIP_ARGS=--no-index --find-links /nonexistent")
    done = subprocess.run(make, capture_output=True, text=True)
    assert done.returncode != 0 and "could not install: is the package index" in done.stdout
    assert not (venv / "half").exists() and (venv / "bin" / "pip").exists()
    (venv / "kept").write_text("")
    subprocess.run(make, capture_output=True, text=True)
    assert (venv / "kept").exists()

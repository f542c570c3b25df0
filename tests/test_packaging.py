"""The wheel holds every file of the package, with a compiler and without one."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILT = ("*.so", "__pycache__")

pytestmark = pytest.mark.slow


def wheel(tmp_path: Path, **environment: str) -> set[str]:
    """Builds the wheel from a copy of the tree; the names of the files in it."""
    copy = tmp_path / "tree"
    shutil.copytree(
        ROOT / "minicompiler", copy / "minicompiler", ignore=shutil.ignore_patterns(*BUILT)
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    build = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w"]
    done = subprocess.run(
        [*build, str(tmp_path), str(copy)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    (made,) = tmp_path.glob("*.whl")
    return set(zipfile.ZipFile(made).namelist())


def sources() -> set[str]:
    files = {p for p in (ROOT / "minicompiler").rglob("*") if p.is_file()}
    built = {p for p in files if p.suffix in (".so", ".pyc")}
    return {str(p.relative_to(ROOT)) for p in files - built}


def hooks(names: set[str]) -> list[str]:
    return [n for n in names if n.startswith("minicompiler/capture/_frame_hook.") and ".so" in n]


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler here")
def test_with_a_compiler(tmp_path):
    names = wheel(tmp_path)
    assert sources() - names == set()
    assert len(hooks(names)) == 1


def test_without_a_compiler(tmp_path):
    names = wheel(tmp_path, CC="/nonexistent/cc")
    assert sources() - names == set()
    assert hooks(names) == []

"""How the extension comes into being, and what happens where it cannot."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from minicompiler.errors import warn_once
from minicompiler.runtime import build, extension, store
from minicompiler.settings import config, overriding

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """An extension that builds in no time, and a cache folder of its own."""
    monkeypatch.setattr(config, "extension_dir", str(tmp_path / "cache"))
    monkeypatch.setattr(extension, "PARTS", ("module",))
    code = f"""
        #include <Python.h>
        PyMODINIT_FUNC PyInit_{extension.NAME}() {{
          static PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "{extension.NAME}", 0, -1, 0}};
          return PyModule_Create(&definition);
        }}
    """
    monkeypatch.setattr(extension, "text", lambda: textwrap.dedent(code))
    for memo in (extension._module, store._cache_folder, warn_once):
        memo.cache_clear()
    yield
    extension._module.cache_clear()


def test_built_once_with_a_notice_then_cached(small, capfd):
    assert extension.module() is not None
    said = capfd.readouterr().err
    assert said.count("building its run-time extension") == 2 and ": done\n" in said
    extension._module.cache_clear()
    assert extension.module() is not None
    assert capfd.readouterr().err == ""


def test_switched_off(small):
    with overriding({"python_runtime": True}):
        assert extension.module() is None
    assert not Path(config.extension_dir).exists()


def test_without_a_compiler_plans_run_in_python(small, planned):
    with overriding({"cxx": "no-such-compiler"}):
        with pytest.warns(UserWarning, match="in Python: no C"):
            assert extension.module() is None
        planned.input("a", (2,))
        run = planned.returns("a").load()
    x = torch.ones(2)
    assert run([x])[0] is x


def test_headers_that_do_not_compile(small, monkeypatch):
    monkeypatch.setattr(extension, "text", lambda: "nonsense")
    with pytest.warns(UserWarning, match="refused minicompiler_runtime"):
        assert extension.module() is None


def test_newer_standard_where_the_headers_want_it(small, monkeypatch):
    wants = '#if __cplusplus < 202002L\n#error "too old"\n#endif\n' + extension.text()
    monkeypatch.setattr(extension, "text", lambda: wants)
    assert extension.module() is not None


def test_file_that_does_not_load(small, monkeypatch, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_text("no library")
    monkeypatch.setattr(extension, "_built", lambda: broken)
    with pytest.warns(UserWarning, match="in Python"):
        assert extension.module() is None


def test_identity_tells_torch_and_python():
    assert torch.__version__ in extension.identity() and sys.implementation.cache_tag in (
        extension.identity()
    )


WAITER = """
    import sys, time
    from pathlib import Path
    from minicompiler.runtime import store
    builds = []
    def make(folder):
        builds.append(1)
        time.sleep(0.5)
        (folder / "product").write_text("made")
    Path(sys.argv[1]).touch()
    while not Path(sys.argv[2]).exists():
        pass
    store.fetch("extension", "key", "product", make)
    print(len(builds))
"""


def test_processes_wait_for_one_another(tmp_path):
    signs = [str(tmp_path / f"started{i}") for i in range(2)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path]),
        "MINICOMPILER_EXTENSION_DIR": str(tmp_path / "cache"),
    }
    waiters = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WAITER), *order],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in (signs, signs[::-1])
    ]
    assert sorted(waiter.communicate(timeout=120)[0].strip() for waiter in waiters) == ["0", "1"]


def test_build_flags_name_torchs_folders():
    flags = extension.flags("-std=c++17", build.compiler())
    home = str(Path(torch.__file__).parent)
    assert f"-I{home}/include" in flags and f"-L{home}/lib" in flags
    assert build.MAC or "-lc10" in flags

"""Building and caching C++: what is reused, what is rebuilt, what is refused."""

import ctypes
import errno
import os
import stat
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass
from pathlib import Path

import filelock
import pytest
import torch

from minicompiler.errors import warn_once
from minicompiler.report import record
from minicompiler.runtime import build, store
from minicompiler.settings import config, overriding

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    name: str
    text: str


def answering(name: str, answer: int) -> Source:
    """A kernel that returns `answer`."""
    return Source(name, f'extern "C" long {name}(void**) {{ return {answer}; }}')


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """A cache folder of its own."""
    monkeypatch.setattr(config, "cache_dir", str(tmp_path / "cache"))
    memos = (store._cache_folder, store._private_folder, warn_once)
    for memo in memos:
        memo.cache_clear()


def answers(*sources: Source) -> list[int]:
    kernels = build.compile_cpp(sources)
    return [kernels[s.name](None) for s in sources]


def products(cache: str) -> list[Path]:
    return sorted(Path(cache).glob("kernels/*/kernels.so"))


def test_every_kernel_is_found_by_its_name():
    with overriding({"compile_threads": 3}):
        assert answers(*(answering(f"k{i}", i) for i in range(7))) == list(range(7))


def test_kernels_of_one_unit_may_define_the_same_functions():
    text = "static long twice(long x) {{ return 2 * x; }}\n{}"
    sources = [Source(s.name, text.format(s.text)) for s in (answering("a", 1), answering("b", 2))]
    with overriding({"compile_threads": 1}):
        assert answers(*sources) == [1, 2]


def test_kernel_reads_and_writes_buffers():
    text = """extern "C" long scale(void** buffers) {
      float* x = (float*)buffers[0];
      for (long i = 0; i < 3; i++) x[i] *= 2;
      return 0; }"""
    scale = build.compile_cpp([Source("scale", text)])["scale"]
    x = (ctypes.c_float * 3)(1, 2, 3)
    buffers = (ctypes.c_void_p * 1)(ctypes.addressof(x))
    assert scale(buffers) == 0
    assert list(x) == [2, 4, 6]


def test_disk_cache_is_hit_and_counted():
    with record.recording(record.Record()) as first:
        assert answers(answering("k", 5)) == [5]
    with record.recording(record.Record()) as second:
        assert answers(answering("k", 5)) == [5]
    assert (first.counts["cache_hits"], second.counts["cache_hits"]) == (0, 1)
    assert len(products(config.cache_dir)) == 1


def test_flags_are_part_of_the_key():
    answers(answering("k", 5))
    with overriding({"fp_contract": True}):
        answers(answering("k", 5))
    assert len(products(config.cache_dir)) == 2


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", None])
def test_damaged_file_is_rebuilt(damage):
    answers(answering("k", 5))
    [product] = products(config.cache_dir)
    whole = product.read_bytes()
    if damage is None:  # one bit, far inside
        damage = bytearray(whole)
        damage[len(whole) // 2] ^= 1
    product.unlink()
    product.write_bytes(damage)
    assert answers(answering("k", 5)) == [5]
    assert products(config.cache_dir) == [product]
    assert store._intact(product)


def test_missing_digest_is_rebuilt():
    answers(answering("k", 5))
    [product] = products(config.cache_dir)
    (product.parent / "digest").unlink()
    assert answers(answering("k", 5)) == [5]


def test_kernels_use_as_many_threads_as_torch(monkeypatch):
    text = """extern "C" long count(void**) {
      long n = 0;
      #pragma omp parallel reduction(+ : n)
      n += 1;
      return n; }"""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert answers(Source("count", text)) == [3]
    finally:
        torch.set_num_threads(before)
    with overriding({"openmp": False}):
        assert answers(Source("count", text)) == [1]


def test_folders_are_for_the_user_only():
    answers(answering("k", 5))
    for folder in (Path(config.cache_dir), *Path(config.cache_dir).rglob("*")):
        if folder.is_dir():
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_folder_writable_by_others_is_refused(tmp_path, mode):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with overriding({"cache_dir": str(folder)}), pytest.warns(UserWarning, match="others"):
        assert answers(answering("k", 5)) == [5]
    assert not list(folder.iterdir())


def test_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(store.os, "geteuid", lambda: 4242)
    if os.getuid() == 0:
        assert store.distrust(tmp_path) == ""  # root may do anything anyhow
    else:
        assert "belongs to user" in store.distrust(tmp_path)


def test_no_folder_can_be_made(tmp_path, recwarn):
    (tmp_path / "file").write_text("")
    with overriding({"cache_dir": str(tmp_path / "file" / "cache")}):
        assert answers(answering("k", 5), answering("l", 6)) == [5, 6]
        assert answers(answering("m", 7)) == [7]
    said = [str(w.message) for w in recwarn if "this process only" in str(w.message)]
    assert len(said) == 1 and "MINICOMPILER_CACHE_DIR" in said[0]


def failing_locks(monkeypatch, folder: str, error: Exception) -> None:
    real = filelock.FileLock

    def lock(path, **kwargs):
        if str(path).startswith(folder):
            raise error
        return real(path, **kwargs)

    monkeypatch.setattr(filelock, "FileLock", lock)


@pytest.mark.parametrize("error", [OSError(errno.EROFS, "read-only"), NotImplementedError("flock")])
def test_read_only_cache_serves_what_it_has_and_builds_elsewhere(monkeypatch, recwarn, error):
    answers(answering("k", 5))
    failing_locks(monkeypatch, config.cache_dir, error)
    with record.recording(record.Record()) as run:
        assert answers(answering("k", 5)) == [5]
        assert run.counts["cache_hits"] == 1
        assert answers(answering("l", 6)) == [6]
        assert answers(answering("m", 7)) == [7]
    assert len(products(config.cache_dir)) == 1
    assert len([w for w in recwarn if "cannot be written" in str(w.message)]) == 1


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_read_only_folder(tmp_path):
    folder = tmp_path / "readonly"
    folder.mkdir(mode=0o500)
    with overriding({"cache_dir": str(folder)}), pytest.warns(UserWarning, match="process only"):
        assert answers(answering("k", 5)) == [5]


def test_full_disk_says_so(monkeypatch):
    failing_locks(monkeypatch, config.cache_dir, OSError(errno.ENOSPC, "full"))
    with pytest.raises(store.DiskFull, match="full"):
        answers(answering("k", 5))


def test_without_disk_cache_nothing_is_kept():
    with overriding({"disk_cache": False}):
        assert answers(answering("k", 5)) == [5]
    assert not Path(config.cache_dir).exists()


def test_no_compiler(monkeypatch):
    with overriding({"cxx": "no-such-compiler"}):
        with pytest.raises(build.NoCompiler, match="no-such-compiler"):
            answers(answering("k", 5))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("CXX", "")
    with pytest.raises(build.NoCompiler, match=r"clang\+\+"):
        answers(answering("k", 5))


def test_compiler_of_the_environment_goes_first(monkeypatch, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text('#!/bin/sh\nexec c++ "$@"\n')
    mine.chmod(0o700)
    monkeypatch.setattr(config, "cxx", "")
    monkeypatch.setenv("CXX", f"{mine} -DMINE")
    assert build.compiler().command == (str(mine), "-DMINE")


def test_refused_kernel_carries_the_compilers_words():
    with pytest.raises(build.BuildFailed, match="refused kernels:.*\n.*error"):
        answers(Source("k", "nonsense;"))
    assert not products(config.cache_dir)


def test_compiler_without_openmp_builds_for_one_thread(monkeypatch, tmp_path):
    poor = tmp_path / "poor"
    poor.write_text('#!/bin/sh\ncase "$*" in *-fopenmp*) exit 1;; esac\nexec c++ "$@"\n')
    poor.chmod(0o700)
    monkeypatch.setattr(config, "cxx", str(poor))
    with pytest.warns(UserWarning, match="one thread"):
        assert answers(answering("k", 5)) == [5]


def test_threads_build_the_same_kernel():
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(answers(answering("k", 5))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[5]] * 4
    assert len(products(config.cache_dir)) == 1


RACER = """
    import sys
    from pathlib import Path
    from types import SimpleNamespace
    from minicompiler.runtime import build
    text = 'extern "C" long k%d(void**) {{ return %d; }}'
    Path(sys.argv[1]).touch()
    while not all(Path(other).exists() for other in sys.argv[2:]):
        pass
    for i in range(3):
        kernel = build.compile_cpp([SimpleNamespace(name=f"k{i}", text=text % (i, i))])[f"k{i}"]
        assert kernel(None) == i
"""


def test_processes_build_the_same_kernels(tmp_path):
    program = textwrap.dedent(RACER).replace("{{", "{").replace("}}", "}")
    signs = [str(tmp_path / f"started{i}") for i in range(2)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path]),
        "MINICOMPILER_CACHE_DIR": config.cache_dir,
    }
    racers = [
        subprocess.Popen([sys.executable, "-c", program, sign, *signs], env=environment)
        for sign in signs
    ]
    assert [racer.wait(timeout=120) for racer in racers] == [0, 0]
    assert len(products(config.cache_dir)) == 3


def test_work_left_by_a_killed_process_is_done_again():
    def killed(folder):
        (folder / "part").write_text("")
        (folder / "product").write_text("hal")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.fetch("kernels", "key", "product", killed)
    path, hit = store.fetch("kernels", "key", "product", lambda f: (f / "product").touch())
    assert not hit and path.read_text() == "" and not (path.parent / "part").exists()

"""The cache folder, and when a file in it may be trusted.

What lies here is loaded into the process and run, so only folders that nobody else can write to
are used. An entry is a folder named after the hash of everything that went into it. It holds the
product and, written last, the digest of the product; who finds no product that fits its digest
takes the entry's lock and makes one, while other processes and threads wait for it.
"""

import atexit
import errno
import functools
import hashlib
import importlib.util
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import Unsupported, warn_once
from ..settings import config

if TYPE_CHECKING:
    from filelock import BaseFileLock

FULL = {errno.ENOSPC, errno.EDQUOT}
ALWAYS_KEPT = {"extension"}  # of no user's program, and too long to build for one process


class DiskFull(Unsupported):
    """Nothing can be written any more, neither to the cache nor beside it."""

    def __init__(self, reason: str, hint: str = "free some space") -> None:
        super().__init__(reason, hint)


def digest(*parts: str) -> str:
    """Hex SHA-256 of the parts; ("a", "b") and ("ab",) differ."""
    return _hash(repr(parts).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def distrust(folder: Path) -> str:
    """Why code must not be loaded from `folder`, or "". Raises OSError where it cannot be read."""
    status = folder.stat()
    if status.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {status.st_uid}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "is writable by others (chmod go-w mends that)"
    return ""


@functools.cache
def _private_folder(process: int) -> Path:
    """A folder of this process alone, gone when it ends; a forked child makes its own."""
    folder = Path(tempfile.mkdtemp(prefix="minicompiler-"))  # mode 0700

    def remove() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


@functools.cache
def _cache_folder(path: str) -> Path | None:
    """`path` made ready, or None (after one warning) where it cannot be used."""
    folder = Path(path).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = distrust(folder)
    except OSError as error:
        if error.errno in FULL:
            raise DiskFull(f"the disk of {folder} is full") from error
        reason = f"cannot be used: {error.strerror}"
    if not reason:
        return folder
    _warn_unused(folder, reason)
    return None


def _warn_unused(folder: Path, reason: str) -> None:
    warn_once(
        f"compiled kernels are kept for this process only: the cache folder "
        f"{folder} {reason}. Another folder: MINICOMPILER_CACHE_DIR or config.cache_dir."
    )


def _folders(kind: str) -> Iterator[Path]:
    """Where entries of this kind may lie, the best place first."""
    always = kind in ALWAYS_KEPT
    folder = config.extension_dir if always else config.cache_dir
    if (config.disk_cache or always) and (cache := _cache_folder(folder)):
        yield cache / kind
    yield _private_folder(os.getpid()) / kind


def _claimed(kind: str, key: str) -> "tuple[Path, BaseFileLock]":
    """The folder of an entry, to be written by whoever holds its lock."""
    import filelock  # who finds all in the cache does not need it

    for folder in _folders(kind):
        try:
            for made in (folder, folder / key):
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = filelock.FileLock(folder / key / ".lock", mode=0o600)
            lock.acquire()
            return folder / key, lock
        except (OSError, NotImplementedError) as error:  # the latter: files cannot be locked
            if getattr(error, "errno", None) in FULL:
                raise DiskFull(f"the disk of {folder} is full") from error
            _warn_unused(folder, f"cannot be written: {error}")
    raise DiskFull("no folder for compiled code can be written", "set MINICOMPILER_CACHE_DIR")


def _intact(product: Path) -> bool:
    """Is this the very file that was stored?"""
    try:
        return _hash(product.read_bytes()) == (product.parent / "digest").read_text()
    except OSError:
        return False


def fetch(kind: str, key: str, name: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
    """The file `name` of entry `key`, and whether it was there already.

    `make(folder)` is called to write it (and what else the entry shall hold) where there is none
    or a damaged one. Raises DiskFull, and what `make` raises.
    """
    for folder in _folders(kind):
        if _intact(folder / key / name):
            return folder / key / name, True
    entry, lock = _claimed(kind, key)
    try:
        if _intact(entry / name):  # another was faster
            return entry / name, True
        for left in entry.iterdir():  # what is damaged may be loaded somewhere: no writing to it
            if left.name != ".lock":
                left.unlink()
        make(entry)
        (entry / "digest").write_text(_hash((entry / name).read_bytes()))
        return entry / name, False
    except OSError as error:
        if error.errno in FULL:
            raise DiskFull(f"the disk of {entry} is full") from error
        raise
    finally:
        lock.release()


def imported(name: str, path: Path) -> ModuleType:
    """A file of Python, or of machine code, as a module that `import` does not know."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

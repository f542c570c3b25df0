"""The cache folder, and when a file in it may be trusted.

What lies here is loaded into the process and run, so only folders that nobody else can write to
are used. An entry is a folder named after the hash of everything that went into it. It holds the
product and the digest of the product; it appears by one rename, so a reader sees a whole entry or
none, however many processes build it at the same time.
"""

import atexit
import contextlib
import errno
import functools
import hashlib
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import Unsupported
from ..settings import config

FULL = {errno.ENOSPC, errno.EDQUOT}
TAKEN = {errno.ENOTEMPTY, errno.EEXIST}
ALWAYS_KEPT = {"extension"}  # of no user's program, and too long to build for one process
DAY = 86400.0  # seconds; a work folder older than this was left by a killed process


class DiskFull(Unsupported):
    """Nothing can be written any more, neither to the cache nor beside it."""


def digest(*parts: str | bytes) -> str:
    """Hex SHA-256 of the parts; ("a", "b") and ("ab",) differ."""
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()


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
            raise DiskFull(f"the disk of {folder} is full", "free some space") from error
        reason = f"cannot be used: {error.strerror}"
    if not reason:
        return folder
    _warn_unused(folder, reason)
    return None


@functools.cache
def _warn_unused(folder: Path, reason: str) -> None:
    warnings.warn(
        f"minicompiler keeps its compiled kernels for this process only: the cache folder "
        f"{folder} {reason}. Another folder: MINICOMPILER_CACHE_DIR or config.cache_dir.",
        stacklevel=3,
    )


def _folders(kind: str) -> Iterator[Path]:
    """Where entries of this kind may lie, the best place first."""
    always = kind in ALWAYS_KEPT
    folder = config.extension_dir if always else config.cache_dir
    if (config.disk_cache or always) and (cache := _cache_folder(folder)):
        yield cache / kind
    yield _private_folder(os.getpid()) / kind


def _work_folder(kind: str) -> Path:
    """A fresh folder, on the file system of the entries, to build one in."""
    for folder in _folders(kind):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sweep(folder)
            return Path(tempfile.mkdtemp(prefix=".work-", dir=folder))
        except OSError as error:
            if error.errno in FULL:
                raise DiskFull(f"the disk of {folder} is full", "free some space") from error
            _warn_unused(folder, f"cannot be written: {error.strerror}")
    raise DiskFull("no folder for compiled code can be written", "set MINICOMPILER_CACHE_DIR")


@functools.cache
def _sweep(folder: Path) -> None:
    """Once a process: remove what killed processes left half built."""
    for left in folder.glob(".work-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > DAY:
                shutil.rmtree(left, ignore_errors=True)


def _intact(product: Path) -> bool:
    """Is this the very file that was stored?"""
    try:
        return digest(product.read_bytes()) == (product.parent / "digest").read_text()
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
    work = _work_folder(kind)
    entry = work.parent / key
    try:
        make(work)
        (work / "digest").write_text(digest((work / name).read_bytes()))
        while True:
            try:
                os.rename(work, entry)
                return entry / name, False
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
            if _intact(entry / name):  # another process was faster
                return entry / name, True
            with contextlib.suppress(FileNotFoundError):  # or mended it just now
                os.rename(entry, Path(tempfile.mkdtemp(dir=work)) / "damaged")
    except OSError as error:
        if error.errno in FULL:
            raise DiskFull(f"the disk of {entry.parent} is full", "free some space") from error
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def alone(kind: str) -> Iterator[None]:
    """Within the block no other process of this user is in such a block of the same kind.

    For work that is too long to do twice. Where files cannot be locked the block simply runs:
    `fetch` is safe without.
    """
    try:
        import fcntl

        folder = next(_folders(kind))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)

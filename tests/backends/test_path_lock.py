"""The path lock; two processes are told apart in test_state_kv_sqlite.py."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from saga_backends import path_lock
from saga_backends.memory import MemoryState
from saga_backends.path_lock import PathLock, holder_of
from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import StoreLocked, StoreUnavailable
from saga_core.registry import OpenOptions
from saga_core.storage.private_files import NOTED
from saga_core.stores import Batch
from saga_server.admin import back_up, restore


def test_a_lock_excludes_until_it_is_released(tmp_path: Path) -> None:
    held = PathLock(tmp_path / "a.db")
    with pytest.raises(StoreLocked, match="open already in this process"):
        PathLock(tmp_path / "x" / ".." / "a.db")
    other = PathLock(tmp_path / "b.db")
    held.release()
    held.release()
    again = PathLock(tmp_path / "a.db")
    again.release()
    other.release()
    assert {file.name for file in tmp_path.iterdir()} == {"a.db.lock", "b.db.lock"}


def test_a_directory_has_its_lock_inside(tmp_path: Path) -> None:
    held = PathLock(tmp_path)
    assert held.file == tmp_path / ".lock"
    assert held.file.read_text() == f"{os.getpid()}\n"
    held.release()


def test_a_forked_child_does_not_keep_it(tmp_path: Path) -> None:
    held = PathLock(tmp_path / "a.db")
    duplicate = os.dup(held._descriptor or 0)  # what a fork would have
    held.release()
    PathLock(tmp_path / "a.db").release()
    os.close(duplicate)


def test_a_full_disk_does_not_keep_a_store_from_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, raw: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    PathLock(tmp_path / "a.db").release()


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(path_lock, "_lock", refuse)
    with pytest.raises(StoreUnavailable, match=r"a\.db: its lock file .*a\.db\.lock cannot be locked \(No locks"):
        PathLock(tmp_path / "a.db")
    monkeypatch.undo()
    PathLock(tmp_path / "a.db").release()


def test_a_lock_file_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="give a path in a directory that this user may write"):
        PathLock(tmp_path / "absent" / "a.db")


@pytest.mark.skipif(sys.platform == "win32", reason="no advisory locks")
def test_a_file_is_locked_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "state.db").write_bytes(b"x")
    (tmp_path / "b" / "state.db").hardlink_to(tmp_path / "a" / "state.db")
    held = PathLock(tmp_path / "a" / "state.db")
    with pytest.raises(StoreLocked, match="already in this process"):
        PathLock(tmp_path / "b" / "state.db")
    code = "import sys, pathlib; from saga_backends.path_lock import PathLock; PathLock(pathlib.Path(sys.argv[1]))"
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "b" / "state.db"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1 and "under another name (a hard link)" in ran.stderr
    held.release()
    PathLock(tmp_path / "b" / "state.db").release()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
async def test_what_is_made_is_its_users_alone(tmp_path: Path) -> None:
    usual = os.umask(0o022)
    try:
        async with Saga.open(load_config({"storage": {"path": str(tmp_path / "data")}})) as saga:
            await saga.sessions.create(label="secret")
            await saga.drain(10)
    finally:
        os.umask(usual)
    for file in (tmp_path / "data").rglob("*.db*"):
        assert file.stat().st_mode & 0o077 == 0 or file.parent.stat().st_mode & 0o077 == 0, file
    assert holder_of(tmp_path / "data" / "state.db") is None


class InFolder(MemoryState):
    """An engine that makes its folder with all above it, as the umask says."""

    def __init__(self, options: OpenOptions) -> None:
        assert options.path is not None
        options.path.mkdir(mode=0o700, parents=True)
        super().__init__()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
async def test_the_data_directory_is_its_users_alone_with_an_engine_of_others(tmp_path: Path) -> None:
    usual = os.umask(0o022)
    try:
        state = {"backend": f"{__name__}:InFolder"}
        await (await Saga.open({"storage": {"path": str(tmp_path / "data"), "state": state}})).aclose()
    finally:
        os.umask(usual)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def entries(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
async def test_what_an_older_version_made_becomes_its_users_alone_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}})
    async with Saga.open(config) as saga:
        await saga.sessions.create(label="secret")
        await saga.drain(10)
        await saga.stores.state.commit(Batch(deletes=frozenset({NOTED})))
    for path in entries(tmp_path):
        path.chmod(0o755 if path.is_dir() else 0o644)
    async with Saga.open(config):
        assert not [path for path in entries(tmp_path) if path.stat().st_mode & 0o077]
    assert caplog.text.count("now its owner alone can") == 1 and "state.db" in caplog.text
    (tmp_path / "state.db").chmod(0o640)  # by somebody who backs it up
    async with Saga.open(config):
        assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o640
    assert caplog.text.count("now its owner alone can") == 1


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
async def test_a_backup_and_what_is_restored_are_their_users_alone(tmp_path: Path) -> None:
    usual = os.umask(0o022)
    try:
        config = load_config({"storage": {"path": str(tmp_path / "data")}})
        async with Saga.open(config) as saga:
            await saga.sessions.create(label="secret")
        made = (await back_up(config, tmp_path / "b.db")).path
        made.chmod(0o644)
        await restore(config, made, force=True)
        again = (await back_up(config, tmp_path / "c.db")).path
    finally:
        os.umask(usual)
    for path in (tmp_path / "data" / "state.db", again, *(tmp_path / "data").glob("replaced-*")):
        assert path.stat().st_mode & 0o077 == 0, path


_OPENS = """
import asyncio, sys
from pathlib import Path
from saga_backends.path_lock import inherit
from saga_core import registry
from saga_core.registry import OpenOptions
from saga_core.stores import Batch

path = Path(sys.argv[1])
inherit([path], first=sys.argv[2] == "first")

async def main():
    store = await registry.load("state", "sqlite").open(OpenOptions(path))
    print(sorted(store.info.capabilities), flush=True)
    for line in sys.stdin:
        before = (await store.get([("n",)])).get(("n",), b"0")
        wanted = {("n",): before if before != b"0" else None}
        await store.commit(Batch({("n",): str(int(before) + 1).encode()}), expected=wanted)
        print("done", flush=True)
    await store.aclose()

asyncio.run(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="descriptors are passed on")
def test_a_lock_that_is_passed_on_lasts_until_the_last_of_them_ends(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    held = PathLock(path)

    def started(which: str) -> subprocess.Popen[str]:
        found = subprocess.Popen(
            [sys.executable, "-c", _OPENS, str(path), which],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=held.descriptors,
        )  # fmt: skip
        assert found.stdout is not None and "shared" in found.stdout.readline()
        return found

    def adds(process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"

    one, two = started("first"), started("later")
    try:
        for process in (one, two, one, two):
            adds(process)  # each sees what the other committed, or its expectation would not hold
        for descriptor in held.descriptors:
            os.close(descriptor)  # as at the end of the process that locked it
        with pytest.raises(StoreLocked):
            path_lock._acquire(path, held.file)
        one.communicate()
        with pytest.raises(StoreLocked):
            path_lock._acquire(path, held.file)
    finally:
        for process in (one, two):
            process.kill()
            process.communicate()
    os.close(path_lock._acquire(path, held.file))
    path_lock._open_paths.discard(held._name)


def test_what_was_inherited_is_opened_once_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_lock, "_inherited", {})
    path_lock.inherit([tmp_path / "a.db"], first=False)
    held = PathLock(tmp_path / "a.db")
    assert held.is_shared and not held.is_first and held.descriptors == ()
    with pytest.raises(StoreLocked, match="open already in this process"):
        PathLock(tmp_path / "a.db")
    held.release()
    PathLock(tmp_path / "a.db").release()
    other = PathLock(tmp_path / "b.db")
    assert other.is_first and not other.is_shared
    other.release()

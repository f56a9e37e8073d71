"""StateKV on SQLite: kills, damage, full disks, locks and cancelled tasks."""
# ruff: noqa: ASYNC240 - nothing else runs on these loops

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from saga_backends import sqlite_file
from saga_backends.state_kv.sqlite import BACKEND, SCHEMA, SqliteState
from saga_backends.state_kv.sqlite_copy import read_copy
from saga_core.errors import BadInput, Closed, NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreUnavailable
from saga_core.registry import OpenOptions
from saga_core.stores.state_kv import Batch, Key

ROOT = Path(__file__).parents[2]


async def opened(path: Path, **options: Any) -> SqliteState:
    store: SqliteState = await BACKEND.open(OpenOptions(path=path, options=options))
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteState]:
    kv = await opened(path)
    yield kv
    await kv.aclose()


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# --- durability ----------------------------------------------------------------------------------------------

WRITER = """
import asyncio, sys
from pathlib import Path
from saga_backends.state_kv.sqlite import BACKEND
from saga_core.registry import OpenOptions
from saga_core.stores.state_kv import Batch

async def main():
    store = await BACKEND.open(OpenOptions(path=Path(sys.argv[1])))
    first = int(sys.argv[2])
    for n in range(first, first + 100_000):
        if n % 3 == 2:
            batch = Batch({("turn", f"{n:06}"): b"x" * (n % 5_000), ("head",): b"%d" % n},
                          frozenset({("turn", f"{n - 2:06}")}))
        else:
            batch = Batch({("turn", f"{n:06}"): b"x" * (n % 5_000), ("head",): b"%d" % n})
        await store.commit(batch)
        print(n, flush=True)

asyncio.run(main())
"""


def expected_after(last: int) -> dict[Key, bytes]:
    state: dict[Key, bytes] = {}
    for n in range(last + 1):
        state[("turn", f"{n:06}")] = b"x" * (n % 5_000)
        state[("head",)] = b"%d" % n
        if n % 3 == 2:
            del state[("turn", f"{n - 2:06}")]
    return state


async def test_nothing_acknowledged_is_lost_by_a_kill(path: Path) -> None:
    moments = random.Random(20_261)
    first = 0
    for _ in range(5):
        process = child(WRITER, path, first)
        acknowledged = first - 1
        with process:
            assert process.stdout is not None
            for _ in range(moments.randrange(1, 60)):
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")
            acknowledged = max([acknowledged, *(int(line) for line in rest[:-1])])
        store = await opened(path)
        found = dict(await store.scan((), limit=1_000_000))
        health = await store.check(thorough=True)
        await store.aclose()
        assert health.ok, health
        head = int(found[("head",)])
        assert head in (acknowledged, acknowledged + 1)
        assert found == expected_after(head)
        first = head + 1


async def test_closing_leaves_one_file_with_everything(path: Path) -> None:
    store = await opened(path)
    await store.commit(Batch({("a",): b"1"}))
    assert path.with_name("state.db-wal").exists()
    await store.aclose()
    assert sorted(file.name for file in path.parent.iterdir()) == ["state.db", "state.db.lock"]
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    other = await opened(copy)
    assert await other.get([("a",)]) == {("a",): b"1"}
    await other.aclose()


async def test_closing_brings_the_log_into_the_file_also_when_another_program_reads(path: Path) -> None:
    store = await opened(path)
    await store.commit(Batch({("a",): b"1"}))
    browser = sqlite3.connect(path)
    assert browser.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    await store.aclose()
    assert path.with_name("state.db-wal").stat().st_size == 0
    browser.close()


@pytest.mark.parametrize(("option", "level"), [("full", 2), ("normal", 1)])
async def test_pragmas(path: Path, option: str, level: int) -> None:
    store = await opened(path, synchronous=option)
    run = store._threads.writer.run
    connection = store._file._connection
    assert connection is not None

    def pragma(name: str) -> Any:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert await run(pragma, "synchronous") == level
    assert await run(pragma, "journal_mode") == "wal"
    assert await run(pragma, "user_version") == 1
    assert await run(pragma, "application_id") == SCHEMA.application_id
    await store.aclose()


# --- reading beside writing ----------------------------------------------------------------------------------


async def test_no_read_waits_for_a_commit(store: SqliteState) -> None:
    await store.commit(Batch({("a",): b"1", ("b",): b"1"}))
    let_go = threading.Event()
    holding = asyncio.create_task(store._threads.writer.run(let_go.wait))
    await asyncio.sleep(0)
    committing = asyncio.create_task(store.commit(Batch({("a",): b"2", ("b",): b"2"})))
    async with asyncio.timeout(10):
        assert await store.get([("a",), ("b",)]) == {("a",): b"1", ("b",): b"1"}
        assert await store.scan(("b",)) == [(("b",), b"1")]
    let_go.set()
    await asyncio.gather(holding, committing)
    assert await store.get([("a",), ("b",)]) == {("a",): b"2", ("b",): b"2"}


async def test_reads_see_a_commit_that_nobody_waits_for_any_more(store: SqliteState) -> None:
    let_go = threading.Event()
    holding = asyncio.create_task(store._threads.writer.run(let_go.wait))
    await asyncio.sleep(0)
    committing = asyncio.create_task(store.commit(Batch({("a",): b"1"})))
    await asyncio.sleep(0)
    committing.cancel()
    await asyncio.gather(committing, return_exceptions=True)
    reading = asyncio.gather(store.get([("a",)]), store.scan(()))
    await asyncio.sleep(0)
    let_go.set()
    got, scanned = await reading
    assert (got, scanned) == ({("a",): b"1"}, [(("a",), b"1")])
    await holding
    await asyncio.gather(*store._threads._settling)
    assert not store._threads.behind
    assert await store.get([("a",)]) == {("a",): b"1"}


async def test_compacting_has_the_file_to_itself(path: Path, store: SqliteState) -> None:
    await store.commit(Batch({("a", str(n)): b"zanzibarium" * 300 for n in range(50)}))
    reads = [asyncio.create_task(store.scan(("a",))) for _ in range(20)]
    await store.commit(Batch(deletes=frozenset(("a", str(n)) for n in range(50))))
    compacting = asyncio.create_task(store.compact())
    reads += [asyncio.create_task(store.scan(("a",))) for _ in range(20)]
    await compacting
    assert all(b"zanzibarium" not in file.read_bytes() for file in path.parent.glob("state.db*"))
    assert [len(found) for found in await asyncio.gather(*reads)][20:] == [0] * 20
    assert store._threads.behind == 0


# --- opening -------------------------------------------------------------------------------------------------


async def test_directories_are_made(tmp_path: Path) -> None:
    store = await opened(tmp_path / "a" / "나" / "state.db")
    await store.aclose()
    assert (tmp_path / "a" / "나" / "state.db").is_file()


async def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = await opened(Path("state.db"))
    monkeypatch.chdir("/")
    await store.commit(Batch({("a",): b""}))
    assert (await store.check(thorough=True)).ok
    await store.aclose()
    assert store.info.location == str(tmp_path / "state.db")


async def test_a_path_is_needed() -> None:
    with pytest.raises(BadInput, match="give its path"):
        await BACKEND.open(OpenOptions())


async def test_synchronous_is_one_of_two(path: Path) -> None:
    with pytest.raises(BadInput, match=r"options\.synchronous: 'off' is unknown; give 'full' or 'normal'"):
        await opened(path, synchronous="off")
    await (await opened(path)).aclose()


async def test_sqlite_utils_is_imported_for_a_new_file_only(path: Path) -> None:
    code = """
import asyncio, sys
from pathlib import Path
from saga_backends.state_kv.sqlite import BACKEND
from saga_core.registry import OpenOptions

async def main():
    before = "sqlite_utils" in sys.modules
    await (await BACKEND.open(OpenOptions(path=Path(sys.argv[1])))).aclose()
    print(before, "sqlite_utils" in sys.modules)

asyncio.run(main())
"""
    seen = []
    for _ in range(2):
        with child(code, path) as process:
            seen.append(process.communicate()[0].split())
    assert seen == [["False", "True"], ["False", "False"]]


# --- locks ---------------------------------------------------------------------------------------------------

HOLDER = """
import asyncio, sys
from pathlib import Path
from saga_backends.state_kv.sqlite import BACKEND
from saga_core.registry import OpenOptions

async def main():
    store = await BACKEND.open(OpenOptions(path=Path(sys.argv[1])))
    print("open", flush=True)
    sys.stdin.readline()
    await store.aclose()

asyncio.run(main())
"""


async def test_a_path_is_opened_once_in_a_process(path: Path, store: SqliteState, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    for name in (path, link, tmp_path / "sub" / ".." / "state.db"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        with pytest.raises(StoreLocked, match="open already in this process"):
            await opened(name)
    await store.commit(Batch({("a",): b""}))
    await store.aclose()
    await (await opened(link)).aclose()


@pytest.mark.parametrize("end", ["close", "kill"])
async def test_a_path_is_opened_once_among_processes(path: Path, end: str) -> None:
    with child(HOLDER, path) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked, match=rf"{path}: is open in process {process.pid}"):
            await opened(path)
        if end == "close":
            process.stdin.write("\n")
            process.stdin.flush()
        else:
            process.kill()
        process.wait()
    await (await opened(path)).aclose()


async def test_another_program_that_writes_is_waited_for_and_then_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_BUSY_SECONDS", 0.01)
    store = await opened(path)
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match=f"{path}: another program holds the database"):
        await store.commit(Batch({("a",): b""}))
    browser.execute("ROLLBACK")
    browser.close()
    await store.commit(Batch({("a",): b""}))
    await store.aclose()


# --- damage --------------------------------------------------------------------------------------------------


async def filled(path: Path) -> bytes:
    store = await opened(path)
    for n in range(50):
        await store.commit(Batch({("n", str(n)): b"v" * 2_000}))
    await store.aclose()
    return path.read_bytes()


async def test_a_newer_schema_is_left_alone(path: Path) -> None:
    await filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=7")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match=rf"{path}: has schema version 7, and this SAGA knows versions up to 1;"):
        await opened(path)
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == ["state.db", "state.db.lock"]


def garbage(raw: bytes) -> bytes:
    return random.Random(5).randbytes(len(raw))


def truncated(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def short(raw: bytes) -> bytes:
    return raw[:40]


def text(raw: bytes) -> bytes:
    return "이것은 데이터베이스가 아니다\n".encode() * 100


@pytest.mark.parametrize("damage", [garbage, truncated, short, text])
async def test_what_is_no_database_is_refused(path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.write_bytes(damage(await filled(path)))
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match=rf"{path}: is damaged, .*put a backup in its place"):
        await opened(path)
    with pytest.raises(StoreCorrupt, match=r"; take another backup, or save what can be read with `saga restore .*`$"):
        read_copy(path)
    assert path.read_bytes() == before
    path.unlink()
    await (await opened(path)).aclose()


async def test_damage_inside_is_found_by_the_check_and_named_by_reads(path: Path) -> None:
    raw = bytearray(await filled(path))
    raw[4_096 * 2 :] = garbage(bytes(len(raw) - 4_096 * 2))
    path.write_bytes(raw)
    store = await opened(path)
    health = await store.check(thorough=True)
    assert not health.ok
    assert str(path) in health.detail
    with pytest.raises(StoreCorrupt, match=rf"{path}: is damaged"):
        await store.scan((), limit=1_000)
    await store.aclose()


async def test_the_database_of_another_program_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match=rf"{path}: holds what no engine of SAGA wrote"):
        await opened(path)
    assert path.read_bytes() == before


async def test_a_failed_migration_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(database: Any) -> None:
        database.execute("CREATE TABLE half (a)")
        database.execute("CREATE TABLE half (a)")

    schema = sqlite_file.Schema(SCHEMA.application_id, (*SCHEMA.migrations, breaks))
    monkeypatch.setattr("saga_backends.state_kv.sqlite.SCHEMA", schema)
    with pytest.raises(StoreError, match=rf"{path}: table half already exists"):
        await opened(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


async def test_an_old_file_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(path)

    def second(database: Any) -> None:
        database.execute("CREATE TABLE notes (a)")

    schema = sqlite_file.Schema(SCHEMA.application_id, (*SCHEMA.migrations, second))
    monkeypatch.setattr("saga_backends.state_kv.sqlite.SCHEMA", schema)
    store = await opened(path)
    assert len(await store.scan(("n",))) == 50
    await store.aclose()
    monkeypatch.undo()
    with pytest.raises(NewerSchema, match="version 2"):
        await opened(path)


# --- places that cannot be written ---------------------------------------------------------------------------


async def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=rf"{tmp_path}: is a directory; give the path of a file"):
        await opened(tmp_path)


async def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=rf"{tmp_path}/file/state.db: .*give a path that this user may write"):
        await opened(tmp_path / "file" / "state.db")


UNPRIVILEGED = """
import asyncio, os, sys
from pathlib import Path
from saga_backends.state_kv.sqlite import BACKEND
from saga_core.errors import StoreUnavailable
from saga_core.registry import OpenOptions

async def main():
    if os.geteuid() == 0:
        os.setuid(65_534)  # to root no file is read-only
    for path in sys.argv[1:]:
        try:
            await (await BACKEND.open(OpenOptions(path=Path(path)))).aclose()
            print("opened")
        except StoreUnavailable as error:
            print(error)

asyncio.run(main())
"""


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that a user without rights can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


async def test_without_the_right_to_write(shared_folder: Path) -> None:
    sealed = shared_folder / "sealed"
    sealed.mkdir()
    await filled(sealed / "state.db")
    plain = shared_folder / "plain"
    plain.mkdir()
    await filled(plain / "state.db")
    (plain / "state.db").chmod(0o444)
    plain.chmod(0o777)
    (plain / "state.db.lock").chmod(0o666)
    sealed.chmod(0o555)
    paths = [sealed / "state.db", sealed / "new" / "state.db", plain / "state.db"]
    with child(UNPRIVILEGED, *paths) as process:
        lines = process.communicate()[0].splitlines()
    sealed.chmod(0o755)
    assert len(lines) == 3, lines
    for place, line in zip(paths, lines, strict=True):
        assert line.startswith(f"{place}: ") and "this user" in line, line
    assert "lock file" in lines[0] and "directory cannot be made" in lines[1] and "for writing" in lines[2]


# --- full and failing disks ----------------------------------------------------------------------------------


async def test_a_batch_that_does_not_fit_is_not_there(path: Path, store: SqliteState) -> None:
    await store.commit(Batch({("kept",): b"1", ("old",): b"1"}))
    connection = store._file._connection
    assert connection is not None
    (pages,) = await store._threads.writer.run(lambda: connection.execute("PRAGMA page_count").fetchone())
    await store._threads.writer.run(lambda: connection.execute(f"PRAGMA max_page_count={pages + 3}").fetchone())
    large = Batch({("new", str(n)): b"v" * 3_000 for n in range(20)}, frozenset({("old",)}))
    with pytest.raises(StoreError, match=rf"{path}: the disk is full"):
        await store.commit(large)
    assert await store.scan(()) == [(("kept",), b"1"), (("old",), b"1")]
    await store._threads.writer.run(lambda: connection.execute("PRAGMA max_page_count=1000000").fetchone())
    await store.commit(large)
    assert len(await store.scan(("new",))) == 20


FILLER = """
import asyncio, json, resource, sys
from pathlib import Path
from saga_backends.state_kv.sqlite import BACKEND
from saga_core.errors import StoreError
from saga_core.registry import OpenOptions
from saga_core.stores.state_kv import Batch

async def main():
    store = await BACKEND.open(OpenOptions(path=Path(sys.argv[1])))
    # No file may grow beyond this: the write-ahead log meets it in the middle of some commit.
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    done, message = 0, ""
    try:
        for n in range(1_000):
            await store.commit(Batch({("n", f"{n:04}"): b"v" * 10_000, ("m", f"{n:04}"): b""}))
            done = n + 1
    except StoreError as error:
        message = str(error)
    seen = len(await store.scan(("n",))), len(await store.scan(("m",)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.commit(Batch({("after",): b""}))
    print(json.dumps([done, message, *seen]), flush=True)

asyncio.run(main())
"""


async def test_a_disk_that_fails_in_a_commit(path: Path) -> None:
    with child(FILLER, path) as process:
        done, message, *seen = json.loads(process.communicate()[0])
    assert 0 < done < 1_000
    assert message.startswith(f"{path}: the disk ") and "nothing of this write was kept" in message
    assert seen == [done, done]
    store = await opened(path)
    assert len(await store.scan(("n",))) == len(await store.scan(("m",))) == done
    assert await store.get([("after",)]) == {("after",): b""}
    await store.aclose()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, StoreError, "the disk failed or is full"),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreUnavailable, "let this user write the file and its directory"),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailable, "let this user write the file and its directory"),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreCorrupt, "put a backup in its place"),
        (sqlite3.SQLITE_LOCKED, StoreLocked, "another program"),
        (sqlite3.SQLITE_TOOBIG, StoreError, "no"),
        (None, StoreError, "no"),
    ],
)
def test_every_driver_error_is_translated(path: Path, code: int | None, kind: type[StoreError], words: str) -> None:
    error = sqlite3.OperationalError("no")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(kind, match=rf"^{path}: .*{words}") as caught, sqlite_file.translated(path):
        raise error
    assert type(caught.value) is kind and caught.value.__cause__ is error


async def test_a_check_of_a_file_that_vanished_is_not_well(path: Path) -> None:
    store = await opened(path)
    path.unlink()
    health = await store.check(thorough=True)
    assert not health.ok and str(path) in health.detail
    await store.aclose()


# --- cancelled tasks -----------------------------------------------------------------------------------------


async def test_a_cancelled_commit_is_whole(store: SqliteState) -> None:
    gate = threading.Event()
    blocker = asyncio.ensure_future(store._threads.writer.run(gate.wait))
    await asyncio.sleep(0)
    task = asyncio.ensure_future(store.commit(Batch({("a",): b"1", ("b",): b"2"})))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    await blocker
    assert await store.scan(()) == [(("a",), b"1"), (("b",), b"2")]
    await store.commit(Batch({("c",): b""}))


async def test_a_cancelled_opening_lets_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, gate = threading.Event(), threading.Event()
    connect = sqlite_file.connect

    def slow(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        entered.set()
        gate.wait()
        return connect(*args, **kwargs)

    monkeypatch.setattr(sqlite_file, "connect", slow)
    task = asyncio.ensure_future(opened(path))
    await asyncio.to_thread(entered.wait)
    task.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.undo()
    await (await opened(path)).aclose()


async def test_closing_finishes_commits_that_were_given(path: Path) -> None:
    store = await opened(path)
    gate = threading.Event()
    blocker = asyncio.ensure_future(store._threads.writer.run(gate.wait))
    await asyncio.sleep(0)
    commits = [asyncio.ensure_future(store.commit(Batch({("n", str(n)): b""}))) for n in range(5)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(store.aclose())
    await asyncio.sleep(0)
    with pytest.raises(Closed):
        await store.commit(Batch({("late",): b""}))
    gate.set()
    await asyncio.gather(blocker, closing, *commits)
    store = await opened(path)
    assert len(await store.scan(("n",))) == 5
    await store.aclose()


async def test_the_loop_is_free_while_a_commit_runs(store: SqliteState) -> None:
    gate = threading.Event()
    blocker = asyncio.ensure_future(store._threads.writer.run(gate.wait))
    commit = asyncio.ensure_future(store.commit(Batch({("a",): b""})))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not commit.done()
    gate.set()
    await asyncio.gather(blocker, commit)

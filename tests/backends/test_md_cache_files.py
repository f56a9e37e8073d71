"""MdCache in files: crashes, hands, damage, locks, and what a person finds in the folder."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.md_cache import files
from saga_backends.md_cache.files import BACKEND, FilesCache, folder_name
from saga_core.errors import BadInput, NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreUnavailable
from saga_core.registry import OpenOptions
from saga_core.stores.md_cache import Pages
from saga_core.values import PAGE_NAMES

SCOPE = "아리아의 모험"


def pages(mark: str, **texts: str) -> Pages:
    named = {name.replace("_", "."): text for name, text in texts.items()}
    return Pages({name: named.get(name, f"# {name} {mark}\n") for name in PAGE_NAMES}, mark)


async def opened(path: Path) -> FilesCache:
    cache: FilesCache = await BACKEND.open(OpenOptions(path=path))
    return cache


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
async def cache(root: Path) -> AsyncIterator[FilesCache]:
    files = await opened(root)
    yield files
    await files.aclose()


def folder(cache: FilesCache, scope: str = SCOPE) -> Path:
    return Path(cache.locate(scope) or "")


def visible(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir() if not file.name.startswith("."))


# --- what a person finds -------------------------------------------------------------------------------------


async def test_pages_are_plain_files_at_a_path_that_stays(cache: FilesCache, root: Path) -> None:
    before = folder(cache)
    for mark in ("one", "two"):
        await cache.write(SCOPE, pages(mark, state_md="# 상태\r\n체력 85\n"))
        assert folder(cache) == before
        assert visible(before) == sorted(PAGE_NAMES)
        assert (before / "state.md").read_bytes() == "# 상태\r\n체력 85\n".encode()
        assert (before / "story.md").read_text() == f"# story.md {mark}\n"
    assert before.parent == root
    assert before.name.startswith("아리아의-모험-")


async def test_a_page_that_did_not_change_is_left_alone(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one", lore_md="the same"))
    before = {name: (folder(cache) / name).stat().st_ino for name in PAGE_NAMES}
    await cache.write(SCOPE, pages("two", lore_md="the same"))
    after = {name: (folder(cache) / name).stat().st_ino for name in PAGE_NAMES}
    assert [name for name in PAGE_NAMES if before[name] == after[name]] == ["lore.md"]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=256))
def test_folder_names_are_safe(scope: str) -> None:
    name = folder_name(scope)
    assert Path(name).name == name and name not in (".", "..")
    assert len(name.encode()) <= 255 and unicodedata.is_normalized("NFC", name)
    assert not set(name) & set('/\\:*?"<>|\n\r\t ') and name[0] not in ".-" and name[-1] != "."


def test_folder_names_tell_scopes_apart() -> None:
    nfd = unicodedata.normalize("NFD", SCOPE)
    scopes = [SCOPE, nfd, "a", "A", "a/b", "a-b", "a b", "!", "?", "가" * 100, "가" * 101]
    assert len({folder_name(scope).casefold() for scope in scopes}) == len(scopes)


async def test_it_all_comes_back_after_opening_again(cache: FilesCache, root: Path) -> None:
    await cache.write(SCOPE, pages("one"))
    await cache.write("other", pages("two"))
    await cache.aclose()
    again = await opened(root)
    assert await again.scopes() == sorted([SCOPE, "other"])
    assert await again.read(SCOPE) == pages("one")
    await again.aclose()


# --- hands ---------------------------------------------------------------------------------------------------


async def test_an_edited_page_is_read_as_it_stands_and_then_replaced(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / "state.md").write_bytes("손으로 고침\r\n".encode())
    assert await cache.read(SCOPE) == pages("one", state_md="손으로 고침\r\n")
    await cache.write(SCOPE, pages("two"))
    assert await cache.read(SCOPE) == pages("two")
    assert (folder(cache) / "state.md").read_text() == "# state.md two\n"


async def test_writing_the_same_again_takes_an_edit_back(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / "state.md").write_text("edited")
    await cache.write(SCOPE, pages("one"))
    assert await cache.read(SCOPE) == pages("one")


async def test_what_a_person_keeps_in_the_folder_survives_a_drop(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    await cache.write("other", pages("two"))
    (folder(cache) / "my notes.txt").write_text("소중한 메모")
    await cache.drop(SCOPE)
    await cache.drop("other")
    assert await cache.scopes() == [] and await cache.read(SCOPE) is None
    assert visible(folder(cache)) == ["my notes.txt"]
    assert not folder(cache, "other").exists()
    await cache.write(SCOPE, pages("three"))
    assert await cache.read(SCOPE) == pages("three")


async def test_a_copied_folder_is_no_scope(cache: FilesCache, root: Path) -> None:
    await cache.write(SCOPE, pages("one"))
    source = folder(cache)
    for target in (root / f"{source.name} copy", folder(cache, "other")):
        target.mkdir()
        for file in source.iterdir():
            (target / file.name).write_bytes(file.read_bytes())
    (root / "notes.txt").write_text("not a folder")
    (root / "empty").mkdir()
    assert await cache.scopes() == [SCOPE]
    with pytest.raises(StoreCorrupt, match=f"belongs to scope '{SCOPE}' and not to 'other'"):
        await cache.read("other")


# --- damage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGE_NAMES)
async def test_a_missing_page_is_damage(cache: FilesCache, name: str) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / name).unlink()
    with pytest.raises(StoreCorrupt, match=f"{folder(cache) / name}: is missing"):
        await cache.read(SCOPE)
    await cache.write(SCOPE, pages("one"))
    assert await cache.read(SCOPE) == pages("one")


async def test_a_page_that_is_not_utf_8_is_damage(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / "story.md").write_bytes("옛 메모장".encode("cp949"))
    with pytest.raises(StoreCorrupt, match=f"{folder(cache) / 'story.md'}: is not UTF-8 .* save it as UTF-8"):
        await cache.read(SCOPE)


async def test_a_page_beyond_the_limit_is_damage(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / "story.md").write_bytes(b"x" * (cache.info.limits.value_bytes + 1))
    with pytest.raises(StoreCorrupt, match="shorten it"):
        await cache.read(SCOPE)


async def test_a_folder_in_the_place_of_a_page_is_told(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    (folder(cache) / "state.md").unlink()
    (folder(cache) / "state.md").mkdir()
    for call in (cache.read(SCOPE), cache.write(SCOPE, pages("two"))):
        with pytest.raises(StoreUnavailable, match=f"{folder(cache) / 'state.md'}: is in the way"):
            await call
    (folder(cache) / "state.md").rmdir()
    assert await cache.read(SCOPE) == pages("two"), "the write was committed before it met the folder"


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"format": "x"}', b'{"format": 1, "scope": "s"}'],
    ids=lambda raw: repr(raw)[:20],
)
async def test_an_unreadable_record_is_damage(cache: FilesCache, raw: bytes) -> None:
    await cache.write(SCOPE, pages("one"))
    record = folder(cache) / ".generation.json"
    record.write_bytes(raw)
    with pytest.raises(StoreCorrupt, match=f"{record}: cannot be read .*saga rebuild"):
        await cache.read(SCOPE)
    with pytest.raises(StoreCorrupt):
        await cache.scopes()
    health = await cache.check()
    assert not health.ok and str(record) in health.detail
    await cache.write(SCOPE, pages("two"))
    assert await cache.read(SCOPE) == pages("two")


@pytest.mark.parametrize(
    ("old", "new"),
    [("# state.md one", "# state.md 0ne"), ('"watermark": "one"', '"watermark": "two"'), ('story.md"', 'tales.md"')],
)
async def test_a_record_that_changed_is_damage(cache: FilesCache, old: str, new: str) -> None:
    await cache.write(SCOPE, pages("one"))
    record = folder(cache) / ".generation.json"
    text = record.read_text()
    assert old in text
    record.write_text(text.replace(old, new))
    with pytest.raises(StoreCorrupt, match=f"{record}: "):
        await cache.read(SCOPE)
    await cache.drop(SCOPE)
    assert await cache.read(SCOPE) is None


async def test_a_record_of_a_newer_saga_is_left_alone(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("one"))
    record = folder(cache) / ".generation.json"
    record.write_text(record.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(NewerSchema, match=f"{record}: has format 2, and this SAGA knows 1"):
        await cache.read(SCOPE)


# --- crashes -------------------------------------------------------------------------------------------------


class Crash(Exception):
    """The end of the process, at some step."""


@contextmanager
def crash_at(step: int) -> Iterator[list[str]]:
    """Raise ``Crash`` instead of the ``step``-th call that touches the disk; the list has what was done before."""
    steps: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "fsync", "unlink", "mkdir", "rmdir"):
            real = getattr(os, name)

            def counted(*args: Any, _name: str = name, _real: Any = real, **kwargs: Any) -> Any:
                if len(steps) == step:
                    raise Crash(_name)
                steps.append(_name)
                return _real(*args, **kwargs)

            patch.setattr(os, name, counted)
        yield steps


async def crash_points(
    act: Callable[[], Awaitable[None]], prepare: Callable[[], Awaitable[None]]
) -> AsyncIterator[int]:
    for step in range(100):
        await prepare()
        with crash_at(step) as steps:
            try:
                await act()
            except Crash:
                pass
            else:
                assert len(steps) == step > 2, "the disk was never touched"
                return
        yield step
    raise AssertionError("no end")


@pytest.mark.parametrize("edited", [False, True])
async def test_a_crash_while_writing_leaves_the_old_or_the_new(cache: FilesCache, root: Path, edited: bool) -> None:
    old = pages("old", state_md="edited") if edited else pages("old")

    path = folder(cache)
    alive = [cache]

    async def prepare() -> None:
        await alive[-1].write(SCOPE, pages("old"))
        if edited:
            (path / "state.md").write_text("edited")

    outcomes = []
    async for _ in crash_points(lambda: alive[-1].write(SCOPE, pages("new")), prepare):
        here = await alive[-1].read(SCOPE)
        await alive[-1].aclose()
        alive.append(await opened(root))  # another process, after the crash
        assert here is not None and (here == old or here == pages("new"))
        assert await alive[-1].read(SCOPE) == here
        outcomes.append("old" if here == old else "new")
        # A person sees whole generations too, once SAGA is up again.
        on_disk = {name: (path / name).read_text() for name in PAGE_NAMES}
        assert on_disk == here.files
        assert await alive[-1].scopes() == [SCOPE]
    await alive[-1].aclose()
    assert outcomes == sorted(outcomes, reverse=True) and set(outcomes) == {"old", "new"}


async def test_a_crash_in_the_first_write_leaves_nothing_or_all(cache: FilesCache) -> None:
    outcomes = []
    async for _ in crash_points(lambda: cache.write(SCOPE, pages("new")), lambda: cache.drop(SCOPE)):
        here = await cache.read(SCOPE)
        assert here in (None, pages("new"))
        assert await cache.scopes() == ([SCOPE] if here else [])
        outcomes.append(here is not None)
    assert outcomes == sorted(outcomes) and set(outcomes) == {False, True}


async def test_a_crash_while_dropping_leaves_all_or_nothing(cache: FilesCache) -> None:
    async def prepare() -> None:
        await cache.drop(SCOPE)
        await cache.write(SCOPE, pages("old"))
        with crash_at(4), pytest.raises(Crash):  # committed, and not published
            await cache.write(SCOPE, pages("pending"))

    outcomes = []
    async for _ in crash_points(lambda: cache.drop(SCOPE), prepare):
        here = await cache.read(SCOPE)
        assert here in (None, pages("pending"))
        outcomes.append(here is None)
    assert outcomes == sorted(outcomes) and set(outcomes) == {False, True}


async def test_a_write_goes_on_behind_a_crash(cache: FilesCache) -> None:
    async for step in crash_points(lambda: cache.write(SCOPE, pages("new")), lambda: cache.write(SCOPE, pages("old"))):
        await cache.write(SCOPE, pages(f"after {step}"))
        assert await cache.read(SCOPE) == pages(f"after {step}")
        left = [file.name for file in folder(cache).iterdir() if file.name.endswith(".tmp")]
        assert left == []


@contextmanager
def power_cut_at(step: int, root: Path) -> Iterator[list[str]]:
    """As ``crash_at``, and then every file below ``root`` is empty that was not synced as it was written last."""

    def marks(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_ino, found.st_size, found.st_mtime_ns

    def files() -> list[Path]:
        return [file for file in root.rglob("*") if file.is_file() and file.name != ".lock"]

    kept = {marks(file.stat()) for file in files()}
    real = os.fsync

    def noted(descriptor: int) -> None:
        real(descriptor)
        kept.add(marks(os.fstat(descriptor)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", noted)
        try:
            with crash_at(step) as steps:
                yield steps
        except Crash:
            for file in files():
                if marks(file.stat()) not in kept:
                    file.write_bytes(b"")
            raise


async def test_a_power_cut_while_writing_leaves_the_old_or_the_new(root: Path) -> None:
    """What was written and not synced is gone; what was renamed and removed until then is not."""
    outcomes: list[str] = []
    while len(outcomes) < 100:
        cache = await opened(root)
        await cache.write(SCOPE, pages("old"))
        whole = pages("new", lore_md="긴 이야기" * 2_000)
        cut = False
        try:
            with power_cut_at(len(outcomes), root):
                await cache.write(SCOPE, whole)
        except Crash:
            cut = True
        await cache.aclose()
        after = await opened(root)
        here = await after.read(SCOPE)
        await after.aclose()
        assert here is not None and (here == pages("old") or here == whole)
        outcomes.append("old" if here == pages("old") else "new")
        if not cut:
            break
    assert outcomes == sorted(outcomes, reverse=True) and set(outcomes) == {"old", "new"}
    assert len(outcomes) > 8, "each step was cut"


async def test_everything_is_on_the_disk_before_it_counts(cache: FilesCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut cannot be tried here; the order of syncs and renames that guards against it can."""
    await cache.write(SCOPE, pages("old", lore_md="same"))
    names = {folder(cache).stat().st_ino: "folder"}
    steps: list[tuple[str, str]] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(descriptor: int) -> None:
        number = os.fstat(descriptor).st_ino
        steps.append(("sync", names.get(number, "file")))
        synced.add(number)
        sync(descriptor)

    def noted_replace(source: Path, target: Path) -> None:
        assert target.name == ".generation.json" or source.stat().st_ino in synced
        steps.append(("rename", target.name))
        replace(source, target)

    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    await cache.write(SCOPE, pages("new", lore_md="same"))
    changed = [("sync", "file"), ("rename", "state.md"), ("sync", "file"), ("rename", "relations.md")]
    assert steps == [
        ("sync", "file"),
        ("rename", ".pending.json"),
        ("sync", "folder"),
        *changed,
        ("sync", "file"),
        ("rename", "story.md"),
        ("sync", "folder"),
        ("rename", ".generation.json"),
    ]


# --- readers beside a writer ---------------------------------------------------------------------------------


async def test_a_reader_waits_for_no_sync(cache: FilesCache, monkeypatch: pytest.MonkeyPatch) -> None:
    await cache.write(SCOPE, pages("old"))
    reached, go = threading.Semaphore(0), threading.Semaphore(0)
    real = os.fsync

    def slow(descriptor: int) -> None:
        reached.release()
        go.acquire()
        real(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    writing = asyncio.ensure_future(cache.write(SCOPE, pages("new")))
    seen = []
    while not writing.done():
        arrived = asyncio.ensure_future(asyncio.to_thread(reached.acquire))
        await asyncio.wait([arrived, writing], return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            reached.release()
        await arrived
        seen.append(await cache.read(SCOPE))
        go.release()
    await writing
    marks = [found.watermark for found in seen if found is not None]
    assert marks == sorted(marks, reverse=True) and set(marks) == {"old", "new"}
    assert all(found == pages(found.watermark) for found in seen if found is not None)


async def test_what_is_written_is_what_was_given(cache: FilesCache) -> None:
    gate = threading.Event()
    blocker = asyncio.ensure_future(cache._writer.run(gate.wait))
    files = dict(pages("given").files)
    task = asyncio.ensure_future(cache.write(SCOPE, Pages(files, "given")))
    await asyncio.sleep(0)
    files["state.md"] = "changed while it waited"
    gate.set()
    await asyncio.gather(blocker, task)
    assert await cache.read(SCOPE) == pages("given")


async def test_a_cancelled_write_is_whole(cache: FilesCache) -> None:
    await cache.write(SCOPE, pages("old"))
    gate = threading.Event()
    blocker = asyncio.ensure_future(cache._writer.run(gate.wait))
    await asyncio.sleep(0)
    task = asyncio.ensure_future(cache.write(SCOPE, pages("new")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await cache.read(SCOPE) == pages("old")
    gate.set()
    await blocker
    await cache._writer.run(lambda: None)
    assert await cache.read(SCOPE) == pages("new")


# --- places that cannot be written ---------------------------------------------------------------------------


async def test_a_path_is_needed() -> None:
    with pytest.raises(BadInput, match="give its path"):
        await BACKEND.open(OpenOptions())


async def test_a_root_is_opened_once(cache: FilesCache, root: Path) -> None:
    with pytest.raises(StoreLocked, match="open already"):
        await opened(root)
    await cache.aclose()
    await (await opened(root)).aclose()


async def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "pages"):
        with pytest.raises(StoreUnavailable, match=f"{tmp_path}/file.*give (the|a) path"):
            await opened(path)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (errno.ENOSPC, StoreError, "the disk is full"),
        (errno.EACCES, StoreUnavailable, "let this user write there"),
        (errno.EROFS, StoreUnavailable, "let this user write there"),
        (errno.EIO, StoreError, "Input/output error"),
    ],
)
async def test_errors_of_the_disk_are_told(
    cache: FilesCache, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[StoreError], words: str
) -> None:
    await cache.write(SCOPE, pages("old"))

    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match=words) as caught:
        await cache.write(SCOPE, pages("new"))
    assert type(caught.value) is kind and str(cache.info.location) in str(caught.value)
    monkeypatch.undo()
    assert await cache.read(SCOPE) == pages("old")
    await cache.write(SCOPE, pages("new"))
    assert await cache.read(SCOPE) == pages("new")


async def test_a_folder_that_cannot_be_removed_is_told(cache: FilesCache, monkeypatch: pytest.MonkeyPatch) -> None:
    await cache.write(SCOPE, pages("old"))

    def refuse(path: str, *args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(StoreUnavailable, match=f"{folder(cache)}: access denied"):
        await cache.drop(SCOPE)
    monkeypatch.undo()
    await cache.drop(SCOPE)
    assert await cache.read(SCOPE) is None and not folder(cache).exists()


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_pages_that_another_process_writes_meanwhile_are_of_one_generation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows nothing of the guard by which threads of one process keep out of each other's way."""
    here, there = (
        files.Generation(tmp_path / "s", "s", 1_000_000, threading.Lock(), others_write=True) for _ in range(2)
    )
    here.write(pages("t1"))
    plain, written = files._load, False

    def load(path: Path) -> bytes | None:
        nonlocal written
        found = plain(path)
        if path.name == name and not written:
            written = True
            there.write(pages("t2"))
        return found

    monkeypatch.setattr(files, "_load", load)
    assert here.read() == pages("t2")

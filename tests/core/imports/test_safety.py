"""Files that mean harm, or are too large: a clear word each, and nothing half imported."""

from __future__ import annotations

import base64
import io
import json
import struct
import threading
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, StoreError
from saga_core.imports import Card, Lorebook, read_file
from saga_core.imports.archives import plain_name
from saga_core.maintenance import ImportOptions
from saga_core.recall.lorebook import ActiveEntry, AuthoredLore, LoreMoment
from saga_core.world import LoreEntry, LoreRule, library, parse_world
from tests.core.imports import samples


def refused(raw: bytes) -> str:
    reading = read_file("x", raw)
    assert not reading.found
    return " ".join(each.why for each in reading.refused)


def test_a_zip_bomb_of_small_files_is_not_unpacked() -> None:
    page = b'{"a": "' + b"0" * (9 << 20) + b'"}'
    reading = read_file("x", samples.zipped({f"{number}.json": page for number in range(4)}))
    assert any("times its size" in each.why for each in reading.refused)


def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = samples.zipped({"card.json": b"0" * (64 << 20)})
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    assert "times its size" in refused(bomb)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_an_archive_that_lies_about_its_sizes() -> None:
    raw = samples.zipped({"card.json": b"0" * 100_000})
    at = raw.rindex(b"PK\x01\x02")
    lying = raw[: at + 24] + struct.pack("<I", 10) + raw[at + 28 :]
    assert refused(lying)


def test_many_files_and_archives_in_archives() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_001):
            archive.writestr(f"{number}", b"")
    assert "at most 20,000" in refused(out.getvalue())
    inner = samples.zipped({"a.zip": samples.zipped({"card.json": samples.plain(samples.card_v2())})})
    nested = samples.zipped({"outer.zip": inner})
    assert "an archive in an archive" in refused(nested)


def test_a_png_bomb_is_not_unpacked() -> None:
    packed = zlib.compress(b"A" * (20 << 20), 9)
    chunk = b"chara\0\0" + packed
    body = struct.pack(">I", len(chunk)) + b"zTXt" + chunk + struct.pack(">I", zlib.crc32(b"zTXt" + chunk))
    assert "200 times its size" in refused(b"\x89PNG\r\n\x1a\n" + body)


def test_a_picture_of_100_000_by_100_000_is_read_for_its_text_alone() -> None:
    raw = bytearray(samples.card_png(samples.card_v2()))
    raw[16:24] = struct.pack(">II", 100_000, 100_000)
    assert read_file("x", bytes(raw)).found[0].title == "Ysolde"


@pytest.mark.parametrize("path", ["../../evil", "/etc/passwd", "C:\\x\\y", "a/../b", "con", "NUL.png", "...", "a\0b"])
def test_no_path_of_an_archive_becomes_a_path(path: str) -> None:
    name = plain_name(path)
    assert name and not set(name) & set('/\\:\0<>"|?*') and name not in (".", "..")
    assert name.lower().partition(".")[0] not in ("con", "nul")


LONG_NAMES = {
    "emoji": "😀" * 100,
    "hangul": "한" * 100,
    "latin": "a" * 300,
    "dot": "a" * 119 + ".b",
    "half": "x\ud83d" * 90,
}


@pytest.mark.parametrize("name", LONG_NAMES.values(), ids=list(LONG_NAMES))
async def test_a_long_name_becomes_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    files = [(f"{number}.json", json.dumps(samples.card_v2(name=name, tags=[f"{number}"])).encode()) for number in "12"]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        found = await saga.maintenance.import_files(files, ImportOptions())
        names = [thing.world for thing in found.things]
        assert len(set(names)) == 2 and all(each and saga.worlds.get(each) for each in names)


async def test_many_cards_are_written_in_time_that_grows_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes: list[str] = []
    real = Path.read_text

    def read_text(self: Path, *given: Any, **named: Any) -> str:
        notes.append(self.name)
        return real(self, *given, **named)

    monkeypatch.setattr(Path, "read_text", read_text)
    plain = {"spec": "chara_card_v2", "data": {"name": "Mara", "description": ""}}
    cards = {
        f"{at}.json": samples.plain({**plain, "data": {**plain["data"], "description": f"{at}"}}) for at in range(40)
    }
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        for state in ("new", "known"):
            notes.clear()
            found = await saga.maintenance.import_files([("all.zip", samples.zipped(cards))], ImportOptions())
            assert {thing.state for thing in found.things} == {state}
            assert len({thing.world for thing in found.things}) == 40
            assert notes.count("IMPORTED.json") <= 40, "each world's note is read once, not once for each card"


def entries(count: int) -> bytes:
    entry = {"keys": ["k"], "content": "c", "extensions": {}, "enabled": True, "insertion_order": 1}
    return samples.plain({"entries": [entry] * count})


def test_more_entries_than_50_000_are_not_taken() -> None:
    assert "50,001 entries; at most 50,000" in refused(entries(50_001))


async def test_a_book_that_no_world_can_hold_is_refused_and_the_others_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("saga_core.world.parse.LONGEST", 1_000)
    big = samples.plain({"entries": {str(at): {"key": [f"k{at}"], "content": "text " * 20} for at in range(20)}})
    files = [("big.json", big), ("wi.json", samples.plain({"entries": {"0": samples.OLD_ENTRY}}))]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        found = await saga.maintenance.import_files(files, ImportOptions())
        assert [thing.world for thing in found.things] == ["wi"]
        assert "no world can hold it" in found.refused[0].why and "divide the world" in found.refused[0].why
        with pytest.raises(BadInput, match="no world can hold it"):
            await saga.maintenance.import_files(files[:1], ImportOptions())


async def test_a_book_is_read_once_for_the_world_that_it_becomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reads: list[str] = []

    def counted(*given: Any, **named: Any) -> Any:
        reads.append(given[1])
        return parse_world(*given, **named)

    monkeypatch.setattr(library, "parse_world", counted)
    monkeypatch.setattr("saga_core.world.render.parse_world", counted)
    raw = samples.plain({"entries": {"0": {"key": ["a"], "content": "한 " * 2_000, "comment": "Long"}}})
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        saga.worlds.read_all()
        for state in ("new", "known"):
            reads.clear()
            found = await saga.maintenance.import_files([("big.json", raw)], ImportOptions())
            assert found.things[0].state == state
            assert saga.worlds.get("big").lore[0].name == "Long"
            assert reads == (["big"] if state == "new" else [])
        folder = tmp_path / "worlds" / "big" / "LOREBOOK.md"
        assert saga.worlds.warnings("big")[0].startswith("worlds/big/LOREBOOK.md:1: "), "the text is long"
        folder.write_text(folder.read_text(encoding="utf-8").replace("Long", "Longer"), encoding="utf-8")
        assert saga.worlds.get("big").lore[0].name == "Longer", "what an author changes is read"


@pytest.mark.deep
async def test_50_000_entries_with_rules_and_texts_become_a_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = {
        str(at): {
            "uid": at, "key": [f"word{at}x", f"other {at}"], "keysecondary": ["rain"] if at % 3 == 0 else [],
            "comment": f"Entry {at}", "content": f"Entry {at} tells of the mill and of {at} stones in its wall.",
            "selective": True, "order": at % 100, "probability": 60 if at % 5 == 0 else 100, "sticky": at % 3,
        }
        for at in range(50_000)
    }  # fmt: skip
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        found = await saga.maintenance.import_files([("big.json", samples.plain({"entries": rows}))], ImportOptions())
        assert found.refused == () and len(saga.worlds.get("big").lore) == 50_000


@pytest.mark.deep
async def test_50_000_entries_become_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    book = read_file("x", entries(50_000)).found[0].record
    assert isinstance(book, Lorebook) and len(book.items) == 50_000
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        await saga.maintenance.import_files([("big.json", entries(50_000))], ImportOptions())
        assert len(saga.worlds.get("big").lore) == 50_000


def test_what_20_000_entries_in_10_000_groups_tell_is_found_in_time_that_grows_with_their_number() -> None:
    rules = [LoreRule(mode="keep", groups=(f"group {number % 10_000}",)) for number in range(20_000)]
    lore = [
        LoreEntry(f"E{number}", "concept", "A1", text="Text.", constant=True, rule=rule)
        for number, rule in enumerate(rules)
    ]
    kept = AuthoredLore(lore)
    began = time.process_time()
    told = kept.fire(LoreMoment(messages=("A word.",), count=2, replies=1, seed="s"))
    assert len(told) == 10_000, "one of each group"
    assert time.process_time() - began < 5.0, "looking through all entries for each group takes minutes"


async def test_many_entries_are_read_and_looked_through_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    threads: dict[str, set[int]] = {"fire": set(), "parse": set()}
    fire, parse = AuthoredLore.fire, library.parse_world

    def fired(self: AuthoredLore, moment: LoreMoment, left: set[str] | None = None) -> list[ActiveEntry]:
        threads["fire"].add(threading.get_ident())
        return fire(self, moment, left)

    def parsed(*given: Any, **named: Any) -> Any:
        threads["parse"].add(threading.get_ident())
        return parse(*given, **named)

    monkeypatch.setattr(AuthoredLore, "fire", fired)
    monkeypatch.setattr(library, "parse_world", parsed)
    rows = {str(at): {"key": [f"word{at}x"], "content": f"Entry {at}.", "sticky": 1} for at in range(5_100)}
    async with Saga.open({"storage": {"profile": "memory"}, "recall": {"deadline_ms": 60_000}}) as saga:
        found = await saga.maintenance.import_files([("big.json", samples.plain({"entries": rows}))], ImportOptions())
        said = [{"role": "user", "content": "I look for word77x here."}]
        pending = await saga.begin(said, world=found.things[0].world)
        assert "Entry 77." in pending.plan.text()
    assert threads["fire"] and threads["parse"]
    assert threading.get_ident() not in threads["fire"] | threads["parse"]


def test_a_page_in_a_card_is_a_text() -> None:
    page = "<script>alert(1)</script><b>{{char}}</b>"
    card = read_file("x", samples.plain(samples.card_v2(description=page))).found[0].record
    assert isinstance(card, Card) and card.description == page


def test_halves_of_letters_and_control_signs_go() -> None:
    raw = b'{"spec": "chara_card_v2", "data": {"name": "A\\ud83d", "description": "x\\u0000y\\ud83d\\ude00"}}'
    card = read_file("x", raw).found[0].record
    assert isinstance(card, Card)
    assert card.description == "xy\U0001f600" and card.name.encode()


def test_a_megabyte_of_deep_json_in_a_chunk() -> None:
    deep = base64.b64encode(b"[" * 1_000_000)
    assert "nested deeper" in refused(samples.png({"chara": deep}))


async def test_when_a_world_cannot_be_written_nothing_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worlds").write_text("a file where a folder should be")
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        files = [("c.json", samples.plain(samples.card_v2())), ("one.jsonl", samples.st_chat())]
        with pytest.raises((StoreError, BadInput, OSError)):
            await saga.maintenance.import_files(files, ImportOptions())
        assert await saga.sessions.list() == []


async def test_a_commit_that_fails_leaves_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        kv, commits = saga.stores.state, 0
        real = type(kv).commit

        async def failing(self: object, *given: object, **named: object) -> None:
            nonlocal commits
            commits += 1
            if commits > 1:
                raise StoreError("the disk is full")
            await real(self, *given, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(type(kv), "commit", failing)
        with pytest.raises(StoreError):
            await saga.maintenance.import_files([("one.jsonl", samples.st_chat(turns=200))], ImportOptions())
        monkeypatch.setattr(type(kv), "commit", real)
        assert await saga.sessions.list() == []
        found = await saga.maintenance.import_files([("one.jsonl", samples.st_chat(turns=200))], ImportOptions())
        assert found.things[0].state == "new"


@pytest.mark.deep
def test_a_chat_of_200_megabytes() -> None:
    row = json.dumps(samples.message("Ysolde", "word " * 2_000)).encode()
    raw = b"\n".join([samples.plain(samples.HEADER)] + [row] * (200_000_000 // len(row)))
    reading = read_file("big.jsonl", raw)
    assert len(reading.found) == 1
    assert "at most" in refused(raw + b"\n" + b"x" * (80 << 20))


async def test_a_card_hides_no_world_that_came_with_saga() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        came = saga.worlds.get("harrow")
        card = {"spec": "chara_card_v2", "data": {"name": "harrow", "description": "A stranger.", "first_mes": "Hi."}}
        taken = await saga.maintenance.import_files(
            [("c.json", json.dumps(card).encode())], ImportOptions(dry_run=True)
        )
        assert [each.world for each in taken.things] == ["harrow 2"]
        assert saga.worlds.get("harrow") == came

"""Backups and journal files that a stranger made: refused with what is wrong, and nothing is half written."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga_backends.key_bytes import encode
from saga_backends.state_kv.sqlite_copy import SEAL, read_copy
from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput, SagaError
from saga_core.maintenance import read_index
from saga_core.maintenance.lists import read_forgotten
from saga_server.admin import back_up, restore
from tests.core.frontend import Frontend
from tests.faults.odd import ODD, places

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def config_of(data: Path) -> Any:
    return load_config({"storage": {"path": str(data)}, "session": {"default_world": "ersia"}})


async def a_backup(data: Path) -> Path:
    config = config_of(data)
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        for number in range(3):
            await chat.say(f"{number}. I walk on.", f"The road goes on, for the {number}. time.", hp_change=-1)
        await saga.drain(20)
    return (await back_up(config)).path


def sql(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        file = sqlite3.connect(path)
        for each in statements:
            file.execute(each)
        file.commit()
        file.close()

    return change


def put(key: Any, value: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        file = sqlite3.connect(path)
        raw = key if isinstance(key, bytes | str | int) else encode(key)
        file.execute("INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)", (raw, value))
        file.execute("DELETE FROM entries WHERE key = ?", (encode(SEAL),)) if key != SEAL else None
        file.commit()
        file.close()

    return change


ATTACKS: dict[str, Callable[[Path], None]] = {
    "a trigger": sql("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE key = NEW.key; END"),
    "a view without an end": sql(
        "ALTER TABLE entries RENAME TO old",
        "CREATE VIEW entries AS WITH RECURSIVE n(key, value) AS "
        "(SELECT x'00', x'00' UNION ALL SELECT key, value FROM n) SELECT key, value FROM n",
    ),
    "a virtual table": sql("CREATE VIRTUAL TABLE v USING fts5(a)"),
    "no table": sql("DROP TABLE entries"),
    "other columns": sql("ALTER TABLE entries RENAME COLUMN value TO worth"),
    "a key that is no key": put(b"\xff\xfe", b"{}"),
    "a key of one part": put(("session",), b"{}"),
    "a key that is a text": put("session", b"{}"),
    "a value that is a text": put(("session", "s0"), "{}"),
    "a value that is a number": put(("turn", "s0", "t0"), 7),
    "a seal that is a list": put(SEAL, b"[]"),
    "a seal with more": put(SEAL, b'{"made": 1, "saga": "1", "entries": 1, "digest": "", "more": 1}'),
    "a seal that is too deep": put(SEAL, b"[" * 100_000),
    "a format that is none": put(("meta", "format"), b'"x"'),
    "a format without end": put(("meta", "format"), b'{"format": 1e999}'),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup's bytes."""
    return asyncio.run(a_backup(tmp_path_factory.mktemp("made"))).read_bytes()


@pytest.mark.parametrize("name", ATTACKS)
async def test_it_is_refused_and_nothing_is_written(name: str, made: bytes, tmp_path: Path) -> None:
    file, data = tmp_path / "theirs.db", tmp_path / "data"
    file.write_bytes(made)
    ATTACKS[name](file)
    with pytest.raises(SagaError, match=r"theirs\.db: "):
        await asyncio.wait_for(restore(config_of(data), file), 20)
    assert not list(data.rglob("*.db"))


@pytest.mark.parametrize("name", ["a trigger", "a view without an end", "a key of one part", "a value that is a text"])
async def test_as_a_journal_it_stops_nothing(name: str, made: bytes, tmp_path: Path) -> None:
    """It lies where the journal should: the chat goes on, and the server says what it found."""
    (tmp_path / "state.db").write_bytes(made)
    ATTACKS[name](tmp_path / "state.db")
    async with asyncio.timeout(20), Saga.open(config_of(tmp_path), tolerant=True) as saga:
        turn = await Frontend(saga).say("I look up.", "The sky is clear.")
        if not turn.session.id:
            assert "state.db" in saga.counters.degraded["journal.damaged"]
        try:
            await saga.sessions.list()
        except SagaError as error:
            assert "state.db" in str(error)
        await saga.status()


@settings(max_examples=2_000 if DEEP else 25, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_lists_beside_the_journal_are_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("beside")
    kept = {"path": "/b.db", "made": 1.0, "bytes": 7, "sessions": 1, "turns": 2}
    gone = {"at": 1.0, "session": "s0", "whole": True}
    for name, rows, read in (("backups", [kept], read_index), ("forgotten", [gone], read_forgotten)):
        plain: Any = {"whole": {name: rows}}
        holder, key = data.draw(st.sampled_from(list(places(plain))))
        holder[key] = data.draw(ODD)
        (folder / f"{name}.json").write_text(json.dumps(plain["whole"]), encoding="utf-8")
        try:
            for each in read(folder):
                json.dumps(str(each)), each == each
        except SagaError as error:
            assert f"{name}.json" in str(error)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        read_copy(tmp_path / "nothing.db")

"""SQLite files on file systems without a write-ahead log, and with locks that pass."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from saga_backends import sqlite_file
from saga_backends.sqlite_file import Schema, connect
from saga_core.errors import StoreLocked, StoreUnavailable

SCHEMA = Schema(0x5A6A, (lambda database: database.conn.execute("CREATE TABLE t (x)"),))


def refusing(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """Let the switch to a write-ahead log fail with ``answers``, then succeed; the last one goes on if it is ''."""
    left = list(answers)
    real = sqlite3.connect

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if "journal_mode=wal" in sql.lower() and left:
                answer = left[0] if left[0] == "delete" else left.pop(0)
                if answer != "delete":
                    raise sqlite3.OperationalError(answer)
                return super().execute("PRAGMA journal_mode=DELETE")
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *values, **named: real(*values, factory=Connection, **named))


def test_a_share_without_a_log_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    refusing(monkeypatch, "delete")
    connection = connect(tmp_path / "a.db", SCHEMA)
    assert "network share" in caplog.text and "storage.path" in caplog.text
    assert sqlite_file.journal_mode(connection) == "delete"
    connection.close()


def test_a_disk_error_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, "disk I/O error")
    with pytest.raises(StoreUnavailable, match="on many shares; set storage"):
        connect(tmp_path / "a.db", SCHEMA)


def test_a_lock_that_passes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    refusing(monkeypatch, "database is locked", "database is locked")
    connection = connect(tmp_path / "a.db", SCHEMA)
    assert sqlite_file.journal_mode(connection) == "wal"
    assert caplog.text.count("waiting up to") == 1
    connection.close()


def test_a_lock_that_stays_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, *["database is locked"] * 9)
    monkeypatch.setattr(sqlite_file, "_LOCK_SECONDS", 0.3)
    with pytest.raises(StoreLocked, match="network share"):
        connect(tmp_path / "a.db", SCHEMA)

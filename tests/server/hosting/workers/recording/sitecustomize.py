"""On the path of processes under test: each commit of their journal writes down, in its own transaction, what it
changed and whose it is.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable

from saga_backends.key_bytes import decode, encode
from saga_backends.state_kv import sqlite
from saga_core.errors import Conflict
from saga_core.stores import Key

TABLE = "CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, who TEXT, rows BLOB)"
_SIGN = encode(("lease", "server"))
_who = ""


def _hear(keys: Iterable[bytes]) -> None:
    """Learn the name of this process's server from its sign of life."""
    global _who
    beats = [decode(key)[-1] for key in keys if key.startswith(_SIGN)]
    if beats and not _who:
        _who = "saga-" + beats[0].partition("#")[0]


def _commit(
    self: sqlite._File,
    puts: list[tuple[bytes, bytes]],
    deletes: list[tuple[bytes]],
    expected: list[tuple[Key, bytes, bytes | None]],
) -> None:
    _hear(key for key, _ in puts)
    changes = [each for each in (*((key, None) for (key,) in deletes), *puts) if not each[0].startswith(_SIGN)]
    with self.writing() as connection:
        for key, raw, wanted in expected:
            row = connection.execute(sqlite.GET, (raw,)).fetchone()
            if (row[0] if row else None) != wanted:
                raise Conflict(key)
        connection.executemany(sqlite.DELETE, deletes)
        connection.executemany(sqlite.PUT, puts)
        connection.execute(TABLE)
        if changes:
            told = "INSERT INTO changes (at, who, rows) VALUES (?, ?, ?)"
            connection.execute(told, (time.time(), _who, pickle.dumps(changes)))


sqlite._File.commit = _commit  # type: ignore[method-assign]

"""The file: a JSON line for each commit. Everything here blocks, and runs on the store's one thread."""

from __future__ import annotations

import base64
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path

from saga_core import Conflict, StoreLocked, StoreUnavailable
from saga_core.stores import Batch, Key


class Log:
    """The open file and what it says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: dict[Key, bytes] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.open("a+b")
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror}") from error
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            raise StoreLocked(f"{path}: is open somewhere else") from None
        self._read()

    def _read(self) -> None:
        """A line that a crash left unfinished never was acknowledged: it is cut off."""
        self.file.seek(0)
        whole = 0
        for line in self.file:
            if not line.endswith(b"\n"):
                break
            self._apply(json.loads(line))
            whole += len(line)
        self.file.truncate(whole)

    def _apply(self, entry: dict[str, list[list[str]]]) -> None:
        for key in entry["deletes"]:
            self.values.pop(tuple(key), None)
        for *key, value in entry["puts"]:
            self.values[tuple(key)] = base64.b64decode(value)

    def commit(self, batch: Batch, expected: Mapping[Key, bytes | None]) -> None:
        for key, wanted in expected.items():
            if self.values.get(key) != wanted:
                raise Conflict(key)
        puts = [[*key, base64.b64encode(value).decode()] for key, value in batch.puts.items()]
        entry = {"deletes": [list(key) for key in batch.deletes], "puts": puts}
        end = self.file.seek(0, os.SEEK_END)
        try:
            self.file.write(json.dumps(entry).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            self.file.truncate(end)
            raise StoreUnavailable(f"{self.path}: {error.strerror}") from error
        self._apply(entry)

    def close(self) -> None:
        self.file.close()

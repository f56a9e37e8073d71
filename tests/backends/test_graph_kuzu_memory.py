"""The files of Kuzu and Ladybug contain what was written to them, and nothing else that was in the process's memory."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_database import KuzuDatabase
from tests.backends.store_openers import ENGINE

SECRET = "자색고래".encode()
BLOCKS = (520, 1_000, 2_000, 4_000, 4_088, 8_000, 40_000, 100_000)
"""Sizes in bytes. Smaller blocks come from the interpreter's own heap."""
WRITER = {"kuzu": kuzu_engine.KUZU, "ladybug": kuzu_engine.LADYBUG}[ENGINE]
PUT = "CREATE (m:Meta {name: $name, value: $value})"


def fill_free_memory() -> None:
    """Leave the secret in freed blocks of every size that the engine may be given next."""
    blocks = [bytearray((SECRET * size)[:size]) for size in BLOCKS for _ in range(4_000_000 // size)]
    del blocks


def traces(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if SECRET in file.read_bytes()]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to clear what it allocates")
def test_free_memory_of_the_process_is_not_written_to_the_files(tmp_path: Path) -> None:
    database = KuzuDatabase(WRITER, tmp_path / "g", pool_mb=32, max_mb=1_024)
    fill_free_memory()
    database.open()
    assert traces(tmp_path / "g") == []
    for number in range(3):
        fill_free_memory()
        database.write(lambda name=f"n{number}": database.rows(PUT, name=name, value="v"))
        fill_free_memory()
        database._renew()
        assert traces(tmp_path / "g") == []
    fill_free_memory()
    database.close()
    assert traces(tmp_path / "g") == []

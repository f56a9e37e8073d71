"""Large files are read bit by bit: what is in memory is what they tell, not what they are."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from saga_core.imports import Chat, foreign_file, read_file
from tests.core.imports import samples

WORDS = "lamp road bridge salt gate keeper rain winter river mill cart horse letter key tower crypt song fire".split()


class Unhurried(io.BytesIO):
    """A file that nobody may read at once. A zip's reader looks at its end."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = len(self.getbuffer()) - self.tell()
        assert (size is not None and size >= 0) or left < 70_000, "it was read as a whole"
        return super().read(size)


def rows(size: int, number: int = 0) -> Iterator[bytes]:
    """The lines of a chat of about so many bytes."""
    dice = random.Random(number)
    yield samples.plain({**samples.HEADER, "character_name": f"Y{number}"}) + b"\n"
    yield samples.plain(samples.message(f"Y{number}", f"A long road, {number}.")) + b"\n"
    told = turn = 0
    while told < size:
        turn += 1
        said = samples.message("Alex", f"On, {turn}: {' '.join(dice.choices(WORDS, k=20))}.", user=True)
        reply = samples.message(f"Y{number}", f"Day {turn}. {' '.join(dice.choices(WORDS, k=600))}.")
        for row in (said, reply):
            line = json.dumps(row).encode() + b"\n"
            told += len(line)
            yield line


def test_a_chat_of_many_lines_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"".join(rows(200_000))
    whole = read_file("x", raw).found[0]

    def opened(source: object) -> BinaryIO:
        return Unhurried(raw)

    monkeypatch.setattr(foreign_file, "_handle", opened)
    assert read_file("x", Path("x")).found[0] == whole
    assert isinstance(whole.record, Chat) and len(whole.record.messages) > 80


def test_a_zip_is_read_file_by_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "x"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.jsonl", b"".join(rows(100_000, number)))
    assert len(read_file("x", path).found) == 3
    raw = path.read_bytes()
    real = foreign_file._handle
    monkeypatch.setattr(foreign_file, "_handle", lambda source: Unhurried(raw) if source == path else real(source))
    names = [each.file for each in read_file("x", path).found]
    assert names == ["x/0.jsonl", "x/1.jsonl", "x/2.jsonl"]


def test_a_file_by_its_path_is_what_its_bytes_are(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for raw, _ in samples.ALL.values():
        path.write_bytes(raw)
        mine, theirs = read_file("x", path), read_file("x", raw)
        assert [(each.kind, each.losses) for each in mine.found] == [(each.kind, each.losses) for each in theirs.found]
        assert mine.refused == theirs.refused
    assert "cannot be read" in read_file("x", tmp_path / "none").refused[0].why


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949"])
def test_lines_in_any_encoding_are_read(encoding: str, tmp_path: Path) -> None:
    lines = [
        {"chat_metadata": {}},
        samples.message("이솔데", "문이 열린다."),
        samples.message("나", "간다.", user=True),
    ]
    path = tmp_path / "x"
    path.write_bytes("\n".join(json.dumps(each, ensure_ascii=False) for each in lines).encode(encoding))
    record = read_file("x", path).found[0].record
    assert isinstance(record, Chat) and [each.text for each in record.messages] == ["문이 열린다.", "간다."]


CHILD = """
import asyncio, resource, sys
from pathlib import Path
from saga_core import Saga
from saga_core.maintenance import ImportOptions

async def main():
    config = {"storage": {"profile": "lite", "path": sys.argv[2]}, "session": {"default_world": "harrow"}}
    async with Saga.open(config) as saga:
        begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = await saga.maintenance.import_files([("big", Path(sys.argv[1]))], ImportOptions())
        assert not found.refused and all(each.state == "new" for each in found.things)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun)

asyncio.run(main())
"""


@pytest.mark.deep
@pytest.mark.parametrize("packed", [False, True])
def test_200_megabytes_are_taken_in_within_bounds(tmp_path: Path, packed: bool) -> None:
    path, size = tmp_path / "big", 200 << 20
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(20):
                archive.writestr(f"{number}.jsonl", b"".join(rows(size // 20, number)))
    else:
        with path.open("wb") as file:
            file.writelines(rows(size))
    command = [sys.executable, "-c", CHILD, str(path), str(tmp_path / "data")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert int(done.stdout.split()[-1]) << 10 < 4 * size, "its texts, and as much again for what is made of them"

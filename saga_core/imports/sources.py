"""Where a file is read from: its bytes, or a path, from which a large file is read in pieces."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

Source = bytes | Path
_HEAD = 4_096


def opened(source: Source) -> BinaryIO:
    """Open the source for reading. Raises ``OSError``."""
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def head_of(file: BinaryIO) -> bytes:
    """The first 4,096 bytes."""
    file.seek(0)
    return file.read(_HEAD)


def lines_of(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file from its beginning. Raises ``UnicodeDecodeError`` at a line that is not UTF-8."""
    file.seek(0)
    for number, line in enumerate(file):
        yield (line if number else line.removeprefix(codecs.BOM_UTF8)).decode("utf-8")

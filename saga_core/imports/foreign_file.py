"""A file to be imported: its bytes, text, lines, JSON and archive, each made when it is first asked for."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from saga_core.imports.archives import Archive, open_archive
from saga_core.imports.records import Losses, Unreadable
from saga_core.imports.texts import beginning, decode, read_json, unmixed

Source = bytes | Path | str
FILE = 256 << 20
"""Largest file, in bytes."""
ZIP, PNG, JPEG = b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_OTHERS = {b"GIF8": "GIF picture", b"%PDF": "PDF document", b"\x1f\x8b": "gzip archive", b"7z\xbc\xaf": "7z archive",
           b"Rar!": "RAR archive", b"BM": "BMP picture"}  # fmt: skip
_HTML = ("<!doctype", "<html", "<head", "<body")
_HEAD = 1 << 16
_SAMPLE = 30
"""How many lines are looked at to see whether each is an object."""
_BLANK = "\ufeff\0 \t\r\n"


class ForeignFile:
    """A file of another tool, or a member of an archive."""

    def __init__(self, name: str, handle: BinaryIO) -> None:
        self.name = name
        """The file's name. For a member of an archive, the archive's name and the path in it."""
        self.losses = Losses()
        """What was changed or left out while the file was read."""
        self._handle = handle

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB."""
        self._handle.seek(0)
        return self._handle.read(_HEAD)

    @cached_property
    def raw(self) -> bytes:
        """The whole file."""
        self._handle.seek(0)
        return self._handle.read()

    @cached_property
    def archive(self) -> Archive | None:
        """The zip that the file is, or that follows a JPEG picture; None for other files. Raises ``Unreadable``."""
        if self.head.startswith(ZIP):
            return open_archive(self._handle)
        if self.head.startswith(JPEG) and ZIP in self.raw:
            return open_archive(io.BytesIO(self.raw))
        return None

    @cached_property
    def binary(self) -> str:
        """Which kind of picture, document or archive the file is, in words; empty for a text."""
        for mark, kind in ((PNG, "PNG picture"), (JPEG, "JPEG picture"), (ZIP, "zip archive"), *_OTHERS.items()):
            if self.head.startswith(mark):
                return kind
        if self.head.startswith(b"RIFF"):
            return "WebP picture" if self.head[8:12] == b"WEBP" else "RIFF file"
        if self.head[4:12] in (b"ftypavif", b"ftypheic"):
            return f"{self.head[8:12].decode().upper()} picture"
        return ""

    @cached_property
    def text(self) -> str:
        """The file as text; empty for a binary file. Raises ``Unreadable`` if its encoding is unknown."""
        return "" if self.binary else decode(self.raw, self.losses)

    @cached_property
    def start(self) -> str:
        """The first characters of the text, from the first that is no space; empty for a binary file."""
        if self.binary:
            return ""
        text = beginning(self.head)
        return (self.text if text is None else text).lstrip(_BLANK)[:_HEAD]

    @cached_property
    def json(self) -> Any:
        """The file as one JSON object or list; None if it is none."""
        if self.start[:1] not in ("{", "[") or self.is_lines:
            return None
        try:
            lines = self.text.strip(_BLANK).split("\n")
            return read_json("\n".join(self._unmixed(line, number) for number, line in enumerate(lines, 1)))
        except Unreadable as error:
            self._no_json = error
            return None

    _no_json: Unreadable | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The file as a JSON object; empty if it is none."""
        return self.json if isinstance(self.json, dict) else {}

    @cached_property
    def is_lines(self) -> bool:
        """Whether the file has one JSON object per line. Some of the lines may be damaged, the first one too."""
        if self.binary or self.start.startswith("["):
            return False
        sample = list(islice(self._lines(), _SAMPLE))
        lines = [line for line in (each.strip(_BLANK) for each in sample) if line]
        if len(lines) < 2:
            return False
        return 2 * sum(line.startswith("{") and _is_object(line) for line in lines) >= len(lines)

    @property
    def is_session(self) -> bool:
        """Whether ``saga export`` wrote the file."""
        line = self.start.partition("\n")[0]
        return '"saga"' in line and '"session"' in line and self.is_lines

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number, from 1, and the text of each line that is not blank.

        Byte order marks and the zero bytes that a power loss leaves are removed, wherever they are.
        """
        for number, line in enumerate(self._lines(), 1):
            text = self._unmixed(line.strip(_BLANK), number)
            if "\0" in line:
                text = text.replace("\0", "")
                self.losses.add("line", "dropped", "zero bytes, as a loss of power leaves them", f"line {number}")
            if text:
                yield number, text

    def _unmixed(self, line: str, number: int) -> str:
        mended = unmixed(line)
        if mended is not line:
            why = "UTF-8 that was saved as Windows' Western letters is read as it was"
            self.losses.add("encoding", "mapped", why, f"line {number}")
        return mended

    def _lines(self) -> Iterator[str]:
        if beginning(self.head) is None:
            yield from self.text.split("\n")
            return
        self._handle.seek(0)
        for number, line in enumerate(self._handle):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError:
                # The encoding is detected from the whole file. The lines so far are the same in each that it may be.
                yield from self.text.split("\n")[number:]
                return

    def unknown(self) -> Unreadable:
        """Return why nobody can import the file, from what it looks like."""
        if self.binary:
            return Unreadable(f"this is a {self.binary}, which holds no card; use PNG, JSON or zip")
        start = self.start[:200].lower()
        if start.startswith(_HTML):
            return Unreadable("this is a web page; save the card or chat itself as JSON, not the page that shows it")
        if start[:1] not in ("{", "["):
            return Unreadable("this is a text, and no card, lorebook or chat: such files are JSON, PNG or zip")
        if self.json is None:
            return self._no_json or Unreadable("this is no JSON")
        if isinstance(self.json, list):
            return Unreadable("this is a list, and no list of messages with role and content")
        shown = ", ".join(sorted(map(str, self.json))[:6]) or "nothing"
        return Unreadable(f"this is JSON with {shown[:200]}: no card, lorebook or chat that SAGA knows")


def _handle(source: Source) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


@contextmanager
def opened(name: str, source: Source) -> Iterator[ForeignFile]:
    """Open a file. Raises ``OSError``, and ``Unreadable`` for a file that is too large or empty."""
    with _handle(source) as handle:
        size = handle.seek(0, os.SEEK_END)
        if size > FILE:
            raise Unreadable(f"the file is {size >> 20} MB; at most {FILE >> 20} MB are taken")
        file = ForeignFile(name, handle)
        if not file.head.removeprefix(codecs.BOM_UTF8).strip(b"\0 \t\r\n") and not file.raw.strip(b"\0 \t\r\n"):
            raise Unreadable("the file is empty")
        yield file


def _is_object(line: str) -> bool:
    try:
        return isinstance(read_json(line), dict)
    except Unreadable:
        return False

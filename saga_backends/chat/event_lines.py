"""Splits bytes into the data of server-sent events or into lines of JSON, without any I/O."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from attrs import define, field

from saga_core.errors import UpstreamError

LONGEST_LINE = 32 * 1_024 * 1_024
"""The maximum size of a line, and of all data of one event, in bytes."""
_LINE_BYTES = 64
"""What a line of data takes in memory besides its text."""


class ErrorEvent(str):
    """The data of an event with the name ``error``."""

    __slots__ = ()

    def strip(self, chars: str | None = None, /) -> ErrorEvent:
        return ErrorEvent(str.strip(self, chars))


@define
class EventLines:
    """Splits bytes into the ``data`` of server-sent events.

    CR LF, LF and CR end a line. U+2028 and similar characters may occur in JSON texts and do not end a line.
    """

    bare: bool = False
    """Whether each line is the data of one event, as in NDJSON."""
    loose: bytearray = field(factory=bytearray, init=False)
    """The lines that are no fields of an event, such as those of a JSON object that came instead of a stream."""
    _begun: bool = field(default=False, init=False)
    _after_cr: bool = field(default=False, init=False)
    _rest: bytearray = field(factory=bytearray, init=False)
    _data: list[bytes] = field(factory=list, init=False)
    _size: int = field(default=0, init=False)
    """The memory that ``_data`` and ``loose`` take, in bytes."""
    _is_error: bool = field(default=False, init=False)

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the data of the events that ``chunk`` completes. Raises ``UpstreamError`` for one without end."""
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")  # the rest of a CR LF
        self._after_cr = chunk.endswith(b"\r")
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._rest += chunk
        if b"\n" not in chunk:  # do not search a long incomplete line again for each chunk
            if len(self._rest) > LONGEST_LINE:
                raise UpstreamError(f"the provider sent a line of more than {LONGEST_LINE >> 20} MB")
            return
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            yield from self._line(line)

    def finish(self) -> Iterator[str]:
        """Return the data of a last event that is not followed by an empty line."""
        rest, self._rest = bytes(self._rest), bytearray()
        yield from self._line(rest)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        if not self._begun:
            self._begun, line = True, line.removeprefix(BOM_UTF8)
        if self.bare:
            if line.strip():
                yield line.decode("utf-8", "replace")
        elif not line:
            if self._data:
                data = b"\n".join(self._data).decode("utf-8", "replace")
                self._data.clear()
                self._size = len(self.loose)
                yield ErrorEvent(data) if self._is_error else data
            self._is_error = False
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._take(len(line) + _LINE_BYTES)
        elif line.startswith(b"event:"):
            self._is_error = line[6:].strip() == b"error"
        elif line.startswith(b"error:"):  # llama.cpp of old
            self._is_error = True
            self._data.append(line[6:].removeprefix(b" "))
            self._take(len(line) + _LINE_BYTES)
        elif not line.startswith((b":", b"id:", b"retry:")):
            self.loose += line + b"\n"
            self._take(len(line))

    def _take(self, size: int) -> None:
        self._size += size
        if self._size > LONGEST_LINE:
            raise UpstreamError(f"the provider sent an event of more than {LONGEST_LINE >> 20} MB")

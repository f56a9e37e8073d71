"""Reads zip archives within limits. No path in an archive becomes a path on disk."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import BinaryIO

from attrs import define, field

from saga_core.imports.records import Asset, Unreadable
from saga_core.language import without_needless_marks

MEMBERS = 20_000
MEMBER = 256 << 20
TOTAL = 1 << 30
_RATIO, _RATIO_FROM = 200, 16 << 20
"""Highest compression ratio of all members read, checked from this unpacked size in bytes on. No chat tool's file
compresses better."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_LONGEST = 120, 235
"""Longest name in characters and bytes. Systems allow 255 bytes, and a number, a dot and an extension may follow."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


@define
class Archive:
    """An open zip. All reads share one budget of unpacked bytes."""

    _zip: zipfile.ZipFile
    names: tuple[str, ...]
    _left: int = field(default=TOTAL)
    _packed: int = field(default=0, init=False)
    """The packed size of the members that were read."""

    def read(self, name: str) -> bytes:
        """Read a member. Raises ``Unreadable`` if it is encrypted, damaged or too large."""
        info = self._zip.getinfo(name)
        most = min(MEMBER, self._left)
        if info.flag_bits & 1:
            raise Unreadable(f"{name}: is encrypted; unpack the archive first")
        if info.file_size > most:
            raise Unreadable(f"{name}: is {info.file_size >> 20} MB unpacked; {most >> 20} MB are left for it")
        unpacked, packed = TOTAL - self._left + info.file_size, self._packed + max(1, info.compress_size)
        if unpacked > _RATIO_FROM and unpacked > _RATIO * packed:
            raise Unreadable(f"{name}: with it, the archive unpacks to {unpacked // packed} times its size")
        try:
            with self._zip.open(info) as file:
                raw = file.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise Unreadable(f"{name}: cannot be unpacked ({error})") from None
        if len(raw) > most:
            raise Unreadable(f"{name}: is larger than the archive says, and than {most >> 20} MB")
        self._left -= len(raw)
        self._packed = packed
        return raw


def open_archive(file: BinaryIO) -> Archive:
    """Open a zip, which may follow a picture. Keep ``file`` open while reading from it. Raises ``Unreadable``."""
    try:
        found = zipfile.ZipFile(file)
        names = [info.filename for info in found.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
        raise Unreadable(f"the archive cannot be read ({error}); it may be cut off") from None
    if len(names) > MEMBERS:
        raise Unreadable(f"the archive holds {len(names):,} files; at most {MEMBERS:,} are taken")
    if len(set(names)) < len(names):
        raise Unreadable("the archive holds two files of one name; which of them counts nobody can tell")
    return Archive(found, tuple(names))


def plain_name(path: str, taken: Callable[[str], bool] = lambda name: False) -> str:
    """Turn a path into a plain file name that every operating system accepts and that is not ``taken``."""
    name = _UNSAFE.sub("_", without_needless_marks(path).replace("\\", "/").strip("/").rpartition("/")[2]).strip(" .")
    name = name[: _LONGEST[0]].encode("utf-8", "ignore")[: _LONGEST[1]].decode("utf-8", "ignore").strip(" .")
    if not name or _RESERVED.fullmatch(name):
        name = f"_{name}"
    base, dot, ending = name.rpartition(".")
    count, found = 2, name
    while taken(found):
        found = f"{base or name} {count}{dot}{ending}" if base else f"{name} {count}"
        count += 1
    return found


def plain_files(files: Iterable[tuple[str, bytes]]) -> tuple[Asset, ...]:
    """Give files plain names that differ by more than upper and lower case."""
    found: dict[str, Asset] = {}
    for path, data in files:
        name = plain_name(path, lambda each: each.casefold() in found)
        found[name.casefold()] = Asset(name, data)
    return tuple(found.values())

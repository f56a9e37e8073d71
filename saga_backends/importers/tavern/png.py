"""Reads cards from the text chunks of a PNG. The image data is never decompressed."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from saga_core.imports import Losses, Unreadable, decode, read_json

PNG = b"\x89PNG\r\n\x1a\n"
CARDS = "ccv3", "chara"
"""The keywords of cards. V3 counts before V2."""
_ENCRYPTED = b"rcc||"
_NO_KEY = "the card is encrypted (RisuAI's old rcc form): export it anew from RisuAI as V3"
_TEXT = 128 << 20
"""Most bytes of all text chunks of a file together, unpacked."""
_RATIO, _RATIO_FROM = 200, 16 << 20
"""Highest compression ratio of a packed text that is larger than this unpacked. No card compresses better."""
_MANY = 100_000
"""Most chunks of a file."""


def text_chunks(raw: bytes, losses: Losses) -> dict[str, bytes]:
    """The text chunks of a PNG by keyword, those of cards in lower case. The last chunk of a keyword counts.

    Raises ``Unreadable``.
    """
    found: dict[str, bytes] = {}
    left = _TEXT
    for kind, data in _chunks(raw, losses):
        if kind not in (b"tEXt", b"zTXt", b"iTXt"):
            continue
        keyword, _, rest = data.partition(b"\0")
        name = keyword.decode("latin-1")
        if kind == b"zTXt":
            rest = _unpacked(rest[1:], left)
        elif kind == b"iTXt":
            packed, rest = rest[:1] == b"\1", rest[2:]
            rest = rest.partition(b"\0")[2].partition(b"\0")[2]
            rest = _unpacked(rest, left) if packed else rest
        left -= len(rest)
        if left < 0:
            raise Unreadable(f"the picture's texts are larger than {_TEXT >> 20} MB")
        if name.lower() in CARDS:
            name = name.lower()  # frontends find the card in any case
            if name in found:
                losses.add(name, "dropped", "the picture has several such texts; the last one counts")
        found[name] = bytes(rest)
    return found


def _chunks(raw: bytes, losses: Losses) -> Iterator[tuple[bytes, bytes]]:
    at, count = len(PNG), 0
    while at + 8 <= len(raw):
        size, kind = int.from_bytes(raw[at : at + 4], "big"), raw[at + 4 : at + 8]
        end = at + 12 + size
        if end > len(raw):
            losses.add("end of the file", "dropped", f"the picture is cut off in a chunk {kind!r}")
            return
        count += 1
        if count > _MANY:
            raise Unreadable(f"the picture has more than {_MANY:,} chunks")
        data = raw[at + 8 : end - 4]
        if kind in (b"tEXt", b"zTXt", b"iTXt") and zlib.crc32(kind + data) != int.from_bytes(raw[end - 4 : end], "big"):
            losses.add("checksum", "mapped", "a text chunk's checksum is wrong; the chunk was read all the same")
        yield kind, data
        if kind == b"IEND":
            return
        at = end
    losses.add("end of the file", "dropped", "the picture has no end")


def _unpacked(data: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    least = max(_RATIO_FROM, _RATIO * len(data))
    try:
        found = unpacker.decompress(data, max(1, min(most, least)))
    except zlib.error as error:
        raise Unreadable(f"a packed text of the picture cannot be unpacked ({error})") from None
    if unpacker.unconsumed_tail and least < most:
        raise Unreadable(f"a packed text of the picture unpacks to more than {_RATIO} times its size")
    if unpacker.unconsumed_tail:
        raise Unreadable(f"the picture's texts are larger than {_TEXT >> 20} MB unpacked")
    return found


def card_in(chunks: Mapping[str, bytes], losses: Losses) -> Mapping[str, Any] | None:
    """The card in the chunks, V3 before V2; None if there is none.

    A damaged card is noted if the other one can be read. Raises ``Unreadable`` otherwise.
    """
    wrong: list[tuple[str, Unreadable]] = []
    found: Mapping[str, Any] | None = None
    for keyword in CARDS:
        if keyword not in chunks or found is not None:
            continue
        try:
            plain = read_json(decode(_decoded(keyword, chunks[keyword]), losses))
            if not isinstance(plain, dict):
                raise Unreadable(f"the picture's chunk {keyword} is no JSON object")
            found = plain
        except Unreadable as error:
            wrong.append((keyword, error))
    if found is None and wrong:
        raise wrong[0][1]
    for keyword, why in wrong:
        losses.add(keyword, "dropped", f"{why}; the picture's other card counts")
    return found


def _decoded(keyword: str, data: bytes) -> bytes:
    """The JSON of a chunk: base64 in lines or not, padded or not, also the kind for URLs, or the JSON itself."""
    if data.startswith(_ENCRYPTED):
        raise Unreadable(_NO_KEY)
    if data.lstrip()[:1] == b"{":
        return data
    packed = data.translate(bytes.maketrans(b"-_", b"+/"), b" \t\r\n\0=")
    try:
        card = base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Unreadable(f"the picture's chunk {keyword} is no base64; it may be damaged") from None
    if card.startswith(_ENCRYPTED):
        raise Unreadable(_NO_KEY)
    return card


def packed_assets(chunks: Mapping[str, bytes], losses: Losses) -> dict[str, bytes]:
    """The assets in the other chunks, by path."""
    found: dict[str, bytes] = {}
    for keyword, data in chunks.items():
        if not keyword.startswith("chara-ext-asset_"):
            continue
        path = keyword.removeprefix("chara-ext-asset_").removeprefix(":")
        try:
            found[path] = base64.b64decode(bytes(data.translate(None, b" \t\r\n")), validate=True)
        except (binascii.Error, ValueError):
            losses.add("assets", "dropped", "an asset's chunk is no base64", path)
    return found

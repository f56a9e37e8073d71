"""Turns bytes into text and JSON: detects the encoding, and removes control characters."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from saga_core.imports.records import Losses, Unreadable

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _pairs(encoding: str, first: tuple[int, int], second: tuple[int, int]) -> str:
    """The characters that an encoding has for two bytes in these ranges."""
    raw = bytes(each for one in range(*first) for two in range(*second) for each in (one, two))
    return raw.decode(encoding, "ignore")


@cache
def _usual() -> Mapping[str, tuple[re.Pattern[str], float]]:
    """For each encoding, a pattern of its common characters and the weight of a match.

    In most encodings any two bytes are some character, so only common characters count: the syllables of KS X 1001,
    kana, and the first level of GB 2312. The bytes of all those syllables are in that level too, and two thirds of the
    level are syllables in Korean. Syllables weigh a little more, because a Korean text may also contain ideographs.
    """
    return {
        "cp949": (re.compile(f"[{_pairs('cp949', (0xB0, 0xC9), (0xA1, 0xFF))}]"), 1.25),
        "cp932": (re.compile("[\u3041-\u30ff]"), 1.0),
        "gb18030": (re.compile(f"[{_pairs('gb18030', (0xB0, 0xD8), (0xA1, 0xFF))}]"), 1.0),
    }


_CONTROLS = re.compile(b"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 50
"""Of so many bytes of a text, at most one is a control character. Of random bytes, every tenth is. Zero bytes may be
what a loss of power left."""
_HIGH, _LONE = re.compile(b"[\x80-\xff]"), re.compile(b"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SEQUENCE = re.compile(b"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_SURELY = 4
"""A text has so many times more bytes in UTF-8 than others: it is UTF-8, and damaged. Japanese letters look like it."""
_WESTERN = re.compile(b"(?<![\x80-\xff])[\x85\x91-\x97](?![\x80-\xff])|(?<=[A-Za-z])[\xc0-\xfe](?=[a-z ])")
"""A byte that stands alone: a quotation mark, a dash or an accented letter of Windows' Western letters."""
_MAY_BE_MIXED = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]")
_MIXED = re.compile(
    "[\u00e0-\u00f4](?![\u0085\u0091-\u0097\u00a0\u00bb]{2})[\u0080-\u00bf]{2}|[\u00c2-\u00df][\u0080-\u00bf][\u00c2-\u00df]"
    "|[\u00c2\u00c3][\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u00bf]"
)
"""Bytes of UTF-8 as Western letters, such as ``â€™``, ``Ð¿Ñ€`` and ``Ã©``. Nobody writes them on purpose."""
_BYTES = {ord(bytes([n]).decode("cp1252", "ignore") or chr(n)): n for n in range(0x80, 0xA0)}
"""What Windows' Western letters make of the bytes that Latin-1 has no letters for."""
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_LATIN = re.compile(b"[\x91-\x94\xc0-\xff]")  # curly quotes and accented letters
_CUT = "the file is cut off in the middle of a letter"
_SAMPLE = 200_000
_LEVELS = 200
"""Deepest nesting of objects and lists in a file."""
_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")


def decode(raw: bytes, losses: Losses) -> str:
    """Detect the encoding of a file and decode it. Raises ``Unreadable`` if it is not a text."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _decoded(raw[len(mark) :], encoding, losses, noted=True)
    encoding = _wide(raw)
    if encoding:
        return _decoded(raw, encoding, losses, noted=True)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(raw) - 3 and error.reason == "unexpected end of data":
            losses.add("end of the file", "dropped", _CUT)
            return raw[: error.start].decode("utf-8")
    sample = raw[:_SAMPLE]
    if _MOST_CONTROLS * len(_CONTROLS.findall(sample)) > len(sample):
        raise Unreadable("this is no text")
    good = sum(map(len, _SEQUENCE.findall(raw)))
    bad = len(_HIGH.findall(raw)) - good
    encoding = _local(raw) if good <= _SURELY * bad else ""
    if encoding in ("", "cp1252") and (good > bad or _has_whole_line(raw)):
        return _mended(raw, losses)
    if encoding:
        return _decoded(raw, encoding, losses, noted=True)
    raise Unreadable("this is no text in UTF-8, UTF-16 or an encoding of Korean, Japanese, Chinese or Latin letters")


def unmixed(line: str) -> str:
    """A line whose UTF-8 was read as Windows' Western letters and saved again, as it was; any other as it is."""
    if _MAY_BE_MIXED.search(line) is None:
        return line
    latin = line.translate(_BYTES)
    if _MIXED.search(latin) is None:
        return line
    try:
        return latin.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return line


def beginning(head: bytes) -> str | None:
    """The beginning of a file as text, from its first bytes; None if it is not in UTF-8."""
    if head.startswith(tuple(mark for mark, _ in _MARKS)) or _wide(head[: len(head) & ~1]):
        return None
    try:
        return _begun(head, "utf-8")[0]
    except UnicodeDecodeError:
        return None


def _has_whole_line(raw: bytes) -> bool:
    """Whether a line has letters beyond ASCII, and all of them in UTF-8. No text in Western European is like that."""
    for line in raw.split(b"\n"):
        if not line.isascii():
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                continue
            return True
    return False


def _mended(raw: bytes, losses: Losses) -> str:
    """Decode UTF-8 line by line. A line that is not is in Western European, or has U+FFFD for each byte that is not."""
    lines = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            mended = _WESTERN.sub(lambda found: found[0].decode("cp1252").encode(), line)
            text = mended.decode("utf-8", "replace")
            bad = text.count(_UNREADABLE) - line.count(_UNREADABLE.encode())
            if bad:
                losses.add("encoding", "mapped", "a byte that is not UTF-8 stands as U+FFFD", f"line {number}", bad)
            if mended != line:
                losses.add("encoding", "mapped", "a byte that is not UTF-8 is read as cp1252", f"line {number}")
            lines.append(text)
    return "\n".join(lines)


def _local(raw: bytes) -> str:
    """The regional encoding of a text (Korean, Japanese, Chinese or Western European); "" if none fits."""
    sample = raw[:_SAMPLE]
    best, score = "", 0.0
    for encoding, (usual, weight) in _usual().items():
        found = weight * len(usual.findall(sample.decode(encoding, "ignore")))
        if found > score and _reads(raw, encoding):
            best, score = encoding, found
    high, lone = len(_HIGH.findall(sample)), len(_LONE.findall(sample))
    if best == "cp932" or (best and lone * 2 <= high):
        return best
    # In Latin text, accented letters stand alone between ASCII letters.
    return "cp1252" if _LATIN.search(sample) and _reads(raw, "cp1252") else best


def _wide(raw: bytes) -> str:
    """Detect UTF-16 without a byte order mark, where every second byte of ASCII is zero; "" for other encodings."""
    sample = raw[:64]
    if len(sample) < 4 or len(raw) % 2:
        return ""
    if sample[1:8:2].count(0) >= 2 and 0 not in sample[0:2:2]:
        return "utf-16-le"
    if sample[0:8:2].count(0) >= 2 and 0 not in sample[1:2:2]:
        return "utf-16-be"
    return ""


def _reads(raw: bytes, encoding: str) -> bool:
    try:
        _begun(raw, encoding)
    except UnicodeDecodeError:
        return False
    return True


def _begun(raw: bytes, encoding: str) -> tuple[str, bool]:
    """The text, and whether it ends in the middle of a character, which is then left out."""
    decoder = codecs.getincrementaldecoder(encoding)()
    text = decoder.decode(raw)
    return text, bool(decoder.getstate()[0])


def _decoded(raw: bytes, encoding: str, losses: Losses, *, noted: bool) -> str:
    try:
        text, cut = _begun(raw, encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"the text is no whole {encoding} (byte {error.start}); save it as UTF-8") from error
    if cut:
        losses.add("end of the file", "dropped", _CUT)
    if noted:
        losses.add("encoding", "mapped", f"read as {encoding}")
    return text


def read_json(text: str) -> Any:
    """Parse JSON. Raises ``Unreadable`` with the position of the error, and for more than 200 levels."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise Unreadable(_TOO_DEEP) from None
    except ValueError as error:
        cut = " (the file seems to be cut off)" if _is_cut(text, error) else ""
        raise Unreadable(f"this is no JSON: {error}{cut}") from None
    _check_depth(found)
    return found


_TOO_DEEP = f"the JSON is nested deeper than {_LEVELS} levels; no file of a chat tool is"


def _is_cut(text: str, error: ValueError) -> bool:
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _LEVELS:
            raise Unreadable(_TOO_DEEP)
        inner: list[Any] = []
        for each in level:
            parts = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            inner += [part for part in parts if isinstance(part, dict | list)]
        level = inner


def tidy(text: str) -> str:
    """Return the text without lone surrogates and control characters, and with ``\\n`` as line ending."""
    if text.isprintable():
        return text
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NOT_TEXT.sub("", text)

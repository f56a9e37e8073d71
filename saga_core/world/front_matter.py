"""The front matter of WORLD.md: a small, strict part of YAML, read and written without a YAML library.

Known are ``key: value``, ``key: [a, b]`` and ``key:`` with ``- item`` lines below it, plain or quoted text, and
comments. All values are text. Anything else that YAML has is refused with its line, never guessed at.
"""

from __future__ import annotations

import re

from attrs import frozen

FENCE = "---"

_KEY = re.compile(r"([^\s:#\[\]{}\"'&*!|>%@`,-][^:#]*?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_BARE = re.compile(r"[^\W\d_](?:[\w -]*\w)?")
_YAML_WORDS = frozenset("true false yes no on off null y n".split())
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_ONE_LINE = "write the value on one line, in double quotes, with \\n for a new line"


@frozen
class FrontField:
    """One key with its line and its value: text, or a tuple of texts for a list."""

    key: str
    line: int
    value: str | tuple[str, ...]


@frozen
class FrontFault:
    """Something that this reader refuses."""

    line: int
    message: str
    remedy: str


@frozen
class FrontMatter:
    """The fields in order, the text that follows (all of it when there is no front matter), the faults."""

    fields: tuple[FrontField, ...]
    body: str
    faults: tuple[FrontFault, ...]


class _Refused(Exception):
    def __init__(self, message: str, remedy: str) -> None:
        self.message, self.remedy = message, remedy
        super().__init__(message)


def read_front_matter(text: str) -> FrontMatter:
    """Split ``text`` (line ends as ``\\n``) into front matter and body."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return FrontMatter((), text, ())
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == FENCE), None)
    if end is None:
        fault = FrontFault(1, "the front matter has no end", f'close it with a line "{FENCE}"')
        return FrontMatter((), "", (fault,))
    fields: list[FrontField] = []
    faults: list[FrontFault] = []
    at = 1
    while at < end:
        line = at + 1
        try:
            field, at = _read_field(lines, at, end)
            if field is not None:
                if any(field.key == other.key for other in fields):
                    raise _Refused(f'key "{field.key}" stands twice', "keep one of them")
                fields.append(field)
        except _Refused as refused:
            faults.append(FrontFault(line, refused.message, refused.remedy))
            at = max(at, line)
            while at < end and not _KEY.match(lines[at]):
                at += 1
    return FrontMatter(tuple(fields), "\n".join(lines[end + 1 :]), tuple(faults))


def write_front_matter(fields: list[tuple[str, str | tuple[str, ...]]]) -> str:
    """The front matter with its fences, each field on one line. What it gives, ``read_front_matter`` reads."""
    rows = [FENCE]
    for key, value in fields:
        shown = _quote(value) if isinstance(value, str) else f"[{', '.join(_quote(item) for item in value)}]"
        rows.append(f"{key}: {shown}")
    return "\n".join([*rows, FENCE])


def _read_field(lines: list[str], at: int, end: int) -> tuple[FrontField | None, int]:
    """The field that starts at index ``at`` (None for a blank or a comment) and the index after it."""
    row = lines[at]
    if not row.strip() or row.lstrip().startswith("#"):
        return None, at + 1
    match = _KEY.match(row)
    if match is None:
        if row[0] in " \t-":
            raise _Refused("this line belongs to no key, or continues a value", _ONE_LINE)
        raise _Refused(f'"{row.strip()}" is not "key: value"', "write key: value, or end the front matter")
    key, rest = match.group(1), (match.group(2) or "").strip()
    if _COMMENT.sub("", rest):
        value: str | tuple[str, ...] = _list(rest) if rest.startswith("[") else _scalar(rest)
        return FrontField(key, at + 1, value), at + 1
    items: list[str] = []
    below = at + 1
    listed = False
    while below < end:
        row = lines[below]
        item = _ITEM.match(row)
        if item is not None:
            items.append(_scalar((item.group(1) or "").strip()))
            listed = True
        elif row.strip() and not row.lstrip().startswith("#"):
            break
        below += 1
    return (FrontField(key, at + 1, tuple(items)), below) if listed else (FrontField(key, at + 1, ""), at + 1)


def _scalar(text: str) -> str:
    """The value of a whole plain or quoted scalar, with a comment allowed behind it."""
    value, rest = _take(text, stops="")
    if _COMMENT.sub("", rest).strip():
        raise _Refused(f'text "{rest.strip()}" stands after a closing quote', "put all of it into the quotes")
    return value


def _list(text: str) -> tuple[str, ...]:
    """The items of an inline list, with a comment allowed behind it."""
    items: list[str] = []
    rest = text[1:].lstrip()
    while not rest.startswith("]"):
        value, rest = _take(rest, stops=",]")
        items.append(value)
        rest = rest.lstrip()
        if rest.startswith(","):
            rest = rest[1:].lstrip()
        elif not rest.startswith("]"):
            raise _Refused("a list has no closing bracket", "write the list on one line: [one, two]")
    if _COMMENT.sub("", rest[1:]).strip():
        raise _Refused(f'text "{rest[1:].strip()}" stands after a list', "put the whole list into the brackets")
    return tuple(items)


def _take(text: str, stops: str) -> tuple[str, str]:
    """One scalar from the start of ``text``, and what follows it."""
    if text.startswith('"'):
        return _double_quoted(text)
    if text.startswith("'"):
        match = re.match(r"'((?:[^']|'')*)'", text)
        if match is None:
            raise _Refused("a quote is not closed", _ONE_LINE)
        return match.group(1).replace("''", "'"), text[match.end() :]
    if text[:1] in tuple("|>&*!{[%@`}]") or text[:2] in ("- ", "? ", ": "):
        raise _Refused(f'"{text[:1]}" starts a kind of YAML value that is not read here', _ONE_LINE)
    stop = min((at for at in (text.find(char) for char in stops) if at >= 0), default=len(text))
    value, rest = text[:stop], text[stop:]
    plain = _COMMENT.sub("", value).strip()
    if stops and (not plain or plain != value.strip()):
        raise _Refused("a list has an empty item, or a comment inside it", "write the list on one line: [one, two]")
    value = plain
    if ": " in value or value.endswith(":"):
        raise _Refused(f'the value "{value}" has a colon in it', "put the value into double quotes")
    return value, rest


def _double_quoted(text: str) -> tuple[str, str]:
    value: list[str] = []
    at = 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(value), text[at + 1 :]
        if char == "\\":
            at += 1
            escaped = text[at : at + 1]
            if escaped not in _ESCAPES:
                raise _Refused(f'"\\{escaped}" is not read here', 'use \\n, \\t, \\" or \\\\')
            char = _ESCAPES[escaped]
        value.append(char)
        at += 1
    raise _Refused("a quote is not closed", _ONE_LINE)


def _quote(value: str) -> str:
    if _BARE.fullmatch(value) and value.casefold() not in _YAML_WORDS:
        return value
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        value = value.replace(char, escaped)
    return f'"{value}"'

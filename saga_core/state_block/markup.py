"""Converts HTML, XML, headings, tables and brackets in the lines of a block to ``key: value``.

A line is only converted if the text in place of the key names a field, so no new fields are invented. Lines of pure
markup are removed. Text that no rule covers stays unchanged for the parser.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from saga_core.language import without_needless_marks
from saga_core.state_block.fields import field_of, is_header

_COMMENT = re.compile(r"<!--.{0,300}?-->", re.S)
_SLASHED = re.compile(
    r'"(?:\\.|[^"\\\n])*"|“[^“”\n]*”|(?<![^\s:=\[{,(])\'[^\'\n]*\'(?![^\s,\]})])|(?P<comment>(?:^|(?<=[\s,{\[]))/\*.{0,500}?\*/)',
    re.S,
)
_BREAK = re.compile(r"<br[ \t]*/?>[ \t]*", re.I)
_INLINE = re.compile(r"</?(?:b|i|u|em|strong|code|span|small|font|mark|kbd|tt)(?:[ \t][^<>\n]*)?>", re.I)
_BLOCK = re.compile(
    r"</?(?:p|div|ul|ol|dl|pre|section|details|summary|blockquote|table|tbody)(?:[ \t][^<>\n]*)?>", re.I
)
_ITEM = re.compile(r"<li(?:[ \t][^<>\n]*)?>", re.I)
_ITEM_END = re.compile(r"</li>", re.I)
_ELEMENT = re.compile(
    r"<(?P<tag>[^<>/\s]{1,40})>(?P<value>(?:[^<>]|(?<=[-=–])>)*)</(?P=tag)>(?:[ \t]+\([^()\n]{1,40}\)[ \t]*$)?",
    re.I | re.M,
)
_ALONE = re.compile(r"^(?P<indent>[ \t>]*)<(?P<end>/?)(?P<tag>[^<>/\s]{1,40})>[ \t]*$", re.M)

_PREFIX = r"(?P<prefix>[ \t\u00a0\u3000>]*+(?:[-*+•–—][ \t]+)?)"
_STRUCK = re.compile(r"[ \t>]*+(?:[-*+•–—][ \t]+)?~~[^~]+~~[ \t]*")
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,80}~~[ \t]*(?:->|→)?[ \t]*")
_BOX = re.compile(r"(?P<prefix>[ \t\u00a0\u3000>]*+)(?:[-*+•–—][ \t]+)?(?:\[[xX✓✔]\]|[☑✅✔])[ \t]+(?P<rest>\S.*)")
_CIRCLED = re.compile(r"(?P<prefix>[ \t\u00a0\u3000>]*+)[①-⑳⓵-⓾❶-❿➀-➓][ \t]*(?P<rest>\S.*)")
_HEADING = re.compile(r"(?P<prefix>[ \t>]*+)#{1,6}[ \t]+(?P<rest>\S.*)")
_BRACKETED = re.compile(
    _PREFIX
    + r"(?:\[(?P<a>[^\[\]\n]{1,40})\]|【(?P<b>[^】\n]{1,40})】|〔(?P<c>[^〕\n]{1,40})〕|［(?P<d>[^］\n]{1,40})］)"
    + r"[ \t]*[:：=]?[ \t]*(?P<value>\S.*)"
)
_PARTED = re.compile(_PREFIX + r"(?P<key>[^:：=＝|\t\n]{1,40}?)(?:\t+|[ \t]+[-–—|][ \t]+)(?P<value>\S.*)")
_ROW = re.compile(r"(?P<prefix>[ \t>]*+)\|(?P<cells>[^\n]+?)\|?[ \t]*")
_RULER = re.compile(r"[ \t>]*+\|?(?:[ \t]*+:?[-–—]{2,}:?[ \t]*\|)+(?:[ \t]*:?[-–—]{2,}:?[ \t]*)?[ \t]*")
_TAGGED = re.compile(r"(?P<key>^[^:：=\"'“]{1,60}[:：=][ \t]*)!!(?:str|int|float|bool|null|seq|map)[ \t]+")
_EDGES = " \t*_`\"'"
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_LINE_END = re.compile(r"\r\n?")
_MARKED = re.compile(r"[<|~\t【〔［\[#☑✅✔①-⑳⓵-⓾❶-❿➀-➓]|/\*|!!| [-–—] ")
"""A text without a match contains no markup."""


def undressed(body: str) -> str:
    """``body`` without needless invisible characters and markup, with HTML entities decoded."""
    body = without_needless_marks(body)
    if _MARKED.search(body):
        body = unmarked(_LINE_END.sub("\n", body))
    if "&" in body and _ENTITY.search(body):
        body = html.unescape(body)
    return body


def unmarked(body: str) -> str:
    """``body`` without markup around its keys and values."""
    if "/*" in body:
        body = _SLASHED.sub(lambda found: found.group() if found["comment"] is None else " ", body)
    if "<" in body:
        body = _untagged(body)
    return "\n".join(_lines(body))


def _untagged(body: str) -> str:
    body = _COMMENT.sub("", body)
    body = _BREAK.sub("\n", body)
    body = _ITEM_END.sub("", _ITEM.sub("- ", _BLOCK.sub("", _INLINE.sub("", body))))
    if "</" not in body:
        return body
    body = _ELEMENT.sub(_element, body)
    return _ALONE.sub(_alone, body)


def _element(found: re.Match[str]) -> str:
    """``<mood>calm</mood>`` as a line. An element that names no field is a list item of the field around it."""
    if field_of(found["tag"]):
        return f"{found['tag']}: {found['value'].strip()}"
    return found.group() if is_header(found["tag"]) else f"- {found['value'].strip()}"


def _alone(found: re.Match[str]) -> str:
    if found["end"] or is_header(found["tag"]):
        return ""
    return f"{found['indent']}{found['tag']}:" if field_of(found["tag"]) else found.group()


def _lines(body: str) -> Iterator[str]:
    under = False
    for line in body.split("\n"):
        plain = _line(line)
        if _HEADING.fullmatch(line):
            under = plain.endswith(":")
        elif under and plain.strip():
            key = re.split(r"[:：=]", plain, maxsplit=1)[0].strip(_EDGES + "->•+")
            plain = plain if field_of(key) else f"  {plain}"  # lines under a heading are its value
        yield plain


def _line(line: str) -> str:
    """One line, converted to ``key: value`` if it is a field in other notation."""
    if len(line) > 2_000 or not line.strip():
        return line
    if _STRUCK.fullmatch(line):
        return ""
    if "~~" in line:
        line = _STRUCK_OUT.sub("", line)
    if "!!" in line:
        line = _TAGGED.sub(lambda found: found["key"], line)
    for dress in (_BOX, _CIRCLED):
        if found := dress.fullmatch(line):
            line = f"{found['prefix']}- {found['rest']}"
    if found := _HEADING.fullmatch(line):
        return _heading(found) or line
    if "|" in line:
        if _RULER.fullmatch(line):
            return ""
        if found := _ROW.fullmatch(line):
            return _row(found) or line
    if found := _BRACKETED.fullmatch(line):
        key = next(found[name] for name in "abcd" if found[name] is not None)
        if field_of(key):
            return f"{found['prefix']}{key}: {found['value']}"
    elif (found := _PARTED.fullmatch(line)) and field_of(found["key"].strip(_EDGES)):
        return f"{found['prefix']}{found['key'].strip(_EDGES)}: {found['value']}"
    return line


def _heading(found: re.Match[str]) -> str:
    """Convert ``## location`` and ``## location: 숲``; "" for a heading that names no field and so is a comment."""
    rest = found["rest"].rstrip(" #")
    key = re.split(r"[:：=]", rest, maxsplit=1)
    if field_of(key[0].strip(_EDGES)) or is_header(key[0].strip(_EDGES)):
        return found["prefix"] + (rest if len(key) > 1 else f"{rest.strip(_EDGES)}:")
    return ""


def _row(found: re.Match[str]) -> str:
    """Convert a table row whose first cell names a field and whose second cell is its value; "" for other rows."""
    cells = [cell.strip() for cell in found["cells"].split("|")]
    key = cells[0].strip(_EDGES)
    return f"{found['prefix']}{key}: {cells[1]}" if len(cells) > 1 and field_of(key) else ""

"""The line structure of a block's body: which lines begin a field, and which continue the previous one."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from attrs import Factory, define, frozen

from saga_core.state_block import flow
from saga_core.state_block.fields import (
    FIELDS,
    LIST_KINDS,
    Field,
    Kind,
    field_of,
    is_header,
    record_key,
)
from saga_core.state_block.flow import Node, Pairs, Scalar, Seq
from saga_core.trackers import NO_TRACKERS, Trackers

_LINE_END = re.compile(r"\r\n|[\r\n]")
_QUOTE_MARKS = re.compile(r"[ \t\u00a0\u3000]*(?:>[ \t]?)+")
_INDENT = re.compile(r"[ \t\u00a0\u3000]*")
_BULLET = re.compile(r"(?:[-*+•·‣▪◦–—]|\d{1,2}[.)])[ \t\u00a0\u3000]+")
_RULE = re.compile(r"[-=_*]{3,}|\.{3}")
_KEY = re.compile(r"(?P<key>[^:：=＝]{1,60}?)\s*(?:[:：]{1,2}|[=＝]>?)\s*(?P<value>.*)", re.DOTALL)
_UNKNOWN_KEY = re.compile(r"[\w*`\"' ()/-]{1,30}")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?")
_QUOTED = r'"(?:\\.|[^"\\\n])*"|“[^“”\n]*”|(?<![^\s:=\[{,(])\'[^\'\n]*\'(?![^\s,\]})])'
_COMMENT_STARTS = (
    r"(?:^[ \t]*|(?<![ \t\u3000])[ \t\u3000]{2,}|\t|(?<=[\]}])[ \t])(?:#|//)",
    r"(?<=[,{\[])[ \t]*//",  # JSON with comments
    r"(?<=[ \t])//(?=[ \t])",
)
_COMMENT = re.compile(rf"{_QUOTED}|(?P<comment>{'|'.join(_COMMENT_STARTS)})")
_QUOTED_TEXT = re.compile(_QUOTED)
_NEXT_KEY = re.compile(r"\s*,\s*[\"'“]?[\w -]{1,40}[\"'”]?\s*[:：]")
_REST_OF_QUOTE = re.compile(r"[ \t]++[^\"'\[\]{}]*+([\"'])[ \t]*(?:[,\]}]|\Z)")
_REST_OF_TEXT = re.compile(r"[ \t]++(?:[^\"'\[\]{}:：,#]|:\d)++[,\]}]")
_BREAKS = "[{,:：［｛，、;\"'"
_EMPHASIS = "*_`"
_BETWEEN = ",，;；|/ \t"
_BRACKET = re.compile(rf"{_QUOTED}|(?P<open>[\[{{［｛])|(?P<close>[\]}}］｝])")
_CLOSERS = tuple("]}］｝")
_REMARK = re.compile(r"[(（][^()（）]{1,60}[)）]")
_UNASSIGNED = re.compile(
    r"[*_`]{0,3}(?P<key>\w[^:：=＝\[\]{}]{0,40}?)[*_`]{0,3}\s+(?P<value>[\[{［｛].*|\S+(?: \S+){0,4})"
)


@frozen
class Line:
    """One line: its indentation in columns, and its text without bullet, comment and quote marks."""

    indent: int
    text: str
    bullet: bool
    cut: bool = False
    added: bool = False
    """Whether its bullet is a plus sign, with which a list gains."""


@define
class Entry:
    """A key, the field that it names (None if unknown), and the lines that belong to it.

    ``cut`` is True if the text ended inside a line of this entry; that line was dropped.
    """

    key: str
    field: Field | None
    inline: str
    indent: int
    bullet: bool = False
    more: list[Line] = Factory(list)
    cut: bool = False
    depth: int = 0

    @property
    def is_block_scalar(self) -> bool:
        return _BLOCK_SCALAR.fullmatch(self.inline) is not None

    def holds(self, line: Line, key: str) -> bool:
        """Whether ``line`` belongs to this entry even if its ``key`` could begin another one."""
        deeper = line.indent > self.indent
        if self.is_block_scalar:
            return deeper
        if self.depth > 0:
            return deeper
        if self.field is None or self.inline or not key:
            return False
        if self.field.kind is Kind.COUNT:
            return deeper
        nested = deeper or (line.bullet and not self.bullet)
        return nested and record_key(self.field.kind, key) is not None

    def accepts(self, line: Line) -> bool:
        """Whether ``line``, which names no field, continues this entry."""
        deeper = line.indent > self.indent
        if self.depth > 0:
            return True
        if self.field is None:
            return deeper or line.bullet
        if self.field.kind in LIST_KINDS:
            return (
                line.bullet
                or line.text[0] in "]}］｝"
                or (deeper and (not self.inline or self.inline[-1] in flow.SEPARATORS))
            )
        if not self.inline:
            return deeper or line.bullet
        return deeper and self.field.name == "notes"

    def add(self, line: Line) -> None:
        """Add ``line``. A cut line is not added, but marks the entry as cut."""
        if line.cut:
            self.cut = True
            return
        self.more.append(line)
        if self.depth > 0:
            self.depth += balance(line.text)


@frozen
class Body:
    """A body split into entries, in order, and the lines that belong to no entry."""

    entries: tuple[Entry, ...]
    strays: tuple[str, ...]


def whole_lines(body: str, *, closed: bool) -> tuple[list[str], str]:
    """The lines of ``body`` without quote marks and comments, and the line that was cut by the end of the text.

    The cut line is "" if it contains only white space or the beginning of a closing fence.
    """
    lines = [_clean(line) for line in _LINE_END.split(body)]
    cut = "" if closed else lines.pop()
    return _folded(lines), "" if not cut.strip(" \t`~") else cut


def _folded(lines: list[str]) -> list[str]:
    """``lines`` with each text that YAML wrote over several of them on one."""
    folded: list[str] = []
    at, depth = -1, 0  # the last line with text, and how many brackets are open behind it
    for line in lines:
        if not line.strip():
            folded.append(line)
            continue
        before = folded[at] if at >= 0 else ""
        if before.endswith("\\") and before.count('"') % 2:
            rest = line.lstrip()
            folded[at] = before[:-1] + (rest[1:] if rest.startswith("\\ ") else rest)
        elif before and _goes_on_in(before, line, depth):
            folded[at] = f"{before} {line.lstrip()}"
        else:
            at = len(folded)
            folded.append(line)
        depth += balance(line)
    return folded


def _goes_on_in(before: str, line: str, depth: int) -> bool:
    """Whether a text that ``before`` begins goes on in ``line``: quoted, or plain between brackets."""
    if quote := _begun_quote(before):
        rest = _REST_OF_QUOTE.match(line)
        return rest is not None and rest[1] == quote
    return depth > 0 and before[-1] not in _BREAKS and _REST_OF_TEXT.match(line) is not None


def _begun_quote(line: str) -> str:
    """The quote mark of a value that ``line`` begins at its end; "" if it begins none."""
    at = max(line.rfind('"'), line.rfind("'"))
    behind = line[:at].rstrip(" \t") if at >= 0 else ""
    begins = at >= 0 and at + 1 < len(line) and (not behind or behind[-1] in "[{,:：-")
    return line[at] if begins else ""


def split_lines(lines: list[str], cut: str, own: Trackers = NO_TRACKERS) -> Body:
    """Split a body that is written line by line into entries."""
    entries: list[Entry] = []
    strays: list[str] = []
    for line in _parts(lines, cut, own):
        key, value = split_key(line.text)
        current = entries[-1] if entries else None
        if not (key or (line.bullet and line.text[0] not in _EMPHASIS) or (current and current.depth > 0)):
            key, value = _unassigned(line.text, own)
        field = field_of(key, own) if key else None
        if field is None and key and own and (stated := _unassigned(key, own))[0]:
            field, key, value = field_of(stated[0], own), stated[0], f"{stated[1]}: {value}"
        if current and current.holds(line, key):
            current.add(line)
        elif field:
            entries.append(_entry(line, key, field, value))
        elif key and not value and is_header(key):
            continue
        elif current and current.accepts(line):
            current.add(line)
        elif key and _UNKNOWN_KEY.fullmatch(key):
            entries.append(_entry(line, key, None, value))
        elif not line.cut:
            strays.append(line.text)
    return Body(tuple(entries), tuple(strays))


def _unassigned(text: str, own: Trackers) -> tuple[str, str]:
    """The field that a line begins with by its own name, and the value behind it, where the colon is missing."""
    found = _UNASSIGNED.fullmatch(text)
    if found is None or text[-1] in ".!?。！？…":
        return "", ""
    name = found["key"].casefold()
    known = any(name == each.name.casefold() for each in (*FIELDS, *own))
    return (found["key"], found["value"]) if known else ("", "")


def split_key(text: str) -> tuple[str, str]:
    """Split ``**location:** 숲`` into key and value; ("", "") for a line without a key."""
    match = _KEY.fullmatch(text)
    if not match:
        return "", ""
    key, value = match["key"], match["value"]
    mark = key[: len(key) - len(key.lstrip(_EMPHASIS))]
    if mark and not key.endswith(mark) and value.startswith(mark):
        value = value[len(mark) :].lstrip()
    return key.strip(_EMPHASIS + " \"'“”"), value.strip()


def node_of(entry: Entry) -> Node:
    """The value of an entry as a node. Its structure depends on the kind of the field."""
    kind = entry.field.kind if entry.field else Kind.TEXT
    inline = "" if entry.is_block_scalar else entry.inline
    if kind in LIST_KINDS:
        return _list_node(inline, entry.more, kind)
    if kind is Kind.COUNT and not inline and entry.more:
        return _count_node(entry.more)
    if not inline and len(entry.more) > 1 and all(line.bullet for line in entry.more):
        return Seq(tuple(_text_node(line.text) for line in entry.more))
    if not inline and kind is Kind.CHANGE and any(line.bullet for line in entry.more):
        return Seq(tuple(_text_node(line.text) for line in entry.more))  # "- 15" is a bullet, not a minus
    joint = "\n" if inline[:1] in tuple(flow.LIST_OPENERS + flow.MAP_OPENERS) else " "
    return _text_node(joint.join(filter(None, (inline, *(line.text for line in entry.more)))))


def _count_node(more: list[Line]) -> Node:
    """The lines below a tracker: a value for each subject, or the items of a list."""
    pairs = [split_key(line.text) for line in more]
    if all(key and key[0] not in "+-−–" for key, _ in pairs):
        return Pairs(tuple((key, _text_node(value)) for key, value in pairs))
    signed = any(line.added for line in more)  # beside "+ key", "- map" is no mere item
    signs = ("+" if line.added else "-" if signed and line.bullet else "" for line in more)
    return Seq(tuple(_text_node(f"{sign}{line.text}") for sign, line in zip(signs, more, strict=True)))


def _clean(line: str) -> str:
    """``line`` without quote marks and comment, but with its indentation."""
    if marks := _QUOTE_MARKS.match(line):
        line = line[marks.end() :]
    for match in _COMMENT.finditer(line):
        if match["comment"] is not None:
            return line[: match.start()].rstrip()
    return line.rstrip()


def _parts(lines: list[str], cut: str, own: Trackers) -> Iterator[Line]:
    shared = _shared_line(tuple(each.name for each in own))
    for number, text in enumerate((*lines, cut)):
        indent = _INDENT.match(text)
        columns = len(indent.group().replace("\t", "    ").replace("\u3000", "  ")) if indent else 0
        text = text.strip()
        bullet = added = False
        while mark := _BULLET.match(text):
            text, bullet, added = text[mark.end() :], True, mark[0][0] == "+"
        if not text or _RULE.fullmatch(text):
            continue
        *whole, last = _inline_fields(text, shared, own)
        is_cut = number == len(lines)
        if is_cut and any(part.count('"') % 2 or balance(part) for part in whole):
            whole, last = [], text  # what looks like the next field stands in a text that the end cut
        yield from (Line(columns, part, bullet, added=added) for part in whole)
        yield Line(columns, last, bullet, cut=is_cut, added=added)


@lru_cache(maxsize=64)
def _shared_line(own: tuple[str, ...]) -> re.Pattern[str]:
    """Finds fields that share a line, by the names of the form alone: any other word may belong to a value."""
    names = sorted((*(field.name for field in FIELDS), *own), key=len, reverse=True)
    return re.compile(rf"(?:^|(?<=[\s,，;；|]))({'|'.join(map(re.escape, names))})\s*(?:[:：=]|(?=[\[［{{｛]))", re.I)


def _inline_fields(text: str, shared: re.Pattern[str], own: Trackers) -> list[str]:
    """Split the fields that share one line: ``location: 숲, mood: tense``. Notes take the rest of the line."""
    starts: list[int] = []
    nested = _nested(text) if shared.search(text, 1) else deque[tuple[int, int]]()
    for match in shared.finditer(text):
        while nested and nested[0][1] <= match.start(1):
            nested.popleft()
        if nested and nested[0][0] <= match.start(1):
            continue
        if not starts and match.start(1) > 0:
            if not _unassigned(text[: match.start(1)].rstrip(_BETWEEN), own)[0]:
                return [text]
            starts.append(0)
        starts.append(match.start(1))
        if match.group(1).casefold() == "notes":
            break
    if len(starts) < 2:
        return [text]
    ends = [*starts[1:], len(text)]
    parts = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [*(part.rstrip(_BETWEEN) for part in parts[:-1]), parts[-1]]


def _nested(text: str) -> deque[tuple[int, int]]:
    """The outermost spans of ``text`` inside quote marks or closed brackets."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        if match["open"]:
            opened.append(match.start())
        elif not match["close"]:
            spans.append(match.span())
        elif opened:
            spans.append((opened.pop(), match.end()))
    outermost: deque[tuple[int, int]] = deque()
    for span in sorted(spans):
        if not outermost or span[0] >= outermost[-1][1]:
            outermost.append(span)
    return outermost


def _entry(line: Line, key: str, field: Field | None, value: str) -> Entry:
    if line.cut:
        return Entry(key, field, "", line.indent, line.bullet, cut=True)
    opens = value[:1] in tuple(flow.LIST_OPENERS + flow.MAP_OPENERS)
    return Entry(key, field, value, line.indent, line.bullet, depth=balance(value) if opens else 0)


def closed_late(text: str) -> str:
    """``text`` without closing brackets too many, behind which the keys of the outermost map go on."""
    kept: list[str] = []
    start = depth = 0
    for match in _BRACKET.finditer(text):
        if match["open"]:
            depth += 1
        elif match["close"] and depth == 1 and _NEXT_KEY.match(text, match.end()):
            kept.append(text[start : match.start()])
            start = match.end()
        elif match["close"]:
            depth -= 1
    return "".join((*kept, text[start:]))


def balance(text: str) -> int:
    """How many more brackets ``text`` opens than it closes, outside quoted text."""
    bare = _QUOTED_TEXT.sub("", text)
    return sum(map(bare.count, "[［{｛")) - sum(map(bare.count, "]］}｝"))


def _list_node(inline: str, more: list[Line], kind: Kind) -> Node:
    """A list. Inline text and plain lines are read as one flow-style list; each bullet is an element."""
    items: list[Node] = []
    plain = [inline] if inline else []
    groups: list[list[str]] = []
    for line in more:
        is_pair = _is_pair(line.text, kind)
        if line.bullet or (not inline and not groups and is_pair):
            groups.append([line.text])
        elif groups and (is_pair or _goes_on(groups[-1], line, kind)):
            groups[-1].append(line.text)
        else:
            plain.append(line.text)
    if plain:
        items.append(_flow_list("\n".join(plain), kind))
    items.extend(_flow_list("\n".join(group), kind) for group in groups)
    return items[0] if len(items) == 1 else Seq(tuple(items))


def _goes_on(group: list[str], line: Line, kind: Kind) -> bool:
    """Whether ``line`` is another key of the record in ``group``, one that is not known."""
    return _is_pair(group[0], kind) and _UNKNOWN_KEY.fullmatch(split_key(line.text)[0]) is not None


def _is_pair(text: str, kind: Kind) -> bool:
    """Whether ``text`` begins with a key of a record of ``kind``."""
    bracket = text[:1] in tuple(flow.LIST_OPENERS + flow.MAP_OPENERS)
    return not bracket and record_key(kind, split_key(text)[0]) is not None


def _flow_list(text: str, kind: Kind) -> Node:
    if _is_pair(text, kind):
        return flow.read_pairs(text)
    if text[:1] in tuple(flow.LIST_OPENERS):
        node, rest = flow.read_value(text)
        if not rest or rest[0] in "(（":
            return node
    if text[:1] in tuple("(（") and text[-1:] in tuple(")）") and not re.search(r"[()（）]", text[1:-1]):
        return flow.read_sequence(text[1:-1])
    return flow.read_sequence(text)


def _text_node(text: str) -> Node:
    """The whole of ``text`` as one value: quoted, bracketed, or plain."""
    text = text.strip()
    stripped = text[:-1].rstrip() if text[-1:] in tuple(",，;；") else text
    missing = -balance(stripped) if stripped[-1:] in _CLOSERS else 0
    while missing > 0 and stripped[-1:] in _CLOSERS:  # one too many, or its opener is missing
        stripped, missing = stripped[:-1].rstrip(), missing - 1
    if stripped[:1] and stripped[0] in flow.QUOTES:
        return flow.unquote(stripped)
    if stripped[:1] in tuple(flow.LIST_OPENERS + flow.MAP_OPENERS):
        node, rest = flow.read_value(stripped)
        if not rest or _REMARK.fullmatch(rest):
            return node
    return Scalar(stripped)

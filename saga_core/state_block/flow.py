"""Reads values: quoted text, lists and maps, in YAML's flow style, JSON or a mixture of them.

The reader is total: any text gives a node. A bracket or quote mark without a valid meaning is read as text.
"""

from __future__ import annotations

import re

from attrs import frozen

SEPARATORS = ",，、;；"
ASSIGNS = ":：=＝"
LIST_OPENERS = "[［"
MAP_OPENERS = "{｛"
_LIST_CLOSERS = "]］"
_MAP_CLOSERS = "}｝"
_CLOSERS = _LIST_CLOSERS + _MAP_CLOSERS
QUOTES = {'"': '"', "'": "'", "＂": "＂", "“": "”", "‘": "’"}
_ESCAPING = '"＂“'
_MAX_DEPTH = 12

_GROUP = re.compile(r"[(（\[［{｛][^()（）\[\]［］{}｛｝\n]*[)）\]］}｝]")
_THOUSANDS = re.compile(r"[,，]\d{3}(?!\d)")
_QUOTE_END = re.compile(
    rf"[^\S\n]*(?:[{SEPARATORS}{ASSIGNS}{re.escape(_CLOSERS)}\n]|\Z)|[^\S\n]+([\"'])[^\"'\n]{{1,40}}\1[^\S\n]*[:：]"
)
_UNASSIGNED = re.compile(r"([\"'])([^\"'\n]{1,40})\1[^\S\n]*(?=[\[{［｛])")
"""A quoted key, behind which the colon is missing."""
_HALF_QUOTED = re.compile(r"([^:：\"'\n]{1,40})[:：][ \t]*[\"'](.*)", re.DOTALL)
"""A key and a value, taken for one quoted text because the mark behind the key is missing."""
_TWO_QUOTED = re.compile(r"([^\"]{1,60}),[ \t]*\"([^\"]{1,60})")
"""Two elements of a list, taken for one text because the mark between them is missing."""
_BEGUN_KEY = re.compile(r"([\"'])[^\"'\n]{1,40}\1[^\S\n]*[:：]")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", '"': '"', "\\": "\\", "/": "/"}
_KEY_END = re.compile(rf"[{ASSIGNS}{SEPARATORS}{re.escape(_CLOSERS)}\n]")


@frozen
class Scalar:
    """One piece of text. ``literal`` says that it was quoted and contained an escape. Such a text is taken literally
    and never as a placeholder."""

    text: str
    quoted: bool = False
    literal: bool = False


@frozen
class Seq:
    """A list. ``closed`` is False if its closing bracket is missing."""

    items: tuple[Node, ...] = ()
    closed: bool = True


@frozen
class Pairs:
    """A map in the order written. A value without a key has the key ``""``."""

    pairs: tuple[tuple[str, Node], ...] = ()
    closed: bool = True


Node = Scalar | Seq | Pairs


def read_value(text: str) -> tuple[Node, str]:
    """The value at the beginning of ``text``, and the rest of ``text``."""
    reader = _Reader(text)
    node = reader.node("")
    return node, text[reader.pos :].strip()


def read_sequence(text: str) -> Seq:
    """Read ``text`` as the inside of a list without brackets: ``불꽃 검, 방패``."""
    return _Reader(text).seq("")


def read_pairs(text: str) -> Pairs:
    """Read ``text`` as the inside of a map without braces: ``"mood": "tense", "hp": 5``."""
    return _Reader(text).map("")


def is_closed(node: Node) -> bool:
    """Whether no bracket is missing in ``node`` or anywhere inside it."""
    if isinstance(node, Seq):
        return node.closed and all(is_closed(item) for item in node.items)
    if isinstance(node, Pairs):
        return node.closed and all(is_closed(value) for _, value in node.pairs)
    return True


def unquote(text: str) -> Scalar:
    """``text`` as one scalar, without quote marks if they enclose the whole text."""
    text = text.strip()
    reader = _Reader(text)
    if text and text[0] in QUOTES and (scalar := reader.quoted()) and reader.pos == len(text):
        return scalar
    return Scalar(text)


class _Reader:
    """A cursor in ``text``. The ``enclosing`` arguments hold the closers of the nodes around the cursor."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self._unclosed: dict[str, set[int]] = {}
        """For each closing mark, the positions from which the line ends without one. No quoted text goes through them,
        so that many marks that quote nothing are read in one pass."""

    def _skip_space(self) -> str:
        """Move to the next character that is not white space, and return it; "" at the end."""
        while self.text[self.pos : self.pos + 1].isspace():
            self.pos += 1
        return self.text[self.pos : self.pos + 1]

    def node(self, enclosing: str) -> Node:
        char = self._skip_space()
        while char and char in LIST_OPENERS + MAP_OPENERS:
            self.pos += 1
            if len(enclosing) < _MAX_DEPTH:
                return self.seq(enclosing + "]") if char in LIST_OPENERS else self.map(enclosing + "}")
            char = self._skip_space()  # nested too deeply: skip the bracket
        if char and char in QUOTES and (scalar := self.quoted()):
            return scalar
        return self._plain()

    def _at_end(self, char: str, enclosing: str) -> bool | None:
        """None if the node goes on; True at its closer, which is consumed; False if its closer is missing."""
        if not char:
            return not enclosing
        if char not in _CLOSERS:
            return None
        closer = "]" if char in _LIST_CLOSERS else "}"
        if enclosing.endswith(closer):
            self.pos += 1
            return True
        if closer in enclosing:
            return False
        self.pos += 1  # a closer without an opener
        return None

    def seq(self, enclosing: str) -> Seq:
        items: list[Node] = []
        while True:
            char = self._skip_space()
            start = self.pos
            closed = self._at_end(char, enclosing)
            if closed is not None:
                return Seq(tuple(items), closed)
            if self.pos > start:
                continue
            if char in SEPARATORS:
                self.pos += 1
                continue
            item = self.node(enclosing)
            if isinstance(item, Scalar) and self._assigns() and item.quoted:
                self.pos = start
                item = Pairs((self._pair(enclosing),))
            if isinstance(item, Scalar) and item.quoted and (two := _TWO_QUOTED.fullmatch(item.text)):
                items.append(Scalar(two[1], quoted=True))
                item = Scalar(two[2], quoted=True)
            items.append(item)

    def map(self, enclosing: str) -> Pairs:
        pairs: list[tuple[str, Node]] = []
        while True:
            char = self._skip_space()
            start = self.pos
            closed = self._at_end(char, enclosing)
            if closed is not None:
                return Pairs(tuple(pairs), closed)
            if self.pos > start:
                continue
            if char in SEPARATORS:
                self.pos += 1
            else:
                pairs.append(self._pair(enclosing))

    def _pair(self, enclosing: str) -> tuple[str, Node]:
        start, char = self.pos, self.text[self.pos]
        if char in MAP_OPENERS:
            return "", self.node(enclosing)
        if unassigned := _UNASSIGNED.match(self.text, start):
            self.pos = unassigned.end()
            return unassigned[2], self.node(enclosing)
        key = self.quoted() if char in QUOTES else None
        if key is None:
            end = _KEY_END.search(self.text, start)
            self.pos = end.start() if end else len(self.text)
            key = Scalar(self.text[start : self.pos].strip())
        if self._assigns():
            self.pos += 2 if self.text[self.pos + 1 : self.pos + 2] in (":", "：") else 1
            char = self._skip_space()
            if not char or char in SEPARATORS or char in _CLOSERS:
                return key.text, Scalar("")
            start = self.pos
            value = self.node(enclosing)
            if isinstance(value, Scalar) and value.quoted and self._assigns() and len(enclosing) < _MAX_DEPTH:
                self.pos = start  # it is a key: the opening brace is missing
                value = self.map(enclosing + "}")
            elif isinstance(value, Scalar) and not value.quoted:
                value = Scalar(single(value.text, '"'))  # the other mark is missing
            return key.text, value
        if key.quoted and (parts := _HALF_QUOTED.fullmatch(key.text)):
            return parts[1].strip(), Scalar(parts[2], quoted=True)
        self.pos = start
        return "", self.node(enclosing)

    def _assigns(self) -> bool:
        """Whether a sign between a key and a value is next, behind blanks, which are skipped."""
        while self.text[self.pos : self.pos + 1] in (" ", "\t", "\u3000", "\u00a0"):
            self.pos += 1
        return self.text[self.pos : self.pos + 1] in tuple(ASSIGNS)

    def _plain(self) -> Scalar:
        """The text up to the next separator, closer or line end. Empty only at the end of the text."""
        text, start, pos = self.text, self.pos, self.pos
        while pos < len(text):
            char = text[pos]
            if char == "\n" or (char in _CLOSERS and pos > start):
                break
            if char in SEPARATORS:
                thousands = pos > start and text[pos - 1].isdigit() and _THOUSANDS.match(text, pos)
                if not thousands and pos > start:
                    break
            elif pos > start and (group := _GROUP.match(text, pos)):
                pos = group.end() - 1
            pos += 1
        self.pos = pos
        return Scalar(text[start:pos].strip())

    def quoted(self) -> Scalar | None:
        """The quoted text at the cursor; None, without moving, if the quote mark does not quote anything.

        A quote mark only closes the text if a separator, a closer or the end of the line follows, so that
        ``'Dragon's Tooth'`` and ``"he said "no", twice"`` keep their inner marks as far as possible.
        """
        opener = self.text[self.pos]
        closer, escaping = QUOTES[opener], opener in _ESCAPING
        unclosed = self._unclosed.setdefault(closer, set())
        parts: list[str] = []
        way: list[int] = []
        literal = False
        pos = self.pos + 1
        while pos < len(self.text) and pos not in unclosed and (char := self.text[pos]) != "\n":
            way.append(pos)
            if char == "\\" and escaping and (escape := _ESCAPE.match(self.text, pos)):
                parts.append(_unescape(escape))
                literal = True
                pos = escape.end()
                continue
            if char == closer:
                if _QUOTE_END.match(self.text, pos + 1):
                    self.pos = pos + 1
                    return Scalar(single("".join(parts), closer), quoted=True, literal=literal)
                if _BEGUN_KEY.match(self.text, pos) and _last_sign(parts) in (",", "，"):
                    written = "".join(parts)
                    text = written.rstrip()[:-1].rstrip(f"{_CLOSERS} \t")  # its closing mark is missing
                    self.pos = pos - (len(written) - len(text))
                    return Scalar(text, quoted=True, literal=literal)
                if char == "'" and self.text.startswith("'", pos + 1):
                    pos += 1
            parts.append(char)
            pos += 1
        unclosed.update(way)
        return None


def _last_sign(parts: list[str]) -> str:
    return next((part.rstrip()[-1:] for part in reversed(parts) if not part.isspace()), "")


def single(text: str, mark: str) -> str:
    """Quoted ``text`` without a second mark at one of its ends: ``""school uniform"``."""
    if text.count(mark) != 1 or len(text) == 1:
        return text
    return text.removeprefix(mark).removesuffix(mark)


def _unescape(escape: re.Match[str]) -> str:
    code, byte, char = escape.groups()
    if code or byte:
        return chr(int(code or byte, 16))
    return _SIMPLE.get(char, "\\" + char)

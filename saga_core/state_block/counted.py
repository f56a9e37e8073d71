"""Finds where a text states trackers, and hides reports that have no fence and none of the form's names. Sans-IO.

Models put the report into JSON, a table, a list, brackets, or bare lines, with a heading or without. What tells it from
the story are the names of the trackers: lines that state three fields or more, at least two of them trackers, are a
report, up to the next line of prose. Where they are set like the panel of a card, with pictures or HTML, they are read,
and shown as well.

A line of prose passes as soon as its first characters show that it is one. All others are looked at whole. Both are
decided for each beginning of a line, so that the result does not depend on how the reply is split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from itertools import dropwhile

from attrs import frozen

from saga_core.language import any_of, every, normalized
from saga_core.state_block.fences import RawBlock
from saga_core.state_block.fields import field_of, is_header
from saga_core.state_block.unfenced import decomposed, may_begin_field
from saga_core.trackers import Tracker, TrackerKind, Trackers

# -- where a text states what is counted -------------------------------------------------------------------------------

_LONGEST_BARE = 24
"""The characters behind a name that begins a line and has no sign behind it: ``weather rain``."""
_ENDS_SENTENCE = re.compile(r"[.!?。！？…][\"'”’*_)\]】」』]{0,3}[ \t]*\Z")
NEAR = 60
"""The characters before a name that show what it is."""
DRESS = r"[\"'“”‘’*_`~<>\[\](){}【】「」『』«»《》〈〉]"
_BEHIND = re.compile(
    rf"(?:{DRESS}|[ \t\\])*(?:[:=+\-–—→|\d\n▓▒░█■□●○★☆]|[./]\w|[\[({{<>]|_[^\W\d_]{{1,20}}[ \t]*[:=]|\Z)"
)
"""What may stand behind the name of a value, and not behind a word of a text."""
_INSIDE = re.compile(r"[+\-]\Z|[^\s][ \t]*[+\-][ \t]\Z|\d[ \t]?\Z")
"""What stands before a word of a text: the sign of an item, or a number."""
BEGINS = re.compile(rf"(?:^|[,;|/•·\n])(?:{DRESS}|[ \t]|[-+*•>#]|\d{{1,2}}[.)]|[^\w\s,:;.])*\Z")
"""What stands before a name that begins a statement."""
_NAMED = re.compile(
    r"[\"'”]\s*[:=]\s*[\"'“]/?\Z|(?:tracker|key|name|field|stat|id|path)\s*[:=]\s*[\"'“]?/?\Z", re.IGNORECASE
)
_BEHIND_NAMED = re.compile(r"(?:[./][^\"'\n]{1,40})?[\"'”]?\s*[,;}>\n]|[\"'”]\s+\w")
"""What stands before a name that is itself a value: ``{"tracker": "gold", "change": 3}``."""
POSSESSIVE = "|".join(sorted({re.escape(word) for each in every() for word in each.names.possessives}))
POSSESSED = re.compile(rf"(?:{POSSESSIVE})\Z")
_OPERATION = re.compile(
    r"(?:op|operation|action|type)[\"']?\s*[:=]\s*[\"']?(?P<word>[a-z]{2,12})[\"']?[^{}]*\Z", re.IGNORECASE
)
SET = re.compile(
    r"_\.(?P<how>set|add)\(\s*[\"'](?P<key>[^\"'\n]{1,60})[\"']\s*,\s*(?P<values>[^\n]{1,200}?)\)\s*;?[^\n]*"
    r"|\{\{(?P<macro>set|add)var::(?P<name>[^:{}\n]{1,60})::(?P<value>[^{}\n]{0,200})\}\}"
)
"""A command of a card with variables: ``_.set('hunger', 20, 12);``."""
_ENDINGS = frozenset(word for each in every() for word in each.counted.endings)
_OWNERS = frozenset(word for each in every() for word in each.counted.owners)
_OWNER = rf"(?:{'|'.join(sorted(_OWNERS, key=len, reverse=True))})[._/]"
_OWNED = re.compile(rf"\A{_OWNER}", re.IGNORECASE)
_PREFIXED = re.compile(rf"(?m:(?<=^)|(?<=[ \t\"'])){_OWNER}(?=\w)", re.IGNORECASE)
_OWNERS_BEGUN = frozenset(decomposed(word[:length]) for word in _OWNERS for length in range(1, len(word) + 1))
MOVES = re.compile(any_of(lambda each: f"{each.values.loss}|{each.values.gain}"), re.IGNORECASE)
CHANGES = frozenset("change changed delta adjust diff difference adjustment shift modifier by".split())
GAINS = frozenset("add added gain gained plus increase increment inc".split())
LOSSES = frozenset("remove removed lose lost minus decrease decrement dec subtract dropped".split())
_HEADED = re.compile(
    r"^[^\w\n]*(?P<word>[^\W\d_]{2,12})[ \t]*[:：][ \t]*(?=[^\W\d][\w ]{0,20}[ \t]*[:：=])", re.MULTILINE
)
_INDEX = re.compile(r"\[\d{1,3}\]")


@frozen
class Name:
    """A name in a report: of a tracker, of a person, or, with neither, of anything else that ends a value."""

    start: int
    end: int
    tracker: Tracker | None = None
    person: str = ""
    sign: str = ""
    """The sign that an operation before it gives its value: ``{"op": "increase", "path": "hunger", "value": 4}``."""
    of_form: bool = False
    """Whether it is a field that every block has."""
    of_people: bool = False
    """Whether it is a field that lists people, such as those present."""


def named_in(text: str, own: Trackers) -> set[str]:
    """The names of the trackers that ``text`` states a value of, as far as a text alone can show it."""
    plain = normalized("NFKC", text)
    plain = SET.sub(assigned, plain) if "_." in plain or "::" in plain else plain
    return {each.tracker.name for each in trackers_in(plain, own) if each.tracker is not None}


def without_heads(text: str) -> str:
    """``text`` without what stands before each of its fields: ``State: weather: snow``, ``player.hunger: 7``."""
    return _HEADED.sub(lambda found: "" if is_header(found["word"]) else found[0], _PREFIXED.sub("", text))


def assigned(command: re.Match[str]) -> str:
    """A command of ``SET`` as a line of a name and its value."""
    how, key = command["how"] or command["macro"], command["key"] or command["name"]
    values = command["values"] or command["value"]
    value = values.rpartition(",")[2] if how == "set" else f"+{values.strip()}"
    return f"{_INDEX.sub('', key)}: {value.strip().replace('+-', '-')}"


def trackers_in(text: str, own: Trackers, *, loosely: bool = False) -> Iterator[Name]:
    """The names of trackers that state a value. ``loosely`` accepts one that begins a line whatever follows."""
    if not own:
        return
    last: Name | None = None
    for found in own.in_text.finditer(text):
        start, end = found.span("name")
        tracker = own.find(found["name"])
        if tracker is None:
            continue
        suffix = text[end : found.end()]
        if suffix and suffix not in _ENDINGS and not MOVES.search(suffix):
            continue
        before = text[max(0, start - NEAR) : start]
        is_key = _BEHIND.match(text, found.end()) and not (
            _INSIDE.search(before) and text[found.end() : found.end() + 1] not in (":", "=")
        )
        is_bare = loosely or found["name"].isascii() or found.end() == end
        is_named = _NAMED.search(before) and _BEHIND_NAMED.match(text, found.end())
        begins = BEGINS.search(before) or POSSESSED.search(before.rstrip())
        if begins and is_bare and not loosely:
            rest = text[
                found.end() : text.find("\n", found.end()) if "\n" in text[found.end() :] else len(text)
            ].strip()
            is_bare = len(rest) <= _LONGEST_BARE and not _ENDS_SENTENCE.search(rest)
        if not (is_key or (is_bare and begins) or is_named):
            continue
        if last is not None and last.tracker is tracker and not re.search(r"\w", text[last.end : start]):
            continue  # a coin of the same name
        operation = _OPERATION.search(before) if is_named else None
        yield (last := Name(start, end if MOVES.search(suffix) else found.end(), tracker, sign=_sign_of(operation)))


def _sign_of(operation: re.Match[str] | None) -> str:
    word = operation["word"].casefold() if operation is not None else ""
    return "+" if word in GAINS | CHANGES else "-" if word in LOSSES else ""


# -- the filter --------------------------------------------------------------------------------------------------------

LONGEST = 20_000
"""The characters of a report. A longer one is shown."""
_LONGEST_LINE = 2_000
_LONGEST_HEAD = 60
_LONGEST_NAME = 20
"""The characters of a line that is a name alone, as a heading among the lines of a report."""
_LONGEST_OPENED = 160
"""The characters of a line that begins with a bracket, a mark or a call in which the first tracker stands."""
_MOST_HEADS, _MOST_OTHERS = 5, 40
_LEAST_FIELDS, _LEAST_TRACKERS = 3, 2
_MOST_LOOKED_AT = 100_000
"""The characters of a reply in which lines are looked for that begin a report. Behind them all is shown."""
_WINDOW = 80
_BLANK_LINES = re.compile(r"(?:[ \t\r>]{0,60}+\n)++")
"""There may be millions of them, so they are not looked at one by one, nor counted."""
_INDENT = re.compile(r"[ \t\r>]{1,60}")
_SIGNS = re.compile(r"[^\w\s]|[\d\n]")
_END = "\0"
"""Stands behind a text that goes on, where nothing else may."""
_DRESSED = re.compile(r"(?:[^\w\n]|_|\d{1,2}[.)][ \t])*")
_OPENS = re.compile(
    r"[ \t>]*(?:\*\*|#|[|\[【<({｛（《〈『〔※◆■]|\"[\[{]|[-=_~`]{3}|[\u231a-\u23ff\u2600-\u27bf\U0001f300-\U0001faff])"
)
_NUMBER = re.compile(r"\d{1,2}[.)]?")
_DATA = re.compile(r"[ \t>]*+(?:(?:\\?[`~]){3,}[\w.+-]{0,20}|[\[{｛<][^\n]{0,60})[ \t]*")
_CALL = re.compile(r"(?P<verb>[a-z]{1,8}(?![^\W_]))[a-z_]{0,24}(?:[({]|\Z)|[A-Z_]{1,24}(?:[({:]|\Z)|[^\W\d]{1,20}[:：]")
_VERBS = ("state", "update", "set", "report", "record", "save", "track", "call")
"""How the name of a function that takes a report begins: ``update_state(hunger=27, …)``."""
_WORD = re.compile(r"[^\W_](?:[\w .'’-]{0,38}\w)?")
_KEY_IN = re.compile(r"(?<!\w)(?P<key>[^\W\d][\w -]{0,30}?)[\"'*\]`）)】]{0,4}[ \t]*[:：=＝]")
_KEY = re.compile(r"(?:[^\w\n]|\d{1,2}[.)][ \t])*(?P<key>[^\W\d][\w -]{0,30}?)[\"'*\]`）)】]{0,4}[ \t]*[:：=＝]")
_BARE = re.compile(r"[^\w\n]*[\w -]{1,30}[^\w\n]*\n?")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[\w.+-]{0,20}[ \t]*\n?")
_HEAD = re.compile(r"[ \t>]*(?:\*\*|#{1,6}|[\[【<(（《〈〔※◆■＊|]|[-=*_]{3,})[^\n]{0,60}|[^\n.!?。！？]{1,40}[:：]")
_GOES_ON = re.compile(r"[ \t]+\S|[-+*•·|<>{}\[\](),\"'`~]|[^\n]{0,40}[:：=＝|]|[^\w\s]")
_TOLD = re.compile(r"[\"“「][^\"\n]{30,}[.!?。！？…][\"”」]")
"""A story inside of a report: a reply that is one whole JSON."""
_PANEL = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|<(?:div|p|span|details|table|center|font)\\b")


_TEXTS = frozenset({TrackerKind.TEXT, TrackerKind.LIST, TrackerKind.THREADS})
_SPOKEN = re.compile(r"[\"“「『‘](?![^\"”」』’\n]{0,40}[\"”」』’]\s*[:：,，\]}])|\*[^*\s][^:：|]*\*\Z")
"""A line of speech or of an action."""


class _Line(Enum):
    STATES = "it states a field"
    HEAD = "a heading, a fence or a bracket, before which or behind which fields may stand"
    BLANK = "an empty line"
    GOES_ON = "it belongs to the lines above it, if those state fields"
    PROSE = "a line of the story"


class CountedFilter:
    """Hides such reports in one reply while it streams. Feed it the output of a ``ReportFilter``."""

    def __init__(self, own: Trackers) -> None:
        self._own = own
        self._line = ""
        self._seen = self._looked_at = 0
        """The characters of the line so far whose beginnings may belong to a report."""
        self._sure = False
        """Whether the line states a tracker, however it goes on."""
        self._passing = False
        """Whether the rest of this line is prose."""
        self._lines: list[str] = []
        self._trackers: set[str] = set()
        self._fields: set[str] = set()
        self._size = self._heads = self._others = 0
        self._is_data = False
        """Whether a fence or a bracket was opened."""
        self._bare = False
        """Whether the latest line is the name of a field alone, whose value stands in the next."""
        self._shown = False
        self._gap = ""
        self._blocks: list[RawBlock] = []

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The reports that have ended so far, in order."""
        return tuple(self._blocks)

    @property
    def in_prose(self) -> bool:
        """Whether what comes next in this line is shown as it is."""
        return self._passing

    def feed(self, text: str) -> str:
        """Add a chunk and return the visible text that can be sent now."""
        out: list[str] = []
        at = 0
        while at < len(text):
            if self._looked_at > _MOST_LOOKED_AT:
                rest = self._taken() + text[at:]
                self._end(out)
                self._show(rest, out)
                break
            begun = self._line or self._passing or self._fields or self._heads or self._others
            if not begun and (blank := _BLANK_LINES.match(text, at)):
                self._lines.append(blank[0])
                at = blank.end()
                continue
            end = text.find("\n", at)
            piece, at = (text[at:], len(text)) if end < 0 else (text[at : end + 1], end + 1)
            if self._passing:
                self._show(piece, out)
                self._passing = not piece.endswith("\n")
                continue
            self._line += piece
            if not self._belongs():
                line = self._taken()
                self._end(out)
                self._show(line, out)
                self._passing = not line.endswith("\n")
            elif piece.endswith("\n"):
                self._take(self._taken(), out)
        return "".join(out)

    def finish(self) -> str:
        """End the reply and return the visible text that was held back."""
        out: list[str] = []
        if self._line:
            self._take(self._taken(), out)
        self._end(out, ended=True)
        return "".join(out)

    # -- lines ---------------------------------------------------------------------------------------------------------

    def _taken(self) -> str:
        line = self._line
        self._line, self._seen, self._sure = "", 0, False
        return line

    def _belongs(self) -> bool:
        """Whether each beginning of the line so far may belong to a report."""
        line = self._line.rstrip("\n")
        if not self._seen and (indent := _INDENT.match(line)):
            self._seen = indent.end()
        if len(line) > _LONGEST_LINE:
            return False
        while not (self._sure or self._fields) and self._seen < len(line):
            self._seen, self._looked_at = self._seen + 1, self._looked_at + 1
            if not self._may_belong(line[: self._seen]):
                return False
        return True

    def _may_belong(self, line: str) -> bool:
        """Whether a line that goes on may belong to a report."""
        dress = _DRESSED.match(line)
        begun = _OWNED.sub("", (line[dress.end() :] if dress else line).rstrip(), count=1)
        if not begun or _NUMBER.fullmatch(begun):
            return len(line) <= _LONGEST_HEAD
        if _SIGNS.match(line, len(line) - 1) and named_in(line[-_WINDOW:] + _END, self._own):
            self._sure = True
            return True
        if len(line) <= _LONGEST_NAME and self._heads:
            return True
        if len(line) <= _LONGEST_OPENED and (self._is_data or _OPENS.match(line) or _begins_call(begun)):
            return True
        if len(line) < _WINDOW and named_in(line, self._own):
            return True
        found = _WORD.match(begun)
        if (
            found is not None
            and (is_header(found[0]) or is_header(found[0].split()[0]))
            and len(line) <= _LONGEST_OPENED
        ):
            return True
        if found is None or found.end() < len(begun):
            return False
        word = decomposed(found[0])
        if word in self._own.beginnings or word in _OWNERS_BEGUN or may_begin_field(word):
            return True
        joined = () if word.isascii() else (found[0][:-more] for more in (1, 2, 3))
        return any(name and self._own.find(name) is not None for name in joined)

    def _sort(self, line: str) -> _Line:
        line = without_heads(line)
        bare = line.strip()
        if not bare.strip("> "):
            return _Line.BLANK
        if named_in(line, self._own) or ((key := _KEY.match(line)) and field_of(key["key"])):
            return _Line.STATES
        if _FENCE.fullmatch(line) or not re.search(r"\w", line) or is_header(bare.strip("\\`~*#:[]<>/ _【】")):
            return _Line.HEAD
        ends = _ENDS_SENTENCE.search(bare) is not None
        if not self._is_data and _SPOKEN.match(bare):
            return _Line.PROSE
        dress = _DRESSED.match(line)
        begun = self._own.in_text.match(line, dress.end() if dress else 0)
        if self._fields and self._lines[-1].strip() and begun and not (ends and begun["name"].isascii()):
            return _Line.GOES_ON
        if ends and ":" not in line:
            return _Line.PROSE
        short = len(bare) <= (_LONGEST_HEAD if self._bare else _LONGEST_NAME)
        if self._fields and (short or _GOES_ON.match(line)):
            return _Line.GOES_ON
        if not self._fields and (_HEAD.fullmatch(bare) or (self._heads and (short or _KEY.match(line)))):
            return _Line.HEAD
        return _Line.PROSE

    def _take(self, line: str, out: list[str]) -> None:
        sort = self._sort(line) if self._size + len(line) <= LONGEST else _Line.PROSE
        if sort is _Line.HEAD and not self._fields:
            is_key = _KEY.match(line) is not None
            self._heads, self._others = self._heads + (not is_key), self._others + is_key
            self._is_data = self._is_data or _DATA.fullmatch(line.strip()) is not None
        if sort is _Line.PROSE or self._heads > _MOST_HEADS or self._others > _MOST_OTHERS:
            self._end(out)
            self._show(line, out)
            return
        self._lines.append(line)
        self._size += len(line)
        self._bare = sort is _Line.STATES and _BARE.fullmatch(line) is not None
        if sort is _Line.STATES:
            named = named_in(line, self._own)
            self._trackers |= named
            keys = (found["key"] for found in _KEY_IN.finditer(without_heads(line)))
            self._fields |= named | {field.name for key in keys if (field := field_of(key)) is not None}

    def _end(self, out: list[str], *, ended: bool = False) -> None:
        """Hide or show the lines that were held back."""
        if not self._lines:
            return
        text = "".join(self._lines)
        lines = [*dropwhile(str.isspace, self._lines)]
        if len(self._trackers) >= _LEAST_TRACKERS and self._is_report("".join(lines)):
            body = "".join(line for line in lines if not _FENCE.fullmatch(line))
            self._blocks.append(RawBlock(body, closed=not ended, unfenced=True, open=ended))
            if _PANEL.search(text) or (not self._shown and _TOLD.search(text)):
                self._show(text, out)
            elif self._shown:
                self._gap = "\n"
        else:
            self._show(text, out)
        self._lines, self._trackers, self._fields = [], set(), set()
        self._size = self._heads = self._others = 0
        self._is_data = self._bare = False

    def _is_report(self, text: str) -> bool:
        """Whether the lines state values: three fields or more, at least two of them trackers, and not only texts."""
        from saga_core.state_block.by_names import read_by_names  # few replies come so far

        read = {each.tracker for each in read_by_names(text, self._own, ())}
        values = {each.name for each in self._own if each.name in read and each.kind not in _TEXTS}
        return len(read) >= _LEAST_TRACKERS and bool(values) and len(read | self._fields) >= _LEAST_FIELDS

    def _show(self, text: str, out: list[str]) -> None:
        if self._gap and text.strip():
            text, self._gap = self._gap + text.lstrip("\n"), ""
        self._shown = self._shown or bool(text.strip())
        out.append(text)


def _begins_call(begun: str) -> bool:
    found = _CALL.match(begun)
    return found is not None and (found["verb"] is None or any(each.startswith(found["verb"]) for each in _VERBS))

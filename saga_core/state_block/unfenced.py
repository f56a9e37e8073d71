"""Hides unfenced reports: the fields of a state block without the fence of a state block. Sans-IO.

Small models put the fields into a fence of another name, between tags, or bare at the end of the reply. Such lines are
a report only if they can be nothing else: they state at least two fields by the names in the form, at least one of
these names contains an underscore, and all lines around them are fields too.

::

    report = fenced | tagged | bare
    fenced = an ordinary fence ("```", "```json", "~~~yaml"), the lines of a report, the closing fence
    tagged = "<state>", also in the middle of a line, the lines of a report, "</state>"; any word for the block
    bare   = the lines of a report to the end of the reply, or to "[/state]", after a heading ("[state]", "**State**",
             "state:", "{", "---"), a blank line, or at the start of the reply

A fence or tag that is cut off by the end of the reply is a report too. Text that was held back is released as soon as
a line follows that cannot belong to a report. So a story may quote text that resembles a report: with other keys, fewer
fields, or prose after them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from string import ascii_letters, digits

from attrs import define, evolve, field

from saga_core.language import all_of, any_of, every, normalized, squash
from saga_core.state_block import fences
from saga_core.state_block.fences import BLANKS, RawBlock
from saga_core.state_block.fields import FIELDS, field_of, is_header

# -- the lines of a report -------------------------------------------------------------------------------------
#
# Classifies the lines of a report without a fence of its own, from as few characters as possible.
#
# While a line is still being read, its sort may be one of ``UNFINISHED``. Any other sort is final.

_SPACE = f"{BLANKS}\r>"
_ASSIGNS = ":：=＝"
_RULES = frozenset("-=_*")
_LONGEST_RULE = 80
_DRESS = re.compile(
    rf"[{_SPACE}]{{0,40}}(?:[\[［【]\w{{1,20}}[,，][ \t]{{0,4}}|(?:[-*+•–—−]|\d{{1,2}}[.)])[ \t]{{1,9}})?"
    rf"(?:#{{1,6}}[ \t]{{0,9}})?[*_`\"'{{｛\[［【(（ ]{{0,9}}"
)
_BEGUN_LIST = re.compile(r"[\[［【]\w{0,20}(?:[,，][ \t]{0,4})?")
"""The beginning of a list that may go on with fields, as in ``[player, location: hall``."""
_MARKS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x3100))))
_WORD = re.compile(rf"(?:[\w{_MARKS} -]|\\(?:u[0-9a-fA-F]{{0,4}})?){{1,40}}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_UNDRESS = re.compile(rf"[*_`\"'\]］】)）]{{0,4}}[{BLANKS}\r]{{0,9}}")
_FENCE = re.compile(
    rf"[{_SPACE}]{{0,40}}(?P<run>`{{3,}}|~{{3,}})[{BLANKS}]{{0,9}}[\w.+-]{{0,20}}[{BLANKS}\r]{{0,9}}(?P<rest>\{{.*)?",
    re.S,
)
_LONGEST_PAIR = 30

_NAMES = "|".join(sorted((field.name for field in FIELDS), key=len, reverse=True))
_CANONICAL = frozenset(field.name for field in FIELDS)
_FIELD = re.compile(
    rf"^[{_SPACE}]{{0,40}}(?:(?:[-*+•–—−]|\d{{1,2}}[.)])[ \t]{{1,9}})?[*_`\"'{{ ]{{0,9}}(?P<name>{_NAMES})"
    rf"[*_`\"']{{0,4}}(?:[ \t]{{0,9}}[{_ASSIGNS}]|[ \t]{{1,9}}-[ \t])",
    re.M | re.I,
)
_DASHED = re.compile(rf"(?:{_NAMES})[*_`\"']{{0,4}}[ \t]{{1,9}}-[ \t]", re.I)
"""The beginning of a line that has a dash for the colon: ``location - the mill``."""
_PARTS = re.compile(r"[,{;|/]")
_BULLETS = frozenset("•–—−")
_DOCUMENT = re.compile(rf"[{_SPACE}]{{0,40}}[-–—−]{{3}}[ \t]{{1,9}}(?=[{{｛])")
"""The beginning of a document of YAML, in the line of its map."""
_NUMBER = re.compile(r"\d{1,2}(?:[.)][ \t]*)?")
_CELL = re.compile(rf"\|[{BLANKS}]*(?::?[-–—−]{{2,}}|(?P<key>[^|\n]{{1,60}}?)[{BLANKS}*_`]*\|)")
"""The first cell of a row, or of the line below the heads of a table."""
_ELEMENT = re.compile(rf"<(?P<key>[\w{_MARKS} -]{{1,40}})>(?:[^<\n]*</(?P=key)>)?", re.I)
"""A field as an element, ``<location>Mill</location>``, or the tag that begins it."""
_BEGUN_MARK = re.compile(rf"<[\w{_MARKS} -]{{0,40}}|\|[^|\n]{{0,60}}")
# The underscore comes first, because a search for a literal character skips the rest of the text quickly.
_PARTED = [name.split("_", 1) for name in sorted(_CANONICAL) if "_" in name]
_TELLING = re.compile(f"_(?:{'|'.join(f'(?<={head}_){tail}' for head, tail in _PARTED)})", re.I)


def decomposed(text: str) -> str:
    """``text`` in a form in which a prefix of ``text`` gives a prefix of the result, whatever its Unicode form."""
    return "".join(filter(str.isalnum, normalized("NFKD", text.casefold())))


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:length] for word in map(decomposed, words) for length in range(len(word) + 1))


def _first_letters(words: Iterable[str]) -> str:
    """The first letters of words, in any case and Unicode form."""
    found: set[str] = set()
    for word in words:
        for form in ("NFC", "NFD"):
            first = normalized(form, word)[0]
            found |= {first.lower(), first.upper()}
            parts = normalized("NFD", first)
            if len(parts) > 2:  # the syllable without its last consonant, which may arrive in a later chunk
                found.add(normalized("NFC", parts[:2]))
    return "".join(sorted(found))


_HEADS = all_of(lambda each: each.block.headers)
_LETTERS = "A-Z" + "".join(each.grammar.letters for each in every())
begins_story = re.compile(rf"<|[\"'*_(]{{0,3}}(?![{_first_letters(_HEADS | _CANONICAL)}])[{_LETTERS}]").match
"""Matches the beginning of a line that cannot begin a report, as nearly every line of a reply does. No match proves
nothing."""
_OF_HEADS = _beginnings(_HEADS)
_LONGEST_TAG = 40
_MANY_TAGS = 64
"""The number of different tags that a quick check compares with the names of a report."""
_IN_NO_TAG = "".join(sorted({*ascii_letters, *digits} - {*_first_letters(_HEADS)}))
_TAG = re.compile(rf"<(?![{_IN_NO_TAG}])([^\s<>/]{{1,{_LONGEST_TAG}}})>")
plain = re.compile(rf"(?:[^<\n]++|<(?=[{_IN_NO_TAG}<>/\s]))++").match
"""Matches text within a line up to a ``<`` that may begin a tag that names a report."""


class Sort(Enum):
    """The sort of a line, as far as it has been read."""

    NO = "no line of a report"
    BEGUN = "a line that may go on as a heading, or as anything"
    BEGUN_FIELD = "a line that may go on as a field by the form's own name"
    BEGUN_KEY = "a line that may go on as a field by another name"
    BEGUN_PAIR = "a line that may go on as any key"
    BLANK = "an empty line"
    RULE = "a line across"
    HEAD = "a heading that names the report"
    ROOT = "the beginning of a map that holds the report"
    FIELD = "a field by the form's own name"
    KEY = "a field by another name"
    PAIR = "a key of anything else"


_BEGINNINGS = (
    (Sort.BEGUN, _OF_HEADS),
    (Sort.BEGUN_FIELD, _beginnings(_CANONICAL)),
    (Sort.BEGUN_KEY, _beginnings(alias for field in FIELDS for alias in field.aliases.split())),
)
UNFINISHED = frozenset({Sort.BEGUN, Sort.BEGUN_FIELD, Sort.BEGUN_KEY, Sort.BEGUN_PAIR})


def sort_of(line: str, *, ended: bool) -> Sort:
    """The sort of ``line``. ``ended`` says that the line is complete."""
    bare = line.strip(_SPACE)
    if not bare:
        return Sort.BLANK if ended else Sort.BEGUN
    if not ended and (bare in _BULLETS or _NUMBER.fullmatch(bare) or _BEGUN_LIST.fullmatch(bare)):
        return Sort.BEGUN
    if document := _DOCUMENT.match(line):
        line = line[document.end() :]
        bare = line.strip(_SPACE)
    if bare[0] in _RULES and set(bare) <= _RULES:
        if not ended:
            return Sort.BEGUN if len(bare) <= _LONGEST_RULE else Sort.NO
        return Sort.RULE if 3 <= len(bare) <= _LONGEST_RULE else Sort.NO
    dress = _DRESS.match(line)
    rest = line[dress.end() :] if dress else line
    if not rest.strip(_SPACE):
        if not ended:
            return Sort.BEGUN
        return Sort.ROOT if bare in ("{", "｛", "[{", "{{") else Sort.NO
    if _DASHED.match(rest):
        return Sort.FIELD
    key = _WORD.match(rest)
    return _sort_of_key(key.group(), rest[key.end() :], ended) if key else Sort.NO


def _sort_of_key(word: str, tail: str, ended: bool) -> Sort:
    word = word if not tail and not ended else word.rstrip("_ ")
    if not tail and not ended:
        begun = decomposed(word)
        found = next((sort for sort, beginnings in _BEGINNINGS if begun in beginnings), Sort.NO)
        if found is Sort.NO and "\\" in word:
            return Sort.BEGUN_KEY
        return Sort.BEGUN_PAIR if found is Sort.NO and len(word) <= _LONGEST_PAIR else found
    word = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), word)
    undress = _UNDRESS.match(tail)
    behind = tail[undress.end() :] if undress else tail
    if behind and behind[0] in "[［{｛" and field_of(word) is not None:
        return Sort.FIELD if word.strip().casefold() in _CANONICAL else Sort.KEY
    if behind and behind[0] not in _ASSIGNS:  # prose, as nearly every line of a reply is
        return Sort.NO
    head, field, own = is_header(word), field_of(word) is not None, word.strip().casefold() in _CANONICAL
    if not behind:
        if ended:
            return Sort.HEAD if head else Sort.NO
        if head or own or field:
            return Sort.BEGUN if head else Sort.BEGUN_FIELD if own else Sort.BEGUN_KEY
        return Sort.BEGUN_PAIR if len(word) <= _LONGEST_PAIR else Sort.NO
    if head:
        value = behind[1:].strip(f"{_SPACE}*_`\"'")
        if not value:
            return Sort.HEAD if ended else Sort.BEGUN
        return Sort.ROOT if value[0] in "{｛" else Sort.NO
    if own:
        return Sort.FIELD
    if field:
        return Sort.KEY
    return Sort.PAIR if len(word) <= _LONGEST_PAIR and squash(word) else Sort.NO


def may_begin_field(begun: str) -> bool:
    """Whether a field of the form, or a heading of the report, may begin with these decomposed letters."""
    return any(begun in beginnings for _, beginnings in _BEGINNINGS)


def fence_of(line: str, *, ended: bool) -> tuple[str, str] | None:
    """The run that opens a fence in ``line``, and the beginning of a map after it.

    ("", "") while the line is incomplete; None for a line that opens no fence.
    """
    bare = line.strip(_SPACE)
    if not ended and bare and bare[0] in "`~" and len(set(bare)) == 1:
        return "", ""
    found = _FENCE.match(line)
    if found is None or found.end() < len(line):
        return None
    if found["rest"] is None and not ended:
        return "", ""
    return found["run"], found["rest"] or ""


def names_in(line: str) -> set[str]:
    """The canonical names of the fields that ``line`` states under these names."""
    return {found["name"].casefold() for found in _FIELD.finditer(_PARTS.sub("\n", line))}


def field_in(line: str) -> set[str]:
    """A set with the canonical name of the field that ``line`` begins with, under any name; empty if there is none."""
    dress = _DRESS.match(line)
    word = _WORD.match(line, dress.end() if dress else 0)
    field = field_of(word.group()) if word and sort_of(line, ended=True) in (Sort.FIELD, Sort.KEY) else None
    return {field.name} if field else set()


def begun_name(line: str) -> str:
    """The field whose canonical name begins with the text of ``line``; "" for none, or without an underscore."""
    dress = _DRESS.match(line)
    word = (line[dress.end() :] if dress else line).strip().lstrip("]}］｝> \t").casefold()
    return next((field.name for field in FIELDS if "_" in word and field.name.startswith(word)), "")


def begins_tag(text: str) -> bool:
    """Whether ``text``, which begins with ``<``, may become a tag that names a report."""
    name = text[1:]
    if len(name) > _LONGEST_TAG or any(char.isspace() or char in "<>/" for char in name):
        return False
    return decomposed(name) in _OF_HEADS


def is_telling(names: set[str]) -> bool:
    """Whether fields with these names can only be a report: at least two, one of them with an underscore."""
    return len(names) >= 2 and any("_" in name for name in names)


def may_hold_report(text: str) -> bool:
    """A quick check whether ``text`` may contain a report."""
    if "_" in text and (_TELLING.search(text) is not None or "_" in text[-_LONGEST_TAG:]):
        return True
    seen: set[str] = set()
    for found in _TAG.finditer(text) if "<" in text else ():
        if found[1] not in seen:
            if len(seen) >= _MANY_TAGS or is_header(found[1]):
                return True
            seen.add(found[1])
    return False


# -- lines that may be a report --------------------------------------------------------------------------------

SPACE = fences.BLANKS + fences.NEWLINES + fences.QUOTE_MARK
WHITE = fences.BLANKS + fences.NEWLINES
_BULLET = re.compile(r"[-*+•–—−][ \t]")
_OPEN_ENDS = ("[", "［", "{", "｛", ":", "：", "|")
_DATA_STARTS = tuple("\"'“[{［｛")


def without_gap(text: str) -> str:
    """``text`` without the white space at its end and without final lines that contain only quote marks."""
    core = text.rstrip(SPACE)
    line, end, _ = text[len(core) :].partition("\n")
    return (core + line if end else text).rstrip(WHITE)


class ReportKind(Enum):
    FENCED = "fenced"
    TAGGED = "tagged"
    BARE = "bare"


class Take(Enum):
    """The decision about a line of a report."""

    YES = "it is a line of the report, however it goes on"
    NO = "it is none"
    WAIT = "more of it has to be read"
    END = "it closes the report"


@define
class ReportCandidate:
    """Lines that may be a report."""

    kind: ReportKind
    closer: str = ""
    """The fence or the tag that closes the report."""
    text: list[str] = field(factory=list)
    """All text that was read, including the opener."""
    body: list[str] = field(factory=list)
    names: set[str] = field(factory=set)
    keys: set[str] = field(factory=set)
    """Canonical names of the fields stated, under any name."""
    rooted: bool = False
    """Whether a heading or an opening brace precedes the fields."""
    in_table: bool = False
    """Whether a row of a table precedes, which may be its heads."""
    has_elements: bool = False
    behind_blank: bool = False
    open_list: bool = False
    depth: int = 0
    size: int = 0
    goes_on: bool = False
    """Whether it goes on with a block that was open before a call of a tool."""
    is_cut: bool = False
    """Whether the call may stand in a line of the block."""
    is_joined: bool = False
    """Whether what stands behind the call was taken for the rest of that line. Only the end of the block shows it."""

    @property
    def has_fields(self) -> bool:
        """Whether a line named a field."""
        return bool(self.keys) or self.goes_on

    @property
    def is_heading(self) -> bool:
        """Whether only a heading has been read, after which a fence may follow."""
        return self.kind is ReportKind.BARE and bool(self.text) and not self.body

    def is_report(self) -> bool:
        """Whether the lines can only be a report. In tags, aliases of two fields suffice: no story has those."""
        in_tags = self.kind is ReportKind.TAGGED or self.has_elements
        return self.goes_on or is_telling(self.names) or (in_tags and len(self.keys) >= 2)

    def reads(self, line: str, *, ended: bool) -> Take:
        """Decide whether ``line``, as far as it was read, belongs to the report."""
        bare = line.strip(SPACE)
        if not bare:
            return Take.YES if ended else Take.WAIT
        closing = self._closing(line.lstrip(SPACE).rstrip(WHITE), ended=ended)
        if closing is not None:
            return closing
        if self.has_fields and self._goes_on(line, bare):
            return Take.YES
        if bare[0] in "<|" and (self.rooted or self.kind is not ReportKind.BARE):
            marked = (_ELEMENT if bare[0] == "<" else _CELL).match(bare)
            if marked is None:
                return Take.WAIT if not ended and _BEGUN_MARK.fullmatch(bare) else Take.NO
            if bare[0] == "|" and not (marked["key"] and self.in_table):
                return Take.YES
            line = f"{marked['key']}:"
        if (self.kind is not ReportKind.BARE or self.rooted) and self.has_fields and not ended and bare in (".", ".."):
            return Take.WAIT
        sort = sort_of(line, ended=ended)
        if sort in UNFINISHED:
            waits = sort in (Sort.BEGUN, Sort.BEGUN_FIELD) or self._takes_pairs
            return Take.WAIT if waits or (sort is Sort.BEGUN_KEY and self._takes_keys) else Take.NO
        if sort is Sort.FIELD or (sort is Sort.PAIR and self._takes_pairs):
            return Take.YES
        if sort is Sort.KEY:
            return Take.YES if self._takes_keys else Take.NO
        if sort is Sort.RULE:
            return Take.YES
        return Take.YES if sort in (Sort.HEAD, Sort.ROOT) and not self.has_fields else Take.NO

    @property
    def _takes_keys(self) -> bool:
        return self.has_fields or self.rooted or self.kind is not ReportKind.BARE

    @property
    def _takes_pairs(self) -> bool:
        return self.kind is not ReportKind.BARE and (self.has_fields or self.rooted)

    def _closing(self, bare: str, *, ended: bool) -> Take | None:
        if self.kind is ReportKind.FENCED and bare[0] == self.closer[0]:
            bare = bare.rstrip(SPACE)
            if bare.strip(bare[0]):
                return Take.NO if bare.startswith(3 * bare[0]) else None
            if not ended:
                return Take.WAIT
            return Take.END if len(bare) >= len(self.closer) else Take.NO
        if self.kind is ReportKind.TAGGED and bare[0] == "<":
            folded = bare.casefold()
            if folded.startswith(self.closer):
                return Take.END
            if self.closer.startswith(folded) and not ended:
                return Take.WAIT
        if self._may_be_ended_by(bare := bare.rstrip(SPACE)):
            if bare[-1] in "]】":
                return (Take.END if ended else Take.WAIT) if is_header(bare[2:-1]) else Take.NO
            return Take.WAIT if begins_tag(f"<{bare[2:]}") and not ended else Take.NO
        return None

    def _may_be_ended_by(self, bare: str) -> bool:
        """Whether a line may be the counterpart of a heading in brackets: ``[/state]``."""
        return self.kind is ReportKind.BARE and self.has_fields and not self.depth and bare[:2] in ("[/", "【/")

    def _goes_on(self, line: str, bare: str) -> bool:
        """Whether a line continues the lines above it, so that it need not name a field."""
        if bare[0] in "]}］｝":
            return True
        is_open = self.rooted and (self.depth > 0 or self.open_list)
        if self.behind_blank and self.kind is ReportKind.BARE and not is_open:
            return False
        if (self.kind is not ReportKind.BARE or self.rooted) and bare == "...":
            return True
        if line[0] in fences.BLANKS or (self.depth > 0 and bare[0] in _DATA_STARTS):
            return True
        return self.open_list and _BULLET.match(bare) is not None

    def own(self, line: str) -> tuple[str, bool]:
        """The part of a line before the closing tag, and whether the line contains that tag."""
        found = re.search(re.escape(self.closer), line, re.I) if self.kind is ReportKind.TAGGED else None
        return (line[: found.start()], True) if found else (line, False)

    def take(self, line: str, end: str) -> str | None:
        """Add a line that belongs to the report, with its line end.

        Returns the text after the closer if the line closes the report, else None.
        """
        tail = None
        content, closes = self.own(line)
        if closes:
            tail = line[len(content) + len(self.closer) :]
        elif self.kind is ReportKind.FENCED and (bare := line.rstrip(SPACE)).endswith(self.closer):
            content, tail = bare.rstrip(self.closer[0]), ""
        bare = line.strip(SPACE)
        if self._may_be_ended_by(bare) and is_header(bare[2:-1]):
            content, tail = "", ""
        self.text.append(line + end)
        self.size += len(line) + len(end)
        bare = content.strip(SPACE)
        if not bare:
            self.behind_blank = True
            return tail
        named = _ELEMENT.sub(r"\n\g<key>:", content).strip() if bare[0] == "<" else content
        if bare[0] == "|" and (cell := _CELL.match(bare)):
            named = f"{cell['key'] or ''}:"
        self.in_table, self.has_elements = bare[0] == "|", self.has_elements or bare[0] == "<"
        sort = sort_of(named, ended=True)
        heads = sort is Sort.HEAD and not self.has_fields
        self.rooted = self.rooted or heads or sort is Sort.ROOT or bare[0] in "{｛"
        if heads or sort is Sort.RULE:
            return tail
        if sort is Sort.ROOT and bare[0] not in "{｛[":
            content = content[content.index("{") if "{" in content else content.index("｛") :]
        self.names |= names_in(named)
        self.keys |= self.names | field_in(named)
        self.body.append(content if tail is not None else content + end)
        self.behind_blank = False
        self.open_list = bare.endswith(_OPEN_ENDS) or (self.open_list and _BULLET.match(bare) is not None)
        self.depth = max(0, self.depth + sum(map(content.count, "[［{｛")) - sum(map(content.count, "]］}｝")))
        return tail


# -- reports ---------------------------------------------------------------------------------------------------

LONGEST = 20_000
"""The maximum number of characters of a report. Longer text is shown."""
_GLANCE = 256
"""The number of characters of a line that are examined first."""
_blank_lines = re.compile(rf"(?:[{fences.BLANKS}\r{fences.QUOTE_MARK}]{{0,40}}+\n)++").match
"""Matches lines of white space and quote marks. There may be millions of them, so they are not read one by one."""
_HALTS = re.compile(r"[<>\n]")
"""Matches a character that may begin a tag or that ends the line."""
_NOTHING_ENDS = any_of(lambda each: each.values.nothing_ends)
_WHOLE_END = re.compile(r"[\s\]})\"'”.。!?]\Z" + rf"|\b(?:{_NOTHING_ENDS})\Z", re.I)


class _Mode(Enum):
    START = "at the start of a line"
    TAG = "in what may be a tag"
    PASS = "in a line of the story"
    IN = "in a candidate"


_halts = _HALTS.search  # a module name, because it is looked up for every chunk of a stream


class ReportFilter(fences.GapFilter):
    """Hides the unfenced reports of one reply while it streams. Feed it the output of a ``FenceFilter``."""

    def __init__(self) -> None:
        super().__init__()
        self._reports: list[RawBlock] = []
        self._mode = _Mode.START
        self._line = ""
        self._more: list[str] = []
        """The rest of a line that the candidate takes whatever follows."""
        self._sure = False
        self._held = 0
        """The number of characters of the current line."""
        self._too_long = False
        """Whether this line was given up because of its length. No other candidate begins in it."""
        self._candidate: ReportCandidate | None = None
        self._behind_thought = False

    @property
    def open_fence(self) -> str:
        """The fence that closes a block which was open before a call already, and still is; empty if none is."""
        candidate = self._candidate
        return candidate.closer if candidate is not None and candidate.goes_on and not candidate.is_joined else ""

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The reports that have ended so far, in order."""
        drafts = (evolve(block, thinking=True) for block in self._reports[: self._drafts])
        return (*drafts, *self._reports[self._drafts :])

    def go_on(self, body: str, closer: str) -> None:
        """Begin inside a block that was open before a call of a tool, with its lines so far."""
        is_cut = not body.endswith("\n")
        self._begin(
            ReportCandidate(ReportKind.FENCED, closer, body=[f"{body}\n"], rooted=True, goes_on=True, is_cut=is_cut)
        )

    def feed(self, text: str) -> str:
        """Add a chunk and return the visible text that can be sent now."""
        if (self.in_prose or self._begins_prose(text)) and _halts(text) is None:
            self._mode, self.in_prose = _Mode.PASS, True
            return self.flow(text)
        self._read(text)
        return self._take_out()

    def _begins_prose(self, text: str) -> bool:
        """Whether ``text`` begins a line that can only be of the story."""
        ready = self._mode is _Mode.START and not (self._line or self._joining or self._tail)
        return ready and begins_story(text, 0) is not None

    def holds_nothing(self) -> bool:
        """Whether nothing was held back that the next chunk has to be read with."""
        return self._shown and not (self._gap or self._tail or self._behind_thought)

    def flow(self, text: str) -> str:
        """The fast path of ``feed`` for a chunk ``in_prose`` that neither begins a tag nor ends the line. Returns the
        chunk without the white space at its end, which belongs to a report that may follow."""
        core = text.rstrip(WHITE)
        white = text[len(core) :]
        if core:
            if self._gap:
                core = "".join((*self._gap, core))
                self._gap.clear()
            self._shown, self._behind_thought = True, False
            if self._tail:
                self._keep(self._tail + core)
        if white:
            self._gap.append(white)
        return core

    def finish(self) -> str:
        """End the reply and return the visible text that was held back."""
        if self.in_prose:
            return "".join(self._gap)
        while not self._end():
            pass
        if not self._joining:
            self._out.extend(self._gap)
        return self._take_out()

    def _take_out(self) -> str:
        self.in_prose = self._mode is _Mode.PASS and not self._joining
        return self._take_text()

    # -- reading -----------------------------------------------------------------------------------------------

    def _read(self, text: str) -> None:
        waiting = [(text, 0)]
        while waiting:
            text, pos = waiting.pop()
            while pos < len(text):
                again = ""
                if self._mode is _Mode.PASS:
                    pos = self._pass(text, pos)
                elif self._mode is _Mode.TAG:
                    pos, again = self._read_tag(text, pos)
                elif self._mode is _Mode.START and not self._line and begins_story(text, pos):
                    self._mode = _Mode.PASS
                elif self._mode is _Mode.START and not self._line and (blank := _blank_lines(text, pos)):
                    self._gap.append(blank.group())
                    pos = blank.end()
                else:
                    pos, again = self._read_line(text, pos)
                if again:
                    waiting.append((text, pos))
                    text, pos = again, 0

    def _pass(self, text: str, pos: int) -> int:
        """Show a line of the story, up to a character that may begin a tag."""
        if found := plain(text, pos):
            self._show(found.group())
            return found.end()
        if text[pos] == "\n":
            self._gap.append("\n")
            self._too_long = False
            self._mode = _Mode.PASS if self._thinking else _Mode.START
        elif text[pos] == "<" and not self._thinking and not self._too_long:
            self._mode, self._line = _Mode.TAG, "<"
        else:
            self._show(text[pos])
        return pos + 1

    def _read_tag(self, text: str, pos: int) -> tuple[int, str]:
        while pos < len(text):
            if text[pos] == ">" and len(self._line) > 1 and is_header(self._line[1:]):
                name = self._line[1:].casefold()
                self._begin(ReportCandidate(ReportKind.TAGGED, f"</{name}>", [f"{self._line}>"]))
                return pos + 1, ""
            if not begins_tag(self._line + text[pos]):
                self._show(self._line)
                self._mode, self._line = _Mode.PASS, ""
                return pos, ""
            self._line += text[pos]
            pos += 1
        return pos, ""

    def _read_line(self, text: str, pos: int) -> tuple[int, str]:
        """Continue a line that is held back. Returns the new position and the text that must be read again."""
        # Take no more than needed: the rest of a long line may begin many candidates, and is copied for each.
        most = max(_GLANCE, self._held)
        if self._candidate is not None:
            most = LONGEST + 1 - self._held if self._sure else min(most, LONGEST + 1 - self._held)
        stop = min(len(text), pos + max(most, 1))
        end = text.find("\n", pos, stop)
        ended = end >= 0
        piece = text[pos : end if ended else stop]
        if self._sure:
            self._more.append(piece)
        else:
            self._line += piece
        self._held += len(piece)
        pos += len(piece)
        again = self._start(ended=ended) if self._candidate is None else self._go_on(ended=ended)
        return (pos + 1, "") if ended and again is None else (pos, again or "")

    def _start(self, *, ended: bool, end: str = "\n") -> str | None:
        """Handle the start of a line outside a candidate. Returns the text to read again; None if the line was kept."""
        line = self._line
        if not line.strip(SPACE):
            if ended:
                self._gap.append(line + end)
                self._line, self._held = "", 0
            return None
        fence = fence_of(line, ended=ended)
        if fence == ("", ""):
            return None
        if fence is not None:
            return self._open_fence(ReportCandidate(ReportKind.FENCED), fence, end)
        sort = sort_of(line, ended=ended)
        starts = line.lstrip(SPACE)[:1] in ("{", "｛") or self._is_parted()
        if sort is Sort.BEGUN or (sort is Sort.BEGUN_FIELD and starts):
            return None
        if sort in (Sort.HEAD, Sort.ROOT, Sort.RULE) or (sort is Sort.FIELD and starts):
            self._begin(ReportCandidate(ReportKind.BARE))
            return line
        self._mode, self._line, self._held = _Mode.PASS, "", 0
        return line

    def _open_fence(self, candidate: ReportCandidate, fence: tuple[str, str], end: str) -> str | None:
        """Begin a candidate at a line that opens a fence. Returns the beginning of a map after it, to read again."""
        candidate.kind, (candidate.closer, rest) = ReportKind.FENCED, fence
        candidate.text.append(self._line[: len(self._line) - len(rest)] + ("" if rest else end))
        self._begin(candidate)
        return rest or None

    def _begin(self, candidate: ReportCandidate) -> None:
        self._candidate, self._mode, self._line, self._sure, self._held = candidate, _Mode.IN, "", False, 0

    def _is_parted(self) -> bool:
        gap = "".join(self._gap)
        return not self._shown or self._joining or self._behind_thought or fences.gap_rank(gap) > 2

    def _go_on(self, *, ended: bool) -> str | None:
        """Handle a line of a candidate. Returns the text to read again; None if the line was kept."""
        candidate = self._candidate
        assert candidate is not None
        if candidate.is_heading and (fence := fence_of(self._line, ended=ended)):
            return None if fence == ("", "") else self._open_fence(candidate, fence, "\n")
        if not self._sure:
            taken = candidate.reads(self._line, ended=ended)
            if taken is Take.NO:
                if candidate.is_cut and not candidate.text and self._held <= _GLANCE:
                    if ended:
                        self._join()
                    return None
                return self._give_back()
            if taken is Take.END and candidate.kind is ReportKind.TAGGED:
                return self._close_tag(self._line)
            self._sure = taken is Take.YES or taken is Take.END
        if candidate.size + self._held > LONGEST:
            self._too_long = True
            return self._give_back(passing=True)
        if not ended:
            return None
        line = self._whole_line()
        own, closes = candidate.own(line)
        if fences.THINK_TAG.search(own):
            self._line = line
            return self._give_back(passing=True)
        if closes:
            return self._close_tag(line)
        if candidate.take(line, "\n") is None:
            return None
        if candidate.is_report():
            self._hide(closed=True)
            self._gap.append("\n")
        else:
            self._give_up()
        return None

    def _join(self) -> None:
        """Take a line for the rest of the one in which a call of a tool stands."""
        candidate = self._candidate
        assert candidate is not None
        line = f"{self._whole_line()}\n"
        candidate.text.append(line)
        candidate.body[-1] = candidate.body[-1].removesuffix("\n") + line
        candidate.is_joined = True

    def _whole_line(self) -> str:
        line = self._line + "".join(self._more)
        self._line, self._more, self._sure, self._held = "", [], False, 0
        return line

    def _close_tag(self, line: str) -> str:
        """Handle the closing tag in ``line``. Returns the text after it, to read again."""
        candidate = self._candidate
        assert candidate is not None
        self._whole_line()
        behind = candidate.take(line, "") or ""
        if candidate.is_report():
            self._hide(closed=True)
        else:
            candidate.text[-1] = line[: len(line) - len(behind)]
            self._give_up()
        return behind

    def _give_up(self) -> None:
        """Show a candidate that is closed, but is no report."""
        candidate, self._candidate = self._candidate, None
        assert candidate is not None
        text = "".join(candidate.text)
        self._show(text)
        self._mode = _Mode.START if text.endswith("\n") else _Mode.PASS

    def _give_back(self, *, passing: bool = False) -> str:
        """Show a candidate that is no report. Returns its last line, which must be read again."""
        line = self._whole_line()
        candidate, self._candidate = self._candidate, None
        assert candidate is not None
        text = "".join(candidate.text)
        if text:
            self._show(text)
        on_its_own = (not text or text.endswith("\n")) and not passing
        self._mode = _Mode.START if on_its_own else _Mode.PASS
        return line

    # -- ending ------------------------------------------------------------------------------------------------

    def _end(self) -> bool:
        """Handle the text held back at the end of the reply. False if there is more to handle."""
        if self._mode is _Mode.TAG:
            line, self._line = self._line, ""
            self._show(line)
            return True
        if self._mode is _Mode.START:
            return self._end_line()
        return self._mode is _Mode.PASS or self._end_candidate()

    def _end_line(self) -> bool:
        again = self._start(ended=True, end="")
        if again is None:  # white space, or an opening fence at the very end
            return self._mode is _Mode.START
        self._read(again)
        return False

    def _end_candidate(self) -> bool:
        candidate = self._candidate
        assert candidate is not None
        line, sure = self._line + "".join(self._more), self._sure
        if line.strip(SPACE) and not sure:
            taken = candidate.reads(line, ended=True)
            if taken is Take.NO and candidate.has_fields:
                taken = candidate.reads(line, ended=False)  # the line may be cut
            if taken is Take.NO:
                again = self._give_back()
                self._read(again)
                return False
        own, closes = candidate.own(line)
        thinks = fences.THINK_TAG.search(own) is not None
        if closes or thinks:
            self._read(self._give_back(passing=True) if thinks else self._close_tag(line))
            return False
        self._whole_line()
        closed = candidate.take(line, "") is not None if line else False
        if (cut := begun_name(line)) and candidate.has_fields:
            candidate.names.add(cut)
        if not candidate.is_report() or (candidate.is_joined and not closed):
            self._give_up()
            self._mode = _Mode.PASS
            return True
        text = "".join(candidate.text)
        whole = candidate.kind is ReportKind.BARE and _WHOLE_END.search(text) is not None
        self._hide(closed=closed or whole, open_=not closed)
        return True

    # -- showing and hiding ------------------------------------------------------------------------------------

    def _hide(self, *, closed: bool, open_: bool = False) -> None:
        candidate, self._candidate = self._candidate, None
        assert candidate is not None
        self._reports.append(RawBlock("".join(candidate.body), closed, unfenced=True, open=open_))
        self._hide_gap()
        self._mode = _Mode.PASS if candidate.kind is ReportKind.TAGGED else _Mode.START

    def _show(self, text: str) -> None:
        """Show ``text``. White space at its end is held back until more text follows."""
        if text and text[0] not in WHITE and text[-1] not in SPACE:
            self._release(text)
            return
        behind = text.lstrip(WHITE)
        core = without_gap(behind)
        self._gap.append(text[: len(text) - len(behind)])
        if core:
            self._release(core)
        self._gap.append(behind[len(core) :])

    def _release(self, text: str) -> None:
        if self._gap or self._joining:
            text = self._take_gap() + text
        self._out.append(text)
        self._shown = True
        if self._tail or fences.may_begin_mark(text) or fences.ends_mark(text):
            self._watch(text)
        else:
            self._behind_thought = False

    def _watch(self, text: str) -> None:
        """Keep track of thinking. Text before an end tag without a start tag counts as thinking too."""
        seen = self._tail + text
        read = 0
        for tag in fences.marks(seen) if fences.ends_mark(text) else ():
            if tag["end"] and not self._thinking:
                self._drafts = len(self._reports)
            self._thinking = not tag["end"]
            read = tag.end()
        self._behind_thought = read > 0 and not self._thinking and not seen[read:].strip()
        self._keep(seen[read:])

"""Collects lines that may be a report without a fence of its own, and decides whether they are one."""

from __future__ import annotations

import re
from enum import Enum

from attrs import define, field

from saga_core.state_block import syntax
from saga_core.state_block.fields import is_header
from saga_core.state_block.loose.lines import UNFINISHED, Sort, begins_tag, field_in, is_telling, names_in, sort_of

SPACE = syntax.BLANKS + syntax.NEWLINES + syntax.QUOTE_MARK
WHITE = syntax.BLANKS + syntax.NEWLINES
_BULLET = re.compile(r"[-*+•][ \t]")
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
class Candidate:
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
    behind_blank: bool = False
    open_list: bool = False
    depth: int = 0
    size: int = 0

    @property
    def has_fields(self) -> bool:
        """Whether a line named a field."""
        return bool(self.keys)

    @property
    def is_heading(self) -> bool:
        """Whether only a heading has been read, after which a fence may follow."""
        return self.kind is ReportKind.BARE and bool(self.text) and not self.body

    def is_report(self) -> bool:
        """Whether the lines can only be a report. Between tags, aliases of two fields suffice: no story has those."""
        return is_telling(self.names) or (self.kind is ReportKind.TAGGED and len(self.keys) >= 2)

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
        return self.has_fields or self.kind is ReportKind.TAGGED or self._takes_pairs

    @property
    def _takes_pairs(self) -> bool:
        return self.kind is not ReportKind.BARE and (self.has_fields or self.rooted)

    def _closing(self, bare: str, *, ended: bool) -> Take | None:
        if self.kind is ReportKind.FENCED and bare[0] == self.closer[0]:
            bare = bare.rstrip(SPACE)
            if bare.strip(bare[0]):
                return Take.NO
            if not ended:
                return Take.WAIT
            return Take.END if len(bare) >= len(self.closer) else Take.NO
        if self.kind is ReportKind.TAGGED and bare[0] == "<":
            folded = bare.casefold()
            if folded.startswith(self.closer):
                return Take.END
            return Take.WAIT if self.closer.startswith(folded) and not ended else Take.NO
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
        if self.behind_blank:
            return False
        if line[0] in syntax.BLANKS or (self.depth > 0 and bare[0] in _DATA_STARTS):
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
        sort = sort_of(content, ended=True)
        heads = sort is Sort.HEAD and not self.has_fields
        self.rooted = self.rooted or heads or sort is Sort.ROOT or bare[0] in "{｛"
        if heads or sort is Sort.RULE:
            return tail
        if sort is Sort.ROOT and bare[0] not in "{｛[":
            content = content[content.index("{") if "{" in content else content.index("｛") :]
        self.names |= names_in(content)
        self.keys |= self.names | field_in(content)
        self.body.append(content if tail is not None else content + end)
        self.behind_blank = False
        self.open_list = bare.endswith(_OPEN_ENDS) or (self.open_list and _BULLET.match(bare) is not None)
        self.depth = max(0, self.depth + sum(map(content.count, "[［{｛")) - sum(map(content.count, "]］}｝")))
        return tail

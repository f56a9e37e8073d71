"""Loose reports: what a reply says in the state block's own words, without the block's fence. Sans-IO.

Small models put the fields into a fence of another name, between tags, or bare at the end of the reply. That is a
report only where it can be nothing else: two fields by the very names of the form, one of them a name that no prose
has, and nothing but fields around them.

::

    report = fenced | tagged | bare
    fenced = an ordinary fence ("```", "```json", "~~~yaml") whose lines are those of a report, to its closing run
    tagged = "<state>", in mid-line too, the lines of a report, "</state>"; by any word that names the block
    bare   = the lines of a report to the end of the reply, or to "[/state]", behind a heading ("[state]", "**State**",
             "state:", "{", "---"), a blank line or nothing at all

A fence or tag that the end of the reply cuts off is a report as well. Text that such lines only begin with is given
back as soon as a line comes that no report has. So a story may quote what looks like a report: other keys, fewer
fields, or prose behind them.
"""

from __future__ import annotations

import re
from enum import Enum

from attrs import evolve

from saga_core.language import every
from saga_core.state_block import syntax
from saga_core.state_block.fences import JOINTS, RawBlock
from saga_core.state_block.fields import is_header
from saga_core.state_block.loose.candidate import SPACE, WHITE, Candidate, ReportKind, Take, without_gap
from saga_core.state_block.loose.lines import Sort, begins_story, begins_tag, begun_name, fence_of, sort_of

LONGEST = 20_000
"""Characters of a report; what is longer is text."""
_GLANCE = 256
"""Characters of a line that are looked at first."""
_PLAIN = re.compile(r"[^<>\n]+")
_HALTS = re.compile(r"[<>\n]")
"""What may begin a tag, or ends the line."""
_NOTHING_ENDS = "|".join(each.block.nothing_ends for each in every() if each.block.nothing_ends)
_WHOLE_END = re.compile(r"[\s\]})\"'”.。!?]\Z" + rf"|\b(?:{_NOTHING_ENDS})\Z", re.I)


class _Mode(Enum):
    START = "at the start of a line"
    TAG = "in what may be a tag"
    PASS = "in a line of the story"
    IN = "in a candidate"


_halts = _HALTS.search  # looked up for every piece of a stream


class ReportFilter:
    """Hides the loose reports of one reply while it streams. Feed it what a ``FenceFilter`` lets through."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._reports: list[RawBlock] = []
        self._mode = _Mode.START
        self.in_prose = False
        """Whether the last text ended within a line of the story."""
        self._line = ""
        self._more: list[str] = []
        """What followed on a line that the candidate takes however it goes on."""
        self._sure = False
        self._held = 0
        """Characters of the line that is read."""
        self._too_long = False
        """Whether this line was given up for its length: nothing else begins in it."""
        self._candidate: Candidate | None = None
        self._gap: list[str] = []
        self._shown = False
        self._joining = False
        self._joint = 0
        self._tail = ""
        self._thinking = False
        self._behind_thought = False
        self._drafts = 0

    @property
    def blocks(self) -> tuple[RawBlock, ...]:
        """The reports that have ended so far, in order."""
        drafts = (evolve(block, thinking=True) for block in self._reports[: self._drafts])
        return (*drafts, *self._reports[self._drafts :])

    def feed(self, text: str) -> str:
        """The visible text that may be sent now that ``text`` has arrived."""
        if self.in_prose and _halts(text) is None:
            return self.flow(text)
        self._read(text)
        return self._take_out()

    def flow(self, text: str) -> str:
        """``feed`` where the filter is ``in_prose`` and ``text`` neither begins a tag nor ends the line: it comes
        through, but for white space at its end, which goes with what may be hidden behind it."""
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
        """The visible text that was held back, now that the reply has ended."""
        while not self._end():
            pass
        if not self._joining:
            self._out.extend(self._gap)
        return self._take_out()

    def _take_out(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        self.in_prose = self._mode is _Mode.PASS and not self._joining
        return text

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
                elif self._mode is _Mode.START and not self._line and text[pos] == "\n":
                    self._gap.append("\n")
                    pos += 1
                else:
                    pos, again = self._read_line(text, pos)
                if again:
                    waiting.append((text, pos))
                    text, pos = again, 0

    def _pass(self, text: str, pos: int) -> int:
        """Let a line of the story through, up to what may be a tag."""
        if plain := _PLAIN.match(text, pos):
            self._show(plain.group())
            return plain.end()
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
                self._begin(Candidate(ReportKind.TAGGED, f"</{name}>", [f"{self._line}>"]))
                return pos + 1, ""
            if not begins_tag(self._line + text[pos]):
                self._show(self._line)
                self._mode, self._line = _Mode.PASS, ""
                return pos, ""
            self._line += text[pos]
            pos += 1
        return pos, ""

    def _read_line(self, text: str, pos: int) -> tuple[int, str]:
        """Read on in a line of which nothing was let through. Gives back what of it has to be read once more."""
        # No more than is needed: the rest of a long line may begin many candidates, and would be copied for each.
        most = LONGEST + 1 - self._held if self._sure else max(_GLANCE, self._held)
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
        """The start of a line of the story. None: the line is held, or taken with its end."""
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
            return self._open_fence(Candidate(ReportKind.FENCED), fence, end)
        sort = sort_of(line, ended=ended)
        starts = line.lstrip(SPACE)[:1] in ("{", "｛") or self._is_parted()
        if sort is Sort.BEGUN or (sort is Sort.BEGUN_FIELD and starts):
            return None
        if sort in (Sort.HEAD, Sort.ROOT, Sort.RULE) or (sort is Sort.FIELD and starts):
            self._begin(Candidate(ReportKind.BARE))
            return line
        self._mode, self._line, self._held = _Mode.PASS, "", 0
        return line

    def _open_fence(self, candidate: Candidate, fence: tuple[str, str], end: str) -> str | None:
        """The line opens a fence. Gives back the map that begins behind it."""
        candidate.kind, (candidate.closer, rest) = ReportKind.FENCED, fence
        candidate.text.append(self._line[: len(self._line) - len(rest)] + ("" if rest else end))
        self._begin(candidate)
        return rest or None

    def _begin(self, candidate: Candidate) -> None:
        self._candidate, self._mode, self._line, self._sure, self._held = candidate, _Mode.IN, "", False, 0

    def _is_parted(self) -> bool:
        gap = "".join(self._gap)
        return not self._shown or self._joining or self._behind_thought or syntax.gap_rank(gap) > 2

    def _go_on(self, *, ended: bool) -> str | None:
        """A line of a candidate. None: the line is held, or taken with its end."""
        candidate = self._candidate
        assert candidate is not None
        if candidate.is_heading and (fence := fence_of(self._line, ended=ended)):
            return None if fence == ("", "") else self._open_fence(candidate, fence, "\n")
        if not self._sure:
            taken = candidate.reads(self._line, ended=ended)
            if taken is Take.NO:
                return self._give_back()
            if taken is Take.END and candidate.kind is ReportKind.TAGGED:
                return self._close_tag(self._line)
            self._sure = taken is Take.YES or taken is Take.END
        if self._sure and candidate.size + self._held > LONGEST:
            self._too_long = True
            return self._give_back(passing=True)
        if not ended:
            return None
        line = self._whole_line()
        own, closes = candidate.own(line)
        if syntax.THINK_TAG.search(own):
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

    def _whole_line(self) -> str:
        line = self._line + "".join(self._more)
        self._line, self._more, self._sure, self._held = "", [], False, 0
        return line

    def _close_tag(self, line: str) -> str:
        """The closing tag stands in ``line``: what stands behind it is read on."""
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
        """The candidate is closed and no report: it is shown, whole."""
        candidate, self._candidate = self._candidate, None
        assert candidate is not None
        text = "".join(candidate.text)
        self._show(text)
        self._mode = _Mode.START if text.endswith("\n") else _Mode.PASS

    def _give_back(self, *, passing: bool = False) -> str:
        """The candidate is no report: it is shown but for the line that says so, which is read once more."""
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
        """Settle what is held when the text is over; False: there is more to settle."""
        if self._mode is _Mode.TAG:
            line, self._line = self._line, ""
            self._show(line)
            return True
        if self._mode is _Mode.START:
            return self._end_line()
        return self._mode is _Mode.PASS or self._end_candidate()

    def _end_line(self) -> bool:
        again = self._start(ended=True, end="")
        if again is None:  # white space, or a fence that nothing follows
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
                taken = candidate.reads(line, ended=False)  # it may be cut
            if taken is Take.NO:
                again = self._give_back()
                self._read(again)
                return False
        own, closes = candidate.own(line)
        thinks = syntax.THINK_TAG.search(own) is not None
        if closes or thinks:
            self._read(self._give_back(passing=True) if thinks else self._close_tag(line))
            return False
        self._whole_line()
        closed = candidate.take(line, "") is not None if line else False
        if (cut := begun_name(line)) and candidate.has_fields:
            candidate.names.add(cut)
        if not candidate.is_report():
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
        self._reports.append(RawBlock("".join(candidate.body), closed, loose=True, open=open_))
        self._joint = max(self._joint, syntax.gap_rank("".join(self._gap)))
        self._gap.clear()
        self._joining = True
        self._mode = _Mode.PASS if candidate.kind is ReportKind.TAGGED else _Mode.START
        self._tail = ""

    def _show(self, text: str) -> None:
        """Let ``text`` through. White space at its end waits for what follows."""
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
            gap = "".join(self._gap)
            self._gap.clear()
            if self._joining:
                rank = max(self._joint, syntax.gap_rank(gap))
                gap = (JOINTS[rank] if self._shown else "") + syntax.last_line(gap)
                self._joining, self._joint = False, 0
            text = gap + text
        self._out.append(text)
        self._shown = True
        if self._tail or "<" in text or ">" in text:
            self._watch(text)
        else:
            self._behind_thought = False

    def _watch(self, text: str) -> None:
        """Keep track of thinking: what stands before an end tag that nothing began was thinking too."""
        seen = self._tail + text
        read = 0
        for tag in syntax.THINK_TAG.finditer(seen) if ">" in text else ():
            if tag.group(1) and not self._thinking:
                self._drafts = len(self._reports)
            self._thinking = not tag.group(1)
            read = tag.end()
        self._behind_thought = read > 0 and not self._thinking and not seen[read:].strip()
        self._keep(seen[read:])

    def _keep(self, seen: str) -> None:
        """Remember the end of what was read, if a tag may have begun in it."""
        tail = seen[-syntax.THINK_REACH :]
        self._tail = tail if "<" in tail else ""

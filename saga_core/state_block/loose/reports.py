"""Hides loose reports: the fields of a state block without the fence of a state block. Sans-IO.

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
from enum import Enum

from attrs import evolve

from saga_core.language import any_of
from saga_core.state_block import syntax
from saga_core.state_block.fences import JOINTS, RawBlock
from saga_core.state_block.fields import is_header
from saga_core.state_block.loose.candidate import SPACE, WHITE, Candidate, ReportKind, Take, without_gap
from saga_core.state_block.loose.lines import Sort, begins_story, begins_tag, begun_name, fence_of, plain, sort_of

LONGEST = 20_000
"""The maximum number of characters of a report. Longer text is shown."""
_GLANCE = 256
"""The number of characters of a line that are examined first."""
_blank_lines = re.compile(rf"(?:[{syntax.BLANKS}\r{syntax.QUOTE_MARK}]{{0,40}}+\n)++").match
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


class ReportFilter:
    """Hides the loose reports of one reply while it streams. Feed it the output of a ``FenceFilter``."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._reports: list[RawBlock] = []
        self._mode = _Mode.START
        self.in_prose = False
        """Whether the last chunk ended within a line of the story."""
        self._line = ""
        self._more: list[str] = []
        """The rest of a line that the candidate takes whatever follows."""
        self._sure = False
        self._held = 0
        """The number of characters of the current line."""
        self._too_long = False
        """Whether this line was given up because of its length. No other candidate begins in it."""
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
        """Continue a line that is held back. Returns the new position and the text that must be read again."""
        # Take no more than needed: the rest of a long line may begin many candidates, and is copied for each.
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
        """Begin a candidate at a line that opens a fence. Returns the beginning of a map after it, to read again."""
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
        """Handle a line of a candidate. Returns the text to read again; None if the line was kept."""
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
            gap = "".join(self._gap)
            self._gap.clear()
            if self._joining:
                rank = max(self._joint, syntax.gap_rank(gap))
                gap = (JOINTS[rank] if self._shown else "") + syntax.last_line(gap)
                self._joining, self._joint = False, 0
            text = gap + text
        self._out.append(text)
        self._shown = True
        if self._tail or syntax.may_begin_mark(text) or syntax.ends_mark(text):
            self._watch(text)
        else:
            self._behind_thought = False

    def _watch(self, text: str) -> None:
        """Keep track of thinking. Text before an end tag without a start tag counts as thinking too."""
        seen = self._tail + text
        read = 0
        for tag in syntax.THINK_TAG.finditer(seen) if syntax.ends_mark(text) else ():
            if tag["end"] and not self._thinking:
                self._drafts = len(self._reports)
            self._thinking = not tag["end"]
            read = tag.end()
        self._behind_thought = read > 0 and not self._thinking and not seen[read:].strip()
        self._keep(seen[read:])

    def _keep(self, seen: str) -> None:
        """Remember the end of the text read so far, if a tag may begin in it."""
        tail = seen[-syntax.THINK_REACH :]
        self._tail = tail if syntax.may_begin_mark(tail) else ""

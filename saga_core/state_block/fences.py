"""The filter that hides fenced state blocks from a reply while it streams. Sans-IO.

The grammar of the fences of a state block, for streams and for whole texts.

::

    opener  = fence blank* word (blank | newline | colon | end of text)
    fence   = a whole run of three or more of one character, "`" or "~"
    word    = "state", in any case, or that word in a known language
    closer  = a whole run of the opener's character, at least as long as the opener's

A run is whole if no further fence character of its kind is next to it. An opener may occur anywhere, also in the
middle of a line and inside an ordinary code fence. Models do both, but never nest a state block on purpose, so ordinary
fences are not tracked. "```statement", "```state_machine" and "```state```" open nothing.

A closer may occur anywhere too, and the text continues directly after it. Inside a block, a complete opener of either
character and any length ends that block and starts the next. It counts as the closer of the first block if it is long
enough. A block without an end is open to the end of the text. The tag ``</think>`` (or ``</thinking>``) also ends a
block and stays in the text, so that an unclosed draft in a model's thinking cannot swallow the reply after it.

The body begins after the word, one optional colon and one optional line end, and ends where the closer begins.

The gap of a block is the white space around it, including lines that contain only quote marks (">"), and the quote
marks and indentation of the opener's own line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from typing import NoReturn

from attrs import evolve, frozen

from saga_core.language import all_of
from saga_core.state_block.prose import CHANNEL, end_of_thoughts

FENCE_CHARS = "`~"
MIN_FENCE = 3
BLANKS = " \t\u00a0\u3000"
_UNSEEN = f"{BLANKS}\u00ad\u115f\u200b\u2060\u3164\ufeff"
"""Blanks, and other characters that show nothing, which may stand beside the word of a fence."""
NEWLINES = "\r\n"
QUOTE_MARK = ">"

_COLONS = ":："
OPENERS = ("state", *sorted(all_of(lambda each: each.block.openers)))
_WORDS = frozenset(unicodedata.normalize(form, opener).casefold() for opener in OPENERS for form in ("NFC", "NFD"))
_BEGINNINGS = frozenset(word[:length] for word in _WORDS for length in range(1, len(word) + 1))
_WORD_ENDS = frozenset(_UNSEEN + NEWLINES + _COLONS)
_SPECIAL = FENCE_CHARS + BLANKS + NEWLINES
_INFO_TAIL = re.compile(rf"[{_UNSEEN}]*[{_COLONS}]?[{_UNSEEN}]*(?:\r\n|[\r\n])?")
_LINE_END = re.compile(r"\r\n|[\r\n]")

BLANK_SPAN = re.compile(rf"[{_UNSEEN}]+")
SPACE_SPAN = re.compile(rf"[{BLANKS}{NEWLINES}]+")
# Words and the white space between them. A word that begins with a quote mark is excluded: it may be part of a gap.
TEXT_SPAN = re.compile(rf"[^{_SPECIAL}]+(?:[{BLANKS}{NEWLINES}]+[^{_SPECIAL}{QUOTE_MARK}][^{_SPECIAL}]*)*")
HALTS = re.compile(f"[{FENCE_CHARS}{NEWLINES}]")
"""Matches a character that may begin a block or that ends the line."""
BODY_SPAN = re.compile(rf"[^{FENCE_CHARS}]+")
RUN_SPAN = {char: re.compile(f"{char}+") for char in FENCE_CHARS}

_THINKING = r"[a-z_:.-]{0,16}(?:think|thought|reason|reflect|analysis|monologue|scratchpad)[a-z_:.-]{0,12}"
_END = (
    rf"</{_THINKING}>|(?-i:\[/(?:THINK(?:ING)?|REASONING|ANALYSIS)\])|◁/{_THINKING}▷"
    r"|<\|END_THINKING\|>(?:<\|START_(?:RESPONSE|TEXT)\|>)?"
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final(?: <\|constrain\|>\w{1,9})?<\|message\|>"
)
_BEGIN = (
    rf"<{_THINKING}>|(?-i:\[(?:THINK(?:ING)?|REASONING|ANALYSIS)\])|◁{_THINKING}▷|<\|START_THINKING\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>"
)
THINK_TAG = re.compile(f"(?P<end>{_END})|{_BEGIN}", re.IGNORECASE | re.ASCII)
"""A mark that begins or ends a model's thinking. Servers leave those of the model's template in the text: tags, signs
in brackets, and the tokens of Cohere's and OpenAI's open models."""
THINK_END = re.compile(_END, re.IGNORECASE | re.ASCII)
THINK_REACH = 79
"""The maximum number of characters of a mark before its last one."""
_MARK_STARTS, _MARK_ENDS = frozenset("<[◁"), frozenset(">]▷")
_WORDS_OF_MARKS = "think thought reason reflect analysis monologue scratchpad <|message|>".split()


def ends_mark(text: str) -> bool:
    """A quick check whether a mark of thinking may end in ``text``."""
    return not _MARK_ENDS.isdisjoint(text)


def may_begin_mark(text: str) -> bool:
    """A quick check whether a mark of thinking may begin in ``text``."""
    return not _MARK_STARTS.isdisjoint(text)


def marks(text: str) -> Iterable[re.Match[str]]:
    """The marks of thinking in ``text``. A search for its words is fifty times as fast as for the marks."""
    lowered = text.lower()
    return THINK_TAG.finditer(text) if any(word in lowered for word in _WORDS_OF_MARKS) else ()


_FENCES = tuple(char * MIN_FENCE for char in FENCE_CHARS)
_MAY_OPEN = re.compile(
    f"[{FENCE_CHARS}]{{{MIN_FENCE}}}[{_UNSEEN}]*+[{''.join(sorted({word[0] for word in _WORDS}))}]", re.IGNORECASE
)


def may_open(text: str) -> bool:
    """A quick check whether ``text`` may contain an opener: a fence followed by the first letter of the word."""
    return any(fence in text for fence in _FENCES) and _MAY_OPEN.search(text) is not None


def begins_word(text: str) -> bool:
    """Whether ``text`` is the beginning of the word that makes a fence an opener."""
    return text.casefold() in _BEGINNINGS


def is_word(text: str) -> bool:
    """Whether ``text`` is the complete word."""
    return text.casefold() in _WORDS


def ends_word(char: str) -> bool:
    """Whether ``char`` may follow the word. Any other character makes it a different word."""
    return char in _WORD_ENDS


def closes(char: str, length: int, *, opened_by: str, opened_with: int) -> bool:
    """Whether a run of ``length`` × ``char`` closes a block that a run of ``opened_with`` × ``opened_by`` opened."""
    return char == opened_by and length >= opened_with


def strip_info(body: str) -> str:
    """The body of a block, given all text between the word and the closer."""
    tail = _INFO_TAIL.match(body)
    return body[tail.end() :] if tail else body


def gap_rank(gap: str) -> int:
    """How strongly a gap separates two texts: 0 no gap, 1 blanks, 2 a line end, 3 a paragraph break."""
    ends = len(_LINE_END.findall(gap))
    return min(ends, 2) + 1 if ends else int(bool(gap))


def last_line(gap: str) -> str:
    """The text after the last line end of ``gap``; "" if it has none."""
    end = max(gap.rfind("\n"), gap.rfind("\r"))
    return gap[end + 1 :] if end >= 0 else ""


# -- the filter ------------------------------------------------------------------------------------------------

JOINTS = (" ", " ", "\n", "\n\n")
"""The text that replaces a block between two texts, by gap rank. It keeps two words from running together."""


@frozen
class RawBlock:
    """A hidden block, not parsed.

    ``closed`` is False if the text ended, or another block began, before the closer.
    ``thinking`` is True for a draft inside a ``<think>`` section: before ``</think>``, and after ``<think>`` if that
    tag is present. Such a block is hidden like any other, but never read. ``unfenced`` is True for a block without a
    fence of its own. ``open`` is True if the text ended before the block was closed, so that it may be incomplete even
    if its last line is whole.
    """

    body: str
    closed: bool = True
    thinking: bool = False
    unfenced: bool = False
    open: bool = False


class _Mode(Enum):
    FLOW = "flow"
    RUN = "run"
    INFO = "info"
    WORD = "word"


# Module names, because they are looked up for every chunk of a stream.
_FLOW, _halts = _Mode.FLOW, HALTS.search
_LEADS = frozenset(("<", CHANNEL[0]))
_LINE_STARTS = frozenset(("", *BLANKS, *NEWLINES, QUOTE_MARK))


class GapFilter:
    """What the filters of a stream have in common: they hold back the white space before what may be hidden, join the
    texts around what was hidden, and keep track of thinking."""

    def __init__(self) -> None:
        self.in_prose = False
        """Whether the last chunk ended within a line of the story."""
        self._out: list[str] = []
        self._gap: list[str] = []
        self._shown = False
        self._joining = False
        self._joint = 0
        self._tail = ""
        """The last characters read, which may contain the beginning of a mark of thinking."""
        self._thinking = False
        self._drafts = 0

    def _hide_gap(self) -> None:
        """Begin to hide. Of the gap before it only the rank counts."""
        self._joint = max(self._joint, gap_rank("".join(self._gap)))
        self._gap.clear()
        self._joining = True
        self._tail = ""

    def _take_gap(self) -> str:
        """Take out the gap that was held back, or what stands for it between two texts."""
        gap = "".join(self._gap)
        self._gap.clear()
        if self._joining:
            rank = max(self._joint, gap_rank(gap))
            gap = (JOINTS[rank] if self._shown else "") + last_line(gap)
            self._joining, self._joint = False, 0
        return gap

    def _take_text(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _keep(self, seen: str) -> None:
        """Remember the end of the text read so far, if a mark may begin in it."""
        tail = seen[-THINK_REACH:]
        self._tail = tail if may_begin_mark(tail) else ""


class FenceFilter(GapFilter):
    """Hides the fenced state blocks of one reply while it streams; ``saga_core.state_block.fences`` has the grammar.

    Feed the chunks of the reply in order and send the returned text on. The concatenation does not depend on how the
    reply is split into chunks. A text without a block is returned unchanged.

    The filter holds back only the shortest suffix that may still belong to a block: the white space at the end of the
    text so far (with the quote marks of lines that contain nothing else), then a run of backticks or tildes, blanks,
    and a beginning of the word ``state``. Text that does not end like this is returned at once.

    The white space around a block is normalized. It is dropped at both ends of the text. Between two texts it becomes
    one paragraph break, one line end or one space: the strongest of those that stood on either side of the block. The
    indentation of the line after the block is kept. Text in ``<think>`` sections stays as it is, but blocks inside it
    are hidden too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[RawBlock] = []
        self._finished = False
        self._mode = _Mode.FLOW
        self._line_start = True
        # Inside a block.
        self._in_block = False
        self._opened_by = ""
        self._opened_with = 0
        self._body: list[str] = []
        # A fence that may open or close a block.
        self._fence = ""
        self._run = 0
        self._blanks: list[str] = []
        self._word = ""
        self._ended = False
        self._sure_drafts = 0
        # The visible text of a reply that begins with an element or a token, and where in it blocks stood.
        self._lead: list[str] | None = []
        self._led = 0
        self._places: list[int] = []

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The blocks that have ended so far; after ``finish``, all blocks."""
        # A second mark at the end of a reply, with no story behind it, was written for nothing.
        sure = self._sure_drafts if self._finished else self._drafts
        if self._places and self._finished:
            end = end_of_thoughts("".join(self._lead or ()))
            sure = max(sure, sum(place < end for place in self._places))
        drafts = (evolve(block, thinking=True) for block in self._blocks[:sure])
        return (*drafts, *self._blocks[sure:])

    def feed(self, text: str) -> str:
        """Add a chunk and return the visible text that can be sent now.

        Raises ``RuntimeError`` after ``finish``.
        """
        if self._finished:
            self._refuse()
        if self.in_prose or self._begins_prose(text):
            if _halts(text) is None:
                self.in_prose, self._line_start = True, False
                return self.flow(text)
        elif self._in_block and self._mode is _FLOW and not (ends_mark(text) or "`" in text or "~" in text):
            self._body.append(text)
            self._tail = (self._tail + text)[-THINK_REACH:]
            return ""
        pos = 0
        while pos < len(text):
            if self._mode is _FLOW:
                pos = self._read_body(text, pos) if self._in_block else self._read_text(text, pos)
            elif self._mode is _Mode.RUN:
                pos = self._read_run(text, pos)
            elif self._mode is _Mode.INFO:
                pos = self._read_info(text, pos)
            else:
                pos = self._read_word(text, pos)
        return self._take_out()

    def _begins_prose(self, text: str) -> bool:
        """Whether a line of the story begins with ``text``, unless it has characters at which to halt."""
        ready = self._line_start and self._mode is _FLOW and not (self._in_block or self._joining or self._tail)
        return ready and text[:1] not in _LINE_STARTS

    def holds_nothing(self) -> bool:
        """Whether nothing was held back that the next chunk has to be read with."""
        return not (self._gap or self._tail)

    def flow(self, text: str) -> str:
        """The fast path of ``feed`` for a chunk ``in_prose`` that neither begins a block nor ends the line, as nearly
        all chunks do. Returns the chunk without the blanks at its end."""
        core = text.rstrip(BLANKS)
        blanks = text[len(core) :]
        if core:
            if self._gap:
                core = "".join((*self._gap, core))
                self._gap.clear()
            self._shown, self._sure_drafts = True, self._drafts
            if self._lead is not None:
                self._note_lead(core)
            if ends_mark(core):
                self._watch(core)
            elif self._tail or may_begin_mark(core):
                self._keep(self._tail + core)
        if blanks:
            self._gap.append(blanks)
        return core

    def finish(self) -> str:
        """End the reply and return the visible text that was held back.

        Raises ``RuntimeError`` if called twice.
        """
        if self._finished:
            self._refuse()
        self._finished, self.in_prose = True, False
        if self._mode is not _Mode.FLOW:
            if is_word(self._word):
                self._open_block()
            else:
                self._drop_candidate()
        if self._in_block:
            self._end_block(closed=False, open_=True)
        elif not self._joining:
            self._out.extend(self._gap)
        return self._take_out()

    @staticmethod
    def _refuse() -> NoReturn:
        raise RuntimeError("this filter is finished: make a new one for each reply")

    def _take_out(self) -> str:
        self.in_prose = self._mode is _FLOW and not (self._line_start or self._in_block or self._joining)
        return self._take_text()

    @property
    def open_fence(self) -> str:
        """The fence that closes the block which is open; empty if none is."""
        return self._opened_by * self._opened_with if self._in_block else ""

    def take_half(self) -> str:
        """Take out what may be the beginning of a fence at the end of the text so far, with the gap before it."""
        if self._mode is _FLOW or self._in_block or is_word(self._word):
            return ""
        half = "".join((*self._gap, self._fence * self._run, *self._blanks, self._word))
        self._gap.clear()
        self._forget_candidate()
        return half

    def _read_text(self, text: str, pos: int) -> int:
        char = text[pos]
        if char in FENCE_CHARS:
            return self._begin_candidate(char, pos)
        if char == QUOTE_MARK and self._line_start:
            self._gap.append(char)
            return pos + 1
        if space := SPACE_SPAN.match(text, pos):
            self._gap.append(space.group())
            self._line_start = self._line_start or gap_rank(space.group()) > 1
            return space.end()
        end = span.end() if (span := TEXT_SPAN.match(text, pos)) else pos + 1
        self._show(text[pos:end])
        return end

    def _read_body(self, text: str, pos: int) -> int:
        if text[pos] in FENCE_CHARS:
            return self._begin_candidate(text[pos], pos)
        end = span.end() if (span := BODY_SPAN.match(text, pos)) else pos + 1
        seen = self._tail + text[pos:end]
        tag = THINK_END.search(seen) if ends_mark(seen) else None
        if tag is None:
            self._body.append(text[pos:end])
            self._tail = seen[-THINK_REACH:]
            return end
        end = pos + tag.end() - len(self._tail)
        body = "".join(self._body) + text[pos:end]
        self._body = [body[: -len(tag.group())]]
        self._end_block(closed=False)
        self._show(tag.group())
        return end

    def _begin_candidate(self, char: str, pos: int) -> int:
        self._mode, self._fence, self._run = _Mode.RUN, char, 0
        return pos

    def _read_run(self, text: str, pos: int) -> int:
        run = RUN_SPAN[self._fence].match(text, pos)
        if run:
            self._run += run.end() - pos
            pos = run.end()
            if pos == len(text):
                return pos
        if self._run >= MIN_FENCE:
            self._mode = _Mode.INFO
        else:
            self._drop_candidate()
        return pos

    def _read_info(self, text: str, pos: int) -> int:
        if blanks := BLANK_SPAN.match(text, pos):
            self._blanks.append(blanks.group())
            return blanks.end()
        self._mode = _Mode.WORD
        return pos

    def _read_word(self, text: str, pos: int) -> int:
        char = text[pos]
        if is_word(self._word):
            if ends_word(char):
                self._open_block()
            else:
                self._drop_candidate()
            return pos
        if begins_word(self._word + char):
            self._word += char
            return pos + 1
        self._drop_candidate()
        return pos

    def _closes(self) -> bool:
        return self._in_block and closes(
            self._fence, self._run, opened_by=self._opened_by, opened_with=self._opened_with
        )

    def _forget_candidate(self) -> None:
        self._mode, self._fence, self._run, self._blanks, self._word = _Mode.FLOW, "", 0, [], ""

    def _drop_candidate(self) -> None:
        """Handle a fence that opens no block: it closes one, is visible text, or is part of a body."""
        run, blanks, word = self._fence * self._run, self._blanks, self._word
        closing = self._closes()
        self._forget_candidate()
        if self._in_block and not closing:
            self._body += [run, *blanks, word]
            self._tail = ""
            return
        if closing:
            self._end_block(closed=True)
        else:
            self._show(run)
        self._gap.extend(blanks)
        if word:
            self._show(word)

    def _open_block(self) -> None:
        if self._in_block:
            self._end_block(closed=self._closes())
        self._hide_gap()
        self._in_block, self._opened_by, self._opened_with = True, self._fence, self._run
        self._forget_candidate()

    def _end_block(self, *, closed: bool, open_: bool = False) -> None:
        body = strip_info("".join(self._body))
        self._blocks.append(RawBlock(body, closed, self._thinking, open=open_))
        if self._lead:
            self._places.append(self._led)
        self._body = []
        self._in_block = self._line_start = False
        self._tail = ""

    def _show(self, text: str) -> None:
        """Release the gap and then ``text``, which must not begin with white space."""
        if self._joining or self._gap:
            self._tail = ""
        gap = self._take_gap()
        self._out += [gap, text]
        if self._lead is not None:
            self._note_lead(gap + text)
        self._shown, self._line_start = True, False
        self._watch(text)

    def _note_lead(self, text: str) -> None:
        if self._lead is not None and (self._lead or text[:1] in _LEADS):
            self._lead.append(text)
            self._led += len(text)
        else:
            self._lead = None

    def _watch(self, text: str) -> None:
        """Keep track of thinking. Text before an end tag without a start tag counts as thinking too."""
        seen, read = self._tail + text, 0
        for tag in marks(seen) if ends_mark(text) else ():
            if tag["end"] and not self._thinking:
                self._sure_drafts = self._drafts if self._ended else len(self._blocks)
                self._drafts = len(self._blocks)
            self._ended |= bool(tag["end"])
            self._thinking = not tag["end"]
            read = tag.end()
        if seen[read:].strip():
            self._sure_drafts = self._drafts
        self._keep(seen[read:])

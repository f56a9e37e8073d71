"""The grammar of the fences of a state block, for streams and for whole texts.

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

from saga_core.language import all_of

FENCE_CHARS = "`~"
MIN_FENCE = 3
BLANKS = " \t\u00a0\u3000"
NEWLINES = "\r\n"
QUOTE_MARK = ">"

_COLONS = ":："
OPENERS = ("state", *sorted(all_of(lambda each: each.block.openers)))
_WORDS = frozenset(unicodedata.normalize(form, opener) for opener in OPENERS for form in ("NFC", "NFD"))
_BEGINNINGS = frozenset(word[:length] for word in _WORDS for length in range(1, len(word) + 1))
_WORD_ENDS = frozenset(BLANKS + NEWLINES + _COLONS)
_SPECIAL = FENCE_CHARS + BLANKS + NEWLINES
_INFO_TAIL = re.compile(rf"[{BLANKS}]*[{_COLONS}]?[{BLANKS}]*(?:\r\n|[\r\n])?")
_LINE_END = re.compile(r"\r\n|[\r\n]")

BLANK_SPAN = re.compile(rf"[{BLANKS}]+")
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


def ends_mark(text: str) -> bool:
    """A quick check whether a mark of thinking may end in ``text``."""
    return not _MARK_ENDS.isdisjoint(text)


def may_begin_mark(text: str) -> bool:
    """A quick check whether a mark of thinking may begin in ``text``."""
    return not _MARK_STARTS.isdisjoint(text)


_FENCES = tuple(char * MIN_FENCE for char in FENCE_CHARS)
_MAY_OPEN = re.compile(
    f"[{FENCE_CHARS}]{{{MIN_FENCE}}}[{BLANKS}]*+[{''.join(sorted({word[0] for word in _WORDS}))}]", re.IGNORECASE
)


def may_open(text: str) -> bool:
    """A quick check whether ``text`` may contain an opener: a fence followed by the first letter of the word."""
    return any(fence in text for fence in _FENCES) and _MAY_OPEN.search(text) is not None


def begins_word(text: str) -> bool:
    """Whether ``text`` is the beginning of the word that makes a fence an opener."""
    return text.lower() in _BEGINNINGS


def is_word(text: str) -> bool:
    """Whether ``text`` is the complete word."""
    return text.lower() in _WORDS


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

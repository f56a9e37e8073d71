"""An excerpt: the part of a remembered text that a query asks about."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from saga_core.language import match_text, simplified

_END = re.compile(r"[.!?。…！？\n](?:(?<=\n)\n*|(?<=[。！？])[\"'”’」』)]*\s*|(?<!\n)[\"'”’」』)]*\s+)")
"""The end of a sentence, or of a line. It begins with one set of characters, which is searched for twice as fast."""
_GAP = "…"


def excerpt(text: str, words: Sequence[str], limit: int) -> str:
    """At most ``limit`` characters of ``text``, on one line: the run of whole sentences with most of ``words``.

    ``words`` are looked for as parts, in lower case (``tokens.content_words`` gives them). Earlier sentences win ties.
    What is left out at either end is marked with "…". A text that fits is given whole.
    """
    text, folded, starts, stops = _laid_out(text)
    if len(text) <= limit:
        return text.replace("\n", " ")
    worth = _worth(folded, starts, words)
    first = last = worth.index(max(worth))
    room = limit - 2 * (len(_GAP) + 1)
    length = stops[first] - starts[first]
    while True:
        before = worth[first - 1] if first and length + 1 + stops[first - 1] - starts[first - 1] <= room else -1
        after = -1
        if last + 1 < len(starts) and length + 1 + stops[last + 1] - starts[last + 1] <= room:
            after = worth[last + 1]
        if before < 0 and after < 0:
            break
        if after >= before:
            last += 1
            length += 1 + stops[last] - starts[last]
        else:
            first -= 1
            length += 1 + stops[first] - starts[first]
    parts = [text[starts[first] : stops[first]]]
    for at in range(first + 1, last + 1):
        # Where no white space parts sentences there is none in the text.
        parts += ["" if starts[at] == stops[at - 1] else " ", text[starts[at] : stops[at]]]
    chosen = "".join(parts)
    if len(chosen) > room:
        chosen = _cut(chosen, words, room)
        return f"{_GAP} {chosen} {_GAP}"
    head = f"{_GAP} " if first else ""
    tail = f" {_GAP}" if last + 1 < len(starts) else ""
    return f"{head}{chosen}{tail}"


@lru_cache(maxsize=256)
def _laid_out(text: str) -> tuple[str, str, list[int], list[int]]:
    """``text`` with single spaces, the same in lower case, and where its sentences begin and end.

    What one turn recalls the next most often recalls as well: the latest are kept.
    """
    text = "\n".join(line for part in text.split("\n") if (line := _spaced(part)))
    return text, _folded(text), *_sentences(text)


def _spaced(line: str) -> str:
    """``line`` with single spaces, and none at its ends."""
    if line.isprintable() and "  " not in line:  # no white space is printable but the space
        return line.strip(" ")
    return " ".join(line.split())


def _sentences(text: str) -> tuple[list[int], list[int]]:
    """Where the sentences of a text with single spaces begin and end, closing quotes left out."""
    starts, stops = [0], []
    for end in _END.finditer(text):
        stop = end.start()
        stops.append(stop if text[stop] == "\n" else stop + 1)
        starts.append(end.end())
    stops.append(len(text))
    return starts, stops


def _folded(text: str) -> str:
    """``text`` in lower case, each letter at its place: one that folds to several ("ß") is left as it is."""
    folded = match_text(text)
    if len(folded) == len(text):
        return folded
    return simplified("".join(lower if len(lower := char.casefold()) == 1 else char for char in text))


def _worth(folded: str, starts: Sequence[int], words: Sequence[str]) -> list[int]:
    """How many of ``words`` stand in each of the sentences that begin at ``starts``. No word reaches from one into the
    next: there is white space between them."""
    worth = [0] * len(starts)
    last = len(starts) - 1
    for word in words:
        at = folded.find(word)
        while at >= 0:
            sentence = bisect_right(starts, at) - 1
            worth[sentence] += 1
            at = folded.find(word, starts[sentence + 1]) if sentence < last else -1
    return worth


def _cut(sentence: str, words: Sequence[str], room: int) -> str:
    """A long sentence from a little before the first of ``words`` on."""
    folded = match_text(sentence)
    places = [at for word in words if (at := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 4, len(sentence) - room))
    return sentence[start : start + room].strip()

"""An excerpt: the part of a remembered text that a query asks about."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import log
from typing import NamedTuple

from saga_core.language import caseless, match_text, simplified, telling_nothing
from saga_core.recall.close_words import matched
from saga_core.recall.particular import telling_terms
from saga_core.recall.passages import PLAYER

_END = re.compile(r"[.!?。…！？\n](?:(?<=\n)\n*|(?<=[。！？])[\"'”’」』)]*\s*|(?<!\n)[\"'”’」』)]*\s+)")
"""The end of a sentence, or of a line. It begins with one set of characters, which is searched for twice as fast."""
_WHOSE = re.compile(rf"{PLAYER}|[^\n:>\"“”]{{1,40}}:\s")
"""What stands before somebody's words in a line: the player's mark, or a name."""
_GAP = "…"
_BEHIND, _FARTHER, _BEFORE = 0.5, 0.2, 0.3
"""What a sentence lends to the one behind it, to the next but one, and to the one before it."""
_SAME = 1e-9
"""Sums of the same worth differ by less."""


def excerpt(text: str, weights: Mapping[str, float], limit: int) -> str:
    """At most ``limit`` characters of ``text``, on one line: the run of whole sentences that is worth most.

    ``weights``: words, in lower case, and what each is worth to a sentence (``weigh`` gives them). What answers a
    question often stands beside what resembles it: a sentence lends to its neighbours, most to the one behind it. Of
    equal runs the earlier one is taken. What is left out at either end is marked with "…". A text that fits is given
    whole.
    """
    text, folded, starts, stops = _laid_out(text)
    if len(text) <= limit:
        return text.replace("\n", " ")
    room = limit - 2 * (len(_GAP) + 1)
    first, last = _best_run(_lent(_worth(folded, starts, weights), len(starts)), starts, stops, room)
    chosen = text[starts[first] : stops[last]].replace("\n", " ")
    if len(chosen) > room:
        return f"{_GAP} {_cut(chosen, weights, room)} {_GAP}"
    head = f"{_GAP} " if first else ""
    tail = f" {_GAP}" if last + 1 < len(starts) else ""
    return f"{head}{chosen}{tail}"


def telling(
    text: str,
    particular: Callable[[Sequence[AbstractSet[str]]], list[bool]],
    weights: Callable[[], Mapping[str, float]],
) -> str:
    """``text`` on one line, without the sentences that are not ``particular``; if none is, the one worth most.

    ``particular`` is asked for the ``telling_terms`` of all sentences, ``weights`` (as for ``excerpt``) if none is.
    What is left out is marked with "…". What says whose words a line has stays as long as some of them do.
    """
    talk = _talk(text)
    kept = particular(talk.worded)
    if False not in kept:
        return talk.line
    if True not in kept:
        worth = _worth(talk.folded, talk.starts, weights())
        kept[min(worth, key=lambda at: (-worth[at], at), default=0)] = True
    parts: list[str] = []
    left_out, mark = False, ""
    for chosen, sentence, begins in zip(kept, talk.sentences, talk.whose, strict=True):
        if begins is not None:
            mark = begins
        if chosen:
            if left_out:
                parts += (mark, _GAP) if mark and begins is None else (_GAP,)
            parts.append(sentence)
            mark = ""
        left_out = not chosen
    return " ".join((*parts, _GAP) if left_out else parts)


def weigh(words: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """What each of ``words`` (``content_words`` gives them) is worth to a sentence of one of ``texts``: the fewer of
    them have it, the more. Words that only ask are worth nothing as long as there are others."""
    nothing = telling_nothing()
    telling = [word for word in words if word not in nothing] or list(words)
    folded = [matched(text) for text in texts]
    return {word: log(1 + len(folded) / max(1, [word in each for each in folded].count(True))) for word in telling}


def _lent(worth: Mapping[int, float], count: int) -> dict[int, float]:
    """The worth of each of ``count`` sentences with what its neighbours lend to it; of most it is nothing."""
    lent: dict[int, float] = {}
    for at, own in worth.items():
        for other, part in ((at - 1, _BEFORE), (at, 1.0), (at + 1, _BEHIND), (at + 2, _FARTHER)):
            if 0 <= other < count:
                lent[other] = lent.get(other, 0.0) + part * own
    return lent


def _best_run(worth: Mapping[int, float], starts: Sequence[int], stops: Sequence[int], room: int) -> tuple[int, int]:
    """The first and the last of the sentences, one after the other, that are worth most together in so much room. It
    ends with one that is worth something, so that only these are looked at."""
    best, found = 0.0, (0, 0)
    valued = sorted(worth)
    first, total = 0, 0.0
    for last in valued:
        total += worth[last]
        least = stops[last] - room
        while valued[first] < last and starts[valued[first]] < least:
            total -= worth[valued[first]]
            first += 1
        if total > best + _SAME:
            best, found = total, (min(last, bisect_left(starts, least)), last)
    return found


@lru_cache(maxsize=256)
def _laid_out(text: str) -> tuple[str, str, list[int], list[int]]:
    """``text`` with single spaces, the same in lower case, and where its sentences begin and end.

    What one turn recalls the next most often recalls as well: the latest are kept.
    """
    text = "\n".join(line for part in text.split("\n") if (line := _spaced(part)))
    return text, _folded(text), *_sentences(text)


class _Talk(NamedTuple):
    line: str
    """The text on one line."""
    sentences: list[str]
    whose: list[str | None]
    """For each that begins a line what says whose words it has; "" if nothing does."""
    worded: list[frozenset[str]]
    """What may be particular of each."""
    folded: str
    starts: list[int]
    """As ``_laid_out`` gives them."""


@lru_cache(maxsize=1_024)
def _talk(text: str) -> _Talk:
    """A talk is told of a hundred turns at a time, most of them those of the question before."""
    text, folded, starts, stops = _laid_out.__wrapped__(text)
    sentences, whose, worded = [], list[str | None](), []
    for start, stop in zip(starts, stops, strict=True):
        sentences.append(text[start:stop])
        worded.append(telling_terms(folded[start:stop]))
        begins = not start or text[start - 1] == "\n"
        found = _WHOSE.match(text, start) if begins else None
        whose.append(found.group().strip() if found is not None else "" if begins else None)
    return _Talk(text.replace("\n", " "), sentences, whose, worded, folded, starts)


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


def _worth(folded: str, starts: Sequence[int], weights: Mapping[str, float]) -> dict[int, float]:
    """The worth of the words that stand in the sentences that begin at ``starts``, by the number of the sentence, where
    there are any. A word counts once in a sentence, and none reaches from one into the next: there is white space
    between them."""
    worth: dict[int, float] = {}
    last = len(starts) - 1
    for word, weight in weights.items():
        spaced = not caseless(word[0])
        at = folded.find(word)
        while at >= 0:
            if spaced and at and folded[at - 1].isalnum():  # "way" is no part of "always"
                at = folded.find(word, at + 1)
                continue
            sentence = bisect_right(starts, at) - 1
            worth[sentence] = worth.get(sentence, 0.0) + weight
            at = folded.find(word, starts[sentence + 1]) if sentence < last else -1
    return worth


def _cut(sentence: str, words: Iterable[str], room: int) -> str:
    """A long sentence from a little before the first of ``words`` on."""
    folded = match_text(sentence)
    places = [at for word in words if (at := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 4, len(sentence) - room))
    return sentence[start : start + room].strip()

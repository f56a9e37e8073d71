"""An excerpt: the part of a remembered text that a query asks about."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log

from saga_core.language import caseless, match_text, simplified, telling_nothing
from saga_core.recall.close_words import matched

_END = re.compile(r"[.!?。…！？\n](?:(?<=\n)\n*|(?<=[。！？])[\"'”’」』)]*\s*|(?<!\n)[\"'”’」』)]*\s+)")
"""The end of a sentence, or of a line. It begins with one set of characters, which is searched for twice as fast."""
GAP = "…"
_BEHIND, _FARTHER, _BEFORE = 0.5, 0.2, 0.3
"""What a sentence lends to the one behind it, to the next but one, and to the one before it."""
_SAME = 1e-9
"""Sums of the same worth differ by less."""


def excerpt(text: str, weights: Mapping[str, float], limit: int, *, sentence: int = 0) -> str:
    """At most ``limit`` characters of ``text``, on one line: the run of whole sentences that is worth most. One that is
    longer by itself may have ``sentence`` characters before it is cut.

    ``weights``: words, in lower case, and what each is worth to a sentence (``weigh_each`` gives them). What answers a
    question often stands beside what resembles it: a sentence lends to its neighbours, most to the one behind it. Of
    equal runs the earlier one is taken. What is left out at either end is marked with "…". A text that fits is given
    whole.
    """
    text, folded, starts, stops = laid_out(text)
    if len(text) <= limit:
        return text.replace("\n", " ")
    marks = 2 * (len(GAP) + 1)
    room = limit - marks
    first, last = _best_run(worth_of(folded, starts, weights), starts, stops, room)
    chosen = text[starts[first] : stops[last]].replace("\n", " ")
    room = max(room, sentence - marks)
    if len(chosen) > room:
        return f"{GAP} {_cut(chosen, weights, room)} {GAP}"
    head = f"{GAP} " if first else ""
    tail = f" {GAP}" if last + 1 < len(starts) else ""
    return f"{head}{chosen}{tail}"


def weigh_each(
    words: Sequence[str], texts: Sequence[str], possible: Sequence[Sequence[str]] | None = None
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """What each of ``words`` (``content_words`` gives them) is worth to a sentence of one of ``texts``: the fewer of
    them have it, the more. Words that only ask are worth nothing as long as there are others.

    And for each text those of them that it has: no others need be looked for in it. ``possible``: for each text those
    that it may have, where that is known.
    """
    nothing = telling_nothing()
    telling = [word for word in words if word not in nothing] or list(words)
    having, wanted = dict.fromkeys(telling, 0), possible or [telling] * len(texts)
    each: list[list[str]] = []
    for text, may in zip(texts, wanted, strict=True):
        folded = matched(text)
        found = [word for word in may if word in having and word in folded]
        for word in found:
            having[word] += 1
        each.append(found)
    weights = {word: log(1 + len(texts) / max(1, count)) for word, count in having.items()}
    return weights, [{word: weights[word] for word in found} for found in each]


def _best_run(worth: Mapping[int, float], starts: Sequence[int], stops: Sequence[int], room: int) -> tuple[int, int]:
    """The first and the last of the sentences, one after the other, that are worth most together in so much room, with
    what each lends to its neighbours. It ends with one that is worth something."""
    if not worth:
        return 0, 0
    count = len(starts)
    lent = [0.0] * (count + 3)  # the first one lends to the very last, which nobody looks at
    for at, own in worth.items():
        lent[at] += own
        lent[at - 1] += _BEFORE * own
        lent[at + 1] += _BEHIND * own
        lent[at + 2] += _FARTHER * own
    best, found = 0.0, (0, 0)
    first, total = max(0, min(worth) - 1), 0.0
    for last in range(first, min(count, max(worth) + 3)):
        own = lent[last]
        if not own:
            continue
        total += own
        least = stops[last] - room
        while first < last and starts[first] < least:
            total -= lent[first]
            first += 1
        if total > best + _SAME:
            best, found = total, (first, last)
    return found


@lru_cache(maxsize=1_024)
def laid_out(text: str) -> tuple[str, str, list[int], list[int]]:
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
    spans = [end.span() for end in _END.finditer(text)]
    starts = [0, *[end for _, end in spans]]
    stops = [at if text[at] == "\n" else at + 1 for at, _ in spans]
    stops.append(len(text))
    return starts, stops


def _folded(text: str) -> str:
    """``text`` in lower case, each letter at its place: one that folds to several ("ß") is left as it is."""
    folded = match_text(text)
    if len(folded) == len(text):
        return folded
    return simplified("".join(lower if len(lower := char.casefold()) == 1 else char for char in text))


def worth_of(folded: str, starts: Sequence[int], weights: Mapping[str, float]) -> dict[int, float]:
    """The worth of the words that stand in the sentences that begin at ``starts``, by the number of the sentence, where
    there are any. A word counts once in a sentence, and none reaches from one into the next: there is white space
    between them."""
    worth: dict[int, float] = {}
    find, get, last = folded.find, worth.get, len(starts) - 1
    for word, weight in weights.items():
        at = find(word)
        while at >= 0:
            if at and folded[at - 1].isalnum() and not caseless(word[0]):  # "way" is no part of "always"
                at = find(word, at + 1)
                continue
            sentence = bisect_right(starts, at)
            worth[sentence - 1] = get(sentence - 1, 0.0) + weight
            if sentence > last:
                break
            at = find(word, starts[sentence])
    return worth


def _cut(sentence: str, words: Iterable[str], room: int) -> str:
    """A long sentence from a little before the first of ``words`` on."""
    folded = match_text(sentence)
    places = [at for word in words if (at := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 4, len(sentence) - room))
    return sentence[start : start + room].strip()

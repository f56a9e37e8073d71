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
"""The end of a sentence or a line. The pattern starts with a single character set, which makes the search twice as
fast."""
GAP = "…"
_BEHIND, _FARTHER, _BEFORE = 0.5, 0.2, 0.3
"""Shares of a sentence's worth that are added to the next sentence, to the one after that, and to the previous one."""
_SAME = 1e-9
"""Tolerance below which two sums count as equal."""


def excerpt(text: str, weights: Mapping[str, float], limit: int, *, sentence: int = 0) -> str:
    """Return the run of whole sentences of ``text`` with the highest worth, on one line, in ``limit`` characters.

    A single sentence longer than ``limit`` may have up to ``sentence`` characters before it is cut. A text that fits is
    returned whole. ``weights`` maps lower-case words to their worth (see ``weigh_each``). The answer to a question
    often stands next to the sentence that resembles it, so each sentence adds a part of its worth to its neighbours,
    most to the next one. Of equal runs the earlier one is returned. Omitted text at either end is marked with "…".
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
    """Return the worth of each of ``words`` (from ``content_words``), and for each text the words it has.

    A word is worth more when fewer of ``texts`` have it. Question words and function words are ignored if there are
    other words. ``possible`` lists for each text the words that it may contain, if known.
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
    """Return the numbers of the first and last sentence of the run with the highest worth in ``room`` characters.

    Each sentence adds a part of its worth to its neighbours. The last sentence of the run has some worth.
    """
    if not worth:
        return 0, 0
    count = len(starts)
    lent = [0.0] * (count + 3)  # sentence 0 adds to index -1, which is never read
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
    """Return ``text`` with single spaces, the same in lower case, and the start and end offsets of its sentences.

    Results are cached because successive turns usually recall the same texts.
    """
    text = "\n".join(line for part in text.split("\n") if (line := _spaced(part)))
    return text, _folded(text), *_sentences(text)


def _spaced(line: str) -> str:
    """Return ``line`` with single spaces and none at its ends."""
    if line.isprintable() and "  " not in line:  # the space is the only printable white space
        return line.strip(" ")
    return " ".join(line.split())


def _sentences(text: str) -> tuple[list[int], list[int]]:
    """Return the start and end offsets of the sentences of a text with single spaces, without closing quotes."""
    spans = [end.span() for end in _END.finditer(text)]
    starts = [0, *[end for _, end in spans]]
    stops = [at if text[at] == "\n" else at + 1 for at, _ in spans]
    stops.append(len(text))
    return starts, stops


def _folded(text: str) -> str:
    """Return ``text`` in lower case with unchanged offsets: a letter that folds to several ("ß") stays as it is."""
    folded = match_text(text)
    if len(folded) == len(text):
        return folded
    return simplified("".join(lower if len(lower := char.casefold()) == 1 else char for char in text))


def worth_of(folded: str, starts: Sequence[int], weights: Mapping[str, float]) -> dict[int, float]:
    """Return the summed worth of the words in each sentence, by sentence number, without sentences that have none.

    ``starts`` has the start offsets of the sentences. A word counts once per sentence. White space separates the
    sentences, so no word crosses a boundary.
    """
    worth: dict[int, float] = {}
    find, get, last = folded.find, worth.get, len(starts) - 1
    for word, weight in weights.items():
        at = find(word)
        while at >= 0:
            if at and folded[at - 1].isalnum() and not caseless(word[0]):  # do not find "way" in "always"
                at = find(word, at + 1)
                continue
            sentence = bisect_right(starts, at)
            worth[sentence - 1] = get(sentence - 1, 0.0) + weight
            if sentence > last:
                break
            at = find(word, starts[sentence])
    return worth


def _cut(sentence: str, words: Iterable[str], room: int) -> str:
    """Return ``room`` characters of a long sentence, starting a little before the first of ``words``."""
    folded = match_text(sentence)
    places = [at for word in words if (at := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 4, len(sentence) - room))
    return sentence[start : start + room].strip()

"""Consolidation: decides whether a learned record is new, changes a known one, or is known already.

A learner makes proposals of the kind ``remember``. Their ``data`` holds texts only: ``do`` (``add``, ``update`` or
``drop``), ``record`` (the id of a known one, not for ``add``), ``strategy``, ``kind``, ``namespace``, ``text``, ``at``,
``expires`` (empty: never), ``sources`` (ids, separated by spaces), each detail as ``detail.NAME``, and ``refused``: why
it does not fit its strategy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf, isfinite

from saga_core.errors import BadInput
from saga_core.ids import digest
from saga_core.language import content_words, every, nfc, standing, terms
from saga_core.model import Event, MemoryRecord, Remembered, Unremembered, segments
from saga_core.strategies.strategy import MAX_TEXT

KEPT_TURNS = 12
"""The largest number of turns that a record names. The newest are kept."""
_DETAIL = "detail."
_NOT = re.compile("|".join(each.story.negation for each in every()), re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"`{3,}|~{3,}|</?think\w*>|\[(?=/?SAGA)", re.IGNORECASE)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal or turn the direction of the text around them."""


class Skipped(ValueError):
    """A record is not accepted. The message says why."""


def similarity(one: str, other: str) -> float:
    """Return the similarity of two texts, 0 to 1, by their words without endings (Korean: syllables)."""
    ours, theirs = Counter(terms(one)), Counter(terms(other))
    if not ours or not theirs:
        return float(fold(one) == fold(other))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def same(one: str, other: str) -> bool:
    """Whether two texts say the same: equal words in the same order, apart from endings, particles and punctuation.

    A different name, number or negation makes them different. Paraphrases are not detected here: the model is shown the
    known records and must report them as updates, because merging different records would lose one.
    """
    if fold(one) == fold(other):
        return True
    if _NUMBER.findall(one) != _NUMBER.findall(other) or len(_NOT.findall(one)) != len(_NOT.findall(other)):
        return False
    if standing(one) is not None or standing(other) is not None:
        return False  # without spaces, content words omit too much, so in doubt both records stay
    ours, theirs = content_words(one), content_words(other)
    return ours == theirs and bool(ours)


def fold(text: str) -> str:
    """Return the text for comparisons: only letters and digits, case-folded."""
    return "".join(char for char in nfc(text).casefold() if char.isalnum())


def nearest(text: str, records: Iterable[MemoryRecord], k: int) -> list[MemoryRecord]:
    """Return the ``k`` records most similar to ``text``, best first. Equally similar ones are ordered newest first."""
    ranked = sorted(records, key=lambda record: (-similarity(text, record.text), -record.at, record.id))
    return ranked[:k]


def consolidate(
    known: Mapping[str, MemoryRecord], data: Mapping[str, str], turns: tuple[str, ...], depth: int
) -> Event:
    """Return the event of a proposal, given the records known at a turn of this depth. Raises ``Skipped``."""
    do, at = data.get("do", ""), _number(data, "at") or 0.0
    old = known.get(data.get("record", "")) if do != "add" else None
    if data.get("refused"):
        raise Skipped(data["refused"])
    if do not in ("add", "update", "drop"):
        raise Skipped(f"do is {do!r}; give add, update or drop")
    if do != "add" and old is None:
        raise Skipped(f"there is no memory {data.get('record', '')!r}")
    if do == "drop":
        assert old is not None
        return Unremembered(old.id)
    text = clean(data.get("text", ""))
    try:
        namespace = "/" + "/".join(segments(data.get("namespace", "")))
    except BadInput as error:
        raise Skipped(str(error)) from None
    kind, strategy = data.get("kind", ""), data.get("strategy", "")
    if not turns:
        raise Skipped("it names no turn that proves it")
    near = [record for record in known.values() if record.namespace == namespace and record.live(at)]
    twin = next((record for record in near if record.kind == kind and same(record.text, text)), None)
    if old is not None:
        if old.namespace != namespace or old.kind != kind:
            raise Skipped(f"{old.id} is a {old.kind} of {old.namespace}")
        if old.at == at and old.depth == depth:
            raise Skipped(f"{old.id} was changed by the same answer")
    if twin is not None:
        raise Skipped(f"that is known: {twin.id}")
    record = MemoryRecord(
        old.id if old is not None else f"m{digest(namespace, kind, text, turns[0], size=7)}",
        strategy,
        kind,
        namespace,
        text,
        {name.removeprefix(_DETAIL): clean(value) for name, value in data.items() if name.startswith(_DETAIL)},
        tuple(dict.fromkeys((*(old.turns if old is not None else ()), *turns)))[-KEPT_TURNS:],
        tuple(data.get("sources", "").split()),
        max(at, old.at) if old is not None else at,
        _number(data, "expires"),
        old.version + 1 if old is not None else 1,
    )
    return Remembered(record)


def clean(text: str) -> str:
    """Return a text as it is stored: one line, without marks that could end a block. Raises ``Skipped``."""
    plain = _CONTROLS.sub("", nfc(text))
    found = _FENCE.sub(lambda mark: "(" if mark[0] == "[" else "", " ".join(plain.split())).strip()
    if not found:
        raise Skipped("its text is empty")
    if len(found) > MAX_TEXT:
        raise Skipped(f"a text has {len(found)} characters (at most {MAX_TEXT})")
    return found


def _number(data: Mapping[str, str], name: str) -> float | None:
    text = data.get(name, "")
    try:
        number = float(text) if text else None
    except ValueError:
        number = inf
    if number is not None and not isfinite(number):
        raise Skipped(f"{name} is {text!r}; give a number")
    return number

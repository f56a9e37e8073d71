"""Consolidation: whether what was learned is new, changes what is known, or is known already.

A learner proposes records in the kind ``remember``; what its ``data`` holds, all of it text: ``do`` (``add``,
``update`` or ``drop``), ``record`` (the id of a known one, not for ``add``), ``strategy``, ``kind``, ``namespace``,
``text``, ``at``, ``expires`` (empty: never), ``sources`` (ids, with spaces between), each detail as ``detail.NAME``,
and ``refused``: why it does not fit its strategy.
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
"""Turns that a record names, the newest."""
_DETAIL = "detail."
_NOT = re.compile("|".join(each.story.negation for each in every()), re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"`{3,}|~{3,}|</?think\w*>|\[(?=/?SAGA)", re.IGNORECASE)


class Skipped(ValueError):
    """A record that is not taken; the message says why."""


def similarity(one: str, other: str) -> float:
    """How much two texts share, 0 to 1: of their words without endings, and of the syllables of Korean ones."""
    ours, theirs = Counter(terms(one)), Counter(terms(other))
    if not ours or not theirs:
        return float(fold(one) == fold(other))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def same(one: str, other: str) -> bool:
    """Whether two texts say the same: the same words in the same order, but for endings, particles and punctuation.

    Another name, number or "not" says something else. Who says the same in other words is told what is known, and is
    to say so: taking two for one loses one of them.
    """
    if fold(one) == fold(other):
        return True
    if _NUMBER.findall(one) != _NUMBER.findall(other) or len(_NOT.findall(one)) != len(_NOT.findall(other)):
        return False
    if standing(one) is not None or standing(other) is not None:
        return False  # content words leave out too much of what has no spaces: in doubt two records stay two
    ours, theirs = content_words(one), content_words(other)
    return ours == theirs and bool(ours)


def fold(text: str) -> str:
    """A text as it is compared: letters and digits, case folded."""
    return "".join(char for char in nfc(text).casefold() if char.isalnum())


def nearest(text: str, records: Iterable[MemoryRecord], k: int) -> list[MemoryRecord]:
    """The ``k`` records most similar to ``text``, best first; the later of two that are equally so."""
    ranked = sorted(records, key=lambda record: (-similarity(text, record.text), -record.at, record.id))
    return ranked[:k]


def consolidate(
    known: Mapping[str, MemoryRecord], data: Mapping[str, str], turns: tuple[str, ...], depth: int
) -> Event:
    """The event of a proposal, on the records that are known at a turn of that depth. Raises ``Skipped``."""
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
    """A text as it is kept: one line, without what could end the block it is told in. Raises ``Skipped``."""
    found = _FENCE.sub(lambda mark: "(" if mark[0] == "[" else "", " ".join(nfc(text).split())).strip()
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

"""Declarations: the texts by which a table, a configuration, a marker or the API declares a tracker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from saga_core.errors import BadInput
from saga_core.language import clean_name, normalized, squash
from saga_core.trackers.reading import start_value
from saga_core.trackers.tracker import (
    LONGEST_NAME,
    LONGEST_STEPS,
    LONGEST_TEXT,
    MOST_STEPS,
    RESERVED,
    Secrecy,
    Telling,
    Tracker,
    TrackerKind,
    Whose,
)

DECLARED_FIELDS = (
    "name",
    "kind",
    "for",
    "description",
    "start",
    "range",
    "unit",
    "steps",
    "told",
    "secret",
    "decay",
    "limit",
    "derived",
)
"""The fields of a declaration, as a table, a configuration and the API name them."""
_LONGEST_LINE = 8_192
_SHOWN = 40
_RANGE = re.compile(r"([+-]?\d{1,9})?\s{0,4}(?:\.\.+|…|–|to|~)\s{0,4}([+-]?\d{1,9})?")
_STEP = re.compile(r"(?:([+-]?\d{1,9})\s{0,4}[:=]?\s{0,4})?(\D.*?)(?:\s{0,4}[:=]\s{0,4}([+-]?\d{1,9}))?")
_DECAY = re.compile(r"([+-]?\d{1,6})\s{0,4}(?:/|per|a|an|each|every)?\s{0,4}(turn|hour)?s?")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd]")
"""What turns the text around it, and what is no character. A NUL is U+FFFD in a name."""
_REMEDIES = {
    "range": "write two whole numbers with two dots between them, such as 0..100; one of them may be missing",
    "steps": "write names separated by commas, with a number before each for a scale: 0 cold, 50 warm",
    "decay": "write a change per turn or hour, such as -1/turn or -5/hour",
}
_USUALLY = {
    TrackerKind.METER: Whose.PAIR,
    TrackerKind.CLOCK: Whose.WORLD,
    TrackerKind.THREADS: Whose.WORLD,
}
_EXAMPLES = {
    TrackerKind.CLOCK: "; write a day and an hour, such as day 1 08:00 or Monday 08:00",
    TrackerKind.CHOICE: "; write one of its steps",
    TrackerKind.FLAG: "; write yes or no",
}


def tracker_of(fields: Mapping[str, str]) -> Tracker:
    """The tracker that the texts of a declaration declare. Raises ``BadInput`` that begins with the field's name."""
    said = {name: _short(name, str(value)) for name, value in fields.items()}
    name = clean_name(said.get("name", ""))
    if not squash(name) or len(name) > LONGEST_NAME or re.search(r"[:：=|{}\[\]<>,\n]", name):
        remedy = f"give one of at most {LONGEST_NAME} letters, without : = | , or brackets"
        raise BadInput(f"name: {name!r} is no name for a tracker; {remedy}")
    if unseen := _UNSEEN.search(name):
        raise BadInput(f"name: {name!a} holds {unseen.group()!a}, which nobody sees; leave it out")
    if squash(name) in _reserved():
        raise BadInput(f"name: {name!r} is a field that every state block has; choose another name")
    kind = TrackerKind(_one_of(said, "kind", TrackerKind, TrackerKind.NUMBER))
    whose = Whose(_one_of(said, "for", Whose, _USUALLY.get(kind, Whose.PLAYER)))
    if kind is TrackerKind.CLOCK and whose is not Whose.WORLD:
        raise BadInput(f"for: {whose.value!r} has no clock; a clock is for the world")
    least, most = _range(said.get("range", ""))
    decay, hourly = _decay(said.get("decay", ""))
    found = Tracker(
        name=name,
        kind=kind,
        whose=whose,
        description=clean_name(said.get("description", "")),
        start=clean_name(said.get("start", "")),
        least=least,
        most=most,
        unit=clean_name(said.get("unit", "")),
        steps=_steps(said.get("steps", ""), kind),
        told=Telling(_one_of(said, "told", Telling, Telling.ALWAYS)),
        secret=Secrecy(_one_of(said, "secret", Secrecy, Secrecy.NO)),
        decay=decay,
        hourly=hourly,
        event=clean_name(said.get("limit", "")),
        derived=_is_yes(said, "derived"),
    )
    if kind is TrackerKind.THREADS and (whose is not Whose.WORLD or found.start):
        raise BadInput("kind: threads belong to the story and begin with none; leave out for and start")
    if kind is TrackerKind.CHOICE and not found.steps:
        raise BadInput("steps: a choice has none; write its options separated by commas")
    if found.start and start_value(found) is None:
        raise BadInput(f"start: {found.start!r} is no value of a {kind.value}{_EXAMPLES.get(kind, '')}")
    if decay and not found.numeric:
        raise BadInput(f"decay: a {kind.value} does not decay; leave it out")
    return found


def tracker_in_line(text: str) -> Tracker:
    """The tracker that one line declares: ``gold | kind=number | range=0..99``. Raises ``BadInput``."""
    if len(text) > _LONGEST_LINE:
        raise BadInput(f"name: {text[:_SHOWN]!r}… has {len(text)} characters in all; give at most {_LONGEST_LINE}")
    name, *parts = text.split("|")
    fields = {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in parts)}
    return tracker_of({"name": name.strip(), **fields})


def declaration_of(tracker: Tracker) -> dict[str, str]:
    """The inverse of ``tracker_of``: the fields that are not as usual."""
    least, most = tracker.least, tracker.most
    ranged = (
        "" if least is None and most is None else f"{'' if least is None else least}..{'' if most is None else most}"
    )
    decay = f"{tracker.decay:+d}/{'hour' if tracker.hourly else 'turn'}" if tracker.decay else ""
    numbered = tracker.kind not in (TrackerKind.CHOICE, TrackerKind.CLOCK)
    steps = ", ".join(f"{number} {name}" if numbered else name for number, name in tracker.steps)
    said = {
        "name": tracker.name,
        "kind": tracker.kind.value,
        "for": tracker.whose.value,
        "description": tracker.description,
        "start": tracker.start,
        "range": ranged,
        "unit": tracker.unit,
        "steps": steps,
        "told": "" if tracker.told is Telling.ALWAYS else tracker.told.value,
        "secret": tracker.secret.value,
        "decay": decay,
        "limit": tracker.event,
        "derived": "yes" if tracker.derived else "",
    }
    return {name: text for name, text in said.items() if text}


def _short(name: str, text: str) -> str:
    """The text of a field in normal form. Raises ``BadInput`` for a text that is too long, and for an unknown field."""
    if name not in DECLARED_FIELDS:
        raise BadInput(f"{name[:_SHOWN]}: a tracker has no such field; it has {', '.join(DECLARED_FIELDS)}")
    most = MOST_STEPS * LONGEST_TEXT // 4 if name == "steps" else LONGEST_TEXT
    if len(text) <= 4 * most:  # no text grows shorter than that in normal form
        text = normalized("NFC", text).strip()
    if len(text) > most:
        raise BadInput(f"{name}: {text[:_SHOWN]!r}… has {len(text)} characters; give at most {most}")
    return text


def _reserved() -> frozenset[str]:
    return frozenset(map(squash, RESERVED))


def _one_of(said: Mapping[str, str], name: str, kinds: type[StrEnum], usual: StrEnum) -> str:
    text = said.get(name, "").casefold().replace("_", "-").removeprefix("the ").removesuffix(" changed")
    if not text:
        return usual.value
    if text in [each.value for each in kinds]:
        return text
    if text in ("no", "nobody") and kinds is Secrecy:
        return ""
    if text == "each character" and kinds is Whose:
        return Whose.CHARACTER.value
    allowed = ", ".join(each.value for each in kinds if each.value)
    raise BadInput(f"{name}: {said[name]!r} is not known; use one of {allowed}")


def _is_yes(said: Mapping[str, str], name: str) -> bool:
    text = said.get(name, "").casefold()
    if text not in ("", "yes", "true", "no", "false"):
        raise BadInput(f"{name}: {said[name]!r} is not known; write yes or no")
    return text in ("yes", "true")


def _range(text: str) -> tuple[int | None, int | None]:
    if not text:
        return None, None
    found = _RANGE.fullmatch(text.replace("−", "-"))
    if found is None:
        raise BadInput(f"range: {text!r} is no range; {_REMEDIES['range']}")
    least, most = (int(part) if part else None for part in found.groups())
    if least is not None and most is not None and least >= most:
        raise BadInput(f"range: {text!r} ends before it begins; {_REMEDIES['range']}")
    return least, most


def _steps(text: str, kind: TrackerKind) -> tuple[tuple[int, str], ...]:
    found: list[tuple[int, str]] = []
    shown = f"{text[:_SHOWN]!r}{'…' if len(text) > _SHOWN else ''}"
    for at, part in enumerate(each.strip() for each in re.split(r"[,，、]", text) if each.strip()):
        step = _STEP.fullmatch(part.replace("−", "-"))
        number = step and (step[1] or step[3])
        if step is None:
            raise BadInput(f"steps: {part!r} has no name; {_REMEDIES['steps']}")
        if number is None and kind in (TrackerKind.NUMBER, TrackerKind.METER, TrackerKind.COUNTER):
            raise BadInput(f"steps: {part!r} has no number; {_REMEDIES['steps']}")
        if number is None and kind is TrackerKind.MONEY and at:
            raise BadInput(f"steps: {part!r} has no worth; write how many of the smallest coin it is: 10 silver")
        found.append(
            (int(number) if number is not None else at if kind is not TrackerKind.MONEY else 1, step[2].strip())
        )
    if len(found) > MOST_STEPS:
        raise BadInput(f"steps: {shown} has {len(found)} steps; give at most {MOST_STEPS}")
    if long := next((name for _, name in found if len(name) > LONGEST_NAME), ""):
        raise BadInput(f"steps: {long[:_SHOWN]!r}… has {len(long)} characters; give a step at most {LONGEST_NAME}")
    if (length := sum(len(name) for _, name in found)) > LONGEST_STEPS:
        raise BadInput(f"steps: {shown} has {length} characters; give names of at most {LONGEST_STEPS} in all")
    names = [squash(name) for _, name in found]
    if len(set(names)) < len(names):
        raise BadInput(f"steps: {shown} has a name twice; {_REMEDIES['steps']}")
    if kind is TrackerKind.MONEY and any(worth < 1 for worth, _ in found):
        raise BadInput(f"steps: {shown} has a coin without worth; write how many of the smallest coin each is")
    return tuple(found if kind in (TrackerKind.CHOICE, TrackerKind.CLOCK) else sorted(found))


def _decay(text: str) -> tuple[int, bool]:
    if not text:
        return 0, False
    found = _DECAY.fullmatch(text.casefold().replace("−", "-"))
    if found is None:
        raise BadInput(f"decay: {text!r} is no decay; {_REMEDIES['decay']}")
    return int(found[1]), found[2] == "hour"

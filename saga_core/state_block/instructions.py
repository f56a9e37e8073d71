"""The instruction that asks the narrator for a state block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from saga_core.language import DEFAULT, known, language_of, primary
from saga_core.state_block.fields import FORM
from saga_core.trackers import NO_TRACKERS, ROMANCE, Tracker, TrackerKind, Trackers, Whose


def instruction(language: str = DEFAULT, *, tools: bool = False, counted: Trackers = NO_TRACKERS) -> str:
    """The text that asks the narrator for a state block. It is fixed for each language, so that it can be cached.

    ``language`` is a known tag or an extension of one, such as "ko-KR". Raises ``ValueError`` for any other. A model
    that copies the form without filling it in states nothing. ``tools`` says that the narrator may call tools; the
    block is then requested in the reply that follows their results. ``counted`` are the story's trackers.
    """
    if primary(language) not in known():
        raise ValueError(f"language {language!r} has no state block instruction: use one of {', '.join(known())}")
    return _instruction(language_of(language).tag, tools, counted)


@lru_cache(maxsize=64)
def _instruction(tag: str, tools: bool, counted: Trackers) -> str:
    asked = language_of(tag).request
    # The last sentence is about names of people beyond those present.
    lead = asked.lead if counted.asks("npc_met") else "".join(re.split(r"(?<=[.。])(?=\s*\S)", asked.lead)[:-1])
    parts = [lead, block_form(tag, counted)]
    if counted.asked:
        parts.insert(1, "\n".join([asked.counted, *(_meaning(each) for each in counted.asked if each.description)]))
    if tools and asked.tools:
        parts.append(asked.tools)
    return "\n\n".join(parts)


def block_form(language: str = DEFAULT, counted: Trackers = NO_TRACKERS) -> str:
    """The form of the block in a language, including its fences and a line for each tracker."""
    slots = language_of(language).block.slots
    form = FORM.format(**slots)
    if counted == NO_TRACKERS:
        return form
    if counted.profile == ROMANCE:
        form = form.replace("status: dead", "status: tired")
    form = "\n".join(line for line in form.split("\n") if counted.asks(line.partition(":")[0]))
    head, notes, tail = form.rpartition("\nnotes:")
    return head + "".join(f"\n{each.name}: {_counted(each, slots)}" for each in counted.asked) + notes + tail


def _counted(tracker: Tracker, slots: Mapping[str, str]) -> str:
    """The placeholder of a tracker in the form."""
    if tracker.kind is TrackerKind.LIST:
        value = f"[+<{slots['item']}>, -<{slots['item']}>]"
    elif tracker.kind is TrackerKind.CHOICE:
        value = f"<{'|'.join(name for _, name in tracker.steps)}>"
    elif tracker.kind is TrackerKind.MONEY and tracker.steps:
        coins = [name for _, name in reversed(tracker.steps)]
        value = f"<{'|'.join(f'{sum_} {coin}' for sum_, coin in zip(_SUMS, (*coins, *coins), strict=False))}>"
    else:
        value = _EXAMPLES[tracker.kind]
    return f"{{<{slots['name']}>: {value}}}" if tracker.whose in (Whose.CHARACTER, Whose.PAIR) else value


_SUMS = ("12", "+3", "-5")
"""Sums in the largest coins of some money: a number without its coin is read, but may be meant otherwise."""
_EXAMPLES = {
    TrackerKind.NUMBER: "<12|+3>",
    TrackerKind.COUNTER: "<+1>",
    TrackerKind.MONEY: "<12|+3>",
    TrackerKind.TEXT: "<…>",
    TrackerKind.FLAG: "<true|false>",
    TrackerKind.CLOCK: "<+2h|19:30>",
    TrackerKind.METER: "<+5>",
    TrackerKind.THREADS: "[+<…> (<19:30>), <…>: <…>, -<…>]",
}


def _meaning(tracker: Tracker) -> str:
    least, most = tracker.limits
    limits = f" ({least}–{most})" if tracker.kind is TrackerKind.NUMBER and None not in (least, most) else ""
    return f"- {tracker.name}{limits}: {tracker.description}"

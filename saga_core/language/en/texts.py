"""Texts for narrators and players in English."""

from __future__ import annotations

from datetime import date

from saga_core.language.texts import Comparison, Findings, Sizes, Texts

_MONTHS = "January February March April May June July August September October November December".split()


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


TEXTS = Texts(
    name="English",
    player="Player",
    player_aliases=("플레이어", "Player"),  # journals of English worlds hold both
    rules="[SAGA: rules]\n"
    "Text between [SAGA: what is true now] and [/SAGA] is the story's memory, given by the system, not said by the "
    "player. It overrides anything older in the chat. Do not quote it, do not mention it.\n"
    "The dead stay dead, what was lost stays lost, and people are where the memory says. Characters know only what "
    "they saw or were told; a secret is known to those named with it.\n"
    "The player alone decides what the player's character says, does, is called and carries.",
    sizes=Sizes(words=600, reply=3_200, place=160, whole=320, brief=1_000, excerpt=200, token=4.0),
    pages={
        "then": "As of turn {turn}",
        "state": "Current state",
        "player": "Player",
        "place": "Place",
        "hp": "HP",
        "inventory": "Inventory",
        "mood": "Mood",
        "present": "Present",
        "dead": "Dead",
        "ways": "Ways",
        "relations": "Relations",
        "story": "The story so far",
        "events": "Events",
        "lore": "World",
        "cast": "Cast",
        "learned": "Learned",
        "nothing": "nothing yet",
        "unread": "The last {replies} replies came without a state block: what happened in them is missing here. "
        "`saga doctor` says what helps.",
    },
    comparison=Comparison(
        labels={
            "place": "Place",
            "hp": "HP",
            "max_hp": "Max HP",
            "mood": "Mood",
            "item": "Inventory",
            "equipped": "Equipped",
            "present": "Present",
            "met": "Met",
            "dead": "Dead",
            "relation": "Relation",
            "event": "Event",
        },
        only="{label}: {subject}, only in {where}",
        sides="{label}: {left} in {one}, {right} in {other}",
        nothing="none",
    ),
    findings=Findings(
        dead_act="{name} is dead and acts in turn {turn}.".format,
        down_fights="{name} has 0 HP and fights in turn {turn}.".format,
        two_places="{name} is at {first} and at {second} at once in turn {turn}.".format,
        two_hands="{thing} is in the hands of {one} and of {two}.".format,
        sudden_turn=(
            "{one} → {other} turned from {old} ({old_strength:+d}) to {new} ({new_strength:+d}) without cause."
        ).format,
        forgotten_event="The time for {name!r} ran out at turn {deadline}, and nothing came of it.".format,
    ),
    episode={"turn": "Turn", "place": "place", "met": "met", "gained": "gained", "lost": "lost", "event": "event"},
    day=_day,
    turn="turn {depth}",
    due="due",
    turns_left="(turns left: {left})",
    died="{name} died".format,
    met="met {name}".format,
    gained="gained {name}".format,
)

"""Compares two states, and a state with what an adventure expects. States are answers of the admin API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga_server.demo.adventure import Expected

State = Mapping[str, Any]


def inventory(state: State) -> dict[str, int]:
    """Return the quantity of each item of the player."""
    return {item["name"]: item["quantity"] for item in state["inventory"]}


def relations(state: State) -> dict[str, tuple[str, int]]:
    """Return the relationships of the player, as (type, strength) by character."""
    return {
        each["to"]: (each["type"], each["strength"])
        for each in state["relationships"]
        if each["from"] == state["player"]
    }


def counts(state: State) -> dict[str, str]:
    """Return the trackers of the world and the player, as they are shown."""
    return {each["name"]: each["text"] for each in state["trackers"] if each["who"] in (None, state["player"])}


def threads(state: State) -> list[str]:
    """Return the names of the open threads."""
    return [each["name"] for each in state["threads"]]


def changes(before: State, after: State, words: Mapping[str, str]) -> list[str]:
    """Return the differences between two states, one per line."""
    found = []
    if before["location"] != after["location"]:
        found.append(f"{words['place']}: {before['location']} → {after['location']}")
    if before["hp"] != after["hp"]:
        found.append(f"HP: {before['hp']} → {after['hp']} ({after['hp'] - before['hp']:+d})")
    old, new = inventory(before), inventory(after)
    for item in dict.fromkeys((*old, *new)):
        gained = new.get(item, 0) - old.get(item, 0)
        if gained:
            found.append(f"{item} {gained:+d} ({new.get(item, 0)})")
    found += _arrivals(before["npcs_present"], after["npcs_present"], words["joined"], words["left"])
    found += _arrivals(before["dead"], after["dead"], words["died"], words["rose"])
    stood, stands = relations(before), relations(after)
    for name, relation in stands.items():
        if stood.get(name) != relation:
            found.append(f"{state_player(after)} → {name}: {relation[0]} {relation[1]:+d}")
    was = counts(before)
    found += [f"{name}: {was.get(name)} → {text}" for name, text in counts(after).items() if was.get(name) != text]
    found += [f"+ {name}" for name in threads(after) if name not in threads(before)]
    if before["mood"] != after["mood"]:
        found.append(f"{words['mood']}: {before['mood']} → {after['mood']}")
    if len(after["events"]) > len(before["events"]):
        found += [f"{words['event']}: {event['name']}" for event in after["events"][len(before["events"]) :]]
    found += [f"{words['problem']}: {each['text']}" for each in after["problems"] if each not in before["problems"]]
    return found


def state_player(state: State) -> str:
    """The player's name."""
    return str(state["player"])


def unmet(expected: Expected, state: State) -> list[str]:
    """Return the expectations that the state does not meet, with what was found instead."""
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("place", expected.place, state["location"]),
        ("hp", expected.hp, state["hp"]),
        ("inventory", expected.inventory, inventory(state)),
        ("present", expected.present, frozenset(state["npcs_present"])),
        ("met", expected.met, frozenset(state["npcs_met"])),
        ("relations", expected.relations, relations(state)),
        ("dead", expected.dead, frozenset(state["dead"])),
        ("threads", expected.threads, frozenset(threads(state))),
    )
    shown = counts(state)
    pairs += tuple((name, wanted, shown.get(name)) for name, wanted in (expected.counts or {}).items())
    return [
        f"{name}: {_shown(found)}, not {_shown(wanted)}"
        for name, wanted, found in pairs
        if wanted is not None and wanted != found
    ]


def unsaid(expected: Expected, reply: str, *, quoted: str = "") -> list[str]:
    """Return the expectations that the reply's words do not meet. ``quoted`` is text that the reply had to repeat."""
    wanted = (*expected.says, quoted) if quoted else expected.says
    return [f"reply: {word!r} is missing" for word in wanted if word not in reply] + [
        f"reply: {word!r} should not be there" for word in expected.silent if word in reply
    ]


def _arrivals(before: list[str], after: list[str], came: str, went: str) -> list[str]:
    return [f"{came}: {name}" for name in after if name not in before] + [
        f"{went}: {name}" for name in before if name not in after
    ]


def _shown(value: Any) -> str:
    return str(sorted(value)) if isinstance(value, frozenset) else str(value)

"""Reads what other trackers count in a card or a lorebook as declarations of SAGA's trackers.

Three forms are read: the initial variables of MagVarUpdate (an entry of a lorebook whose title begins with
``[InitVar]``), and the settings of rpg-companion and of Horae in a card's extensions. What is read becomes the table of
trackers in WORLD.md, where the author can change it. What is not read is listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from saga_core.errors import BadInput
from saga_core.imports import LoreItem, Losses
from saga_core.trackers import Tracker, tracker_of
from saga_core.yaml_text import BoundedLoader

_INITIAL = re.compile(r"\s*\[initvar\]", re.IGNORECASE)
_LIMITS = re.compile(r"([+-]?\d{1,9})\s{0,4}(?:[,，~～至–]|到|to|\.\.)\s{0,4}([+-]?\d{1,9})")
_LONGEST = 60_000
"""Characters of a file's initial variables that are read; parsing more as YAML takes seconds."""
_MOST_NOTED = 50
_PLAYER = frozenset(("{{user}}", "<user>", "user", "player", "主角", "玩家"))
_CHARACTER = frozenset(("{{char}}", "<char>", "char"))
_WORLD = frozenset(("world", "世界"))
_READ = "declared as a tracker in WORLD.md"
_SHAPE = "its form does not say what is counted, or whose it is; declare it in WORLD.md"
_PERCENT = "0..100"


def initial_variables(items: Iterable[LoreItem], names: Iterable[str], losses: Losses) -> tuple[Tracker, ...]:
    """The variables that the entries named ``[InitVar]`` begin with. ``names`` are those of the card's character."""
    own = _CHARACTER | {each.strip().casefold() for each in names if each.strip()}
    found: list[Tracker] = []
    read = 0
    for item in items:
        if not _INITIAL.match(item.title):
            continue
        read += len(item.content)
        try:
            plain = _parsed(item.content) if read <= _LONGEST else None
        except (ValueError, RecursionError, yaml.YAMLError):
            plain = None
        if not isinstance(plain, dict):
            why = f"its variables are no object in JSON or YAML of at most {_LONGEST} characters in all; {_SHAPE}"
            losses.add("[InitVar]", "dropped", why)
            continue
        for name, whose, value in _variables(plain, own, losses):
            found += _variable(name, whose, value, losses)
    return tuple(found)


def trackers_in_extensions(extensions: Mapping[str, Any], losses: Losses) -> tuple[tuple[Tracker, ...], frozenset[str]]:
    """What rpg-companion or Horae counts, by the settings in a card's extensions, and the names of the fields read."""
    found: list[Tracker] = []
    read: set[str] = set()
    for name, value in extensions.items():
        if not isinstance(value, dict):
            continue
        if isinstance(value.get("trackerConfig"), dict):
            rows = _companion(value["trackerConfig"])
        elif isinstance(value.get("rpgBarConfig"), list) or isinstance(value.get("rpgAttributeConfig"), list):
            rows = _horae(value)
        else:
            continue
        read.add(name)
        for fields in rows:
            found += _declared(fields, losses)
        losses.add(name, "mapped", "what it counts becomes trackers in WORLD.md; its other settings are for its panel")
    return tuple(found), frozenset(read)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return yaml.load(text, BoundedLoader)


def _variables(
    plain: Mapping[Any, Any], own: frozenset[str] | set[str], losses: Losses
) -> Iterator[tuple[str, str, Any]]:
    """(name, whose, value) of each variable. A group of variables belongs to whom its name says."""
    noted = 0
    for name, value in plain.items():
        group = str(name).strip().casefold()
        if group.startswith("$"):
            continue
        if not isinstance(value, dict):
            yield str(name), "world", value
            continue
        whose = "player" if group in _PLAYER else "character" if group in own else "world" if group in _WORLD else ""
        for inner, each in value.items():
            if str(inner).startswith("$"):
                continue
            if whose and not isinstance(each, dict):
                yield str(inner), whose, each
            elif noted < _MOST_NOTED:
                noted += 1
                losses.add(f"[InitVar] {name}.{inner}"[:80], "dropped", _SHAPE)


def _variable(name: str, whose: str, value: Any, losses: Losses) -> list[Tracker]:
    """A variable's tracker. Its value may be a list of the value itself and a description."""
    said = ""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str) and _is_described(value):
        value, said = value
    fields = {"name": name, "for": whose, "description": " ".join(said.split())[:240]}
    if isinstance(value, bool):
        fields |= {"kind": "flag", "start": "yes" if value else "no"}
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        limits = _LIMITS.search(said)
        least, most = (int(limits[1]), int(limits[2])) if limits else (0, 0)
        fields |= {"kind": "number", "start": str(int(value))}
        if least < most and least <= value <= most:
            fields["range"] = f"{least}..{most}"
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        fields |= {"kind": "list", "start": ", ".join(value)}
    elif value is None or isinstance(value, str):
        fields |= {"kind": "text", "start": " ".join((value or "").split())}
    else:
        losses.add(f"[InitVar] {name}"[:80], "dropped", _SHAPE)
        return []
    return _declared(fields, losses)


def _is_described(value: list[Any]) -> bool:
    """Whether a list of two is a value and its description, and not a list of two texts."""
    return not isinstance(value[0], str) or len(value[1]) > len(value[0])


def _companion(config: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What rpg-companion counts: numbers in percent, attributes, fields of texts, and what the scene's box shows."""
    mine, box, others = (_inner(config, name) for name in ("userStats", "infoBox", "presentCharacters"))
    for each in _enabled(mine.get("customStats")):
        yield _row(each, kind="number", range=_PERCENT, unit="%")
    if mine.get("showRPGAttributes") is not False:
        for each in _enabled(mine.get("rpgAttributes")):
            yield _row(each, kind="number")
    status = _inner(mine, "statusSection")
    for name in status.get("customFields") or () if status.get("enabled") is not False else ():
        if isinstance(name, str):
            yield {"name": name, "kind": "text"}
    widgets = _inner(box, "widgets")
    if any(_inner(widgets, name).get("enabled") for name in ("date", "time")):
        yield {"name": "time", "kind": "clock"}
    for name in ("weather", "temperature"):
        if _inner(widgets, name).get("enabled"):
            yield {"name": name, "kind": "text", "for": "world"}
    for each in _enabled(others.get("customFields")):
        yield _row(each, kind="text", whose="character")
    stats = _inner(others, "characterStats")
    for each in _enabled(stats.get("customStats")) if stats.get("enabled") else ():
        yield _row(each, kind="number", whose="character", range=_PERCENT, unit="%")


def _horae(config: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What Horae counts: bars and attributes, of everybody unless they are the player's alone."""
    for name, only in (("rpgBarConfig", "rpgBarsUserOnly"), ("rpgAttributeConfig", "rpgAttrsUserOnly")):
        whose = "player" if config.get(only) or config.get("rpgUserOnly") else "character"
        for each in _enabled(config.get(name)):
            yield _row(each, kind="number", whose=whose, range="0..")


def _row(plain: Mapping[str, Any], *, whose: str = "player", **fields: str) -> dict[str, str]:
    said = plain.get("description") or plain.get("desc") or ""
    name = plain.get("name") or plain.get("key") or ""
    return {"name": str(name), "for": whose, "description": " ".join(str(said).split())[:240], **fields}


def _enabled(rows: Any) -> Iterator[Mapping[str, Any]]:
    for each in rows if isinstance(rows, list) else ():
        if isinstance(each, dict) and each.get("enabled") is not False:
            yield each


def _inner(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = plain.get(name)
    return value if isinstance(value, dict) else {}


def _declared(fields: dict[str, str], losses: Losses) -> list[Tracker]:
    """The tracker of these fields, as a list; empty, and noted, if SAGA cannot count it."""
    shown = fields["name"][:80]
    try:
        try:
            tracker = tracker_of(fields)
        except BadInput as error:
            if not str(error).startswith("start:"):
                raise
            tracker = tracker_of({**fields, "start": ""})
            losses.add(shown, "dropped", f"its first value: {error}")
    except BadInput as error:
        losses.add(shown, "dropped", f"SAGA cannot count it: {error}")
        return []
    losses.add(shown, "mapped", _READ)
    return [tracker]

"""Thirty plays with a contradiction planted in them, and thirty that only look as if they had one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from attrs import frozen

from tests.core.curation.stage import Told


@frozen
class Play:
    """Turns in a world; ``rule`` is what is wrong with them, "" for nothing."""

    name: str
    world: str
    rule: str
    told: tuple[Told, ...]


def _play(data: dict[str, Any]) -> Play:
    told = tuple(Told(**each) for each in data["told"])
    return Play(data["name"], data["world"], data.get("rule", ""), told)


def _load(name: str) -> Any:
    return yaml.load(Path(__file__).with_name(name).read_text(encoding="utf-8"), yaml.CSafeLoader)


_DATA, _MORE = _load("plays.yaml"), _load("plays_more.yaml")
PLANTED = tuple(map(_play, _DATA["planted"]))
SOUND = tuple(map(_play, _DATA["sound"]))
MORE_PLANTED = tuple(map(_play, _MORE["planted"]))
MORE_SOUND = tuple(map(_play, _MORE["sound"]))

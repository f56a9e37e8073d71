"""docs/memory.md: its tables of corrections and rules are those of the code, and its commands work."""

from __future__ import annotations

import json
import re

from aiohttp import ClientSession

from saga_core.config import load_config
from saga_core.config.model import CuratorConfig
from saga_core.curation.corrections import _FORMS
from saga_core.curation.facts import SCENE_TURNS
from saga_core.curation.rules import RULES
from saga_server.server import Server
from tests.docs.pages import page

MEMORY = page("docs/memory.md")


def cells(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`(\w+)`", cell))


def test_every_kind_of_correction_stands_there_with_its_fields() -> None:
    rows = {row[0].strip("`"): row for row in MEMORY.rows if len(row) == 4 and row[0].strip("`") in _FORMS}
    assert set(rows) == set(_FORMS)
    for kind, form in _FORMS.items():
        assert (cells(rows[kind][1]), cells(rows[kind][2])) == (form.needs, form.takes), kind


def test_every_rule_stands_there() -> None:
    listed = {row[0].strip("`") for row in MEMORY.rows if len(row) == 2 and row[0].startswith("`")}
    assert set(RULES) == {name for name in listed if re.fullmatch(r"[a-z_]+", name)}


def test_the_numbers_are_those_of_the_code() -> None:
    assert CuratorConfig().interval == SCENE_TURNS == 10
    assert CuratorConfig().compress_story_after_turns == 50
    prose = " ".join(MEMORY.prose.split())
    assert "Every ten turns" in prose and "fifty turns" in prose
    for block in CuratorConfig().memory_block_schema:
        assert f"`{block}`" in MEMORY.text


async def test_the_corrections_that_it_shows_are_taken() -> None:
    config = load_config({"server": {"port": 0}, "storage": {"profile": "memory"}}, environ={})
    shown = re.findall(r"-d '(\{.*?\})'", MEMORY.text)
    assert len(shown) == 3
    async with Server(config, environ={}) as server, ClientSession(server.url) as client:
        await client.post("/api/sessions", json={"label": "my-chat", "world": "ersia"})
        path = "/api/sessions/my-chat/changes"
        for body in map(json.loads, shown):
            answer = await client.post(path, json=body)
            found = await answer.json()
            if body["kind"] == "merge":  # nobody of that name is in this world
                assert answer.status == 400 and "the story knows no" in found["error"]["message"]
                continue
            assert answer.status == 201, found
            undone = await client.delete(f"{path}/{found['change']}")
            assert undone.status == 200

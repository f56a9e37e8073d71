"""A data folder and an export of commit 18d39bea open, and nothing in them is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compat.played import (
    EXPORT,
    OWNER,
    PROMPTS,
    Player,
    known,
    lay_out,
    lost,
    next_prompt,
    served,
    unpack,
    with_a_block,
)


def player(owner: Player, recorded: dict[str, Any], about: dict[str, Any]) -> Player:
    return Player(owner.http, owner.upstream, recorded["keys"].get(about["key"], OWNER))


async def test_everything_that_was_known_is_known(tmp_path: Path) -> None:
    recorded = unpack(tmp_path)
    async with served(tmp_path) as owner:
        await owner.settle()
        for session, about in recorded["sessions"].items():
            assert lost(about["known"], await known(owner, session)) == []
        verdict = await owner.call("GET", "/api/verify")
        assert verdict["findings"] == []
        assert owner.upstream.prompts == []


def test_the_pages_on_disk_are_those_that_were_rendered(tmp_path: Path) -> None:
    recorded = unpack(tmp_path)
    pages = {path.read_text(encoding="utf-8") for path in tmp_path.glob("data/pages/*/*.md")}
    shown = {
        text
        for about in recorded["sessions"].values()
        for text in about["known"]["/cache"]["files"].values()
        if isinstance(text, str)
    }
    assert shown and shown <= pages


async def test_the_keys_are_admitted_as_before(tmp_path: Path) -> None:
    recorded = unpack(tmp_path)
    roles = {"mina": "player", "guest": "chat", "second": "admin"}
    async with served(tmp_path) as owner:
        for name, secret in recorded["keys"].items():
            caller = Player(owner.http, owner.upstream, secret)
            if name in roles:
                assert await caller.status("/v1/models") == 200, name
                keys = (await owner.call("GET", "/api/keys"))["keys"]
                assert [key["role"] for key in keys if secret.startswith(key["prefix"])] == [roles[name]]
            else:
                assert await caller.status("/v1/models") == 401, name
        mina = Player(owner.http, owner.upstream, recorded["keys"]["mina"])
        hers = await mina.call("GET", "/api/sessions")
        (session,) = [name for name, about in recorded["sessions"].items() if about["key"] == "mina"]
        assert [each["id"] for each in hers["sessions"]] == [session]
        me = await mina.call("GET", "/api/me")
        assert (me["key"]["quotas"]["turns_a_minute"], me["key"]["quotas"]["sessions"]) == (600, 5)
        assert me["key"]["use"]["sessions"] == 1


async def test_the_next_turn_is_asked_in_the_same_words_and_played_on(tmp_path: Path) -> None:
    recorded = unpack(tmp_path)
    with_a_block(tmp_path)
    expected = json.loads(PROMPTS.read_text(encoding="utf-8"))
    async with served(tmp_path) as owner:
        for session, about in recorded["sessions"].items():
            head = about["known"]["/tree"]["head"]
            before = about["known"]["turns"][head]["state"]
            prompt = await next_prompt(player(owner, recorded, about), about)
            assert prompt == expected[about["language"]], "if the change is meant: python -m tests.compat.played accept"
            now = await owner.call("GET", f"/api/sessions/{session}/state")
            assert now["turn"] == before["turn"] + 1
            assert (now["hp"], now["inventory"]) == (before["hp"] - 1, before["inventory"])
        await owner.settle()
        assert (await owner.call("GET", "/api/verify"))["findings"] == []


async def test_the_export_is_imported_into_an_empty_server_and_played_on(tmp_path: Path) -> None:
    recorded = unpack(tmp_path / "old")
    empty = tmp_path / "new"
    empty.mkdir()
    lay_out(empty)
    with_a_block(empty)
    (session, about) = next(iter(recorded["sessions"].items()))
    async with served(empty) as owner:
        await owner.call("POST", "/api/import", params={"name": EXPORT.name}, data=EXPORT.read_bytes())
        await owner.settle()
        (imported,) = (await owner.call("GET", "/api/sessions"))["sessions"]
        now = await known(owner, imported["id"])
        assert lost(_portable(about["known"], session), _portable(now, imported["id"])) == []
        expected = json.loads(PROMPTS.read_text(encoding="utf-8"))[about["language"]]
        assert (await next_prompt(owner, about))["messages"] == expected["messages"]


def _portable(about: dict[str, Any], session: str) -> dict[str, Any]:
    """What an export carries: not the bills, and nothing that names the session or its owner."""
    return json.loads(json.dumps(about).replace(session, "SESSION"))  # type: ignore[no-any-return]


def test_a_loss_is_seen() -> None:
    before = {"a": [{"b": 1}], "c": "x"}
    assert lost(before, {"a": [{"b": 1, "new": 2}], "c": "x", "d": 0}) == []
    assert lost(before, {"a": [{"b": 2}], "c": "x"}) == ["/a/0/b: 1 before, 2 now"]
    assert lost(before, {"a": [], "c": "x"}) and lost(before, {"a": [{"b": 1}]}) == ["/c is gone"]

"""Lines of belief with their origins, corrections that are only tried, and edits under a condition."""

from __future__ import annotations

from typing import Any

from saga_core.state_block import BlockFields
from tests.blocks import render_block
from tests.server.client import Client


async def play(client: Client, *blocks: BlockFields) -> str:
    """A session whose turns report these; its id."""
    saga = client.server.saga
    said: list[dict[str, str]] = []
    for at, block in enumerate(blocks):
        said.append({"role": "user", "content": f"Now I do thing number {at}, whatever comes of it."})
        begun = await saga.begin(said, session="s", world="harrow")
        text = f"Something happens, for the {at}th time in this long and winding story."
        begun.replies[0].feed(f"{text}\n{render_block(block)}")
        begun.replies[0].finish()
        await begun.commit()
        said.append({"role": "assistant", "content": text})
    return (await saga.sessions.list())[0].session.id


def lines(found: Any, kind: str) -> list[Any]:
    return [each for each in found["lines"] if each["kind"] == kind]


async def test_each_line_says_which_turn_it_comes_from(offline: Client) -> None:
    session = await play(
        offline, BlockFields(location="Rope Quay"), BlockFields(notes="It rains."), BlockFields(hp_change=-10)
    )
    found = (await offline.get(f"/api/sessions/{session}/lines")).json
    (place,), (hp, *_) = lines(found, "place"), lines(found, "hp")
    assert (place["text"], place["turn"], place["by"], place["change"]) == ("Rope Quay", 1, "block", None)
    assert (hp["number"], hp["turn"]) == (90, 3)
    assert [(each["text"], each["turn"]) for each in lines(found, "note")][-1] == ("It rains.", 2)
    assert all(each["turn"] == 0 and each["by"] == "none" for each in lines(found, "item"))
    earlier = (await offline.get(f"/api/sessions/{session}/lines?turn={place['turn_id']}")).json
    assert lines(earlier, "hp")[0]["number"] == 100


async def test_a_line_follows_play_corrections_and_undoing(offline: Client) -> None:
    session = await play(offline, BlockFields(location="Rope Quay"), BlockFields(hp_change=-10))
    where = f"/api/sessions/{session}"
    assert lines((await offline.get(f"{where}/lines")).json, "hp")[0]["turn"] == 2
    made = (await offline.post(f"{where}/changes", json={"kind": "hp", "hp": "70"})).json
    (hp, *_) = lines((await offline.get(f"{where}/lines")).json, "hp")
    assert (hp["number"], hp["by"], hp["change"], hp["turn"]) == (70, "edit", made["change"], 2)
    await offline.send("DELETE", f"{where}/changes/{made['change']}")
    (hp, *_) = lines((await offline.get(f"{where}/lines")).json, "hp")
    assert (hp["number"], hp["by"], hp["change"]) == (90, "block", None)


async def test_a_correction_that_is_only_tried_changes_nothing(offline: Client) -> None:
    session = await play(offline, BlockFields(location="Rope Quay"), BlockFields(notes="It rains."))
    where = f"/api/sessions/{session}"
    turn = (await offline.get(f"{where}/turns")).json["turns"][1]["turn_id"]
    before = (await offline.get(f"{where}/state")).json
    tried = (await offline.post(f"{where}/changes?dry_run=1", json={"kind": "hp", "hp": "70", "turn": turn})).json
    assert (tried["change"], tried["turn"], tried["later"]) == (None, 1, 1)
    assert [(each["was"]["number"], each["is"]["number"]) for each in tried["effect"]] == [(100, 70)]
    assert (await offline.get(f"{where}/state")).json == before
    refused = await offline.post(f"{where}/changes?dry_run=1", json={"kind": "hp", "hp": "many"})
    assert (refused.status, refused.error["param"]) == (400, "hp")


async def test_two_who_edit_do_not_undo_each_other(offline: Client) -> None:
    session = await play(offline, BlockFields(location="Rope Quay"))
    where = f"/api/sessions/{session}/changes"
    tag = (await offline.get(where)).headers["ETag"]
    assert (await offline.get(where, headers={"If-None-Match": tag})).status == 304
    one = await offline.post(where, json={"kind": "hp", "hp": "70"}, headers={"If-Match": tag})
    other = await offline.post(where, json={"kind": "hp", "hp": "60"}, headers={"If-Match": tag})
    assert (one.status, other.status, other.error["type"]) == (201, 412, "precondition_error")
    assert (await offline.get(f"/api/sessions/{session}/state")).json["hp"] == 70
    fresh = (await offline.get(where)).headers["ETag"]
    assert fresh != tag
    gone = await offline.send("DELETE", f"{where}/{one.json['change']}", headers={"If-Match": tag})
    assert gone.status == 412
    assert (await offline.send("DELETE", f"{where}/{one.json['change']}", headers={"If-Match": fresh})).status == 200
    odd = await offline.post("/api/drain", headers={"If-Match": tag})
    assert (odd.status, odd.error["param"]) == (400, "If-Match")


async def test_a_session_is_renamed_under_the_condition_that_it_is_as_it_was_read(offline: Client) -> None:
    session = await play(offline, BlockFields(location="Rope Quay"))
    where = f"/api/sessions/{session}"
    tag = (await offline.get(where)).headers["ETag"]
    renamed = await offline.send("POST", where, json={"label": " The   salt road "}, headers={"If-Match": tag})
    assert (renamed.status, renamed.json["label"], renamed.json["id"]) == (200, "The salt road", session)
    late = await offline.send("POST", where, json={"label": "Another"}, headers={"If-Match": tag})
    assert (late.status, late.error["type"]) == (412, "precondition_error")
    assert (await offline.get("/api/sessions/The salt road")).json["id"] == session
    await offline.post("/api/sessions", json={"label": "taken"})
    assert (await offline.post(where, json={"label": "taken"})).status == 409
    for label in ("", "\u200b", "x" * 201):
        assert (await offline.post(where, json={"label": label})).status == 400, label

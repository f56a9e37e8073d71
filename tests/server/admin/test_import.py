"""Files of other tools through ``POST /api/import``, and the frontend's next request behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import FormData

from saga_core.imports import read_file
from saga_server.tenancy import tenancy_of
from tests.core.imports import samples
from tests.server.client import Client, Reply
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says


@pytest.fixture
async def client(
    upstream: Upstream, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Client]:
    """A server whose worlds are in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    async with serve(providers={"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}) as found:
        yield found


async def take(client: Client, files: dict[str, bytes], **query: str) -> dict[str, Any]:
    form = FormData()
    for name, raw in files.items():
        form.add_field("file", raw, filename=name)
    answer = await client.post("/api/import", data=form, params=query)
    assert answer.status in (200, 201), answer.raw
    found: dict[str, Any] = answer.json
    return found


def as_sillytavern(raw: bytes, *, upto: int | None = None, hidden: bool = False) -> list[dict[str, Any]]:
    """The messages of a chat's file as SillyTavern sends them, with its prompts around them."""
    rows = [json.loads(line) for line in raw.decode().split("\n")]
    rows = [row for row in rows if "mes" in row and (hidden or not row["is_system"])][:upto]
    told = [
        {
            "role": "user" if row["is_user"] else "assistant",
            "content": row["mes"].replace("{{user}}", "Alex").replace("{{char}}", "Ysolde"),
        }
        for row in rows
    ]
    head = ["Write Ysolde's next reply in a fictional chat between Ysolde and Alex.", "[Start a new Chat]"]
    return [{"role": "system", "content": text} for text in head] + told


async def play_on(client: Client, raw: bytes, words: str, upto: int | None = None) -> Reply:
    note = {"role": "system", "content": "Keep the reply under 120 words."}
    answer = await client.chat([*as_sillytavern(raw, upto=upto), {"role": "user", "content": words}, note])
    assert answer.status == 200
    return answer


async def test_a_chat_is_played_on_at_once(client: Client) -> None:
    raw = samples.st_chat(turns=5)
    found = await take(client, {"one.jsonl": raw})
    (thing,) = found["things"]
    assert thing["counts"] == {"turns": 5, "swipes": 5, "branches": 0}
    session = thing["session"]
    before = (await client.get(f"/api/sessions/{session}")).json
    reply = await play_on(client, raw, "And what now?")
    assert reply.session == session
    assert reply.headers["X-SAGA-Parent"] == before["head"]
    assert len((await client.get("/api/sessions")).json["sessions"]) == 1
    assert len(await client.turns(session)) == 6


async def test_each_branch_is_found(client: Client) -> None:
    main = samples.st_chat(turns=6)
    branch = samples.st_chat(turns=4, tail=" elsewhere", parent="main")
    found = await take(client, {"branch.jsonl": branch, "main.jsonl": main})
    session = {thing["session"] for thing in found["things"]}
    assert len(session) == 1
    (session_id,) = session
    timelines = (await client.get(f"/api/sessions/{session_id}/timelines")).json["timelines"]
    timelines = [each for each in timelines if each["name"]]
    assert [each["name"] for each in timelines] == ["branch"]
    ends = {}
    for name, raw in (("main", main), ("branch", branch)):
        reply = await play_on(client, raw, f"On in {name}.")
        assert reply.session == session_id
        ends[name] = reply.headers["X-SAGA-Parent"]
    assert ends["branch"] == timelines[0]["head"] != ends["main"]
    back = await play_on(client, main, "Another way.", upto=5)
    assert back.session == session_id
    deep = (await client.get(f"/api/sessions/{session_id}/turns", params={"head": ends["main"]})).json["turns"]
    assert back.headers["X-SAGA-Parent"] == deep[2]["turn_id"]


async def test_a_swipe_back_is_found(client: Client) -> None:
    raw = samples.st_chat(turns=3)
    (thing,) = (await take(client, {"one.jsonl": raw}))["things"]
    rows = [json.loads(line) for line in raw.decode().split("\n")]
    rows[-1]["mes"] = rows[-1]["swipes"][0]
    reply = await play_on(client, samples.jsonl(*rows), "I like this better.")
    assert reply.session == thing["session"]
    tree = (await client.get(f"/api/sessions/{reply.session}/tree")).json["nodes"]
    assert len(tree) == 1 + 6 + 1, "the swipe is known, so nothing is adopted"


async def test_imported_twice_is_imported_once_and_what_was_played_since_is_added(client: Client) -> None:
    short, long = samples.st_chat(turns=3), samples.st_chat(turns=5)
    first = await take(client, {"one.jsonl": short})
    again = await take(client, {"renamed.jsonl": short})
    assert again["things"][0]["state"] == "known" and again["sessions"] == first["sessions"]
    dry = await take(client, {"one.jsonl": long}, dry_run="1")
    assert dry["things"][0]["state"] == "grown"
    grown = await take(client, {"one.jsonl": long})
    assert grown["things"][0]["state"] == "grown" and grown["sessions"] == first["sessions"]
    tree = (await client.get(f"/api/sessions/{first['sessions'][0]}/tree")).json["nodes"]
    assert len(tree) == 1 + 10
    reply = await play_on(client, long, "On.")
    assert reply.session == first["sessions"][0]
    assert (await client.post("/api/drain")).json["settled"]
    assert (await client.get("/api/verify")).json["findings"] == []


async def test_a_dry_run_writes_nothing(client: Client, tmp_path: Path) -> None:
    files = {"one.jsonl": samples.st_chat(), "card.png": samples.card_png(samples.card_v2())}
    found = await take(client, files, dry_run="1")
    assert found["dry_run"] and [each["state"] for each in found["things"]] == ["new", "new"]
    assert found["sessions"] == [] and found["worlds"] == ["Ysolde"]
    assert (await client.get("/api/sessions")).json["sessions"] == []
    assert not (tmp_path / "worlds").exists()


async def test_hidden_messages_leave_a_gap(client: Client) -> None:
    rows = [json.loads(line) for line in samples.st_chat(turns=5).decode().split("\n")]
    for row in rows[4:6]:
        row["is_system"] = True
    raw = samples.jsonl(*rows)
    (thing,) = (await take(client, {"one.jsonl": raw}))["things"]
    reply = await play_on(client, raw, "On.")
    assert reply.session == thing["session"]
    assert len(await client.turns(reply.session)) == 6


async def test_a_group_is_found_member_by_member(client: Client) -> None:
    def said(name: str, text: str) -> dict[str, Any]:
        return samples.message(name, text)

    rows = [
        said("Tamsin", '*Fog.* "You are late."'),
        said("Ysolde", '*Rain.* "So are you."'),
        samples.message("Alex", "Good evening, both of you.", user=True),
        said("Tamsin", '*The lamp flickers.* "I hear you," she says, and turns to the wall.'),
        said("Ysolde", "She counts the coins twice and says nothing at all about them."),
    ]
    raw = samples.jsonl(*rows)
    found = await take(client, {"group.jsonl": raw})
    assert found["things"][0]["counts"]["turns"] == 2
    sent = [
        {"role": "user" if row["is_user"] else "assistant",
         "content": row["mes"] if row["is_user"] else f"{row['name']}: {row['mes']}"}
        for row in rows
    ]  # fmt: skip
    nudge = {"role": "system", "content": "[Write the next reply only as Tamsin.]"}
    answer = await client.chat([*sent, {"role": "user", "content": "Is the road open?"}, nudge])
    assert answer.session == found["sessions"][0]
    assert len(await client.turns(answer.session)) == 3


@pytest.mark.parametrize(
    ("name", "turns"),
    [("risuchat.json", 2), ("ooba.json", 1), ("kobold.json", 2), ("agnai_chat.json", 1), ("openai.json", 1)],
)
async def test_chats_of_others_are_found(client: Client, name: str, turns: int) -> None:
    raw, _ = samples.ALL[name]
    found = await take(client, {name: raw})
    chat: Any = read_file(name, raw).found[0].record
    sent = [{"role": each.role, "content": each.text} for each in chat.messages]
    answer = await client.chat([*sent, {"role": "user", "content": "And then I wait for the night."}])
    assert answer.session == found["sessions"][0]
    assert len(await client.turns(answer.session)) == turns + 1


async def test_a_card_becomes_a_world_that_its_chat_is_played_in(client: Client, tmp_path: Path) -> None:
    files = {
        "data/chats/Ysolde/one.jsonl": samples.st_chat(),
        "data/characters/y.png": samples.card_png(samples.card_v2()),
        "data/worlds/Eldoria.json": samples.plain(samples.world_info()),
    }
    found = await take(client, {"user.zip": samples.zipped(files)})
    assert found["worlds"] == ["Ysolde"]
    by_kind = {each["kind"]: each for each in found["things"]}
    assert by_kind["sillytavern_chat"]["world"] == "Ysolde"
    assert by_kind["world_info"]["state"] == "read"
    assert by_kind["card"]["counts"] == {"entries": 4, "greetings": 3, "assets": 1}
    folder = tmp_path / "worlds" / "Ysolde"
    assert {path.name for path in folder.iterdir()} == {
        "WORLD.md", "CHARACTERS.md", "LOREBOOK.md", "IMPORTED.json", "assets"}  # fmt: skip
    assert "The gate is shut." in (folder / "LOREBOOK.md").read_text()
    session = (await client.get(f"/api/sessions/{found['sessions'][0]}")).json
    assert session["world"] == "Ysolde"
    (folder / "LOREBOOK.md").write_text("## Mine\n- type: concept\n- layer: A1\n\nChanged by its author.\n")
    again = await take(client, {"user.zip": samples.zipped(files)})
    assert again["worlds"] == [] and {each["state"] for each in again["things"]} == {"known", "read"}
    assert "Changed by its author." in (folder / "LOREBOOK.md").read_text()


async def test_what_cannot_be_taken_is_said(client: Client) -> None:
    answer = await client.post("/api/import", data=b"<html>", params={"name": "page.html"})
    assert answer.status == 400 and "web page" in answer.error["message"] and "page.html" in answer.error["message"]
    answer = await client.post("/api/import", data=samples.st_chat(), params={"world": "nowhere"})
    assert answer.status == 400 and "nowhere" in answer.error["message"]
    found = await take(client, {"a.txt": b"hello", "one.jsonl": samples.st_chat()})
    assert [each["file"] for each in found["refused"]] == ["a.txt"] and len(found["things"]) == 1
    form = FormData()
    form.add_field("x", "")
    answer = await client.post("/api/import", data=form)
    assert answer.status == 400


def sent_to_model(upstream: Upstream) -> str:
    return "\n".join(str(message["content"]) for message in upstream.requests[-1].messages)


async def test_lore_is_told_by_its_rules_and_not_twice(client: Client, upstream: Upstream) -> None:
    lore = [
        {"keys": ["crypt"], "content": "The crypt below holds {{user}}'s grandmother, asleep.", "enabled": True,
         "extensions": {"sticky": 2, "cooldown": 4}, "insertion_order": 1},
        {"keys": ["tower"], "content": "The tower leans a little more each winter.", "enabled": True,
         "extensions": {"probability": 0, "useProbability": True}, "insertion_order": 2},
    ]  # fmt: skip
    card = samples.card_v2(character_book={"entries": lore})
    await take(client, {"card.json": samples.plain(card)})
    system = {"role": "system", "content": "Write Ysolde's next reply in a fictional chat between Ysolde and Alex."}
    history = [system, {"role": "user", "content": "I look at the crypt and the tower."}]
    told = "The crypt below holds"
    seen = []
    for turn in range(5):
        upstream.then(says(f"The night goes on and on in this long reply, number {turn}, and no bell rings."))
        answer = await client.chat(history)
        seen.append(sent_to_model(upstream).count(told))
        words = "And the crypt?" if turn == 3 else "I walk on and on."
        history += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": words}]
        assert "leans a little" not in sent_to_model(upstream)
    assert seen == [1, 0, 0, 0, 1], "sticky for the rest of its turn's messages, then it rests"
    card_text = {**system, "content": f"{system['content']}\nThe crypt below holds Alex's  grandmother, asleep."}
    twice = [card_text, {"role": "user", "content": "A new day. I look at the crypt again."}]
    await client.chat(twice, headers={"X-SAGA-Session": "another"})
    assert sent_to_model(upstream).count(told) == 1, "the client tells it itself"


async def test_the_card_that_the_frontend_sends_is_not_told_by_saga(client: Client, upstream: Upstream) -> None:
    await take(client, {"card.json": samples.plain(samples.card_v2())})
    said = "Write Ysolde's next reply in a fictional chat between Ysolde and Alex."
    messages = [{"role": "system", "content": said}, {"role": "user", "content": "Good evening."}]
    answer = await client.chat(messages)
    assert "keeps the salt gate" not in sent_to_model(upstream), "the frontend sends it"
    session = (await client.get(f"/api/sessions/{answer.session}")).json
    assert session["world"] == "Ysolde"
    await take(client, {"card.json": samples.plain(samples.card_v2(name="Tamsin"))}, tell_card="1")
    messages[0]["content"] = "Write Tamsin's next reply in a fictional chat between Tamsin and Alex."
    await client.chat(messages)
    assert "keeps the salt gate" in sent_to_model(upstream)


async def test_out_again(client: Client) -> None:
    raw = samples.st_chat(turns=4)
    found = await take(client, {"one.jsonl": raw, "card.json": samples.plain(samples.card_v2())})
    session = found["sessions"][0]
    written = await client.get(f"/api/sessions/{session}/export", params={"format": "sillytavern"})
    assert written.status == 200
    again = await take(client, {"written.jsonl": written.raw})
    assert (again["things"][0]["state"], again["sessions"]) == ("known", [session])
    refused = await client.get(f"/api/sessions/{session}/export", params={"head": "x"})
    assert refused.status == 400
    for form, kind in (("card", "card"), ("lorebook", "lorebook_v3")):
        written = await client.get("/api/library/Ysolde/export", params={"format": form})
        assert written.status == 200
        (thing,) = (await take(client, {"x": written.raw}, dry_run="1"))["things"]
        assert thing["kind"] == kind
    assert (await client.get("/api/library/nobody/export")).status == 404


async def test_large_files_come_in_one_form(client: Client) -> None:
    """More than a stream holds before it would have its connection wait."""
    files = {f"{number}.jsonl": samples.st_chat(turns=3, tail=f" {number}" * 20_000) for number in range(4)}
    assert all(len(raw) > 1 << 17 for raw in files.values())
    found = await take(client, files, dry_run="1")
    assert [(thing["file"], thing["state"]) for thing in found["things"]] == [(name, "new") for name in files]


async def test_a_chat_that_was_taken_in_without_a_key_is_found_by_the_frontends(
    client: Client, upstream: Upstream
) -> None:
    """The page has no key, and the frontend sends any."""
    upstream.then(*(says(f"Somebody says {word}, and the lamp goes out.") for word in ("yes", "no", "perhaps")))
    greeting, raw = samples.st_chat(turns=1, tail=" alike"), samples.st_chat(turns=5)
    key = {"Authorization": "Bearer any-text"}
    other = [*as_sillytavern(greeting, upto=1), {"role": "user", "content": "I turn back at once."}]
    (thing,) = (await take(client, {"one.jsonl": raw}))["things"]
    session = thing["session"]
    began = (await client.chat(other, headers=key)).session  # the key's own session, with the same greeting
    assert began != session
    before = (await client.get(f"/api/sessions/{session}")).json["head"]
    told = as_sillytavern(raw)
    for words in ("And what now?", "And then?"):
        told.append({"role": "user", "content": words})
        reply = await client.chat(told, headers=key)
        assert (reply.session, reply.headers["X-SAGA-Parent"]) == (session, before)
        before = reply.headers["X-SAGA-Turn"]
        told.append({"role": "assistant", "content": reply.json["choices"][0]["message"]["content"]})
    assert {each["id"] for each in (await client.get("/api/sessions")).json["sessions"]} == {session, began}


async def test_a_chat_that_was_played_without_a_key_is_no_other_keys(client: Client) -> None:
    told = [{"role": "user", "content": "I walk along the quay and count the boats there."}]
    first = await client.chat(told)
    told.append({"role": "assistant", "content": first.json["choices"][0]["message"]["content"]})
    told.append({"role": "user", "content": "I go on to the mill."})
    assert (await client.chat(told, headers={"Authorization": "Bearer any-text"})).session != first.session
    assert (await client.chat(told)).session == first.session


async def test_where_keys_are_set_no_chat_is_nobodys(upstream: Upstream, serve: Serve) -> None:
    provider = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(providers=provider, server={"api_keys": ["mine"], "chat_keys": ["hers"]}) as client:
        raw, mine = samples.st_chat(turns=5), {"Authorization": "Bearer mine"}
        form = FormData()
        form.add_field("file", raw, filename="one.jsonl")
        answer = await client.post("/api/import", data=form, params={"owner": ""}, headers=mine)
        session = answer.json["things"][0]["session"]
        words = [*as_sillytavern(raw), {"role": "user", "content": "And what now?"}]
        hers = await client.chat(words, headers={"Authorization": "Bearer hers"})
        assert hers.session != session


async def test_where_keys_are_left_no_chat_is_nobodys(client: Client) -> None:
    raw = samples.st_chat(turns=5)
    form = FormData()
    form.add_field("file", raw, filename="one.jsonl")
    session = (await client.post("/api/import", data=form)).json["things"][0]["session"]
    words = [*as_sillytavern(raw), {"role": "user", "content": "And what now?"}]
    access = await tenancy_of(client.server.saga).bring_in()
    _, key = await access.keys.create("hers")  # left behind by settings that had keys
    hers = await client.chat(words, headers={"Authorization": f"Bearer {key}"})
    assert hers.status == 200 and hers.session != session


@pytest.mark.parametrize("lines", [b"X: y\r\n" * 200, b"X: " + b"y" * 20_000 + b"\r\n", b"no header\r\n"])
async def test_headers_of_a_part_that_cannot_be_read(client: Client, lines: bytes) -> None:
    raw = b"--b\r\n" + lines + b"\r\nx\r\n--b--\r\n"
    answer = await client.post("/api/import", data=raw, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status == 400 and "part 1" in answer.error["message"]


async def test_empty_parts_count(client: Client) -> None:
    raw = b"--b\r\n\r\n\r\n" * 10_001 + b"--b--\r\n"
    answer = await client.post("/api/import", data=raw, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status == 400 and "more than 10,000 parts" in answer.error["message"]

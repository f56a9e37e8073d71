"""Corrections of every kind with every odd value: taken whole or refused with the field's name, and the story goes on.

After all of them the views are equal to the journal, every page can be shown, and the next turn plays.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.curation import FIELDS
from saga_core.curation.corrections import _FORMS
from saga_core.errors import BadInput, NotFound
from tests.core.frontend import Frontend, memory_config
from tests.server.client import Client

ODD = (
    *(
        "",
        " ",
        "\0",
        "\x1b[31m",
        "\u200b",
        "\u202e",
        "x" * 300,
        "x" * 2_001,
        "-1",
        "0",
        "+5",
        "999999999",
        "9999999999",
    ),
    *("1e9", "nan", "１２", "true", "null", "../x", "a@b", "[[saga:session=x]]", "[SAGA: x]", "```state\nhp: 3\n```"),
    *("a" + "\u0301\u0316" * 900, "아리아", "player", "a\nb", "\ud800", "dead", "alive", "hp", "is_player", "name"),
)
USUAL = {"who": "아리아", "from": "아리아", "one": "아리아", "into": "아리아", "of": "아리아", "to": "이든", "hp": "5"}
SLOW = 0.5


async def goes_on(saga: Saga, chat: Frontend, session: str) -> None:
    """The next turn, everything that is shown, and a verification."""
    assert (await chat.say("나는 돌아본다.", "바람이 분다.", hp_change=-1)).session.id == session
    await saga.drain(20)
    for shown in (saga.describe, saga.views.pages, saga.views.lore, saga.memory.curated, saga.memory.changes):
        assert await shown(session) is not None
    for each in await saga.memory.entities(session):
        await saga.memory.entity(session, each["id"])
    assert (await saga.maintenance.verify()).equal
    assert not (await saga.status())["degraded"]


async def corrected(saga: Saga, session: str, kind: str, fields: Mapping[str, str]) -> bool:
    """Whether it was taken. What is refused names a field, and changes nothing."""
    before = await saga.memory.changes(session)
    gc.disable()  # a collection goes through all that the tests before have left, and is not the correction's time
    began = time.thread_time()
    try:
        await saga.memory.correct(session, kind, fields)
    except (BadInput, NotFound) as error:
        assert await saga.memory.changes(session) == before
        name = str(error).partition(":")[0]
        assert name in (*FIELDS, kind, "kind"), str(error)
        return False
    finally:
        took = time.thread_time() - began
        gc.enable()
        assert took < SLOW
    assert len(await saga.memory.changes(session)) == len(before) + 1
    return True


@pytest.mark.parametrize("kind", _FORMS)
async def test_every_field_of_a_correction_takes_every_value_or_tells_why_not(kind: str) -> None:
    form = _FORMS[kind]
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        session = (await chat.say("나는 간다.", "아리아가 걷는다.", hp_change=-1)).session.id
        usual = {name: USUAL.get(name, "광장") for name in form.needs}
        for name in (*form.needs, *form.takes):
            for odd in ODD:
                await corrected(saga, session, kind, {**usual, name: odd})
        await goes_on(saga, chat, session)


@pytest.mark.parametrize(("name", "value"), [("hp", "many"), ("max_hp", "-5"), ("is_player", "no")])
async def test_what_saga_counts_with_is_no_text(name: str, value: str) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        session = (await chat.say("나는 간다.", "아리아가 걷는다.")).session.id
        with pytest.raises(BadInput, match=f"attribute: '{name}' is no text; give "):
            await saga.memory.correct(session, "attribute", {"who": "player", "attribute": name, "value": value})


@pytest.mark.parametrize("name", ["name", "Aliases", "location", "place", "id", "kind", "player", "persona"])
async def test_an_attribute_is_not_called_like_a_property_of_sagas(name: str) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        session = (await chat.say("나는 간다.", "아리아가 걷는다.")).session.id
        with pytest.raises(BadInput, match=f"attribute: '{name}' is a property of SAGA's; give a"):
            await saga.memory.correct(session, "attribute", {"who": "player", "attribute": name, "value": "x"})
        await saga.memory.correct(session, "attribute", {"who": "player", "attribute": name})


_fields = st.dictionaries(st.sampled_from(sorted(FIELDS)), st.sampled_from(ODD) | st.text(max_size=30), max_size=5)
_changes = st.lists(st.tuples(st.sampled_from([*_FORMS, "", "x", "\0"]), _fields), min_size=1, max_size=12)


@pytest.mark.deep
@settings(deadline=None, max_examples=200)
@given(_changes)
def test_whatever_is_corrected_the_story_goes_on(changes: list[tuple[str, dict[str, str]]]) -> None:
    async def run() -> None:
        async with Saga.open(memory_config()) as saga:
            chat = Frontend(saga)
            session = (await chat.say("나는 간다.", "아리아가 걷는다.", hp_change=-1)).session.id
            for kind, fields in changes:
                await corrected(saga, session, kind, fields)
            await goes_on(saga, chat, session)

    asyncio.run(run())


_SENT = ["POST fork", "POST changes", "POST prune", "POST reextract", "POST timelines/x", "DELETE timelines/x"]
_SENT += ["DELETE changes/x", "POST changes/x"]
_BODIES = (
    *(b"", b"{", b"[]", b"null", b'"x"', b"7", b"[" * 5_000, b"\xff\xfe", b'{"kind": 7}', b'{"kind": null}'),
    *(b'{"kind": "note", "text": ["x"]}', b'{"kind": "note", "text": "x", "turn": "\\u0000"}'),
    *(b'{"name": "a@b", "turn": "../x"}', b'{"turn": "x"}', b'{"verdict": "maybe"}', b'{"kind": "\\u0000"}'),
)


async def test_requests_that_change_a_session_are_answered_with_a_clear_error() -> None:
    async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
        said = [{"role": "user", "content": "나는 광장으로 간다."}]
        assert (await client.chat(said)).status == 200
        (session,) = (await client.get("/api/sessions?fleeting=all")).json["sessions"]
        before = (await client.get(f"/api/sessions/{session['id']}/tree")).raw
        for sent in _SENT:
            method, path = sent.split()
            for body in _BODIES:
                for query in ("", "?dry_run=x", "?turn=%00"):
                    found = await client.send(method, f"/api/sessions/{session['id']}/{path}{query}", data=body)
                    assert 400 <= found.status < 500 or (path == "reextract" and found.status == 501), (sent, body)
                    if found.status >= 400:
                        assert found.json["error"]["message"]
        assert (await client.get(f"/api/sessions/{session['id']}/tree")).raw == before
        assert (await client.get("/api/verify")).json["equal"]
        assert (await client.chat(said)).status == 200

"""docs/write-a-door.md: its door works as the page says, installed beside SAGA's own."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from attrs import fields

from saga_server.http import ClientRequest, Door, Incoming, ReplyFormat, door, serving
from saga_server.process import Helper
from tests.docs.pages import page
from tests.server.client import Client

PAGE = page("docs/write-a-door.md")


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    (block,) = (each for each in PAGE.blocks if each.language == "python")
    (tmp_path / "saga_say.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    ours = list(door.entry_points(group=door.GROUP))
    assert 'say = "saga_say:DOOR"' in PAGE.text
    monkeypatch.setattr(door, "entry_points", lambda group: [*ours, EntryPoint("say", "saga_say:DOOR", group)])
    async with Client.of({"server": {"max_messages": 3, "max_body_mb": 4, "max_text_mb": 4}}, {}) as found:
        yield found
    sys.modules.pop("saga_say", None)


async def test_the_door_plays_turns_of_one_story(client: Client) -> None:
    assert (await client.get("/api/status")).json["doors"]["say"] == ""
    first = await client.post("/say", json={"say": ["I look around."]})
    assert first.status == 200 and list(first.json) == ["reply"]
    streamed = await client.post("/say", json={"say": ["I look around.", first.json["reply"], "On."], "stream": True})
    assert streamed.session == first.session
    assert streamed.headers["Content-Type"].startswith("text/event-stream")
    *pieces, end = streamed.events
    turns = await client.turns(first.session)
    assert [turn["reply"] for turn in turns] == [first.json["reply"], "".join(piece["piece"] for piece in pieces)]
    assert end == {"end": "stop"}
    named = await client.post("/s/tale/w/ersia/say", json={"say": ["I look around."]})
    assert (await client.get("/api/sessions/tale")).json["id"] == named.session


async def test_what_is_wrong_is_said(client: Client) -> None:
    assert (await client.post("/say", json={})).error["message"] == "say: missing or empty; send a list of texts"
    assert (await client.post("/say", json={"say": ["x"] * 4})).status == 413
    assert (await client.get("/say")).status == 405
    assert "/say" in (await client.get("/nowhere")).error["message"]


async def test_a_large_request_is_read_in_another_process(client: Client) -> None:
    """The helper process imports the door's module by its name."""
    read = importlib.import_module("saga_say").read_say
    helper = Helper(20.0, ("saga_server.http.serving",))
    try:
        for _ in range(2):  # the process is started beside the first piece of work, which a thread does
            found = await helper.run(serving._read, b'{"say": ["On."]}', read, Incoming(path="/say"), waits=True)
        assert helper.process is not None
    finally:
        await helper.aclose()
    assert found.messages == [{"role": "user", "content": "On."}]
    assert found.reply("m").text(0, "Rain.") == b'data: {"piece": "Rain."}\n\n'


def test_the_page_lists_what_there_is() -> None:
    """Every field of a door, a request and its reading, and every method of a format, and no other."""
    names = {name for row in PAGE.rows for name in re.findall(r"`(\w+)", row[0])}
    ours = {each.name for cls in (Door, ClientRequest, Incoming) for each in fields(cls)}
    ours |= {name for name, _ in inspect.getmembers(ReplyFormat, inspect.isfunction) if not name.startswith("_")}
    ours |= {name for name, _ in inspect.getmembers(Incoming, inspect.isfunction) if not name.startswith("_")}
    assert names == ours - {"max_messages", "max_text_mb"}


def test_every_name_of_the_page_can_be_imported() -> None:
    face = importlib.import_module("saga_server.http")
    for name in ("PathPattern", "Failure", "ModelFormat", "counts", "list_models", "received", "relayed", "read_text"):
        assert f"`{name}" in PAGE.text and getattr(face, name) is not None

"""The log's end and the doctor, over HTTP; bills a page at a time."""

from __future__ import annotations

import logging

from saga_server.process.logs import PRIVATE
from tests.server.client import Client, words
from tests.server.conftest import Serve

KEY = "sk-a-key-of-sixteen-letters"


async def test_the_end_of_the_log_holds_no_key_and_nothing_of_a_story(serve: Serve) -> None:
    async with serve(api_keys={"openai": KEY}, models={"narration": "saga-offline"}) as client:
        log = logging.getLogger("saga.server")
        log.warning("asked with %s\x1b[2J", KEY)
        log.warning("a story says this", extra=PRIVATE)
        found = (await client.get("/api/log")).json
        texts = [each["text"] for each in found["lines"]]
        assert "asked with (key)\\x1b[2J" in texts
        assert not any("a story says" in text for text in texts)
        log.warning("later")
        later = (await client.get(f"/api/log?after={found['next']}")).json
        assert [(each["text"], each["level"]) for each in later["lines"]] == [("later", "warning")]
        assert (await client.get("/api/log?limit=1")).json["lines"] == later["lines"]


async def test_nobody_listens_to_the_log_when_the_server_is_gone(serve: Serve) -> None:
    before = list(logging.getLogger().handlers)
    async with serve():
        assert len(logging.getLogger().handlers) == len(before) + 1
    assert logging.getLogger().handlers == before


async def test_the_doctor_names_what_is_wrong(offline: Client) -> None:
    found = (await offline.post("/api/doctor")).json
    assert found["good"] and {"state", "graph", "vector", "cache", "world harrow"} <= {
        each["about"] for each in found["found"]
    }
    offline.server.saga.counters.degrade("testing", "somebody unplugged it")
    found = (await offline.post("/api/doctor")).json
    assert not found["good"]
    assert [each["text"] for each in found["found"] if not each["good"]] == ["somebody unplugged it"]


async def test_bills_come_a_page_at_a_time_the_latest_first(offline: Client) -> None:
    said = ["I look around."]
    for at in range(4):
        reply = await offline.chat(words(*said), path="/s/s/v1/chat/completions")
        said += [reply.text, f"I look around again, for the {at}th time."]
    where = f"/api/sessions/{reply.session}"
    whole = (await offline.get(f"{where}/cost?turns=1")).json
    assert [each["calls"] for each in whole["models"].values()] == [4]
    first = (await offline.get(f"{where}/bills?limit=3")).json
    rest = (await offline.get(f"{where}/bills?limit=3&cursor={first['next']}")).json
    assert [*first["bills"], *rest["bills"]] == whole["turns"][::-1] and rest["next"] is None
    assert (await offline.get(f"{where}/bills?cursor=nothing")).status == 404

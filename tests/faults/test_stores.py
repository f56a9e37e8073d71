"""A store or the embedder breaks in mid-play: what the player saw, and that everything catches up, in order, once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import define, field

from saga_core.play import play as engine
from saga_core.storage import journal_guard, late_calls, opening
from saga_server.admin import server_handlers
from saga_server.http import exchange
from tests.faults.breakable import KINDS, MODES, Breakable, Mode, breakable
from tests.server.client import Client, Reply, words


@define
class Player:
    """Plays on, whatever happens, and keeps what was seen."""

    client: Client
    chat: list[str] = field(factory=list)
    replies: list[Reply] = field(factory=list)

    async def says(self, said: str) -> Reply:
        reply = await self.client.chat(words(*self.chat, said))
        assert reply.status == 200 and reply.text, reply.raw
        self.chat += [said, reply.text]
        self.replies.append(reply)
        return reply

    @property
    def told(self) -> str:
        """What the last reply said of trouble."""
        headers = self.replies[-1].headers
        return f"{headers.get('X-SAGA-Notice', '')} {headers.get('X-SAGA-Late', '')}".strip()


async def settle(client: Client) -> None:
    """Everything that waits is tried again until it is done."""
    saga = client.server.saga
    for _ in range(5):
        await saga.background.retry()
        await client.post("/api/drain")
        if not await saga.background.jobs():
            return
    raise AssertionError(f"still waiting: {await saga.background.jobs()}")


async def caught_up(player: Player) -> None:
    """All that the player saw is known, in order, once; and every view is right."""
    await settle(player.client)
    last = await player.says("마지막이다.")
    await settle(player.client)
    turns = await player.client.turns(last.session)
    assert [text for turn in turns for text in (turn["user"], turn["reply"])] == player.chat
    verdict = await player.client.server.saga.maintenance.verify()
    assert [str(each) for each in verdict.findings] == []
    listed = (await player.client.get("/api/sessions")).json["sessions"]
    assert [each["id"] for each in listed] == [last.session], "it is one session"


@contextmanager
def impatient(client: Client, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What waits for a store that hangs waits a moment only; what is well has its time, however busy the machine is."""
    with monkeypatch.context() as patch:
        if mode == "hang":
            patch.setattr(engine, "ANSWER_SECONDS", 0.5)
            patch.setattr(exchange, "COMMIT_SECONDS", 0.3)
            patch.setattr(client.server.saga.background.views, "patience", 0.3)
        yield


SEEN: dict[tuple[str, Mode], str] = {
    ("state", "before"): "journal.read",
    ("state", "after"): "journal.read",
    ("state", "hang"): "journal.read",
}
"""What the player is told, where it is told in a header. Elsewhere the reply is as ever, with less context at most."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_story_goes_on(kind: str, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"recall": {"deadline_ms": 60}, "session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            for number in range(3):
                await player.says(f"{number}. 숲으로 간다.")
            await settle(client)
            part: Breakable = parts[kind]
            part.breaks(mode)
            with impatient(client, mode, monkeypatch):
                for number in range(4):
                    await player.says(f"{number}. 귀를 기울인다.")
                    assert SEEN.get((kind, mode), "") in player.told
                    assert client.server.saga.background.views.depth() <= len(player.replies) + 1, "a turn waits once"
            assert part.struck, "it was asked"
            part.recovers()
            await caught_up(player)
            assert (await client.get("/readyz")).status == 200
            status: dict[str, Any] = (await client.get("/api/status")).json
            assert status["degraded"] == {}, "nothing is degraded any more"
            assert status["work"]["queued"] == 0


@pytest.mark.parametrize("mode", ["before", "after", "hang"])
async def test_the_journal_cannot_be_written(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read: the player has the whole context, and is told that this turn is not recorded."""
    with breakable(monkeypatch) as parts:
        async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            await player.says("숲으로 간다.")
            await settle(client)
            parts["state"].breaks(mode, "commit")
            with impatient(client, mode, monkeypatch):
                await player.says("귀를 기울인다.")
            assert "not recorded" in player.told
            if mode == "before":
                reply = await client.chat(words("나는 새 길을 간다."))
                assert "not recorded" in reply.headers["X-SAGA-Notice"], "at each turn"
                assert "X-SAGA-Turn" not in reply.headers
            parts["state"].recovers()
            await caught_up(player)


async def test_a_stream_tells_that_it_is_not_recorded_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its headers are sent by then: a comment says it, which clients pass over."""
    with breakable(monkeypatch) as parts:
        async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
            begun = await client.chat(words("숲으로 간다."))
            parts["state"].breaks("before", "commit")
            streamed = await client.chat(words("숲으로 간다.", begun.text, "귀를 기울인다."), stream=True)
            told = streamed.raw.decode().split("\n\n")
            assert [each for each in told if each.startswith(": X-SAGA-Notice: this turn is not recorded: ")]
            assert told[-2:] == ["data: [DONE]", ""]


async def test_a_commit_that_is_never_answered_costs_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named while it hangs; its session is played and recorded on, and so is what the player saw."""
    with breakable(monkeypatch) as parts:
        async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            await player.says("숲으로 간다.")
            await settle(client)
            monkeypatch.setattr(late_calls, "LATE_SECONDS", 0.1)
            monkeypatch.setattr(exchange, "COMMIT_SECONDS", 0.3)
            parts["state"].breaks("hang", "commit")
            with monkeypatch.context() as patch:
                patch.setattr(journal_guard, "ANSWER_SECONDS", 1.0)
                await player.says("귀를 기울인다.")
            assert "this turn is not recorded: recording takes longer than 0.3 s" in player.told
            parts["state"].mode = "well"  # but the call that hung is never answered
            ready = await client.get("/readyz")
            assert ready.status == 200 and ready.json["degraded"] == ["storage.state.hangs"]
            told = (await client.get("/api/status")).json["degraded"]
            assert "has not answered `commit`" in told["storage.state.hangs"]
            await caught_up(player)
            assert (await client.get("/readyz")).json["degraded"] == []


async def test_everything_breaks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"recall": {"deadline_ms": 60}, "session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            await player.says("숲으로 간다.")
            await settle(client)
            for part in parts.values():
                part.breaks("before")
            await player.says("귀를 기울인다.")
            assert "journal.read" in player.told
            assert await client.metric('saga_commits_total{result="done"}') == 1
            assert await client.metric('saga_commits_total{result="failed"}') == 1, "it was told, and not recorded"
            assert (await client.get("/readyz")).status in (200, 503)
            for part in parts.values():
                part.recovers()
            await caught_up(player)


async def test_the_status_answers_while_the_journal_hangs_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            last = await player.says("숲으로 간다.")
            await settle(client)
            monkeypatch.setattr(server_handlers, "_STATUS_SECONDS", 0.2)
            monkeypatch.setattr(journal_guard, "ANSWER_SECONDS", 0.4)
            parts["state"].breaks("hang", "get", "scan")
            async with asyncio.timeout(10):
                status = await client.get("/api/status")
                assert status.status == 200 and status.json["active_sessions"] is None
                assert status.json["degraded"] == {
                    "journal.read": "storage.state: the journal (memory) did not answer within 0.2 s"
                }

                async def never(**_: object) -> Any:
                    await asyncio.Event().wait()

                with monkeypatch.context() as patch:
                    patch.setattr(opening, "CHECK_SECONDS", 0.1)
                    patch.setattr(parts["graph"].inner, "check", never)
                    stores = (await client.get("/api/status")).json["stores"]
                    assert not stores["graph"]["ok"] and stores["graph"]["detail"] == "no answer within 0.1 s"
                    assert stores["vector"]["ok"]
                client.server.saga.parts.live.forget(last.session)
                for path in ("", f"/{last.session}", f"/{last.session}/turns"):
                    found = await client.get(f"/api/sessions{path}")
                    assert found.status == 503 and b"(memory) did not answer within 0.4 s" in found.raw
            parts["state"].recovers()
            assert (await client.get("/api/status")).json["active_sessions"] == 1


@pytest.mark.parametrize("mode", ["before", "after"])
async def test_a_disk_that_is_full_costs_no_memory(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"session": {"default_world": "ersia"}}, {}) as client:
            player = Player(client)
            for number in range(3):
                await player.says(f"{number}. 숲으로 간다.")
            await settle(client)
            session, saga = player.replies[-1].session, client.server.saga
            parts["state"].breaks(mode, "commit")
            for number in range(3):
                begun = await saga.begin(words(*player.chat, f"{number}. 귀를 기울인다."), owner="")
                assert begun.session.id == session and begun.context.text, "it has the memory of what is recorded"
                await player.says(f"{number}. 귀를 기울인다.")
                assert "not recorded" in player.told and "without memory" not in player.told
                assert "journal.read" not in saga.counters.degraded
            if mode == "before":
                assert len(await client.turns(session)) == 3
            parts["state"].recovers()
            await caught_up(player)
            assert (await client.get("/api/status")).json["degraded"] == {}

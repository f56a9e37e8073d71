"""The offline narrator and SAGA's real prompt: what the engine tells is what the narrator reads, and plays by."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from saga_backends.chat.offline import MODEL, OfflineNarrator
from saga_backends.chat.offline.request import hear_request
from saga_backends.chat.offline.scene import Scene
from saga_core import Saga
from saga_core.ports import ChatRequest, TextPart


@define
class Chat:
    """A chat without a server: the engine, the narrator, and the history between them."""

    saga: Saga
    narrator: OfflineNarrator
    history: list[dict[str, str]] = field(factory=list)
    scene: Scene = field(factory=Scene)
    """What the narrator was told last."""
    state: dict[str, Any] = field(factory=dict)
    """What was true before the last reply."""

    async def say(self, words: str) -> str:
        messages = [*self.history, {"role": "user", "content": words}]
        turn = await self.saga.begin(messages)
        self.scene = hear_request(turn.plan).scene
        self.state = await self.saga.describe(turn.session.id, turn.parent.id)

        async def texts() -> AsyncIterator[str]:
            async for part in self.narrator.stream(ChatRequest(turn.plan, MODEL)):
                if isinstance(part, TextPart):
                    yield part.text

        reply = "".join([text async for text in turn.visible(texts())])
        await turn.commit()
        await self.saga.drain(10)
        self.history = [*messages, {"role": "assistant", "content": reply}]
        return reply


@pytest.fixture
async def chats(tmp_path: Path) -> AsyncIterator[Any]:
    opened: list[Saga] = []

    async def make(world: str) -> Chat:
        config = {
            "storage": {"profile": "memory", "path": str(tmp_path / world)},
            "session": {"default_world": world},
            "recall": {"deadline_ms": 5_000},
        }
        saga = await Saga.open(config)
        opened.append(saga)
        return Chat(saga, OfflineNarrator(), [{"role": "assistant", "content": f"{world}."}])

    yield make
    for saga in opened:
        await saga.aclose()


def agree(scene: Scene, state: dict[str, Any]) -> None:
    """The narrator reads exactly what is true."""
    assert scene.told
    assert scene.player == state["player"]
    assert scene.place == state["location"]
    assert (scene.hp, scene.max_hp) == (state["hp"], state["max_hp"])
    assert dict(scene.inventory) == {item["name"]: item["quantity"] for item in state["inventory"]}
    assert set(scene.present) == set(state["npcs_present"])
    assert set(scene.dead) == set(state["dead"])
    assert scene.ways
    assert scene.lore


ERSIA = (
    "에르겐에게 인사한다.",
    "은화 여섯 닢을 주고 에르겐에게서 치유 물약 한 병을 산다.",
    "에르겐과 작별하고 어둠의 숲으로 간다.",
    "바르가를 공격한다.",
    "낡은 장검으로 바르가의 숨통을 끊는다.",
    "치유 물약을 마신다.",
    "주위를 둘러본다.",
)
HARROW = (
    "I greet Corin.",
    "I give Corin a dry biscuit.",
    "I say goodbye to Corin and walk into the Slakes.",
    "I go to the Hulk of the Patience.",
    "I attack Captain Vey.",
    "I kill Captain Vey with the sounding staff.",
    "I look around.",
)


@pytest.mark.parametrize(("world", "lines"), [("ersia", ERSIA), ("harrow", HARROW)])
async def test_what_is_told_is_what_is_true(chats: Any, world: str, lines: tuple[str, ...]) -> None:
    chat = await chats(world)
    for words in lines:
        await chat.say(words)
        agree(chat.scene, chat.state)
    assert chat.state["dead"]
    assert chat.state["problems"] == []


async def test_a_secret_is_told_by_those_who_know_it(chats: Any) -> None:
    chat = await chats("ersia")
    assert "은화 더미" not in await chat.say("마렌에게 우물 밑의 열쇠에 대해 묻는다.")
    assert "은화 더미" in await chat.say("에르겐에게 우물 밑의 열쇠에 대해 묻는다.")


async def test_bought_goods_leave_the_seller(chats: Any) -> None:
    chat = await chats("ersia")
    await chat.say("은화 여섯 닢을 주고 에르겐에게서 치유 물약 한 병을 산다.")
    graph = await chat.saga.views.graph((await chat.saga.sessions.list())[0].session.id)
    assert "에르겐 -OWNS (quantity 3)-> 치유 물약" in graph["words"]
    assert "에르겐 -OWNS (quantity 6)-> 은화" in graph["words"]
    assert "아리아 -OWNS (quantity 1)-> 치유 물약" in graph["words"]

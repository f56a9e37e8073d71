"""A restart changes no byte of the next prompt, and none of its breakpoints: what was learned of a client is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import StoreUnavailable
from saga_core.messages import Block
from saga_core.ports import Usage
from saga_core.state_block import BlockFields, ItemAmount
from saga_core.stores.state_kv import Batch
from tests.bench.cache.play import PlayClock
from tests.blocks import render_block

MODEL = "claude-sonnet-5-5"
RULES = "\n".join(f"{n}번째 규칙: 이야기꾼은 앞에서 말한 것을 지키고, 짧고 또렷하게 말한다." for n in range(24))
LORE = "Lore of the brass key: it opens what was shut, and shuts what was open. " * 4


@define
class Play:
    """A client whose prompt floats: a clock, lore that comes and goes, a note two messages from the end."""

    folder: Path
    window: int = 200_000
    floats: bool = True
    clock: PlayClock = field(factory=PlayClock)
    said: list[tuple[str, str]] = field(factory=list)
    sent: list[tuple[Block, ...]] = field(factory=list)
    saga: Saga | None = None

    async def start(self) -> None:
        config = load_config(
            {
                "storage": {"profile": "lite", "path": str(self.folder)},
                "session": {"default_world": "ersia"},
                "recall": {"deadline_ms": 10_000},
                "token_budget": {"total_context_max": self.window, "dynamic_context_max": 1_200, "md_cache_max": 800},
            }
        )
        self.saga = await Saga.open(config, clock=self.clock)

    async def stop(self) -> None:
        assert self.saga is not None
        await self.saga.aclose()

    def messages(self, words: str, number: int) -> list[dict[str, Any]]:
        minutes = int(self.clock.now() // 60) % 1_440
        time = f"\nThe clock shows {minutes // 60:02d}:{minutes % 60:02d}.\nNever speak for the player."
        system = [RULES + time if self.floats else RULES]
        if self.floats and number % 5 in (2, 3):
            system.append(LORE)
        dialogue = [{"role": role, "content": text} for role, text in [*self.said, ("user", words)]]
        dialogue.insert(0, {"role": "assistant", "content": "장이 서는 날, 광장이 소란하다."})
        dialogue.insert(1, {"role": "system", "content": "[Start a new chat]"})
        if self.floats:
            dialogue.insert(len(dialogue) - 2, {"role": "system", "content": f"[Note: scene {number // 2}]"})
        return [*({"role": "system", "content": text} for text in system), *dialogue]

    async def turn(self, number: int, *, swipe: bool = False) -> None:
        assert self.saga is not None
        if swipe:
            del self.said[-2:]
        words = f"나는 {number}번째로 숲을 걷는다. " + "나뭇잎이 발밑에서 바스락거린다. " * 3
        messages = self.messages(words, number)
        begun = await self.saga.begin(messages, session="play", model=MODEL, provider="anthropic")
        self.sent.append(begun.plan.blocks)
        fields = BlockFields(hp_change=-1, items_gained=(ItemAmount(f"구슬 {number}", 1),))
        told = f"{number}번째 대답{'을 다시 한다' if swipe else ''}. " + "숲이 조용하고 바람이 분다. " * 12
        begun.replies[0].feed(f"{told}\n\n{render_block(fields)}")
        begun.replies[0].finish()
        assert begun.planned is not None
        begun.billed(Usage(begun.planned.request.total * 11 // 10, 300), model=MODEL, provider="anthropic")
        await begun.commit()
        self.said += [("user", words), ("assistant", begun.replies[0].text)]
        await self.saga.background.drain_views(5)


async def played(play: Play, turns: int, *, restarts: set[int], pauses: dict[int, float]) -> list[tuple[Block, ...]]:
    await play.start()
    for number in range(1, turns + 1):
        play.clock.at += pauses.get(number, 20.0)
        await play.turn(number)
        if number % 4 == 3:
            play.clock.at += 20
            await play.turn(number, swipe=True)
        if number in restarts:
            await play.stop()
            await play.start()
    await play.stop()
    return play.sent


def before_the_last_breakpoint(blocks: tuple[Block, ...]) -> list[Block]:
    last = max((at for at, block in enumerate(blocks) if block.breakpoint), default=-1)
    return [evolve(block, breakpoint=None) for block in blocks[: last + 1]]


@pytest.mark.parametrize(
    ("window", "floats", "pauses"),
    [
        pytest.param(200_000, True, {}, id="floats", marks=pytest.mark.deep),
        pytest.param(200_000, False, {7: 400.0, 11: 40_000.0}, id="pauses"),
        pytest.param(7_000, True, {6: 400.0}, id="cut"),
    ],
)
async def test_a_restart_changes_nothing(tmp_path: Path, window: int, floats: bool, pauses: dict[int, float]) -> None:
    turns, restarts = 12, {2, 3, 5, 6, 7, 8, 10, 11}
    straight = await played(Play(tmp_path / "one", window, floats), turns, restarts=set(), pauses=pauses)
    again = await played(Play(tmp_path / "two", window, floats), turns, restarts=restarts, pauses=pauses)
    assert len(straight) == len(again) == turns + 3
    for at, (one, other) in enumerate(zip(straight, again, strict=True)):
        assert before_the_last_breakpoint(one), f"request {at} has a breakpoint"
        assert before_the_last_breakpoint(other) == before_the_last_breakpoint(one), f"request {at}"
        assert [block.breakpoint for block in other] == [block.breakpoint for block in one], f"request {at}"
        assert [block.lead for block in other] == [block.lead for block in one], f"what is relocated in request {at}"
    if window < 10_000:
        assert len(straight[-1]) < max(len(blocks) for blocks in straight), "the history was cut"


async def test_what_is_stored_is_small_and_holds_no_text(tmp_path: Path) -> None:
    play = Play(tmp_path)
    await play.start()
    for number in range(1, 31):
        play.clock.at += 20
        await play.turn(number)
    assert play.saga is not None
    session = (await play.saga.sessions.list())[0].session.id
    rows = await play.saga.stores.state.scan(("prompt", session))
    sizes = {key[2:]: len(raw) for key, raw in rows}
    assert sizes["memory",] < 16_000 and sizes["floating",] < 8_000
    assert sum(key[0] == "page" for key in sizes) <= 4
    told = b"".join(raw for key, raw in rows if key[2] != "page").decode()
    assert "숲" not in told and "brass" not in told
    await play.stop()


@pytest.mark.parametrize(
    "damage", [b"{", b'{"books":[{"provider":"x","model":"y","links":"!!"}]}', b'{"pinned":[["t",9]]}']
)
async def test_a_memory_that_is_lost_or_damaged_costs_a_write_and_no_turn(tmp_path: Path, damage: bytes) -> None:
    play = Play(tmp_path)
    await play.start()
    for number in range(1, 4):
        await play.turn(number)
    assert play.saga is not None
    session = (await play.saga.sessions.list())[0].session.id
    await play.saga.stores.state.commit(Batch({("prompt", session, "memory"): damage}))
    await play.stop()
    await play.start()
    await play.turn(4)
    assert "prompt.memory" in play.saga.counters.degraded
    pages = [[b.content for b in blocks if str(b.content).startswith("## ")] for blocks in play.sent]
    assert pages[0] == pages[-1], "the bills still name the pages"
    assert json.loads((await play.saga.stores.state.scan(("prompt", session)))[0][1])
    await play.stop()


async def test_a_store_that_does_not_answer_costs_no_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(tmp_path)
    await play.start()
    await play.turn(1)
    await play.stop()
    await play.start()
    assert play.saga is not None
    store: Any = play.saga.stores.state
    get = store.get

    async def failing(keys: Any) -> Any:
        if any(key[0] == "prompt" for key in keys):
            raise StoreUnavailable("gone for a moment")
        return await get(keys)

    monkeypatch.setattr(store, "get", failing)
    await play.turn(2)
    assert play.saga.counters.degraded["prompt.memory"] == "gone for a moment"
    monkeypatch.undo()
    await play.turn(3)
    assert len(play.sent) == 3
    await play.stop()


@pytest.mark.parametrize("restarting", [True, False])
async def test_pages_stay_as_they_were_pinned_when_their_turn_is_amended(tmp_path: Path, restarting: bool) -> None:
    play = Play(tmp_path, floats=False)
    await play.start()
    for number in range(1, 4):
        play.clock.at += 20
        await play.turn(number)
    play.clock.at += 40_000
    await play.turn(4)  # the cache is cold: the pages are pinned anew, at turn 3
    assert play.saga is not None
    (pinned,) = {bill.pin for bill in (await play.saga.sessions.cost("play"))[-1:]}
    assert (await play.saga.views.turns("play"))[3].id == pinned
    await play.saga.memory.correct("play", "hp", {"hp": "41"}, turn=pinned)
    await play.saga.background.drain_views(5)
    if restarting:
        await play.stop()
        await play.start()
    else:
        play.saga.parts.prompting.texts._rendered.clear()  # as when many others were rendered since
    play.clock.at += 20
    await play.turn(5)
    pages = [[b.content for b in blocks if str(b.content).startswith("## ")] for blocks in play.sent]
    assert pages[-1] == pages[-2] != pages[0]
    assert "41" not in str(pages[-1])
    assert "40/100" in play.sent[-1][-1].lead, "what was learned since is told as a change"
    await play.stop()


async def test_pruned_turns_leave_the_memory_too(tmp_path: Path) -> None:
    play = Play(tmp_path, floats=False)
    await play.start()
    for number in range(1, 4):
        play.clock.at += 20
        await play.turn(number)
    assert play.saga is not None
    branch = (await play.saga.views.turns("play"))[2].id
    play.clock.at += 40_000
    await play.turn(4)  # pinned anew, at turn 3
    del play.said[2:]
    await play.turn(5)
    await play.saga.timelines.prune("play", branch)
    session = (await play.saga.sessions.list())[0].session.id
    gone = {key[3] for key, _ in await play.saga.stores.state.scan(("prompt", session, "page"))}
    assert branch not in gone
    await play.turn(6)
    await play.stop()
    await play.start()
    await play.turn(7)
    pages = [[b.content for b in blocks if str(b.content).startswith("## ")] for blocks in play.sent]
    assert pages[-1] == pages[0], "the pages that this path had"
    kept = dict(await play.saga.stores.state.scan(("prompt", session)))["prompt", session, "memory"]
    assert branch.encode() not in kept
    await play.stop()

"""The demo's pieces: event streams, differences of states, expectations, condensed contexts, the prompts it sends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from attrs import evolve
from click.testing import CliRunner

from saga_server.cli.saga_command import main
from saga_server.demo.adventure import Adventure, Expected, adventure
from saga_server.demo.differences import changes, unmet, unsaid
from saga_server.demo.frontend import DemoMessage, Frontend, FrontendError
from saga_server.demo.screen import Screen, condensed, make_console

HARROW, ERSIA = adventure("en"), adventure("ko")
BEFORE: dict[str, Any] = {
    "player": "아리아",
    "location": "마을 광장",
    "hp": 100,
    "max_hp": 100,
    "mood": "neutral",
    "inventory": [{"name": "은화", "quantity": 14}, {"name": "부싯돌", "quantity": 1}],
    "npcs_present": ["에르겐"],
    "npcs_met": ["에르겐"],
    "dead": [],
    "trackers": [],
    "threads": [],
    "relationships": [
        {"from": "아리아", "to": "셀린", "type": "고용주", "strength": 1},
        {"from": "셀린", "to": "아리아", "type": "고용인", "strength": 1},
    ],
    "events": [],
    "problems": [],
}
AFTER: dict[str, Any] = {
    **BEFORE,
    "location": "어둠의 숲",
    "hp": 85,
    "mood": "tense",
    "inventory": [{"name": "은화", "quantity": 2}, {"name": "치유 물약", "quantity": 2}],
    "npcs_present": ["크룩"],
    "npcs_met": ["에르겐", "크룩"],
    "dead": ["바르가"],
    "trackers": [],
    "threads": [],
    "relationships": [
        {"from": "아리아", "to": "셀린", "type": "고용주", "strength": 1},
        {"from": "아리아", "to": "크룩", "type": "hostile", "strength": -2},
    ],
    "events": [{"name": "바르가의 죽음", "turn": 3}],
    "problems": [{"turn": 3, "turn_id": "t", "text": "something odd"}],
}


@asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[Frontend]:
    """A frontend whose server answers so."""

    async def answer(_: web.Request) -> web.Response:
        headers = {"content-type": "text/event-stream", "X-SAGA-Turn": "t", "X-SAGA-Session": "s"}
        headers |= {"X-SAGA-Parent": "p", "X-SAGA-Context-Ms": "1.5"}
        return web.Response(headers=headers, body=raw)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    async with TestServer(app) as server, aiohttp.ClientSession() as http:
        yield Frontend(ERSIA, http, str(server.make_url("/v1")))


def chunk(content: str | None, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    event = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(event)}\n\n".encode()


async def test_a_stream_is_put_together() -> None:
    async with answering(chunk("불") + chunk("꽃") + chunk(None, "stop") + b"data: [DONE]\n\n") as frontend:
        answer = await frontend.send("본다.", stream=True)
    assert (answer.said.reply, answer.pieces, answer.parent, answer.context_ms) == ("불꽃", 2, "p", 1.5)


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (chunk("불"), "broke off"),
        (chunk("불") + b'data: {"error": {"message": "no such model"}}\n\n', "no such model"),
    ],
)
async def test_a_stream_that_breaks_off_is_no_reply(raw: bytes, named: str) -> None:
    async with answering(raw) as frontend:
        with pytest.raises(FrontendError, match=named):
            await frontend.send("본다.", stream=True)


def test_changes_are_told_in_words() -> None:
    assert changes(BEFORE, AFTER, ERSIA.screen) == [
        "위치: 마을 광장 → 어둠의 숲",
        "HP: 100 → 85 (-15)",
        "은화 -12 (2)",
        "부싯돌 -1 (0)",
        "치유 물약 +2 (2)",
        "함께: 크룩",
        "헤어짐: 에르겐",
        "사망: 바르가",
        "아리아 → 크룩: hostile -2",
        "기분: neutral → tense",
        "사건: 바르가의 죽음",
        "문제: something odd",
    ]
    assert changes(AFTER, AFTER, HARROW.screen) == []


def test_what_is_expected_is_held_against_the_state() -> None:
    right = Expected(
        place="어둠의 숲",
        hp=85,
        inventory={"은화": 2, "치유 물약": 2},
        present=frozenset({"크룩"}),
        met=frozenset({"크룩", "에르겐"}),
        relations={"셀린": ("고용주", 1), "크룩": ("hostile", -2)},
        dead=frozenset({"바르가"}),
    )
    assert unmet(right, AFTER) == []
    assert unmet(Expected(), AFTER) == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (Expected(place="마을 광장"), "place: 어둠의 숲, not 마을 광장"),
        (Expected(hp=70), "hp: 85, not 70"),
        (Expected(inventory={"은화": 2}), "inventory"),
        (Expected(inventory={"은화": 2, "치유 물약": 2, "황금 왕관": 1}), "inventory"),
        (Expected(present=frozenset()), "present: ['크룩'], not []"),
        (Expected(met=frozenset({"크룩"})), "met"),
        (Expected(relations={"크룩": ("hostile", -4)}), "relations"),
        (Expected(dead=frozenset()), "dead: ['바르가'], not []"),
    ],
)
def test_every_difference_is_named(wrong: Expected, named: str) -> None:
    (found,) = unmet(wrong, AFTER)
    assert named in found


def test_the_reply_is_held_against_what_it_should_say() -> None:
    expected = Expected(says=("불꽃 검",), silent=("왕관",))
    assert unsaid(expected, "불꽃 검이 있다") == []
    assert len(unsaid(expected, "왕관이 있다", quoted="세 번째 종")) == 3


def test_a_context_is_condensed_for_reading() -> None:
    text = "\n".join(
        [
            "[SAGA: what is true now]",
            "[Now]",
            "Place: X | HP: 1/2",
            "[Related]",
            *(f"- a → b{number}: c" for number in range(5)),
            "[Lore]",
            "- Town: long text: with colon",
            "- Marsh: more",
            "[Earlier]",
            "- (turn 1) hello",
            "[/SAGA]",
        ]
    )
    facts, others = condensed(text, HARROW.screen)
    assert facts == ["Place: X | HP: 1/2"]
    assert others == [
        "[Related] a → b0: c / a → b1: c … and 3 more",
        "[Lore] Town, Marsh",
        "[Earlier] (turn 1) hello",
    ]
    assert condensed(text, HARROW.screen, recall=True)[0][-1] == "[Earlier] (turn 1) hello"
    assert condensed("", HARROW.screen) == ([], [])


async def test_the_frontend_sends_what_its_context_holds() -> None:
    async with aiohttp.ClientSession() as http:
        frontend = Frontend(evolve(ERSIA, window=2), http, "")
        roles = [message["role"] for message in frontend.messages("간다")]
        assert roles == ["system"] * 3 + ["assistant", "user", "system"]
        frontend.path = [DemoMessage(f"말 {number}", f"답 {number}", str(number)) for number in range(3)]
        sent = frontend.messages("간다")
        assert [message["content"] for message in sent[3:-1]] == ["말 1", "답 1", "말 2", "답 2", "간다"]


@pytest.mark.parametrize("adventure", [ERSIA, HARROW], ids=lambda story: story.language)
def test_an_adventure_is_whole(adventure: Adventure) -> None:
    steps = adventure.steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) >= 14
    assert {step.action for step in steps} == {"send", "swipe", "branch", "return", "kill"}
    assert any(step.stream for step in steps)
    assert any(not step.stream for step in steps)
    assert all(step.words for step in steps if step.action != "swipe")
    actions = [step.action for step in steps]
    assert actions.index("branch") < actions.index("return")
    final = adventure.final
    assert None not in (final.place, final.hp, final.inventory, final.present, final.met, final.relations, final.dead)
    assert adventure.nowhere not in cast("dict[str, int]", final.inventory)
    kill = actions.index("kill")
    assert 5 < kill < len(steps) - 5


def test_nothing_is_coloured_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(make_console(plain=False), HARROW.screen)
    screen.verdict(["hp: 55, not 70"])
    screen.verdict([])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert shown.splitlines() == ["  ✗ not as expected: hp: 55, not 70", "  ✓ as expected"]


def test_the_command_refuses_a_folder_in_use(tmp_path: Any) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    result = CliRunner().invoke(main, ["demo", "--keep", str(tmp_path)])
    assert result.exit_code == 2
    assert "not empty" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

"""A rehearsal tells a narrator that reports well from one that does not, says what helps, and keeps nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve
from click.testing import CliRunner

from saga_core.config import Config, load_config
from saga_core.errors import BadInput, UpstreamError
from saga_core.state_block import BlockFields, BlockStatus, ItemAmount, ItemTransfer, StatusChange
from saga_server.cli.saga_command import main
from saga_server.doctor import examine_narrator
from saga_server.doctor.judging import judge
from saga_server.doctor.rehearsal import RehearsalLine, Script, rehearse, scripts
from tests.blocks import render_block
from tests.server.upstream import Received, Step, Upstream, fails, says

SCRIPTS = scripts()
STORY = {
    "en": "The rain goes on. A horse snorts somewhere, and the boards creak.",
    "ko": "비가 계속 내린다. 어디선가 말이 콧김을 내뿜고 마룻장이 삐걱거린다.",
    "ja": "雨は降り続く。どこかで馬が鼻を鳴らし、床板がきしむ。",
    "zh": "雨还在下。不知哪里有马在喷鼻，地板吱呀作响。",
}


def settings(upstream: Upstream, **sections: Any) -> Config:
    providers = {"near": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    return load_config({"providers": providers, **sections}, environ={})


def reported(script: Script, number: int) -> BlockFields:
    """What a narrator that misses nothing reports with a line."""
    truth = script.lines[number]
    before = script.lines[number - 1] if number else RehearsalLine(say="")
    assert truth.place is not None and truth.here is not None
    fields = BlockFields(location=truth.place[0], location_moved=truth.moved, present=truth.here)
    if truth.carries and not before.carries:
        fields = evolve(fields, items_gained=(ItemAmount(truth.carries[0]),))
    if truth.gave:
        lantern = (script.lines[1].carries or ("",))[0]
        fields = evolve(fields, items_transferred=(ItemTransfer(lantern, "Player", truth.here[0]),))
    return evolve(fields, hp_change=-10) if truth.hurt else fields


def narrates(script: Script, reply: Callable[[int], str]) -> Step:
    """A narrator whose reply to each line is made from the line's number."""
    lines = [line.say for line in script.lines]

    async def answer(request: web.Request, received: Received) -> web.StreamResponse:
        said = [message["content"] for message in received.messages if message["role"] == "user"]
        number = max(lines.index(line) for line in lines if any(line in str(text) for text in said))
        return await says(f"{number}. {STORY[script.language]}{reply(number)}")(request, received)

    return answer


def well(script: Script) -> Step:
    return narrates(script, lambda number: "\n\n" + render_block(reported(script, number)))


async def told(upstream: Upstream, script: Script, **sections: Any) -> dict[str, tuple[bool, str]]:
    """What is found, by what was looked at."""
    _, scenes = await rehearse(settings(upstream, **sections), {}, "near/tale-7b", script)
    return {found.text.partition(":")[0]: (found.good, found.text) for found in judge(scenes, script.player)}


@pytest.mark.parametrize("language", list(SCRIPTS))
async def test_a_narrator_that_misses_nothing(language: str, upstream: Upstream) -> None:
    script = SCRIPTS[language]
    upstream.otherwise = well(script)
    found = await told(upstream, script)
    assert {name for name, (good, _) in found.items() if not good} == set(), found
    assert set(found) == {"blocks", "fields", "names", "moves", "things", "harm", "cost"}
    assert "800 tokens in, 160 out" in found["cost"][1]
    assert [request.body["model"] for request in upstream.requests] == ["tale-7b"] * 8
    first = upstream.requests[0].text
    assert "```state" in first and "SAGA" in first, "it is told what a chat is told"
    assert all(request.body["max_tokens"] == 800 for request in upstream.requests), "a block has room"


async def test_one_that_writes_no_block(upstream: Upstream) -> None:
    script = SCRIPTS["ko"]
    upstream.otherwise = narrates(script, lambda _: "")
    found = await told(upstream, script)
    for name in ("blocks", "names", "moves", "things", "harm"):
        good, text = found[name]
        assert not good and "models.extraction" in text, name
    assert "0 of 8" in found["blocks"][1] and "another model" in found["blocks"][1]
    assert len(upstream.requests) == 8, "a rehearsal asks nobody to read its replies"


async def test_one_that_forgets_now_and_then(upstream: Upstream) -> None:
    script = SCRIPTS["en"]
    upstream.otherwise = narrates(
        script, lambda number: "" if number % 2 else "\n\n" + render_block(reported(script, number))
    )
    found = await told(upstream, script)
    assert found["blocks"][0] is False and "4 of 8" in found["blocks"][1]


async def test_one_that_is_cut_off(upstream: Upstream) -> None:
    script = SCRIPTS["en"]

    async def cut(request: web.Request, received: Received) -> web.StreamResponse:
        return await says("The story is long, and", finish="length")(request, received)

    upstream.otherwise = cut
    found = await told(upstream, script)
    assert "max_tokens" in found["blocks"][1] and "state_block_room" in found["blocks"][1]


async def test_one_that_calls_people_by_other_names(upstream: Upstream) -> None:
    script = SCRIPTS["en"]
    other = {"Mira": "the innkeeper", "Tobin": "the stable boy"}

    def reply(number: int) -> str:
        fields = reported(script, number)
        return "\n\n" + render_block(evolve(fields, present=tuple(other[name] for name in fields.present or ())))

    upstream.otherwise = narrates(script, reply)
    found = await told(upstream, script)
    good, text = found["names"]
    assert not good and "innkeeper" in text and "another model" in text
    assert "models.extraction" not in text, "nobody reads beside a block that is there"
    assert found["moves"][0] and found["blocks"][0]


async def test_one_that_reports_no_moves(upstream: Upstream) -> None:
    script = SCRIPTS["ja"]

    def reply(number: int) -> str:
        place = (script.lines[0].place or ("",))[0]
        return "\n\n" + render_block(evolve(reported(script, number), location=place, location_moved=False))

    upstream.otherwise = narrates(script, reply)
    found = await told(upstream, script)
    assert found["moves"][0] is False and "1 of 3" in found["moves"][1]


async def test_one_whose_fields_cannot_be_read(upstream: Upstream) -> None:
    script = SCRIPTS["zh"]
    upstream.otherwise = narrates(
        script,
        lambda number: "\n\n" + render_block(reported(script, number)).replace("hp_change: null", "hp_change: badly"),
    )
    found = await told(upstream, script)
    assert found["fields"][0] is False and "badly" in found["fields"][1]


async def test_one_that_says_nothing(upstream: Upstream) -> None:
    upstream.otherwise = says("")
    found = await told(upstream, SCRIPTS["en"])
    assert list(found) == ["story"] and not found["story"][0]


async def test_an_injury_may_be_told_as_a_status(upstream: Upstream) -> None:
    script = SCRIPTS["en"]

    def reply(number: int) -> str:
        fields = reported(script, number)
        if fields.hp_change:
            fields = evolve(fields, hp_change=None, status_changes=(StatusChange("Player", "injured"),))
        return "\n\n" + render_block(fields)

    upstream.otherwise = narrates(script, reply)
    _, scenes = await rehearse(settings(upstream), {}, "tale-7b", script)
    assert all(scene.status is BlockStatus.OK for scene in scenes)
    assert [scene.hurt for scene in scenes] == [False] * 5 + [True] + [False] * 2


async def test_what_it_costs_where_prices_are_known(upstream: Upstream) -> None:
    script = SCRIPTS["en"]
    upstream.otherwise = well(script)
    found = await told(upstream, script, models={"facts": {"tale": {"input": 10, "output": 100}}})
    assert "$0.0240 for 8 turns" in found["cost"][1]


async def test_nothing_of_the_players_is_opened_or_made(upstream: Upstream, tmp_path: Path) -> None:
    data = tmp_path / "data"
    upstream.otherwise = well(SCRIPTS["en"])
    config = settings(
        upstream,
        storage={"path": str(data), "profile": "lite"},
        memory_strategies={"facts": None},
        models={"extraction": "near/tiny", "curator": "near/tiny", "narration": "near/other"},
    )
    said: list[str] = []
    assert await examine_narrator(config, "near/tale-7b", "en", said.append), said
    assert not data.exists()
    assert {request.body["model"] for request in upstream.requests} == {"tale-7b"}, "the model that was named"
    assert said[-1] == "it reports well" and "English" in said[0]


async def test_a_model_that_repeats_what_the_player_carries(upstream: Upstream) -> None:
    things = (ItemAmount("rope"), ItemAmount("map"))

    def repeating(number: int) -> str:
        fields = reported(SCRIPTS["en"], number)
        return "\n\n" + render_block(evolve(fields, items_gained=(*fields.items_gained, *things)))

    upstream.otherwise = narrates(SCRIPTS["en"], repeating)
    found = await told(upstream, SCRIPTS["en"])
    assert found["habit"] == (True, "habit: this model repeats what the player carries; SAGA counts it once")
    upstream.otherwise = well(SCRIPTS["en"])
    assert "habit" not in await told(upstream, SCRIPTS["en"])


async def test_the_language_is_that_of_the_world_that_chats_begin_in(upstream: Upstream) -> None:
    upstream.otherwise = well(SCRIPTS["ko"])
    said: list[str] = []
    assert await examine_narrator(settings(upstream, session={"default_world": "ersia"}), "tale", None, said.append)
    assert "Korean" in said[0]


async def test_a_provider_that_fails_is_told_of(upstream: Upstream) -> None:
    upstream.otherwise = fails(401, "Incorrect API key")
    with pytest.raises(UpstreamError, match="API key"):
        await rehearse(settings(upstream), {}, "tale", SCRIPTS["en"])


async def test_without_a_provider_there_is_only_the_built_in_narrator() -> None:
    with pytest.raises(BadInput, match="base_url"):
        await rehearse(load_config({}, environ={}), {}, "tale", SCRIPTS["en"])
    route, scenes = await rehearse(load_config({}, environ={}), {}, "offline", SCRIPTS["en"])
    assert (route.model, len(scenes)) == ("offline", 8)
    assert all(scene.status is BlockStatus.OK for scene in scenes)


def test_every_line_has_its_truth() -> None:
    for script in SCRIPTS.values():
        assert len(script.lines) == 8
        assert sum(truth.moved for truth in script.lines) == 3
        for truth in script.lines:
            for name in truth.here or ():
                assert name in script.card, "people are called as the card calls them"


async def test_the_command(upstream: Upstream, tmp_path: Path) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text(f"providers: {{near: {{base_url: '{upstream.url}', api_key: k, max_retries: 0}}}}\n")
    given = ["doctor", "--config", str(file), "--narrator", "near/tale-7b", "--lang", "zh"]
    for step, code in ((well(SCRIPTS["zh"]), 0), (says("下雨了。"), 1)):
        upstream.otherwise = step
        result = await asyncio.to_thread(CliRunner().invoke, main, given)
        assert result.exit_code == code, result.output
        assert "narrator: tale-7b of near" in result.output and "Chinese" in result.output
    assert "!!  blocks: 0 of 8" in result.output
    given[-1] = "tlh"
    refused = await asyncio.to_thread(CliRunner().invoke, main, given)
    assert refused.exit_code != 0 and "give one of en, ja, ko, zh" in refused.output
    refused = await asyncio.to_thread(CliRunner().invoke, main, ["doctor", "--lang", "ko"])
    assert refused.exit_code == 2 and "--narrator" in refused.output


def answers_alone(script: Script) -> Step:
    """A small model: asked for a block, it writes nothing else; asked for JSON, it says what happened."""

    async def answer(request: web.Request, received: Received) -> web.StreamResponse:
        if "response_format" in received.body:
            line = received.messages[-1]["content"].split("The player's words:")[-1]
            number = next(n for n, each in enumerate(script.lines) if each.say[:30] in line)
            truth = script.lines[number]
            before = script.lines[number - 1] if number else RehearsalLine(say="")
            got = [{"thing": truth.carries[0], "count": 1}] if truth.carries and not before.carries else []
            lost = [{"thing": (script.lines[1].carries or ("",))[0], "count": 1}] if truth.gave else []
            told = {"place": (truth.place or ("",))[0], "here": list(truth.here or ()), "got": got, "lost": lost}
            return await says(json.dumps({**told, "hp": 0, "dead": [], "money_left": None}))(request, received)
        if "```state" in received.text:
            return await says("```state\nlocation: somewhere\n```")(request, received)
        return await narrates(script, lambda number: "")(request, received)

    return answer


async def test_the_way_that_keeps_the_story_is_recommended(upstream: Upstream) -> None:
    upstream.otherwise = answers_alone(SCRIPTS["en"])
    said: list[str] = []
    await examine_narrator(settings(upstream), "near/tale-1b", "en", said.append)
    ways = {line.split()[2].rstrip(":"): line for line in said if line[4:].startswith("reporting")}
    assert "tells a story 0 of 8" in ways["block"]
    assert "tells a story 8 of 8" in ways["tool"] and "tells a story 8 of 8" in ways["after"]
    assert "ok  recommended: extraction.reporting: after" in said, said


async def test_a_way_that_a_server_refuses_is_left_out(upstream: Upstream) -> None:
    script = SCRIPTS["en"]

    async def answer(request: web.Request, received: Received) -> web.StreamResponse:
        step = fails(400, "tools are not supported") if "tools" in received.body else well(script)
        return await step(request, received)

    upstream.otherwise = answer
    said: list[str] = []
    assert await examine_narrator(settings(upstream), "tale", "en", said.append, ways=("block", "tool")), said
    assert any("reporting tool: cannot be used" in line for line in said)

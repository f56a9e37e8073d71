"""The judge: a fair one is used, one that likes everything is not, and the report says what swayed it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web

from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.server import Step, Wire
from tests.fake_providers.steps import says
from tests.judge.judge import JudgeFailed, calibrated, grade, material
from tests.judge.run import AnthropicJudge, Narrator, OpenAIJudge, judged, markdown, same_provider
from tests.server.client import Client

OFFENDS = {
    "world": ("LED", "스마트폰"),
    "sovereignty": ("scream", "비명"),
    "character": ("backflip", "공중제비"),
    "relevance": ("queen combs", "여왕이"),
}
Rates = Callable[[str, str], int]


def fair(criterion: str, reply: str) -> int:
    return 1 if any(word in reply for word in OFFENDS.get(criterion, ())) else 4


def likes_everything(criterion: str, reply: str) -> int:
    return 5


def rates(points: Rates) -> Step:
    """Answers as a model that is asked to rate does: a sentence, and JSON with all criteria that the question names."""

    async def step(wire: Wire) -> web.StreamResponse:
        question = json.loads(wire.received.text)[1][-1]["content"]
        question = question if isinstance(question, str) else question[0]["text"]
        reply = question.partition("The reply to rate:\n")[2].partition("\nCriteria:")[0]
        names = json.loads(question.rpartition("Answer: ")[2])
        found: dict[str, Any] = {
            name: {"points": points(name, reply), "reason": "so", "quote": reply[2:12]} for name in names
        }
        await wire.text(f"Here you are: {json.dumps(found, ensure_ascii=False)}")
        return await wire.end()

    return step


@pytest.fixture
async def judge() -> AsyncIterator[OpenAIChatServer]:
    async with OpenAIChatServer(otherwise=rates(fair)) as server:
        yield server


@pytest.fixture
async def sdk(judge: OpenAIChatServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=judge.url, api_key="k", max_retries=0) as client:
        yield client


def of(client: openai.AsyncOpenAI, model: str = "judge-1") -> OpenAIJudge:
    return OpenAIJudge(model, client=client)


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_fair_judge_rates_the_scenarios_of_a_server(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI, language: Any
) -> None:
    async with Client.of({}, {}) as saga:
        report = await judged(_narrator(saga), [of(sdk), of(sdk, "judge-2")], [material(language)], repeats=2)
    found = report["languages"][language]
    assert set(found["scenarios"]) == {"S1", "S2", "S3", "S4", "S5", "S6", "S7"}
    assert found["scenarios"]["S1"]["mean"] == 4.0
    assert found["scenarios"]["S1"]["interval"] == 0.0
    assert found["scenarios"]["S1"]["agreement"] == 0.0
    assert found["scenarios"]["S6"] == {
        "about": found["scenarios"]["S6"]["about"],
        "reports": ["ok (block)"] * 2,
        "passed": True,
    }
    assert found["calibration"]["judge-1"]["bad"] == dict.fromkeys(OFFENDS, 1)
    page = markdown({**report, "same_provider": []})
    assert "| S1 " in page and "passed: ok (block)" in page
    assert judge.refusals == []


async def test_a_judge_that_likes_everything_is_not_used(judge: OpenAIChatServer, sdk: openai.AsyncOpenAI) -> None:
    judge.otherwise = rates(likes_everything)
    async with Client.of({}, {}) as saga:
        with pytest.raises(JudgeFailed, match="no judge rates bad replies"):
            await judged(_narrator(saga), [of(sdk)], [material("en")])


async def test_a_judge_that_pays_for_length_is_found_out(judge: OpenAIChatServer, sdk: openai.AsyncOpenAI) -> None:
    judge.otherwise = rates(lambda criterion, reply: min(5, fair(criterion, reply) + len(reply) // 300))
    found = await calibrated(of(sdk), material("en"))
    assert found.padded > 0.5
    assert found.reversed == 0.0


async def test_the_judge_speaks_the_messages_api_too() -> None:
    async with (
        AnthropicMessages(otherwise=rates(fair)) as server,
        anthropic.AsyncAnthropic(base_url=server.root, api_key="k", max_retries=0) as client,
    ):
        found = await grade(AnthropicJudge("claude-judge", client=client), material("en"), ("I look.",), "Rain falls.")
        assert found.mean == 4.0
        assert all(each.quoted for each in found.ratings.values())
        assert server.refusals == []


@pytest.mark.parametrize("answer", ["Fine.", "{}", '{"prose": {"points": 6}}', '{"prose": {"points": true}}'])
async def test_an_answer_without_points_is_no_grade(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI, answer: str
) -> None:
    judge.otherwise = says(answer)
    with pytest.raises(JudgeFailed):
        await grade(of(sdk), material("en"), ("I look.",), "Rain falls.")


async def test_a_quotation_that_the_reply_does_not_have_is_said(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI
) -> None:
    ratings = {name: {"points": 4, "reason": "so", "quote": "Snow"} for name in material("en").criteria}
    judge.otherwise = says(json.dumps(ratings))
    found = await grade(of(sdk), material("en"), ("I look.",), "Rain falls.")
    assert not any(each.quoted for each in found.ratings.values())


def test_a_judge_of_the_narrators_provider_is_named(sdk: openai.AsyncOpenAI) -> None:
    judges = [of(sdk, "gpt-4.1")]
    assert same_provider(["openai (https://…)"], judges) == ["gpt-4.1"]
    assert same_provider(["anthropic"], judges) == []


def _narrator(saga: Client) -> Narrator:
    return Narrator(saga.http, saga.server.url)

"""The judge: a fair one is used, one that likes or dislikes everything is not, and the report says what swayed it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web
from click.testing import CliRunner

from tests.eval_llm_judge import judge_server, main
from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.server import ProtocolServer, Step, Wire
from tests.fake_providers.steps import says
from tests.judge.judge import JudgeFailed, better, calibrated, grade, interval, material
from tests.judge.long import TURNS, Prices, with_and_without, words
from tests.judge.models import AnthropicJudge, Judge, OpenAIJudge, judge_of, same_provider
from tests.judge.page import html, markdown
from tests.judge.run import Narrator, Tokens, judged
from tests.server.client import Client

OFFENDS = {
    "world": ("LED", "스마트폰"),
    "sovereignty": ("scream", "비명"),
    "character": ("backflip", "공중제비"),
    "relevance": ("queen combs", "여왕이"),
}
Rates = Callable[[str, str], int]
_REPLY = re.compile(r"The reply to rate:\n(.*?)\nCriteria:", re.S)
_PAIR = re.compile(r"\nA:\n(.*?)\nB:\n(.*?)\nCriteria:", re.S)


def fair(criterion: str, reply: str) -> int:
    return 1 if any(word in reply for word in OFFENDS.get(criterion, ())) else 4


def rates(points: Rates) -> Step:
    """Answers as a model that is asked to rate does: a sentence, and JSON with all criteria that the question names.

    Of a pair, it prefers the reply with more points.
    """

    async def step(wire: Wire) -> web.StreamResponse:
        question = json.loads(wire.received.text)[1][-1]["content"]
        question = question if isinstance(question, str) else question[0]["text"]
        if pair := _PAIR.search(question):
            one, other = (sum(points(name, reply) for name in OFFENDS) for reply in pair.groups())
            found: dict[str, Any] = {"better": "tie" if one == other else "A" if one > other else "B"}
        else:
            rated = _REPLY.search(question)
            assert rated is not None
            names = json.loads(question.rpartition("Answer: ")[2])
            found = {
                name: {"points": points(name, rated[1]), "reason": "so", "quote": rated[1][2:12]} for name in names
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
    return OpenAIJudge(model, "openai", client)


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
    calibration = found["calibration"]["judge-1"]
    assert calibration["bad"] == dict.fromkeys(OFFENDS, 1) and calibration["good"] == dict.fromkeys(OFFENDS, 4)
    assert (calibration["preferred"], calibration["swayed"], calibration["longer"]) == (1.0, 0.0, 0.0)
    report["same_provider"] = []
    page = markdown(report)
    assert "| S1 " in page and "passed: ok (block)" in page and "good reply in 100%" in page
    assert judge.refusals == []
    plots = html(report)
    assert plots.count("<svg") == 2 and plots.count("<circle") == 6 + 6 and "http" not in plots


@pytest.mark.parametrize("points", [5, 1, 3])
async def test_a_judge_that_rates_everything_alike_is_not_used(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI, points: int
) -> None:
    judge.otherwise = rates(lambda criterion, reply: points)
    async with Client.of({}, {}) as saga:
        with pytest.raises(JudgeFailed, match="no judge rates bad replies"):
            await judged(_narrator(saga), [of(sdk)], [material("en")])


async def test_a_reply_without_a_report_fails_s6_without_a_judge(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI
) -> None:
    async with OpenAIChatServer(otherwise=says("The mill stands still, and the miller nods to you.")) as upstream:
        sections = {
            "providers": {"openai": {"base_url": upstream.url, "api_key": "k"}},
            "extraction": {"reporting": "block", "automatic": "never"},
        }
        async with Client.of(sections, {}) as saga:
            report = await judged(_narrator(saga), [of(sdk)], [material("en")])
    found = report["languages"]["en"]["scenarios"]["S6"]
    assert found["passed"] is False and found["reports"][0].startswith("fallback")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_the_judges_of_three_providers_are_calibrated_by_their_own_apis(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "k")
    async with AsyncExitStack() as stack:
        server: ProtocolServer
        if provider == "anthropic":
            server = await stack.enter_async_context(AnthropicMessages(otherwise=rates(fair)))
            address = server.root
        else:
            dialect: Any = provider
            server = await stack.enter_async_context(OpenAIChatServer(otherwise=rates(fair), dialect=dialect))
            address = server.url
        for model in ("gpt-5.4", "gpt-4.1") if provider == "openai" else ("judge-1",):
            judge: Judge = judge_of(model, provider, address)
            server.otherwise = rates(fair)
            assert (await calibrated(judge, material("ko"))).usable
            server.otherwise = rates(lambda criterion, reply: 5)
            assert not (await calibrated(judge, material("ko"))).usable
            await judge.client.close()
        assert server.refusals == []


async def test_a_judge_that_pays_for_length_is_found_out(judge: OpenAIChatServer, sdk: openai.AsyncOpenAI) -> None:
    judge.otherwise = rates(lambda criterion, reply: min(5, fair(criterion, reply) + len(reply) // 300))
    found = await calibrated(of(sdk), material("en"))
    assert found.padded > 0.5
    assert found.reversed == 0.0
    assert found.longer == 1.0


async def test_a_judge_that_prefers_what_it_reads_first_is_found_out(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI
) -> None:
    rated = rates(fair)

    async def first(wire: Wire) -> web.StreamResponse:
        if "\\nA:\\n" in wire.received.text:
            await wire.text('{"better": "A"}')
            return await wire.end()
        return await rated(wire)

    judge.otherwise = first
    found = await calibrated(of(sdk), material("en"))
    assert (found.preferred, found.swayed, found.longer) == (0.0, 1.0, 0.5)


async def test_the_judge_speaks_the_messages_api_too() -> None:
    async with (
        AnthropicMessages(otherwise=rates(fair)) as server,
        anthropic.AsyncAnthropic(base_url=server.root, api_key="k", max_retries=0) as client,
    ):
        found = await grade(AnthropicJudge("claude-judge", client), material("en"), ("I look.",), "Rain falls.")
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
    with pytest.raises(JudgeFailed, match="names neither reply"):
        await better(of(sdk), material("en"), "I look.", "Rain falls.", "Snow falls.")


async def test_a_quotation_that_the_reply_does_not_have_is_said(
    judge: OpenAIChatServer, sdk: openai.AsyncOpenAI
) -> None:
    ratings = {name: {"points": 4, "reason": "so", "quote": "Snow"} for name in material("en").criteria}
    judge.otherwise = says(json.dumps(ratings))
    found = await grade(of(sdk), material("en"), ("I look.",), "Rain falls.")
    assert not any(each.quoted for each in found.ratings.values())


def test_a_judge_of_the_narrators_provider_is_named(sdk: openai.AsyncOpenAI) -> None:
    judges: list[Judge] = [of(sdk, "gpt-4.1")]
    assert same_provider(["openai (https://…)"], judges) == ["gpt-4.1"]
    assert same_provider(["anthropic"], judges) == []
    assert same_provider(["gemini"], [OpenAIJudge("pro", "google", sdk)]) == ["pro"]


def test_a_judge_is_named_with_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    judge = judge_of("anthropic:claude-judge", "openai")
    assert (judge.provider, judge.model) == ("anthropic", "claude-judge")
    assert judge_of("qwen:7b", "local", "http://127.0.0.1:1/v1").model == "qwen:7b"
    with pytest.raises(ValueError, match="a local judge needs its address"):
        judge_of("qwen:7b", "local")


def test_one_value_has_no_interval() -> None:
    assert interval([4.0]) == (4.0, None)
    mean, half = interval([4.0, 2.0])
    assert mean == 3.0 and half == pytest.approx(1.96)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_long_scenario_has_forty_turns_and_ends_with_what_needs_the_first(language: Any) -> None:
    own = material(language)
    assert len(own.long) == 12
    for scenario in own.long.values():
        told = words(scenario, own)
        assert (len(told), tuple(told[:2]), told[-1]) == (TURNS, scenario.first, scenario.last)


async def test_what_each_way_is_sent_and_costs_is_counted(judge: OpenAIChatServer, sdk: openai.AsyncOpenAI) -> None:
    whole = material("en")
    one = type(whole)("en", whole.card, whole.criteria, (), (), {"L1": whole.long["L1"]}, whole.between)
    async with OpenAIChatServer(otherwise=says("The road goes on, and nothing else happens here.")) as upstream:
        sections = {"providers": {"openai": {"base_url": upstream.url, "api_key": "k"}}}
        async with Client.of(sections, {}) as saga:
            direct = Narrator(saga.http, upstream.root, model="narrator-1")
            found = await with_and_without(_narrator(saga), direct, [of(sdk)], one, prices=Prices(1, 0.5, 2))
        sizes = [len(each.body["messages"]) for each in upstream.requests]
        assert (sizes[2 * TURNS - 1], sizes[-1]) == (2 * TURNS, 8)
        assert "Three herons" in upstream.requests[TURNS - 1].text, "SAGA tells what the history no longer shows"
        assert "Three herons" not in upstream.requests[-1].text
    assert list(found) == ["SAGA, last six messages", "whole history", "last six messages"]
    for way in found.values():
        assert (way["mean"], way["interval"], way["read"], way["cached"], way["written"]) == (4.0, None, 100, 64, 20)
        assert way["dollars"] == pytest.approx(TURNS * (36 * 1 + 64 * 0.5 + 20 * 2) / 1_000_000, abs=1e-4)
    assert Prices(1, 0, 0).of(Tokens(1_000_000)) == 1.0


def test_the_command_refuses_a_judge_without_an_address() -> None:
    found = CliRunner().invoke(main, ["--judge-provider", "local", "--judge-model", "qwen"])
    assert found.exit_code == 1 and "a local judge needs its address" in found.output


async def test_the_command_writes_three_files(
    judge: OpenAIChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with Client.of({}, {}) as saga:
        options = ["--server", saga.server.url, "--judge-url", judge.url, "--language", "en", "--out", str(tmp_path)]
        context = main.make_context("judge", [*options, "--judge-provider", "openai", "--judge-model", "judge-1"])

        await judge_server(**context.params)
    page, plots = (read(tmp_path / name) for name in ("judge.md", "judge.html"))
    assert page.startswith("# Judged replies") and plots.startswith("<!doctype html>")
    assert json.loads(read(tmp_path / "judge.json"))["same_provider"] == []


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _narrator(saga: Client) -> Narrator:
    return Narrator(saga.http, saga.server.url, model="narrator-1")

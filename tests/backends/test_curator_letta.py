"""The Letta curator against a strict server: one agent a session, its memory as the path has it, nothing that hangs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from letta_client.types import AgentState, BlockResponse
from letta_client.types.agents import LettaResponse

from conformance import Harness
from conformance.inputs import empty_view, view
from conformance.runner import run
from saga_core.capabilities import Capability
from saga_core.curation.model_review import MOST_CALLS
from saga_core.curation.validation import BLOCK_CHARS
from saga_core.errors import BadInput, Closed, UpstreamError
from saga_core.model.entities import MemoryBlock as Block
from saga_core.model_calls.model_call import ModelCallFailed
from saga_core.registry import OpenOptions, load
from saga_core.stores.curator import CurationView
from saga_core.values import Proposal
from tests.backends.letta import VERSION, Agent, LettaFake, calls, text

MODEL = "openai/gpt-5-mini"
NAMES = ("narrative_summary", "curation_decisions", "contradiction_log")


@pytest.fixture
async def letta() -> AsyncIterator[LettaFake]:
    async with LettaFake() as server:
        yield server
    assert server.wrong == [], "requests are as letta-client's types say"


async def opened(letta: LettaFake, **options: Any) -> Any:
    given = {"base_url": letta.url, "model": MODEL, **options}
    return await load("curator", "letta").open(OpenOptions(options=given))


def remembering(text: str) -> CurationView:
    shown = view()
    blocks = {"narrative_summary": Block(text, 1, 0)} if text else {}
    return evolve(shown, state=evolve(shown.state, blocks=blocks))


def kinds(found: tuple[Proposal, ...]) -> list[str]:
    return [each.kind for each in found]


REMEMBER = ("memory_replace", {"block": "narrative_summary", "text": "숲을 지났다."})
LORE = ("learn_lore", {"entry": "숲", "text": "끝이 없다.", "turns": [2]})


async def test_the_fake_answers_as_the_client_expects(letta: LettaFake) -> None:
    curator = await opened(letta)
    letta.then(calls(LORE), text("done"))
    await curator.review(view())
    (agent,) = letta.agents.values()
    AgentState.model_validate(letta.state(agent))
    for block in letta.blocks.values():
        BlockResponse.model_validate(block)
    LettaResponse.model_validate(letta._answer(agent, calls(LORE, words="hm")))
    await curator.aclose()


async def test_an_agent_is_made_once_with_its_blocks_and_found_again(letta: LettaFake) -> None:
    letta.then(calls(REMEMBER, LORE), calls(("finish", {})))
    first = await opened(letta)
    found = await first.review(view())
    assert kinds(found) == ["lore", "memory"]
    (agent,) = letta.agents.values()
    assert agent.record["tags"] == ["saga-curator", f"saga-session:{view().session}"]
    assert set(letta.memory(agent)) == set(NAMES)
    assert all(block["limit"] == BLOCK_CHARS for block in letta.blocks.values())
    assert letta.memory(agent)["narrative_summary"] == "숲을 지났다.", "what it remembered is on the server"
    await first.aclose()
    again = await opened(letta)
    letta.then(calls(("finish", {})))
    await again.review(remembering("숲을 지났다."))
    assert len(letta.agents) == 1, "after a restart it is the same"
    assert letta.thoughts[-1].blocks["narrative_summary"] == "숲을 지났다."
    other = evolve(view(), session="s-other")
    await again.review(other)
    assert len(letta.agents) == 2
    await again.aclose()


async def test_on_another_branch_its_memory_is_that_of_the_branch(letta: LettaFake) -> None:
    curator = await opened(letta)
    letta.then(calls(REMEMBER), calls(("finish", {})))
    await curator.review(view())
    letta.then(calls(("finish", {})))
    await curator.review(remembering(""))  # a swipe: nothing was remembered there
    assert letta.thoughts[-1].blocks == dict.fromkeys(NAMES, "")
    assert letta.thoughts[-1].messages == (), "nothing of what was said before"
    letta.then(calls(("finish", {})))
    await curator.review(remembering("다른 길"))
    assert letta.thoughts[-1].blocks["narrative_summary"] == "다른 길"
    assert "숲을 지났다" not in str(letta.thoughts[-1])
    await curator.aclose()


async def test_what_the_agent_writes_with_tools_of_its_server_comes_back_within_the_limit(letta: LettaFake) -> None:
    def edits(agent: Agent) -> Any:
        for id_ in agent.blocks:
            if letta.blocks[id_]["label"] == "contradiction_log":
                letta.blocks[id_]["value"] = "크룩은 두 번 죽었다."
            if letta.blocks[id_]["label"] == "curation_decisions":
                letta.blocks[id_]["value"] = "x" * (BLOCK_CHARS + 1)
        return calls(LORE)

    curator = await opened(letta)
    letta.then(edits, calls(("finish", {})))
    found = await curator.review(view())
    remembered = {each.data["block"]: each.data["text"] for each in found if each.kind == "memory"}
    assert remembered == {"contradiction_log": "크룩은 두 번 죽었다."}
    (agent,) = letta.agents.values()
    assert letta.memory(agent)["curation_decisions"] == "", "what is too long is not kept"
    await curator.aclose()


async def test_every_call_is_answered_with_what_came_of_it(letta: LettaFake) -> None:
    curator = await opened(letta)
    letta.then(
        calls(("learn_lore", {"entry": "숲", "text": "깊다.", "turns": [999]}), ("fly", {}), ("decide", "no json")),
        calls(LORE),
        text("I have reported everything."),
    )
    found = await curator.review(view())
    assert kinds(found) == ["lore"]
    (message,) = letta.thoughts[1].body["messages"]
    assert [each["status"] for each in message["tool_returns"]] == ["error", "error", "error"]
    assert "was not shown" in message["tool_returns"][0]["tool_return"]
    (message,) = letta.thoughts[2].body["messages"]
    assert [each["status"] for each in message["tool_returns"]] == ["success"]
    assert {tool["name"] for tool in letta.thoughts[0].body["client_tools"]} >= {"memory_replace", "finish"}
    await curator.aclose()


async def test_more_calls_than_are_looked_at_are_all_answered(letta: LettaFake) -> None:
    curator = await opened(letta)
    many = [("learn_lore", {"entry": f"곳 {n}", "text": "깊다.", "turns": [2]}) for n in range(MOST_CALLS + 3)]
    letta.then(calls(*many), calls(("finish", {})))
    assert len(await curator.review(view())) == MOST_CALLS
    (message,) = letta.thoughts[1].body["messages"]
    assert len(message["tool_returns"]) == MOST_CALLS + 3
    await curator.aclose()


async def test_a_server_without_client_tools_is_understood_by_json(letta: LettaFake) -> None:
    curator = await opened(letta)
    told = {"calls": [{"tool": name, **given} for name, given in (REMEMBER, LORE, ("finish", {}))]}
    letta.then(text("I would say:\n```json\n" + json.dumps(told, ensure_ascii=False) + "\n```"))
    assert kinds(await curator.review(view())) == ["lore", "memory"]
    await curator.aclose()


async def test_prose_is_asked_for_once_more_and_then_given_up(letta: LettaFake) -> None:
    curator = await opened(letta)
    letta.then(text("좋은 이야기였습니다."), text("정말로요."))
    with pytest.raises(ModelCallFailed, match="calls no tool"):
        await curator.review(view())
    assert len(letta.thoughts) == 2
    await curator.aclose()


async def test_an_endless_loop_ends(letta: LettaFake) -> None:
    counted: list[str] = []
    curator = await opened(letta, steps=3, report=lambda name, amount: counted.append(name))
    letta.otherwise = calls(LORE)
    assert kinds(await curator.review(view())) == ["lore"]
    assert len(letta.thoughts) == 3
    assert counted.count("curation.endless") == 1 and counted.count("curation.calls") == 3
    letta.otherwise = calls(("finish", {}))
    await curator.review(view())  # the calls that nobody answered are in nobody's way
    await curator.aclose()


FAILURES: tuple[Any, ...] = (
    {"why": "llm_api_error"},
    {"why": "error", "text": "boom"},
    {"why": "insufficient_credits"},
    {"status": 200, "body": "<html>It works!</html>"},
    {"status": 200, "body": {"hello": "world"}},
    {"status": 200, "body": [1, 2]},
    {"status": 200, "body": "{broken", "type": "application/json"},
    {"status": 200, "body": {"messages": "none", "stop_reason": "x", "usage": 7}},
    {"status": 200, "body": {"messages": [{"message_type": "assistant_message"}], "stop_reason": None}},
    {"status": 500, "body": {"detail": "no model"}},
    {"status": 503, "body": "<html>bad gateway</html>"},
    {"status": 429, "body": {"detail": "slow down"}},
)


async def test_failures_and_nonsense_are_told(letta: LettaFake) -> None:
    curator = await opened(letta)
    for said in FAILURES:
        letta.then(said)
        with pytest.raises((ModelCallFailed, UpstreamError), match="Letta"):
            await curator.review(view())
        letta.then(calls(LORE), said)
        assert kinds(await curator.review(view())) == ["lore"], "what was sound before is kept"
    await curator.aclose()


async def test_nonsense_instead_of_agents_is_told(letta: LettaFake) -> None:
    curator = await opened(letta)
    bodies: tuple[Any, ...] = ("<html>", {"a": 1}, [{"id": 7}], [{}], None, 5)
    for body in bodies:
        letta.broken["GET", "/v1/agents/"] = letta.broken["POST", "/v1/agents/"] = {"status": 200, "body": body}
        with pytest.raises((ModelCallFailed, UpstreamError), match="Letta"):
            await curator.review(view())
    await curator.aclose()


async def test_a_slow_server_and_one_that_is_away(letta: LettaFake) -> None:
    curator = await opened(letta, timeout=0.05)
    letta.then({"status": 0, "body": ""})
    with pytest.raises(ModelCallFailed, match=r"no answer within 0\.05 s"):
        await curator.review(view())
    letta.broken["GET", "/v1/"] = {"status": 0, "body": ""}
    assert "no answer" in (await curator.check()).detail
    await curator.aclose()
    nowhere = await load("curator", "letta").open(OpenOptions(options={"base_url": "http://127.0.0.1:9", "model": "m"}))
    with pytest.raises(UpstreamError, match="cannot reach the Letta server"):
        await nowhere.review(view())
    health = await nowhere.check()
    assert not health.ok and "is it running" in health.detail
    await nowhere.aclose()


async def test_the_key_is_sent_and_never_shown() -> None:
    secret = "sk-let-0123456789abcdef"
    async with LettaFake(password=secret) as letta:
        curator = await opened(letta, api_key=secret)
        assert (await curator.check()).detail.startswith(f"Letta {VERSION} at {letta.url}")
        letta.password = "other"
        with pytest.raises(UpstreamError) as refused:
            await curator.review(view())
        assert secret not in str(refused.value) and "(key)" in str(refused.value)
        assert "api_key" in str(refused.value)
        assert secret not in repr(curator._server)
        await curator.aclose()


async def test_no_key_of_the_environment_is_sent(letta: LettaFake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETTA_API_KEY", "sk-env-secret")
    monkeypatch.setenv("LETTA_BASE_URL", "http://127.0.0.1:9")
    curator = await opened(letta)
    await curator.review(view())
    assert all("Authorization" not in headers for headers in letta.headers)
    await curator.aclose()


async def test_forgetting_removes_agent_and_blocks_and_tells_when_it_cannot(letta: LettaFake) -> None:
    curator = await opened(letta)
    await curator.review(view())
    await curator.review(evolve(view(), session="s-other"))
    letta.broken["DELETE", "/v1/agents/"] = {"status": 500, "body": {}}
    with pytest.raises(UpstreamError):
        await curator.forget(view().session)
    letta.broken.clear()
    await curator.forget(view().session)
    await curator.forget(view().session)
    assert [agent.record["name"] for agent in letta.agents.values()] == ["saga-curator-s-other"]
    assert len(letta.blocks) == len(NAMES), "those of the other session"
    await curator.aclose()
    with pytest.raises(Closed):
        await curator.forget("s")


async def test_another_model_and_other_blocks_take_effect_on_a_known_agent(letta: LettaFake) -> None:
    first = await opened(letta)
    await first.review(view())
    await first.aclose()
    second = await opened(letta, model="ollama/qwen3", blocks=("narrative_summary", "promises"))
    await second.review(view())
    (agent,) = letta.agents.values()
    assert agent.record["model"] == "ollama/qwen3"
    assert set(letta.memory(agent)) == {"narrative_summary", "promises"}
    assert len(letta.blocks) == 2
    await second.aclose()


async def test_nothing_is_asked_for_nothing(letta: LettaFake) -> None:
    curator = await opened(letta)
    assert await curator.review(empty_view()) == ()
    assert letta.requests == []
    await curator.aclose()
    await curator.aclose()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": ""}, r"options\.model"),
        ({"steps": 0}, r"options\.steps"),
        ({"timeout": 0.0}, r"options\.timeout"),
        ({"base_url": "127.0.0.1:8283"}, r"options\.base_url"),
        ({"base_url": "http://me:pass@host"}, r"options\.base_url: it contains a password"),
        ({"base_url": "http://[::1"}, r"options\.base_url"),
        ({"api_key": 7}, r"options\.api_key"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        await load("curator", "letta").open(OpenOptions(options={"model": MODEL, **options}))
    assert "pass@" not in str(refused.value)


async def _with_its_server(path: Path) -> Any:
    """The curator with a server of its own, which ends with it."""
    server = LettaFake(otherwise=calls(LORE, ("finish", {})))
    await server.__aenter__()
    curator = await opened(server)
    closing = curator.aclose

    async def aclose() -> None:
        await closing()
        await server.__aexit__(None, None, None)

    curator.aclose = aclose
    return curator


def test_it_keeps_the_contract_of_curators() -> None:
    harness = Harness("curator-letta", "curator", _with_its_server, frozenset({Capability.REMEMBERS}))
    report = run(harness, profile="quick")
    assert report.verdict.value == "conformant", [each for each in report.outcomes if each.status.value == "failed"]

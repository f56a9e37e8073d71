"""Memory strategies over HTTP and on the command line: learned behind the replies, listed, corrected, undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_core import Saga
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend
from tests.core.strategies.stage import answer, model, wish
from tests.core.strategies.stage import play as played
from tests.server.conftest import Serve
from tests.server.test_cli_sessions import here as here
from tests.server.test_curation import play
from tests.server.upstream import Upstream, says

WISHES = answer(wish("짧은 문장을 좋아한다", 1), wish("거미는 나오지 않게", 2, category="limit"))


def settings(upstream: Upstream, small: Upstream) -> dict[str, Any]:
    return {
        "providers": {
            "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
            "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
        },
        "models": {"extraction": "cheap/reader-1"},
        "memory_strategies": {"preferences": {"every": 2}},
    }


async def test_it_is_learned_listed_corrected_and_undone(upstream: Upstream, serve: Serve) -> None:
    async with Upstream() as small:
        small.then(says(WISHES))
        async with serve(**settings(upstream, small)) as client:
            session, past = await play(client, upstream, 3)
            assert (await client.post("/api/drain")).json["settled"]
            path = f"/api/sessions/{session}"
            found = (await client.get(f"{path}/memories?namespace=/preferences")).json
            assert [each["text"] for each in found["memories"]] == ["짧은 문장을 좋아한다", "거미는 나오지 않게"]
            await play(client, upstream, 1, 3, past)
            told = json.dumps(upstream.requests[-1].body, ensure_ascii=False)
            assert "플레이어의 한계, 서술하지 말 것: 거미는 나오지 않게" in told
            asked = small.requests[0].body
            assert asked["response_format"]["type"] == "json_schema" and "짧은 문장" not in json.dumps(asked)
            record = found["memories"][0]["id"]
            edit = {"kind": "remember", "record": record, "text": "긴 문장을 좋아한다"}
            made = await client.post(f"{path}/changes", json=edit)
            assert made.status == 201
            (first, *_) = (await client.get(f"{path}/memories?query=문장")).json["memories"]
            assert (first["text"], first["version"]) == ("긴 문장을 좋아한다", 2)
            assert (await client.send("DELETE", f"{path}/changes/{made.json['change']}")).status == 200
            gone = await client.post(f"{path}/changes", json={"kind": "unremember", "record": record})
            assert gone.status == 201
            rest = (await client.get(f"{path}/memories")).json["memories"]
            assert [each["text"] for each in rest] == ["거미는 나오지 않게"]
            bad = await client.get(f"{path}/memories?namespace=preferences")
            assert bad.status == 400 and "does not begin with '/'" in bad.error["message"]


@pytest.fixture
def learned(here: Path) -> str:
    """A session in ``data`` that taught two wishes; its id."""
    import asyncio

    file = "storage: {path: data}\nsession: {default_world: ersia}\nmemory_strategies: {preferences: {every: 3}}\n"
    (here / "saga.yaml").write_text(file, encoding="utf-8")

    async def learn() -> str:
        async with Saga.open(str(here / "saga.yaml"), extractor=model(WISHES)) as saga:
            return await played(Frontend(saga))

    return asyncio.run(learn())


def test_on_the_command_line(learned: str) -> None:
    def saga(*given: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["memories", learned, *given])
        assert result.exit_code == code, result.output
        return result.output

    shown = saga()
    assert "* m" in shown and "preference  (turns 2)" in shown and "category: limit" in shown
    assert shown.endswith("2 memories at turn 3\n")
    record = json.loads(saga("--query", "거미", "--json"))["memories"][0]["id"]
    change = json.loads(saga("--delete", record, "--json"))["change"]
    assert "거미" not in saga()
    assert "undoes it" in saga("--undo", change)
    assert "거미" in saga()
    saga("--edit", record, "거미와 뱀은 나오지 않게")
    saga("--add", "마렌은 왼손잡이다")
    saga("--add", "존댓말로", "--namespace", "/preferences/{actor}")
    assert "거미와 뱀은" in saga("--namespace", "/preferences") and "마렌은 왼손잡이다" in saga("--namespace", "/own")
    assert "there is no memory 'm0'" in saga("--delete", "m0", code=2)
    assert "give one of" in saga("--delete", "m0", "--add", "x", code=2)

"""What the doctor says of models: those that are named in the settings, and those that report nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_server.doctor import examine
from saga_server.process.running_server import publish_address
from tests.core.frontend import Frontend
from tests.core.sessions.test_silence import reported, silent
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says


@pytest.mark.parametrize(("listed", "told"), [(["tale-7b", "small-1b"], False), (["tale-7b"], True), ([], False)])
async def test_a_model_that_its_provider_does_not_list(upstream: Upstream, listed: list[str], told: bool) -> None:
    upstream.models = listed
    config = load_config(
        {
            "storage": {"profile": "memory"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up"}},
            "models": {"narration": "openai/tale-7b", "fallback": ["small-1b"]},
        },
        environ={},
    )
    said: list[str] = []
    assert await examine(config, said.append), "some answer under names that they do not list"
    assert any("does not list 'small-1b'" in line for line in said) == told
    assert not any("'tale-7b'" in line for line in said)


@pytest.mark.parametrize(
    ("sections", "reader"),
    [
        ({}, "read by a model of the provider openai (extraction.automatic: local)"),
        ({"extraction": {"automatic": "never"}}, "read by nobody; set models.extraction"),
        ({"models": {"extraction": "tiny"}}, "read by tiny"),
    ],
)
async def test_who_reads_replies_without_a_block(sections: dict[str, Any], reader: str, upstream: Upstream) -> None:
    provider = {"base_url": upstream.url, "api_key": "sk-up"}
    tree = {"storage": {"profile": "memory"}, "providers": {"openai": provider}, **sections}
    said: list[str] = []
    assert await examine(load_config(tree, environ={}), said.append)
    assert any(reader in line for line in said)


@pytest.mark.parametrize(("models", "good"), [({"extraction": "tiny"}, True), ({"curator": "tiny"}, True), ({}, False)])
async def test_a_strategy_has_the_model_that_it_has_in_the_server(
    models: dict[str, str], good: bool, upstream: Upstream
) -> None:
    provider = {"base_url": upstream.url, "api_key": "sk-up"}
    tree = {"storage": {"profile": "memory"}, "providers": {"openai": provider}, "models": models}
    said: list[str] = []
    assert await examine(load_config({**tree, "memory_strategies": {"facts": {}}}, environ={}), said.append) == good
    assert any("curation.memory.facts: no model" in line for line in said) != good


async def test_a_narrator_that_was_silent_when_it_was_played_last(tmp_path: Path) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}, "session": {"default_world": "ersia"}}, environ={})
    async with Saga.open(config) as saga:
        await silent(Frontend(saga), 4)
        other = Frontend(saga, greeting="배가 항구에 닿는다. 갈매기가 운다.")
        await silent(other, 3)
        await reported(other)
    said: list[str] = []
    assert not await examine(config, said.append)
    (line,) = [line for line in said if "no state block" in line]
    assert line.startswith("!!  session s") and "last 4 replies" in line and "models.extraction" in line


async def test_a_silent_narrator_of_a_running_server(tmp_path: Path, upstream: Upstream, serve: Serve) -> None:
    upstream.otherwise = says("길은 강가로 이어진다. 물소리가 들린다.")
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    async with serve(storage={"path": str(tmp_path)}, providers={"openai": provider}) as client:
        publish_address(client.server.config, client.server.url)
        await _go_on(client, 3)
        said: list[str] = []
        tree = {"storage": {"path": str(tmp_path)}, "providers": {"openai": provider}}
        assert not await examine(load_config(tree, environ={}), said.append)
        (line,) = [line for line in said if "no state block" in line]
        assert line.startswith("!!  session s") and "narrator-1" in line and "models.extraction" in line


async def _go_on(client: Client, turns: int) -> None:
    said: list[str] = []
    for number in range(turns):
        said.append(f"{number}번 길로 간다.")
        said.append((await client.chat(words(*said))).text)

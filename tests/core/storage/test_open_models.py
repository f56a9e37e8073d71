"""Which embedder and which counter a configuration opens, and with what the rest of it says for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from saga_core import registry
from saga_core.config import load_config
from saga_core.counters import Counters
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
from saga_core.storage.open_models import ForeignCounter, open_counter, open_embedder


class Fake:
    """An embedder and a counter."""

    id, dimension, baseline, semantic = "fake", 1, 0.0, True

    async def embed(self, texts: Any, mode: Any) -> Any: ...

    async def aclose(self) -> None: ...

    def count(self, text: str) -> int:
        return len(text)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[OpenOptions]:
    """What backends were opened with; none of them is really opened."""
    found: list[OpenOptions] = []

    def load(kind: str, name: str) -> Backend:
        async def open_(options: OpenOptions) -> object:
            found.append(options)
            return Fake()

        return Backend(kind, name, open_)

    monkeypatch.setattr(registry, "load", load)
    return found


async def options_of(tree: Mapping[str, Any], opened: list[OpenOptions]) -> dict[str, Any]:
    await open_embedder(load_config({"recall": {"embedder": "openai"}, **tree}, environ={}))
    return dict(opened[-1].options)


async def test_the_model_and_its_provider(opened: list[OpenOptions]) -> None:
    local = {"base_url": "http://127.0.0.1:11434/v1", "api_key": "k-local"}
    assert await options_of({"models": {"embedding": "text-embedding-3-small"}}, opened) == {
        "model": "text-embedding-3-small",
        "name": "openai",
    }
    tree: dict[str, Any] = {"models": {"embedding": "box/bge-m3"}, "providers": {"box": local}}
    assert await options_of(tree, opened) == {"model": "bge-m3", "name": "box", **local}
    tree["models"]["embedding"] = "BAAI/bge-m3"  # no provider is called so
    assert await options_of(tree, opened) == {"model": "BAAI/bge-m3", "name": "openai"}
    tree["recall"] = {"embedder": "openai", "options": {"model": "org/other", "provider": "box", "dimension": 8}}
    assert await options_of(tree, opened) == {"model": "org/other", "name": "box", "dimension": 8, **local}


async def test_a_providers_key_goes_to_no_other_address(opened: list[OpenOptions]) -> None:
    tree: dict[str, Any] = {
        "api_keys": {"openai": "sk-openai-openai"},
        "models": {"embedding": "bge-m3"},
        "recall": {"embedder": "openai", "options": {"base_url": "http://127.0.0.1:9/v1"}},
    }
    assert "api_key" not in await options_of(tree, opened)
    tree["recall"]["options"]["api_key"] = "sk-own-own-own"
    assert (await options_of(tree, opened))["api_key"] == "sk-own-own-own"
    del tree["recall"]["options"]
    assert (await options_of(tree, opened))["api_key"] == "sk-openai-openai"


async def test_a_provider_that_is_not_known_or_has_no_address() -> None:
    recall = {"embedder": "openai", "options": {"model": "m", "provider": "bxo"}}
    with pytest.raises(BadInput, match=r"recall\.options\.provider: 'bxo' .* known: box, openai"):
        await open_embedder(load_config({"recall": recall, "providers": {"box": {"base_url": "http://h/v1"}}}))
    with pytest.raises(BadInput, match=r"providers\.bxo\.base_url"):
        await open_embedder(load_config({"recall": recall, "providers": {"bxo": {"api_key": "k"}}}))


async def test_paths_are_relative_to_the_configuration(tmp_path: Path, opened: list[OpenOptions]) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text(
        "recall: {embedder: onnx, options: {path: models/e5}}\n"
        "token_budget: {counter_options: {directory: tables, file: /abs/x.tiktoken}}\n",
        encoding="utf-8",
    )
    config = load_config(file, environ={})
    await open_embedder(config)
    assert opened[-1].options["path"] == str(tmp_path / "models" / "e5")
    await open_counter(config, Counters())
    assert dict(opened[-2].options) == {"directory": str(tmp_path / "tables"), "file": "/abs/x.tiktoken"}
    assert opened[-2].path == config.data_dir / "tokens"


async def test_faults_name_the_setting() -> None:
    with pytest.raises(BadInput, match=r"^recall\.options\.dim: unknown option"):
        await open_embedder(load_config({"recall": {"options": {"dim": 3}}}))
    with pytest.raises(BadInput, match=r"^token_budget\.counter_options\.dir: unknown option"):
        await open_counter(load_config({"token_budget": {"counter_options": {"dir": "x"}}}), Counters())
    with pytest.raises(BadInput, match="no tokens backend 'tikoten'; known: auto, estimate, tiktoken"):
        await open_counter(load_config({"token_budget": {"counter": "tikoten"}}), Counters())
    with pytest.raises(BadInput, match="which embedding model"):
        await open_embedder(load_config({"recall": {"embedder": "openai"}}))


async def test_the_default_counter_opens_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    config = load_config({"storage": {"path": str(tmp_path)}}, environ={})
    counter = await open_counter(config, Counters())
    assert counter.id == "estimate-o200k-1" and counter.count("검") > 0
    with pytest.raises(StoreUnavailable, match="is in none of"):
        await open_counter(load_config({"token_budget": {"counter": "tiktoken"}}), Counters())


async def test_where_a_counter_of_ones_own_fails_the_estimate_stands_in() -> None:
    class Own:
        id = "own"

        def count(self, text: str) -> int:
            if "raise" in text:
                raise ValueError("a special token")
            return 10**12 if "far" in text else len(text)

    counters = Counters()
    estimate = await open_counter(load_config({"token_budget": {"counter": "estimate"}}), counters)
    counter = ForeignCounter(Own(), estimate, counters)
    assert (counter.id, counter.count("four")) == ("own", 4)
    assert not counters.degraded
    assert 0 < counter.count("raise it") < 8
    assert "a special token" in counters.degraded["tokens.counter"]
    assert 0 < counter.count("far away") < 8

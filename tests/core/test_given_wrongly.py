"""Objects of the wrong kind are refused where they are given, with what they lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core import Saga, registry
from saga_core.errors import BadInput, NotFound
from saga_core.modules import Modules
from saga_core.stores import Key
from tests.core.frontend import MEMORY, Frontend, memory_config


class Nameless:
    """A chat model, but for its name."""

    async def stream(self, request: Any, *, streaming: bool = True) -> Any:
        yield request

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("where", ["extractor", "automatic", "curator"])
async def test_a_model_without_a_name(where: str) -> None:
    given: Any = {where: Nameless()}
    with pytest.raises(BadInput, match=f"^{where}: Nameless is no ChatModel; it lacks name$"):
        await Saga.open(memory_config(), **given)


class Letters:
    """An embedder, which is no curator."""

    def __init__(self) -> None:
        self.id, self.dimension, self.semantic = "letters", 26, False

    async def embed(self, texts: Any, *, of: Any = None) -> Any:
        return [[1.0] * 26 for _ in texts]


async def test_a_curator_of_the_configuration_that_is_none() -> None:
    registry.register("curator.letters", Letters)
    with pytest.raises(BadInput, match=r"^curator\.backend: letters: Letters is no curator store; it lacks "):
        await Saga.open({**MEMORY, "curator": {"backend": "letters"}})


class Absent(MemoryState):
    """Gives None for what it does not have, like ``dict.get``."""

    async def get(self, keys: Iterable[Key]) -> Mapping[Key, Any]:  # type: ignore[override]
        wanted = list(keys)
        found = await super().get(wanted)
        return {key: found.get(key) for key in wanted}


async def test_a_store_that_answers_for_absent_keys() -> None:
    with pytest.raises(BadInput, match="for keys that are absent; leave them out"):
        await Saga.open(memory_config(), stores={"state": Absent()})


class Text:
    """A module whose lines are one text."""

    name, version = "bell", 1

    def context(self, state: Any, language: str) -> str:
        return "The bell rings."


def test_a_module_that_gives_a_text_for_lines(caplog: pytest.LogCaptureFixture) -> None:
    module: Any = Text()
    assert Modules((module,)).context(None, "en") == ()  # type: ignore[arg-type]
    assert "context gave a text; give a list of lines" in caplog.text


async def test_settings_are_switched_by_what_open_takes_too() -> None:
    async with Saga.open(memory_config()) as saga:
        saga.reconfigure({"storage": {"profile": "memory"}, "profile": "romance"})
        assert saga.config.profile == "romance"
        await Frontend(saga).say("I wait.", "The ferry comes.", mood="calm")


async def test_a_session_is_forgotten_by_its_label() -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).say("I wait.", "The ferry comes.", mood="calm")
        await saga.sessions.rename(turn.session.id, "my chat")
        with pytest.raises(NotFound):
            await saga.maintenance.forget_sessions(["my chat", "no chat"])
        assert (await saga.maintenance.forget_sessions(["my chat"])).sessions == (turn.session.id,)


async def test_a_journal_that_does_not_keep_its_data_is_told() -> None:
    store = MemoryState()
    store._info = evolve(store.info, name="mine")
    async with Saga.open(memory_config(), stores={"state": store}) as saga:
        assert "`durable`: every session is lost" in saga.counters.degraded["journal.forgets"]
    async with Saga.open(memory_config()) as saga:
        assert "journal.forgets" not in saga.counters.degraded


async def test_an_unknown_option_names_its_store() -> None:
    config = {"storage": {"profile": "memory", "state": {"backend": "memory", "options": {"foo": 1}}}}
    with pytest.raises(BadInput, match=r"^storage\.state\.options\.foo: unknown option"):
        await Saga.open(config)

"""Plugins that exit, interrupt, cancel or speak what nobody can store: the server runs on, and so does the story."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import pytest
from aiohttp import ClientError

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core import registry
from saga_core.context import Piece, Section
from saga_core.counters import Counters
from saga_core.foreign import foreign
from saga_core.imports import Fit
from saga_core.imports.importer import _importers
from saga_core.modules import Modules
from saga_core.ports import FinishPart, TextPart
from saga_core.registry import Backend
from saga_core.stores import Health, Proposal, StoreInfo
from saga_server.http import Door
from saga_server.process.event_loop import run_watched
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream


class Escaping(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).encode(errors="backslashreplace").decode()


@pytest.fixture(autouse=True)
def escaped_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a process of a parallel run captured of the log is sent to the others, which a lone surrogate cannot be."""
    plugin: Any = request.config.pluginmanager.getplugin("logging-plugin")
    handlers = [each for each in (plugin.caplog_handler, plugin.report_handler) if each is not None]
    before = [each.formatter for each in handlers]
    for each in handlers:
        each.setFormatter(Escaping())
    yield
    for each, formatter in zip(handlers, before, strict=True):
        each.setFormatter(formatter)


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


WRONG: list[Callable[[], BaseException]] = [
    lambda: SystemExit(3),
    lambda: KeyboardInterrupt(),
    lambda: asyncio.CancelledError(),
    lambda: GeneratorExit(),
    lambda: RuntimeError("cut \ud800"),
    Mute,
]
METHODS = (
    "trackers",
    "rules",
    "context",
    "section",
    "picture",
    "review",
    "gather",
    "fits",
    "read",
    "embed",
    "count",
    "stream",
)


def _raises(*_: Any, **__: Any) -> Any:
    raise Hostile.wrong()


class Hostile:
    """A plugin of every kind. ``fails`` is the method that does, and ``wrong`` makes what it raises."""

    name, version, needs = "hostile", 1, ()
    id, dimension, baseline, semantic = "hostile", 2, 0.0, True
    info = StoreInfo(kind="curator", name="hostile")
    fails = ""
    kinds = {"odd": "an odd file"}  # noqa: RUF012
    wrong: Callable[[], BaseException] = staticmethod(RuntimeError)
    gives: Any = ()
    lore: Any = ()

    def __getattribute__(self, name: str) -> Any:
        if name == Hostile.fails and name in ("kinds", "version"):
            raise Hostile.wrong()
        if name in METHODS and name == Hostile.fails:
            return _raises
        return super().__getattribute__(name)

    def trackers(self, language: str) -> Any:
        return ()

    rules = trackers

    def context(self, state: Any, language: str) -> Any:
        return Hostile.gives

    section = context

    def picture(self, state: Any, language: str) -> str:
        return ""

    async def review(self, view: Any) -> Any:
        turn = view.turns[-1].id
        return [Proposal("lore", "s", (turn,), data={"entry": f"e{at}", "text": text}) for at, text in Hostile.lore]

    async def stream(self, request: Any, *, streaming: bool = True) -> Any:
        yield TextPart("It ")
        if Hostile.fails == "mid":
            raise Hostile.wrong()
        for each in Hostile.gives or ["rains."]:
            yield TextPart(each)
        yield FinishPart("stop")

    async def models(self) -> list[str]:
        return ["narrator-1"]

    async def gather(self, scene: Any, given: Any = None) -> Any:
        return [Piece("hostile", "k", Section.EARLIER, each, 0.5) for each in Hostile.gives]

    async def embed(self, texts: Any, mode: Any) -> Any:
        return [[1.0, 0.0] for _ in texts]

    def count(self, text: str) -> int:
        return len(text) // 4

    def fits(self, file: Any) -> Fit:
        return Fit.DECLARED

    def read(self, file: Any) -> Any:
        return ()

    async def check(self, *, thorough: bool = False) -> Health:
        return Health(ok=True)

    async def aclose(self) -> None:
        pass


HOSTILE = Hostile()


async def _handler(request: Any) -> Any:
    return _raises(request)


DOOR = Door(paths={"/hostile": {"GET": _handler}})
AT = f"{__name__}:HOSTILE"


async def opens(options: Any) -> Any:
    return HOSTILE


class HostileStore:
    """A store in memory whose calls raise when ``fails`` is ``store``."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.info = inner.info

    def __getattr__(self, name: str) -> Any:
        given = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(given) or name == "aclose":
            return given

        async def call(*args: Any, **named: Any) -> Any:
            if Hostile.fails == "store":
                raise Hostile.wrong()
            return await given(*args, **named)

        return call


async def opens_state(options: Any) -> Any:
    return HostileStore(MemoryState())


async def opens_graph(options: Any) -> Any:
    return HostileStore(MemoryGraph())


async def opens_vector(options: Any) -> Any:
    return HostileStore(MemoryVector())


async def opens_cache(options: Any) -> Any:
    return HostileStore(MemoryCache())


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch, upstream: Upstream) -> dict[str, Any]:
    """The settings of a server that has it in every place."""
    monkeypatch.setattr(registry, "_configured", {})
    _importers.cache_clear()
    monkeypatch.setattr(Hostile, "fails", "")
    monkeypatch.setattr(Hostile, "gives", ())
    monkeypatch.setattr(Hostile, "lore", ())
    place = f"{__name__}:opens"
    backends = {f"{kind}.hostile": place for kind in ("context", "curator", "embedder", "tokens")}
    monkeypatch.setitem(registry._registered, "chat.mine", Backend("chat", "mine", opens))
    return {
        "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        "plugins": {"saga.modules": {"hostile": AT}, "saga.importers": {"hostile": AT}, "saga.backends": backends},
        "modules": {"hostile": {"enabled": True}},
        "recall": {"sources": {"hostile": {}}, "embedder": "hostile"},
        "curator": {"backend": "hostile", "interval": 1},
        "token_budget": {"counter": "hostile"},
    }


async def plays(client: Client) -> None:
    """Two turns, the second of them streamed, and what is read beside them."""
    first = await client.chat(words("I look around."))
    assert first.status == 200 and first.text, first.raw
    second = await client.chat(words("I look around.", first.text, "And on."), stream=True)
    assert second.status == 200 and second.events[-1] == "[DONE]", second.raw
    assert second.streamed()
    await client.post("/api/drain")
    assert len((await client.get(f"/api/sessions/{first.session}/turns")).json["turns"]) == 3
    assert (await client.get(f"/api/sessions/{first.session}/state")).status == 200
    assert (await client.get("/api/status")).status == 200


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("method", [each for each in METHODS if each not in ("fits", "read", "stream")])
async def test_whatever_a_plugin_raises_counts_as_its_error(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any
) -> None:
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
        monkeypatch.setattr(Hostile, "fails", method)
        await plays(client)
        if method in ("trackers", "rules", "context", "section", "picture", "review", "count"):
            assert "hostile" in str((await client.get("/api/status")).json["degraded"])


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("method", ["fits", "read", "kinds"])
async def test_an_importer_that_raises_is_named(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any
) -> None:
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
        monkeypatch.setattr(Hostile, "fails", method)
        reply = await client.post("/api/import?name=x.odd", data=b"odd")
        assert reply.status == 400, reply.raw
        assert "hostile" in reply.error["message"]


@pytest.mark.parametrize("kind", ["graph", "vector", "cache"])
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_store_that_raises_costs_context_alone(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, kind: str, wrong: Any
) -> None:
    hostile["storage"] = {"profile": "memory", kind: {"backend": f"{__name__}:opens_{kind}", "resident_mb": 0}}
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
        monkeypatch.setattr(Hostile, "fails", "store")
        await plays(client)
        assert kind in str((await client.get("/api/status")).json["degraded"])


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_journal_that_raises_loses_no_reply(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    hostile["storage"] = {"profile": "memory", "state": {"backend": f"{__name__}:opens_state"}}
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
        monkeypatch.setattr(Hostile, "fails", "store")
        reply = await client.chat(words("I look around."), stream=True)
        assert reply.status == 200 and reply.streamed() and reply.events[-1] == "[DONE]", reply.raw


@pytest.mark.parametrize("method", ["context", "gather"])
async def test_half_a_character_loses_no_turn(
    hostile: dict[str, Any], serve: Serve, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "gives", ("rain \ud800",))
        await plays(client)
        assert "hostile" in str((await client.get("/api/status")).json["degraded"])


@pytest.mark.parametrize(
    ("lore", "left"),
    [
        ([(1, "cut \ud800"), (2, "Fog is wet.")], 1),
        ([(1, "x" * 20_001), (2, "Fog is wet.")], 1),
        ([(at, f"Fog is wet {at}.") for at in range(3_000)], 2_960),
    ],
)
async def test_what_is_taken_of_a_curator_is_bounded(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: Any, lore: Any, left: int
) -> None:
    async with serve(**hostile) as client:
        monkeypatch.setattr(Hostile, "lore", lore)
        reply = await client.chat(words("I look around."))
        again = await client.chat(words("I look around.", reply.text, "On."))
        await client.post("/api/drain")
        found = (await client.get(f"/api/sessions/{again.session}/curation")).json["reviews"]
        reviews = [each for each in found if each["curator"] == "hostile"]
        assert reviews and len(reviews[0]["accepted"]) == len(lore) - left, found
        assert f"the hostile curator gave {len(lore)} proposals, and {left} of them are left out" in caplog.text


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("method", ["stream", "mid"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_narrator_that_raises_is_an_error_of_the_provider(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, method: str, streamed: bool, wrong: Any
) -> None:
    async with serve(**hostile | {"providers": {"mine": {"base_url": "http://127.0.0.1:1/v1"}}}) as client:
        good = await client.chat(words("I look around."), stream=streamed)
        assert good.status == 200, good.raw
        monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
        monkeypatch.setattr(Hostile, "fails", method)
        bad = await client.chat(words("I look around."), stream=streamed)
        if method == "mid" and streamed:
            assert bad.status == 200 and "providers.mine" in str(bad.events[-2:]), bad.raw
        else:
            assert bad.status == 502 and "providers.mine" in bad.error["message"], bad.raw
        monkeypatch.setattr(Hostile, "fails", "")
        assert (await client.chat(words("I look around."))).status == 200


async def test_a_narrator_may_say_half_a_character(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(**hostile | {"providers": {"mine": {"base_url": "http://127.0.0.1:1/v1"}}}) as client:
        monkeypatch.setattr(Hostile, "gives", ("Rain \ud83d", "\ude00 and \ud800."))
        first = await client.chat(words("I look around."))
        assert first.status == 200, first.raw
        second = await client.chat(words("I look around."), stream=True)
        assert second.status == 200 and second.events[-1] == "[DONE]", second.raw
        (turn,) = await client.turns(first.session)
        assert turn["reply"].startswith("It Rain \U0001f600 and")


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_door_that_raises_answers_with_an_error(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
    hostile["plugins"]["saga.doors"] = {"hostile": f"{__name__}:DOOR"}
    registry.add_entry_points(hostile["plugins"])
    async with serve(**hostile) as client:
        try:
            assert (await client.get("/hostile")).status == 500
        except ClientError:  # a door that cancels itself gives no answer
            assert isinstance(wrong(), asyncio.CancelledError)
        await plays(client)


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_module_of_a_world_that_cannot_say_what_it_is(
    hostile: dict[str, Any], serve: Serve, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    registry.add_entry_points(hostile["plugins"])
    monkeypatch.setattr(Hostile, "wrong", staticmethod(wrong))
    monkeypatch.setattr(Hostile, "fails", "version")
    counters = Counters()
    assert not Modules((), counters).of_world(("hostile",)).modules
    assert "hostile" in str(counters.degraded)


def test_an_exit_in_a_task_that_nobody_guards_ends_that_task_alone() -> None:
    async def exits() -> None:
        raise SystemExit(3)

    async def work() -> str:
        task = asyncio.create_task(exits())
        await asyncio.wait([task])
        return "it runs on"

    assert run_watched(work()) == "it runs on"


def test_the_exit_of_the_main_task_is_meant() -> None:
    async def work() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        run_watched(work())


async def test_the_cancellation_of_the_caller_is_no_error_of_the_plugin() -> None:
    async def waits() -> None:
        with foreign:
            await asyncio.sleep(60)

    task = asyncio.create_task(waits())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_closing_of_the_caller_is_no_error_of_the_plugin() -> None:
    async def waits() -> None:
        with foreign:
            await asyncio.sleep(0)

    async def gives() -> AsyncGenerator[int, None]:
        with foreign:
            yield 1

    asked, given = waits(), gives()
    asked.send(None)
    asked.close()
    assert await anext(given) == 1
    await given.aclose()

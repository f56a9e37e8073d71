"""Reading the settings again: what holds at once, what waits for a restart, what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout

from saga_core.config import load_config
from saga_core.config.model import Config
from saga_core.errors import ConfigError
from saga_server.process.settings import changed, merge
from saga_server.process.settings_file import changed_text
from saga_server.server import Server
from tests.server.cli.test_saga_command import ask, serving
from tests.server.client import CHAT, Client, words
from tests.server.upstream import Upstream, says

Change = Callable[..., None]


class Told(list[Config]):
    """The settings that the logging was told of."""


@pytest.fixture
async def reloading(tmp_path: Path, upstream: Upstream) -> AsyncIterator[tuple[Client, Change, Told]]:
    """A server started from a file, how to write that file anew, and what ``on_reload`` was told."""
    file = tmp_path / "saga.yaml"
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}

    def write(raw: str | None = None, **sections: Any) -> None:
        tree = {
            "storage": {"profile": "memory"},
            "providers": {"openai": provider},
            **sections,
            "server": {"port": 0, "drain_timeout": 5, **sections.get("server", {})},
        }
        file.write_text(raw if raw is not None else json.dumps(tree, ensure_ascii=False), encoding="utf-8")

    def read() -> Config:
        return load_config(file, environ={})

    write()
    told = Told()
    async with (
        Server(read(), {}, read_again=read, on_reload=told.append) as server,
        ClientSession(base_url=server.url, timeout=ClientTimeout(total=20)) as http,
    ):
        yield Client(server, http), write, told


async def test_what_can_hold_at_once_does(reloading: tuple[Client, Change, Told], upstream: Upstream) -> None:
    client, write, told = reloading
    assert (await client.get("/api/sessions")).status == 200
    write(
        server={"api_keys": ["new-admin-key"], "max_messages": 1},
        models={"narration": "narrator-2"},
        logging={"format": "json"},
    )
    answer = await client.post("/api/reload")
    assert answer.status == 200
    assert answer.json == {
        "applied": ["server.api_keys", "server.max_messages", "models.narration", "logging.format"],
        "restart": [],
    }
    assert (await client.get("/api/sessions")).status == 401
    client.key = "new-admin-key"
    assert (await client.chat(words("안녕", system=None))).status == 200
    assert upstream.requests[-1].body["model"] == "narrator-2"
    assert (await client.chat(words("안녕"))).status == 413
    assert [config.logging.format for config in told] == ["json"]
    assert await client.metric('saga_reloads_total{result="applied"}') == 1
    assert "new-admin-key" not in answer.raw.decode()


async def test_the_rest_waits_and_is_named_until_a_restart(reloading: tuple[Client, Change, Told]) -> None:
    client, write, _ = reloading
    write(server={"port": 1, "max_body_mb": 1}, storage={"profile": "lite"}, session={"default_world": "harrow"})
    for _ in range(2):
        found = (await client.post("/api/reload")).json
        assert found["restart"] == ["server.port", "server.max_body_mb", "storage.profile"]
    assert found["applied"] == []
    assert client.server.config.storage.profile == "memory"
    session = (await client.chat(words("hello", system=None))).session
    assert (await client.get(f"/api/sessions/{session}")).json["world"] == "harrow"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"raw": "server: {"}, "line 1"),
        ({"servr": {}}, "servr: unknown key; did you mean server?"),
        ({"server": {"max_messages": "many"}, "logging": {"level": "loud"}}, "logging.level"),
    ],
)
async def test_an_invalid_file_changes_nothing(
    reloading: tuple[Client, Change, Told], wrong: dict[str, Any], said: str
) -> None:
    client, write, told = reloading
    before = client.server.config
    write(**{"models": {"narration": "narrator-2"}, **wrong})
    answer = await client.post("/api/reload")
    assert answer.status == 400
    assert said in answer.error["message"] and answer.error["message"].startswith("nothing was changed; ")
    assert client.server.config is before
    assert told == []
    assert await client.metric('saga_reloads_total{result="refused"}') == 1
    assert (await client.chat(words("hello"))).status == 200


async def test_an_engine_that_does_not_exist_is_refused_before_a_restart(
    reloading: tuple[Client, Change, Told],
) -> None:
    client, change, told = reloading
    change(storage={"profile": "memory", "graph": "nowhere"}, logging={"level": "debug"})
    refused = await client.post("/api/reload")
    assert refused.status == 400
    assert "storage.graph.backend: " in refused.error["message"] and "nowhere" in refused.error["message"]
    assert told == []
    change(storage={"profile": "memory", "graph": "networkx"})
    assert (await client.post("/api/reload")).json["restart"] == ["storage.graph.backend"]


async def test_a_file_that_went_changes_nothing(reloading: tuple[Client, Change, Told], tmp_path: Path) -> None:
    client, _, _ = reloading
    (tmp_path / "saga.yaml").unlink()
    answer = await client.post("/api/reload")
    assert (answer.status, "there is no such file" in answer.error["message"]) == (400, True)


def test_a_server_is_never_left_open_to_strangers() -> None:
    old = load_config({"server": {"host": "0.0.0.0", "api_keys": ["admin-key"]}}, environ={})
    new = load_config({"server": {"host": "127.0.0.1"}}, environ={})
    with pytest.raises(ConfigError, match=r"server\.host: 0\.0\.0\.0 can be reached from other machines"):
        merge(old, new)


def test_a_file_that_is_empty_for_a_moment_opens_nothing() -> None:
    """An editor empties a file before it writes it."""
    old = load_config({"server": {"api_keys": ["admin-key"]}}, environ={})
    with pytest.raises(ConfigError, match=r"server\.api_keys: none are left"):
        merge(old, load_config({}, environ={}))
    assert merge(load_config({}, environ={}), old)[0].server.api_keys == ("admin-key",)


async def test_a_provider_that_stays_keeps_its_connections_and_another_key_is_used(
    reloading: tuple[Client, Change, Told], upstream: Upstream
) -> None:
    client, write, _ = reloading
    other = {"base_url": upstream.url, "api_key": "sk-other"}
    await client.chat(words("one"))
    first = await client.server.narrators.narrator(client.server.narrators.providers["openai"])
    write(providers={"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}, "second": other})
    assert (await client.post("/api/reload")).json["applied"] == ["providers.second"]
    assert await client.server.narrators.narrator(client.server.narrators.providers["openai"]) is first
    write(providers={"openai": {"base_url": upstream.url, "api_key": "sk-rotated", "max_retries": 0}})
    assert (await client.post("/api/reload")).json["applied"] == ["providers.openai.api_key", "providers.second"]
    await client.chat(words("two"))
    assert upstream.requests[-1].headers["Authorization"] == "Bearer sk-rotated"


async def test_a_reply_that_runs_ends_with_the_provider_that_began_it(
    reloading: tuple[Client, Change, Told], upstream: Upstream
) -> None:
    import asyncio

    client, write, _ = reloading
    gate = asyncio.Event()
    upstream.then(says("one ", "two", gate=gate))
    running = asyncio.create_task(client.chat(words("hello"), stream=True))
    while not upstream.requests:
        await client.get("/healthz")
    write(providers={"openai": {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-else"}})
    assert (await client.post("/api/reload")).status == 200
    gate.set()
    assert (await running).streamed() == "one two"


async def test_the_extraction_model_follows_its_provider_and_its_absence_is_told(
    tmp_path: Path, upstream: Upstream
) -> None:
    trees = [
        {"models": {"extraction": "small"}, "providers": {"openai": {"base_url": upstream.url, "api_key": key}}}
        for key in ("sk-first", "sk-second")
    ]
    trees.append({"models": {"extraction": "small"}})
    settings = [load_config({"storage": {"profile": "memory"}, "server": {"port": 0}, **tree}) for tree in trees]
    coming = iter(settings[1:])
    async with Server(settings[0], {}, read_again=lambda: next(coming)) as server:
        behind = server._behind["models.extraction"]
        assert behind is not None
        found = await server.reload()
        assert found.applied == ("providers.openai.api_key",)
        assert behind.route.provider.options["api_key"] == "sk-second"
        assert (await server.reload()).restart == ("models.extraction",)
        assert behind.route.provider.options["api_key"] == "sk-second"


async def test_settings_of_a_program_cannot_be_read_again(offline: Client) -> None:
    assert (await offline.post("/api/reload")).status == 501


def test_what_differs_is_told_by_name_alone() -> None:
    one = load_config({"providers": {"up": {"api_key": "geheim-1"}}, "api_keys": {"openai": "geheim-2"}}, environ={})
    two = load_config({"providers": {"up": {"api_key": "geheim-3"}}, "recall": {"options": {"a": 1}}}, environ={})
    assert changed(one, two) == ["providers.up.api_key", "api_keys.openai", "recall.options"]
    assert changed(one, one) == []


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What is logged next of the settings."""
    assert process.stderr is not None
    lines = map(json.loads, process.stderr)
    return next(line for line in lines if line["logger"] == "saga.config")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_signal_reads_them_again(tmp_path: Path) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text("server: {port: 0}\nlogging: {format: json}\n")
    with serving(cwd=tmp_path, logged=True) as (url, process):
        file.write_text("server: {port: 0, max_messages: 0}\nlogging: {format: json}\n")
        process.send_signal(signal.SIGHUP)
        refused = told(process)
        assert "server.max_messages" in refused["message"] and refused["level"] == "error"
        file.write_text("server: {port: 0, max_messages: 1, max_body_mb: 2}\nlogging: {format: json}\n")
        process.send_signal(signal.SIGHUP)
        applied = told(process)
        assert applied["message"] == (
            "the settings were read again; applied: server.max_messages; with the next start: server.max_body_mb"
        )
        assert ask(f"{url}{CHAT}", {"messages": [{"role": "user", "content": "안녕"}]})["choices"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: {b: 2}\n", "a: {}\n"),
        ("a: {b: 2, c: {d: 1}}\n", "a: {c: {d: 1}}\n"),
        ("a: {c: [1, 2], b: 2}\n", "a: {c: [1, 2]}\n"),
        ("a:\n  b: 2\n  c: 1\n", "a:\n  c: 1\n"),
    ],
)
def test_what_is_removed_leaves_its_section_as_it_was(before: str, after: str) -> None:
    assert changed_text(before, {("a", "b"): None}) == after


async def test_changes_at_once_are_all_written(tmp_path: Path) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text("storage: {profile: memory}\nserver: {port: 0}\nextraction: {automatic: never}\n")
    (tmp_path / f".saga.yaml.{os.getpid()}").touch()  # of a process with this number that was killed

    def read() -> Config:
        return load_config(file, environ={})

    async with (
        Server(read(), {}, read_again=read, settings_file=file) as server,
        ClientSession(base_url=server.url, timeout=ClientTimeout(total=20)) as http,
    ):
        client = Client(server, http)
        names = ("narration", "extraction", "curator")
        changes = [client.post("/api/settings", json={f"models.{name}": "offline"}) for name in names]
        assert [each.status for each in await asyncio.gather(*changes)] == [200] * 3
        assert [getattr(read().models, name) for name in names] == ["offline"] * 3
        restored = await client.post("/api/settings", json={"extraction.automatic": ""})
        assert restored.status == 200, restored.json
        assert read().extraction.automatic == Config().extraction.automatic


@pytest.fixture
async def with_file(tmp_path: Path) -> AsyncIterator[tuple[Client, Path]]:
    """A server, and the settings file that its settings page writes."""
    file = tmp_path / "saga.yaml"
    file.write_text("storage: {profile: memory}\nserver: {port: 0}\n", encoding="utf-8")

    def read() -> Config:
        return load_config(file, environ={})

    async with (
        Server(read(), {}, read_again=read, settings_file=file) as server,
        ClientSession(base_url=server.url, timeout=ClientTimeout(total=20)) as http,
    ):
        yield Client(server, http), file


@pytest.mark.parametrize("dry_run", [0, 1])
@pytest.mark.parametrize("broken", [b"a: [\n", b"a: *b\n", b"a: 1\n---\nb: 2\n", b"a: \xff\n", b"a: \0\n", b"- a\n"])
async def test_a_file_that_is_broken_is_named_and_left(
    with_file: tuple[Client, Path], broken: bytes, dry_run: int
) -> None:
    client, file = with_file
    file.write_bytes(broken)
    told = await client.post(f"/api/settings?dry_run={dry_run}", json={"models.narration": "offline"})
    assert told.status == 400 and told.json["error"]["message"].startswith("saga.yaml: "), told.json
    assert file.read_bytes() == broken


async def test_line_ends_of_windows_stay(with_file: tuple[Client, Path]) -> None:
    client, file = with_file
    file.write_bytes(b"# mine\r\n" + file.read_bytes().replace(b"\n", b"\r\n"))
    before = file.read_bytes()
    assert (await client.post("/api/settings", json={"models.narration": "offline"})).status == 200
    after = file.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n") == before.count(b"\r\n") + 2
    assert all(line in after.splitlines() for line in before.splitlines())

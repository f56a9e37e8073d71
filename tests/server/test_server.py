from __future__ import annotations

import errno
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from saga_core.background import DrainReport, Waiting
from saga_core.config import Config, load_config
from saga_core.errors import ConfigError, StoreError
from saga_server.cli.announce import announce, farewell, leaving
from saga_server.server import CannotListen, Server
from tests.server.client import CHAT, Client, words


def server(tmp_path: Path | None = None, **sections: Any) -> Server:
    tree: dict[str, Any] = {"storage": {"profile": "memory"}, **sections}
    if tmp_path is not None:
        tree["storage"] = {"path": str(tmp_path / "data")}
        tree["md_cache"] = {"cache_dir": str(tmp_path / "pages")}
    tree["server"] = {"port": 0, **sections.get("server", {})}
    return Server(load_config(tree, environ={}), {})


class TestListening:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
    async def test_every_address_of_the_host(self, host: str) -> None:
        if host == "::1" and not _has_ipv6():
            pytest.skip("this machine has no IPv6 loopback")
        async with server(server={"host": host}) as running, ClientSession(running.url) as http:
            assert str(running.port) in running.url
            async with http.get("/healthz") as reply:
                assert reply.status == 200

    @pytest.mark.parametrize(
        ("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("a", "a")]
    )
    def test_the_address_that_people_paste(self, host: str, shown: str) -> None:
        running = server(server={"host": host})
        running.port = 80
        assert running.url == f"http://{shown}:80"

    async def test_a_port_in_use(self, tmp_path: Path) -> None:
        async with server(tmp_path) as first:
            second = server(tmp_path, server={"port": first.port})
            with pytest.raises(CannotListen, match=rf"127\.0\.0\.1:{first.port} is in use .* choose another port"):
                await second.start()
            async with ClientSession(first.url) as http, http.get("/readyz") as reply:
                assert reply.status == 200

    @pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
    async def test_an_address_of_another_machine(self, host: str) -> None:
        with pytest.raises(CannotListen, match="no address of this machine"):
            await server(server={"host": host, "api_keys": ["k"]}).start()

    async def test_beyond_this_machine_without_keys(self) -> None:
        with pytest.raises(ConfigError, match=r"set server\.api_keys"):
            await server(server={"host": "0.0.0.0"}).start()

    async def test_data_that_another_server_has_open(self, tmp_path: Path) -> None:
        async with server(tmp_path):
            second = server(tmp_path)
            with pytest.raises(StoreError):
                await second.start()
            assert _is_free(second.port)

    async def test_a_data_directory_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("a file", encoding="utf-8")
        running = server(tmp_path)
        with pytest.raises(StoreError, match="data"):
            await running.start()
        assert _is_free(running.port)


class TestStopping:
    async def test_what_was_played_is_there_at_the_next_start(self, tmp_path: Path) -> None:
        async with server(tmp_path) as running, ClientSession(running.url) as http:
            first = await Client(running, http).chat(words("나는 숲으로 간다."))
        async with server(tmp_path) as running, ClientSession(running.url) as http:
            client = Client(running, http)
            second = await client.chat(words("나는 숲으로 간다.", first.text, "둘러본다."))
            assert (second.session, second.headers["X-SAGA-Parent"]) == (first.session, first.turn)

    async def test_twice(self) -> None:
        running = server()
        await running.start()
        await running.stop()
        assert (await running.stop()).done == 0

    async def test_it_frees_its_port(self) -> None:
        async with server() as running:
            port = running.port
        assert _is_free(port)


class TestAnnouncing:
    async def test_in_a_terminal(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", "60")
        async with server() as running:
            announce(running)
            *panel, ready = capsys.readouterr().out.splitlines()
            assert ready == f"SAGA ready at {running.url}/v1"
        assert any("SillyTavern" in line for line in panel)
        assert panel[0].startswith("╭")

    async def test_a_real_narrator(self, capsys: pytest.CaptureFixture[str]) -> None:
        provider = {"base_url": "http://127.0.0.1:1/v1", "api_key": "sk-geheim"}
        async with server(providers={"openai": provider}, models={"narration": "mine"}) as running:
            announce(running)
        out = capsys.readouterr().out
        assert "mine, from openai (http://127.0.0.1:1/v1)" in out
        assert "geheim" not in out

    async def test_the_name_of_a_world_moves_no_cursor(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        wood = tmp_path / "worlds" / "red\x1b[31m\nwood"
        wood.mkdir(parents=True)
        (wood / "WORLD.md").write_text("# A wood\n")
        async with server() as running:
            announce(running)
        assert "red\\x1b[31m\\x0awood" in capsys.readouterr().out

    def test_what_was_not_done_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        farewell(Config(), DrainReport(3, (Waiting("s", "t", "project", "the disk is full"),)))
        out = capsys.readouterr().out
        assert "3 pieces of background work finished" in out
        assert "1 waits in the journal for the next start (the disk is full)" in out

    async def test_with_json_it_is_in_the_log_alone(
        self, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        async with server(logging={"format": "json"}, server={"api_keys": ["k-123456"]}) as running:
            announce(running)
            leaving(running)
            farewell(running.config, DrainReport(0))
            ready = f"SAGA ready at {running.url}/v1"
        assert capsys.readouterr().out == ""
        assert {ready, "API key: one of server.api_keys"} <= set(caplog.messages)
        assert caplog.messages[-1].startswith("SAGA stopped")

    async def test_a_full_disk_does_not_keep_it_from_being_ready(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("saga_server.cli.announce.publish_address", full)
        monkeypatch.setattr("saga_server.cli.announce.withdraw_address", full)
        async with server(storage={"path": str(tmp_path)}) as running:
            announce(running)
            leaving(running)
        assert "SAGA ready" in capsys.readouterr().out
        assert caplog.text.count("No space left on device") == 2

    async def test_what_is_waited_for_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        async with server(server={"drain_timeout": 7}) as running:
            leaving(running)
        assert "0 open replies and the background work get 7 s" in capsys.readouterr().out


async def test_a_default_world_that_is_not_there_is_told_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with server(session={"default_world": "nowhere"}):
        assert 'session.default_world: there is no world "nowhere"' in caplog.text


async def test_the_aliases_of_a_world_are_its_names(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with server(session={"default_world": "my_world"}) as running, ClientSession(running.url) as http:
        assert "default_world" not in caplog.text
        async with http.post(CHAT, json={"messages": words("hi", system=None)}) as reply:
            assert reply.status == 200


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
    return True


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True

from __future__ import annotations

import logging
from typing import Any

import pytest

from saga_core.config.model import ServerConfig
from saga_core.errors import ConfigError
from saga_server.process.listening import check_listening, is_loopback
from saga_server.process.logs import formatter, secrets_of
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream

HELLO = words("hello")
KEY = "saga-key-1"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


class TestListening:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST.", "a.localhost", "::ffff:127.0.0.1"]
    )
    def test_this_machine(self, host: str) -> None:
        assert is_loopback(host)
        check_listening(ServerConfig(host=host))

    @pytest.mark.parametrize(
        "host", ["0.0.0.0", "::", "192.168.0.2", "example.com", "127.0.0.1.evil.example", "localhost.evil.example", "é"]
    )
    def test_elsewhere_needs_a_key(self, host: str) -> None:
        assert not is_loopback(host)
        check_listening(ServerConfig(host=host, api_keys=(KEY,)))
        with pytest.raises(ConfigError, match=r"set server\.api_keys, or server\.host: 127\.0\.0\.1"):
            check_listening(ServerConfig(host=host))


class TestKeys:
    @pytest.mark.parametrize(
        "header", [None, "", "Bearer", "Bearer undefined", "Bearer x", f"Basic {KEY}", f"Bearer {KEY}x"]
    )
    @pytest.mark.parametrize(
        ("method", "path"),
        [("POST", CHAT), ("GET", "/v1/models"), ("GET", "/api/status"), ("POST", "/api/drain"), ("GET", "/metrics"),
         ("GET", "/nowhere")],
    )  # fmt: skip
    async def test_wanted(self, keyed: Client, header: str | None, method: str, path: str) -> None:
        headers = {} if header is None else {"Authorization": header}
        reply = await keyed.send(method, path, json={"messages": HELLO}, headers=headers)
        assert (reply.status, reply.error["type"]) == (401, "authentication_error")
        assert reply.error["code"] == "invalid_api_key"
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert KEY not in reply.raw.decode()

    @pytest.mark.parametrize("header", [f"Bearer {KEY}", f"bearer {KEY}", f"Bearer {KEY}#room", "Bearer other-key"])
    async def test_shown(self, keyed: Client, header: str) -> None:
        assert (await keyed.chat(HELLO, headers={"Authorization": header})).status == 200
        assert (await keyed.get("/api/status", headers={"Authorization": header})).status == 200

    async def test_health_needs_none(self, keyed: Client) -> None:
        for path in ("/", "/healthz", "/readyz"):
            assert (await keyed.get(path)).status == 200

    @pytest.mark.parametrize("header", ["Bearer ", "Bearer undefined", "Bearer anything", "nonsense"])
    async def test_any_will_do_when_none_is_configured(self, offline: Client, header: str) -> None:
        assert (await offline.chat(HELLO, headers={"Authorization": header})).status == 200

    async def test_sessions_belong_to_them(self, keyed: Client) -> None:
        one = await keyed.chat(HELLO, headers={"Authorization": f"Bearer {KEY}"})
        two = await keyed.chat(HELLO, headers={"Authorization": "Bearer other-key"})
        assert one.session != two.session
        listed = (await keyed.get("/api/sessions", headers={"Authorization": f"Bearer {KEY}"})).raw.decode()
        assert KEY not in listed

    @pytest.fixture
    async def keyed(self, serve: Serve) -> Any:
        async with serve(server={"api_keys": [KEY, "other-key"]}) as client:
            yield client


class TestPassingKeysOn:
    async def test_the_clients_key_when_configured(self, serve: Serve, upstream: Upstream) -> None:
        provider = {"base_url": upstream.url, "passthrough_key": True}
        async with serve(providers={"openai": provider}) as client:
            await client.chat(HELLO, headers={"Authorization": "Bearer sk-mine#room"})
            await client.chat(HELLO)
        assert upstream.requests[0].headers["Authorization"] == "Bearer sk-mine"
        assert "Authorization" not in upstream.requests[1].headers

    async def test_never_sagas_own(self, serve: Serve, upstream: Upstream) -> None:
        provider = {"base_url": upstream.url, "passthrough_key": True, "api_key": "sk-up"}
        async with serve(providers={"openai": provider}, server={"api_keys": [KEY]}) as client:
            await client.chat(HELLO, headers={"Authorization": f"Bearer {KEY}"})
        assert upstream.requests[0].headers["Authorization"] == "Bearer sk-up"

    async def test_not_otherwise(self, client: Client, upstream: Upstream) -> None:
        await client.chat(HELLO, headers={"Authorization": "Bearer sk-mine", "Cookie": "a=b", "X-Custom": "c"})
        headers = upstream.requests[0].headers
        assert headers["Authorization"] == "Bearer sk-up"
        assert "Cookie" not in headers
        assert "X-Custom" not in headers


class TestHosts:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:8765", "[::1]:1", "127.0.0.1:80"])
    async def test_own_names(self, offline: Client, host: str) -> None:
        assert (await offline.get("/api/status", headers={"Host": host})).status == 200

    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8765", "["])
    @pytest.mark.parametrize("path", ["/api/status", "/metrics", "/api/sessions"])
    async def test_foreign_names(self, offline: Client, host: str, path: str) -> None:
        reply = await offline.get(path, headers={"Host": host})
        assert (reply.status, reply.error["param"]) == (403, "Host")

    async def test_a_client_in_a_container_may_chat(self, offline: Client) -> None:
        assert (await offline.chat(HELLO, headers={"Host": "host.docker.internal:8765"})).status == 200


class TestOrigins:
    EVIL = (
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "null",
        "evil",
        "",
    )

    @pytest.mark.parametrize("origin", EVIL)
    @pytest.mark.parametrize("kind", ["application/json", "text/plain"])
    async def test_pages_of_others_change_nothing(self, offline: Client, origin: str, kind: str) -> None:
        headers = {"Origin": origin, "Content-Type": kind}
        for method, path in (("POST", CHAT), ("POST", "/api/sessions"), ("POST", "/api/drain"), ("GET", "/api/status")):
            reply = await offline.send(method, path, data=b'{"messages": []}', headers=headers)
            assert (reply.status, reply.error["param"]) == (403, "Origin"), (method, path)
            assert "Access-Control-Allow-Origin" not in reply.headers
        assert (await offline.get("/api/sessions")).json["sessions"] == []

    @pytest.mark.parametrize("origin", EVIL)
    async def test_pages_of_others_are_told_so_beforehand(self, offline: Client, origin: str) -> None:
        reply = await _preflight(offline, CHAT, origin)
        assert reply.status == 403
        assert "Access-Control-Allow-Origin" not in reply.headers

    @pytest.mark.parametrize("origin", ["http://localhost:6001", "http://127.0.0.1:5173", "https://localhost"])
    async def test_pages_of_this_machine_may_chat_and_not_administer(self, offline: Client, origin: str) -> None:
        assert (await offline.chat(HELLO, headers={"Origin": origin})).status == 200
        assert (await offline.post("/api/drain", headers={"Origin": origin})).status == 403

    async def test_its_own_pages_may_administer(self, offline: Client) -> None:
        reply = await offline.post("/api/drain", headers={"Origin": offline.server.url})
        assert (reply.status, reply.headers["Access-Control-Allow-Origin"]) == (200, offline.server.url)

    async def test_a_name_that_was_made_to_point_here_is_not_its_own(self, offline: Client) -> None:
        headers = {"Origin": "http://evil.example", "Host": "evil.example"}
        assert (await offline.chat(HELLO, headers=headers)).status == 403

    async def test_configured_ones(self, serve: Serve) -> None:
        async with serve(server={"origins": ["https://RisuAI.xyz"]}) as client:
            for stream in (False, True):
                reply = await client.chat(HELLO, headers={"Origin": "https://risuai.xyz"}, stream=stream)
                assert reply.status == 200
                assert reply.headers["Access-Control-Allow-Origin"] == "https://risuai.xyz"
                assert reply.headers["Vary"] == "Origin"
                assert "X-SAGA-Turn" in reply.headers["Access-Control-Expose-Headers"]
            bad = await client.chat([], headers={"Origin": "https://risuai.xyz"})
            assert (bad.status, bad.headers["Access-Control-Allow-Origin"]) == (400, "https://risuai.xyz")
            assert (await client.post("/api/drain", headers={"Origin": "https://risuai.xyz"})).status == 200
            assert (await client.post("/api/drain", headers={"Origin": "https://risuai.xyz.evil"})).status == 403

    async def test_all_may_chat_when_configured_and_not_administer(self, serve: Serve) -> None:
        async with serve(server={"origins": ["*"]}) as client:
            assert (await client.chat(HELLO, headers={"Origin": "https://any.example"})).status == 200
            assert (await client.post("/api/drain", headers={"Origin": "https://any.example"})).status == 403

    @pytest.mark.parametrize("path", ["/mcp", "/s/a/mcp?allow=change", "/mcp/", "/w/b/s/a/mcp"])
    @pytest.mark.parametrize("origin", ["https://any.example", "http://127.0.0.1:8000", "http://evil.localhost"])
    async def test_tools_are_administration(self, serve: Serve, path: str, origin: str) -> None:
        async with serve(server={"origins": ["*"]}) as client:
            for reply in (
                await client.post(path, json=LIST, headers={"Origin": origin}),
                await _preflight(client, path, origin),
            ):
                assert (reply.status, reply.json["error"]["message"][:8]) == (403, "Origin: ")
                assert "Access-Control-Allow-Origin" not in reply.headers
            accept = {"Accept": "application/json, text/event-stream"}
            own = await client.post(path, json=LIST, headers={"Origin": client.server.url, **accept})
            assert own.status == 200

    async def test_preflight(self, serve: Serve) -> None:
        async with serve(server={"origins": ["https://risuai.xyz"], "api_keys": [KEY]}) as client:
            for path in (CHAT, "/chat/completions", "/s/a/v1/chat/completions", "/v1/models", "/api/drain"):
                reply = await _preflight(client, path, "https://risuai.xyz")
                assert reply.status == 204
                assert reply.raw == b""
                assert reply.headers["Access-Control-Allow-Origin"] == "https://risuai.xyz"
                assert "POST" in reply.headers["Access-Control-Allow-Methods"]
                assert reply.headers["Access-Control-Allow-Headers"] == "authorization, content-type, x-mine"
                assert reply.headers["Access-Control-Allow-Private-Network"] == "true"

    async def test_options_without_a_page(self, offline: Client) -> None:
        assert (await offline.send("OPTIONS", CHAT)).status == 204

    async def test_a_program_has_none(self, offline: Client) -> None:
        reply = await offline.chat(HELLO)
        assert "Access-Control-Allow-Origin" not in reply.headers


async def _preflight(client: Client, path: str, origin: str) -> Any:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, x-mine",
        "Access-Control-Request-Private-Network": "true",
    }
    return await client.send("OPTIONS", path, headers=headers)


class TestLogs:
    async def test_hold_no_keys(self, serve: Serve, upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        secrets = ["saga-key-geheim", "sk-up-geheim"]
        provider = {"base_url": upstream.url, "api_key": secrets[1], "max_retries": 0}
        async with serve(providers={"openai": provider}, server={"api_keys": [secrets[0]]}) as client:
            upstream.key = "another"
            await client.chat(HELLO, headers={"Authorization": f"Bearer {secrets[0]}"})
            assert secrets_of(client.server.config) == secrets
        assert caplog.records
        for record in caplog.records:
            for kind in ("text", "json"):
                assert "geheim" not in formatter(kind, secrets).format(record)

    def test_a_key_inside_a_traceback_is_taken_out(self) -> None:
        try:
            raise ValueError("the key is saga-key-geheim!")
        except ValueError as error:
            record = logging.LogRecord(
                "a", logging.ERROR, "", 1, "%s", ("saga-key-geheim",), (type(error), error, None)
            )
        for kind in ("text", "json"):
            assert formatter(kind, ["saga-key-geheim", "abc"]).format(record).count("(key)") == 2


async def test_a_refusal_of_an_address_says_what_to_do(offline: Client) -> None:
    """What a caller sent and what to use instead are no secrets; a key in it is one all the same."""
    evil = await offline.post("/api/drain", headers={"Origin": "http://evil.local:1/sk-proj-abcdefghijklmnop1234"})
    assert evil.error["message"].startswith("Origin: pages of http://evil.local:1/(key) may not use this; add")
    host = await offline.post("/api/drain", headers={"Host": "evil.local:8000"})
    assert host.error["message"].startswith(
        "Host: 'evil.local:8000' is not this server's name; address it as 127.0.0.1"
    )

"""Requests that no honest client sends: names that pass for others, heads that can be read in two ways, padding."""

from __future__ import annotations

import json
import time

import pytest

from saga_server.http.request_names import take_markers
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve
from tests.server.http.test_security_attacks import send_raw
from tests.server.upstream import Upstream

HELLO = words("hello")
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"


def head(*lines: str) -> bytes:
    return "\r\n".join((*lines, "Connection: close", "", "")).encode("latin-1")


HOSTS = [
    "evil.example@127.0.0.1",
    "127.0.0.1@evil.example",
    "127.0.0.1#.evil.example",
    "127.0.0.1/.evil.example",
    "127.0.0.1?.evil.example",
    "127.0.0.1\\.evil.example",
    "127.0.0.1,evil.example",
    "127.0.0.1 evil.example",
    "127.0.0.1.nip.io",
    "localhost.evil.example:8765",
    "127.0.0.1:80:80",
    "127.0.0.1:evil",
    "127.0.0.1:",
    "[::1",
    "[::1].evil.example",
    "::1",
    "0x7f.0.0.1",
    "127.1",
]
ORIGINS = [
    "http://evil.example@localhost",
    "http://localhost@evil.example",
    "http://localhost#.evil.example",
    "http://localhost/.evil.example",
    "http://localhost, http://evil.example",
    "http://127.0.0.1.nip.io",
    "http://0.0.0.0",
    "localhost",
    "file://",
    "null",
]


class TestNames:
    async def test_what_only_looks_like_this_machine_is_not(self, offline: Client) -> None:
        for host in HOSTS:
            for path in ("/api/status", "/v1/models"):
                answer = await send_raw(offline, head(f"GET {path} HTTP/1.1", f"Host: {host}"))
                assert answer.startswith(b"HTTP/1.1 403 "), (host, path, answer)

    async def test_its_names_in_every_spelling_are(self, offline: Client) -> None:
        for host in ("LOCALHOST:8765", "localhost.", "[::1]", "[::ffff:127.0.0.1]:80", "127.9.9.9"):
            answer = await send_raw(offline, head("GET /api/status HTTP/1.1", f"Host: {host}"))
            assert answer.startswith(b"HTTP/1.1 200 "), host

    async def test_nor_is_a_page_of_such_a_name(self, offline: Client) -> None:
        for origin in ORIGINS:
            reply = await offline.chat(HELLO, headers={"Origin": origin})
            assert (reply.status, reply.error["param"]) == (403, "Origin"), origin
            assert "Access-Control-Allow-Origin" not in reply.headers

    async def test_of_two_origins_none_is_believed(self, offline: Client) -> None:
        for first, second in (
            ("http://localhost", "https://evil.example"),
            ("https://evil.example", "http://localhost"),
        ):
            lines = (f"Origin: {first}", f"Origin: {second}")
            answer = await send_raw(offline, head("GET /v1/models HTTP/1.1", "Host: localhost", *lines))
            assert answer.startswith(b"HTTP/1.1 403 ") and b"Access-Control-Allow-Origin" not in answer

    async def test_a_whole_address_in_the_request_line_counts(self, offline: Client) -> None:
        answer = await send_raw(offline, head("GET http://evil.example/api/status HTTP/1.1", "Host: evil.example"))
        assert answer.startswith(b"HTTP/1.1 403 ")

    @pytest.mark.parametrize("keys", [[], ["k" * 20]])
    async def test_and_names_the_same_host(self, serve: Serve, keys: list[str]) -> None:
        async with serve(server={"api_keys": keys}) as client:
            lines = [f"Authorization: Bearer {key}" for key in keys]
            for target, host in (
                ("http://evil.example/api/status", "localhost"),
                ("http://localhost/api/status", "evil.example"),
                ("http://a:b@localhost/api/status", "localhost"),
                ("http://localhost:80/api/status", "localhost:81"),
                ("http://localhost?/api/status", "localhost"),
            ):
                answer = await send_raw(client, head(f"GET {target} HTTP/1.1", f"Host: {host}", *lines))
                assert answer.startswith(b"HTTP/1.1 400 "), (target, host, answer)
            for host in ("localhost", "LOCALHOST:8765"):
                target = f"http://{host.lower()}/api/status"
                answer = await send_raw(client, head(f"GET {target} HTTP/1.1", f"Host: {host}", *lines))
                assert answer.startswith(b"HTTP/1.1 200 "), (host, answer)


READ_IN_TWO_WAYS = [
    POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    POST + b"Content-Length: +2\r\n\r\n{}",
    POST + b"Content-Length : 2\r\n\r\n{}",
    POST + b"X: a\r\n b\r\n\r\n",
    POST + b"Host: evil.example\r\n\r\n",
    b"GET /api/status HTTP/1.1\r\n\r\n",
    b"GET /api/status HTTP/1.1\nHost: localhost\n\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    POST + b"Cookie: " + b"geheim" * 2_000 + b"\r\n\r\n",
]


class TestHeads:
    async def test_one_that_can_be_read_in_two_ways_is_refused_in_json(self, offline: Client) -> None:
        """Nothing of the second request in it is served, and none of its bytes come back."""
        for raw in READ_IN_TWO_WAYS:
            answer = await send_raw(offline, raw)
            top, _, body = answer.partition(b"\r\n\r\n")
            assert top.startswith(b"HTTP/1.0 400 ") and b"application/json" in top and b"nosniff" in top
            error = json.loads(body)["error"]
            assert (error["type"], error["param"]) == ("invalid_request_error", None)
            assert error["message"] and "geheim" not in error["message"] and "b'" not in error["message"]
        assert (await offline.get("/api/sessions")).json["sessions"] == []

    async def test_a_body_that_the_transfer_packs_is_refused(self, offline: Client) -> None:
        """A proxy in front may unpack it. aiohttp reads the chunks as they are."""
        answer = await send_raw(
            offline, POST + b"Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        )
        assert answer.startswith(b"HTTP/1.1 501 ") and b"send chunked alone" in answer

    async def test_a_host_is_a_name_also_where_keys_are(self, serve: Serve) -> None:
        async with serve(server={"api_keys": ["key-of-this-test"]}) as keyed:
            for host in ("127.0.0.1:1@evil.example", "a/b", "a b"):
                answer = await send_raw(
                    keyed,
                    f"GET /api/status HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer key-of-this-test\r\n"
                    "Connection: close\r\n\r\n".encode(),
                )
                assert answer.startswith(b"HTTP/1.1 400 "), (host, answer)

    async def test_an_endless_line_says_which_limit_it_met(self, offline: Client) -> None:
        answer = await send_raw(offline, POST + b"Cookie: " + b"a" * 20_000 + b"\r\n\r\n")
        assert b"longer than 8190 bytes" in answer
        answer = await send_raw(
            offline, b"GET /api/roll?dice=" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        assert b"longer than 65536 bytes" in answer

    async def test_chunks_beyond_the_limit(self, serve: Serve) -> None:
        """Nobody says beforehand how much it will be."""
        async with serve(server={"max_body_mb": 1}) as client:
            piece = b"%x\r\n%s\r\n" % (1 << 16, b"a" * (1 << 16))
            raw = POST + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 20
            assert (await send_raw(client, raw, until=b"max_body_mb")).startswith(b"HTTP/1.1 413 ")


class TestPadding:
    @pytest.mark.parametrize("number", ["1e999", "-1e400", "NaN", "Infinity", "9" * 5_000])
    async def test_a_number_that_no_provider_could_be_sent(
        self, client: Client, upstream: Upstream, number: str
    ) -> None:
        raw = f'{{"model": "m", "temperature": {number}, "messages": [{{"role": "user", "content": "hi"}}]}}'
        reply = await client.post(CHAT, data=raw)
        assert (reply.status, reply.error["param"]) == (400, "body")
        assert upstream.requests == []

    @pytest.mark.parametrize("padding", [" ", "\t", "\n", " \n", "\n ", "[[saga:session=", "]]", "[", "* ", "a:\n"])
    async def test_padding_costs_no_more_than_words(self, offline: Client, padding: str) -> None:
        """A pattern that goes through the same blanks from each of them would take minutes."""
        padded = f"[[saga:session=길]] 어제 만난 사람? {padding * (100_000 // len(padding))}끝"
        began = time.process_time()
        take_markers(words(padded))
        assert (await offline.chat(words(padded))).status == 200
        assert time.process_time() - began < 5

    async def test_few_of_many_declared_trackers_are_read(self, offline: Client) -> None:
        """Each takes 0.1 ms, and a request holds a hundred thousand; a story counts 32."""
        many = "".join(f"[[saga:tracker=g{number}|start=3]]" for number in range(20_000))
        began = time.process_time()
        reply = await offline.chat([{"role": "system", "content": many}, *words("I go.", system=None)])
        assert time.process_time() - began < 1
        assert "128 are read" in reply.headers["X-SAGA-Notice"]
        state = await offline.get(f"/api/sessions/{reply.session}/state")
        assert len(state.json["trackers"]) == 32

    @pytest.mark.parametrize(
        "said", ["나는 숲으로 간다. 어제 만난 노인은? ", "I walk into the woods and look for the old man. "]
    )
    async def test_a_book_for_a_message(self, offline: Client, said: str) -> None:
        """Its beginning and its end are looked through, and all of it is told and recorded."""
        book = (said * 50_000)[:200_000].strip()
        began = time.process_time()
        reply = await offline.chat(words(book))
        assert reply.status == 200 and "X-SAGA-Notice" not in reply.headers
        assert time.process_time() - began < 3
        assert [turn["user"] for turn in await offline.turns(reply.session)] == [book]

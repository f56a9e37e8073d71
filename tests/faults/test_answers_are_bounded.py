"""Servers that answer without end: whoever asks one takes no more than a bound, and every place that asks is here."""

from __future__ import annotations

import ast
import asyncio
import codecs
import gzip
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from attrs import define

import saga_backends
import saga_core
import saga_server
from saga_backends import http_client
from saga_backends.curator.letta_server import connect
from saga_backends.http_client import MOST_BODY, open_http
from saga_backends.tokens import tiktoken as tables
from saga_core.config import Config
from saga_core.errors import SagaError
from saga_core.registry import OpenOptions, load
from saga_server.cli import top
from saga_server.cli.data import data_access
from saga_server.http import BEARER, CURRENT, Bearer
from saga_server.process import running_server
from saga_server.tools import Call, over_http

ROOT = Path(saga_core.__file__).parents[1]
_CHUNK = b"a" * (1 << 20)
_SLACK = 24
"""Chunks that lie in buffers when somebody stops reading."""

_CLIENTS = {
    "AsyncClient",
    "ClientSession",
    "HTTPConnection",
    "HTTPSConnection",
    "bounded",
    "build_opener",
    "open_http",
    "urlopen",
    "urlretrieve",
}
"""What makes HTTP requests."""
_WHOLE = {"aread", "json", "read", "text"}
"""Methods that read an answer to its end."""

_ELSEWHERE = {
    "saga_server/http/other_servers.py": "hands each piece on as it comes, no faster than it is taken",
    "saga_server/demo/play.py": "asks the server that the demo itself has started",
}


@define
class Endless:
    """A server whose every answer goes on until its reader has gone. ``packed``: 64 MB that come as 64 KB."""

    url: str = ""
    sent: int = 0
    """Chunks of the answer that went on longest."""
    packed: bytes = b""
    status: int = 200
    asked: int = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        if self.status == 307:
            raise web.HTTPTemporaryRedirect("/elsewhere")
        if self.packed:
            headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
            return web.Response(body=self.packed, headers=headers, status=self.status)
        response = web.StreamResponse(headers={"Content-Type": "application/json"}, status=self.status)
        await response.prepare(request)
        sent = 0
        try:
            while sent < 200:  # who reads all of it finds no end, and the test does
                await response.write(_CHUNK)
                sent += 1
                self.sent = max(self.sent, sent)
        except ConnectionError:
            pass
        return response


@pytest.fixture
async def endless() -> AsyncIterator[Endless]:
    found = Endless()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


async def _models(url: str, folder: Path) -> None:
    model: Any = await load("chat", "openai").open(OpenOptions(options={"base_url": f"{url}/v1", "max_retries": 0}))
    try:
        await model.models()
    finally:
        await model.aclose()


async def _models_of_google(url: str, folder: Path) -> None:
    options = {"base_url": f"{url}/v1beta", "api_key": "k", "max_retries": 0}
    model: Any = await load("chat", "gemini").open(OpenOptions(options=options))
    try:
        await model.models()
    finally:
        await model.aclose()


async def _embedder(url: str, folder: Path) -> None:
    options = {"base_url": f"{url}/v1", "model": "m", "dimension": 16, "timeout": 30.0, "max_retries": 0}
    embedder: Any = await load("embedder", "openai").open(OpenOptions(options=options))
    try:
        await embedder.embed(["a", "b"], "passage")
    finally:
        await embedder.aclose()


async def _letta(url: str, folder: Path) -> None:
    server = await connect(url, None, "openai/m", None, 30.0)
    try:
        await server.version(30.0)
    finally:
        await server.aclose()


async def _table(url: str, folder: Path) -> None:
    await asyncio.to_thread(tables.fetch, tables.NoTable("missing", f"{url}/t.tiktoken", None), folder)


async def _command(url: str, folder: Path) -> None:
    await data_access.ask(Config(), data_access.Asking("GET", "/api/jobs"), url)


async def _reading(url: str, folder: Path) -> None:
    await running_server.ask(Config(), "/api/status", address=url)


async def _top(url: str, folder: Path) -> None:
    await asyncio.to_thread(top.look, url, None)


async def _tool(url: str, folder: Path) -> None:
    address = urlsplit(url)
    transport: Any = SimpleNamespace(get_extra_info=lambda name, default=None: (address.hostname, address.port))
    app, current = web.Application(), cast("Any", SimpleNamespace(mask=str))
    app[CURRENT] = current
    request = make_mocked_request("POST", "/mcp", transport=transport, app=app)
    request[BEARER] = Bearer()
    await over_http._ask(request, Call("GET", "/api/status", {}, None))


ASKING: dict[str, tuple[str, Callable[[str, Path], Awaitable[None]]]] = {
    "a list of models": ("saga_backends/chat/client.py", _models),
    "Google's list of models": ("saga_backends/chat/client.py", _models_of_google),
    "an embedder": ("saga_backends/embedder/openai.py", _embedder),
    "a curator's own server": ("saga_backends/curator/letta_server.py", _letta),
    "a table of tokens": ("saga_backends/tokens/tiktoken.py", _table),
    "a command": ("saga_server/process/running_server.py", _command),
    "who only reads": ("saga_server/process/running_server.py", _reading),
    "a tool over HTTP": ("saga_server/process/running_server.py", _tool),
    "saga top": ("saga_server/cli/top.py", _top),
}
_BOUNDED_HERE = "saga_backends/http_client.py"
_UNDER_THEM = (_BOUNDED_HERE,)


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are larger than a test needs."""
    for module in (data_access, running_server, top):
        monkeypatch.setattr(module, "_MOST", 4 << 20)
    monkeypatch.setattr(over_http, "MOST_BYTES", 4 << 20)
    monkeypatch.setattr(tables, "_LARGEST", 4 << 20)


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize("name", ASKING)
async def test_an_answer_without_end_is_an_error(name: str, endless: Endless, tmp_path: Path) -> None:
    with pytest.raises((SagaError, OSError), match=r"more than \d+ MB"):
        await ASKING[name][1](endless.url, tmp_path)
    assert endless.sent <= (MOST_BODY >> 20) + _SLACK


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize("name", ["a list of models", "an embedder", "a curator's own server"])
async def test_a_packed_one_is_counted_as_it_is_unpacked(name: str, endless: Endless, tmp_path: Path) -> None:
    endless.packed = gzip.compress(b"a" * (64 << 20), 1)
    with pytest.raises((SagaError, OSError), match=r"more than \d+ MB"):
        await ASKING[name][1](endless.url, tmp_path)


@pytest.mark.parametrize("name", ["a command", "who only reads", "a tool over HTTP"])
async def test_one_of_saga_is_not_unpacked(name: str, endless: Endless, tmp_path: Path) -> None:
    endless.packed = gzip.compress(b'{"a": 1}')
    with pytest.raises(SagaError, match="does not answer"):
        await ASKING[name][1](endless.url, tmp_path)


@pytest.mark.parametrize("name", ["a command", "who only reads", "a tool over HTTP"])
async def test_a_server_of_saga_leads_nowhere_else(name: str, endless: Endless, tmp_path: Path) -> None:
    endless.status = 307
    with pytest.raises(SagaError):
        await ASKING[name][1](endless.url, tmp_path)
    assert endless.asked == 1


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize("name", ["a list of models", "an embedder", "a curator's own server"])
async def test_of_a_refusal_without_end_the_beginning_is_read(name: str, endless: Endless, tmp_path: Path) -> None:
    endless.status = 400
    with pytest.raises(SagaError, match="400"):
        await ASKING[name][1](endless.url, tmp_path)
    assert endless.sent <= 1 + _SLACK


@pytest.fixture
async def named() -> AsyncIterator[Callable[[str, bytes], Awaitable[str]]]:
    """A server that refuses with a body in a charset. Returns its address."""
    runners = []

    async def opened(charset: str, body: bytes) -> str:
        async def answer(_: web.Request) -> web.Response:
            return web.Response(body=body, headers={"Content-Type": f"text/plain; charset={charset}"}, status=400)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runners.append(web.AppRunner(app, access_log=None))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runners[-1].addresses[0][1]}"

    yield opened
    for each in runners:
        await each.cleanup()


_UNFIT = "punycode idna rot13 undefined base64 zlib hex bz2 uu quopri unicode_escape utf-16 nonsense".split()


@pytest.mark.parametrize("charset", _UNFIT)
@pytest.mark.parametrize("name", ["a list of models", "an embedder", "a curator's own server"])
async def test_a_refusal_in_no_charset_of_texts_is_read_as_utf_8(
    name: str, charset: str, named: Callable[[str, bytes], Awaitable[str]], tmp_path: Path
) -> None:
    with pytest.raises(SagaError, match=r"(?s)400.*Überlast \\u00fc"):
        await ASKING[name][1](await named(charset, "Überlast \\u00fc".encode()), tmp_path)


@pytest.mark.parametrize("charset", ["euc-kr", "cp949", "shift_jis", "latin-1", "GB18030", "big5", "windows-1252"])
async def test_one_in_another_charset_of_texts_is_read_in_it(
    charset: str, named: Callable[[str, bytes], Awaitable[str]], tmp_path: Path
) -> None:
    said = {"latin-1": "Überlast", "windows-1252": "Überlast", "shift_jis": "過負荷"}.get(charset, "")
    said = said or ("과부하" if charset in ("euc-kr", "cp949") else "超載")
    with pytest.raises(SagaError, match=said):
        await _models(await named(charset, said.encode(charset)), tmp_path)


@pytest.mark.parametrize("charset", sorted(http_client._CHARSETS))
@pytest.mark.parametrize("body", [b"a", b"\x81", b"\x8f\xa1", b"\xff\xd8"])
def test_each_charset_decodes_any_bytes_in_linear_time(charset: str, body: bytes) -> None:
    took = []
    for size in (1 << 16, 1 << 19):
        decoder, raw = codecs.getincrementaldecoder(charset)("replace"), body * (size // len(body))
        begun = time.process_time()
        assert decoder.decode(raw) + decoder.decode(b"", True)
        took.append(time.process_time() - begun)
    assert took[1] < 20 * took[0] + 0.1


async def test_what_is_small_comes_as_it_is(endless: Endless) -> None:
    endless.packed = gzip.compress(json.dumps({"data": ["한국어"]}).encode())
    async with await open_http(endless.url, 30.0, {}) as client:
        found = await client.post("/x", json={})
        assert found.json() == {"data": ["한국어"]}
        async with client.stream("GET", "/x") as streamed:
            assert json.loads(await http_client.body_of(streamed)) == {"data": ["한국어"]}


@cache
def _modules() -> dict[str, ast.Module]:
    """Those in which a name stands by which requests are made."""
    found = {}
    for package in (saga_core, saga_backends, saga_server):
        for file in sorted(Path(package.__file__ or "").parent.rglob("*.py")):
            name, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
            # The benchmark asks a server of its own.
            if name != "saga_server/cli/bench.py" and any(client in text for client in _CLIENTS):
                found[name] = ast.parse(text)
    return found


def _asks(tree: ast.Module) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in _CLIENTS for node in calls
    )


def test_every_place_that_asks_a_server_is_attacked_here() -> None:
    asking = {name for name, tree in _modules().items() if _asks(tree)} - {_BOUNDED_HERE}
    known = {module for module, _ in ASKING.values()} | _ELSEWHERE.keys()
    assert asking == known


@pytest.mark.parametrize("name", sorted({*_UNDER_THEM, *(module for module, _ in ASKING.values())}))
def test_none_of_them_reads_an_answer_without_a_bound(name: str) -> None:
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            assert node.func.attr not in _WHOLE, f"{name}:{node.lineno} reads all that comes"

"""Where the doors are: every path leads to a handler, whatever stands before it and however many slashes are in it."""

from __future__ import annotations

import asyncio
import re
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from aiohttp import web
from aiohttp.http_writer import StreamWriter

from saga_server.doctor import examination
from saga_server.http import ClientRequest, Door, Doors, Failure, Incoming, PathPattern, ReplyFormat, door, plays
from saga_server.http.door import BASES
from tests.server.client import Client, words
from tests.server.conftest import Serve

HELLO = words("I look around.")
DOORS = Doors.load()


def test_the_doors_of_saga_are_installed() -> None:
    assert set(DOORS.loaded) == {"chat", "gemini", "mcp", "messages", "ollama", "passthrough", "responses", "text"}
    assert DOORS.failed == {}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("end", ["", "/", "//"])
def test_a_path_is_found_below_every_base(base: str, end: str) -> None:
    for path in DOORS.paths:
        place = DOORS.find(base.format(session="my%20chat", world="%ED%95%9C") + path + end)
        assert place is not None
        assert place.path == path
        assert place.session == ("my chat" if "session" in base else "")
        assert place.world == ("한" if "world" in base else "")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/v1",
        "/s/x",
        "/s/x/v1",
        "/api/status",
        "/api//status",
        "/api/v1/generate/x",
        "/api/sessions/v1/chat/completions",
        "/s/x/api/status",
        "/s/x/s/y/v1/models",
        "/V1/models",
        "/v1%2Fmodels",
    ],
)
def test_what_is_no_door(path: str) -> None:
    assert DOORS.find(path) is None


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v1//chat/completions", "/chat//completions//"])
async def test_a_slash_too_many_is_no_other_path(offline: Client, path: str) -> None:
    assert (await offline.chat(HELLO, path=path)).status == 200
    assert (await offline.get("/v1/models/")).status == 200
    assert (await offline.get("/api/extra/version/")).json["result"] == "KoboldCpp"


async def test_a_path_that_is_none_names_the_doors(offline: Client) -> None:
    told = (await offline.post("/v1/chat/complete", json={})).error["message"]
    for path in ("/v1/chat/completions", "/v1/messages", "/v1/completions", "/api/v1/generate", "/completion"):
        assert path in told
    wrong = await offline.get("/v1/chat/completions")
    assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")


async def test_what_is_no_door_is_not_open_to_who_may_only_chat(serve: Serve) -> None:
    keys = {"api_keys": ["all-of-it-1"], "chat_keys": ["chats-only-1"]}
    headers = {"Authorization": "Bearer chats-only-1"}
    async with serve(server=keys) as client:
        assert (await client.chat(HELLO, headers=headers)).status == 200
        for path in ("/api/status", "/api//status", "/s/x/api/status", "/v1/nothing", "/api/sessions/models"):
            refused: Any = await client.get(path, headers=headers)
            assert refused.status == 403, path


async def test_the_heads_of_a_door_are_told(offline: Client) -> None:
    async with offline.request("HEAD", "/v1/models") as response:
        assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize(
    ("path", "model", "verb"),
    [
        ("/v1/models/qwen3:14b", "qwen3:14b", None),
        ("/v1/models/llama3:latest/", "llama3:latest", None),
        ("/models/up/narrator-1", "up/narrator-1", None),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", "gemini-2.5-flash", "streamGenerateContent"),
        ("/v1/models/qwen3:14b:generateContent", "qwen3:14b", "generateContent"),
        ("/s/x/v1beta/tunedModels/mine:countTokens", "tunedModels/mine", "countTokens"),
        ("/v1beta/models/a%2Fb:generateContent", "a/b", "generateContent"),
    ],
)
def test_a_path_names_its_model(path: str, model: str, verb: str | None) -> None:
    place = DOORS.find(path, "POST" if verb else "GET")
    assert place is not None
    assert (place.named["model"], place.named.get("verb")) == (model, verb)


# -- doors of others -------------------------------------------------------------------------------------------


async def never(request: web.Request) -> web.StreamResponse:
    raise AssertionError("nobody asks")


TAKEN = Door(paths={"/v1/messages": {"POST": never}})
NO_DOOR = object()


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "saga.doors")


def test_doctor_says_which_doors_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    examination._doors(examination.DoctorReport(lines.append))
    assert lines == ["ok  doors: chat, gemini, mcp, messages, ollama, passthrough, responses, text"]
    monkeypatch.setattr(door, "entry_points", lambda group: [point("broken", "no_such_package:DOOR")])
    report = examination.DoctorReport(lines.append)
    examination._doors(report)
    assert not report.good
    assert lines[-1] == "!!  door broken: no_such_package:DOOR: No module named 'no_such_package'"


def test_doctor_says_which_door_takes_a_path_of_sagas_own(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {path: {"GET": never} for path in ("/api/sessions", "/api/sessions/one", "/healthz", "/api/mine")}
    monkeypatch.setattr(sys.modules[__name__], "HIDES", Door(paths=paths), raising=False)
    monkeypatch.setattr(door, "entry_points", lambda group: [point("mine", f"{__name__}:HIDES")])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    lines: list[str] = []
    report = examination.DoctorReport(lines.append)
    examination._doors(report)
    assert not report.good
    told = "takes the place of SAGA's own path; give it another one"
    hidden = ("/api/sessions", "/api/sessions/one", "/healthz")
    assert lines == ["ok  doors: mine", *(f"!!  door mine: {path} {told}" for path in hidden)]


async def test_a_door_that_cannot_be_loaded_leaves_the_others_working(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours = list(door.entry_points(group="saga.doors"))
    others = [
        point("broken", "no_such_package:DOOR"),
        point("odd", f"{__name__}:NO_DOOR"),
        point("second", f"{__name__}:TAKEN"),
    ]
    monkeypatch.setattr(door, "entry_points", lambda group: [*others, *ours])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    async with serve() as client:
        assert (await client.chat(HELLO)).status == 200
        status = (await client.get("/api/status")).json["doors"]
        examined = (await client.post("/api/doctor")).json["found"]
    assert {name for name, reason in status.items() if not reason} == set(DOORS.loaded)
    assert "No module named 'no_such_package'" in status["broken"]
    assert "NO_DOOR: a object, and no saga_server.http.Door" in status["odd"]
    assert "/v1/messages is served by the door messages already" in status["second"]
    assert {"door broken", "door odd", "door second"} <= {each["about"] for each in examined if not each["good"]}
    logged = [record.getMessage() for record in caplog.records if record.name == "saga.server"]
    assert len([line for line in logged if line.startswith("the door ")]) == 3


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        ({"mine": {"POST": None}}, "'mine' does not begin with '/'"),
        ({"/mine": {"post": None}}, "/mine has {'post': None}; give its handlers by method, such as {'POST': chat}"),
        ({"/mine": {"POTS": plays(print)}}, "/mine has the method 'POTS'; give one of GET, POST, "),
        ({"/mine": {"POST": print}}, " for POST; write it with async def, or give plays(it)"),
        ({"/mine": {"POST": None}}, "/mine has None for POST; write it with async def, or give plays(it)"),
        ({"/mine": len}, "/mine has <built-in function len>; give its handlers by method"),
    ],
)
def test_paths_that_would_not_be_served_are_refused(paths: Any, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(told)):
        Doors().add("mine", Door(paths=paths))


@pytest.mark.parametrize("regex", ["/mine/.*", re.compile(b"/mine")])
def test_a_pattern_that_cannot_be_matched_is_refused(regex: Any) -> None:
    pattern = PathPattern(regex=regex, methods={}, template="/mine/{name}")
    with pytest.raises(TypeError, match=r"cannot be matched; give PathPattern a regex of re.compile"):
        Doors().add("mine", Door(patterns=[pattern]))


class Texts(ReplyFormat):
    """A format whose methods return texts."""

    def text(self, index: int, text: str) -> bytes:
        return text  # type: ignore[return-value]

    def whole(self, *_: Any) -> bytes:
        return {"reply": 1}  # type: ignore[return-value]


def reads_nothing(incoming: Incoming) -> Any:
    return None


def reads(incoming: Incoming) -> ClientRequest:
    return ClientRequest(messages=HELLO, reply=Texts, stream="stream" in incoming.query, nameless=True)


def replies_with_nothing(incoming: Incoming) -> ClientRequest:
    return ClientRequest(messages=HELLO, reply=None, nameless=True)  # type: ignore[arg-type]


async def gives_a_text(request: web.Request) -> Any:
    return "done"


async def reads_later(incoming: Incoming) -> Any:
    return None


async def test_wrong_types_of_a_door_are_named(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = {
        "/nothing": plays(reads_nothing),
        "/texts": plays(reads),
        "/none": plays(replies_with_nothing),
        "/text": gives_a_text,
    }
    odd = Door(paths={path: {"POST": handler} for path, handler in handlers.items()})
    ours = list(door.entry_points(group="saga.doors"))
    monkeypatch.setattr(sys.modules[__name__], "ODD", odd, raising=False)
    monkeypatch.setattr(door, "entry_points", lambda group: [point("odd", f"{__name__}:ODD"), *ours])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    async with serve() as client:
        assert (await client.post("/nothing", json={})).status == 500
        assert (await client.post("/texts", json={})).status == 500
        await client.post("/texts?stream=1", json={})
        for path in ("/none", "/text"):
            assert (await client.post(path, json={})).status == 500
    assert ".replies_with_nothing gave None as the reply of its request; give what makes a ReplyFormat" in caplog.text
    assert ".gives_a_text gave a str; give a response of aiohttp" in caplog.text
    assert ".reads_nothing gave a NoneType; give a saga_server.http.ClientRequest" in caplog.text
    assert "Texts.whole of a door's reply format gave a dict; give bytes" in caplog.text
    assert "Texts.text of a door's reply format gave a str; give bytes" in caplog.text
    with pytest.raises(TypeError, match=r"\.reads_later is asynchronous; write it with def$"):
        plays(reads_later)


class Cancels(ReplyFormat):
    """A format whose methods cancel."""

    def text(self, index: int, text: str) -> bytes:
        raise asyncio.CancelledError

    def whole(self, *_: Any) -> bytes:
        raise asyncio.CancelledError


def reads_and_cancels(incoming: Incoming) -> ClientRequest:
    return ClientRequest(messages=HELLO, reply=Cancels, stream="stream" in incoming.query, nameless=True)


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), ValueError("odd")])
async def test_a_door_that_exits_or_cancels_in_an_answer_ends_that_answer_alone(
    raised: BaseException, serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def form(failure: Failure) -> Any:
        raise raised

    odd = Door(paths={"/text": {"POST": gives_a_text}, "/cancels": {"POST": plays(reads_and_cancels)}}, error=form)
    ours = list(door.entry_points(group="saga.doors"))
    monkeypatch.setattr(sys.modules[__name__], "ODD", odd, raising=False)
    monkeypatch.setattr(door, "entry_points", lambda group: [point("odd", f"{__name__}:ODD"), *ours])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    async with serve() as client:
        for path in ("/text", "/cancels"):
            answer = await client.post(path, json={})
            assert (answer.status, answer.error["type"]) == (500, "server_error")
        told = await client.post("/cancels?stream=1", json={})
        assert b"an unexpected error" in told.raw and b"shutting down" not in told.raw
        assert (await client.chat(HELLO)).status == 200
    assert "the error form of a door failed" in caplog.text


async def begins_and_fails(request: web.Request) -> Any:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"x")
    raise ValueError("odd")


async def test_a_reply_that_a_door_began_and_gave_up_is_cut_off(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer behind it would be read as its rest, and waited for."""
    odd = Door(paths={"/begins": {"POST": begins_and_fails}})
    ours = list(door.entry_points(group="saga.doors"))
    monkeypatch.setattr(sys.modules[__name__], "ODD", odd, raising=False)
    monkeypatch.setattr(door, "entry_points", lambda group: [point("odd", f"{__name__}:ODD"), *ours])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    async with serve() as client:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(client.server.config.server.host, client.server.port)
            writer.write(b"POST /begins HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            told = b""
            try:
                while piece := await reader.read(4096):
                    told += piece
            except ConnectionError:
                pass
            writer.close()
        assert told.count(b"HTTP/1.1") == 1 and b"200 OK" in told
        assert (await client.chat(HELLO)).status == 200


MUCH = 5 << 20


class Much(ReplyFormat):
    """A format that gives much at once."""

    def text(self, index: int, text: str) -> bytes:
        return b"x" * MUCH

    def whole(self, *_: Any) -> bytes:
        return b"x" * MUCH


def reads_for_much(incoming: Incoming) -> ClientRequest:
    return ClientRequest(messages=HELLO, reply=Much, stream="stream" in incoming.query, nameless=True)


@pytest.mark.parametrize("stream", ["", "?stream=1"])
async def test_what_a_door_gives_at_once_is_sent_in_pieces(
    stream: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection copies what it is given, and nobody else is served meanwhile."""
    odd = Door(paths={"/much": {"POST": plays(reads_for_much)}})
    ours = list(door.entry_points(group="saga.doors"))
    monkeypatch.setattr(sys.modules[__name__], "ODD", odd, raising=False)
    monkeypatch.setattr(door, "entry_points", lambda group: [point("odd", f"{__name__}:ODD"), *ours])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    sent: list[int] = []
    async with serve() as client:
        for name in ("write", "write_eof"):
            inner = getattr(StreamWriter, name)

            async def counted(
                self: StreamWriter, chunk: bytes = b"", *more: Any, inner: Any = inner, **named: Any
            ) -> Any:
                sent.append(len(chunk))
                return await inner(self, chunk, *more, **named)

            monkeypatch.setattr(StreamWriter, name, counted)
        answer = await client.post(f"/much{stream}", json={})
        assert answer.status == 200 and answer.raw.count(b"x") >= MUCH
    assert max(sent) <= 1 << 20

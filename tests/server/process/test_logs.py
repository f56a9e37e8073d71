"""Log lines: JSON and text, ids of request, session and turn, and nothing of a story above debug."""

from __future__ import annotations

import io
import json
import logging
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from saga_core.config import load_config
from saga_core.counters import set_log_context, subject
from saga_server.process.logs import formatter, secrets_of, set_up_logging
from saga_server.process.masking import Mask
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.http.test_security_attacks import send_raw
from tests.server.upstream import Upstream

WORDS = "나는 Quillfeather 를 찾는다."


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """``begin(level, format)`` sends the log to a text; ``lines()`` reads it."""
    held = io.StringIO()
    root, ours = logging.getLogger(), ("saga", "saga_core", "saga_backends", "saga_server")
    before = root.handlers[:], root.level, {name: logging.getLogger(name).level for name in ours}

    class Lines:
        def begin(self, level: str = "info", kind: str = "json") -> None:
            set_up_logging(load_config({"logging": {"level": level, "format": kind}}, environ={}))
            root.handlers[0].setStream(held)  # type: ignore[attr-defined]

        def text(self) -> str:
            return held.getvalue()

        def __call__(self) -> list[dict[str, Any]]:
            return [json.loads(line) for line in held.getvalue().splitlines()]

    yield Lines()
    root.handlers[:], root.level = before[0], before[1]
    logging.captureWarnings(False)
    for name, level in before[2].items():
        logging.getLogger(name).setLevel(level)


async def test_a_turn_is_told_with_its_ids(client: Client, upstream: Upstream, lines: Any) -> None:
    lines.begin("debug")
    reply = await client.chat(words(WORDS), headers={"X-Request-ID": "mine-1"})
    told = [line for line in lines() if line["logger"] == "saga.said"]
    assert [line["message"].partition(":")[0] for line in told] == ["to narrator-1", "from narrator-1"]
    for line in told:
        assert line["request"] == "mine-1" == reply.headers["X-Request-ID"]
        assert (line["session"], line["turn"]) == (reply.session, reply.turn)
        assert line["private"] is True
    assert WORDS in told[0]["message"] and "The rain stops." in told[1]["message"]


async def test_nothing_of_a_story_is_told_above_debug(client: Client, upstream: Upstream, lines: Any) -> None:
    lines.begin("info")
    session = (await client.chat(words(WORDS))).session
    await client.post(f"/api/sessions/{session}/reset")
    await client.get(f"/api/memory/search?q=Quillfeather&session={session}")
    await client.chat([{"role": "user", "content": WORDS, "more": {"nested": WORDS}}], n=99)
    await client.post("/api/drain")
    assert "Quillfeather" not in lines.text()


async def test_background_work_is_told_with_its_session_and_no_request(
    client: Client, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise OSError("no room")

    lines.begin()
    monkeypatch.setattr(type(client.server.saga.parts.projector), "render", fails)
    reply = await client.chat(words("hello"))
    await client.post("/api/drain")
    failed = [line for line in lines() if line["logger"] == "saga.background"]
    assert {line["session"] for line in failed} == {reply.session}
    assert failed[-1]["turn"] == reply.turn
    assert not any("request" in line for line in failed)
    assert "OSError: no room" in failed[0]["error"]


async def test_an_id_that_could_forge_a_line_is_replaced(offline: Client) -> None:
    for given in ("a b", "x" * 65, "é", '"}'):
        answer = await offline.get("/healthz", headers={"X-Request-ID": given})
        assert answer.headers["X-Request-ID"] != given
    assert len({(await offline.get("/healthz")).headers["X-Request-ID"] for _ in range(3)}) == 3


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: geheim\x00\r\n\r\n",
        b"geheim geheim geheim\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: geheim\r\n\r\n",
    ],
)
async def test_a_malformed_request_is_one_line_without_its_content(offline: Client, lines: Any, raw: bytes) -> None:
    lines.begin()
    await send_raw(offline, raw)
    (line,) = lines()
    assert line["level"] == "warning"
    assert "127.0.0.1" in line["message"] and "geheim" not in line["message"]
    assert "error" not in line
    assert await offline.metric("saga_http_malformed_total") == 1


async def test_an_unexpected_failure_of_a_handler_keeps_its_traceback(
    serve: Serve, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve() as client:
        lines.begin()

        async def broken(*_: Any, **__: Any) -> None:
            raise RuntimeError("broken")

        monkeypatch.setattr(type(client.server.saga.sessions), "records", broken)
        answer = await client.get("/api/sessions")
    assert answer.status == 500
    (line,) = lines()
    assert "RuntimeError: broken" in line["error"]
    assert line["request"] == answer.headers["X-Request-ID"]


def test_a_text_line_for_people(lines: Any) -> None:
    lines.begin("debug", "text")
    logging.getLogger("saga.background").warning("하나 %s", "둘")
    logging.getLogger("saga.said").debug("geheim", extra={"private": True})
    logging.getLogger("httpx").info("not ours")
    first, second = lines.text().splitlines()
    assert first.endswith("WARNING saga.background: 하나 둘")
    assert second.endswith("DEBUG   saga.said: [private] geheim")


OURS = "saga_" + "Ab1-" * 10


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"k%3D{OURS}", OURS),
        (f"token{OURS}", OURS),
        ("key%3Dsk-abcdefghijklmnop1234", "abcdefghijklmnop"),
        ("x_sk-abcdefghijklmnop1234", "abcdefghijklmnop"),
        ("p%2Bwd%2FK3y refused", "wd%2FK3y"),
        ("p+wd/K3y refused", "wd/K3y"),
        ("cCt3ZC9LM3k= refused", "cCt3ZC9LM3k"),
        ("pa/ss@word9 refused", "word9"),
        ("http://user:hun/ter2pass@host/v1", "ter2"),
        ("http://user:p@ss@host/v1", "ss@"),
        ("http://me@mail.com:pwpw@host", "pwpw"),
        ("http%3A%2F%2Fuser%3Apwpw%40host", "pwpw"),
        ("https://ghp_Token99@host/v1", "Token99"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw"),
        ("x-api-key: onlyletters", "onlyletters"),
        ("hf_abcdefghijklmnopqrstuv", "abcdefgh"),
    ],
)
def test_a_secret_is_taken_out_in_every_spelling(text: str, secret: str) -> None:
    mask = Mask.of(["p+wd/K3y", "pa%2Fss%40word9"])
    assert secret not in mask(text) and "(key)" in mask(text)


@pytest.mark.parametrize("around", [("", ""), ("u:", ""), ("user:", "\n"), ("key=", "&x")])
def test_a_secret_in_base64_or_percents_is_taken_out_wherever_it_stands(around: tuple[str, str]) -> None:
    mask = Mask.of(["open-sesame/9?"])
    before, behind = around
    plain = f"{before}open-sesame/9?{behind}".encode()
    for packed in (b64encode(plain), urlsafe_b64encode(plain)):
        shown = mask(f"refused {packed.decode()} here")
        assert "(key)" in shown and len(shown) < len(packed) + 6
    assert mask(f"{before}open%2Dses%61me%2f9%3F{behind}") == f"{before}(key){behind}"
    assert mask(f"{before}{b'open-sesame/9?'.hex()}{behind}") == f"{before}(key){behind}"


def _escaped(form: str) -> str:
    return "".join(form.format(ord(char)) for char in "open-sesame/9?")


@pytest.mark.parametrize("form", ["%{:02X}", "%25{:02x}", "\\x{:02x}", "\\u{:04X}", "&#{};", "&#x{:X};"])
def test_a_secret_is_taken_out_in_every_escape(form: str) -> None:
    mask = Mask.of(["open-sesame/9?"])
    assert (
        mask(f"bad {_escaped(form)} here") == mask(f"bad open{form.format(ord('-'))}sesame/9? here") == "bad (key) here"
    )


def test_what_looks_like_a_key_is_taken_out_with_its_escapes() -> None:
    for text in ("sk-proj%2Dabcdefghijklmnop1234", "sk%2dproj-abcdefghijklmnop1234"):
        assert Mask.of(())(f"bad {text} here") == "bad (key) here"


@pytest.mark.parametrize(
    "text", ["http://host:8080/v1?to=me@mail.com", "see http://host/a or me@mail.com", "risk-free"]
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Mask.of(())(text) == text


def test_what_looks_like_a_secret_is_taken_out() -> None:
    mask = Mask.of(["open-sesame", "ab"])
    for text in (
        "key open-sesame refused",
        "Authorization: Bearer abcdef12345",
        "Incorrect API key: sk-proj-abcdefghijklmnop1234",
        "postgresql://saga:open1@db/saga",
    ):
        assert "(key)" in mask(text)
    for secret in ("open-sesame", "abcdef12345", "abcdefghijklmnop", "open1"):
        assert secret not in mask(
            f"{secret if secret == 'open-sesame' else ''} Bearer abcdef12345 sk-abcdefghijklmnop9 "
            "postgresql://saga:open1@db/saga"
        )
    assert mask("wants a bearer token; ab") == "wants a bearer token; ab"


def test_secrets_are_looked_for_everywhere() -> None:
    config = load_config(
        {
            "server": {"api_keys": ["admin-key"], "chat_keys": ["chat-key"]},
            "storage": {
                "url": "postgresql://saga:pass-of-all@db/saga",
                "state": {"backend": "elsewhere", "url": "postgresql://saga:pass-word@db/saga"},
            },
            "recall": {"options": {"api_key": "embed-key", "model": "small"}},
            "api_keys": {"openai": "open-key"},
        },
        environ={},
    )
    found = set(secrets_of(config, {"ANTHROPIC_API_KEY": "env-key"}))
    basic = ("saga:pass-word", "saga:pass-of-all")
    assert found == {"admin-key", "chat-key", "pass-word", "pass-of-all", *basic, "embed-key", "open-key", "env-key"}


def test_json_lines_are_lines_of_json() -> None:
    record = logging.LogRecord("saga", logging.INFO, "", 1, "두\nzeilen %s", ('"geheim"',), None)
    record.created = 0.5
    line = formatter("json", ["geheim"]).format(record)
    assert "\n" not in line and "두" in line
    found = json.loads(line)
    assert found["message"] == '두\nzeilen "(key)"'
    assert list(found) == ["time", "level", "logger", "message"]
    assert found["time"].startswith("1970-01-01T00:00:00.") and found["time"].endswith("Z")


def test_a_subject_changes_as_a_whole() -> None:
    set_log_context(request="r", session="s")
    set_log_context(turn="t")
    assert (subject().request, subject().session, subject().turn) == ("r", "s", "t")
    set_log_context(session="other")
    assert (subject().request, subject().session, subject().turn) == ("r", "other", "")
    set_log_context(request="")
    assert (subject().request, subject().session, subject().turn) == ("", "", "")

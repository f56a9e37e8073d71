"""What stories and clients write moves no cursor, forges no line and ends no command."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from saga_core import Saga
from saga_server.cli.saga_command import main
from saga_server.cli.top import render
from saga_server.process.logs import formatter
from saga_server.terminal import harmless, on_one_line, say_json
from tests.core.frontend import Frontend

TITLE = "\x1b]0;mine\x07"
CSI = "\x9b2J"


def test_harmless() -> None:
    assert harmless(f"가\t나\n{TITLE}{CSI}") == "가\t나\n\ufffd]0;mine\ufffd\ufffd2J"
    assert on_one_line("a\r\nb\u2028\x1b") == r"a\x0d\x0ab\u2028\x1b"


def test_an_answer_in_json_is_the_same_when_it_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    answer = {"what": f"가 {TITLE}{CSI}\x7f\n"}
    say_json(answer)
    told = capsys.readouterr().out
    assert json.loads(told) == answer
    assert not {"\x1b", "\x9b", "\x7f"} & set(told)


def test_a_line_of_the_log_is_one_line() -> None:
    """A model's name comes from the client."""
    told = "%s narrates instead of %s"
    name = f"x\n12:00:00 ERROR   saga.server: everything is lost{TITLE}"
    record = logging.LogRecord("saga.server", logging.WARNING, "", 1, told, (name, "y\r\nz"), None)
    line = formatter("text", ()).format(record)
    assert "\n" not in line and "\r" not in line and "\x1b" not in line and "everything is lost" in line


def test_a_story_is_text_to_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def played() -> None:
        async with Saga.open({"storage": {"path": "data"}}) as saga:
            chat = Frontend(saga, session="길")
            await chat.say(f"등대로 {TITLE} 간다.", f"등대지기가 {CSI} 웃는다. {TITLE}", location=f"등대{TITLE}")
            await chat.say("등대지기를 찾는다.", "그는 없다.")
            await saga.drain(10)

    asyncio.run(played())
    plain = [["explain", "길"], ["sessions"], ["memories", "길"], ["timelines", "길"], ["verify"], ["jobs"]]
    for command in (*plain, *([*each, "--json"] for each in plain)):
        result = CliRunner().invoke(main, [*command, "--data", "data"])
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.stdout and "\x9b" not in result.stdout, command


def test_what_looks_like_markup_is_text() -> None:
    status = {
        "version": "1",
        "uptime_seconds": 1.0,
        "narrators": [f"openai [/red] {TITLE}"],
        "active_sessions": 1,
        "open_requests": 0,
        "sessions": 1,
        "work": {},
        "counters": {},
        "degraded": {"embedder": "[/bold] [link=http://evil.example]x[/link]"},
    }
    console = Console(record=True, width=200)
    console.print(render(status, {}))
    told = console.export_text()
    assert "[/bold]" in told and "[link=" in told and "\x1b" not in told

"""What the pages tell to type is typed: the commands of docs/operate.md on data, and the requests of docs/http.md."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from saga_core import Saga
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend
from tests.docs.pages import page
from tests.server.client import Client

OPERATE = [block for block in page("docs/operate.md").blocks if block.language == "sh" and block.runs]
LINES = [line for block in OPERATE for line in block.text.splitlines()]
OWNER = "1f0c9a7d5b3e2c48"
MADE = "/mnt/safe/saga-20260102-030405.db"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page find what they speak of."""
    folder = tmp_path_factory.mktemp("operate")

    async def play() -> None:
        async with Saga.open({"storage": {"path": str(folder / "saga-data")}}) as saga:
            await Frontend(saga, session="my chat").say("I go in.", "Quillfeather smiles. It is cold.", hp_change=-5)
            await Frontend(saga, session="other", owner=OWNER).say("들어간다.", "문이 열린다. 바람이 분다.")
            await saga.drain(10)

    asyncio.run(play())
    return folder


@pytest.fixture
def here(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, as the working directory; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def typed(line: str, folder: Path) -> Result:
    """What a line of the page does, with places and ids that there are here."""
    line = line.replace("/mnt/safe/", f"{folder}/safe/").replace("1f0c9a…", OWNER)
    program, *words = shlex.split(line)
    assert program == "saga"
    return CliRunner().invoke(main, words, input="y\n" if words[0] == "forget" else None)


def test_the_page_has_commands() -> None:
    assert len(LINES) >= 14
    assert {line.split()[1] for line in LINES} >= {"backup", "restore", "verify", "export", "import", "forget", "jobs"}


@pytest.mark.parametrize("line", LINES)
def test_every_command_of_operating_does_what_it_says(line: str, here: Path) -> None:
    command = line.split()[1]
    (here / "safe").mkdir()
    if command in ("restore", "import"):  # they want what other commands made
        made = ("export", "my chat", "my-chat.jsonl") if command == "import" else ("backup", "kept.db")
        assert CliRunner().invoke(main, made).exit_code == 0
    if MADE in line:
        (here / "kept.db").rename(here / "safe" / Path(MADE).name)
        shutil.rmtree(here / "saga-data")
    done = typed(line, here)
    assert done.exit_code == 0, done.output
    assert "Traceback" not in done.output
    told = {
        "backup": "2 sessions, 2 turns, ",
        "restore": "2 sessions: restored, and equal to the journal",
        "verify": "equal to the journal",
        "export": "my-chat.jsonl: ",
        "import": "my chat (2)  1 turn",
        "forget": "forgotten: ",
        "jobs": "0 jobs, 0 stuck",
    }
    assert told[command] in done.output


CURL = re.compile(r"http://127\.0\.0\.1:8765(?P<path>/\S*)")


@pytest.mark.parametrize("name", ["http", "memory"])
async def test_the_requests_of_the_pages_are_answered(name: str) -> None:
    blocks = [block for block in page(f"docs/{name}.md").blocks if block.text.startswith("curl ")]
    assert blocks
    async with Client.of({}, {}) as client:
        chat = Frontend(client.server.saga, session="my-chat")
        await chat.say("I go in.", "Ergen nods. The other says nothing.", npc_met=("Ergen", "the hooded man"))
        change = ""
        for block in blocks:
            words = shlex.split(block.text.replace("\\\n", " "))
            path = next(found["path"] for word in words if (found := CURL.fullmatch(word)))
            if "-d" in words:
                reply = await client.post(path, json=json.loads(words[words.index("-d") + 1]))
                change = reply.json.get("change", "")
            else:
                reply = await client.send(words[words.index("-X") + 1], path.replace("CHANGE", change))
            assert reply.status in (200, 201), (block.text, reply.raw)

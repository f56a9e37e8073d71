"""The admin API under requests that its description allows, and under such as it forbids: no answer is a surprise."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.server.client import Client, words
from tests.server.conftest import Serve

SECONDS = 60
"""For each run."""
RARE = '"2xx", "4xx", 501, 503'
DESTRUCTIVE = ("delete_sessions_id", "post_sessions_id_reset", "post_forget")
"""After which nothing would be left to ask about."""


async def attack(url: str, settings: Path, *options: str) -> str:
    """What schemathesis says. Fails with it when an answer was not as described."""
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("schemathesis"), "--config-file", settings, "run", ROOT / "docs/openapi.json",
        "--url", url, "--exclude-path", "/api/events", "--exclude-path", "/api/import", "--phases", "coverage,fuzzing",
        "--max-time", str(SECONDS), "--warnings", "off", "--no-color", *options,
        cwd=settings.parent, env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0, said
    return said


@pytest.mark.deep
@pytest.mark.parametrize("known", [False, True])
async def test_no_request_finds_what_is_not_described(tmp_path: Path, known: bool, serve: Serve) -> None:
    """With names that nobody has, and within a session that is there."""
    async with serve(storage={"profile": "lite", "path": str(tmp_path / "data")}) as client:
        await client.chat(words("숲으로 간다."), path="/s/demo/v1/chat/completions")
        turn = (await client.get("/api/sessions/demo")).json["head"]
        names = {"path.id": "demo", "query.session": "demo", "query.turn": turn, "query.one": turn, "query.other": turn}
        lines = [f'"{name}" = "{value}"' for name, value in names.items()] if known else []
        settings = tmp_path / "schemathesis.toml"
        settings.write_text(
            "\n".join(("[parameters]", *lines, "[checks]", f"not_a_server_error.expected-statuses = [{RARE}]",
                       "positive_data_acceptance.enabled = false"))
        )  # fmt: skip
        spared = [word for name in DESTRUCTIVE for word in ("--exclude-operation-id", name)] if known else []
        said = await attack(client.server.url, settings, *spared)
        assert "passed" in said
        assert (await client.get("/readyz")).status == 200, "and the server is as it was"
        assert (await client.get("/api/status")).json["degraded"] == {}


@pytest.mark.deep
async def test_no_file_is_taken_in_by_halves(tmp_path: Path) -> None:
    """A session's file, changed anywhere, is refused or taken in whole: the journal verifies afterwards."""
    chance = random.Random(8)
    config = {"storage": {"profile": "lite", "path": str(tmp_path / "data")}}
    async with Client.of(config, {}) as client:
        await client.chat(words("숲으로 간다."), path="/s/demo/v1/chat/completions")
        whole = (await client.get("/api/sessions/demo/export")).raw
        for _ in range(600):
            raw = bytearray(whole)
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(raw))
                if chance.random() < 0.3:
                    del raw[at : at + chance.randint(1, 80)]
                else:
                    raw[at] = chance.randrange(256)
            for edited in "01":
                answer = await client.post("/api/import", params={"edited": edited}, data=bytes(raw))
                assert answer.status in (201, 400), answer.raw
        verdict = (await client.get("/api/verify")).json
        assert verdict["findings"] == []

"""Keys and passwords, wherever they stand in the settings: no answer, no line of the log and no text shows one."""

from __future__ import annotations

import logging

import pytest

from saga_core.config import load_config
from saga_core.errors import ConfigError, StoreError
from saga_server.doctor import examination
from saga_server.process.logs import formatter, secrets_of
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, fails

PATHS = (
    "/",
    "/healthz",
    "/readyz",
    "/api/status",
    "/metrics",
    "/v1/models",
    "/api/jobs",
    "/api/sessions",
    "/api/openapi",
)


async def test_a_password_in_an_address(serve: Serve, upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    """Of a provider behind a door of its own."""
    caplog.set_level(logging.DEBUG)
    address = upstream.url.replace("http://", "http://saga:geheim-door@")
    provider = {"base_url": address, "api_key": "geheim-key", "max_retries": 0}
    unheard = {"base_url": "http://saga:geheim-other@127.0.0.1:9/v1", "api_key": "geheim-third", "max_retries": 0}
    keys = {"api_keys": ["geheim-admin"], "chat_keys": ["geheim-chat"]}
    async with serve(providers={"openai": provider, "away": unheard}, server=keys) as client:
        client.key = "geheim-admin"
        upstream.then(fails(500, f"geheim-key may not come to {address}"))
        seen = [await client.chat(words("hello")), await client.chat(words("hello"), model="away/x", stream=True)]
        seen += [await client.get(path) for path in PATHS]
        seen += [await client.get("/nowhere?key=geheim-admin"), await client.get("/api/status?key=geheim-admin")]
        config = client.server.config
        named = " ".join(client.server.narrators.describe())
    for answer in seen:
        assert b"geheim" not in answer.raw and "geheim" not in str(answer.headers), answer
    assert "(key) may not come to" in seen[0].error["message"]
    assert "geheim" not in named and "geheim" not in repr(config)
    ours = [record for record in caplog.records if record.name.startswith("saga")]
    forms = [formatter("json", secrets_of(config, {})), formatter("text", secrets_of(config, {}))]
    assert ours and not [line for record in ours for form in forms if "geheim" in (line := form.format(record))]


async def test_what_doctor_finds_shows_none(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    found = "geheim-chat refused by http://saga:geheim-door@127.0.0.1/"

    async def broken(*_: object, **__: object) -> None:
        raise StoreError(found)

    async def reported(config: object, report: examination.DoctorReport, *_: object) -> None:
        report.check(False, found)

    async with serve(server={"api_keys": ["geheim-admin"], "chat_keys": ["geheim-chat"]}) as client:
        client.key = "geheim-admin"
        monkeypatch.setattr(type(client.server.saga.stores.state), "check", broken)
        answer = await client.post("/api/doctor")
        config = client.server.config
    assert answer.status == 200 and b"refused by" in answer.raw and b"geheim" not in answer.raw
    lines: list[str] = []
    for part in ("_stores", "_curator", "_providers"):
        monkeypatch.setattr(examination, part, reported)
    assert not await examination.examine(config, lines.append)
    assert any("refused by" in line for line in lines) and "geheim" not in "".join(lines)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/v1?key=geheim", "http://127.0.0.1/v1#geheim", "ftp://a:geheim@b"]
)
def test_an_address_that_cannot_be_used_is_not_shown(address: str) -> None:
    with pytest.raises(
        ConfigError, match=r"providers\.openai\.base_url: the value \(hidden\) is not allowed"
    ) as refused:
        load_config({"providers": {"openai": {"base_url": address}}}, environ={})
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    ("tree", "environ"),
    [
        ({"server": {"api_keys": "geheim"}}, {}),
        ({"server": {"api_keys": ["geheim geheim"]}}, {}),
        ({"api_keys": {"openai": ["geheim"]}}, {}),
        ({"providers": {"openai": {"api_key": "geheim\n"}}}, {}),
        ({"providers": {"openai": {"api_key": "${KEY}"}}}, {"KEY": "geheim \u00e9"}),
        ({"storage": {"state": {"url": ["geheim"]}}}, {}),
    ],
)
def test_nor_is_a_key_that_cannot_be_one(tree: dict[str, object], environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(tree, environ=environ)
    assert "geheim" not in str(refused.value) and "hidden" in str(refused.value)


async def test_a_key_in_the_request_line_is_in_no_line_of_the_log(
    offline: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Some clients put it there; SAGA looks for none there."""
    caplog.set_level(logging.DEBUG)
    for path in ("/v1/models?key=geheim", "/api/status?api_key=geheim", "/v1/chat/completions?key=geheim"):
        await offline.get(path)
    assert not [line for line in caplog.messages if "geheim" in line]

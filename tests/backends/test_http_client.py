"""Proxies in the environment: a local address is asked without one, and one that cannot be used is named."""

from __future__ import annotations

import httpx2
import pytest

from saga_backends.http_client import open_http
from saga_core.errors import BadInput
from tests.server.upstream import Upstream

NOBODY = "http://127.0.0.1:9"
NAMES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, *map(str.lower, NAMES)):
        monkeypatch.delenv(name, raising=False)


ENVIRONMENTS: list[dict[str, str]] = [
    {"ALL_PROXY": "socks://127.0.0.1:9/"},
    {"all_proxy": "socks5h://127.0.0.1:9"},
    {"HTTP_PROXY": NOBODY},
    {"http_proxy": NOBODY, "NO_PROXY": "10.0.0.0/8"},
    {"HTTPS_PROXY": NOBODY, "NO_PROXY": "localhost,127.0.0.1,::1,[::1],fd07:b51a:cc66::/64"},
    {"ALL_PROXY": "127.0.0.1:9"},
    {"HTTPS_PROXY": "none"},
]


@pytest.mark.parametrize("given", ENVIRONMENTS, ids=str)
async def test_a_local_address_is_asked_without_a_proxy(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    async with Upstream() as upstream, await open_http(upstream.url, 5.0, {}) as client:
        assert (await client.get("/models")).status_code == 200


@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTPS_PROXY", "https_proxy"])
@pytest.mark.parametrize("value", ["socks://127.0.0.1:9/", "socks5h://127.0.0.1:9", "gopher://127.0.0.1"])
async def test_a_proxy_that_cannot_be_used_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=rf"^{name}: this proxy cannot be used for models\.example\.com .*NO_PROXY"):
        await open_http("https://models.example.com/v1", 5.0, {})


async def test_no_proxy_holds_for_an_address_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", NOBODY)
    monkeypatch.setenv("NO_PROXY", "models.example.com,[::1],fd07::/64")
    async with await open_http("https://models.example.com/v1", 5.0, {}) as client:
        used = [client._transport_for_url(httpx2.URL(f"https://{name}.example.com")) for name in ("models", "x")]
    assert [each is client._transport for each in used] == [True, False]

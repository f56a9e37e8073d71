"""``/ui/`` over HTTP: who gets the pages, how they are sent, and what a browser may do with them."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession

from saga_server.web.serving import ROOT
from tests.server.client import Client

KEY = "saga-key-1"
PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client.of({}, {}) as found:
        yield found


@pytest.fixture
async def keyed() -> AsyncIterator[Client]:
    async with Client.of({"server": {"api_keys": [KEY], "chat_keys": ["chat-key"]}}, {}) as found:
        yield found


async def addresses(client: Client) -> list[str]:
    page = (await client.get("/ui/", headers=PLAIN)).raw.decode()
    return re.findall(r'(?:href|src)="([^"]+)"', page)


async def test_a_browser_is_led_to_the_pages_and_a_program_is_not(client: Client) -> None:
    async with client.http.get("/", headers={"Accept": "text/html,*/*"}, allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (302, "ui/")
    assert (await client.get("/")).json["pages"] == "/ui/"
    async with client.http.get("/ui", allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (302, "ui/")


async def test_a_browser_may_run_and_load_the_files_of_this_server_and_nothing_else(client: Client) -> None:
    page = await client.get("/ui/", headers=PLAIN)
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    policy = dict(each.split(" ", 1) for each in page.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'" and policy["trusted-types"] == "'none'"
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert page.headers["X-Content-Type-Options"] == "nosniff" and "Set-Cookie" not in page.headers
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|<style|style=", page.raw.decode())


async def test_every_file_is_sent_packed_under_a_relative_address_with_a_hash(client: Client) -> None:
    found = await addresses(client)
    assert found and all(re.fullmatch(r"[0-9a-f]{16}/[\w./-]+", each) for each in found)
    version = found[0].partition("/")[0]
    for path in ROOT.rglob("*"):
        if path.is_dir() or path.name == "index.html":
            continue
        name = path.relative_to(ROOT).as_posix()
        async with ClientSession(client.server.url, auto_decompress=False) as http:
            asked: Any = http.get(f"/ui/{version}/{name}", headers={"Accept-Encoding": "gzip"})
            async with asked as response:
                raw = await response.read()
                assert response.status == 200, name
                assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
                if response.headers.get("Content-Encoding") == "gzip":
                    raw = gzip.decompress(raw)
                else:
                    assert len(raw) < 512
        assert raw == path.read_bytes(), name


async def test_no_script_names_an_absolute_address_or_makes_markup(client: Client) -> None:
    for path in ROOT.rglob("*.js"):
        if path.parent.name == "vendor":
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://", text), path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text), path
        assert not re.search(r"""\b(?:from |import\() ?["'](?!\./|\.\./)""", text), path


async def test_the_first_file_is_asked_for_anew_and_not_sent_twice(client: Client) -> None:
    page = await client.get("/ui/")
    assert page.headers["Cache-Control"] == "no-cache"
    again = await client.get("/ui/", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status, again.raw) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/ui/0000000000000000/main.js", "/ui/{v}/nothing.js", "/ui/{v}/../files.py", "/ui/{v}/%2e%2e/files.py",
             "/ui/{v}//etc/passwd", "/ui/{v}/..%2f__init__.py", "/ui/nowhere"],
)  # fmt: skip
async def test_only_the_files_of_the_pages_are_sent(client: Client, path: str) -> None:
    version = (await addresses(client))[0].partition("/")[0]
    reply = await client.get(path.replace("{v}", version))
    assert reply.status == 404 and reply.error["type"] == "not_found_error"


async def test_the_pages_need_no_key_and_all_that_they_show_does(keyed: Client) -> None:
    assert (await keyed.get("/ui/")).status == 200
    for name in await addresses(keyed):
        assert (await keyed.get(f"/ui/{name}")).status == 200
    assert (await keyed.get("/api/sessions")).status == 401
    assert (await keyed.post("/ui/")).status == 401


async def test_its_own_page_may_change_things_with_a_key_under_whatever_name_it_is_reached(keyed: Client) -> None:
    here = {"Host": "saga.example", "Origin": "https://saga.example"}
    with_key = {**here, "Authorization": f"Bearer {KEY}"}
    assert (await keyed.post("/api/drain", headers=with_key)).status == 200
    assert (await keyed.post("/api/drain", headers=here)).status == 401
    other = {**with_key, "Origin": "https://evil.example"}
    assert (await keyed.post("/api/drain", headers=other)).status == 403


async def test_its_own_page_is_known_behind_a_proxy_that_passes_its_own_name_on(keyed: Client, client: Client) -> None:
    page = {"Origin": "https://home.example", "Sec-Fetch-Site": "same-origin"}
    with_key = {**page, "Authorization": f"Bearer {KEY}"}
    assert (await keyed.post("/api/drain", headers=with_key)).status == 200
    assert (await keyed.post("/api/drain", headers=page)).status == 401
    for site in ("same-site", "cross-site", "none"):
        assert (await keyed.post("/api/drain", headers={**with_key, "Sec-Fetch-Site": site})).status == 403
    assert (await client.post("/api/drain", headers=page)).status == 403, "without keys that may be anybody's page"
    here = {**page, "Origin": "http://127.0.0.1:9"}
    assert (await client.post("/api/drain", headers=here)).status == 200
    assert (await client.post("/api/drain", headers={**here, "Sec-Fetch-Site": "same-site"})).status == 403
    assert (await client.post("/api/drain", headers={**here, "Host": "evil.example"})).status == 403


async def test_without_keys_the_pages_have_only_names_of_this_machine(client: Client) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        assert (await client.get("/ui/", headers=headers)).status == 403


async def test_a_link_of_another_page_leads_here_and_a_picture_of_it_does_not(client: Client) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert (await client.get("/ui/", headers=link)).status == 200
    assert (await client.get("/ui/", headers={**link, "Sec-Fetch-Dest": "iframe"})).status == 403
    assert (await client.get("/api/sessions", headers=link)).status == 403

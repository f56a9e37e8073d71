"""What SillyTavern's panel says of a request: SAGA reads each name that is sent. SillyTavern itself is a stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_server.http.callers.identity import Bearer
from saga_server.http.request_names import read_names
from saga_server.server import Server
from saga_server.web.serving import ROOT
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

_TAVERN = """<!doctype html><title>SillyTavern</title><link rel="icon" href="data:,">
<div id="extensions_settings2"></div><script>
    const handlers = {};
    const own = {
        extensionSettings: { saga: { on: true, address: location.origin, key: "" } },
        chatCompletionSettings: {}, chatId: null, name1: "Dez", name2: "Mina", groupId: "7",
        chat: [{ is_user: true, mes: "Hello." }, { is_user: false, mes: "Hello!", swipe_id: 2 }],
        groups: [{ id: "7", name: "The crew" }], characters: [], chatMetadata: {},
        eventSource: { on: (name, heard) => { (handlers[name] ??= []).push(heard); } },
        eventTypes: new Proxy({}, { get: (_, name) => String(name) }), saveSettingsDebounced() {},
    };
    window.SillyTavern = { getContext: () => own };
    window.jQuery = (begin) => begin().then(() => { own.chatId = "crew - 1"; window.ready = true; });
    window.fire = (name, data) => { handlers[name].forEach((heard) => heard(data)); return data; };
</script><script type="module" src="index.js"></script>"""


async def test_each_name_that_the_panel_sends_is_read(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        page = visit.page

        async def serve(route: Any) -> None:
            file = ROOT.with_name("sillytavern") / route.request.url.rsplit("/", 1)[1]
            if file.suffix == ".js":
                await route.fulfill(path=file)
            elif file.suffix == ".json":
                await route.fulfill(json={})
            else:
                await route.fulfill(body=_TAVERN, content_type="text/html")

        await page.route("**/tavern/*", serve)
        await page.goto(f"{server.url}/tavern/page.html")
        await page.wait_for_function("window.ready")
        base = f"{server.url}/v1"
        chat = await page.evaluate(
            "url => fire('CHAT_COMPLETION_SETTINGS_READY', {chat_completion_source: 'custom', custom_url: url})", base
        )
        sent = dict(line.split(": ", 1) for line in chat["custom_include_headers"].splitlines())
        assert sent == {"X-SAGA-Chat": '"crew%20-%201"', "X-SAGA-Player": '"Dez"', "X-SAGA-Member": '"Mina"'}
        headers = {name: value.strip('"') for name, value in sent.items()}
        read = read_names([], path={}, headers=headers, bearer=Bearer(), user=None, identify="transcript")
        assert (read.chat, read.player, read.member) == ("crew - 1", "Dez", "Mina")

        text = await page.evaluate("url => fire('TEXT_COMPLETION_SETTINGS_READY', {api_server: url, prompt: ''})", base)
        messages = [{"role": "system", "content": text["prompt"]}]
        marked = read_names(messages, path={}, headers={}, bearer=Bearer(), user=None, identify="transcript")
        assert (marked.chat, marked.player, marked.member) == ("crew - 1", "Dez", "Mina")

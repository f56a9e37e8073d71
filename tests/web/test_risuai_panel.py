"""SAGA's plugin in a stand-in for RisuAI: a frame as its API 3.0 makes it, with the same sandbox and the same policy.

RisuAI itself was not tried, because no package has it. The stand-in does what RisuAI's source says that it does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import ItemAmount
from saga_server.cli.panels import as_plugin
from saga_server.server import Server
from tests.core.frontend import block
from tests.server.upstream import Upstream, says
from tests.web.browsing import SIZES, Browser
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

_POLICY = (
    "connect-src 'none'; script-src 'nonce-n' 'wasm-unsafe-eval'; frame-src 'none'; object-src 'none'; "
    "style-src * 'unsafe-inline'; default-src 'none'; img-src * data: blob:; base-uri 'none';"
)
_IN_FRAME = """
const waiting = new Map(), callbacks = new Map();
const send = (message) => parent.postMessage(message, "*");
const named = (each) => {
    if (typeof each !== "function") return each;
    callbacks.set(callbacks.size, each);
    return { callback: callbacks.size - 1 };
};
window.risuai = new Proxy({}, { get: (_, method) => (...args) => new Promise((resolve, reject) => {
    waiting.set(waiting.size, { resolve, reject });
    send({ id: waiting.size - 1, method, args: args.map(named) });
}) });
addEventListener("message", async ({ data }) => {
    if ("callback" in data) {
        return send({ returned: data.id, result: await callbacks.get(data.callback)(...data.args) });
    }
    const { resolve, reject } = waiting.get(data.id);
    if (data.error) reject(new Error(data.error));
    else resolve(data.init ? new Response(data.result, data.init) : data.result);
});
"""
_HOST = """
const chat = { id: "x]][[saga:session=other", message: [] }; // as an imported chat may bring it
const values = { address: SAGA, key: "", on: 0 }, menus = {}, replacers = [], returns = [];
const frame = document.querySelector("iframe");
const api = {
    getArgument: (name) => values[name], setArgument: (name, value) => { values[name] = value; },
    getCurrentCharacterIndex: () => 0, getCurrentChatIndex: () => 0, getChatFromIndex: () => structuredClone(chat),
    nativeFetch: (url, options) => fetch(url, options),
    registerSetting: (name, open) => { menus[name] = open; },
    addRisuReplacer: (when, change) => { if (when === "beforeRequest") replacers.push(change); },
    showContainer: () => { frame.style.display = "block"; }, hideContainer: () => { frame.style.display = "none"; },
};
const heard = (each) => each?.callback === undefined ? each : (...args) => new Promise((resolve) => {
    frame.contentWindow.postMessage({ callback: each.callback, id: returns.push(resolve) - 1, args }, "*");
});
addEventListener("message", async ({ data }) => {
    if ("returned" in data) return returns[data.returned](data.result);
    const answer = { id: data.id };
    try {
        if (!api[data.method]) throw new Error(`API method ${data.method} not found`);
        answer.result = await api[data.method](...data.args.map(heard));
    } catch (error) {
        answer.error = error.message;
    }
    if (answer.result instanceof Response) {
        const { body, status, headers } = answer.result;
        Object.assign(answer, { result: body, init: { status, headers: [...headers] } });
    }
    frame.contentWindow.postMessage(answer, "*", answer.init ? [answer.result] : []);
});
async function reply() {
    const roles = { user: "user", char: "assistant" };
    let messages = chat.message.map(({ role, data }) => ({ role: roles[role], content: data }));
    for (const change of replacers) messages = await change(messages, "model");
    const body = JSON.stringify({ model: "narrator-1", messages });
    const given = { "Content-Type": "application/json", Authorization: "Bearer mine" };
    const response = await fetch(`${SAGA}/v1/chat/completions`, { method: "POST", headers: given, body });
    chat.message.push({ role: "char", data: (await response.json()).choices[0].message.content });
    return messages;
}
window.say = (words) => { chat.message.push({ role: "user", data: words }); return reply(); };
window.reroll = () => { chat.message.pop(); return reply(); };
window.open_saga = () => menus.SAGA();
"""


def _page(saga: str) -> str:
    frame = (
        f'<!doctype html><html><head><meta charset="UTF-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"></head><body><script nonce="n">{_IN_FRAME}'
        f"(async () => {{ {as_plugin(1)} }})();</script></body></html>"
    )
    quoted = json.dumps(frame).replace("</", "<\\/")
    return (
        '<!doctype html><title>RisuAI</title><link rel="icon" href="data:,"><style>iframe { position: fixed; inset: 0; '
        'width: 100%; height: 100%; border: 0; display: none }</style><iframe sandbox="allow-scripts allow-modals '
        f'allow-downloads"></iframe><script>const SAGA = {json.dumps(saga)};{_HOST}'
        f"frame.srcdoc = {quoted};</script>"
    )


@asynccontextmanager
async def _risuai() -> AsyncIterator[tuple[str, list[str]]]:
    """Serve the page. Yields its origin and the list of addresses, whose last one is that of SAGA."""
    addresses: list[str] = []

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=_page(addresses[-1]), content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site.port}", addresses
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_the_plugin_shows_corrects_and_names_the_chat(browser: Browser, size: str) -> None:
    width, height = SIZES[size]
    context = await browser.new_context(viewport={"width": width, "height": height})
    page, wrong = await context.new_page(), list[str]()
    page.set_default_timeout(10_000)
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    async with Upstream(lenient=True) as upstream, _risuai() as (origin, addresses):
        tree = {
            **SETTINGS,
            "server": {**SETTINGS["server"], "origins": [origin]},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
            "models": {"narration": "openai/narrator-1"},
        }
        async with Server(load_config(tree, environ={}), {}) as server:
            addresses.append(server.url)
            await page.goto(origin)
            await page.wait_for_function("'SAGA' in menus")
            await page.evaluate("open_saga()")
            panel = page.frame_locator("iframe").locator("#saga_panel")
            assert not await panel.locator("[data-saga=all]").is_visible(), "nothing is said of the chat unasked"
            await panel.locator("[name=saga_on]").check()
            await page.wait_for_function("replacers.length === 1 && values.on === 1")
            upstream.then(
                says("You reach the glade." + block(location="Glade", items_gained=(ItemAmount("rope", 1),))),
                says("Mina comes." + block(npc_met=("Mina",))),
            )
            for words in ("I go to the glade.", "I call Mina."):
                await page.evaluate("words => say(words)", words)
            await page.evaluate("open_saga()")
            await panel.locator("[data-saga-line=present]").wait_for()
            found = await (await page.request.get(f"{server.url}/api/chats/x    saga:session=other")).json()
            assert [each.session.label for each in await server.saga.sessions.list()] == [""]
            known = (await (await page.request.get(f"{server.url}/api/sessions/{found['session_id']}/lines")).json())[
                "lines"
            ]
            shown = await panel.locator("[data-saga-line]").evaluate_all(
                "rows => rows.map(row => row.dataset.sagaLine)"
            )
            assert sorted(shown) == sorted(each["kind"] for each in known if each["kind"] != "mood" or each["text"])
            assert {"item", "present", "place"} <= set(shown)

            await panel.locator("[name=kind]").select_option("move")
            await panel.locator("[name=place]").fill("Old Mill")
            await panel.locator("[name=place]").press("Enter")
            await panel.locator("[data-saga-line=place]:has-text('Old Mill')").wait_for()
            await page.evaluate("reroll()")
            assert "Old Mill" in upstream.requests[-1].text and "saga:chat" not in upstream.requests[-1].text
            await page.evaluate("open_saga()")
            await panel.locator("[data-saga-change] button").first.click()
            await panel.locator("[data-saga-line=place]:has-text('Glade')").wait_for()

            await panel.locator("[name=saga_on]").uncheck()
            await page.wait_for_function("values.on === 0")
            assert all("saga:" not in each["content"] for each in await page.evaluate("say('I go on alone.')"))
            await panel.locator("[data-saga=close]").click()
            await page.wait_for_function("frame.style.display === 'none'")
    await context.close()
    assert [each for each in wrong if "404" not in each] == [], "but for the chat before its first reply"

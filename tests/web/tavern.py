"""The real SillyTavern, from its npm package, on a free port and with data of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from attrs import define
from playwright.async_api import Page
from playwright.async_api import TimeoutError as Late

VERSION = "1.19.0"
_PLACE = Path(os.environ.get("SAGA_TEST_CACHE", Path.home() / ".cache" / "saga-tests")) / f"sillytavern-{VERSION}"
_COMMAND = "async text => (await SillyTavern.getContext().executeSlashCommandsWithOptions(text))?.pipe"
_READY = 120
"""Seconds until it has compiled its libraries for the first time."""


def sillytavern() -> Path | None:
    """Return its folder, after an installation by npm if it is not there yet; None without node or npm."""
    folder = _PLACE / "node_modules" / "sillytavern"
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    if not (folder / "server.js").exists():
        _PLACE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(_PLACE), "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run([*command, f"sillytavern@{VERSION}"], capture_output=True, timeout=300, check=False)
        if done.returncode:
            return None
    return folder


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@asynccontextmanager
async def running(folder: Path, data: Path) -> AsyncIterator[str]:
    """Start SillyTavern, and yield its address."""
    port = free_port()
    options = {"dataRoot": data / "data", "configPath": data / "config.yaml", "port": port}
    options |= {"listen": "false", "browserLaunchEnabled": "false", "disableCsrf": "true"}
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    process = await asyncio.create_subprocess_exec(
        "node", "server.js", *given, cwd=folder, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession() as http, asyncio.timeout(_READY):
            while True:
                assert process.returncode is None, "SillyTavern ended"
                try:
                    async with http.get(url):
                        break
                except aiohttp.ClientError:
                    await asyncio.sleep(0.3)
        yield url
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@define
class Tavern:
    """SillyTavern's page in a browser."""

    page: Page
    url: str

    async def open(self, player: str) -> None:
        """Open the page, and give the player's name when it asks for one."""
        await self.page.goto(self.url)
        await self.page.wait_for_function("window.SillyTavern && !document.querySelector('#preloader')", timeout=90_000)
        await self.page.wait_for_selector("#saga_panel", state="attached")
        await self.page.wait_for_timeout(1_000)
        button = self.page.locator("dialog[open] .popup-button-ok")
        if await button.count():
            await self.page.locator("dialog[open] .popup-input").first.fill(player)
            await button.first.click()
            await self.page.wait_for_selector("dialog[open]", state="detached")

    async def command(self, text: str) -> str | None:
        """Run a slash command and return what it says."""
        found: str | None = await self.page.evaluate(_COMMAND, text)
        return found

    async def connect(self, url: str) -> None:
        """Choose a chat completion API at an address."""
        await self.command("/api custom")
        await self.page.evaluate(
            """url => {
                jQuery('#custom_api_url_text').val(url).trigger('input');
                jQuery('#custom_model_id').val('narrator-1').trigger('input');
                jQuery('#stream_toggle').prop('checked', true).trigger('change');
                jQuery('#api_button_openai').trigger('click');
            }""",
            url,
        )
        await self.page.wait_for_function("SillyTavern.getContext().onlineStatus !== 'no_connection'")

    async def go(self, character: str) -> None:
        """Open the chat of a character."""
        begun = "name => SillyTavern.getContext().chatId && SillyTavern.getContext().chat[0]?.name === name"
        await self._pressed(_COMMAND, f"/go {character}", begun, character)
        await self.page.wait_for_timeout(1_000)

    async def show(self) -> None:
        """Open the extensions drawer and the panel in it."""
        await self.page.evaluate("jQuery('#extensions-settings-button .drawer-toggle').trigger('click')")
        await self.page.wait_for_timeout(500)
        await self.page.click("#saga_panel .inline-drawer-toggle")
        await self.page.wait_for_selector("#saga_panel [data-saga=now]", state="visible")

    async def show_again(self) -> None:
        """Open the extensions drawer. The panel in it stayed open."""
        await self.page.evaluate("jQuery('#extensions-settings-button .drawer-toggle').trigger('click')")
        await self.page.wait_for_selector("#saga_panel [data-saga=now]", state="visible")

    async def hide(self) -> None:
        """Close the extensions drawer."""
        await self.page.evaluate("jQuery('#extensions-settings-button .drawer-toggle').trigger('click')")
        await self.page.wait_for_timeout(500)

    async def _settled(self, messages: int, swipes: int = 0) -> None:
        try:
            await self.page.wait_for_function(
                """([messages, swipes]) => {
                    const { chat } = SillyTavern.getContext();
                    const last = chat.at(-1);
                    return chat.length >= messages && !last.is_user && (last.swipes?.length ?? 1) >= swipes
                        && !document.body.dataset.generating && last.extra?.saga_turn !== window.sagaBefore;
                }""",
                arg=[messages, swipes],
            )
        except Late as error:
            found = await self.page.evaluate(
                """() => JSON.stringify([
                    SillyTavern.getContext().chat.length, window.sagaBefore,
                    SillyTavern.getContext().chat.slice(-2), document.querySelector('#toast-container')?.innerText,
                    document.querySelector('#saga_panel [data-saga=error]').innerText, document.body.dataset.generating,
                ])"""
            )
            raise AssertionError(
                f"no reply, or the panel did not find its turn: {messages} {swipes} {found}"
            ) from error

    async def _before(self) -> dict[str, Any]:
        found: dict[str, Any] = await self.page.evaluate(
            """() => {
                const { chat } = SillyTavern.getContext();
                const on = document.querySelector('[name=saga_on]').checked;
                window.sagaBefore = on ? (chat.at(-1)?.extra?.saga_turn ?? null) : 0;
                return { length: chat.length, swipes: chat.at(-1)?.swipes?.length ?? 1 };
            }"""
        )
        return found

    async def _idle(self) -> None:
        await self.page.wait_for_function("getComputedStyle(document.getElementById('mes_stop')).display === 'none'")
        await self.page.wait_for_timeout(700)

    async def _pressed(self, press: str, given: str | None, begun: str, before: int | str) -> None:
        """Do something until it has begun: SillyTavern takes no clicks and commands while it saves or connects."""
        for _ in range(12):
            await self.page.evaluate(press, given)
            try:
                await self.page.wait_for_function(begun, arg=before, timeout=5_000)
            except Late:
                continue
            return
        raise AssertionError(f"nothing came of {press}")

    async def say(self, words: str) -> None:
        """Send a message and wait for the reply and the panel."""
        await self._idle()
        before = await self._before()
        await self._pressed(
            "words => { jQuery('#send_textarea').val(words).trigger('input'); jQuery('#send_but').trigger('click'); }",
            words,
            "length => SillyTavern.getContext().chat.length > length",
            before["length"],
        )
        await self._settled(before["length"] + 2)

    async def swipe(self) -> None:
        """Ask for another reply."""
        await self._idle()
        before = await self._before()
        await self._pressed(
            "() => { jQuery('#chat .last_mes .swipe_right').trigger('click'); }",
            None,
            "swipes => SillyTavern.getContext().chat.at(-1).swipe_id >= swipes",
            before["swipes"],
        )
        await self._settled(before["length"], before["swipes"] + 1)

    async def edit(self, place: int, text: str) -> None:
        """Change a message that is there."""
        await self._idle()
        found = await self.page.evaluate("place => SillyTavern.getContext().chat.length + place", place)
        message = f"#chat .mes[mesid='{found}']"
        await self.page.evaluate("message => { jQuery(message).find('.mes_edit').trigger('click'); }", message)
        await self.page.wait_for_selector(f"{message} #curEditTextarea", state="attached")
        await self.page.evaluate(
            """([message, text]) => {
                jQuery(message).find('#curEditTextarea').val(text).trigger('input');
                jQuery(message).find('.mes_edit_done').trigger('click');
            }""",
            [message, text],
        )
        await self.page.wait_for_function(
            "([place, text]) => SillyTavern.getContext().chat.at(place).mes === text", arg=[place, text]
        )

    async def group(self, name: str, members: list[str]) -> None:
        """Make a group of characters and open its chat."""
        await self.page.evaluate(
            """async ([name, members]) => {
                const { characters, getRequestHeaders, getCharacters } = SillyTavern.getContext();
                const avatars = characters.filter((each) => members.includes(each.name)).map((each) => each.avatar);
                const asked = { name, members: avatars, chat_id: "crew", chats: ["crew"], activation_strategy: 1,
                    generation_mode: 0, disabled_members: [], allow_self_responses: false };
                await fetch("/api/groups/create", {
                    method: "POST", headers: getRequestHeaders(), body: JSON.stringify(asked),
                });
                await getCharacters();
            }""",
            [name, members],
        )
        begun = "() => SillyTavern.getContext().groupId && SillyTavern.getContext().chat.length"
        await self._pressed(_COMMAND, f"/go {name}", begun, "")
        await self.page.wait_for_timeout(1_000)

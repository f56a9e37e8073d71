"""Whole folders are taken in as they are dropped or chosen, and what is given out is read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core.config import load_config
from saga_core.imports import read_file
from saga_server.server import Server
from tests.core.frontend import Frontend, answer
from tests.core.imports import samples
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, Visit, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


def user_folder(folder: Path) -> Path:
    """A player's folder, with a group whose chat has no header: only by its name it is known whose it is."""
    user = folder / "default-user"
    for name in ("characters", "chats/Ysolde", "group chats", "groups", ".cache"):
        (user / name).mkdir(parents=True)
    (user / "characters" / "Ysolde.png").write_bytes(samples.card_png(samples.card_v2()))
    for number in range(120):  # a browser lists a hundred at a time
        chat = samples.st_chat(turns=2).replace(b"Hello", f"Hello {number}".encode())
        (user / "chats" / "Ysolde" / f"{number}.jsonl").write_bytes(chat)
    said = [samples.message(name, f"{name} says it.", user=name == "Alex") for name in ("Ann", "Alex", "Ben")]
    (user / "group chats" / "1.jsonl").write_bytes(samples.jsonl(*said))
    group = {"id": "1", "name": "The two", "members": ["Ann.png", "Ben.png"], "chats": ["1"]}
    (user / "groups" / "1.json").write_text(json.dumps(group), encoding="utf-8")
    (user / ".cache" / "x.json").write_text("{}", encoding="utf-8")
    return user


async def drop(visit: Visit, path: Path) -> None:
    """Drop something of the disk, as a file manager does."""
    box = await visit.page.locator(".drop").bounding_box()
    assert box is not None
    driver = await visit.page.context.new_cdp_session(visit.page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        await driver.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 9, "y": box["y"] + 9, "data": data})


@pytest.mark.parametrize("way", ["dropped", pytest.param("chosen", marks=pytest.mark.deep)])
async def test_a_folder_is_taken_in_with_all_that_is_in_it(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Also by whoever has nothing yet: what came of it stays in sight."""
    monkeypatch.chdir(tmp_path)
    user = user_folder(tmp_path)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        page = visit.page
        await visit.open("transfer")
        if way == "dropped":
            await drop(visit, user)
        else:
            await page.set_input_files("[data-action=folder]", str(user))
        await page.wait_for_selector("[data-item=thing][data-kind=group]")
        kinds = [await each.get_attribute("data-kind") for each in await page.locator("[data-item=thing]").all()]
        assert (kinds.count("card"), kinds.count("sillytavern_chat"), kinds.count("group")) == (1, 121, 1)
        assert await page.locator("[data-item=refused]").count() == 0, "what is hidden was not sent"
        assert await page.locator("[data-item=thing] small :text('default-user/group chats/1.jsonl')").count() == 1
        await page.click("[data-action=confirm]")
        await page.wait_for_selector("[data-action=session]:not([disabled])")
        await page.wait_for_selector("[data-action=open]")
        labels = {each.session.label for each in await server.saga.sessions.list()}
        assert "The two - 1" in labels, "the group was found by its chat's name"


@pytest.mark.deep
async def test_what_is_given_out_is_taken_in_again(browser: Browser, played: tuple[Server, str]) -> None:
    server, session = played
    async with visiting(browser, server, "phone") as visit:
        page = visit.page
        await visit.open("transfer", session=session)
        kinds = {}
        for action in ("chat", "card", "lorebook"):
            async with page.expect_download() as waiting:
                await page.click(f"[data-action=export-{action}]")
            saved = await (await waiting.value).path()
            kinds[action] = read_file("x", saved).found[0].kind
        assert kinds == {"chat": "sillytavern_chat", "card": "card", "lorebook": "lorebook_v3"}
        assert await visit.too_wide() == 0 and await visit.findings() == []


@pytest.mark.deep
async def test_lore_is_told_as_one_chooses(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        page = visit.page
        await visit.open("transfer")
        await page.select_option("[data-action=lore]", "keep")
        book = {"entries": {"0": {"key": ["gate"], "comment": "Gate", "content": "A gate of salt."}}}
        file = {"name": "salt.json", "mimeType": "application/json", "buffer": json.dumps(book).encode()}
        await page.set_input_files("[data-action=files]", [file])  # type: ignore[list-item]
        await page.wait_for_selector("[data-item=thing][data-kind=world_info]")
        await page.click("[data-action=confirm]")
        await page.wait_for_selector("[data-item=thing][data-state=new]")
        await page.wait_for_selector("[data-action=confirm]", state="detached")
        (entry,) = server.saga.worlds.get("salt").lore
        assert entry.rule is not None and entry.name == "Gate"


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_an_exported_chat_names_its_speakers_and_carries_the_title(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        page, system = visit.page, "Write Hana's next reply in a fictional chat between Hana, Mina and Dez."
        chat = Frontend(server.saga, greeting="", system=system, note="")
        for words, speaker, reply in (
            ("Dez: I come in.", "Hana", "Hana: You are early."),
            ("Dez: Am I?", "Mina", "He always is."),
            ("Dez: Well.", "Hana", "Sit down, then."),
        ):
            begun = await chat.begin(words, member=speaker)
            shown = await answer(begun, reply, npc_met=("Hana", "Mina"))
            chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
        await server.saga.drain(10)
        await visit.open("transfer", session=begun.session.id)
        async with page.expect_download() as waiting:
            await page.click("[data-action=export-chat]")
        saved = await waiting.value
        assert saved.suggested_filename == "Hana · Dez.jsonl"
        header, *rows = [json.loads(line) for line in (await saved.path()).read_text(encoding="utf-8").splitlines()]
        assert (header["user_name"], header["character_name"]) == ("Dez", "Hana")
        assert [(row["name"], row["mes"]) for row in rows] == [
            ("Dez", "I come in."), ("Hana", "You are early."), ("Dez", "Am I?"), ("Mina", "He always is."),
            ("Dez", "Well."), ("Hana", "Sit down, then."),
        ]  # fmt: skip
        assert await page.locator("[data-action=export-card], [data-action=export-lorebook]").count() == 0
        await page.wait_for_timeout(300)
        assert await page.locator("[data-action=export-card]").count() == 0, "this story has no card"


@pytest.mark.parametrize(
    ("size", "language"), [pytest.param("desktop", "en-US", marks=pytest.mark.deep), ("phone", "ko-KR")]
)
async def test_an_import_says_what_became_of_it_and_how_to_play(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str, language: str
) -> None:
    monkeypatch.chdir(tmp_path)
    card = samples.card_v2(name="Elio Marchetti")
    bare = {**card, "data": {name: value for name, value in card["data"].items() if name != "character_book"}}
    async with (
        Server(load_config(SETTINGS, environ={}), {}) as server,
        visiting(browser, server, size, language=language) as visit,
    ):
        page = visit.page

        async def take_in(*files: tuple[str, bytes]) -> list[str]:
            await visit.open("transfer")
            await page.reload()
            sent = [{"name": name, "mimeType": "application/octet-stream", "buffer": raw} for name, raw in files]
            await page.set_input_files("[data-action=files]", sent)  # type: ignore[arg-type]
            await page.wait_for_selector("[data-item=thing]")
            return [
                str(await each.get_attribute("data-state")) for each in await page.locator("[data-item=thing]").all()
            ]

        chat = ("Ysolde - 2026-01-01.jsonl", samples.st_chat(turns=5))
        assert await take_in(("Elio.png", samples.card_png(card)), chat) == ["new", "new"]
        shown = " ".join(await visit.texts("[data-item=thing] > .hint"))
        assert ("5 turns · 5 other replies" if size == "desktop" else "5턴 · 다른 답변(스와이프) 5개") in shown
        assert await page.locator("[data-item=became][data-name=frontend]").count() == 1
        await page.click("[data-action=confirm]")
        await page.wait_for_selector("[data-item=play] li >> nth=3")
        assert f"{server.url}/v1" in (await visit.texts("[data-item=play] code"))[0]
        assert await visit.too_wide() == 0 and await visit.findings() == []
        assert [each.session.label for each in await server.saga.sessions.list()] == ["Ysolde - 2026-01-01"]
        assert await take_in(("Elio again.png", samples.card_png(bare))) == ["known"]
        assert [path.name for path in (tmp_path / "worlds").iterdir()] == ["Elio Marchetti"]

"""Now shows what the narrator is told of the company: wounds, and what they carry; each is corrected and undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import ItemAmount, ItemTransfer, StatusChange
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.core.imports.samples import card_v2
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_wounds_and_the_things_of_others_are_shown_and_corrected(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        chat, page = Frontend(server.saga, session="one"), visit.page
        await chat.say("I meet Mina.", "Mina comes.", npc_met=("Mina",), items_gained=(ItemAmount("rope", 1),))
        cut = (StatusChange("Mina", "small cut on the finger"),)
        begun = await chat.say("I look at her.", "She bleeds.", status_changes=cut)
        mina = next(each for each in await server.saga.memory.entities("one") if each["name"] == "Mina")
        await server.saga.memory.correct("one", "give", {"who": mina["id"], "item": "lantern"})
        await visit.open("now", session=begun.session.id)
        here = f"[data-subject={mina['id']}]"
        await page.wait_for_selector(f"{here}[data-kind=condition]:has-text('small cut on the finger')")
        await page.wait_for_selector(f"{here}[data-kind=item]:has-text('lantern')")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click(f"{here}[data-kind=condition] [data-action=off]")
        await page.wait_for_selector("[data-item=effect] del")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{here}[data-kind=condition]", state="detached")
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector(f"{here}[data-kind=condition]")
        await page.click(f"{here}[data-kind=item] [data-action=edit]")
        await page.fill("[data-item=correction] [name=to]", "Player")
        await page.click("[data-action=preview]")
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=things] [data-kind=item]:has-text('lantern')")
        assert await page.locator(f"{here}[data-kind=item]").count() == 0
        for group, name, field, text in (("things", "item", "who", "ring"), ("you", "status", "who", "a fever")):
            await page.click(f"[data-item={group}] [data-action=add]")
            await page.fill(f"[data-item=correction] [name={name}]", text)
            await page.fill(f"[data-item=correction] [name={field}]", "Mina")
            await page.click("[data-action=preview]")
            await page.click("[data-action=save]")
            await page.wait_for_selector(f"{here}:has-text('{text}')")
        condition = f"{here}[data-kind=condition]"
        await page.wait_for_selector(f"{condition}:has-text('small cut on the finger; a fever')")
        await page.click(f"{condition} [data-action=off]")
        await page.select_option("[data-item=correction] select[name=status]", "small cut on the finger")
        await page.click("[data-action=preview]")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{condition}:has-text('small cut')", state="detached")
        await page.wait_for_selector(f"{condition}:has-text('a fever')")
        mood = "[data-item=you] [data-kind=mood]"
        for text, says in (("grieving", "Mood: grieving"), ("", "Mood: none told")):
            await page.click(f"{mood} [data-action=edit]")
            await page.fill("[data-item=correction] [name=mood]", text)
            await page.click("[data-action=preview]")
            await page.click("[data-action=save]")
            await page.wait_for_selector(f"{mood}:has-text('{says}')")
        await page.click(f"{here}[data-kind=item] [data-action=off]")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{here}[data-kind=item]", state="detached")


async def test_who_is_elsewhere_what_is_planned_and_what_happened(browser: Browser) -> None:
    tree = {**SETTINGS, "trackers": {"plans": {"kind": "threads"}}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        chat, page = Frontend(server.saga, session="one"), visit.page
        coat = ItemTransfer("coat", "Player", "Mina")
        await chat.say(
            "I meet Mina.", "She takes the coat.", location="Quay", present=("Mina",), items_transferred=(coat,)
        )
        ring = ItemTransfer("ring", "Mina", "Player")
        begun = await chat.say("I wait.", "She gives a ring.", present=("Mina",), items_transferred=(ring,))
        plan = "plans: +Lantern feast (Saturday 19:00): with Mina"
        await chat.say("I bow.", "She leaves.\n\n```state\nlocation: Mill\npresent: []\nweather: rain\n```")
        await chat.say("I sit.", f"A bell.\n\n```state\npresent: []\nevent_trigger: The bell rang\n{plan}\n```")
        await visit.open("now", session=begun.session.id)

        assert await page.locator("[data-item=problems]").count() == 0, "a gift and a value that is kept are no problem"
        await page.click("[data-item=here] [data-item=others] summary")
        mina = await page.get_attribute("[data-kind=elsewhere]:has-text('Mina')", "data-subject")
        assert "Quay" in await page.inner_text("[data-kind=elsewhere]")
        await page.wait_for_selector(f"[data-item=others] [data-subject='{mina}'][data-kind=item]:has-text('coat')")
        await page.click("[data-kind=elsewhere] [data-action=edit]")
        await page.fill("[data-item=correction] input[name=place]", "Old Inn")
        await page.select_option("[data-item=correction] [name=holds]", "reply")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect]:has-text('With this reply of turn 4 alone')")
        await page.select_option("[data-item=correction] [name=holds]", "kept")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins:has-text('Old Inn')")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector("[data-kind=elsewhere]:has-text('Old Inn')")
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector("[data-kind=elsewhere]:has-text('Quay')")

        feast = "[data-item=events] [data-kind=event]:has-text('Lantern feast')"
        assert "plans · Saturday 19:00" in await page.inner_text(f"{feast} .says")
        await page.click(f"{feast} [data-action=edit]")
        assert await page.input_value("[data-item=correction] input[name=text]") == "with Mina"
        await page.fill("[data-item=correction] input[name=when]", "Sunday 18:00")
        await page.click("[data-action=preview]")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector(f"{feast} .says:has-text('plans · Sunday 18:00')")
        assert "with Mina" in await page.inner_text(f"{feast} .says")
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector(f"{feast} .says:has-text('Saturday 19:00')")
        await page.click(f"{feast} [data-action=edit]")
        await page.fill("[data-item=correction] input[name=when]", "")
        await page.click("[data-action=preview]")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector(f"{feast} .says:not(:has-text('Saturday'))")
        assert "with Mina" in await page.inner_text(f"{feast} .says")

        await page.click("[data-item=here] [data-action=add]")
        await page.fill("[data-item=correction] input[name=who]", "Wren")
        await page.click("[data-action=preview]")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector("[data-kind=present]:has-text('Wren')")

        bell = "[data-item=happened] [data-kind=happening]:has-text('The bell rang')"
        await page.click(f"{bell} [data-action=off]")
        await page.wait_for_selector("[data-item=effect] del:has-text('The bell rang')")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector(bell, state="detached")
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector(bell)

        await visit.open("people", session=begun.session.id, who=mina or "")
        await page.click("[data-action=forget]")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector("[data-item=list]")
        assert await page.locator("[data-item=error]").count() == 0 and "Mina" not in await page.inner_text("main")
        assert await visit.too_wide() == 0 and await visit.findings() == []


@pytest.mark.parametrize("language", ["en-US", "ko-KR", "ja-JP", "zh-CN"])
async def test_what_a_model_repeats_is_said_beside_the_things(browser: Browser, language: str) -> None:
    said = {"en": "counts it once", "ko": "한 번만 셉니다", "ja": "一度だけ数えます", "zh": "只计一次"}[language[:2]]
    inventory = (ItemAmount("rope"), ItemAmount("lamp"), ItemAmount("knife"))
    async with (
        Server(load_config(SETTINGS, environ={}), {}) as server,
        visiting(browser, server, "phone", language=language) as visit,
    ):
        chat = Frontend(server.saga, session="one", system="A bare card.", greeting="The bell rings.")
        begun = await chat.say("I pack.", "You take a rope, a lamp and a knife.", items_gained=inventory)
        await visit.open("now", session=begun.session.id)
        assert said not in await visit.page.inner_text("[data-item=things]")
        await chat.say("I wait.", "Nothing comes.", items_gained=inventory)
        await visit.page.wait_for_selector(f"[data-item=things] .hint:has-text('{said}')")
        assert await visit.page.locator("[data-item=things] [data-item=value]").count() == 0, "one of each"
        player = next(each["id"] for each in await server.saga.memory.entities("one") if each["player"])
        await visit.open("people", session=begun.session.id, who=player)
        await visit.page.wait_for_selector("main:has-text('rope')")
        assert "gains_listed" not in await visit.page.inner_text("main")
        await visit.open("now", session=begun.session.id)
        visit.allowed.add("400")
        await visit.page.click("[data-item=relations] [data-action=add]")
        await visit.page.fill("[data-item=correction] [name=to]", "Rosie")
        await visit.page.fill("[data-item=correction] [name=type]", "friend")
        await visit.page.click("[data-action=preview]")
        refused = await visit.page.inner_text("[data-item=correction] [data-item=error]")
        assert "Rosie" in refused and "GET" not in refused and "to:" not in refused
        assert await visit.page.locator("[data-item=error] [lang=en]").count() == 0


NO_MORE = {"character_book": None, "mes_example": "", "first_mes": "The bell rings.", "alternate_greetings": []}


async def test_a_romance_with_an_imported_card_shows_no_hit_points(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    card = card_v2(name="Hana", description="{{char}} blushes. A romance: dating, jealousy, a first kiss.", **NO_MORE)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        await visit.open("transfer")
        raw = {"name": "hana.json", "mimeType": "application/json", "buffer": json.dumps(card).encode()}
        await visit.page.set_input_files("[data-action=files]", [raw])  # type: ignore[list-item]
        await visit.page.click("[data-action=confirm]")
        await visit.page.wait_for_selector("[data-item=play]")
        system = f"Write Hana's next reply. {card['data']['description'].replace('{{char}}', 'Hana')}"
        chat = Frontend(server.saga, system=system, note="", greeting="The bell rings.")
        begun = await chat.say("Hello.", "She looks up.", present=("Hana",))
        assert begun.session.world == "Hana"
        await visit.open("now", session=begun.session.id)
        await visit.page.wait_for_selector("[data-item=profile]:has-text('a romance')")
        assert await visit.page.locator("[data-kind=hp]").count() == 0

"""The pages in a real browser: each at both sizes, what is shown is what the API answers, and an edit is told."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from saga_core.codec import _tag
from saga_core.model import Event
from saga_server.server import Server
from saga_server.web.serving import ROOT
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = [
    "start", "stories", "now", "story", "people", "memories", "why",
    "lore", "bill", "transfer", "settings", "health",
]  # fmt: skip


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_every_page_opens_without_a_fault(browser: Browser, played: tuple[Server, str], size: str) -> None:
    server, session = played
    phone = size == "phone"
    async with visiting(browser, server, size, dark=phone, language="ko-KR" if phone else "en-US") as visit:
        found: dict[str, object] = {}
        for name in PAGES:
            await visit.open(name, session=session)
            await visit.page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
            if name == "people":
                await visit.page.wait_for_selector("[data-item=graph][data-drawn=true]")
            found[name] = [await visit.too_wide(), await visit.findings()]
        assert found == {name: [0, []] for name in PAGES}


async def test_nobody_is_led_away_from_a_page_that_was_chosen_while_the_first_was_drawn(
    browser: Browser, played: tuple[Server, str]
) -> None:
    """An address without a page leads to "Now" as soon as the sessions are known. An effect does that, and it may run
    only after the reader has chosen another page."""
    server, session = played
    async with visiting(browser, server) as visit:
        await visit.page.add_init_script(
            """requestAnimationFrame = () => 0;  // effects then wait for a timer
            new MutationObserver((_, observer) => {
                if (!document.querySelector("select[data-action=session] option:not([value=''])")) return;
                observer.disconnect();
                location.hash = "#/bill";
            }).observe(document, {childList: true, subtree: true});"""
        )
        await visit.page.goto(f"{visit.server.url}/ui/")
        await visit.page.wait_for_url(lambda url: "session=" in url)
        assert visit.page.url.endswith(f"#/bill?session={session}")
        await visit.page.wait_for_selector("main[data-page=bill] [data-item]")


async def test_all_languages_have_the_same_words(browser: Browser, played: tuple[Server, str]) -> None:
    server, _ = played
    async with visiting(browser, server) as visit:
        await visit.open("start")
        script = "async ([root, names]) => Object.fromEntries(await Promise.all(names.map(async name => [name,"
        script += " Object.entries((await import(`${root}/words/${name}.js`)).default).map(([language, words]) =>"
        script += " [language, Object.keys(words).sort(), Object.values(words).filter(each => !each).length])])))"
        source = await visit.page.get_attribute("script[type=module]", "src")
        assert source is not None
        root = f"{visit.server.url}/ui/{source.partition('/')[0]}"
        names = sorted(path.stem for path in (ROOT / "words").glob("*.js"))
        found = await visit.page.evaluate(script, [root, names])
        for name, tables in found.items():
            assert [language for language, *_ in tables] == ["en", "ko", "ja", "zh"], name
            assert all(keys == tables[0][1] and not empty for _, keys, empty in tables), name
        kinds = sorted(_tag(each) for each in get_args(Event))
        assert found["events"][0][1] == kinds, "every event of the engine has a word"
        listed = await visit.page.evaluate(
            "async root => (await import(`${root}/pages/list.js`)).PAGES.map(one => [one.id, Object.keys(one.title)])",
            root,
        )
        assert sorted(name for name, _ in listed) == sorted(PAGES)
        assert all(titles == ["en", "ko", "ja", "zh"] for _, titles in listed)
        shown: dict[str, str] = {}
        for language in ("ko", "ja", "zh", "en"):
            await visit.page.select_option("[data-action=language]", language)
            await visit.page.wait_for_selector(f"html[lang={language}]")
            shown[language] = (await visit.texts("h1"))[0]
        assert len(set(shown.values())) == 4


async def test_now_shows_what_the_api_says_and_an_edit_is_in_the_next_prompt(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    async with visiting(browser, server) as visit:
        page = visit.page
        await visit.open("now", session=session)
        state = await visit.api(f"/api/sessions/{session}/state")
        assert state["location"] in (await visit.texts("[data-item=you] [data-kind=place]"))[0]
        shown = await visit.texts("[data-item=things] [data-item=line] .says")
        assert [text.split("×")[0].strip() for text in shown] == [each["name"] for each in state["inventory"]]
        while await page.locator("[data-item=relations] [data-action=rest]").count():
            await page.evaluate("document.querySelector('[data-item=relations] [data-action=rest]').click()")
        assert await page.locator("[data-item=line][data-kind=relation]").count() == len(state["relationships"])

        await page.click("[data-kind=place] [data-action=edit]")
        await page.fill("[data-item=correction] input[name=place]", "The Gull Attic")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins")
        assert "The Gull Attic" in (await visit.texts("[data-item=effect] ins"))[0]
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == state["location"]
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-kind=place] [data-action=undo]")
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == "The Gull Attic"
        said = [(("user", turn.user), ("assistant", turn.reply)) for turn in await server.saga.views.turns(session)]
        chat = [{"role": role, "content": text} for both in said for role, text in both if text]
        told = await server.saga.begin([*chat, {"role": "user", "content": "Where am I?"}], session=session)
        assert "The Gull Attic" in told.context.text

        await page.click("[data-kind=place] [data-action=undo]")
        await page.wait_for_selector("[data-kind=place] [data-action=undo]", state="detached")
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == state["location"]


async def test_the_story_is_what_the_api_says_and_a_branch_is_named_compared_and_pruned(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    async with visiting(browser, server) as visit:
        page = visit.page
        await visit.open("stories")
        played_in_all = (await visit.api(f"/api/sessions/{session}"))["turns"]
        await page.wait_for_selector(f"[data-item=story]:has-text('{played_in_all} with all branches')")
        await visit.open("story", session=session)
        runs = (await visit.api(f"/api/sessions/{session}/runs"))["runs"]
        await page.wait_for_selector("[data-item=run]")
        shown = [await each.get_attribute("data-turn") for each in await page.locator("[data-item=run]").all()]
        assert sorted(shown) == sorted(run["id"] for run in runs)
        branch = next(run for run in runs if not run["active"])
        await page.click(f"[data-item=run][data-turn={branch['id']}] [data-action=show]")
        tag = f"[data-item=run][data-turn={branch['id']}] .turns .tag"
        await page.wait_for_selector(f"{tag}:has-text('2 swipes')")
        await page.click(f"[data-item=run][data-turn={branch['id']}] [data-action=show]")
        await page.click(f"[data-item=run][data-turn={branch['id']}] [data-action=open]")
        await page.wait_for_selector("[data-item=turn] [data-item=reply]")
        whole = await visit.api(f"/api/sessions/{session}/turns/{branch['id']}")
        assert whole["reply"].split()[0] in (await visit.texts("[data-item=reply]"))[0]
        assert len(await visit.texts("[data-item=turn] .effect li")) == len(whole["effect"])

        await page.click("[data-item=play-on] > summary")
        async with page.expect_download() as waiting:
            await page.click("[data-item=play-on] [data-action=chat]")
        chat = (await (await waiting.value).path()).read_text(encoding="utf-8").splitlines()
        assert json.loads(chat[-1])["mes"].startswith(whole["reply"].split()[0]), "the chat ends with that reply"
        await page.click("[data-item=fork] summary")
        await page.fill("[data-item=fork] input[name=name]", "the biscuit")
        await page.click("[data-action=fork]")
        await page.wait_for_selector('[data-item=timeline][data-name="the biscuit"]')
        await page.wait_for_selector("[data-item=fork] code")
        address = (await visit.texts("[data-item=fork] code"))[0]
        assert address == f"{server.url}/s/{session}@the%20biscuit/v1"
        await page.click("[data-item=compare] summary")
        await page.click("[data-action=compare]")
        await page.wait_for_selector("[data-item=compare] .hint")
        await page.click('[data-item=timeline] [data-action="forget"]')
        await page.wait_for_selector("[data-item=timeline]", state="detached")

        await page.click("[data-action=prune]")
        await page.wait_for_selector("[data-item=prune][open]")
        warned = await visit.texts("[data-item=prune] strong")
        assert warned == [f"This removes {whole['below']['turns']} turns for good, in every store."]
        await page.click("[data-item=prune] [data-action=cancel]")
        assert (await visit.api(f"/api/sessions/{session}/runs"))["runs"] == runs


async def test_two_people_who_are_one_are_joined_and_parted_again(browser: Browser, played: tuple[Server, str]) -> None:
    server, session = played
    async with visiting(browser, server, "phone") as visit:
        page = visit.page
        await visit.open("people", session=session)
        await page.wait_for_selector("[data-item=entity]")
        before = await visit.api(f"/api/sessions/{session}/entities")
        assert len(await visit.texts("[data-item=entity]")) == len(before["entities"])
        names = {each["name"]: each["id"] for each in before["entities"]}
        await page.click(f"[data-item=entity][data-name={names['Gannet']}]")
        await page.click("[data-action=merge]")
        assert await page.input_value("select[name=into]") == "", "nobody is chosen beforehand"
        await page.select_option("select[name=into]", names["Ruth Pell"])
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=says]")
        assert await visit.texts("[data-item=says]") == ["“Gannet” becomes another name of “Ruth Pell”."]
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=said] [data-action=undo]")
        after = {each["name"]: each for each in (await visit.api(f"/api/sessions/{session}/entities"))["entities"]}
        assert "Gannet" not in after and "Gannet" in after["Ruth Pell"]["aliases"]
        await page.wait_for_selector('h2:text("Ruth Pell")')
        assert names["Gannet"] not in " ".join(await visit.texts("main")), "no id is shown"
        await visit.open("memories", session=session)
        await page.wait_for_selector("[data-item=change]:first-child .says:has-text('Gannet and Ruth Pell are one')")
        await page.click("[data-item=change]:first-child [data-action=undo]")
        await page.wait_for_selector(
            "[data-item=change][data-undone=true] .says:has-text('Gannet and Ruth Pell are one')"
        )
        assert (await visit.api(f"/api/sessions/{session}/entities"))["entities"] == before["entities"]


@pytest.mark.parametrize(
    "language", ["ko", *(pytest.param(each, marks=pytest.mark.deep) for each in ("en", "ja", "zh"))]
)
async def test_all_about_one_is_said_in_words(browser: Browser, played: tuple[Server, str], language: str) -> None:
    server, session = played
    entities = await server.saga.memory.entities(session)
    raw = {"is_player", "max_hp", "status_since", "occupation", "traits", "background", "mood", "persona"}
    shown = 0
    async with visiting(browser, server, language=language) as visit:
        for each in [one for one in entities if one["kind"] == "character"][:4]:
            await visit.open("people", session=session, who=each["id"])
            await visit.page.wait_for_selector("[data-item=one] .lines")
            terms = await visit.texts("[data-item=facts] dt")
            assert not raw.intersection(terms)
            shown += len(terms)
            said = " ".join(await visit.texts("[data-item=one]"))
            assert [one["id"] for one in entities if one["id"] in said] == []
    assert shown > 3


async def test_what_needs_no_words_is_shown_at_once_and_taken_back_where_it_is_said(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    before = await server.saga.describe(session)
    for number in range(9):
        await server.saga.memory.correct(session, "note", {"text": f"Note {number} of nine."})
    people = [each for each in await server.saga.memory.entities(session) if each["kind"] == "character"]
    absent = {each["name"] for each in people if not each["player"] and each["status"] != "dead"}
    name = min(absent - set(before["npcs_present"]))
    await server.saga.memory.correct(session, "met", {"who": name})
    async with visiting(browser, server, "phone") as visit:
        page = visit.page
        await visit.open("now", session=session)
        await page.wait_for_selector("[data-item=notes] [data-item=line]")
        assert len(await visit.texts("[data-item=notes] [data-item=line]")) == 6, "the latest only"
        await page.click("[data-item=notes] [data-action=rest]")
        await page.wait_for_selector("[data-item=notes] :text('Note 0 of nine.')")
        assert len(await visit.texts("[data-item=notes] [data-item=line]")) == 11
        await page.click("[data-item=notes] [data-item=line]:has-text('Note 8') [data-action=edit]")
        await page.fill("[data-item=correction] textarea", "Note 8 was wrong.")
        await page.click("[data-action=preview]")
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=notes] .says:has-text('Note 8 was wrong.')")

        line = f"[data-kind=present]:has-text('{name}')"
        await page.click(f"{line} [data-action=off]")
        await page.click(f"{line} [data-action=save]")
        await page.wait_for_selector(line, state="detached")
        assert name not in (await server.saga.describe(session))["npcs_present"]
        said = await page.locator("[data-item=said]").bounding_box()
        assert said is not None and 0 < said["y"] < 740, "in sight, however far one has read on"
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector(line)
        assert name in (await server.saga.describe(session))["npcs_present"]
    for change in await server.saga.memory.changes(session):
        if change["by"] == "edit" and not change["undone"]:
            await server.saga.memory.undo(session, change["id"])
    assert await server.saga.describe(session) == before


async def test_why_shows_what_was_told_and_answers_for_what_was_not(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    async with visiting(browser, server) as visit:
        page = visit.page
        await visit.open("why", session=session)
        told = await visit.api(f"/api/sessions/{session}/context")
        await page.wait_for_selector("[data-item=pieces] [data-item=piece]")
        shown = [await each.get_attribute("data-key") for each in await page.locator("[data-item=pieces] > li").all()]
        assert shown == [each["key"] for each in told["pieces"]]
        words = (ROOT / "words" / "why.js").read_text(encoding="utf-8")
        signals = {name for each in told["pieces"] for name in each["why"]}
        assert len(signals) > 3
        assert {name for name in signals if f" w_{name}:" not in words} == set(), "each signal has a word"
        because = await page.locator("[data-item=pieces] > li .figures summary").all_text_contents()
        scored = [each["why"] for each in told["pieces"] if any(each["why"].values())]
        assert len(because) == len(scored) and any("same words" in each for each in because)
        for line, why in zip(because, scored, strict=True):
            assert why.get("words", 0) > 0 or "same words" not in line, (line, why)
            assert "all of that" not in line, "a total is no reason"
        await page.fill("[data-item=untold] input", "zeppelin " * 80 + "Captain Lucan Vey is dead")
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=answer]")
        await page.fill("[data-item=untold] input", "Captain Lucan Vey is dead")
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=answer]")
        assert await page.get_attribute("[data-item=answer]", "data-reason") in ("told", "in_front")
        head = await visit.api(f"/api/sessions/{session}/turns/{told['turn']}")
        above = await visit.api(f"/api/sessions/{session}/turns/{head['parent']}")
        await page.fill("[data-item=untold] input", above["reply"][:120])
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=answer][data-reason=in_chat]")
        await page.fill("[data-item=untold] input", "xylophone zeppelin")
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=unknown]")
        await page.fill("[data-item=untold] input", "Silver is not spent after dark.")
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=answer][data-reason=in_prompt]")
        event = {"name": "The regatta", "text": "Purple canoes race along the quay.", "due": "90", "place": "Rope Quay"}
        change = await server.saga.memory.correct(session, "event", event, head["parent"])
        await page.fill("[data-item=untold] input", event["text"])
        await page.click("[data-action=ask]")
        await page.wait_for_selector("[data-item=answer][data-reason=not_due] [data-item=more]")
        more = (await visit.texts("[data-item=more]"))[0]
        assert "turn 90" in more, more
        await server.saga.memory.undo(session, change)
        await page.fill("[data-item=try] input", "I walk to the Brine House and look for Dorcas.")
        await page.click("[data-action=try]")
        await page.wait_for_selector("[data-item=would] [data-key='lore:The Brine House']")
        assert await page.locator("[data-item=try] [data-item=summary]").count() == 1
        first = told["shown_from"]
        assert first > 1 and f"from turn {first} on" in (await visit.texts("[data-item=shown-from]"))[0]
        keys = [
            await each.get_attribute("data-key") or "" for each in await page.locator("[data-item=would] > li").all()
        ]
        turns = {each["turn_id"]: each["turn"] for each in (await visit.api(f"/api/sessions/{session}/turns"))["turns"]}
        assert [key for key in keys if turns.get(key.removeprefix("turn:"), 0) >= first] == [], "the chat shows those"


async def test_a_file_is_looked_at_before_it_is_taken_in(browser: Browser, played: tuple[Server, str]) -> None:
    server, session = played
    async with visiting(browser, server) as visit:
        page = visit.page
        await visit.open("transfer", session=session)
        async with page.expect_download() as waiting:
            await page.click("[data-action=export]")
        saved = await (await waiting.value).path()
        before = len(await server.saga.sessions.list())
        await page.set_input_files("[data-action=files]", saved)
        await page.wait_for_selector("[data-item=thing][data-kind=saga_session]")
        assert len(await server.saga.sessions.list()) == before
        card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Odd <b>Job</b>", "description": "x"}}
        file = {"name": "odd.json", "mimeType": "application/json", "buffer": json.dumps(card).encode()}
        await page.set_input_files("[data-action=files]", [file])  # type: ignore[list-item]
        await page.wait_for_selector("[data-item=thing]:not([data-kind=saga_session])")
        assert await page.locator("[data-action=confirm]").count() == 1
        await page.click("[data-action=cancel]")
        await page.wait_for_selector("[data-item=thing]", state="detached")
        bad = {"name": "odd.bin", "mimeType": "application/octet-stream", "buffer": b"\x00\x01nothing"}
        visit.allowed.add("400")
        await page.set_input_files("[data-action=files]", [bad])  # type: ignore[list-item]
        await page.wait_for_selector("[data-item=error], [data-item=refused]")

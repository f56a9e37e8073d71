"""Names in the graph can be read, meters have one scale, and a model on one's own machine is free."""

from __future__ import annotations

import time

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.billing import Bill
from saga_core.config import load_config
from saga_core.extraction import Extractor
from saga_core.state_block import ItemTransfer, RelationChange
from saga_core.trackers import tracker_in_line
from saga_server.server import Server
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend, answer
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

_OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll(".graph .node > *, .graph .tie-name")]
        .map(each => each.getBoundingClientRect());
    return boxes.flatMap((one, at) => boxes.slice(at + 1).filter(other =>
        Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
        && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1)).length;
}"""
_WIDTHS = "all => all.map(each => Math.round(parseFloat(each.style.width) * 10) / 10)"


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_no_name_in_the_graph_lies_on_another(browser: Browser, played: tuple[Server, str], size: str) -> None:
    server, session = played
    async with visiting(browser, server, size) as visit:
        await visit.open("people", session=session)
        await visit.page.wait_for_selector("[data-item=graph][data-drawn=true]")
        assert await visit.page.evaluate(_OVERLAPS) == 0
        assert size == "phone" or await visit.page.locator(".graph .tie-name").count() > 0
        await visit.page.hover("[data-item=graph]", position={"x": 9, "y": 9})
        for nearer in (True, False):
            view = await visit.page.get_attribute(".graph svg", "viewBox")
            if nearer:
                await visit.page.mouse.wheel(0, -200)
            else:
                await visit.page.hover("[data-item=graph]", position={"x": 90, "y": 60})
            await visit.page.wait_for_function(
                "was => document.querySelector('.graph svg').getAttribute('viewBox') !== was", arg=view
            )
            await visit.page.mouse.down()
        await visit.page.mouse.up()
        await visit.page.dispatch_event(".graph .node >> nth=0", "click")
        await visit.page.click("[data-item=one] [data-action=back]")
        await visit.page.wait_for_selector("[data-item=entity]")
        known = len(await visit.texts("[data-item=entity]"))
        await visit.open("people", session=session, at="2")
        shown = "all => all.map(each => each.dataset.name)"
        await visit.page.wait_for_function(
            f"document.querySelectorAll('[data-item=entity]').length < {known}", polling="raf"
        )
        listed = await visit.page.eval_on_selector_all("[data-item=entity]", shown)
        nodes = (await visit.api(f"/api/sessions/{session}/graph?turn=2"))["nodes"]
        assert sorted(listed) == sorted(each["id"] for each in nodes if each["label"] != "Lore")
        await visit.page.click("[data-item=entity] >> nth=0")
        await visit.page.wait_for_selector("[data-item=one] [data-action=back][href*='at=2']")
        assert await visit.page.input_value("[data-action=time]") == "2"


async def test_the_story_in_fewer_words_is_told_in_sentences(browser: Browser) -> None:
    tree = {**SETTINGS, "curator": {"interval": 10}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        chat = Frontend(server.saga, session="one", system="A bare card.", greeting="The bell rings.")
        lamp = ItemTransfer("lamp", "Mina", "Player")
        begun = await chat.say("I go in.", "Mina nods.", npc_met=("Mina",), items_transferred=(lamp,))
        await chat.say("I sit.", "She sits.", notes="Mr. Vey wants the house", event_trigger="the bell of Sarn rang")
        for number in range(10):
            await chat.say(f"I wait, {number}.", f"Nothing comes, {number}.", mood="calm")
        await server.saga.drain(10)
        await visit.open("memories", session=begun.session.id)
        await visit.page.wait_for_selector("[data-item=story] li")
        (told,) = await visit.texts("[data-item=story] li .says >> nth=0")
        assert told.endswith(
            "Player met Mina. Mina gave lamp to Player. The bell of Sarn rang. Mr. Vey wants the house."
        )


async def test_a_meter_says_the_same_whatever_stands_beside_it(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        saga = server.saga
        chat = Frontend(saga, session="one", system="A bare card.")
        begun = await chat.say("I go in.", "Ada and Ben are there.", npc_met=("Ada", "Ben"))
        player = (await saga.describe(begun.session.id))["player"]
        await saga.memory.correct("one", "relation", {"from": "Ada", "to": player, "type": "friend", "strength": "10"})
        found = []
        for strength in (0, 90):
            await saga.memory.correct(
                "one", "relation", {"from": "Ben", "to": player, "type": "friend", "strength": str(strength)}
            )
            await visit.open("now", session=begun.session.id)
            await visit.page.reload()
            await visit.page.wait_for_selector("[data-item=relations] .bar.middle >> nth=1")
            found.append(await visit.page.eval_on_selector_all("[data-item=relations] .bar.middle > span", _WIDTHS))
        assert sorted(found[0]) == [0, 25] and sorted(found[1]) == [25, 45]


@pytest.mark.parametrize(
    ("address", "shown"), [("http://127.0.0.1:1/v1", "free"), ("https://example.com/v1", "not known")]
)
async def test_a_model_on_ones_own_machine_is_free(browser: Browser, address: str, shown: str) -> None:
    tree = {**SETTINGS, "providers": {"home": {"base_url": address}}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        saga = server.saga
        begun = await Frontend(saga, session="one").say("I go in.", "The mill is dark.")
        (turn,) = await begun.commit() or await saga.views.turns(begun.session.id, from_turn=1)
        bill = Bill(turn.id, time.time(), "home-model", "home", 900, 0, 0, 0, 90, 0, 0, 0, None, None, None, "")
        await saga.sessions.ledger.enter(begun.session.id, bill)
        await visit.open("bill", session=begun.session.id)
        await visit.page.wait_for_selector("[data-item=models] [data-item=dollars]")
        assert await visit.texts("[data-item=models] [data-item=dollars]") == [shown]
        assert (await visit.texts("[data-item=paid] strong")) == [shown]
        assert "Not known" in await visit.page.inner_text("[data-item=broken]"), "nothing was read from a cache"
        assert await visit.findings() == []
        if shown == "free":  # nobody answers there
            visit.allowed.add("502")
            await visit.open("start")
            await visit.page.wait_for_selector("[data-item=provider] [data-item=error]:has-text('does not answer')")
            await visit.page.click("[data-action=test]")
            await visit.page.wait_for_selector("[data-item=test] [data-item=error]:has-text('does not answer')")


async def test_what_is_counted_has_a_bar_and_its_history_and_what_comes_again_is_offered(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        saga = server.saga
        chat = Frontend(saga, session="one", system="A bare card.")
        for number in (10, 40):
            words = f"I go on, {number}."
            begun = await chat.begin(
                words,
                trackers=(tracker_in_line("mana | range=0..50"), tracker_in_line("trust | kind=meter")),
            )
            block = f"```state\npresent: [Ada]\nmana: {number}\ntrust: {{Ada: ={number - 50}}}\nfame: {number}\n```"
            shown = await answer(begun, f"Ada nods at {number}.\n\n{block}")
            chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
        await visit.open("now", session=begun.session.id)
        bars = "[data-item=counted] .bar"
        await visit.page.wait_for_selector(f"{bars} >> nth=1")
        assert await visit.page.eval_on_selector_all(f"{bars} > span", _WIDTHS) == [80, 5]
        assert "← 10" in await visit.page.inner_text("[data-item=counted]")
        await visit.page.click("[data-item=observed] [data-action=off]")
        await visit.page.click("[data-item=observed] [data-action=save]")
        await visit.page.wait_for_selector("[data-kind='tracker:fame']")


async def test_something_to_count_is_declared_and_counted_no_more(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        chat = Frontend(server.saga, session="one", system="A bare card.")
        begun = await chat.say("I go in.", "Ada nods.", present=("Ada",))
        await visit.open("now", session=begun.session.id)
        counted = "[data-item=counted]"
        await visit.page.click(f"{counted} [data-action=add]")
        for name, value in {"name": "gold", "range": "0..99", "start": "3"}.items():
            await visit.page.fill(f"{counted} [name={name}]", value)
        await visit.page.click(f"{counted} [data-action=preview]")
        await visit.page.click(f"{counted} [data-action=save]")
        await visit.page.wait_for_selector("[data-kind='tracker:gold']")
        tracker = (await server.saga.views.state(begun.session.id)).trackers.find("gold")
        assert tracker is not None and (tracker.limits, tracker.start, tracker.whose.value) == ((0, 99), "3", "player")
        assert await visit.findings() == []
        await visit.page.click("[data-kind='tracker:gold'] [data-action=off]")
        await visit.page.click("[data-kind='tracker:gold'] [data-action=save]")
        await visit.page.wait_for_selector("[data-kind='tracker:gold']", state="detached")
        kinds = {"clock": "world", "meter": "pair", "list": "place", "flag": "character"}
        kinds |= {"money": "player", "choice": "player", "counter": "player", "threads": "world"}
        for kind, whose in kinds.items():
            await visit.page.click(f"{counted} [data-action=add]")
            await visit.page.fill(f"{counted} [name=name]", f"a {kind}")
            await visit.page.select_option(f"{counted} [name=kind]", kind)
            if kind in ("money", "choice"):
                await visit.page.fill(f"{counted} [name=steps]", "copper, 10 silver" if kind == "money" else "wet, dry")
            await visit.page.select_option(f"{counted} [name=for]", whose if kind in ("list", "flag") else "player")
            await visit.page.click(f"{counted} [data-action=preview]")
            await visit.page.click(f"{counted} [data-action=save]")
            await visit.page.wait_for_selector(f"{counted} [data-item=correction]", state="detached")
            found = (await server.saga.views.state(begun.session.id)).trackers.find(f"a {kind}")
            assert found is not None and (found.kind.value, found.whose.value) == (kind, whose)


async def test_a_person_says_what_she_knows_and_what_not(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        saga = server.saga
        chat = Frontend(saga, session="one", system="A bare card.")
        begun = await chat.say("I go in.", "Ada and Ben are there.", npc_met=("Ada", "Ben"), present=("Ada", "Ben"))
        begun = await chat.say(
            "I read it to Ada.", "Ben has left. The seal is false.", present=("Ada",), npc_separated=("Ben",)
        )
        begun = await chat.say("And then?", "Ada nods.", present=("Ada",), notes="the seal is false")
        ids = {each["name"]: each["id"] for each in await saga.memory.entities("one")}
        shown = {}
        for name in ("Ada", "Ben"):
            await visit.open("people", session=begun.session.id, who=ids[name])
            rows = "[data-item=knows] li"
            await visit.page.wait_for_selector(rows)
            shown[name] = await visit.page.eval_on_selector(rows, "each => [each.dataset.knows, each.innerText]")
        at_turn = await saga.memory.knowledge("one", who="Ada", turn="2")
        assert (at_turn["turn"], at_turn["facts"]) == (2, [])
        assert shown["Ada"][0] == "true" and "since turn 3" in shown["Ada"][1]
        assert shown["Ben"][0] == "false" and "does not know" in shown["Ben"][1]
        await visit.open("story", session=begun.session.id, turn=(await saga.views.state("one")).turn)
        await visit.page.wait_for_selector("[data-item=knowers] li >> nth=2")
        knowers = await visit.page.eval_on_selector_all(
            "[data-item=knowers] li", "all => all.map(each => each.innerText.replace(/\\s+/g, ' ').trim())"
        )
        ada, ben, _ = sorted(knowers)
        assert ada.startswith("Ada since turn 3") and ben.startswith("Ben does not know")
        for name, then in (("Ada", "false"), ("Ben", "true")):
            row = f"[data-item=knowers] li:has-text('{name}')"
            await visit.page.click(f"{row} [data-action=knows]")
            await visit.page.wait_for_selector(f"{row} [data-item=says]:has-text('what happened in turn 3')")
            await visit.page.click(f"{row} [data-action=save]")
            await visit.page.wait_for_selector(f"{row}[data-knows={then}]")
            await visit.page.wait_for_selector("[data-item=knowers] [data-item=said] [data-action=undo]")
        assert await visit.findings() == []


async def test_a_scene_is_written_anew_by_hand_and_stays(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        chat = Frontend(server.saga, session="one", system="A bare card.")
        for number in range(11):
            begun = await chat.say(f"I go on, {number}.", "It rains.", notes=f"stone {number} is passed")
        await server.saga.drain(10)
        await visit.open("memories", session=begun.session.id)
        scene = "[data-item=chapter]"
        await visit.page.click(f"{scene} [data-action=edit]")
        wide = "each => each.getBoundingClientRect().width / each.closest('form').getBoundingClientRect().width"
        assert await visit.page.eval_on_selector(f"{scene} textarea", wide) > 0.9
        assert await visit.page.eval_on_selector(f"{scene} textarea", "each => each.rows") > 3
        await visit.page.fill(f"{scene} textarea", "They passed ten stones.")
        await visit.page.click(f"{scene} [data-action=preview]")
        await visit.page.click(f"{scene} [data-action=save]")
        await visit.page.wait_for_selector(f"{scene} .tag.good")
        assert "They passed ten stones." in await visit.page.inner_text(scene)
        part, *_ = (await server.saga.memory.curated("one"))["story"]
        assert (part["first"], part["last"], part["by_hand"]) == (1, 10, True)
        assert await visit.findings() == []


async def test_a_model_tells_a_scene_anew_and_a_person_keeps_it(browser: Browser) -> None:
    model = Scripted(otherwise="Ten stones were passed in the rain.")
    async with (
        Server(load_config(SETTINGS, environ={}), {}) as server,
        visiting(browser, server, "phone", language="ko-KR") as visit,
    ):
        saga = server.saga
        saga.background.chapters.call = Extractor(model, "small", saga.stores.counter).call_for("chapters")
        chat = Frontend(saga, session="one", system="A bare card.")
        for number in range(11):
            begun = await chat.say(f"I go on, {number}.", "It rains.", notes=f"stone {number} is passed")
        await saga.drain(10)
        await visit.open("memories", session=begun.session.id)
        scene = "[data-item=chapter]"
        await visit.page.click(f"{scene} [data-action=edit]")
        assert await visit.texts(f"{scene} [data-item=styles] button") == ["간결하게", "풍부하게", "인용을 넣어"]
        await visit.page.click(f"{scene} [data-action=tell-rich]")
        await visit.page.wait_for_function(
            "() => document.querySelector('[data-item=chapter] textarea').value.startsWith('Ten stones')"
        )
        await visit.page.click(f"{scene} [data-action=preview]")
        await visit.page.click(f"{scene} [data-action=save]")
        await visit.page.wait_for_selector(f"{scene} .tag.good")
        part, *_ = (await saga.memory.curated("one"))["story"]
        assert part["by_hand"] and part["text"].startswith("Ten stones were passed in the rain.")
        assert await visit.too_wide() == 0 and await visit.findings() == []


async def test_a_relation_is_marked_as_over(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        chat = Frontend(server.saga, session="one", system="A bare card.")
        begun = await chat.say(
            "I go in.", "Ada is there.", relationship_changes=(RelationChange("Ada", "Player", "friend", 1),)
        )
        await visit.open("now", session=begun.session.id)
        await visit.page.click("[data-kind=relation] [data-action=off]")
        await visit.page.click("[data-kind=relation] [data-action=save]")
        await visit.page.wait_for_selector("[data-item=relations] .none")
        assert not (await server.saga.describe("one"))["relationships"]

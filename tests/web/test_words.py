"""Every word that the pages themselves say is in the tables of words: nothing else is said in another language.

What is looked for is found by itself: the sentences in the engine's source, and the Latin letters on Korean pages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import pytest_asyncio
from attrs import NOTHING, fields

import saga_core.model.curated
import saga_core.model.folding
import saga_core.state_block.parser
from saga_core.config import load_config
from saga_core.model import Event
from saga_core.state_block import BlockFields, ItemAmount
from saga_server.demo.adventure import adventure
from saga_server.server import Server
from saga_server.web.serving import ROOT
from tests.blocks import render_block
from tests.web.chromium import MISSING
from tests.web.stories import tell

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, Visit, visiting
from tests.web.conftest import SETTINGS
from tests.web.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SAID = {"problem", "bad", "append"}
"""The functions that take a sentence which the pages show, in the modules that fold and read what was reported."""
_MODULES = (saga_core.model.folding, saga_core.model.curated, saga_core.state_block.parser)
_LATIN = re.compile(r"[A-Za-z]{3,}")
_VISIBLE = """() => {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    document.querySelectorAll("details").forEach(each => { each.open = true; });
    while (walker.nextNode()) {
        const at = walker.currentNode.parentElement;
        if (at.closest("code, pre, textarea, [lang=en], [translate=no], nav option, noscript")) continue;
        if (walker.currentNode.data.trim()) found.push(walker.currentNode.data.trim());
    }
    for (const name of ["aria-label", "title", "placeholder"])
        for (const each of document.querySelectorAll(`[${name}]`)) found.push(each.getAttribute(name));
    return found;
}"""


async def load(visit: Visit, script: str, *given: Any) -> Any:
    """Evaluate ``script`` with the address of the pages' files."""
    source = await visit.page.get_attribute("script[type=module]", "src")
    assert source is not None
    return await visit.page.evaluate(script, [f"{visit.server.url}/ui/{source.partition('/')[0]}", *given])


def sentence(node: ast.expr) -> str | None:
    """A sentence as the engine would write it, with an example for each value; None for what is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = [node.value]
    elif isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else "'그림자'" if part.conversion == ord("r") else "7"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        ]
        parts = [str(each) for each in parts]
    else:
        return None
    whole = "".join(parts)
    return whole if _LATIN.search(whole) else None


def values(plain: Any) -> Iterator[str]:
    """The texts in what the API answered, without the names of its fields."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict | list):
        for each in plain.values() if isinstance(plain, dict) else plain:
            yield from values(each)


def sentences() -> Iterator[str]:
    """All sentences of the engine about what was reported and not believed."""
    for module in _MODULES:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            found = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAID:
                about = node.func.value
                if node.func.attr == "append" and getattr(about, "attr", "") != "problems":
                    continue
                found = sentence(node.args[-1])
                if found is not None and node.func.attr == "bad":
                    found = f"7: {found}"
            elif isinstance(node, ast.Return) and module is saga_core.model.curated:
                found = sentence(node.value) if isinstance(node.value, ast.JoinedStr) else None
            if found is not None:
                yield found


async def test_every_sentence_about_what_was_reported_is_known_in_every_language(browser: Browser) -> None:
    wanted = sorted(set(sentences()))
    assert len(wanted) > 20
    both = [*wanted, *(f"state block: {each}" for each in wanted)]
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        await visit.open("start")
        script = "async ([root, texts, chosen]) => { const { translated } = await import(`${root}/parts/sentence.js`);"
        script += " return texts.map(each => translated(each, chosen)); }"
        english = await load(visit, script, both, "en")
        assert [each and each.replace("'", "") for each in english] == [each.replace("'", "") for each in both]
        for chosen in ("ko", "ja", "zh"):
            said = await load(visit, script, both, chosen)
            left = [text for text, own in zip(both, said, strict=True) if own is None or own == text]
            assert left == [], chosen
        unknown = await load(
            visit, script, ["something that nobody ever wrote here", "state block: and neither this"], "ko"
        )
        assert unknown == [None, None]


async def test_no_event_is_told_with_the_name_of_a_field_or_a_raw_value(browser: Browser) -> None:
    events = [
        {"t": re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()}
        | {each.name: f"<{each.name}>" for each in fields(event) if each.default is NOTHING}
        for event in get_args(Event)
    ]  # as the API has them: what has its default is left out
    raw = [
        {"t": "tracker_set", "tracker": "time", "value": 9000, "shown": "Sunday, 06:00"},
        {"t": "tracker_changed", "tracker": "time", "by": 120, "shown": "+2:00"},
        {"t": "settled", "key": "k", "verdict": "deliberate"},
        {"t": "profile_chosen", "profile": "romance"},
        {"t": "event_closed", "event": "picnic", "outcome": "cancelled"},
    ]
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        await visit.open("start")
        script = "async ([root, events, chosen]) => { const { speak } = await import(`${root}/lib/i18n.js`);"
        script += " const { inShort } = await import(`${root}/parts/events.js`); speak(chosen);"
        script += " return events.map((each) => inShort([each], [])); }"
        for chosen in ("en", "ko", "ja", "zh"):
            assert [text for text in await load(visit, script, events, chosen) if re.search(r"[{}]|  ", text)] == []
            said = await load(visit, script, raw, chosen)
            left = [text for text in said if re.search(r"9000|120|deliberate|cancelled", text)]
            assert left == [] and ("romance" in said[3]) == (chosen == "en")
        raw += [{"t": "status_changed", "who": "Hana", "status": "alive"}]
        assert await load(visit, script, [raw[0], raw[-1]], "en") == ["time: Sunday, 06:00", "Hana: alive and well"]
        heard = [{"turn": 5, "who": ["Hana"]}, {"audience": "only"}, {"turn": 3, "audience": "everybody"}]
        said = await load(visit, script, [{"t": "audience_set", **each} for each in heard], "en")
        assert [text.partition(": ")[2] for text in said] == ["Hana, too", "the narrator alone", "everybody"]
        assert said[0].startswith("who knows of turn 5")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def korean() -> AsyncIterator[tuple[Server, str]]:
    """The Korean adventure, with something at its end that was reported and not believed."""
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        session = await tell(adventure("ko"), server.url)
        await server.saga.drain(30)
        people = [each for each in await server.saga.memory.entities(session) if each["kind"] == "character"]
        dead = next(each["name"] for each in people if each["status"] == "dead")
        said = [(("user", turn.user), ("assistant", turn.reply)) for turn in await server.saga.views.turns(session)]
        chat = [{"role": role, "content": text} for both in said for role, text in both if text]
        begun = await server.saga.begin([*chat, {"role": "user", "content": "문을 두드린다."}], session=session)
        begun.replies[0].feed(
            f"문이 열린다.\n{render_block(BlockFields(npc_met=(dead,), items_lost=(ItemAmount('달'),)))}"
        )
        begun.replies[0].finish()
        await begun.commit()
        await server.saga.memory.correct(session, "note", {"text": "비가 온다."})
        await server.saga.drain(30)
        yield server, session


async def test_korean_pages_say_nothing_that_is_not_in_the_korean_tables(
    browser: Browser, korean: tuple[Server, str]
) -> None:
    server, session = korean
    async with visiting(browser, server, language="ko-KR") as visit:
        await visit.open("start")
        names = sorted(path.stem for path in (ROOT / "words").glob("*.js"))
        script = "async ([root, names]) => JSON.stringify(await Promise.all(names.map(async name =>"
        script += " (await import(`${root}/words/${name}.js`)).default.ko)))"
        korean_words = await load(visit, script, names)
        assert not re.search("뒤에서|알아서|세는 값|세기로|프롬프트 자리", korean_words), "word by word"
        tables = set(_LATIN.findall(korean_words))
        story = " ".join(turn.user + turn.reply for turn in await server.saga.views.turns(session))
        summary = await visit.api(f"/api/sessions/{session}")
        state = await visit.api(f"/api/sessions/{session}/state")
        assert state["problems"], "something was not believed"
        reported = " ".join(values(await visit.api(f"/api/sessions/{session}/turns")))
        worlds = [each["name"] for each in (await visit.api("/api/library"))["worlds"]]
        ids = " ".join([session, reported, summary["world"], summary["label"], state["turn_id"], *worlds])
        allowed = tables | set(_LATIN.findall(story)) | set(_LATIN.findall(ids)) | {"English", "SAGA"}
        player = next(each for each in await server.saga.memory.entities(session) if each["player"])
        places = [(name, {}) for name in PAGES]
        places += [("story", {"turn": state["turn_id"]}), ("people", {"who": player["id"]})]
        found: dict[str, list[str]] = {}
        for name, params in places:
            await visit.open(name, session=session, **params)
            await visit.page.wait_for_selector(".patience", state="detached")
            said = await visit.page.evaluate(_VISIBLE)
            assert any("가" <= letter <= "힣" for text in said for letter in text), "these pages are Korean"
            left = {text[:120] for text in said if set(_LATIN.findall(text)) - allowed}
            if left:
                found[f"{name} {params}"] = sorted(left)
        assert [f"{name}: {text}" for name, texts in found.items() for text in texts] == []

"""docs/trackers.md: its worlds open, its reports are read, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from saga_core import Saga, registry
from saga_core.config import load_config
from saga_core.state_block import instruction
from saga_core.trackers import NO_TRACKERS, PROFILES, TrackerKind, trackers_of
from saga_core.trackers.declaring import DECLARED_FIELDS
from tests.core.frontend import Frontend
from tests.docs.pages import page

PAGE = page("docs/trackers.md")
MARK = re.compile(r"<!-- (world|report|known): (\w+) -->")


def marked(kind: str) -> dict[str, str]:
    """The blocks of a kind by the name of their example."""
    found = ((MARK.fullmatch(mark), block) for block in PAGE.blocks for mark in block.marks)
    return {match[2]: block.text for match, block in found if match is not None and match[1] == kind}


def test_the_tables_are_those_of_the_code() -> None:
    first = {row[0].strip("`") for row in PAGE.rows}
    assert {kind.value for kind in TrackerKind} <= first and set(PROFILES) <= first
    assert set(DECLARED_FIELDS) <= first


@pytest.mark.parametrize("name", sorted(marked("report")))
async def test_a_world_of_the_page_counts_as_it_says(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "worlds" / name
    folder.mkdir(parents=True)
    (folder / "WORLD.md").write_text(marked("world")[name], encoding="utf-8")
    (folder / "CHARACTERS.md").write_text("## Player\n\n- player: true\n", encoding="utf-8")
    (tmp_path / "saga.yaml").write_text("storage: {profile: memory}\n", encoding="utf-8")
    async with Saga.open(load_config(tmp_path / "saga.yaml")) as saga:
        chat = Frontend(saga, greeting="It begins.", system="You narrate.", note="")
        turn = await chat.begin("I begin.", world=name)
        assert turn.notices == ()
        turn.replies[0].feed(f"So it is.\n\n```state\n{marked('report')[name]}\n```")
        (recorded,) = await turn.commit()
        state = await saga.views.describe(turn.session.id, recorded.id)
        assert state["problems"] == []
        pages = await saga.views.regenerate_pages(turn.session.id)
        shown = re.sub(r"\*\*|^- ", "", pages.files["state.md"], flags=re.M)
        for line in marked("known").get(name, "").strip().splitlines():
            happened = {each["name"] for each in state["events"]}
            assert line in shown.splitlines() or line in happened, (line, shown)


async def test_the_page_of_performance_has_what_each_profile_costs() -> None:
    counter = await registry.load("tokens", "estimate").open(registry.OpenOptions())
    found = {row[0].strip("`"): row[1:] for row in page("docs/performance.md").rows if row[0].strip("`") in PROFILES}
    for profile in PROFILES:
        counted = NO_TRACKERS.in_profile(profile, ()) if profile != "adventure" else NO_TRACKERS
        costs = []
        for language in ("en", "ko", "ja", "zh"):
            own = counted.in_profile(profile, trackers_of(profile, language)) if counted.profile else counted
            costs.append(counter.count(instruction(language, counted=own)))
            for each in own if len(own) > 1 else ():
                less = counter.count(instruction(language, counted=own.without(each.name)))
                assert costs[-1] - less <= 25, each.name
        assert found[profile] == [str(cost) for cost in costs]


SCENES = {
    "en": ("You are the narrator of a story about a baker and her friend.", "bakery", "bread", "Hana"),
    "ko": ("너는 제빵사와 친구의 이야기를 들려주는 이야기꾼이다.", "빵집", "빵", "하나"),
    "ja": ("あなたはパン職人とその友人の物語の語り手です。", "パン屋", "パン", "花"),
    "zh": ("你是一个讲述面包师和她朋友的故事的叙述者。", "面包店", "面包", "花"),
}
OF_KINDS = {"meter": "{{{who}: +20}}", "text": "{{{who}: {thing}}}", "clock": "19:00", "list": "[+{thing}]"}


@pytest.mark.deep
@pytest.mark.parametrize("profile", PROFILES)
async def test_the_page_of_performance_has_what_a_context_costs(profile: str) -> None:
    counter = await registry.load("tokens", "estimate").open(registry.OpenOptions())
    costs = []
    for language, (system, place, thing, who) in SCENES.items():
        async with Saga.open(load_config({"storage": {"profile": "memory"}, "profile": profile})) as saga:
            chat = Frontend(saga, greeting="…", system=system, note="")
            turn = await chat.begin(f"{who}.")
            values = (
                f"{each.name}: " + OF_KINDS.get(each.kind.value, "[+{thing} (20:00)]").format(who=who, thing=thing)
                for each in trackers_of(profile, language)
            )
            bond = f"relationship_changes: [{{from: {who}, to: Player, type: friendly, delta: 2}}]"
            said = (f"location: {place}", f"present: [{who}]", "hp_change: -10", f"items_gained: [{thing}]", bond)
            report = "\n".join((*said, "mood: calm", *values))
            turn.replies[0].feed(f"{who}.\n\n```state\n{report}\n```")
            (recorded,) = await turn.commit()
            chat.history += [{"role": "user", "content": f"{who}."}, {"role": "assistant", "content": recorded.reply}]
            costs.append(str(counter.count((await chat.begin(f"{thing}?")).context.text)))
    rows = {row[0]: row[1:] for row in page("docs/performance.md").rows}
    assert next(found for name, found in rows.items() if name.split()[1:2] == [profile]) == costs

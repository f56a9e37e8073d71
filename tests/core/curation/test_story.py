"""The story in fewer words: it keeps what weighs, stays bounded over thousands of turns, and invents nothing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.curation.corrections import correct
from saga_core.curation.facts import BOND, Fact, condense, condensed, facts_in, facts_of, lost, replay, scenes_of
from saga_core.curation.validation import rule
from saga_core.errors import BadInput
from saga_core.model import deltas
from saga_core.model.curated import SCENE
from saga_core.model.entities import Entity, Kind, StoryPart
from saga_core.model.folding import fold
from saga_core.model.tree import Delta
from saga_core.model.world_state import MAX_STORY, MAX_STORY_CHARS, WorldState
from saga_core.projection.lines import due, due_lines
from saga_core.projection.pages import render_bodies, render_prefix
from saga_core.projection.story import clauses, story_lines, weight
from saga_core.values import Proposal
from tests.core.curation.stage import Stage, Told, world

KEY = {
    12: ("notes: 마렌에게 망치를 되찾아 주겠다고 약속했다", "마렌"),
    31: ("status_changes: [{name: 타비, status: dead}]", "타비"),
    77: ("notes: 바르가의 창에 왼팔을 크게 다쳤다", "왼팔"),
    90: ("event_trigger: 순찰 종이 울린 밤", "순찰 종이 울린 밤"),
    143: ("notes: 에르겐에게 은화 열 닢을 빚졌다", "은화 열 닢"),
    201: ("notes: 오드의 비밀을 알게 되었다", "오드"),
    250: ("status_changes: [{name: 고블린 족장 바르가, status: dead}]", "바르가"),
}
SMALL = ("바람이 분다", "불을 피웠다", "길을 걸었다", "물을 마셨다", "별을 보았다", "잠시 쉬었다")


def play(turns: int, *, key: bool = True) -> Stage:
    """A play reviewed every ten turns, as the engine does."""
    dice, stage = random.Random(7), Stage("ersia")
    for number in range(1, turns + 1):
        block = KEY[number][0] if key and number in KEY else f"notes: {dice.choice(SMALL)} {number}"
        stage.tell(Told("간다.", "간다.", block))
        if number % 10 == 0:
            view = stage.view(since=number - 10)
            verdicts = rule(view, condense(view, 50), ())
            assert all(each.accepted for each in verdicts), verdicts
            events = tuple(event for each in verdicts for event in each.events)
            stage.states[-1] = fold(stage.state, Delta(events), turn=stage.state.turn, depth=stage.state.depth)
    return stage


def tokens(text: str) -> int:
    return len(text) // 2 + 1


BETWEEN = {
    "en": (
        ("Ben bought a bowl of soup with too much pepper in it and praised it very much indeed", True),
        ("Osric demands 300 crowns from Mara by Friday noon or he will tell the miller about the cellar", False),
        ("Ben looked at the stars for a long time and thought of his horse", True),
        ("Mara told Ben that the innkeeper before her was her father; nobody else knows", False),
    ),
    "ko": (
        ("벤자민이 후추를 너무 많이 넣은 수프를 한 그릇 사서 아주 맛있다고 칭찬하며 다 먹었다", True),
        ("오스릭이 금요일까지 마라에게 삼백 냥을 요구하며 지하실 이야기를 방앗간에 알리겠다고 한다", False),
        ("벤자민이 오랫동안 별을 바라보며 두고 온 말을 생각했다", True),
        ("마라가 예전 여관 주인이 자기 아버지였다고 벤자민에게 털어놓았다", False),
    ),
    "ja": (
        ("ベンは胡椒の入りすぎたスープを買ってとても褒めた", True),
        ("オスリックは金曜までに三百枚をマーラに求め、地下室の話を粉屋にすると言う", False),
        ("ベンは長いあいだ星を眺めて馬のことを思った", True),
        ("マーラは前の宿の主人が父だったとベンに話した", False),
    ),
    "zh": (
        ("本杰明买了一碗胡椒太多的汤并且大加称赞", True),
        ("奥斯里克要玛拉在周五之前付三百克朗，否则就把地窖的事告诉磨坊主", False),
        ("本杰明望着星星想念他的马想了很久", True),
        ("玛拉告诉本杰明从前的旅店主人是她的父亲", False),
    ),
}
PEOPLE = {
    "en": ("Ben", "Mara", "Osric"),
    "ko": ("벤자민", "마라", "오스릭"),
    "ja": ("ベン", "マーラ", "オスリック"),
    "zh": ("本杰明", "玛拉", "奥斯里克"),
}


@pytest.mark.parametrize("language", list(BETWEEN))
def test_what_is_between_people_comes_before_what_one_does_alone(language: str) -> None:
    ids = [f"c{at}" for at in range(3)]
    people = {id_: Entity(id_, Kind.CHARACTER, name) for id_, name in zip(ids, PEOPLE[language], strict=True)}
    state = WorldState(player="c0", entities=people)
    parts = [StoryPart(SCENE, at, at, text.replace(";", ",")) for at, (text, _) in enumerate(BETWEEN[language], 1)]
    room = sum(len(text) + 2 for text, alone in BETWEEN[language] if not alone)
    told = condensed(facts_in(parts, state), room, language)
    for part, (text, alone) in zip(parts, BETWEEN[language], strict=True):
        assert (part.text in told) is not alone, text


BINDING = {
    "en": (
        ("At the Heronry, a smugglers' platform in the reeds, Ilse and Odo meet Tub", False),
        ("Dorrin is buried under the apple tree, Odo swears to kill Ruark Stroud", True),
        ("Odo and Ilse walk past the eel stalls and look at the water", False),
        ("Gesk wants her twelve crowns by Sunday or she takes the barge", True),
        ("Ilse and Odo drink to the brig that sails for Lisbon in fine weather", False),
        ("Odo still does not know that she was the Heron", True),
    ),
    "ja": (
        ("涼と菊乃は縁側で茶を飲み、庭の花を眺めた", False),
        ("三十日までに払えなければ、千鳥屋を取られる", True),
        ("涼と小春は鐘楼を見上げて鐘の音を聞いていた", False),
        ("涼と玄海だけが知り、菊乃と小春は知らない", True),
    ),
    "ko": (
        ("서준과 미나가 마루에서 차를 마시며 꽃을 보았다", False),
        ("그믐날까지 돈을 내지 않으면 여관을 빼앗긴다", True),
        ("서준과 미나가 종루를 올려다보며 종소리를 들었다", False),
        ("은채는 아직 아무것도 모른다", True),
    ),
    "zh": (
        ("沈青和小翠在廊下喝茶看花", False),
        ("月底前必须交钱，客栈才保得住", True),
        ("沈青和小翠抬头看着钟楼听钟声", False),
        ("李婆至今不知道此事", True),
    ),
}
CAST = {"en": ("Ilse", "Odo", "Tub"), "ja": ("涼", "菊乃", "小春"), "ko": ("서준", "미나"), "zh": ("沈青", "小翠")}


@pytest.mark.parametrize("language", list(BINDING))
def test_a_vow_a_deadline_and_what_somebody_does_not_know_come_before_scenery(language: str) -> None:
    people = {name: Entity(name, Kind.CHARACTER, name) for name in CAST[language]}
    state = WorldState(player=CAST[language][0], entities=people)
    parts = [StoryPart(SCENE, at, at, text) for at, (text, _) in enumerate(BINDING[language], 1)]
    room = sum(len(text) + 2 for text, binds in BINDING[language] if binds)
    told = condensed(facts_in(parts, state), room, language)
    assert [text for text, binds in BINDING[language] if (text in told) is not binds] == []


@pytest.fixture(scope="module")
def long() -> Stage:
    return play(300)


def test_a_play_of_300_turns_keeps_its_key_facts_inside_the_budget(long: Stage) -> None:
    prefix = render_prefix(long.state, world("ersia"), "ko", tokens, 600)
    assert tokens(prefix) <= 620
    missing = [fact for fact, mark in KEY.values() if mark not in prefix]
    assert missing == []
    page = render_bodies(long.state, world("ersia"), "ko")["story.md"]
    assert all(mark in page for _, mark in KEY.values())
    assert len(page) < 12_000


def test_scenes_become_chapters_and_nothing_is_told_twice(long: Stage) -> None:
    parts = long.state.story
    assert [part.level for part in parts] == ["chapter"] * 5 + ["scene"] * 5
    assert [part.first for part in parts[1:]] == [part.last + 1 for part in parts[:-1]]
    assert (parts[0].first, parts[-1].last) == (1, 300)


def test_the_story_stays_bounded_over_2000_turns() -> None:
    stage = play(2_000, key=False)
    assert len(stage.state.story) <= MAX_STORY
    assert all(len(part.text) <= MAX_STORY_CHARS for part in stage.state.story)
    page = render_bodies(stage.state, world("ersia"), "ko")["story.md"]
    assert len(page) < MAX_STORY * (MAX_STORY_CHARS + 8)
    assert stage.state.story[0].first == 1
    assert stage.state.story[-1].last == 2_000


@pytest.mark.parametrize("every", [1, 2, 3])
def test_each_turn_is_told_in_a_summary_or_line_by_line(every: int) -> None:
    stage = Stage("ersia")
    for number in range(1, 45):
        rang = f"event_trigger: 종 {number}\n" if number % every == 0 else ""
        stage.tell(Told("간다.", "간다.", f"{rang}notes: 약속 {number}호\nlocation: 방 {number // 7}"))
        if number % 10 == 0:
            verdicts = rule(view := stage.view(since=number - 10), condense(view, 50), ())
            events = tuple(event for each in verdicts for event in each.events)
            stage.states[-1] = fold(stage.state, Delta(events), turn=stage.state.turn, depth=stage.state.depth)
        told = "\n".join(story_lines(stage.state, 20))
        assert [at for at in range(1, number + 1) if f"약속 {at}호" not in told] == []


def test_a_short_story_is_told_line_by_line() -> None:
    stage = play(12, key=False)
    assert story_lines(stage.state, 20)[-2:] == [text for _, text in stage.state.notes[-2:]]
    assert not any(";" in line for line in story_lines(stage.state, 30)[-12:])


def test_what_a_summary_loses_is_put_back() -> None:
    stage = Stage("ersia")
    stage.tell(Told("찌른다.", "쓰러진다.", "status_changes: [{name: 크룩, status: dead}]"))
    stage.tell(Told("말한다.", "그는 듣는다.", "notes: 마렌에게 칼을 돌려주겠다고 약속했다"))
    data = {"level": "scene", "first": "1", "last": "2", "text": "숲에서 싸움이 있었다."}
    (verdict,) = rule(stage.view(), (Proposal("compress", "scene", (), (), data),), ())
    (told,) = verdict.events
    assert isinstance(told, deltas.StoryTold)
    assert told.text.startswith("숲에서 싸움이 있었다.")
    assert "크룩" in told.text and "약속" in told.text
    whole = {**data, "text": "고블린왕 크룩이 죽었고, 마렌에게 칼을 돌려주겠다고 약속했다."}
    (verdict,) = rule(stage.view(), (Proposal("compress", "scene", (), (), whole),), ())
    assert verdict.events == (deltas.StoryTold("scene", 1, 2, whole["text"]),)


def test_the_end_of_a_wound_is_told_and_a_life_after_death() -> None:
    stage = Stage("harrow")
    for status in ("small cut on the finger", "alive", "dead", "alive"):
        stage.tell(Told("I look.", "So it is.", f"status_changes: [{{name: Ruth Pell, status: {status}}}]"))
    view = stage.view()
    found = [fact.text for fact in facts_of(replay(view), "en")]
    assert found == [
        "Ruth Pell's condition: small cut on the finger",
        "Ruth Pell's condition is over: small cut on the finger",
        "Ruth Pell died",
        "Ruth Pell's condition: alive",
    ]


def test_a_chapter_keeps_what_the_scenes_told_that_it_replaces() -> None:
    stage = Stage("ersia")
    marks = ("에르겐에게 은화 열 닢을 빚졌다", "오드의 비밀을 알았다", "셀린의 원한을 샀다", "타비와 의형제를 맹세했다")
    for number in range(1, 41):
        stage.tell(
            Told("간다.", "간다.", f"notes: {marks[number // 10]}" if number % 10 == 5 else "notes: 길을 걸었다")
        )
        if number % 10 == 0:
            view = stage.view(since=number - 10)
            events = tuple(event for each in rule(view, condense(view, 50), ()) for event in each.events)
            stage.states[-1] = fold(stage.state, Delta(events), turn=stage.state.turn, depth=number)
    assert len(stage.state.story) == 4
    data = {"level": "chapter", "first": "1", "last": "40", "text": "그들은 오래 걸었다."}
    (verdict,) = rule(stage.view(since=30), (Proposal("compress", "chapter", (), (), data),), ())
    (told,) = verdict.events
    assert isinstance(told, deltas.StoryTold)
    assert [mark for mark in marks if mark not in told.text] == [], "though only the last ten turns were shown"


def test_ten_promises_in_ten_turns_outlive_a_summary_of_none() -> None:
    stage = Stage("harrow")
    marks = [
        f"Promised to bring Ruth the {thing}" for thing in "lamp bell rope coat seal boat book coin ring knife".split()
    ]
    for mark in marks:
        stage.tell(Told("I go.", "I go.", f"notes: {mark}"))
    data = {"level": "scene", "first": "1", "last": "10", "text": "They walked. " * 20}
    (verdict,) = rule(stage.view(), (Proposal("compress", "scene", (), (), data),), ())
    (told,) = verdict.events
    assert isinstance(told, deltas.StoryTold)
    assert len(told.text) <= MAX_STORY_CHARS
    assert [mark for mark in marks if mark not in told.text] == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"level": "book"}, "level"),
        ({"first": "5", "last": "2"}, "turns of the path"),
        ({"last": "99"}, "turns of the path"),
        ({"first": "one"}, "whole number"),
        ({"text": ""}, "empty"),
        ({"text": "가" * 701}, "701 characters"),
    ],
)
def test_an_unsound_part_is_refused(data: dict[str, str], reason: str) -> None:
    stage = play(4)
    given = {"level": "scene", "first": "1", "last": "2", "text": "간다.", **data}
    (verdict,) = rule(stage.view(), (Proposal("compress", "scene", (), (), given),), ())
    assert not verdict.accepted and reason in verdict.reason and verdict.events == ()


def test_a_part_that_cuts_through_another_is_refused() -> None:
    stage = play(30)
    given = {"level": "scene", "first": "5", "last": "15", "text": "간다."}
    (verdict,) = rule(stage.view(since=20), (Proposal("compress", "scene", (), (), given),), ())
    assert "cuts through" in verdict.reason


@given(st.lists(st.tuples(st.text("가나다 ab.;", min_size=1, max_size=30), st.integers(1, 6)), max_size=20))
def test_condensing_keeps_to_the_limit_and_to_what_was_there(found: list[tuple[str, int]]) -> None:
    facts = [Fact(at, text, worth) for at, (text, worth) in enumerate(found)]
    text = condensed(facts, 80)
    assert len(text) <= 80
    assert all(part in {fact.text for fact in facts} for part in ([text] if text in dict(found) else []))


def test_what_weighs() -> None:
    assert weight("마렌에게 약속했다") == weight("He swore an oath to her") == BOND
    assert weight("크룩이 죽었다") > weight("owes ten coins") > weight("[축제]") > weight("바람이 분다")
    assert clauses("하나; 둘. 셋!") == ["하나", "둘.", "셋!"]
    assert lost("크룩은 죽었다", [Fact(1, "크룩이 죽었다", 6, "", ("크룩",))]) == []


# -- the schedule ------------------------------------------------------------------------------------------------


def scheduled(**when: int | str) -> WorldState:
    stage = Stage("ersia")
    for _ in range(4):
        stage.tell(Told("간다.", "간다."))
    introduced = deltas.Introduced("e1", Kind.EVENT, "종소리")
    return fold(stage.state, Delta((introduced, deltas.EventScheduled("e1", "종소리", "", **when))), turn="t5", depth=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "is_due"),
    [({"due": 6}, True), ({"due": 7}, False), ({"due": 3, "expires": 5}, False), ({"due": 3, "expires": 6}, True)],
)
def test_an_event_is_due_from_its_turn_to_its_last(when: dict[str, int], is_due: bool) -> None:
    assert bool(due(scheduled(**when))) is is_due


def test_a_place_and_a_person_must_both_fit() -> None:
    state = scheduled(due=6)
    here, elsewhere = (
        state.location or "",
        next(each.id for each in state.of_kind(Kind.LOCATION) if each.id != state.location),
    )
    somebody = next(each.id for each in state.of_kind(Kind.CHARACTER) if each.id != state.player)
    assert due(scheduled(place=here)) and not due(scheduled(place=elsewhere))
    assert not due(scheduled(place=here, who=somebody))
    assert due_lines(scheduled(due=6, expires=8), "ko") == ("[때가 된 일] 종소리 (남은 턴: 3)",)
    assert due_lines(scheduled(due=6), "en") == ("[due] 종소리",)


def test_what_happened_is_no_longer_due() -> None:
    state = fold(scheduled(due=6), Delta((deltas.EventTriggered("e1", "종소리"),)), turn="t6", depth=6)
    assert due(state) == () and state.schedule == {}


def told_of(*blocks: str) -> list[tuple[int, int]]:
    """The turns of each scene of a play with these reports."""
    stage = Stage("ersia")
    for block in blocks:
        stage.tell(Told("간다.", "간다.", block))
    assert not stage.state.problems
    return [(run[0].turn.depth, run[-1].turn.depth) for run in scenes_of(replay(stage.view()))]


def test_another_scene_begins_with_another_place_company_or_hour() -> None:
    still = "notes: 쉬었다"
    assert told_of(*[still] * 10) == [(1, 10)]
    assert told_of(*[still] * 25) == [(1, 10), (11, 20), (21, 25)]
    assert told_of(*[still] * 5, "location: 대장간", *[still] * 4) == [(1, 5), (6, 10)]
    assert told_of(*[still] * 8, "location: 대장간", still) == [(1, 10)], "an end of two turns is no scene"
    assert told_of(still, "location: 대장간", *[still] * 8) == [(1, 10)], "nor is a beginning"
    two = "present: [마렌]", "present: [타비]"
    assert told_of(*[two[0]] * 5, *[two[1]] * 5) == [(1, 5), (6, 10)]
    assert told_of(*[two[0]] * 5, *["present: [마렌, 타비]"] * 5) == [(1, 10)], "somebody stays"


def test_another_scene_begins_when_hours_have_passed() -> None:
    hours = [f"시각: {when}" for when in ("18:10", "18:20", "18:30", "18:40", "19:00", "23:00", "2일째 07:00")]
    assert told_of(*hours, *["notes: 쉬었다"] * 3) == [(1, 6), (7, 10)]
    assert told_of(*hours[:5], *["시각: +2h"] * 5) == [(1, 10)]


def test_what_a_person_wrote_of_turns_stays_and_no_summary_goes_over_it() -> None:
    stage = play(70, key=False)
    own = correct(stage.state, "chapter", {"first": "11", "last": "20", "text": "They crossed the hills."})
    stage.events(*own)
    for number in range(72, 201):
        stage.tell(Told("간다.", "간다.", f"notes: {SMALL[number % 6]} {number}"))
        if number % 10 == 0:
            view = stage.view(since=number - 10)
            verdicts = rule(view, condense(view, 50), ())
            assert all(each.accepted for each in verdicts), verdicts
            events = tuple(event for each in verdicts for event in each.events)
            stage.states[-1] = fold(stage.state, Delta(events), turn=stage.state.turn, depth=stage.state.depth)
    (part,) = [each for each in stage.state.story if each.by_hand]
    assert (part.first, part.last, part.text) == (11, 20, "They crossed the hills.")
    assert "They crossed the hills." in story_lines(stage.state, 8)
    assert any(each.level == "chapter" and each.first == 21 for each in stage.state.story)
    told = {"level": "chapter", "first": "1", "last": "30", "text": "A model's chapter."}
    (verdict,) = rule(stage.view(since=190), [Proposal("compress", "…", (), (), told)], ())
    assert verdict.reason == "a person wrote what is told of these turns"
    fresh = correct(stage.state, "chapter", {"first": "11", "last": "20", "text": "They ran."})
    assert "They ran." in story_lines(fold(stage.state, Delta(fresh), turn="t", depth=200), 8)


def test_a_chapter_by_hand_takes_whole_parts_and_has_an_end() -> None:
    state = play(20, key=False).state
    for fields, problem in (
        ({"first": "5", "last": "12", "text": "x"}, "the turns 1 to 10 are told as one"),
        ({"first": "9", "last": "3", "text": "x"}, "the earlier one first"),
        ({"first": "1", "last": "40", "text": "x"}, "from 1 to 20"),
        ({"first": "1", "last": "10", "text": "x" * (MAX_STORY_CHARS + 1)}, "too many for a chapter"),
    ):
        with pytest.raises(BadInput, match=problem):
            correct(state, "chapter", fields)


def test_chapters_by_hand_are_no_more_than_the_story_holds() -> None:
    stage = Stage("ersia")
    for _ in range(MAX_STORY + 1):
        stage.tell(Told("간다.", "간다."))
    for number in range(1, MAX_STORY + 1):
        fields = {"first": str(number), "last": str(number), "text": f"Day {number}."}
        stage.states[-1] = fold(stage.state, Delta(correct(stage.state, "chapter", fields)), turn="t", depth=25)
    assert len(stage.state.story) == MAX_STORY
    with pytest.raises(BadInput, match=f"{MAX_STORY} chapters by hand are too many"):
        correct(stage.state, "chapter", {"first": "25", "last": "25", "text": "x"})
    both = correct(stage.state, "chapter", {"first": "1", "last": "2", "text": "Two days."})
    assert len(fold(stage.state, Delta(both), turn="t", depth=25).story) == MAX_STORY - 1


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "아리아's condition: 왼손 베임. 아리아 no longer has 놋쇠 열쇠. 아리아's condition is over: 왼손 베임."),
        ("ko", "아리아의 상태: 왼손 베임. 아리아에게 놋쇠 열쇠가 더는 없다. 아리아의 상태가 나아졌다: 왼손 베임."),
        ("ja", "아리아の状態：왼손 베임。아리아はもう놋쇠 열쇠を持っていない。아리아の状態は回復した：왼손 베임。"),
        ("zh", "아리아的状况：왼손 베임。아리아不再有놋쇠 열쇠。아리아的状况已经好转：왼손 베임。"),
    ],
)
def test_what_was_lost_and_what_healed_is_told(language: str, told: str) -> None:
    stage = Stage("ersia")
    for block in (
        "items_gained: [놋쇠 열쇠, 빵 2]",
        "status_changes: [{name: 아리아, status: 왼손 베임}]",
        "items_lost: [놋쇠 열쇠, 빵 1]",
        "status_changes: [{name: 아리아, status: 정상}]",
    ):
        stage.tell(Told("간다.", "간다.", block))
    assert not stage.state.problems
    facts = [fact for fact in facts_of(replay(stage.view()), language) if fact.depth > 1]
    assert condensed(facts, 320, language) == told, "of what is eaten some is left"


def test_a_note_that_was_taken_back_later_is_told_in_no_scene() -> None:
    stage = Stage("ersia")
    stage.tell(Told("빌린다.", "받는다.", "location: 여관\nnotes: 바르칸에게 50골드를 빚졌다"))
    stage.tell(Told("떠난다.", "걷는다.", "location: 숲"))
    stage.events(deltas.Unnoted(1, "바르칸에게 50골드를 빚졌다"), deltas.Noted("바르칸에게 30골드를 빚졌다"))
    view = stage.view()
    texts = " ".join(each.data["text"] for each in condense(view, 100))
    assert "30골드" in texts and "50골드" not in texts

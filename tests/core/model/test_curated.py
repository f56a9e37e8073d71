"""What corrections and curators do to a state: each change is whole, or is refused in words."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.curation import correct
from saga_core.model import CHAPTER, MAX_STORY_CHARS, SCENE, Delta, curated, deltas, fold
from saga_core.model.entities import (
    Entity,
    Finding,
    Happening,
    Kind,
    MemoryBlock,
    Placement,
    Relation,
    Scheduled,
    Stack,
    StoryPart,
)
from saga_core.model.world_state import MAX_FINDINGS, MAX_LORE, MAX_SCHEDULED, MAX_STORY, WorldState


def character(id_: str, name: str, *aliases: str, **attributes: str) -> Entity:
    return Entity(id_, Kind.CHARACTER, name, aliases, attributes)


ENTITIES = (
    character("p", "아리아"),
    character("a", "모자 쓴 사내", "낯선 이", mood="calm", job="guard"),
    character("b", "에르겐", "노인", mood="grim"),
    Entity("i", Kind.ITEM, "검"),
    Entity("j", Kind.ITEM, "불꽃 검"),
    Entity("l", Kind.LOCATION, "숲"),
)
STATE = WorldState(
    turn="t1",
    depth=9,
    player="p",
    entities={each.id: each for each in ENTITIES},
    whereabouts={"p": Placement("l", 1), "a": Placement("l", 5), "b": Placement("x", 2)},
    belongings={"a": {"i": Stack(2), "j": Stack(1)}, "b": {"i": Stack(1, equipped=True)}, "p": {}},
    relations={("a", "p"): Relation("friend", 3, 7), ("b", "p"): Relation("foe", -2, 4), ("a", "b"): Relation("kin")},
    links=frozenset({("a", "INVOLVED_IN", "e"), ("a", "CAUSED", "b")}),
    met=("b", "a"),
    present=("a",),
    happenings=(Happening("a", "만남", 3), Happening("e", "종", 4)),
    merged={"old": "a"},
    schedule={"a": Scheduled("a", "귀환"), "e": Scheduled("e", "종")},
)


def merged(gone: str, into: str, state: WorldState = STATE) -> WorldState:
    found = curated.merge(state, deltas.Merged(gone, into))
    assert isinstance(found, WorldState)
    return found


def test_of_two_that_are_one_everything_becomes_the_ones() -> None:
    state = merged("a", "b")
    whole = state.entities["b"]
    assert (whole.name, whole.aliases) == ("에르겐", ("노인", "모자 쓴 사내", "낯선 이"))
    assert whole.attributes == {"mood": "grim", "job": "guard"}, "where both say something, the one that stays counts"
    assert "a" not in state.entities
    assert state.belongings["b"] == {"i": Stack(3, equipped=True), "j": Stack(1)}
    assert state.relations == {("b", "p"): Relation("friend", 1, 7)}, "the later word, and the sum; none with oneself"
    assert state.whereabouts["b"] == Placement("l", 5), "the place that was told last"
    assert state.links == {("b", "INVOLVED_IN", "e")}
    assert (state.met, state.present) == (("b",), ("b",))
    assert [each.event for each in state.happenings] == ["b", "e"]
    assert state.merged == {"old": "b", "a": "b"}


def test_the_later_word_and_place_count_whichever_of_the_two_has_them() -> None:
    state = merged("b", "a")
    assert state.relations == {("a", "p"): Relation("friend", 1, 7)}
    assert state.whereabouts["a"] == Placement("l", 5)


def with_statuses(**told: tuple[str | None, int]) -> WorldState:
    """The state in which "a" and "b" have a status since a turn; None is one that is over."""
    state = evolve(STATE, present=("a", "b"))
    for who, (status, since) in told.items():
        for said, depth in (("hurt", 2), (status, since)):
            state = fold(state, Delta((deltas.AttributeSet(who, "status", said),)), turn="t", depth=depth)
    return state


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        (("gravely ill", 4), ("dead", 6), "dead"),
        (("dead", 4), ("alive", 6), "alive"),
        (("gravely ill", 4), (None, 6), None),
        (("gravely ill", 6), ("dead", 6), "dead"),
    ],
)
def test_the_newer_status_counts_whichever_of_the_two_has_it(
    one: tuple[str | None, int], other: tuple[str | None, int], status: str | None
) -> None:
    for state in (with_statuses(a=one, b=other), with_statuses(a=other, b=one)):
        for gone, into in (("a", "b"), ("b", "a")):
            whole = merged(gone, into, state)
            assert (whole.entities[into].get("status"), whole.entities[into].get("status_since")) == (status, 6)
            assert (into in whole.present) is (status != "dead"), "the dead are no company"


def test_a_status_counts_if_the_other_has_none() -> None:
    state = with_statuses(a=("dead", 4))
    assert merged("a", "b", state).entities["b"].dead and merged("b", "a", state).entities["a"].dead


def test_things_and_places_are_merged_in_every_hand_and_under_every_foot() -> None:
    assert merged("i", "j").belongings == {"a": {"j": Stack(3)}, "b": {"j": Stack(1, equipped=True)}, "p": {}}
    state = evolve(STATE, entities={**STATE.entities, "m": Entity("m", Kind.LOCATION, "어두운 숲")})
    assert {who: where.place for who, where in merged("l", "m", state).whereabouts.items()} == {
        "p": "m",
        "a": "m",
        "b": "x",
    }


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ((("trust", 6), 8), (("grateful", 5), 35), "grateful (+11)"),
        ((("debt", 9), 2), (("grateful", 5), 35), "grateful (+5), debt (+9)"),
        ((("debt", 9), 2), (("debt", 3), 35), "debt (+12)"),
        ((("trust", 6), 2), (("settled", 0), 35), "trust (+6)"),
        ((("debt", 9), 2), (("settled", 0), 35), "settled"),
    ],
)
def test_what_somebody_feels_and_owes_under_two_names_adds_up(
    one: tuple[tuple[str, int], int], other: tuple[tuple[str, int], int], both: str
) -> None:
    relations = {(who, "p"): Relation(*said, since) for who, (said, since) in (("a", one), ("b", other))}
    for gone, into in (("a", "b"), ("b", "a")):
        assert str(merged(gone, into, evolve(STATE, relations=relations)).relations[into, "p"]) == both


def test_nobody_meets_oneself() -> None:
    state = merged("a", "p")
    assert (state.met, state.present) == (("b",), ())


@pytest.mark.parametrize(
    ("gone", "into", "why"),
    [
        ("z", "b", "unknown id 'z'"),
        ("a", "z", "unknown id 'z'"),
        ("a", "a", "cannot be one"),
        ("a", "i", "cannot be one"),
        ("p", "a", "merge the other way round"),
    ],
)
def test_what_cannot_be_one_is_told(gone: str, into: str, why: str) -> None:
    found = curated.merge(STATE, deltas.Merged(gone, into))
    assert isinstance(found, str) and why in found


def test_a_name_that_was_somebody_elses_becomes_that_one() -> None:
    state = curated.split(evolve(STATE, merged={"f": "a"}), deltas.Split("a", "낯선 이", "f"))
    assert isinstance(state, WorldState)
    assert state.entities["f"] == Entity("f", Kind.CHARACTER, "낯선 이")
    assert state.entities["a"].aliases == ()
    assert state.whereabouts["f"] == Placement("l", 5) and state.met == ("b", "a", "f")
    assert state.merged == {}
    again = merged("f", "a", state)
    assert again.entities["a"].names == ("모자 쓴 사내", "낯선 이")


def test_a_name_goes_back_to_who_bears_it_already() -> None:
    entities = {**STATE.entities, "p": character("p", "아리아", "에르겐")}
    state = evolve(STATE, entities=entities)
    events = correct(state, "split", {"of": "p", "name": "에르겐"})
    assert events == (deltas.Split("p", "에르겐", "b"),)
    after = fold(state, Delta(events), turn="t2", depth=10)
    assert after.entities["p"].aliases == () and after.problems == state.problems
    assert {**after.entities, "p": entities["p"]} == entities, "nobody new, and she is as she was"
    assert (after.whereabouts, after.met) == (STATE.whereabouts, STATE.met)


def test_two_people_each_have_their_own_name_again() -> None:
    entities = {**STATE.entities, "p": character("p", "아리아", "에르겐", "그림자")}
    asked = deltas.Found("one_person:b:p", "one_person", "One person?")
    state = fold(evolve(STATE, entities=entities), Delta((asked,)), turn="t2", depth=10)
    after = fold(state, Delta(correct(state, "settle", {"finding": asked.key, "verdict": "two"})), turn="t3", depth=11)
    assert after.findings[-1].verdict == "two"
    assert (after.entities["p"].aliases, after.entities["b"]) == (("그림자",), STATE.entities["b"])


def test_who_is_split_off_the_player_is_nowhere_yet() -> None:
    state = evolve(STATE, entities={**STATE.entities, "p": character("p", "아리아", "그림자")})
    found = curated.split(state, deltas.Split("p", "그림자", "f"))
    assert isinstance(found, WorldState)
    assert "f" not in found.whereabouts and "f" not in found.met


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (deltas.Split("z", "x", "f"), "unknown id 'z'"),
        (deltas.Split("a", "낯선 이", "b"), "an entity of its own already"),
        (deltas.Split("a", "모자 쓴 사내", "f"), "has no other name '모자 쓴 사내'"),
    ],
)
def test_what_cannot_be_split_is_told(event: deltas.Split, why: str) -> None:
    found = curated.split(STATE, event)
    assert isinstance(found, str) and why in found


def test_of_a_forgotten_entity_nothing_is_left() -> None:
    state = curated.forget(STATE, "a")
    assert isinstance(state, WorldState)
    assert "a" not in state.entities and "a" not in state.whereabouts and "a" not in state.belongings
    assert state.relations == {("b", "p"): Relation("foe", -2, 4)} and state.links == frozenset()
    assert (state.met, state.present) == (("b",), ())
    assert [each.event for each in state.happenings] == ["e"] and list(state.schedule) == ["e"]


def test_a_forgotten_place_and_thing_go_from_everybody() -> None:
    state = curated.forget(STATE, "l")
    assert isinstance(state, WorldState) and state.whereabouts == {"b": Placement("x", 2)}
    state = curated.forget(STATE, "i")
    assert isinstance(state, WorldState) and state.belongings == {"a": {"j": Stack(1)}, "b": {}, "p": {}}


def test_the_player_and_the_unknown_are_not_forgotten() -> None:
    assert curated.forget(STATE, "p") == "'아리아' is the player and cannot be forgotten"
    assert curated.forget(STATE, "z") == "unknown id 'z'"


def test_events_of_merged_entities_are_about_those_that_they_became() -> None:
    gained = deltas.ItemTransferred("a", "b", "i", 2)
    assert curated.redirected(gained, {"a": "c", "i": "k"}) == deltas.ItemTransferred("c", "b", "k", 2)
    assert curated.redirected(gained, {"z": "c"}) is gained
    rang = deltas.EventTriggered("e", "종", ("a", "b"))
    assert curated.redirected(rang, {"a": "b"}) == deltas.EventTriggered("e", "종", ("b",))
    noted = deltas.Noted("a")
    assert curated.redirected(noted, {"a": "c"}) is noted, "a text is no id"


def test_the_same_finding_is_noticed_once_and_the_latest_are_kept() -> None:
    found = curated.noticed((), deltas.Found("k", "dead", "죽은 이가 말한다", ("t1",)), 5, {})
    assert found == (Finding("k", "dead", "죽은 이가 말한다", 5, ("t1",)),)
    assert curated.noticed(found, deltas.Found("k", "dead", "again"), 6, {}) is found
    for number in range(MAX_FINDINGS + 3):
        found = curated.noticed(found, deltas.Found(f"k{number}", "dead", ""), 7, {})
    assert len(found) == MAX_FINDINGS and found[-1].key == f"k{MAX_FINDINGS + 2}"


def test_whether_two_are_one_is_no_question_once_they_are() -> None:
    key = f"{curated.ONE_PERSON}:a:b"
    after = fold(merged("a", "b"), Delta((deltas.Found(key, curated.ONE_PERSON, "?"),)), turn="t2", depth=10)
    assert [each.verdict for each in after.findings] == [curated.ONE]
    again = fold(after, Delta((deltas.Merged("a", "b"), deltas.Merged("b", "a"))), turn="t3", depth=11)
    assert not again.problems and again.entities == after.entities


def test_a_part_takes_the_place_of_those_within_its_turns() -> None:
    story = (StoryPart(SCENE, 1, 4, "a"), StoryPart(SCENE, 5, 8, "b"), StoryPart(SCENE, 9, 12, "c"))
    found = curated.told(story, deltas.StoryTold(CHAPTER, 1, 8, "ab"))
    assert found == (StoryPart(CHAPTER, 1, 8, "ab"), story[2])
    assert curated.told(story[2:], deltas.StoryTold(SCENE, 1, 4, "a")) == (story[0], story[2]), "in the order of turns"
    assert [part.text for part in curated.told(story, deltas.StoryTold(SCENE, 4, 9, "d"))] == ["a", "d", "c"]


def test_beyond_the_limit_the_two_oldest_become_one_chapter() -> None:
    story: tuple[StoryPart, ...] = ()
    for number in range(MAX_STORY + 2):
        text = f"{number:02}" + "가" * (MAX_STORY_CHARS - 4) + f"{number:02}"
        story = curated.told(story, deltas.StoryTold(SCENE, number * 4 + 1, number * 4 + 4, text))
    assert len(story) == MAX_STORY
    assert (story[0].level, story[0].first, story[0].last) == (CHAPTER, 1, 12)
    assert story[0].text.startswith("00") and story[0].text.endswith("02")
    assert all(len(part.text) <= MAX_STORY_CHARS for part in story)


@pytest.mark.parametrize("text", ["짧은 이야기", "A short tale."])
def test_what_fits_is_not_shortened(text: str) -> None:
    assert curated.shortened(text, len(text)) == text
    cut = curated.shortened(text * 20, 40)
    assert len(cut) <= 40 and " … " in cut and cut.startswith(text[:10]) and cut.endswith(text[-5:])


def test_a_remark_that_was_wrong_counts_no_more_nor_where_it_was_told_again() -> None:
    story = (StoryPart(SCENE, 1, 5, "met Kim; the bell sank; rain"), StoryPart(SCENE, 6, 8, "the bell sank"))
    noted = evolve(STATE, notes=((4, "the bell sank"), (4, "rain"), (7, "the bell sank")), story=story)
    found = fold(noted, Delta((deltas.Unnoted(4, "the bell sank"),)), turn="t2", depth=9)
    assert found.notes == ((4, "rain"), (7, "the bell sank"))
    assert [part.text for part in found.story] == ["met Kim; rain", "the bell sank"]
    gone = fold(found, Delta((deltas.Unnoted(7, "the bell sank"),)), turn="t2", depth=9)
    assert [part.text for part in gone.story] == ["met Kim; rain"]
    again = fold(gone, Delta((deltas.Unnoted(7, "the bell sank"),)), turn="t2", depth=9)
    assert again.notes == gone.notes
    assert "turn 7 has no remark 'the bell sank'" in again.problems[-1].text


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("Dez met Kim. The bell sank. Rain.", "Dez met Kim. Rain."),
        ("The bell sank. Rain.", "Rain."),
        ("They say the bell sank. The bell sank.", "They say the bell sank."),
    ],
)
def test_a_remark_is_taken_out_of_sentences(told: str, left: str) -> None:
    changed = curated.taken_back((), (StoryPart(SCENE, 1, 5, told),), (4, "the bell sank"))
    assert [part.text for part in changed["story"]] == [left] and changed["untrue"] == ((4, "the bell sank"),)


def test_what_is_learned_replaces_and_an_empty_text_takes_it_back() -> None:
    lore = curated.learned({"숲": "어둡다", "광장": "넓다"}, deltas.LoreLearned("숲", "밝다"))
    assert list(lore.items()) == [("광장", "넓다"), ("숲", "밝다")]
    assert curated.learned(lore, deltas.LoreLearned("숲", "")) == {"광장": "넓다"}
    many = {str(number): "x" for number in range(MAX_LORE)}
    assert list(curated.learned(many, deltas.LoreLearned("new", "y")))[:: MAX_LORE - 1] == ["1", "new"]


def test_new_conditions_count_for_a_scheduled_event_and_the_oldest_go() -> None:
    schedule = curated.scheduled({}, deltas.EventScheduled("e", "종", due=9), 3)
    assert schedule == {"e": Scheduled("e", "종", due=9, since=3)}
    again = curated.scheduled(schedule, deltas.EventScheduled("e", "종", "울린다", place="l", who="a", expires=12), 4)
    assert again == {"e": Scheduled("e", "종", "울린다", None, 12, "l", "a", 4)}
    for number in range(MAX_SCHEDULED):
        again = curated.scheduled(again, deltas.EventScheduled(f"e{number}", ""), 5)
    assert len(again) == MAX_SCHEDULED and "e" not in again


def test_a_blocks_version_grows_with_each_text() -> None:
    blocks = curated.written({"other": MemoryBlock("x")}, deltas.BlockWritten("plot", "a"), 3)
    assert blocks["plot"] == MemoryBlock("a", 1, 3)
    assert curated.written(blocks, deltas.BlockWritten("plot", "b"), 4)["plot"] == MemoryBlock("b", 2, 4)
    assert blocks["other"] == MemoryBlock("x")


def test_what_is_owed_is_owed_to_the_one_under_the_name_of_now() -> None:
    promises = {"q": Scheduled("q", "wood", kind="promises", between="아리아 → 낯선 이", who="a", place="l")}
    state = evolve(STATE, schedule={**STATE.schedule, **promises})
    found = merged("a", "b", state).schedule
    assert (found["q"].between, found["q"].who) == ("아리아 → 에르겐", "b")
    assert found["b"].event == "b" and "a" not in found
    state = fold(merged("a", "b", state), Delta((deltas.Renamed("b", "에르겐 왕"),)), turn="t2", depth=10)
    assert state.schedule["q"].between == "아리아 → 에르겐 왕"


@pytest.mark.parametrize(
    ("hands", "left"),
    [
        ({"a": {"i": 1}, "b": {"j": 1}}, {"b": 1}),
        ({"a": {"j": 1}, "b": {"i": 1}}, {"a": 1}),
        ({"a": {"i": 1, "j": 1}}, {"a": 1}),
        ({"a": {"i": 1}, "b": {"i": 1}}, {"a": 1, "b": 1}),
        ({"a": {"i": 3}, "b": {"j": 1}}, {"a": 3, "b": 1}),
        ({"a": {"i": 1}, "b": {"i": 1, "j": 1}}, {"a": 1, "b": 2}),
    ],
)
@pytest.mark.parametrize(("one", "into"), [("검", "불꽃 검"), ("불꽃 검", "검")])
def test_of_two_things_that_are_one_only_the_latest_owner_has_it(
    hands: dict[str, dict[str, int]], left: dict[str, int], one: str, into: str
) -> None:
    held = {who: {item: Stack(count) for item, count in own.items()} for who, own in hands.items()}
    state = evolve(STATE, belongings=held)
    events = correct(state, "merge", {"one": one, "into": into})
    state = fold(state, Delta(events), turn=state.turn, depth=state.depth)
    found = {who: sum(stack.quantity for stack in own.values()) for who, own in state.belongings.items() if own}
    assert found == left and len({item for own in state.belongings.values() for item in own}) == 1

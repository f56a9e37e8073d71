"""The fold: pure, total, and within its bounds, whatever the events say."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core import codec
from saga_core.model.deltas import (
    AttributeSet,
    Event,
    EventScheduled,
    EventTriggered,
    HpChanged,
    Introduced,
    ItemGained,
    ItemLost,
    ItemTransferred,
    Mentioned,
    Met,
    Moved,
    Noted,
    RelationChanged,
    Renamed,
    Separated,
    StatusChanged,
    ValueSet,
    WorldSeen,
)
from saga_core.model.draft import Draft
from saga_core.model.entities import Entity, Kind, Placement, Relation, Stack
from saga_core.model.folding import fold
from saga_core.model.tree import Delta, ReportStatus, Source
from saga_core.model.world_state import MAX_HAPPENINGS, MAX_NOTES, MAX_PROBLEMS, MAX_SCHEDULED, WorldState
from tests.core.model.generated import delta_values


def character(id_: str, name: str, **attributes: object) -> Entity:
    return Entity(id_, Kind.CHARACTER, name, (), attributes)  # type: ignore[arg-type]


START = WorldState(
    player="player",
    entities={
        "player": character("player", "아리아", is_player=True, hp=85, max_hp=100),
        "c0": character("c0", "크룩", status="alive"),
        "c1": character("c1", "에르겐"),
        "l0": Entity("l0", Kind.LOCATION, "마을 광장"),
        "l1": Entity("l1", Kind.LOCATION, "어둠의 숲"),
        "i0": Entity("i0", Kind.ITEM, "치유 물약"),
        "e0": Entity("e0", Kind.EVENT, "습격"),
    },
    whereabouts={"player": Placement("l0"), "c1": Placement("l0")},
    belongings={"player": {"i0": Stack(2)}},
)


def after(*events: Event, state: WorldState = START, depth: int = 5) -> WorldState:
    return fold(state, Delta(events), turn="t5", depth=depth)


def problems(state: WorldState) -> str:
    return " / ".join(problem.text for problem in state.problems)


@given(st.lists(delta_values, max_size=6))
def test_any_deltas_give_a_state_within_its_bounds(chain: list[Delta]) -> None:
    before = codec.encode(START)
    state = START
    for depth, delta in enumerate(chain, 1):
        state = fold(state, delta, turn=f"t{depth}", depth=depth)
        assert state.depth == depth
        assert state.turn == f"t{depth}"
    assert codec.encode(START) == before, "the fold changed its input"
    for hands in state.belongings.values():
        assert all(stack.quantity >= 1 for stack in hands.values())
    assert set(state.present) <= set(state.entities)
    assert "player" not in state.present
    assert len(set(state.met)) == len(state.met)
    assert len(state.problems) <= MAX_PROBLEMS
    assert len(state.notes) <= MAX_NOTES
    assert len(state.happenings) <= MAX_HAPPENINGS
    for who, placement in state.whereabouts.items():
        assert state.entities[who].kind is Kind.CHARACTER
        assert state.entities[placement.place].kind is Kind.LOCATION


@given(st.lists(delta_values, max_size=5))
def test_the_same_deltas_give_the_same_bytes_and_survive_the_codec(chain: list[Delta]) -> None:
    one = other = START
    for depth, delta in enumerate(chain, 1):
        one = fold(one, delta, turn=f"t{depth}", depth=depth)
        # The other path goes through storage at every step, as after a restart.
        again = codec.decode(codec.encode(delta), Delta)
        other = codec.decode(codec.encode(fold(other, again, turn=f"t{depth}", depth=depth)), WorldState)
    assert codec.encode(one) == codec.encode(other)
    assert one == other


@given(delta_values, delta_values)
def test_a_composed_delta_does_what_its_parts_do(first: Delta, second: Delta) -> None:
    apart = fold(fold(START, first, turn="t1", depth=1), second, turn="t1", depth=1)
    together = fold(START, first.then(second), turn="t1", depth=1)
    if not first.problems and not second.problems:
        assert together == apart
    assert together.entities == apart.entities
    assert together.belongings == apart.belongings


def test_who_a_shared_world_introduces_twice_keeps_the_first_name() -> None:
    twice = tuple(Introduced("c9", Kind.CHARACTER, name) for name in ("아리아", "크룩"))
    assert after(WorldSeen("w", 1, twice, ())).entities["c9"].name == "아리아"


def test_hit_points_stay_between_nothing_and_the_maximum() -> None:
    assert after(HpChanged("player", -15)).entities["player"].get("hp") == 70
    assert after(HpChanged("player", -500)).entities["player"].get("hp") == 0
    assert after(HpChanged("player", 2**80)).entities["player"].get("hp") == 100


def test_hit_points_of_somebody_without_them_are_a_problem() -> None:
    state = after(HpChanged("c1", -5))
    assert "'에르겐' has no hit points; a change of -5 is left out" in problems(state)
    assert state.entities == START.entities


def test_what_is_not_owned_cannot_be_lost() -> None:
    state = after(ItemLost("c0", "i0"))
    assert "'크룩' does not have '치유 물약'" in problems(state)
    assert state.belongings == START.belongings


def test_losing_more_than_there_is_takes_all_and_says_so() -> None:
    state = after(ItemLost("player", "i0", 5))
    assert "has 2 of '치유 물약' and cannot lose 5" in problems(state)
    assert state.belongings["player"] == {}


def test_items_add_up_and_change_hands() -> None:
    state = after(ItemGained("player", "i0", 3), ItemTransferred("player", "c1", "i0", 4))
    assert state.belongings["player"]["i0"].quantity == 1
    assert state.belongings["c1"]["i0"].quantity == 4
    assert not state.problems


@pytest.mark.parametrize("quantity", [0, -2])
def test_a_quantity_below_one_changes_nothing(quantity: int) -> None:
    state = after(ItemGained("player", "i0", quantity), ItemLost("player", "i0", quantity))
    assert state.belongings == START.belongings
    assert "is no quantity" in problems(state)


def test_company_goes_along_and_who_parts_stays_behind() -> None:
    state = after(Met("c0"), Met("c1"), Separated("c1"), Moved("player", "l1"))
    assert state.whereabouts["player"].place == "l1"
    assert state.whereabouts["c0"].place == "l1"
    assert state.whereabouts["c1"].place == "l0"
    assert state.present == ("c0",)
    assert state.met == ("c0", "c1")


def test_who_leaves_the_player_is_no_longer_near_until_met_again() -> None:
    left = after(Met("c0"), Met("c1"), Separated("c0", away=True), Separated("c1"))
    assert left.nearby() == ["c1"], "who merely stays behind is still there"
    assert left.whereabouts["c0"].place == "l0", "where they were seen last is known"
    assert after(Met("c0"), Separated("c0"), state=left).nearby() == ["c0", "c1"]
    elsewhere = after(Moved("player", "l1"), Moved("player", "l0"), state=left)
    assert elsewhere.nearby() == ["c1"]


def test_a_companion_who_walks_away_is_no_longer_present() -> None:
    state = after(Met("c0"), Moved("c0", "l1"))
    assert state.present == ()
    assert state.whereabouts["c0"] == Placement("l1", 5, along=True)


def test_parting_from_somebody_absent_changes_nothing_and_contradicts_nothing() -> None:
    state = after(Separated("c0"))
    assert problems(state) == "" and state.present == ()


def test_the_dead_may_be_told_of_but_not_without_a_problem() -> None:
    state = after(StatusChanged("c0", "dead"))
    assert state.entities["c0"].dead
    assert "'크룩' is dead and was met again" in problems(after(Met("c0"), state=state))
    assert "is dead and moved" in problems(after(Moved("c0", "l1"), state=state))


def test_a_status_tells_since_which_turn() -> None:
    state = after(StatusChanged("c0", "dead"))
    assert state.entities["c0"].get("status_since") == 5
    again = after(StatusChanged("c0", "dead"), AttributeSet("c0", "status", "dead"), state=state, depth=7)
    assert again.entities["c0"].get("status_since") == 5
    back = after(AttributeSet("c0", "status", "alive"), state=state, depth=8)
    assert (back.entities["c0"].dead, back.entities["c0"].get("status_since")) == (False, 8)
    assert after(AttributeSet("c0", "status", None), state=back, depth=9).entities["c0"].get("status_since") == 9


@pytest.mark.parametrize(
    ("changes", "now"),
    [
        ([("debt", 1), ("hostile", -2)], "hostile (-2), debt (+1)"),
        ([("debt", 1), ("hostile", -2), ("debt", -1)], "hostile (-2)"),
        ([("friend", 2), ("debt", 3), ("debt paid", 0), ("friend", 1)], "friend (+3)"),
        ([("friend", 2), ("빚", 3), ("빚", -1), ("친구", 0)], "친구 (+2), 빚 (+2)"),
        ([("debt", 1), ("debt", -1)], "settled"),
        ([("debt", 2), ("debt", -2), ("loan", 1)], "loan (+1)"),
        ([("debt", 1), ("hostile", -2), ("", -1)], "hostile (-3), debt (+1)"),
        ([("debt", 1), ("", 1)], "debt (+2)"),
    ],
)
def test_a_debt_is_counted_apart_from_what_is_felt(changes: list[tuple[str, int]], now: str) -> None:
    assert str(after(*(RelationChanged("player", "c0", *each) for each in changes)).relations["player", "c0"]) == now


def test_relations_keep_the_latest_word_and_the_sum() -> None:
    state = after(RelationChanged("player", "c0", "wary", -2))
    assert state.relations["player", "c0"] == Relation("wary", -2, 5)
    state = after(RelationChanged("player", "c0", "wary", -1), state=state, depth=6)
    assert state.relations["player", "c0"] == Relation("wary", -3, 5)
    state = after(RelationChanged("player", "c0", "friendly", 4), state=state, depth=7)
    assert state.relations["player", "c0"] == Relation("friendly", 1, 7)
    assert "has no relation to itself" in problems(after(RelationChanged("c0", "c0", "proud", 1)))


def test_a_rename_keeps_the_old_name_and_the_identity() -> None:
    state = after(Renamed("player", "아리아 벨"))
    assert state.entities["player"].names == ("아리아 벨", "아리아")
    assert after(Renamed("player", "아리아 벨"), state=state).entities["player"].aliases == ("아리아",)


def test_introducing_a_known_one_adds_names_and_missing_facts_only() -> None:
    state = after(Introduced("c0", Kind.CHARACTER, "고블린왕 크룩", ("크룩",), {"status": "dead", "mood": "angry"}))
    crook = state.entities["c0"]
    assert crook.name == "크룩"
    assert crook.aliases == ("고블린왕 크룩",)
    assert crook.get("status") == "alive"
    assert crook.get("mood") == "angry"


def test_unknown_ids_and_wrong_kinds_are_problems() -> None:
    state = after(Moved("player", "nowhere"), Moved("player", "i0"), Met("nobody"), EventTriggered("c0", "x"))
    assert "unknown id 'nowhere'" in problems(state)
    assert "'치유 물약' is of kind item, not location" in problems(state)
    assert "unknown id 'nobody'" in problems(state)
    assert "'크룩' is of kind character, not event" in problems(state)
    assert state.whereabouts == START.whereabouts


def test_an_event_that_is_scheduled_no_more_is_a_problem() -> None:
    bells = {f"e{number}": Entity(f"e{number}", Kind.EVENT, f"bell {number}") for number in range(MAX_SCHEDULED + 1)}
    state = evolve(START, entities={**START.entities, **bells})
    *first, last = (EventScheduled(id_, each.name) for id_, each in bells.items())
    full = after(*first, state=state)
    assert problems(full) == ""
    assert problems(after(last, state=full)) == "'bell 0' is scheduled no more: a story keeps the latest 32"


def test_an_event_involves_the_player_and_those_present() -> None:
    state = after(Met("c0"), EventTriggered("e0", "습격"))
    assert ("player", "INVOLVED_IN", "e0") in state.links
    assert ("c0", "INVOLVED_IN", "e0") in state.links
    assert state.happenings[-1].name == "습격"


def test_edits_set_and_take_away() -> None:
    state = after(AttributeSet("c0", "mood", "calm"), ValueSet("weather", "비"), Mentioned(("어둠의 숲",)), Noted("x"))
    assert state.entities["c0"].get("mood") == "calm"
    assert state.values == {"weather": "비"}
    assert state.mentioned == {"어둠의 숲": 5}
    state = after(AttributeSet("c0", "mood", None), ValueSet("weather", None), state=state)
    assert state.entities["c0"].get("mood") is None
    assert state.values == {}


def test_a_deltas_own_problems_are_kept() -> None:
    state = fold(START, Delta((), Source.BLOCK, ReportStatus.PARTIAL, ("hp_change unreadable",)), turn="t9", depth=9)
    assert state.problems[-1].text == "hp_change unreadable"
    assert state.problems[-1].turn == "t9"


def delta(source: Source, *events: Event, status: ReportStatus = ReportStatus.OK) -> Delta:
    return Delta(events, source, status)


def test_the_latest_extraction_takes_the_place_of_what_was_reported_and_edits_stay() -> None:
    own = delta(Source.BLOCK, HpChanged("player", -1))
    early = delta(Source.EXTRACTION, HpChanged("player", -2))
    edit = delta(Source.EDIT, HpChanged("player", -4))
    late = delta(Source.EXTRACTION, HpChanged("player", -8), status=ReportStatus.PARTIAL)
    assert own.amended(()) == own
    assert own.amended((early,)) == early
    assert own.amended((early, edit, late)) == Delta(late.events + edit.events, Source.EDIT, ReportStatus.OK)
    assert own.amended((edit,)).events == own.events + edit.events


def test_a_continuation_that_reports_nothing_leaves_the_whole_unreported() -> None:
    own = delta(Source.BLOCK, HpChanged("player", -1))
    nothing = delta(Source.NONE, status=ReportStatus.FALLBACK)
    assert own.then(nothing) == Delta(own.events, Source.BLOCK, ReportStatus.FALLBACK)
    assert own.then(Delta()) == own
    assert nothing.then(own) == own


class _Compared(str):
    """An id that counts how often it is compared with another one."""

    count = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Compared.count += 1
        return str.__eq__(self, other)


def test_a_report_of_many_people_is_not_compared_with_everybody_for_each_of_them() -> None:
    known = tuple(_Compared(f"k{number}") for number in range(2_000))
    new = [f"n{number}" for number in range(50)]
    crowd = {**START.entities, **{id_: character(id_, id_) for id_ in new}}
    state = evolve(START, entities=crowd, met=known, present=known)
    _Compared.count = 0
    told = after(*(Met(id_) for id_ in new), state=state)
    assert (told.met, told.present) == ((*known, *new), (*known, *new))
    assert _Compared.count < 10 * len(known)


def test_a_draft_copies_the_belongings_of_an_owner_once_and_not_those_of_the_state() -> None:
    draft = Draft(START, "t5", 5)
    draft.hands("player")["i1"] = Stack(1)
    assert draft.hands("player") is draft.hands("player")
    assert START.belongings == {"player": {"i0": Stack(2)}}
    assert draft.finish().belongings == {"player": {"i0": Stack(2), "i1": Stack(1)}}

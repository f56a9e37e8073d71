"""The player's character: one person, whatever she is called; another persona is another character."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.extraction import read_delta
from saga_core.extraction.player import CLAIMS, PERSONA, the_player
from saga_core.model import Delta, Kind, WorldState, deltas, fold
from saga_core.state_block import read_reply
from saga_core.world import EMPTY_WORLD, opening_state

OPENING = opening_state(EMPTY_WORLD, "root")


def after(state: WorldState, *deltas_: Delta) -> WorldState:
    for number, delta in enumerate(deltas_, state.depth + 1):
        state = fold(state, delta, turn=f"t{number}", depth=number)
    return state


def reply(body: str) -> str:
    return f"The story goes on.\n\n```state\n{body}\n```"


def play(state: WorldState, body: str, name: str = "Alex") -> WorldState:
    return after(state, read_delta(read_reply(reply(body)), state, player_name=name))


def carried(state: WorldState) -> dict[str, int]:
    return {state.name(item): stack.quantity for item, stack in state.belongings.get(state.player, {}).items()}


def characters(state: WorldState) -> list[str]:
    return [each.name for each in state.of_kind(Kind.CHARACTER)]


def test_the_first_block_names_the_player_and_she_is_nobody_else() -> None:
    state = play(OPENING, "npc_met: [Ysolde]\nitems_transferred: [{item: ring, from: Ysolde, to: Alex}]")
    assert characters(state) == ["Alex", "Ysolde"]
    assert carried(state) == {"ring": 1}
    assert [state.name(who) for who in state.present] == ["Ysolde"]


def test_words_of_every_language_mean_the_player() -> None:
    for word in (
        "Player",
        "you",
        "{{user}}",
        "플레이어",
        "주인공",
        "당신",
        "プレイヤー",
        "あなた",
        "主人公",
        "玩家",
        "你",
    ):
        state = play(OPENING, f'status_changes: [{{name: "{word}", status: wounded}}]')
        assert characters(state) == ["Alex"], word
        assert state.entities[state.player].get("status") == "wounded"


def claiming(state: WorldState, body: str, *claims: str) -> WorldState:
    """A turn of a player whose own words may have given these names."""
    return after(state, read_delta(read_reply(reply(body)), state, claims=claims))


@pytest.mark.parametrize(
    ("note", "name"),
    [
        ("User's name is Dana Whitlock, former gym teacher.", "Dana Whitlock"),
        ("They do not know yet that the player is called Dana.", "Dana"),
        ("사용자의 이름은 서단이다. 막례가 길을 안다.", "서단"),
        ("ユーザーの名前は春日ハルト。財布を掏られかけた。", "春日ハルト"),
        ("用户真名沈墨，掩护身份是裁缝。", "沈墨"),
        ("玩家的名字是林渡。", "林渡"),
    ],
)
def test_a_note_tells_the_players_name(note: str, name: str) -> None:
    state = claiming(OPENING, f"items_transferred: [{{item: ring, from: Ida, to: {name}}}]\nnotes: {note}")
    assert characters(state) == [name, "Ida"]
    assert carried(state) == {"ring": 1}
    assert state.entities[state.player].get(PERSONA) == name


@pytest.mark.parametrize(
    "note",
    [
        "The player's name is not known.",
        "플레이어의 이름은 비밀이다.",
        "主人公の名前はまだ知らない。",
        "玩家的名字是秘密。",
        "主人公の名前は明かされない。",
        "사용자의 이름은 아직 모른다.",
        "플레이어의 이름이 밝혀지지 않았다.",
        "用户真名还没说出口。",
        "玩家的名字仍然没人知道。",
        "Nobody asked for the user's name; Marcus did not care.",
    ],
)
def test_a_note_without_a_name_tells_none(note: str) -> None:
    state = claiming(OPENING, f"notes: {note}")
    assert state.entities[state.player].get(PERSONA) is None


def test_a_name_that_the_player_claims_counts_once_a_report_bears_it_out() -> None:
    state = claiming(OPENING, "items_transferred: [{item: key, from: Ida, to: Dana}]", "German", "Dana")
    assert characters(state) == ["Dana", "Ida"] and carried(state) == {"key": 1}
    state = claiming(OPENING, "items_gained: [key]", "German", "Dana")
    assert carried(state) == {"key": 1} and state.entities[state.player].get(PERSONA) is None


def test_whoever_is_company_is_not_the_player_whatever_the_player_said() -> None:
    body = "present: [Marcus]\nitems_transferred: [{item: key, from: Marcus, to: Player}]"
    state = claiming(OPENING, body, "Marcus")
    assert "Marcus" in characters(state) and [state.name(who) for who in state.present] == ["Marcus"]
    state = claiming(state, "present: []\nitems_transferred: [{item: map, from: Marcus, to: Player}]", "Marcus")
    assert "Marcus" in characters(state) and carried(state) == {"key": 1, "map": 1}


def test_who_is_here_or_was_met_is_no_name_that_the_player_claims() -> None:
    """ "This is Admiral Pickle" is said of the cat."""
    here = claiming(OPENING, "location: surgery\npresent: [Doc, Admiral Pickle (cross)]", "Admiral Pickle", "Dana")
    assert here.entities[here.player].get(CLAIMS) == ("Dana",)
    later = claiming(here, "location: street\npresent: []", "Admiral Pickle")
    assert later.entities[later.player].get(CLAIMS) == ("Dana",)


def test_a_shorter_form_that_the_player_gave_means_the_player_too() -> None:
    state = claiming(OPENING, "notes: ユーザーの名前は春日ハルト。", "春日ハルト", "ハルト")
    state = play(state, "items_transferred: [{item: 剣, from: リーゼ, to: ハルト}]", name="")
    assert carried(state) == {"剣": 1} and characters(state) == ["春日ハルト", "リーゼ"]


def test_a_name_that_comes_later_and_a_second_person_of_it_are_the_player() -> None:
    """A nickname: the reports use it before the player's words do."""
    state = play(OPENING, "location: 대피소\npresent: [지섭]", name="하린")
    given = "present: [지섭]\nitems_transferred: [{item: 귤, from: 지섭, to: 다람}]"
    state = after(state, read_delta(read_reply(reply(given)), state, player_name="하린"))
    assert len(characters(state)) == 3
    back = "present: [지섭]\nitems_transferred: [{item: 귤, from: 다람, to: 지섭}]"
    state = after(state, read_delta(read_reply(reply(back)), state, player_name="하린", claims=("다람",)))
    assert sorted(characters(state)) == ["지섭", "하린"] and carried(state) == {}
    state = play(state, "items_transferred: [{item: 끈, from: 지섭, to: 다람}]", name="하린")
    assert carried(state) == {"끈": 1}


def test_claims_are_kept_for_later_reports() -> None:
    state = claiming(OPENING, "location: dock", "Rosalind Vance")
    state = claiming(state, "items_transferred: [{item: pistol, from: Ezra, to: Rosalind}]")
    assert carried(state) == {"pistol": 1} and state.name(state.player) == "Rosalind Vance"


def test_another_persona_does_not_take_over_the_words_of_the_first() -> None:
    state = play(OPENING, "location: Gate", name="Alex")
    state = after(state, read_delta(read_reply(reply("mood: calm")), state, player_name="Robin", claims=("Alex", "Al")))
    assert state.name(state.player) == "Robin" and state.entities[state.player].names == ("Robin",)


GIVES = "present: [顾曼云]\nitems_transferred: [{item: 旗袍, from: 陈师傅, to: 顾曼云}]"


def told(state: WorldState, body: str, said: str, words: str = "") -> WorldState:
    report = read_reply(f"{said}\n\n```state\n{body}\n```")
    return after(state, read_delta(report, state, told=f"{words}\n{said}", words=words))


@pytest.mark.parametrize("said", ["“陈师傅，我的扣子呢？”她笑。", "“有劳了，陈师傅。”她笑。", "“陈师傅？”"])
def test_who_is_addressed_and_gives_what_the_player_has_is_the_player(said: str) -> None:
    state = told(play(OPENING, "items_gained: [旗袍]", name=""), GIVES, said)
    assert carried(state) == {} and len(characters(state)) == 2
    assert "陈师傅" in state.entities[state.player].names
    assert state.name(next(who for who, own in state.belongings.items() if own)) == "顾曼云"


@pytest.mark.parametrize(
    ("had", "body", "said"),
    [
        ("items_gained: [旗袍]", GIVES, "陈师傅把旗袍递给了她。"),  # told of, and not addressed
        ("items_gained: [铜钱]", GIVES, "“陈师傅，我的扣子呢？”"),  # the player does not have it
        ("items_gained: [旗袍]", GIVES.replace("[顾曼云]", "[顾曼云, 陈师傅]"), "“陈师傅，我的扣子呢？”"),
        ("items_gained: [旗袍]\nnpc_met: [陈师傅]", GIVES, "“陈师傅，我的扣子呢？”"),
    ],
)
def test_whoever_is_there_or_known_or_only_told_of_gives_for_herself(had: str, body: str, said: str) -> None:
    state = told(play(OPENING, had, name=""), body, said)
    assert len(characters(state)) == 3 and "陈师傅" not in state.entities[state.player].names


@pytest.mark.parametrize(
    ("body", "said", "words"),
    [
        (
            "items_transferred: [{item: gold, from: Marta, to: Player, quantity: 2}]",
            "“Marta!” calls Tom. She pays.",
            "",
        ),
        ("present: [Tom]\nitems_transferred: [{item: gold, from: Marta, to: Tom}]", "She pays.", '"Marta, pay him!"'),
        (
            "items_transferred: [{item: gold, from: Marta, to: Tom}]",
            "“Marta,” says Tom, “thank you.”",
            "Pay him, Marta.",
        ),
    ],
)
def test_who_pays_the_player_or_is_addressed_by_the_player_is_somebody_else(body: str, said: str, words: str) -> None:
    state = told(play(OPENING, "items_gained: [gold x5]", name=""), body, said, words)
    assert "Marta" in characters(state) and "Marta" not in state.entities[state.player].names


def test_another_persona_is_another_character_beside_the_old_one() -> None:
    state = play(OPENING, "location: Gate\nitems_gained: [ring]")
    state = play(state, "items_gained: [lamp]", name="Robin")
    assert state.name(state.player) == "Robin" and carried(state) == {"lamp": 1}
    assert [state.name(who) for who in state.present] == ["Alex"]
    assert state.location is not None and state.name(state.location) == "Gate"
    state = play(state, "items_lost: [ring]")
    assert state.name(state.player) == "Alex" and carried(state) == {}


def test_a_name_that_is_not_sure_makes_nobody() -> None:
    state = play(OPENING, "mood: calm")
    assert the_player(state, "Robin", sure=False) == ()


def test_a_name_of_the_client_is_one_more_for_the_player_of_a_sheet() -> None:
    sheet = evolve(
        OPENING,
        entities={
            OPENING.player: evolve(OPENING.entities[OPENING.player], name="Aria", aliases=()),
        },
    )
    state = play(sheet, "items_transferred: [{item: ring, from: Kim, to: Alex}]")
    assert state.name(state.player) == "Aria" and carried(state) == {"ring": 1}
    assert state.entities[state.player].get(PERSONA) == "Alex"


def test_generic_words_are_no_name() -> None:
    for word in ("", "user", "You", "Player", "플레이어"):
        assert the_player(OPENING, word) == ()


def test_the_dead_are_no_company_and_come_back_only_when_a_reply_says_so() -> None:
    state = play(OPENING, "npc_met: [Ysolde, Kim]")
    for word in ("dead", "사망", "死亡", "坠楼身亡", "戦死"):
        dead = play(state, f"status_changes: [{{name: Kim, status: {word}}}]")
        assert [dead.name(who) for who in dead.present] == ["Ysolde"], word
        again = play(dead, "present: [Ysolde, Kim]\nnpc_met: [Kim]")
        assert [again.name(who) for who in again.present] == ["Ysolde"], word
        alive = play(again, "present: [Ysolde, Kim]\nstatus_changes: [{name: Kim, status: alive}]")
        assert [alive.name(who) for who in alive.present] == ["Ysolde", "Kim"], word


def test_who_is_present_is_what_the_complete_list_says() -> None:
    state = play(OPENING, "location: Toll House\nnpc_met: [Ysolde, Corin, Pell]")
    state = play(state, "location: Causeway\npresent: [Corin]")
    assert [state.name(who) for who in state.present] == ["Corin"]
    ysolde = next(each.id for each in state.of_kind(Kind.CHARACTER) if each.name == "Ysolde")
    assert state.name(state.whereabouts[ysolde].place) == "Toll House"
    assert play(state, "present: []").present == ()
    assert play(state, "mood: calm").present == state.present


def test_without_a_list_whoever_belongs_to_the_place_stays() -> None:
    state = play(OPENING, "location: Toll House\nnpc_met: [Ysolde]")
    assert play(state, "location: Farport\nlocation_moved: true").present == ()
    told = read_delta(
        read_reply(reply("location: Farport\nlocation_moved: true")), state, told="Ysolde comes along to Farport."
    )
    assert [state.name(who) for who in after(state, told).present] == ["Ysolde"]


def test_whoever_goes_around_with_the_player_comes_along() -> None:
    state = play(OPENING, "location: Inn\nnpc_met: [Corin]")
    state = play(state, "location: Road\nnpc_met: [Corin]")
    state = play(state, "location: Ferry\nlocation_moved: true")
    assert [state.name(who) for who in state.present] == ["Corin"]
    state = play(play(state, "npc_met: [Pell]"), "location: Sea\nnpc_met: [Pell]")
    assert [state.name(who) for who in state.present] == ["Pell"], "a block that names one of the company names all"


def test_an_event_is_theirs_whom_it_names() -> None:
    state = play(OPENING, "npc_met: [Ysolde, Corin]\nevent_trigger: Corin pays the toll")
    tied = {state.name(source) for source, type_, _ in state.links if type_ == "INVOLVED_IN"}
    assert tied == {"Corin"}
    state = play(OPENING, "npc_met: [Ysolde]\nevent_trigger: the storm begins")
    assert {source for source, type_, _ in state.links if type_ == "INVOLVED_IN"} == {state.player}


def test_an_event_is_not_theirs_who_are_only_named_in_it() -> None:
    state = play(OPENING, "npc_met: [Ysolde, Corin, Pell]")
    state = play(state, "location: Farport\nlocation_moved: true\npresent: [Ysolde]")
    named = play(state, "event_trigger: Ysolde reads a letter about Corin")
    tied = {state.name(source) for source, type_, _ in named.links if type_ == "INVOLVED_IN"}
    assert tied == {"Ysolde"}
    named = play(state, "event_trigger: Pell robs the toll house, not Corin")
    assert {state.name(source) for source, type_, _ in named.links if type_ == "INVOLVED_IN"} == {"Pell"}
    named = play(state, "event_trigger: a letter about Corin comes")
    assert not named.links


def test_what_is_given_is_what_the_giver_has() -> None:
    state = play(OPENING, "npc_met: [Ysolde]\nitems_gained: [half a brass tally, Brandt's business card]")
    state = play(state, "items_transferred: [{item: half tally, from: Alex, to: Ysolde}]\nitems_lost: [business card]")
    assert carried(state) == {}


def test_a_thing_that_is_reported_twice_is_there_once() -> None:
    state = play(OPENING, "npc_met: [Teo]\nitems_transferred: [{item: pocket watch, from: Player, to: Teo}]")
    state = play(state, "items_gained: [pocket watch]\nitems_transferred: [{item: pocket watch, from: Teo, to: Alex}]")
    assert carried(state) == {"pocket watch": 1} and not any(state.belongings.get(who) for who in state.present)


def replayed(*bodies: str) -> WorldState:
    """The state after blocks of which each is read with the delta of the one before, as the recorder does."""
    state, above = OPENING, Delta()
    for body in bodies:
        above = read_delta(read_reply(reply(body)), state, player_name="Alex", above=above)
        state = after(state, above)
    return state


LENT = "npc_met: [Tibbs]\nitems_transferred: [{item: silver pocket watch, from: Tibbs, to: Player}]"


def test_a_gain_that_repeats_the_transfer_of_the_block_before_is_none() -> None:
    assert carried(replayed(LENT, "items_gained: [shilling, silver pocket watch]")) == {
        "silver pocket watch": 1,
        "shilling": 1,
    }


@pytest.mark.parametrize(
    ("bodies", "count"),
    [
        ((LENT, "mood: calm", "items_gained: [silver pocket watch]"), 2),  # not the block before
        ((LENT, "items_gained: [{name: silver pocket watch, quantity: 2}]"), 3),
        (("items_gained: [silver pocket watch]", "items_gained: [silver pocket watch]"), 2),  # found, and found again
        ((LENT, LENT), 2),
    ],
)
def test_any_other_gain_is_one(bodies: tuple[str, ...], count: int) -> None:
    assert carried(replayed(*bodies)) == {"silver pocket watch": count}


def test_what_has_a_common_name_may_be_gained_again() -> None:
    bread = "npc_met: [Tibbs]\nitems_transferred: [{item: bread, from: Tibbs, to: Player}]"
    assert carried(replayed(bread, "items_gained: [bread]")) == {"bread": 2}


def test_what_one_takes_from_the_company_is_no_second_one() -> None:
    state = play(OPENING, "npc_met: [Ysolde]\nitems_gained: [silver ring]")
    state = play(state, "items_transferred: [{item: silver ring, from: Player, to: Ysolde}]")
    state = play(state, "items_gained: [silver ring]")
    assert carried(state) == {"silver ring": 1} and not any(state.belongings.get(who) for who in state.present)


def test_a_thing_that_is_destroyed_is_nobodys() -> None:
    state = play(OPENING, "items_gained: [sealed letter]")
    state = play(state, "status_changes: [{name: sealed letter, status: burned}]")
    assert carried(state) == {} and characters(state) == ["Alex"]


@pytest.mark.parametrize(
    "report",
    [
        "location: boathouse\nstatus_changes: [{name: Boathouse, status: on fire}]",
        "items_gained: [brass lamp]\nstatus_changes: [{name: brass lamp, status: broken}]",
        "status_changes: [{name: old boathouse, status: burned down}]",
        "status_changes: [{name: 은하다방, status: 전소}]",
        "status_changes: [{name: 銀河茶房, status: 全焼}]",
        "status_changes: [{name: 银河茶馆, status: 烧毁}]",
    ],
)
def test_a_place_or_thing_that_something_befalls_is_nobody(report: str) -> None:
    assert characters(play(OPENING, report)) == ["Alex"]


def test_hit_points_and_money_as_they_stand() -> None:
    state = play(OPENING, "hp: 85/100\nmoney: [12 silver coins]")
    assert state.entities[state.player].get("hp") == 85 and carried(state) == {"silver coins": 12}
    assert carried(play(state, "money: [9 silver coins]")) == {"silver coins": 9}


def test_an_event_of_an_old_record_is_everybodys() -> None:
    state = play(OPENING, "npc_met: [Ysolde]")
    storm = Delta((deltas.Introduced("e", Kind.EVENT, "storm"), deltas.EventTriggered("e", "storm")))
    state = after(state, storm)
    assert {state.name(source) for source, type_, _ in state.links if type_ == "INVOLVED_IN"} == {"Alex", "Ysolde"}


UNKNOWN = [
    *("somebody", "unknown", "Who stole the lantern?", "누군가", "何者か", "某人"),
    *("an unknown thief", "정체불명의 도둑", "正体不明の泥棒", "身份不明的小偷", "unidentified man"),
]


@pytest.mark.parametrize("who", UNKNOWN)
@pytest.mark.parametrize(
    "report",
    [
        "items_transferred: [{{item: lantern, from: Alex, to: {who}}}]",
        "relationship_changes: [{{from: {who}, to: Alex, type: hostile, delta: -2}}]",
        "npc_separated: [{who}]",
        "status_changes: [{{name: {who}, status: fled}}]",
        "event_trigger: the lantern is stolen by {who}",
    ],
)
def test_an_unknown_hand_is_nobody_with_a_name(who: str, report: str) -> None:
    state = play(OPENING, "npc_met: [Ysolde]\nitems_gained: [lantern]")
    state = play(state, report.format(who=f'"{who}"' if report[:5] != "event" else who))
    assert characters(state) == ["Alex", "Ysolde"]
    assert carried(state) == ({} if "transferred" in report else {"lantern": 1})


def test_an_unknown_one_who_is_here_or_lies_dead_is_somebody() -> None:
    state = play(OPENING, "present: [an unknown thief, somebody]\nitems_gained: [lantern]")
    assert characters(state) == ["Alex", "an unknown thief"]
    state = play(state, "items_transferred: [{item: lantern, from: Alex, to: an unknown thief}]")
    assert "lantern" in {state.name(thing) for who in state.present for thing in state.belongings[who]}
    assert play(OPENING, "present: [somebody]").present == OPENING.present
    found = play(OPENING, "status_changes: [{name: unidentified man, status: dead}]")
    assert "unidentified man" in characters(found)

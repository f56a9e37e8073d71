"""Names by which a reply addresses the player, and of whose bearer it does not tell."""

from __future__ import annotations

import pytest

from saga_core.extraction import read_delta
from saga_core.extraction.player import is_addressed
from saga_core.model import WorldState, fold
from saga_core.model.entities import Entity, Kind, Placement
from saga_core.state_block import read_reply

P = "present: [Zorka, Milo, Ines]\n"
MET = ('"The seventh," says Zorka. Milo puts his spanner down, and Ines bites her lip.', f"location: hall\n{P}")
GIVES = f"{P}items_transferred: [{{item: key, from: Milo, to: Ines}}]"
LOVES = f"{P}relationship_changes: [{{from: Milo, to: Ines, type: love, delta: 3}}]"
START = WorldState(
    player="p",
    entities={"p": Entity("p", Kind.CHARACTER, "Wren Mar", (), {"is_player": True, "persona": "Wren Mar"})},
    whereabouts={"p": Placement("s")},
)
OWES = "npc_met: [Dov]\nrelationship_changes: [{from: Dov, to: Chief, type: trust, delta: 1}]"


def played(state: WorldState, prose: str, block: str, card: str = "") -> WorldState:
    reading = read_reply(f"{prose}\n\n```state\n{block}\n```")
    delta = read_delta(reading, state, player_name="Wren Mar", told=f"I nod.\n{prose}", words="I nod.", card=card)
    return fold(state, delta, turn="t", depth=state.depth + 1)


def names_of_player(prose: str, block: str, card: str = "") -> tuple[str, ...]:
    return played(START, prose, block, card).entities["p"].names


def test_who_is_addressed_alone_is_the_player() -> None:
    assert "Chief" in names_of_player('Dov grins. "Fix it before the station, Chief. I cannot pay."', OWES)


@pytest.mark.parametrize(
    "prose",
    [
        'Dov grins. "Tell the Chief that I cannot pay."',
        'Dov grins. "Who did it?" you ask. "Chief."',
        'The Chief looks up. "Well, Chief?" says Dov.',
    ],
    ids=["spoken of", "an answer", "told of"],
)
def test_others_are_not(prose: str) -> None:
    assert "Chief" not in names_of_player(prose, OWES)


@pytest.mark.parametrize("block", [GIVES, LOVES])
@pytest.mark.parametrize("said", ["Here, Ines.", "Thank you, Ines, I forgot."])
def test_a_name_in_no_list_is_not_the_players_if_the_client_tells_hers(said: str, block: str) -> None:
    block = block.replace(", Ines]\n", "]\n")
    assert "Ines" not in names_of_player(f'"{said}" Milo rubs his head.', block)


@pytest.mark.parametrize("block", [GIVES, LOVES])
@pytest.mark.parametrize("said", ["To you, Ines.", "Thank you, Ines, I forgot.", "Here, Ines.", "You, Ines?"])
@pytest.mark.parametrize(
    "card", ["", "Wren Mar loves Ines.", "Ines is Wren Mar's sister.", "Zorka, Milo and Ines work with Wren Mar."]
)
def test_who_is_listed_beside_others_and_addressed_by_one_of_them_is_nobody_else(
    card: str, said: str, block: str
) -> None:
    said = f'"{said}" Milo rubs his head.'
    for before in (START, played(START, *MET, card)) if not card else (played(START, *MET, card),):
        state = played(before, said, block, card)
        assert "Ines" not in state.entities["p"].names
        assert "Ines" in [state.name(who) for who in state.present]


def test_a_listed_name_of_which_only_the_report_tells() -> None:
    card = "The village says Tam for Wren Mar."
    block = "npc_met: [Tam, Perran]\nitems_transferred: [{item: key, from: Perran, to: Tam}]"
    assert "Tam" in names_of_player("Perran puts the key in your hand.", block, card)
    assert "Tam" not in names_of_player("Perran puts the key in Tam's hand.", block, card)
    assert "Tam" not in names_of_player("Rain falls on the roof.", block, card)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Chief", "“Chief, come.”"),
        ("한 도령", '"그렇소, 한 도령."'),
        ("アカリ", "「ねえ、アカリ！」"),
        ("Vroni", "„Setz dich, Vroni.“"),
    ],
)
def test_every_language_has_commas(name: str, told: str) -> None:
    assert is_addressed(name, told)


@pytest.mark.parametrize(
    "note",
    [
        "Wren Mar calls herself Sister Luka from now on.",
        "From now on Wren Mar is called Sister Luka.",
    ],
)
def test_the_player_has_the_name_that_is_hers_from_now_on(note: str) -> None:
    state = played(START, '"Sister Luka, then," says Tibor.', f"present: [Tibor]\nnotes: {note}")
    assert "Sister Luka" in state.entities["p"].names
    state = played(state, "Sister Luka prays.", "present: [Tibor, Sister Luka]")
    assert [state.name(who) for who in state.present] == ["Tibor"]


def test_a_name_that_holds_from_now_on_in_korean() -> None:
    state = played(START, "윤덕수가 웃는다.", "present: [윤덕수]")
    state = played(state, '"그럼 까치." 윤덕수가 웃는다.', "present: [윤덕수]\nnotes: 이제부터 윤덕수의 별명은 까치다.")
    assert "까치" in next(each for each in state.entities.values() if each.name == "윤덕수").names


def test_the_last_of_a_list_is_named_without_its_conjunction() -> None:
    state = played(START, "The driver nods.", "present: [Dora, Tibor, and the driver]")
    assert [state.name(who) for who in state.present] == ["Dora", "Tibor", "the driver"]

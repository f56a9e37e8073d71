"""A debt that was paid is told no more as one that stands; one that was not, is."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.model import Entity, Kind, WorldState
from saga_core.projection.story import without_settled

CAST = {
    "p": ("Alex", "하진", "ハル", "沈默"),
    "y": ("Ysolde", "이솔데", "オデット", "龙哥"),
    "c": ("Corin", "코린", "ピエール", "王婶"),
}
STATE = WorldState(
    turn="t",
    depth=9,
    player="p",
    entities={id_: Entity(id_, Kind.CHARACTER, names[0], aliases=names[1:]) for id_, names in CAST.items()},
)


@pytest.mark.parametrize(
    ("owed", "settled"),
    [
        ("Alex owes Ysolde twelve silver.", "Alex pays Ysolde back."),
        ("Alex owes Ysolde twelve silver.", "Ysolde strikes it from the book: the debt is settled."),
        ("Alex owes Ysolde for two loaves.", "Alex has paid for the two loaves, the slate is wiped clean."),
        ("Alex is in debt to Ysolde", "The debt is settled and struck out of the ledger"),
        ("하진은 이솔데에게 은화 12닢을 빚졌다", "하진이 이솔데에게 빚을 모두 갚았다"),
        ("이솔데의 가게에 외상을 달았다", "외상을 다 갚았음"),
        ("ハルはオデットに銀貨5枚の借りがある", "渡し賃の借りは全額返済した"),
        ("ハルはオデットに借金がある", "オデットに借金をすべて返した"),
        ("オデットに三千円を立て替えてもらった。", "三千円をオデットに返した。"),
        ("オデットに三千円の立て替え、未返済。", "貸し借りはもうない。"),
        ("Alex owes Ysolde 400 credits.", "Alex has paid Ysolde the 400 credits in full."),
        ("沈默欠龙哥五万", "五万块全部还清，龙哥归还欠条"),
        ("沈默欠龍哥五萬", "與龙哥兩清"),
    ],
)
def test_what_was_settled_is_told_no_more(owed: str, settled: str) -> None:
    assert without_settled([f"It rains; {owed}", "Noon.", settled], STATE) == ["It rains", "Noon.", settled]


@pytest.mark.parametrize(
    ("owed", "later"),
    [
        ("Alex owes Ysolde twelve silver.", "Alex pays Corin back."),
        ("Alex owes Ysolde twelve silver.", "Alex pays Ysolde back half of it."),
        ("Alex owes Ysolde twelve silver.", "Ysolde wants the debt settled by spring."),
        ("Alex owes Ysolde twelve silver.", "Alex hasn't paid Ysolde back."),
        ("하진은 이솔데에게 은화 12닢을 빚졌다", "하진이 이솔데에게 빚을 절반 갚았다"),
        ("ハルはオデットに借金がある", "ハルはオデットに借金をまだ返済していない"),
        ("ハルはオデットに借金がある", "オデットの立て替え、未返済。"),
        ("沈默欠龙哥五万", "先还清了龙哥两万，欠条仍在龙哥手里"),
        ("Ysolde keeps the ring.", "Ysolde is paid back."),
    ],
)
def test_what_was_not_settled_stays(owed: str, later: str) -> None:
    assert without_settled([owed, later], STATE) == [owed, later]


def test_what_is_left_of_a_debt_takes_its_place() -> None:
    texts = ["Alex owes Ysolde 60 crowns.", "Alex paid back 25, and still owes Ysolde 35.", "Corin sings."]
    assert without_settled(texts, STATE) == ["", *texts[1:]]
    assert without_settled([*texts, "Alex repays Ysolde."], STATE) == ["", "", "Corin sings.", "Alex repays Ysolde."]


@pytest.mark.parametrize("told", ["Corin is dead.", "코린이 죽었다", "ピエールは死亡した", "王婶死了"])
def test_a_death_that_was_none_is_told_no_more(told: str) -> None:
    corin = STATE.entities["c"]
    alive = evolve(STATE, entities={**STATE.entities, "c": evolve(corin, attributes={"status": "alive"})})
    assert without_settled(["The boat burns. " + told], alive) == ["The boat burns."]
    assert without_settled(["The boat burns. " + told], STATE) == ["The boat burns. " + told], "nothing else was heard"
    both = "Corin and Ysolde are dead."
    assert without_settled([both], alive) == [both]


def test_one_of_two_debts_is_settled() -> None:
    texts = ["Alex owes Ysolde a coin. Alex owes Corin a cloak.", "The debt is settled.", "Alex repays Corin."]
    assert without_settled(texts[:2], STATE) == texts[:2], "nobody can say which"
    assert without_settled(texts, STATE) == ["Alex owes Ysolde a coin.", *texts[1:]]


def test_a_debt_made_after_the_settlement_stands() -> None:
    texts = ["Alex owes Corin a coin.", "Alex repays Corin.", "Alex owes Corin a horse."]
    assert without_settled(texts, STATE) == ["", *texts[1:]]


def test_a_word_behind_a_debt_goes_with_it() -> None:
    owed, paid = "オデットに三千円を立て替えてもらった。未返済。", "三千円をオデットに返した。貸し借りはもうない。"
    assert without_settled([f"雨。{owed}", paid], STATE) == ["雨。", paid]

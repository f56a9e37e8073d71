"""Whom a family name with a title means: the one to whom the card or the story gives the title, and nobody else."""

from __future__ import annotations

import pytest

from saga_core.extraction.writer import read_delta
from saga_core.model import Entity, Kind, WorldState, fold
from saga_core.naming import Evidence, Names
from saga_core.naming.evidence import is_entitled
from saga_core.state_block import read_reply

SHOP = """人物：
周伯安——成衣铺掌柜，组织里的老周，五十岁。
周小满——老周的女儿，十四岁，学徒。
秦少白——76号副官，笑面虎。
"""
COURT = "- 허준석: 내의원 어의. 예순.\n- 윤필상: 좌의정. 온화하다.\n- 박두칠: 젊은 내관. 겁이 많다.\n- 윤서아: 의녀.\n"
GUARD = "Mara Vey: captain of the guard, forty.\nLucan Vey: a baker, her brother.\n"


def knowing(*names: str, card: str = "", told: str = "", listed: tuple[str, ...] = ()) -> Names:
    people = {name: Entity(name, Kind.CHARACTER, name) for name in names}
    return Names(WorldState(turn="t", player="p", entities=people), None, Evidence(told, card), lists=(listed,))


@pytest.mark.parametrize(
    ("card", "name", "meant"),
    [
        (SHOP, "周掌柜", "周伯安"),
        (SHOP, "周掌櫃", "周伯安"),
        (SHOP, "老周", "周伯安"),
        (SHOP, "周学徒", "周小满"),
        (SHOP, "秦副官", "秦少白"),
        (SHOP, "副官秦少白", "秦少白"),
        (COURT, "박 내관", "박두칠"),
        (COURT, "박내관", "박두칠"),
        (COURT, "허 어의", "허준석"),
        (COURT, "어의 허준석", "허준석"),
        (COURT, "좌의정 윤필상", "윤필상"),
        (COURT, "좌의정", "윤필상"),
        (GUARD, "Captain Vey", "Mara Vey"),
    ],
)
def test_a_title_from_the_card_means_who_has_it(card: str, name: str, meant: str) -> None:
    everybody = [who for who in ("周伯安", "周小满", "秦少白", "박두칠", "허준석", "윤필상", "윤서아") if who in card]
    english = [who for who in ("Mara Vey", "Lucan Vey") if who in card]
    assert knowing(*everybody, *english, card=card).find(Kind.CHARACTER, name) == meant
    others = [who for who in (*everybody, *english) if who != meant]
    names = knowing(*others, card=card)
    assert names.find(Kind.CHARACTER, name) is None, "nor does it mean another of the family"
    assert names.find(Kind.CHARACTER, meant) is None
    assert names.ensure(Kind.CHARACTER, name) == names.ensure(Kind.CHARACTER, meant), "introduced under both names"


def test_a_title_that_two_of_a_family_have_means_neither() -> None:
    card = "周伯安——成衣铺掌柜。\n周仲安——米铺掌柜。\n"
    assert knowing("周伯安", "周仲安", card=card).find(Kind.CHARACTER, "周掌柜") is None


@pytest.mark.parametrize(
    ("known", "about", "name"),
    [
        ("Anna Vey", "sister of the captain", "Captain Vey"),
        ("Anna Vey", "the captain's sister", "Captain Vey"),
        ("周小满", "掌柜的女儿", "周掌柜"),
        ("박서연", "내관의 딸", "박 내관"),
        ("小满", "学徒", "小学徒"),
        ("周小满", "掌柜", "秦掌柜"),
    ],
)
def test_a_role_is_somebodys_own(known: str, about: str, name: str) -> None:
    assert not is_entitled(name, known, about)


def test_the_story_gives_a_title_too() -> None:
    two = knowing("周伯安", "周小满", told="柜台后面站着掌柜周伯安。")
    assert two.find(Kind.CHARACTER, "周掌柜") == "周伯安"
    assert knowing("周伯安", "周小满").find(Kind.CHARACTER, "周掌柜") is None


@pytest.mark.parametrize(
    ("known", "name", "beside"),
    [("周小满", "周掌柜", "小满"), ("박서연", "박 사장", "서연"), ("Lily Zhou", "Mr. Zhou", "Lily")],
)
def test_who_is_listed_beside_a_title_is_somebody_else(known: str, name: str, beside: str) -> None:
    assert knowing(known).find(Kind.CHARACTER, name) == known
    assert knowing(known, listed=(name, beside)).find(Kind.CHARACTER, name) is None
    assert knowing(known, listed=(name, known)).find(Kind.CHARACTER, name) is None


def test_who_has_left_is_not_who_is_present() -> None:
    state = WorldState(turn="t", player="p", entities={"p": Entity("p", Kind.CHARACTER, "Player")})
    for depth, block in enumerate(["present: [周小满]", "present: [周掌柜]\nnpc_separated: [小满]"], 1):
        delta = read_delta(read_reply(f"```state\n{block}\n```"), state)
        state = fold(state, delta, turn=f"t{depth}", depth=depth)
    assert [state.name(who) for who in state.present] == ["周掌柜"]

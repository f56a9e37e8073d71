"""Lore with rules of its own: each rule alone, and all together against a second reading of the page."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.recall import AuthoredLore, LoreMoment
from saga_core.world import LoreEntry, LoreRule, pattern_search, why_unread
from tests.core.recall.kept_oracle import told_entries

WORDS = "key gate salt fog lamp river crow bell mill road".split()


def entry(name: str, text: str = "A text.", *, constant: bool = False, **rule: Any) -> LoreEntry:
    return LoreEntry(name, "concept", "A2", text=text, constant=constant, rule=LoreRule(mode="keep", **rule))


def moment(*messages: str, **more: Any) -> LoreMoment:
    return LoreMoment(**{"messages": messages, "count": 10, "replies": 4, "seed": "t1", **more})


def told(entries: list[LoreEntry], at: LoreMoment) -> set[str]:
    return {kept.entry.name for kept in AuthoredLore(entries).fire(at)}


@pytest.mark.parametrize(
    ("rule", "text", "fires"),
    [
        ({"keys": ("key",)}, "a KEY", True),
        ({"keys": ("key",), "case_sensitive": True}, "a KEY", False),
        ({"keys": ("key",)}, "monkeys", True),
        ({"keys": ("key",), "whole_words": True}, "monkeys", False),
        ({"keys": ("key",), "whole_words": True}, "monkeys, a key.", True),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "and_any"}, "a c", True),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "and_all"}, "a c", False),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "not_any"}, "a d", True),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "not_any"}, "a c", False),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "not_all"}, "a c", True),
        ({"keys": ("a",), "second_keys": ("b", "c"), "logic": "not_all"}, "a b c", False),
        ({"keys": ("a",), "exclude_keys": ("z",)}, "a z", False),
        ({"keys": ("/gr[ae]y cat/i",)}, "a GREY CAT", True),
        ({"keys": ("/gr[ae]y cat/",)}, "a green cat", False),
        ({"keys": ("/Grey/",)}, "a Grey cat", True),  # a pattern has its own flags and sees the text as it is
        ({"keys": ("/Grey/",)}, "a grey cat", False),
        ({"keys": ("/\\uAC80[이은]/",)}, "검이 빛난다", True),
        ({"keys": ("/usr/bin",)}, "in /usr/bin", True),  # words that only begin like a pattern
        ({"keys": ("/no(/",)}, "he said /no(/", True),
        ({"keys": ("a",), "additional_keys": ("b", "c")}, "a c", True),
        ({"keys": ("a",), "additional_keys": ("b", "c")}, "a", False),
        ({"keys": ("용",), "whole_words": True}, "용은 잔다", True),  # a particle is no part of the word
        ({"keys": ("old king",), "whole_words": True}, "the old kings", True),  # several words stand as they are
        ({"keys": ("x",), "enabled": False}, "x", False),
        ({"keys": ("x",), "delay": 11}, "x", False),
        ({"keys": ("x",), "only_after": 6}, "x", False),
        ({"keys": ("x",), "only_after": 5}, "x", True),  # four replies and the greeting
        ({"keys": ("x",), "only_every": 5}, "x", True),
        ({"keys": ("x",), "only_every": 3}, "x", False),
        ({"keys": ("x",), "probability": 0}, "x", False),
        ({"keys": ("x",), "triggers": ("swipe",)}, "x", False),
        ({"keys": ("x",), "only_characters": ("Ysolde",)}, "x", False),
        ({"keys": ("열쇠",)}, "놋쇠 열쇠를 본다", True),
    ],
)
def test_one_rule(rule: dict[str, Any], text: str, fires: bool) -> None:
    assert told([entry("e", **rule)], moment(text)) == ({"e"} if fires else set())


def test_the_scan_depth_counts_messages() -> None:
    at = moment("now", "before", "the key long ago")
    assert told([entry("e", keys=("key",))], at) == set()
    assert told([entry("e", keys=("key",), scan_depth=3)], at) == {"e"}
    assert told([entry("e", keys=("now",), scan_depth=0)], at) == set()


def test_times() -> None:
    rule = {"keys": ("key",), "sticky": 4, "cooldown": 4}
    for ago, text, fires in ((2, "", True), (4, "key", False), (6, "key", False), (8, "key", True), (8, "", False)):
        assert told([entry("e", **rule)], moment(text or "x", told={"e": 10 - ago})) == ({"e"} if fires else set()), ago


def test_chance_is_the_turns() -> None:
    lore = AuthoredLore([entry("e", keys=("x",), probability=50)])
    seeds = [bool(lore.fire(moment("x", seed=f"t{number}"))) for number in range(200)]
    assert seeds == [bool(lore.fire(moment("x", seed=f"t{number}"))) for number in range(200)]
    assert 60 < sum(seeds) < 140


def test_recursion_and_its_switches() -> None:
    first = entry("first", "It mentions the gate.", keys=("key",))
    second = {"text": "The bell.", "keys": ("gate",)}
    assert told([first, entry("second", **second)], moment("key")) == {"first", "second"}
    assert told([first, entry("second", **second, no_recursion_into=True)], moment("key")) == {"first"}
    silent = entry("first", "It mentions the gate.", keys=("key",), no_recursion_from=True)
    assert told([silent, entry("second", **second)], moment("key")) == {"first"}
    late = entry("late", keys=("key",), recursion_level=1)
    assert told([late], moment("key")) == set(), "nothing was told that could open it"
    assert told([first, late], moment("key")) == {"first", "late"}
    later = entry("later", keys=("key",), recursion_level=3)
    assert told([late, later], moment("key")) == {"late", "later"}, "levels beyond the lowest come at the end"


def test_a_key_with_the_players_name() -> None:
    lore = [entry("e", keys=("{{user}}",)), entry("p", keys=("/^{{user}}$/",))]
    assert told(lore, moment("Mira", user="Mira")) == {"e", "p"}
    assert told(lore, moment("A. B", user="A. B")) == {"e", "p"}
    assert told(lore, moment("AxB", user="A.B")) == set()
    assert told(lore, moment("{{user}}")) == set()


def test_one_of_a_group() -> None:
    group = [entry(name, keys=("x",), groups=("g",), group_weight=weight) for name, weight in (("a", 1), ("b", 99))]
    found = [told(group, moment("x", seed=f"{number}")) for number in range(200)]
    assert all(len(each) == 1 for each in found) and 150 < found.count({"b"}) < 200
    strong = [*group, entry("c", keys=("x",), groups=("g",), group_override=True)]
    assert told(strong, moment("x")) == {"c"}


def test_a_budget_leaves_out_what_matters_least() -> None:
    entries = [entry("low", "12345", keys=("x",), order=1), entry("high", "12345", keys=("x",), order=9)]
    assert told(entries, moment("x", budget=5)) == {"high"}
    free = [*entries, entry("free", "123456789", keys=("x",), ignore_budget=True, order=0)]
    assert told(free, moment("x", budget=5)) == {"high", "free"}


def test_patterns_that_could_take_for_ever_do_not() -> None:
    search = pattern_search("/(a+)+b/")
    assert search is None or search("a" * 15_000) is False
    search = pattern_search("/(a|a)*$b/")
    assert search is None or search("a" * 15_000) is False
    assert pattern_search("/(?<=x+)y/") is None, "no linear engine looks behind"
    lore = AuthoredLore([entry("e", keys=("/(?<=x+)y/", "z"))])
    assert lore.unread == ("e",) and lore.fire(moment("z"))


def test_patterns_get_no_more_time_however_many_there_are() -> None:
    pytest.importorskip("re2")
    text = "".join(random.Random(1).choice("ab") for _ in range(16_000))
    dear = [entry(f"e{number:03}", keys=("/a[ab]{900}c/",)) for number in range(60)]

    def fired(entries: list[LoreEntry]) -> tuple[float, set[str], list[str]]:
        lore, left = AuthoredLore(entries), set[str]()
        began = time.thread_time()
        found = [kept.entry.name for kept in lore.fire(moment(text, "a gate"), left)]
        return time.thread_time() - began, left, found

    few, _, _ = fired(dear[:6])
    many, left, found = fired([*dear, entry("words", keys=("gate",))])
    assert many < 3 * few, "the others took as long each"
    assert found == ["words"] and len(left) > 40, "an entry that was not searched for is told to be left out"


def test_dear_patterns_are_searched_off_the_loop_and_cheap_ones_are_not() -> None:
    pytest.importorskip("re2")
    dear, cheap = AuthoredLore([entry("e", keys=("/a[ab]{900}c/",))]), AuthoredLore([entry("e", keys=("/gr[ae]y/",))])
    words = AuthoredLore([entry("e", keys=("gate",))])
    long = moment("ab" * 8_000)
    assert dear.large(long) and not cheap.large(long) and not words.large(long)
    assert not dear.large(moment("a gate"))


def test_a_pattern_that_grows_too_large_opens_nothing_and_says_why() -> None:
    pytest.importorskip("re2")
    for key in ("/\\p{L}{40}/", "/\\p{L}{900}/"):
        assert pattern_search(key) is None
        assert "smaller numbers in {}" in why_unread(key)
        assert AuthoredLore([entry("e", keys=(key,))]).unread == ("e",)
    assert pattern_search("/\\p{L}+ \\p{L}+/i") is not None


RULES = st.fixed_dictionaries(
    {},
    optional={
        "keys": st.lists(st.sampled_from([*WORDS, "/s.lt/", "Crow"]), max_size=3).map(tuple),
        "second_keys": st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
        "logic": st.sampled_from(["and_any", "and_all", "not_any", "not_all"]),
        "additional_keys": st.lists(st.sampled_from(WORDS), max_size=1).map(tuple),
        "exclude_keys": st.lists(st.sampled_from(WORDS), max_size=1).map(tuple),
        "case_sensitive": st.booleans(),
        "whole_words": st.booleans(),
        "scan_depth": st.integers(0, 5),
        "probability": st.sampled_from([0, 30, 70, 100]),
        "sticky": st.integers(0, 6),
        "cooldown": st.integers(0, 6),
        "delay": st.integers(0, 12),
        "groups": st.lists(st.sampled_from("gh"), max_size=2).map(tuple),
        "group_weight": st.integers(0, 5),
        "group_override": st.booleans(),
        "group_scoring": st.booleans(),
        "no_recursion_into": st.booleans(),
        "no_recursion_from": st.booleans(),
        "recursion_level": st.integers(0, 3),
        "order": st.integers(-3, 3),
        "priority": st.none() | st.integers(0, 3),
        "ignore_budget": st.booleans(),
        "enabled": st.just(True),
        "only_characters": st.sampled_from([(), ("Ysolde",), ("Tam",)]),
        "not_characters": st.sampled_from([(), ("Tam",)]),
        "triggers": st.sampled_from([(), ("normal",), ("swipe", "regenerate")]),
        "only_after": st.integers(0, 6),
        "only_every": st.integers(0, 3),
        "keep_after_match": st.booleans(),
        "not_after_match": st.booleans(),
    },
)
TEXT = st.lists(st.sampled_from([*WORDS, "Crow", "saltgate"]), max_size=5).map(" ".join)
BOOK = st.lists(st.tuples(RULES, TEXT, st.booleans()), min_size=1, max_size=8)
MOMENT = st.fixed_dictionaries(
    {
        "messages": st.lists(TEXT, max_size=5).map(tuple),
        "count": st.integers(1, 20),
        "replies": st.integers(0, 10),
        "seed": st.text(max_size=3),
        "triggers": st.sampled_from([frozenset({"normal"}), frozenset({"swipe", "regenerate"})]),
        "characters": st.sampled_from([frozenset(), frozenset({"ysolde"}), frozenset({"tam"})]),
        "budget": st.none() | st.integers(0, 60),
    }
)


@given(BOOK, MOMENT, st.dictionaries(st.sampled_from([f"e{number}" for number in range(8)]), st.integers(0, 20)))
def test_the_engine_and_the_page_agree(
    book: list[tuple[dict[str, Any], str, bool]], at: dict[str, Any], before: dict[str, int]
) -> None:
    entries = [
        entry(f"e{number}", text or "-", constant=constant, **rule)
        for number, (rule, text, constant) in enumerate(book)
    ]
    now = LoreMoment(**at, told={name: count for name, count in before.items() if count <= at["count"]})
    assert told(entries, now) == told_entries(entries, now)


def made_up(number: int, dice: random.Random) -> LoreEntry:
    """A made-up entry: most rules as they are by default, as authors leave them."""
    words = [f"{dice.choice(WORDS)}{dice.randrange(60)}" for _ in range(6)]

    def sometimes(value: Any, otherwise: Any, chance: float = 0.15) -> Any:
        return value if dice.random() < chance else otherwise

    return entry(
        f"e{number}",
        " ".join(dice.sample(words, 3)),
        constant=dice.random() < 0.01,
        keys=tuple(words[:2]) + sometimes((f"/{words[2][:2]}.*{dice.randrange(9)}/",), (), 0.03),
        second_keys=sometimes(tuple(words[2:4]), ()),
        logic=dice.choice(["and_any", "and_all", "not_any", "not_all"]),
        case_sensitive=sometimes(True, None),
        whole_words=sometimes(True, None),
        scan_depth=sometimes(dice.randrange(6), None),
        probability=sometimes(dice.randrange(101), 100),
        sticky=sometimes(dice.randrange(8), 0),
        cooldown=sometimes(dice.randrange(8), 0),
        delay=sometimes(dice.randrange(20), 0),
        groups=sometimes((dice.choice("abcdefgh"),), ()),
        group_weight=dice.randrange(1, 200),
        group_override=sometimes(True, False, 0.05),
        group_scoring=sometimes(True, False, 0.05),
        no_recursion_into=sometimes(True, False),
        no_recursion_from=sometimes(True, False),
        recursion_level=sometimes(dice.randrange(3), 0, 0.05),
        order=dice.randrange(200),
    )


@pytest.mark.deep
def test_2000_entries_and_500_texts() -> None:
    """A chat of 500 messages, played with 2,000 entries: each turn as the page says."""
    pytest.importorskip("re2", reason="patterns that repeat want the linear engine")
    dice = random.Random(7)
    entries = [made_up(number, dice) for number in range(2_000)]
    lore, said, before = AuthoredLore(entries), list[str](), dict[str, int]()
    for turn in range(500):
        said.insert(0, " ".join(f"{dice.choice(WORDS)}{dice.randrange(60)}" for _ in range(30)))
        now = moment(*said[:6], count=turn + 1, replies=turn // 2, seed=f"t{turn}", told=dict(before))
        found = lore.fire(now)
        assert {kept.entry.name for kept in found} == told_entries(entries, now), turn
        before |= {kept.entry.name: now.count for kept in found if kept.why in ("key", "constant")}

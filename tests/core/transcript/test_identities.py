"""The identity of a text, as a short hash: the same for what reads alike, and known again without its text."""

from __future__ import annotations

import unicodedata

import pytest

from saga_core.transcript import identity, identity_key, prefix_keys
from saga_core.transcript.dialogue import Utterance, identity_keys
from saga_core.transcript.identities import LADDER, clean, fingerprint, known_keys


def test_a_clean_text_is_composed_and_without_blocks() -> None:
    assert clean(unicodedata.normalize("NFD", "숲으로")) == "숲으로"
    assert clean("He falls.\n\n```state\nhp_change: -5\n```").rstrip() == "He falls."
    assert clean("`code` stays") == "`code` stays"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("미나: 어서 오게.", "어서오게."),
        ("Mina： welcome", "welcome"),
        ("Mina: ", "Mina:"),
        ("12:30 it rains", "12:30itrains"),
        ("Stop. Wait: no", "Stop.Wait:no"),
        ("a" * 41 + ": b", "a" * 41 + ":b"),
        ("<Mina's Message>hello</Mina's Message>", "hello"),
        ("ＡＢＣ ①", "ABC1"),
        ("«_*„“”*_»", ""),
    ],
)
def test_what_counts_of_a_text(text: str, found: str) -> None:
    assert identity(text) == found


def test_the_key_is_the_identitys_and_is_the_same_in_every_process() -> None:
    assert identity_key("*The lamp.*") == fingerprint("Thelamp.") == "e1f9b9dd74c81e34869d5336"
    assert identity_key("HP 50") != identity_key("HP 5")


def test_pictures_count_in_their_order() -> None:
    bare = identity_key("look")
    keys = {bare, identity_key("look", ("a",)), identity_key("look", ("b",)), identity_key("look", ("a", "b"))}
    assert len(keys | {identity_key("look", ("b", "a"))}) == 5


def test_keys_at_hand_are_given_and_others_are_to_be_asked_for() -> None:
    seen, unseen = "a text that was asked for by name", "a text that nobody asked for until now, 아무도"
    key = identity_key(seen)
    assert known_keys([seen, unseen, seen]) == [key, None, key]


def test_many_utterances_have_the_keys_that_each_has() -> None:
    said = [
        Utterance("user", "the first of them", 0),
        Utterance("user", "미나: 둘째", 1),
        Utterance("user", "", 2, "", ("x",)),
    ]
    assert identity_keys(said) == [each.key for each in said]


def test_beginnings_are_told_by_their_length_longest_first() -> None:
    text = "가" * LADDER[0]
    assert [key.split(":")[0] for key in prefix_keys(text)] == [str(length) for length in LADDER]
    assert prefix_keys(text[: LADDER[1]]) == prefix_keys(text)[1:]
    assert prefix_keys("가" * (LADDER[-1] - 1)) == []


@pytest.mark.parametrize(
    "reply", ["Mina whispers: it is in the vault.", "Note: it is gone.", "미나가 속삭인다: 금고에 있어요."]
)
def test_a_name_in_front_changes_no_reply_that_begins_like_one_with_a_name(reply: str) -> None:
    assert identity(f"Mina: {reply}") == identity(reply)

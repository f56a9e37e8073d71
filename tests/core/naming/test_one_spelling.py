"""One person has one spelling: a name is kept as it was written and compared folded, wherever it enters."""

from __future__ import annotations

import unicodedata

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.extraction.question import short_state
from saga_core.language import clean_name, fold_name, match_text, mentions, spoken_name, squash
from saga_core.maintenance.redaction import holds, without
from saga_core.model import Entity, Kind, WorldState
from saga_core.model.tree import BLANK
from saga_core.recall import AuthoredLore, LoreMoment
from saga_core.state_block import parse_block
from saga_core.text_prompt.templates import role_of
from saga_core.transcript import read_transcript
from saga_core.world import LoreEntry, LoreRule
from tests.core.frontend import Frontend

SPELLINGS = {
    "joiner": ("علی\u200cرضا", "علیرضا"),
    "direction marks": ("\u200eMara\u200f", "Mara"),
    "variation selector": ("Mara☀\ufe0f", "Mara☀"),
    "heart": ("Mara❤", "Mara"),
    "sparkles": ("✨Mara✨", "Mara"),
    "full width": ("ＭＡＲＡ", "Mara"),
    "soft hyphen": ("Ma\u00adra", "Mara"),
    "decomposed": (unicodedata.normalize("NFD", "Zoë"), "Zoë"),
}
each = pytest.mark.parametrize(("written", "plain"), SPELLINGS.values(), ids=SPELLINGS)


@each
def test_it_compares_equal(written: str, plain: str) -> None:
    assert fold_name(clean_name(written)) == fold_name(plain)


@each
def test_a_text_mentions_the_name_in_either_spelling(written: str, plain: str) -> None:
    written = clean_name(written)
    assert mentions(f"Then {plain} waits.", written)
    assert mentions(f"Then {written} waits.", plain)
    assert not mentions(f"Then x{plain} waits.", written)


@each
def test_block(written: str, plain: str) -> None:
    fields = parse_block(f"present: [{written}]").fields
    assert fields.present is not None and list(map(fold_name, fields.present)) == [fold_name(plain)]


def test_a_block_keeps_the_joiners_of_a_name() -> None:
    assert parse_block("present: [علی\u200cرضا]").fields.present == ("علی\u200cرضا",)
    assert parse_block("\u200dhp_change\u200c:\u200d -5").fields.hp_change == -5


@each
async def test_history_and_block_are_one_person(written: str, plain: str) -> None:
    async with Saga.open(load_config({"storage": {"profile": "memory"}})) as saga:
        chat = Frontend(saga)
        first = await chat.say("I wait.", "Nothing.")
        alone = sum(who["kind"] == "character" for who in await saga.memory.entities(first.session.id))
        await chat.say("I knock.", f"{written} opens.\n\n```state\nnpc_met: [{written}]\n```")
        turn = await chat.say("I nod.", f"{plain} nods.\n\n```state\npresent: [{plain}]\n```")
        await chat.say("I wait.", "Nothing.")
        after = await saga.memory.entities(turn.session.id)
    people = [who["name"] for who in after if who["kind"] == "character"]
    assert [fold_name(name) for name in people].count(fold_name(plain)) == 1, people
    assert len(people) == alone + 1


@each
def test_card(written: str, plain: str) -> None:
    entry = LoreEntry(
        "secret", "concept", "A2", text="A text.", rule=LoreRule(mode="keep", keys=("x",), only_characters=(written,))
    )
    at = LoreMoment(messages=["x"], count=10, replies=4, seed="t1", characters=frozenset({fold_name(plain)}))
    assert [kept.entry.name for kept in AuthoredLore([entry]).fire(at)] == ["secret"]


@each
def test_the_players_line_of_a_text_prompt(written: str, plain: str) -> None:
    assert role_of(plain, clean_name(written)) == role_of(written, plain) == "user"


@each
def test_the_question_of_a_helper_knows_who_is_spoken_of(written: str, plain: str) -> None:
    who = Entity("character:1", Kind.CHARACTER, clean_name(written))
    state = WorldState(entities={who.id: who})
    assert any(who.name in line for line in short_state(state, f"{plain} waits.", (), "en", len))


def test_the_name_of_a_message_is_clean() -> None:
    read = read_transcript([{"role": "user", "name": "\ufeffMara \n Vey", "content": "I wait."}])
    assert read.utterances[-1].speaker == "Mara Vey"


def test_vowels_that_are_marks_tell_words_apart() -> None:
    assert squash("राम") != squash("रमा")
    assert squash("1\ufe0f\u20e3 HP_change") == "1hpchange"


def test_letters_in_circles_are_no_pictures() -> None:
    assert fold_name("Ⓐlice") == "alice"
    assert match_text("ＨＰ ❤\ufe0f") == "hp ❤"


@each
def test_forgetting(written: str, plain: str) -> None:
    name = spoken_name(clean_name(written))
    for text in (f"{plain} waits.", f"{written} waits."):
        assert holds({"text": text}, name) and BLANK in without(text, name)
        assert not holds(without(text, name), name)
    assert without("Tamar waits.", name) == ("Tamar waits." if name != "Tam" else "")

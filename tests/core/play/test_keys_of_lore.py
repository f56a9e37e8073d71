"""What the author of a lorebook means as a key mentions its entry; words that have no key bring no lore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core import PendingTurn, Saga
from saga_core.context import Section
from saga_core.imports import Lorebook, Losses, read_file, world_of
from saga_core.world import render_world, write_world
from tests.bench.recall.adventure_wording import IDLE
from tests.core.frontend import Frontend

BOOKS = {
    "en": (
        (
            "Order of Ash",
            "grey coats",
            "I nod at the men in grey coats.",
            "Its members burn their names when they join.",
        ),
        (
            "Low Harbour",
            "ferry toll",
            "Who takes the ferry toll here?",
            "Two families share the quay and do not speak.",
        ),
        ("Vessel Rite", "oil of nard", "I pour out the oil of nard.", "Only widows may hold it, and never at noon."),
        ("Salt Treaty", "white flags", "White flags hang from every roof.", "It ended the war of the three wells."),
        ("Marrow Fever", "black gums", "He smiles, and I see black gums.", "Whoever has it dreams of one staircase."),
        (
            "Bell Tax",
            "bronze tokens",
            "I find bronze tokens in his pocket.",
            "Each house pays for the hours it is told.",
        ),
    ),
    "ko": (
        ("잿빛 결사", "회색 외투", "회색 외투를 입은 자들에게 고개를 끄덕인다.", "들어올 때 제 이름을 태운다."),
        ("아랫나루", "뱃삯", "여기 뱃삯은 누가 걷지?", "두 집안이 부두를 나눠 쓰며 말을 섞지 않는다."),
        ("그릇 의식", "나드 기름", "나드 기름을 붓는다.", "과부만이 손에 들 수 있고, 한낮에는 안 된다."),
        ("소금 조약", "흰 깃발", "지붕마다 흰 깃발이 걸려 있다.", "세 우물의 전쟁을 끝냈다."),
        ("골수열", "검은 잇몸", "그가 웃자 검은 잇몸이 보인다.", "걸린 사람은 같은 계단을 꿈꾼다."),
        ("종세", "청동 패", "주머니에서 청동 패를 찾아낸다.", "집집마다 들은 시각만큼 낸다."),
    ),
}
"""An entry's name, its key, what the player says, and what the entry tells."""


def lore(turn: PendingTurn) -> set[str]:
    return {piece.key.removeprefix("lore:") for piece in turn.context.pieces if piece.section is Section.LORE}


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_key_of_an_imported_lorebook_brings_its_entry_and_silence_brings_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    book = {
        "name": "House",
        "entries": {
            str(number): {"uid": number, "key": [key], "comment": name, "content": told, "order": 10}
            for number, (name, key, _, told) in enumerate(BOOKS[language])
        },
    }
    (found,) = read_file("book.json", json.dumps(book).encode()).found
    assert isinstance(found.record, Lorebook)
    world = world_of(None, [found.record], "House", Losses()).world
    write_world(tmp_path / "worlds", world.name, render_world(world), {}, {})
    monkeypatch.chdir(tmp_path)
    config = {"storage": {"profile": "memory"}, "session": {"default_world": world.name}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga, system="You narrate.", greeting="", note="")
        # Whatever was mentioned long ago is no mention now, and nothing of the lore was said of late.
        for at, words in enumerate(IDLE[language][:3]):
            await chat.say(words, f"({at}) ...")
        for name, _, words, told in BOOKS[language]:
            turn = await chat.begin(words)
            assert lore(turn) == {name}, words
            assert told in turn.context.text
        for words in IDLE[language]:
            assert lore(await chat.begin(words)) == set(), words

"""The benchmark of recall as chats are served: adopted through ``Saga.begin``, asked with a history cut short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core.config import Config
from saga_core.context import Piece, Section, TurnContext
from tests.bench.command import bench
from tests.bench.recall.adventures import TURNS, make_adventure
from tests.bench.recall.dialogue_set import Dialogue, Question, Said
from tests.bench.recall.served import (
    SHOWN,
    Asked,
    Chat,
    best_turn,
    has_words,
    measure_served,
    served_shares,
    served_table,
)
from tests.bench.recall.served_sets import SERVED, chat_of_dialogue, served_chats


def small(answer: str = "seven beehives") -> Chat:
    pairs = [(f"What is the weather in week {at}?", f"In week {at} it rained, and nothing more.") for at in range(60)]
    pairs[7] = ("Do you have relatives?", "My sister keeps seven beehives behind the mill.")
    pairs[-1] = ("And honey?", "She sold all of it.")
    asked = (
        Asked("How many beehives does your sister keep?", (7,), answer, "number"),
        Asked("What happened to the honey?", (59,), "sold"),
    )
    return Chat("bees", "en", tuple(pairs), asked)


async def test_a_question_is_asked_of_the_adopted_chat_and_what_is_shown_is_no_question() -> None:
    found = await served_shares(small(), Config())
    assert found.asked[600] == [{"line": 1.0, "first": 1.0, "answer": 1.0, "held": 1.0}]
    other = await served_shares(small("nine beehives"), Config())
    assert other.asked[600] == [{"line": 1.0, "first": 1.0, "answer": 0.0, "held": 0.0}]


async def test_what_is_told_with_words_for_which_nothing_matters_is_counted() -> None:
    chat = evolve(small(), idle=("I nod.", "I think of beehives."))
    assert (await served_shares(chat, Config())).idle == [0, 1]
    measured = {"bees": await measure_served([chat], Config())}
    assert measured["bees"]["idle"] == 0.5
    assert "bees: 0.50 earlier turns are told with words for which nothing matters." in served_table(measured)


def test_the_history_is_cut_and_brings_neither_names_nor_dates() -> None:
    messages = small().messages("How many?", SHOWN)
    assert len(messages) == 2 + 2 * SHOWN and messages[-1] == {"role": "user", "content": "How many?"}
    assert messages[1]["content"] == f"What is the weather in week {60 - SHOWN}?"
    assert len(small().messages("How many?")) == 2 + 2 * 60
    said = tuple(Said(f"t{at}", "Ann", f"Line {at}.") for at in range(5))
    chat = chat_of_dialogue(Dialogue("d", "en", said, (Question("Which?", ("t2", "t3"), "", "Line 3"),)))
    assert chat.pairs == (("Line 0.", "Line 1."), ("Line 2.", "Line 3."), ("Line 4.", "…"))
    assert chat.asked == (Asked("Which?", (1,), "Line 3", ""),)


def test_words_of_an_answer_are_words_or_begin_one() -> None:
    assert has_words("It was hidden under THE car seat, of course.", "under the car seat")
    assert not has_words("The ship has sailed.", "hip") and not has_words("", "hip")
    assert has_words("책장 뒤에 감췄다.", "책장 뒤") and not has_words("옆책장 뒤에 감췄다.", "책장 뒤")
    assert has_words("本棚の裏へ押し込んだ。", "本棚の裏") and has_words("塞进书架后面。", "书架后面")
    assert not has_words("塞进书架上面。", "书架后面")


def test_the_best_turn_is_that_of_the_best_score_even_if_it_is_not_told() -> None:
    def line(turn: str, fused: float, order: int) -> Piece:
        return Piece("recollection", f"turn:{turn}", Section.EARLIER, turn, 6.0, why={"fused": fused}, order=order)

    lore = Piece("lorebook", "lore:x", Section.LORE, "x", 9.0)
    context = TurnContext("", 0, (lore, line("a", 5.0, 1), line("b", 7.0, 2)), (line("c", 8.0, 3),))
    assert best_turn(context) == "c"
    assert best_turn(TurnContext("", 0, (line("b", 7.0, 2), line("a", 7.0, 1)))) == "a"
    assert best_turn(TurnContext("", 0, (lore,))) == ""


@pytest.mark.parametrize(
    ("kind", "language"),
    [
        pytest.param(kind, spoken, marks=pytest.mark.deep if at else ())
        for kind in SERVED
        for at, spoken in enumerate(SERVED[kind])
    ],
)
async def test_every_served_set_tells_the_answers_to_its_questions(kind: str, language: str) -> None:
    (chat,) = await served_chats(kind, language, [1], NgramEmbedder())
    assert (chat,) == tuple(await served_chats(kind, language, [1], NgramEmbedder()))
    assert len(chat.answerable) > (6 if kind == "two-step" else 20)
    for asked in chat.asked:
        assert len(asked.evidence) == (2 if kind == "two-step" else 1)
        told = " ".join(" ".join(" ".join(chat.pairs[at]) for at in asked.evidence).split())
        assert asked.answer and has_words(told, asked.answer), asked
    assert not any("{" in text for pair in chat.pairs for text in pair)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_adventure_has_long_replies(language: str) -> None:
    chat = make_adventure(language, 1)
    assert len(chat.pairs) == TURNS
    assert all(150 <= len(reply.split()) < 500 for _, reply in chat.pairs)
    assert any(not asked.text.rstrip('"').endswith("?") for asked in chat.asked)


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_an_adventure_without_spaces_is_as_long(language: str) -> None:
    chat = make_adventure(language, 1)
    assert len(chat.pairs) == TURNS
    assert all(300 <= len(reply) < 1_100 and " " not in reply for _, reply in chat.pairs)
    assert any(not asked.text.rstrip("」”").endswith(("？", "?")) for asked in chat.asked)


async def test_differences_are_told_question_by_question() -> None:
    now = {"bees": await measure_served([small()], Config())}
    before = {"bees": await measure_served([small("nine beehives")], Config())}
    assert now["bees"]["questions"] == 1 and now["bees"]["600"]["answer"]["groups"] == {"number": 1.0}
    (row,) = [line for line in served_table(now, before) if line.startswith("| bees |")]
    assert "| 100.0 (+100.0 [+100.0, +100.0]) |" in row and "| 100.0 (+0.0 [+0.0, +0.0]) |" in row
    assert any(line.startswith("| bees | 1 | 100.0 | 100.0 |") for line in served_table(now))


def test_the_command_serves_a_file_and_compares_it_with_a_former_run(tmp_path: Path) -> None:
    said = [{"id": str(at), "speaker": "AB"[at % 2], "text": f"Line {at} of the talk."} for at in range(40)]
    said[3]["text"] = "The key is under the mat."
    questions = [{"text": "Where is the key?", "evidence": ["3"], "answer": "under the mat"}]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"turns": said, "questions": questions}), encoding="utf-8")
    run = CliRunner().invoke(bench, ["recall", "--file", str(file), "--served", "--json"])
    assert run.exit_code == 0, run.output
    measured = json.loads(run.stdout)
    assert measured["served"]["dialogues"]["600"]["held"]["share"] == 1.0 and measured["sets"] == {}
    former = tmp_path / "former.json"
    former.write_text(run.stdout, encoding="utf-8")
    run = CliRunner().invoke(bench, ["recall", "--file", str(file), "--served", "--against", str(former)])
    assert run.exit_code == 0 and "100.0 (+0.0 [+0.0, +0.0])" in run.output
    run = CliRunner().invoke(bench, ["recall", "--served", "--against", str(file)])
    assert run.exit_code == 1 and "give what `python -m tests.bench recall --json` wrote" in run.output

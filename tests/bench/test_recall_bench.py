"""The benchmark of recall: the file of one's own dialogues, the made-up ones, and that it measures what it says."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core.context.model import TurnContext
from saga_core.recall.questions import time_named
from tests.bench.command import bench
from tests.bench.recall.chats import make_chat
from tests.bench.recall.comparison import PLAY, TALK, TIMES, compare, found, shares
from tests.bench.recall.dialogue_set import Dialogue, MalformedSet, Question, Said, read_dialogues
from tests.bench.recall.figures import BUDGETS, interval, mean, shrunk
from tests.bench.recall.plays import stage_play
from tests.bench.recall.stage import Evidence, stage_dialogue
from tests.bench.recall.times import stage_times


def turns() -> list[dict[str, Any]]:
    return [
        {"id": "D1:1", "speaker": "Caroline", "time": "1:56 pm on 8 May, 2023", "text": "I went to a support group."},
        {"id": "D1:2", "speaker": "Melanie", "time": "2023-05-08T13:57:00", "text": "How was it?"},
        {"id": "D1:3", "speaker": "Caroline", "text": "Inspiring! I painted a sunrise afterwards."},
    ]


def plain() -> dict[str, Any]:
    questions = [{"text": "What did Caroline paint?", "evidence": ["D1:3"], "group": "single"}]
    return {"id": "friends", "language": "en", "turns": turns(), "questions": questions}


def write(folder: Path, value: Any) -> Path:
    file = folder / "set.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return file


def test_a_file_of_one_dialogue_or_of_several(tmp_path: Path) -> None:
    (one,) = read_dialogues(write(tmp_path, plain()))
    assert one.id == "friends" and one.turns[0] == Said(
        "D1:1", "Caroline", "I went to a support group.", date(2023, 5, 8)
    )
    assert one.turns[2].day is None
    assert one.questions == (Question("What did Caroline paint?", ("D1:3",), "single"),)
    second = {**plain(), "id": "others"}
    assert [each.id for each in read_dialogues(write(tmp_path, {"dialogues": [plain(), second]}))] == [
        "friends",
        "others",
    ]


@pytest.mark.parametrize(
    ("time", "day"),
    [
        ("2023년 5월 8일 오후", date(2023, 5, 8)),
        ("May 8th, 2023", date(2023, 5, 8)),
        ("2024-02-29", date(2024, 2, 29)),
        (1_683_504_000, date(2023, 5, 8)),
    ],
)
def test_times_in_many_forms(tmp_path: Path, time: Any, day: date) -> None:
    changed = plain()
    changed["turns"][0]["time"] = time
    (dialogue,) = read_dialogues(write(tmp_path, changed))
    assert dialogue.turns[0].day == day


def changed(path: str, value: Any) -> dict[str, Any]:
    """The plain dialogue with another value, or without one, at a dotted path."""
    whole: Any = plain()
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    at = whole
    for part in above:
        at = at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return dict(whole)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("{", "no JSON"),
        ("[]", "the file: [] is no object"),
        (changed("turns", None), "turns: missing"),
        (changed("turns", []), "turns: [] is no list"),
        (changed("turns.1.speaker", None), "turns[1].speaker: missing"),
        (changed("turns.1.text", " "), 'turns[1].text: " " is no text'),
        (changed("turns.1.id", "D1:1"), "turns[1].id: 'D1:1' comes twice"),
        (changed("turns.0.time", "yesterday"), "turns[0].time: 'yesterday' is no time"),
        (changed("turns.0.time", "31 June 2023"), "turns[0].time: '31 June 2023' is no time"),
        (changed("turns.0.mood", "glad"), "turns[0].mood: unknown field"),
        (changed("questions.0.evidence", ["D9:9"]), "questions[0].evidence[0]: 'D9:9' is no turn's id"),
        (changed("questions.0.evidence", []), "questions[0].evidence: [] is no list"),
        (changed("questions.0", "who?"), 'questions[0]: "who?" is no object'),
        (changed("language", "fr"), "language: 'fr' is not known; give one of en, ko"),
        ({"dialogues": [plain(), plain()]}, "dialogues[1].id: 'friends' comes twice"),
        ({"dialogues": [changed("questions.0.text", None)]}, "dialogues[0].questions[0].text: missing"),
    ],
)
def test_a_malformed_file_is_told_by_its_field(tmp_path: Path, broken: Any, says: str) -> None:
    with pytest.raises(MalformedSet) as caught:
        read_dialogues(write(tmp_path, broken))
    assert says in str(caught.value)


def test_the_command_measures_a_file_and_refuses_a_malformed_one(tmp_path: Path) -> None:
    result = CliRunner().invoke(bench, ["recall", "--file", str(write(tmp_path, plain())), "--json"])
    assert result.exit_code == 0, result.output
    measured = json.loads(result.stdout)
    methods = measured["sets"]["dialogues"]["methods"]
    assert [row["method"] for row in methods] == [method.name for method in TALK]
    assert methods[-1]["600"]["share"] == 1.0 and methods[-1]["600"]["groups"] == {"single": 1.0}
    shown = CliRunner().invoke(bench, ["recall", "--file", str(write(tmp_path, plain()))])
    assert "| default | 100.0 |" in shown.output
    refused = CliRunner().invoke(bench, ["recall", "--file", str(write(tmp_path, changed("turns", None)))])
    assert refused.exit_code == 1 and "turns: missing" in refused.output


async def test_recall_finds_what_the_newest_turns_do_not_show() -> None:
    embedder = NgramEmbedder()
    said = [Said(f"t{at}", ("Mina", "Owen")[at % 2], f"We talked about the weather, time {at}.") for at in range(120)]
    said[7] = Said("t7", "Owen", "My sister keeps seven beehives behind the mill.")
    dialogue = Dialogue("d", "en", tuple(said), (Question("How many beehives does Owen's sister keep?", ("t7",)),))
    stage = await stage_dialogue(dialogue, embedder)
    latest, *_, default = [await shares(method, 600, [stage], embedder) for method in TALK]
    assert (latest, default) == ([0.0], [1.0])


async def test_made_up_dialogues_are_the_same_each_time_and_their_answers_are_in_them() -> None:
    for language in ("en", "ko"):
        dialogue = make_chat(language, 3)
        assert dialogue == make_chat(language, 3) != make_chat(language, 5)
        ids = {said.id for said in dialogue.turns}
        assert len(dialogue.turns) > 300 and all(set(question.evidence) <= ids for question in dialogue.questions)
        assert not any("{" in said.text or "*" in said.text for said in dialogue.turns)


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_made_up_play_asks_for_what_it_told(language: str) -> None:
    stage = await stage_play(language, 1, NgramEmbedder())
    told = [case for case in stage.cases if case.evidence[0].turn]
    assert len(told) > 30 and {"moved", "renamed", "return"} <= {case.group for case in stage.cases} | {"renamed"}
    kept = 0
    for case in told:
        (evidence,) = case.evidence
        assert evidence.turn not in case.request.shown
        kept += evidence.words in " ".join(stage.tree.get(evidence.turn).episode.split())
    assert kept >= 0.9 * len(told)  # the rest fell victim to the length of an episode


async def test_what_a_part_adds_is_told_against_the_method_that_it_is_added_to() -> None:
    embedder = NgramEmbedder()
    stage = await stage_dialogue(read_dialogue(), embedder)
    result = await compare(TALK, [stage], embedder)
    rows = {row["method"]: row for row in result["methods"]}
    for most in map(str, BUDGETS):
        difference = rows["fusion"][most]["share"] - rows["BM25"][most]["share"]
        assert rows["fusion"][most]["adds"]["mean"] == pytest.approx(difference)
        assert rows["fusion"][most]["low"] <= rows["fusion"][most]["share"] <= rows["fusion"][most]["high"]
        assert "adds" not in rows["last turns"][most]
    assert len({method.name for method in PLAY}) == len(PLAY)


def read_dialogue() -> Dialogue:
    said = tuple(Said(each["id"], each["speaker"], each["text"]) for each in turns())
    return Dialogue("d", "en", said, (Question("What did Caroline paint?", ("D1:3",)), Question("Who?", ("D1:1",))))


def test_evidence_is_a_line_or_words_or_both() -> None:
    context = TurnContext("[SAGA]\n- a  b\n[/SAGA]", 5)
    assert found(context, [Evidence(words="a b"), Evidence(words="c")]) == 0.5
    assert found(context, [Evidence(turn="t1")]) == 0.0


def test_an_interval_holds_the_mean_and_a_budget_shrinks_with_its_whole() -> None:
    low, high = interval([0.0, 1.0] * 50)
    assert 0.35 < low < 0.5 < high < 0.65 and interval([0.3] * 9) == pytest.approx((0.3, 0.3))
    assert mean([]) == 0.0
    from saga_core.config.model import TokenBudget

    budget = shrunk(TokenBudget(), 600)
    assert (budget.dynamic_context_max, budget.lorebook_max, budget.recall_max) == (600, 600, 500)


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_made_up_play_over_many_days_asks_when(language: str) -> None:
    embedder = NgramEmbedder()
    stage = await stage_times(language, 1, embedder)
    assert {case.group for case in stage.cases} == {"days ago", "last time", "first meeting"}
    for case in stage.cases:
        (evidence,) = case.evidence
        assert evidence.turn not in case.request.shown
        assert evidence.words in " ".join(stage.tree.get(evidence.turn).episode.split())
        assert time_named(case.request.player_words) is not None
    without, with_ = [mean(await shares(method, 600, [stage], embedder)) for method in TIMES[1:3]]
    assert with_ > without + 0.2

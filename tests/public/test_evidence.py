"""The formats of public sets of talks, in small samples written here, and the runner that measures them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saga_core.config import Config
from tests.bench.recall.served import Asked
from tests.public.evidence import BUDGETS, measure, rows, table
from tests.public.talks import TALKS


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def locomo(folder: Path, samples: int = 1) -> Path:
    """A talk of 26 turns; what is asked was said in the second message."""
    small = [
        {"speaker": ("Ann", "Ben")[at % 2], "dia_id": f"D2:{at + 1}", "text": f"Rain again in week {at}."}
        for at in range(24)
    ]
    talk = {
        "speaker_a": "Ann",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Do you have a sister?"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Yes, she keeps seven beehives.", "blip_caption": "a hive"},
        ],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2": small,
        "session_2_date_time": "9 May, 2023",
    }
    questions = [
        {"question": "How many beehives has Ben's sister?", "answer": 7, "evidence": ["D1:02; D2:1"], "category": 1},
        {"question": "What was never said?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        {"question": "What has no evidence?", "answer": "x", "evidence": ["D"], "category": 4},
    ]
    rows_ = [{"sample_id": f"conv-{at}", "conversation": talk, "qa": questions} for at in range(samples)]
    return written(folder / "locomo10.json", rows_)


def test_locomo_has_speakers_and_the_time_of_each_session(tmp_path: Path) -> None:
    (chat,) = TALKS["locomo"](locomo(tmp_path))
    assert chat.id == "conv-0" and len(chat.pairs) == 13
    assert chat.pairs[0] == (
        "(1:56 pm on 8 May, 2023) Ann: Do you have a sister?",
        "Ben: Yes, she keeps seven beehives. [a hive]",
    )
    assert chat.asked == (Asked("How many beehives has Ben's sister?", (0, 1), "7", "multi-hop"),)


def test_longmemeval_asks_one_question_of_each_haystack(tmp_path: Path) -> None:
    row = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What did I adopt?",
        "answer": "a dog that is far too large for the small flat that I have",
        "haystack_dates": ["2023/05/05 (Fri) 13:00", "2023/05/06 (Sat) 13:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello."}],
            [
                {"role": "user", "content": "I adopted a dog!", "has_answer": True},
                {"role": "assistant", "content": "Congratulations!"},
            ],
        ],
    }
    (chat,) = TALKS["longmemeval"](written(tmp_path / "s.json", [row]))
    day = "(2023/05/06 (Sat) 13:00)"
    assert chat.pairs == (
        ("(2023/05/05 (Fri) 13:00) Hello.", f"{day} I adopted a dog!"),
        ("Congratulations!", "…"),
    )
    assert chat.asked == (Asked("What did I adopt?", (0,), "", "single-session-user"),)


def test_beam_reads_the_probing_questions_beside_the_chat(tmp_path: Path) -> None:
    turns = [
        [{"role": "user", "id": 0, "content": "I start. ->-> 1,1"}, {"role": "assistant", "id": 1, "content": "Good."}],
        [{"role": "user", "id": 2, "content": "It is 165."}, {"role": "assistant", "id": 3, "content": "Noted."}],
    ]
    written(tmp_path / "100K" / "1" / "chat.json", [{"batch_number": 1, "turns": turns}])
    questions = {
        "abstention": [{"question": "What is not known?"}],
        "knowledge_update": [
            {"question": "How many?", "answer": "165", "source_chat_ids": {"old": [1], "new": [2, 3]}}
        ],
    }
    written(tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json", questions)
    (chat,) = TALKS["beam"](tmp_path / "100K")
    assert chat.id == "100K-1" and chat.pairs == (("I start.", "Good."), ("It is 165.", "Noted."))
    assert chat.asked == (Asked("How many?", (0, 1), "165", "knowledge_update"),)
    written(tmp_path / "10M" / "1" / "chat.json", [{"plan-1": []}])
    with pytest.raises(ValueError, match="a batch has no turns"):
        list(TALKS["beam"](tmp_path / "10M"))


def test_crd3_asks_for_the_turns_that_a_summary_sums_up(tmp_path: Path) -> None:
    def turn(number: int) -> dict[str, Any]:
        return {"NAMES": ["MATT", "SAM"], "UTTERANCES": [f"Part {number},", "and more."], "NUMBER": number}

    chunks = [
        {"CHUNK": "An advertisement.", "ALIGNMENT": {"ALIGNMENT SCORE": 0.0}, "TURNS": [turn(0)]},
        {"CHUNK": "They argue.", "ALIGNMENT": {"ALIGNMENT SCORE": 0.5}, "TURNS": [turn(1), turn(2)]},
        {"CHUNK": "They part.", "ALIGNMENT": {"ALIGNMENT SCORE": 0.6}, "TURNS": [turn(2), turn(3)]},
    ]
    written(tmp_path / "C1E001_2_0.json", chunks)
    written(tmp_path / "C1E001_2_1.json", chunks)
    (chat,) = TALKS["crd3"](tmp_path)
    assert chat.pairs[0] == ("MATT, SAM: Part 0, and more.", "MATT, SAM: Part 1, and more.")
    assert [(each.text, each.evidence) for each in chat.asked] == [("They argue.", (0, 1)), ("They part.", (1,))]


async def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path, out = locomo(tmp_path, samples=2), tmp_path / "out.jsonl"
    assert await measure(TALKS["locomo"](path), out, Config(), most=1) == 1
    first = out.read_text(encoding="utf-8")
    out.write_text(f'{first}{{"id": "conv-1", "tur', encoding="utf-8")
    assert await measure(TALKS["locomo"](path), out, Config()) == 1
    assert await measure(TALKS["locomo"](path), out, Config()) == 0
    found = rows(out)
    assert [row["id"] for row in found] == ["conv-0", "conv-1"] and out.read_text(encoding="utf-8").startswith(first)
    assert set(found[0]["shares"]) == {str(budget) for budget in BUDGETS}
    page = table(found)
    assert "| multi-hop | 2 | 100 (100–100) |" in page
    assert "2 chats with 26 turns" in page and "no call to a model" in page

"""docs/transcript.md: its table of recorded requests is the test's, its numbers are the code's."""

from __future__ import annotations

import re

import pytest

from saga_core.model.tree import TurnKind
from saga_core.transcript import evidence as likeness
from saga_core.transcript import evidence as witness
from saga_core.transcript.dialogue import read_transcript, split_note, stops_the_story
from saga_core.transcript.request_kind import classify
from tests.docs.pages import page
from tests.replay.test_recorded_client import EXPECTED, RECORDINGS

PAGE = page("docs/transcript.md")
PROSE = " ".join(PAGE.prose.split())
READ_AS = {"turn": TurnKind.NARRATION, "continue": TurnKind.CONTINUATION, "aside": TurnKind.SIDE}
CASES = [row for row in PAGE.rows if len(row) == 5 and re.fullmatch(r"`\w+`", row[0])]


def test_the_recorded_cases_are_those_of_the_test() -> None:
    listed = {
        row[0].strip("`"): list(
            zip(
                [parent.replace("`", "") for parent in row[2].split("; ")],
                [READ_AS[kind] for kind in row[3].split("; ")],
                strict=True,
            )
        )
        for row in CASES
        if row[3]
    }
    words = {"the beginning": "root", "what was kept": "kept"}
    found = {
        case: [(words.get(parent, parent), kind) for parent, kind in requests] for case, requests in listed.items()
    }
    assert found == EXPECTED
    assert list(found) == list(EXPECTED), "in the order in which they were recorded"


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
def test_every_recording_is_listed() -> None:
    recorded = [path.stem.partition("_")[2] for path in sorted(RECORDINGS.glob("*.json"))]
    assert [row[0].strip("`") for row in CASES] == recorded
    assert len(recorded) == 45


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"A reply of {witness.SHORT} characters or more proves its place" in PROSE
    assert f"words of {witness.SHORT} characters or more" in PROSE
    assert f"when {witness._MANY} or more follow each other" in PROSE
    assert f"At least {likeness.INHERIT:.0%} alike".replace("%", " %") in PROSE


def test_the_signs_are_read_as_the_page_says() -> None:
    told = "A reply that is long enough to be told from any other."
    chat = [{"role": "system", "content": "card"}, {"role": "user", "content": "Hello."}]
    chat.append({"role": "assistant", "content": told})
    behind = {sign: row[1] for row in PAGE.rows if len(row) == 2 for sign in re.findall(r"`(\[[^`]*\])`", row[0])}
    assert len(behind) >= 6
    for sign, read_as in behind.items():
        words = {"role": "user", "content": sign.replace("…", "something").replace("NAME", "Mina")}
        kind = classify(read_transcript([*chat, words]))
        assert kind is READ_AS[read_as.partition(":")[0]], sign
    alone = [row[0] for row in PAGE.rows if len(row) == 2 and row[1] == "aside" and "words are a task" in row[0]]
    alone += [row[0] for row in PAGE.rows if len(row) == 2 and row[0].startswith("One single message")]
    tasks = [sign for cell in alone for sign in re.findall(r"`([^`]*)`", cell)]
    assert len(alone) == 2 and len(tasks) >= 6
    for task in tasks:
        assert classify(read_transcript([{"role": "user", "content": task}])) is TurnKind.SIDE, task


def test_an_instruction_is_told_from_the_words_before_it() -> None:
    assert split_note("I go on.\n\n[Continue the last response]") == ("I go on.", "[Continue the last response]")
    assert split_note("I say: continue the last response") == ("I say: continue the last response", "")
    assert split_note("Yes.\n\n[지금까지의 일을 요약해 줘]") == ("Yes.", "[지금까지의 일을 요약해 줘]")
    assert stops_the_story("Keep it short.\n[Pause your roleplay. Describe the room.]")
    assert not stops_the_story("[Continue the last response]")

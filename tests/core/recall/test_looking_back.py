"""Whether words look back: questions, and words of remembering, in both languages."""

from __future__ import annotations

import pytest

from saga_core.recall.questions import looks_back


@pytest.mark.parametrize(
    "words",
    [
        "Where is the key?",
        "where is the key",
        "WHO took it",
        "I remember the old mill.",
        "Once there was a bridge here.",
        "Would Mara like it",
        "And did they come back.",
        "He nods. Do you still have it",
        "Tell me of the war.",
        "What day was it when we met",
        "I fell asleep before her shift began.",
        "우리 몇 시에 만났지?",
        "I ask where the will is.",
        "I ask what she said before.",
        "We spoke before he left.",
        "Please describe the gate.",
        "Name the kings of the north",
        "We met here last summer.",
        "어디로 갔지？",
        "누가 열쇠를 가져갔는지 묻는다.",
        "그때 일이 떠오른다.",
        "예전에 여기 다리가 있었다.",
        "밥은 먹었니",
        "이름을 알려줘.",
        "다시 말해 주게.",
        "그게 정말인가요.",
    ],
)
def test_words_that_ask_or_remember(words: str) -> None:
    assert looks_back(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "I draw my sword and run.",
        "Do not move!",
        "I tell the truth.",
        "Is not enough.",
        "I pull Teo away before he can ask.",
        "I ask him what he will do tomorrow.",
        "I ask the clerk the time, and what day it is.",
        "What time is it?",
        "I lay the ticket before me.",
        "She kneels before her.",
        "지금 몇 시예요?",
        "오늘이 무슨 요일이냐고 묻는다.",
        "今何時ですか？",
        "现在几点了？",
        "칼을 뽑아 든다.",
        "숲으로 걸어 들어간다.",
        "문을 닫는다.",
        "아니까 괜찮아.",
    ],
)
def test_words_of_action(words: str) -> None:
    assert not looks_back(words)

"""Every pattern of a language compiles. Nothing else is imported: much of SAGA compiles patterns when it is."""

from __future__ import annotations

import re

import pytest

from saga_core.language import DEFAULT, Language, every, language_of
from saga_core.language.language import WORDS

TAGS = pytest.mark.parametrize("language", every(), ids=lambda each: each.tag)


def wrong(language: Language) -> list[str]:
    """The rows of ``words.toml`` that hold what is no pattern, and why."""
    found = []
    for name in WORDS:
        table = getattr(language, name)
        for row, kind in type(table).__annotations__.items():
            value = getattr(table, row)
            for pattern in (value,) if kind == "Pattern" else value if kind == "Phrases" else ():
                try:
                    re.compile(pattern)
                except re.error as error:
                    found.append(f"{language.tag}/words.toml: [{name}]: {row}: {error}")
    return found


@TAGS
def test_the_rows_are_patterns(language: Language) -> None:
    assert wrong(language) == []
    assert {"year", "rest"} <= re.compile(language.past.dated).groupindex.keys(), "[past]: dated lacks a group"


def test_a_row_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    english = language_of(DEFAULT)
    monkeypatch.setattr(english, "past", english.past.with_rows(asking="("))
    assert wrong(english) == ["en/words.toml: [past]: asking: missing ), unterminated subpattern at position 0"]


@TAGS
def test_the_patterns_with_names_can_be_made(language: Language) -> None:
    story = language.story
    for made in (
        story.acting("A|B", True),
        story.acting("A|B", False),
        story.dying("A|B"),
        story.staying("A|B", "C"),
        story.saying("A|B"),
        story.you_fighting("A|B"),
        story.learning("A|B"),
        story.being_beast("A|B"),
        story.parted("A|B", own=True),
    ):
        re.compile(made)
        assert not re.search("NAMED|VERBS|WHERE|BEASTS", made)

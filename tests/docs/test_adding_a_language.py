"""docs/contribute.md on languages and sections: it names what there is, and what it shows works."""

from __future__ import annotations

import re
from pathlib import Path

from saga_core.config import Config, TokenBudget
from saga_core.context import Section
from saga_core.context.reader import own_sources
from saga_core.language import every, known, language_of
from saga_core.language.language import TEXTS, WORDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/contribute.md").read_text(encoding="utf-8")


def test_the_files_of_a_language_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (.+?) \|", TEXT, re.M)
    assert [name for name, _ in rows] == ["texts.toml", "words.toml", "grammar.py"]
    sections = [re.findall(r"`\[(\w+)\]`", told) for _, told in rows]
    assert sections == [list(TEXTS), list(WORDS), []]
    for tag, (name, _) in ((tag, row) for tag in known() for row in rows):
        assert (ROOT / "saga_core/language" / tag / name).exists()


def test_a_section_is_one_line() -> None:
    """The line that is shown, in an enum of its own: an enum with members cannot be extended."""
    (shown,) = re.findall(r"^    EVENTS = (.+)\n    WEATHER = (.+)$", TEXT, re.M)
    assert f"EVENTS = {shown[0]}\n" in (ROOT / "saga_core/context/model.py").read_text(encoding="utf-8")
    name, heading, ceiling = eval(shown[1])
    weather = str.__new__(Section, name)
    weather.heading, weather.ceiling = heading, ceiling
    assert weather.ceiling(TokenBudget()) == 80
    for language in every():
        assert weather.headed(language.labels) == "[Weather]"
    assert weather.headed(language_of("ko").labels.with_rows(sections={"weather": "[날씨]"})) == "[날씨]"


def test_sources_of_others_are_told_the_sections_and_the_own_sources() -> None:
    embed = " ".join((ROOT / "docs/embed.md").read_text(encoding="utf-8").split())
    sections = re.findall(r"`(\w+)`", embed.partition("- a section: ")[2].partition(" - ")[0])
    assert sections == [section.name for section in Section]
    sources = re.findall(r"`(\w+)`", embed.partition("SAGA's own sources: ")[2].partition(".")[0])
    assert sources == [source.name for source in own_sources(Config())]


def test_every_section_has_a_heading_and_a_ceiling() -> None:
    headings = [section.headed(language_of("en").labels) for section in Section]
    assert len(set(headings)) == len(headings)
    for section in Section:
        assert section.ceiling(TokenBudget()) > 0
        assert {section.headed(each.labels)[0] for each in every()} == {"["}

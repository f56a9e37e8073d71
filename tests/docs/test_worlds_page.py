"""docs/worlds.md: its worlds parse without a warning, and its tables are the format's own."""

from __future__ import annotations

import re

import pytest

from saga_core.config.model import LorebookConfig
from saga_core.recall import lorebook
from saga_core.world import World, parse_world
from saga_core.world.format import CHARACTER_FIELDS, FLAG_WORDS, FRONT_FIELDS, LORE_FIELDS, TYPE_WORDS, FieldSpec
from tests.docs.pages import ROOT, page

WORLDS = page("docs/worlds.md")
PROSE = " ".join(WORLDS.text.split())
FILE = re.compile(r"<!-- file: (?P<world>\w+)/(?P<file>\w+\.md) -->")


def examples() -> dict[str, dict[str, str]]:
    """World name to its files, as the page shows them."""
    found: dict[str, dict[str, str]] = {}
    for block in WORLDS.blocks:
        for mark in block.marks:
            named = FILE.fullmatch(mark)
            if named:
                found.setdefault(named["world"], {})[named["file"]] = block.text
    return found


def world(name: str) -> World:
    made, warnings = parse_world(examples()[name], name)
    assert warnings == ()
    return made


def test_the_english_example_says_what_the_page_says() -> None:
    mill = world("mill")
    assert (mill.title, mill.language, mill.match) == (
        "The Mill at Low Weir",
        "en",
        ("Low Weir", "The Mill at Low Weir"),
    )
    assert mill.player is not None
    assert (mill.player.name, mill.player.hp, mill.player.max_hp) == ("Iris Vane", 80, 100)
    assert [(stack.name, stack.quantity, stack.equipped) for stack in mill.player.items] == [
        ("brass lantern", 1, True),
        ("candle", 3, False),
        ("letter of credit", 1, False),
    ]
    assert [(each.to, each.type, each.strength) for each in mill.player.relations] == [("Tam Orrel", "distrusts", -1)]
    debt = mill.entry("the miller's debt")
    assert debt is not None
    assert (debt.secret, debt.known_by, debt.layer) == (True, ("Tam Orrel",), "A4")


def test_the_korean_example_says_what_the_page_says() -> None:
    mul = world("mul")
    assert mul.language == "ko"
    assert mul.player is not None
    assert (mul.player.name, mul.player.hp, mul.player.location) == ("이든", 80, "물레방앗간 마당")
    assert mul.player.items[0].equipped
    yard, water = mul.lore
    assert (yard.type, yard.constant) == ("location", True)
    assert (water.type, water.secret, water.known_by) == ("event", True, ("탐",))


@pytest.mark.parametrize(
    ("heading", "specs"),
    [("WORLD.md", FRONT_FIELDS), ("CHARACTERS.md", CHARACTER_FIELDS), ("LOREBOOK.md", LORE_FIELDS)],
)
def test_each_table_has_every_key_in_both_languages(heading: str, specs: tuple[FieldSpec, ...]) -> None:
    section = WORLDS.prose.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n") if line[:3] == "| `"]
    listed = {tuple(re.findall(r"`([^`]+)`", row[0])): tuple(re.findall(r"`([^`]+)`", row[1])) for row in rows}
    assert listed == {spec.keys("en"): spec.keys("ko") for spec in specs}


def test_the_words_of_types_and_flags_are_complete() -> None:
    for word in (*TYPE_WORDS, *FLAG_WORDS):
        assert f"`{word}`" in PROSE


def test_the_worth_of_lore_is_that_of_the_code() -> None:
    worth = [row[1] for row in WORLDS.rows if len(row) == 2][2:]
    assert worth == [
        f"+{lorebook.LOCATION}",
        f"+{lorebook.LOCATION_WORD}",
        f"+{lorebook.NEARBY}",
        f"+{lorebook.GRAPH[1]}; +{lorebook.GRAPH[2]}",
        f"+{lorebook.MENTION}",
        f"up to +{lorebook.SIMILARITY:g}",
        ", ".join(f"+{each}" if each else "0" for each in lorebook.LAYERS.values()),
    ]
    assert f"the {lorebook.SIMILAR} entries nearest" in PROSE
    decay = LorebookConfig().decay
    assert f"more than {decay['A3']} turns stays out, one of A4 after {decay['A4']}" in PROSE


def test_the_worlds_that_come_with_saga_are_named() -> None:
    for folder in (ROOT / "worlds").iterdir():
        assert f"`{folder.name}`" in PROSE


def test_what_is_said_to_be_kept_out_of_the_prompt_is_read_by_no_prompt() -> None:
    # The day one of these is put into a prompt, the page has to say so.
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for package in ("saga_core", "saga_server")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name not in ("world", "demo", "imports")  # what reads and writes files of worlds
    )
    for use in (r"world\.greeting", r"sheet\.body", r"sheet\.extra"):
        assert re.search(use, code) is None, use

"""Keys of lore books as people write them: they match, or the entry and the key are named. With RE2, and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from saga_core.imports import Lorebook, Losses, read_file, world_of
from saga_core.recall import AuthoredLore
from saga_core.world import LoreEntry, LoreRule, key_patterns, pattern_search, why_unread
from tests.core.imports import samples


@pytest.fixture(params=["re2", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "python":
        monkeypatch.setattr(key_patterns, "_re2", lambda: None)
    pattern_search.cache_clear()
    yield request.param
    pattern_search.cache_clear()


@pytest.mark.parametrize(
    ("key", "hit", "miss"),
    [
        ("/дракон/i", "ДРАКОН летит", "дракен"),
        ("/[а-яё]рак/i", "ДРАК", "tрак"),
        ("/Δράκων/i", "δράκων", "δρακων"),
        ("/ärger/i", "ÄRGER", "arger"),
        (r"/\u0434ом/i", "ДОМ", "том"),
        (r"/\bcat\b/i", "검Cat은", "concat"),
        (r"/(?<!\w)cat(?!\w)/i", "the CAT.", "cats"),
        ("/dog(?=house)/", "the doghouse", "the dog house"),
        ("/(?<=old )mill/", "the old mill", "the new mill"),
        ("/검(?!사)/", "검을 든다", "검사"),
        ("/(?:red|blue) door/", "a blue door", "a green door"),
        (r"/[\wа-я]-7/i", "Ж-7", "!-7"),
        (r"/room \d\d/", "room 12", "room ١٢"),
        (r"/[\W]key/", " key", "monkey"),
        (r"/lamp[^]pump/", "lamp\npump", "lamppump"),
        (r"/[\u{1F300}-\u{1FAFF}]x/u", "🔥x", "x"),
    ],
)
def test_a_pattern_matches_as_in_the_tools_that_it_comes_from(engine: str, key: str, hit: str, miss: str) -> None:
    search = pattern_search(key)
    assert search is not None
    assert (search(hit), search(miss)) == (True, False)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (r"/\p{Emoji}+/u", r"\p{Emoji}, which only JavaScript knows"),
        (r"/(?<!\p{L})elf+/", "bounded time"),
        (f"/{'a' * 1_001}/", "more than 1,000 characters"),
    ],
)
def test_a_pattern_that_opens_nothing_says_why(key: str, words: str) -> None:
    assert pattern_search(key) is None
    assert words in why_unread(key)


SILENT = "/(?=.*sea)(?=.*storm)/"


def test_an_entry_that_stays_silent_is_named(engine: str) -> None:
    entries = [
        LoreEntry(name, "concept", "A2", text="x", rule=LoreRule(mode="keep", keys=keys))
        for name, keys in (("Storm", (SILENT, "gale")), ("Sea", ("sea",)))
    ]
    assert AuthoredLore(entries).unread == ("Storm",)
    entry = {"keys": [SILENT], "content": "It storms.", "enabled": True, "use_regex": True, "extensions": {}}
    book = {"name": "Coast", "entries": [entry], "extensions": {}}
    (one,) = read_file("coast.json", samples.plain({"spec": "lorebook_v3", "data": book})).found
    assert isinstance(one.record, Lorebook)
    losses = Losses()
    world_of(None, [one.record], "x", losses)
    assert any(SILENT in loss.why for loss in losses.listed())

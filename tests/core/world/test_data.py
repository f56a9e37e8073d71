"""The worlds that come with SAGA: whole, consistent, and large enough to play in."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core.language import nfc
from saga_core.world import EMPTY_WORLD, LAYERS, LORE_TYPES, World, WorldLibrary, parse_world, render_world

WORLDS = Path(__file__).resolve().parents[3] / "worlds"
NAMES = ("ersia", "harrow")


@pytest.fixture(scope="module")
def library() -> WorldLibrary:
    return WorldLibrary([WORLDS])


@pytest.fixture(params=NAMES)
def world(library: WorldLibrary, request: pytest.FixtureRequest) -> World:
    return library.get(str(request.param))


def test_these_are_the_worlds(library: WorldLibrary) -> None:
    assert library.names() == sorted(NAMES)
    assert library.broken() == {}
    assert library.get("my_world") is library.get("ersia")
    assert [library.get(name).language for name in NAMES] == ["ko", "en"]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_nothing_to_warn_of(library: WorldLibrary, name: str) -> None:
    assert library.warnings(name) == ()


def test_there_is_enough_to_play_with(world: World) -> None:
    assert len(world.characters) >= 8
    assert len(world.lore) >= 30
    assert {entry.layer for entry in world.lore} == set(LAYERS)
    assert {entry.type for entry in world.lore} >= set(LORE_TYPES) - {"character"}
    assert all(entry.text and len(entry.text) <= 500 for entry in world.lore)
    assert any(entry.constant for entry in world.lore)
    assert len(world.description) >= 500
    assert world.greeting
    assert world.start_events
    assert world.match


def test_the_player_can_start(world: World) -> None:
    player = world.player
    assert player is not None
    assert (player.hp, player.max_hp) == (100, 100)
    assert player.items
    assert player.location is not None


def test_everybody_is_somebody(world: World) -> None:
    for sheet in world.characters:
        assert sheet.location
        assert sheet.traits
        assert sheet.items
        assert sheet.relations
        assert len(sheet.body) >= 60, sheet.name
    assert sum(bool(sheet.aliases) for sheet in world.characters) >= 8
    bodies = [sheet.body for sheet in world.characters]
    assert len(set(bodies)) == len(bodies)


def test_every_reference_gives_the_name_and_not_an_alias(world: World) -> None:
    """So that no reader of the files needs to resolve anything."""
    sheets = {sheet.name for sheet in world.characters}
    entries = {entry.name for entry in world.lore}
    places = {entry.name for entry in world.lore if entry.type == "location"}
    things = {entry.name for entry in world.lore if entry.type == "item"}
    for sheet in world.characters:
        assert sheet.location in places, sheet.name
        assert {relation.to for relation in sheet.relations} <= sheets - {sheet.name}, sheet.name
    for entry in world.lore:
        assert set(entry.neighbours) <= places - {entry.name}, entry.name
        assert set(entry.places) <= places, entry.name
        assert set(entry.related) <= entries - {entry.name}, entry.name
        assert set(entry.items) <= things, entry.name
        assert set(entry.known_by) <= sheets, entry.name


def test_no_name_means_two_things(world: World) -> None:
    taken = [name for sheet in world.characters for name in (sheet.name, *sheet.aliases)]
    taken += [name for entry in world.lore for name in (entry.name, *entry.aliases)]
    folded = [name.casefold().replace(" ", "") for name in taken]
    assert len(set(folded)) == len(folded)


def test_every_way_leads_back_and_every_place_can_be_reached(world: World) -> None:
    places = {entry.name: set(entry.neighbours) for entry in world.lore if entry.type == "location"}
    for place, neighbours in places.items():
        assert all(place in places[neighbour] for neighbour in neighbours), place
    assert world.player is not None
    assert world.player.location is not None
    reached, frontier = set[str](), {world.player.location}
    while frontier:
        reached |= frontier
        frontier = {neighbour for place in frontier for neighbour in places[place]} - reached
    assert reached == set(places)


def test_secrets_are_deep_and_somebody_keeps_them(world: World) -> None:
    secrets = [entry for entry in world.lore if entry.secret]
    assert len(secrets) >= 6
    for entry in secrets:
        assert entry.layer == "A4", entry.name
        assert entry.known_by, entry.name
    assert world.player is not None
    assert all(world.player.name not in entry.known_by for entry in secrets)


def test_the_files_are_nfc_and_survive_a_rewrite(world: World) -> None:
    for file in (WORLDS / world.name).iterdir():
        text = file.read_text(encoding="utf-8")
        assert text == nfc(text)
        assert "\r" not in text
    assert parse_world(render_world(world), world.name) == (world, ())


# The research note, §8 and §4.
LAYERS_OF_THE_NOTE = {
    "어둠의 숲": "A1",
    "고대 열쇠": "A1",
    "대붕괴": "A1",
    "마을 광장": "A2",
    "불꽃 검": "A2",
    "은빛 성채": "A3",
    "숲의 결사": "A3",
    "치유 물약": "A3",
    "에르겐의 비밀": "A4",
    "고블린왕의 목적": "A4",
}


def test_ersia_is_the_world_of_the_research_note(library: WorldLibrary) -> None:
    ersia = library.get("ersia")
    layers = {entry.name: entry.layer for entry in ersia.lore}
    assert {name: layers[name] for name in LAYERS_OF_THE_NOTE} == LAYERS_OF_THE_NOTE
    woods, collapse = ersia.entry("어둠의 숲"), ersia.entry("대붕괴")
    assert woods is not None
    assert collapse is not None
    assert "마을 광장" in woods.neighbours
    assert "숲" in woods.tags
    assert "어둠의 숲" in collapse.places
    king, healer = ersia.character("크룩"), ersia.character("에르겐")
    assert king is not None
    assert healer is not None
    assert (king.name, king.location) == ("고블린왕 크룩", "어둠의 숲")
    assert healer.location == "마을 광장"
    assert ersia.player is ersia.character("아리아")
    carried = {stack.name for sheet in ersia.characters for stack in sheet.items}
    assert "치유 물약" in carried
    assert not carried & {"불꽃 검", "고대 열쇠"}  # they are to be found


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("너는 에르시아에서 벌어지는 이야기의 서술자다.", "ersia"),
        ("You narrate a story set in Ersia.", "ersia"),
        ("You narrate life in Harrow Staithe.", "harrow"),
        ("She keeps the gate of Harrowmere; a harrowing job.", "empty"),
    ],
)
def test_a_system_prompt_chooses_its_world(library: WorldLibrary, prompt: str, name: str) -> None:
    assert library.choose(None, prompt, None).name == name
    assert EMPTY_WORLD.name == "empty"

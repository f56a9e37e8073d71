"""What a request asks: its world, looked for when somebody needs it, and the time that each step took."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.errors import NotFound
from saga_core.play.places import WorldChoice
from saga_core.play.play import Lap
from saga_core.transcript import read_transcript
from saga_core.world import EMPTY_WORLD, World, WorldLibrary


class Shelf(WorldLibrary):
    """Counts how often a world is looked for."""

    def __init__(self, *worlds: World) -> None:
        super().__init__(())
        self.worlds = {world.name: world for world in worlds}
        self.looked = 0

    def choose(self, explicit: str | None, system_text: str, default: str | None) -> World:
        self.looked += 1
        name = explicit or default or ""
        if name and name not in self.worlds:
            raise NotFound(name)
        return self.worlds.get(name, EMPTY_WORLD)


def choice(shelf: Shelf, words: str, system: str = "", **fields: Any) -> WorldChoice:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": words}]
    return WorldChoice(shelf, fields.get("explicit"), read_transcript(messages), fields.get("default"))


async def test_a_world_is_looked_for_when_it_is_asked_for_and_once() -> None:
    shelf = Shelf(World("ersia", "에르시아"))
    asked = choice(shelf, "가자", default="ersia")
    assert shelf.looked == 0
    assert await asked.get() is await asked.get() is shelf.worlds["ersia"]
    assert shelf.looked == 1


async def test_an_unknown_explicit_world_is_an_error_each_time() -> None:
    asked = choice(Shelf(), "go", explicit="nowhere")
    for _ in range(2):
        with pytest.raises(NotFound):
            await asked.get()


@pytest.mark.parametrize(
    ("words", "system", "language"),
    [
        ("숲으로 간다.", "", "ko"),
        ("I go on.", "", "en"),
        ("…", "너는 이야기꾼이다.", "ko"),
        ("…", "You tell it.", "en"),
    ],
)
async def test_an_empty_world_speaks_the_language_of_the_chat(words: str, system: str, language: str) -> None:
    assert (await choice(Shelf(), words, system).get()).language == language


async def test_a_written_world_keeps_its_language() -> None:
    asked = choice(Shelf(World("ersia", "에르시아", language="ko")), "I go on.", default="ersia")
    assert (await asked.get()).language == "ko"


async def test_the_last_messages_tell_the_language_where_it_changed() -> None:
    messages = [{"role": "user", "content": "A long story in another language, told long ago."}] * 20
    messages += [{"role": "user", "content": "숲으로 간다."}] * 8
    assert (await WorldChoice(Shelf(), None, read_transcript(messages), None).get()).language == "ko"


class Steps:
    """A clock whose every question takes a second."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        self.at += 1.0
        return self.at


def test_each_step_takes_the_time_since_the_one_before_and_the_total_all_of_it() -> None:
    clock = Steps()
    lap = Lap(clock)
    lap("match")
    clock.at += 2
    lap("state")
    lap.total()
    assert lap.timings == {"match": 1_000.0, "state": 3_000.0, "total": 5_000.0}


def test_what_is_done_once_more_counts_from_the_beginning() -> None:
    lap = Lap(Steps())
    lap("match")
    lap.again()
    lap("match")
    assert lap.timings == {"match": 2_000.0}

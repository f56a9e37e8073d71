"""Stories in which somebody does not see a thing being moved (OpenToM): each of two is told where she last saw it.

Each sentence of a story's plot is a turn whose report says who is there, and in one of three ways where the thing is:
in a tracker, in the notes, or in the prose alone. Twenty turns about the weather follow, which the frontend shows
instead of the story, and both are asked in a group chat. The whole prompt is read, not only what SAGA adds to it.

The data lies beside the project and is not part of it. ``python -m tests.core.play.test_beliefs`` prints the figures.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from saga_core import Saga
from saga_core.play.pending_turn import PendingTurn
from saga_core.trackers import Tracker, tracker_in_line
from tests.core.frontend import memory_config

DATA = next(
    (each / "shared/data/opentom" for each in Path(__file__).parents if (each / "shared/data/opentom").is_dir()), None
)
WAYS = ("tracker", "notes", "prose")
FILLERS, SHOWN = 20, 6
SOON = 15
"""Stories that are played in each test run; all of them in a deep one."""


@define
class Telling:
    """One story, told in a chat of its own."""

    saga: Saga
    name: str
    thing: str
    way: str
    history: list[dict[str, Any]] = field(factory=list)

    @property
    def trackers(self) -> tuple[Tracker, ...]:
        return (tracker_in_line(f"{self.thing} | kind=text"),) if self.way == "tracker" else ()

    async def begin(self, words: str, nudge: str = "") -> PendingTurn:
        messages = [{"role": "system", "content": f"Tell it. {self.name}"}, *self.history]
        messages.append({"role": "user", "content": words})
        messages += [{"role": "system", "content": nudge}] if nudge else []
        return await self.saga.begin(messages, trackers=self.trackers, owner=self.name)

    async def tell(self, words: str, reply: str, present: list[str], place: str = "") -> None:
        turn = await self.begin(words)
        report = [f"present: [{', '.join(present)}]"]
        if place and self.way != "prose":
            report.append(
                f"{self.thing}: {place}" if self.way == "tracker" else f"notes: the {self.thing} is in {place}"
            )
        choice = turn.replies[0]
        shown = choice.feed(reply + "\n\n```state\n" + "\n".join(report) + "\n```") + choice.finish()
        await turn.commit()
        self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]


def company(line: str, present: list[str], two: tuple[str, str], room: str) -> tuple[list[str], str]:
    """Who is in the room of the thing after a sentence of a plot, and which room that is."""
    here = [each.partition(" (")[0] for each in present]
    for who in two:
        for verb in (" entered the ", " is in the "):
            if line.startswith(who + verb):
                place = line.removeprefix(who + verb).rstrip(".")
                room = room or place
                if place == room:
                    here = [*dict.fromkeys((*here, who))]
        if line.startswith(f"{who} exited"):
            here = [each for each in here if each != who]
    if "noticed" in line:
        here = [*dict.fromkeys((*here, *(who for who in two if who in line)))]
    return here, room


def report_of_the_move(here: list[str], two: tuple[str, str], seen: bool) -> list[str]:
    """The company as a report lists it when the thing is moved. Who is there and does not see it gets a remark."""
    mover, observer = two
    if seen:
        return [mover, observer]
    return [mover, *([f"{observer} (not watching)"] if observer in here else [])]


def believed_and_other(plot: Mapping[str, str], who: str, questions: list[dict[str, str]]) -> tuple[str, str]:
    """The place at which somebody believes the thing to be, and the other one."""
    places = plot["move_to_place"].strip(" ."), plot["original_place"]
    (stays,) = (each["answer"] == "Yes" for each in questions if each["question"].startswith(f"From {who}'s"))
    return (places[1], places[0]) if stays else places


def faults(prompt: str, way: str, thing: str, right: str, other: str, sees: bool) -> list[str]:
    """What is wrong with a prompt. Whoever saw the move may read of the first place, but not after the second."""
    lines = [line for line in prompt.split("\n") if thing in line]
    found = [] if any(right in line for line in lines) else ["missing"]
    if not sees and any(other in line for line in lines):
        found.append("leak")
    if sees and way == "tracker" and any(f"{thing}: {other}" in line for line in lines):
        found.append("stale")
    if sees and lines and right not in lines[-1] and other in lines[-1]:
        found.append("stale order")
    return found


async def asked(
    saga: Saga, name: str, story: Mapping[str, Any], questions: list[dict[str, str]], way: str
) -> list[str]:
    """Play a story, ask both, and return the faults of each prompt, joined."""
    plot = story["plot_info"]
    two = plot["mover"], plot["observer"]
    telling, here, room = Telling(saga, name, plot["eoi"], way), list[str](), ""
    for number, line in enumerate(story["plot"].split("\n")):
        here, room = company(line, here, two, room)
        moved = " moved " in line
        present = report_of_the_move(here, two, story["observed"]) if moved else here
        place = plot["move_to_place"] if moved else plot["original_place"] if "noticed" in line else ""
        await telling.tell(f"And then? ({number})", line, present, place)
    for day in range(FILLERS):
        await telling.tell(f"They talk of the weather, day {day}.", f"It rains on day {day}.", list(two))
    del telling.history[:-SHOWN]
    results = []
    for who in two:
        turn = await telling.begin(f"{who}, where is the {plot['eoi']}?", f"[Write the next reply only as {who}.]")
        text = "\n".join(f"{each.lead}\n{each.content}" for each in turn.plan.blocks)
        right, other = believed_and_other(plot, who, questions)
        wrong = faults(text, way, plot["eoi"], right, other, other == plot["original_place"])
        results.append(" ".join([*wrong, who]) if wrong else "")
    return results


async def played(way: str, most: int | None = None) -> dict[str, str]:
    """Name of a story and number of the one who is asked -> what is wrong with the prompt; "" if nothing is."""
    assert DATA is not None
    stories = json.loads((DATA / "meta_data.json").read_text(encoding="utf-8"))
    believed = dict(json.loads((DATA / "location_cg_fo.json").read_text(encoding="utf-8")))
    results = {}
    async with Saga.open(memory_config(default_world=None)) as saga:
        for name, story in list(stories.items())[:most]:
            for number, wrong in enumerate(await asked(saga, name, story, believed[name], way)):
                results[f"{name}:{number}"] = wrong
    return results


def right_stories(results: Mapping[str, str]) -> tuple[int, int]:
    """In how many stories both are told what they believe, and how many there are."""
    stories = {name.partition(":")[0] for name in results}
    return sum(not results[f"{name}:0"] and not results[f"{name}:1"] for name in stories), len(stories)


@pytest.mark.skipif(DATA is None, reason="the stories of OpenToM are not beside the project")
@pytest.mark.parametrize(
    ("way", "most"), [("tracker", SOON), *(pytest.param(way, None, marks=pytest.mark.deep) for way in WAYS)]
)
async def test_each_is_told_the_place_that_she_believes(way: str, most: int | None) -> None:
    results = await played(way, most)
    right, stories = right_stories(results)
    assert stories == (most or 298)
    assert right >= 0.95 * stories, {name: wrong for name, wrong in results.items() if wrong}


def main() -> None:
    """Print for each way of reporting in how many stories both are told what they believe."""
    for way in WAYS:
        results = asyncio.run(played(way))
        right, stories = right_stories(results)
        kinds = Counter(wrong.rpartition(" ")[0] for wrong in results.values() if wrong)
        print(f"{way:8} {right} of {stories} stories, {dict(kinds)}")
        print(*(f"  {name} {wrong}" for name, wrong in results.items() if wrong), sep="\n")


if __name__ == "__main__":
    main()

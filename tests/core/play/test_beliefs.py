"""Stories in which somebody does not see a thing being moved (OpenToM): each of two is told where she last saw it.

Each sentence of a story's plot is a turn whose report says who is there, and where the thing is. Then both are asked,
in a group chat. The data lies beside the project and is not part of it.
"""

from __future__ import annotations

import json
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


@define
class Telling:
    """One story, told in a chat of its own."""

    saga: Saga
    name: str
    thing: str
    history: list[dict[str, Any]] = field(factory=list)

    @property
    def trackers(self) -> tuple[Tracker, ...]:
        return (tracker_in_line(f"{self.thing} | kind=text"),)

    async def begin(self, words: str, nudge: str = "") -> PendingTurn:
        messages = [{"role": "system", "content": f"Tell it. {self.name}"}, *self.history]
        messages.append({"role": "user", "content": words})
        messages += [{"role": "system", "content": nudge}] if nudge else []
        return await self.saga.begin(messages, trackers=self.trackers, owner=self.name)

    async def tell(self, words: str, reply: str, present: list[str], place: str = "") -> None:
        turn = await self.begin(words)
        report = [f"present: [{', '.join(present)}]", *([f"{self.thing}: {place}"] if place else [])]
        choice = turn.replies[0]
        shown = choice.feed(reply + "\n\n```state\n" + "\n".join(report) + "\n```") + choice.finish()
        await turn.commit()
        self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]


def company(line: str, present: list[str], two: tuple[str, str], room: str) -> tuple[list[str], str]:
    """Who is in the room of the thing after a sentence of a plot, and which room that is."""
    for who in two:
        for verb in (" entered the ", " is in the "):
            if line.startswith(who + verb):
                place = line.removeprefix(who + verb).rstrip(".")
                room = room or place
                if place == room:
                    present = [*dict.fromkeys((*present, who))]
        if line.startswith(f"{who} exited"):
            present = [each for each in present if each != who]
    if "noticed" in line:
        present = [*dict.fromkeys((*present, *(who for who in two if who in line)))]
    if " moved " in line:
        seen = "not witness" not in line
        present = [two[0], *([two[1]] if seen else [])]
    return present, room


@pytest.mark.skipif(DATA is None, reason="the stories of OpenToM are not beside the project")
async def test_each_is_told_the_place_that_she_believes() -> None:
    assert DATA is not None
    stories = json.loads((DATA / "meta_data.json").read_text(encoding="utf-8"))
    believed = dict(json.loads((DATA / "location_cg_fo.json").read_text(encoding="utf-8")))
    asked, wrong = 0, []
    async with Saga.open(memory_config(default_world=None)) as saga:
        for name, story in stories.items():
            plot = story["plot_info"]
            two = plot["mover"], plot["observer"]
            telling, present, room = Telling(saga, name, plot["eoi"]), list[str](), ""
            for number, line in enumerate(story["plot"].split("\n")):
                present, room = company(line, present, two, room)
                place = (
                    plot["move_to_place"] if " moved " in line else plot["original_place"] if "noticed" in line else ""
                )
                await telling.tell(f"And then? ({number})", line, present, place)
            await telling.tell("They meet again.", "They are together.", list(two))
            for who in two:
                question = f"{who}, where is the {plot['eoi']}?"
                turn = await telling.begin(question, f"[Write the next reply only as {who}.]")
                answers = [each["answer"] for each in believed[name] if each["question"].startswith(f"From {who}'s")]
                places = [plot["move_to_place"], plot["original_place"]]
                right, other = reversed(places) if answers[0] == "Yes" else places
                asked += 1
                told = turn.context.text
                if f"{plot['eoi']}: {right}" not in told or f"{plot['eoi']}: {other}" in told:
                    wrong.append((name, who, right))
    assert asked == 2 * len(stories)
    assert len(wrong) <= 0.05 * asked, wrong

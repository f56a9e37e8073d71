"""Two sources of context in a package: the tide, and the ways that it floods. Run it to play a turn offline.

A package names them in its pyproject.toml:

    [project.entry-points."saga.backends"]
    "context.tides" = "tides:TIDES"
    "context.causeways" = "tides:CAUSEWAYS"

and a configuration switches them on:

    recall:
      sources:
        tides: {period: 4}
        causeways:
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import frozen

from saga_core import Backend, OpenOptions
from saga_core.config import Config
from saga_core.context import ContextReader, Given, Piece, ReadRequest, Scene, Section
from saga_core.model import Entity, Kind, Placement, WorldState
from saga_core.recall import LoreIndex
from saga_core.world import World


@frozen
class Tides:
    """High water and low water, by the turns that were played."""

    period: int
    """Turns from one low water to the next."""
    name: str = "tides"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given) -> Sequence[Piece]:
        """One line. ``why`` explains the score in ``saga explain``."""
        high = scene.state.depth % self.period >= self.period / 2
        text = "The tide is high." if high else "The tide is low."
        return [Piece(self.name, "tide", Section.EVENTS, text, 3.0, why={"tide": 3.0})]


@frozen
class Causeways:
    """What the tide means for the ways out of the player's place. It is asked once the tide is known."""

    name: str = "causeways"
    needs: tuple[str, ...] = ("tides",)

    async def gather(self, scene: Scene, given: Given) -> Sequence[Piece]:
        """A line when a causeway is under water; nothing when the tide is not known."""
        if "tides" in given.missing or not any("high" in piece.text for piece in given.pieces["tides"]):
            return []
        here = scene.state.entities.get(scene.state.location or "")
        if here is None or "causeway" not in here.name.casefold():
            return []
        return [Piece(self.name, "causeway", Section.RELATED, f"{here.name}: under water, no way across", 5.0)]


async def _tides(options: OpenOptions) -> Tides:
    return Tides(options.take(period=6)["period"])  # an unknown option, or a text for the number, is refused


async def _causeways(options: OpenOptions) -> Causeways:
    options.take()
    return Causeways()


TIDES = Backend(kind="context", name="tides", open=_tides, summary="High and low water")
CAUSEWAYS = Backend(kind="context", name="causeways", open=_causeways, summary="Ways that the tide closes")


class Words:
    """A token for each word, for this example."""

    id = "words"

    def count(self, text: str) -> int:
        """The words of ``text``."""
        return len(text.split())


async def main() -> None:
    """Read both for one turn, as a server with both switched on would."""
    place = Entity("p1", Kind.LOCATION, "Gull Causeway")
    state = WorldState(
        turn="t3",
        depth=3,
        player="c1",
        entities={place.id: place},
        whereabouts={"c1": Placement(place.id, 0)},
    )
    sources = (await TIDES.open(OpenOptions(options={"period": 4})), await CAUSEWAYS.open(OpenOptions()))
    reader = ContextReader(sources, Words(), budget=Config().token_budget)
    request = ReadRequest(
        session="s", state=state, world=World("bay", "The Bay"), lore=LoreIndex(()), player_words="On!"
    )
    context = await reader.read(request)
    await reader.aclose()
    print(context.text)
    for piece in context.pieces:
        print(f"{piece.source}: {piece.key}, score {piece.score:g}, {piece.tokens} tokens")


if __name__ == "__main__":
    asyncio.run(main())

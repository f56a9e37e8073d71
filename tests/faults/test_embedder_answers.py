"""An embedder that answers, and answers wrongly: the player notices nothing but a word of notice."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence

import pytest

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core.jobs.background import STUCK
from saga_core.ports import Embedder, Mode
from saga_core.registry import OpenOptions
from tests.faults.test_stores import Player, caught_up, settle
from tests.server.client import Client

Vectors = list["array[float]"]

WRONG: dict[str, tuple[Callable[[Vectors], object], str]] = {
    "too short": (lambda made: [each[:-3] for each in made], "253 components"),
    "too long": (lambda made: [array("f", [*each, 1.0]) for each in made], "257 components"),
    "no numbers": (lambda made: [array("f", [math.nan] * len(each)) for each in made], "NaN"),
    "endless": (lambda made: [array("f", [-math.inf] * len(each)) for each in made], "infinity"),
    "one too few": (lambda made: made[:-1], "gave 1 vectors for 2 texts"),
    "one too many": (lambda made: [*made, *made], "gave 4 vectors for 2 texts"),
    "nothing": (lambda made: None, "gave a NoneType for"),
}


class Foreign(NgramEmbedder):
    """An embedder of somebody else, whose answers are checked."""


async def foreign(_options: OpenOptions) -> Embedder:
    return Foreign()


@pytest.mark.usefixtures("sees_meaning")
@pytest.mark.parametrize("kind", WRONG)
async def test_wrong_vectors(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    well, (harm, told) = NgramEmbedder.embed, WRONG[kind]
    config = {"session": {"default_world": "empty"}, "recall": {"embedder": f"{__name__}:foreign"}}
    async with Client.of(config, {}) as client:
        player = Player(client)
        await player.says("숲으로 간다.")
        await settle(client)

        async def embed(self: Foreign, texts: Sequence[str], mode: Mode) -> object:
            return harm(await well(self, texts, mode))

        with monkeypatch.context() as patch:
            patch.setattr(Foreign, "embed", embed)
            for number in range(2):
                await player.says(f"{number}. 귀를 기울인다.")
                await client.post("/api/drain")
            (waiting,) = (await client.get("/api/jobs")).json["jobs"]
            assert (waiting["kind"], told in waiting["reason"]) == ("embed", True), waiting
            for _ in range(STUCK):
                await client.post("/api/jobs/retry")
                await client.post("/api/drain")
            assert (await client.get("/api/jobs")).json["stuck"] == 1, "somebody should look"
            last = await player.says("더 귀를 기울인다.")
            assert told in last.headers["X-SAGA-Notice"]
            assert "found by their words" in (await client.get("/api/status")).json["degraded"]["embedder"]
        await caught_up(player)
        assert (await client.get("/api/status")).json["degraded"] == {}

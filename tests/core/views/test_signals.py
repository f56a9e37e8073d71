"""What stood behind the signals of a context: which words, which turn, which time."""

from __future__ import annotations

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config
from tests.core.views.test_untold import THINGS, played


async def test_the_words_and_the_time_that_brought_a_turn_are_named() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = await played(saga, "en")
        said = "What did I look for at the beginning? Was there a kettle, or the saddles?"
        await chat.say(said, "Nobody knows.")
        whole = await saga.views.explain("길")
        assert (whole["said"], whole["time"]["first"]) == (said, 1)
        turns = {row["turn"]: row for row in whole["pieces"] if row["source"] == "recollection"}
        assert "kettle" in turns[1]["words"] and "saddles" in turns[2]["words"]
        assert "kettle" not in turns[2]["words"] and "the" not in turns[1]["words"]
        assert all(bool(row["words"]) >= ("words" in row["why"]) for row in turns.values())
        tried = await saga.views.explain("길", text="I eat the violin.")
        assert (tried["said"], tried["time"]) == ("I eat the violin.", None)


async def test_the_turn_that_speaks_for_its_neighbour_is_named() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, session="길")
        for number, thing in enumerate(THINGS["en"]):
            await chat.say(f"Where is the {thing}?", f"Over there, number {number}.")
            chat.history = chat.history[-4:]
        await chat.say("Do you remember the compass, and the mirror?", "Yes.")
        rows = (await saga.views.explain("길"))["pieces"]
        beside = {row["turn"]: row["beside"] for row in rows if "beside" in row}
        assert beside and all(abs(turn - other) in (1, 2) for turn, other in beside.items())
        assert set(beside.values()) <= {1 + THINGS["en"].index(thing) for thing in ("compass", "mirror")}


async def test_korean_words_are_named_whatever_hangs_on_them() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = await played(saga, "ko")
        await chat.say("등대에는 뭐가 있었지? 안장이라는 말을 들었어.", "아무도 모른다.")
        rows = (await saga.views.explain("길"))["pieces"]
        (turn,) = [row for row in rows if row.get("turn") == 2]
        assert {"등대에는", "안장이라는"} <= set(turn["words"])
        (found, *_) = (await saga.views.why_untold("길", "등대에는 안장입니다"))["found"]
        assert (found["turn"], found["share"]) == (2, 1.0)

"""What the narrator reports and nothing declares: once it is counted, it is as it was reported last."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.config import load_config
from tests.core.frontend import MEMORY, Frontend


@pytest.mark.parametrize(
    ("key", "declaration", "values", "shown"),
    [
        ("weather", "weather | kind=text", ("clear", "clearing"), "clearing"),
        ("weather", "weather | kind=text | for=world", ("clear", "clearing"), "clearing"),
        ("weather", "weather | kind=text | start=fog", ("clear", "clearing"), "fog"),
        ("mana", "mana | kind=number", ("3", "5"), "5"),
        ("날씨", "날씨 | kind=text", ("맑음", "갬"), "갬"),
    ],
)
async def test_what_is_counted_from_now_on_stays_in_sight(
    key: str, declaration: str, values: tuple[str, str], shown: str
) -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="The town wakes.", system="You narrate.", note="")
        for number, value in enumerate(values):
            turn = await chat.begin(f"I wait, {number}.")
            reply = f"Mara sweeps the hall, {number}."
            turn.replies[0].feed(f"{reply}\n\n```state\npresent: [Mara]\n{key}: {value}\n```")
            await turn.commit()
            chat.history += [{"role": "user", "content": f"I wait, {number}."}, {"role": "assistant", "content": reply}]
        (row,) = (await saga.memory.preview("inn", "declare", {"declaration": declaration}))["effect"]
        assert row["is"]["text"] == f"{key}: {shown}"
        await saga.memory.correct("inn", "declare", {"declaration": declaration})
        lines = [row["text"] for row in (await saga.memory.lines("inn"))["lines"] if row["kind"].startswith("tracker:")]
        assert lines == [f"{key}: {shown}"]
        assert f"{key}: {shown}" in (await chat.begin("And now?")).context.text

"""A long text is looked through once for a request, beside the event loop, however often something asks about it."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from typing import Any

import pytest

from saga_core import Saga
from saga_core.state_block import filter as filters
from saga_core.state_block import hide
from saga_core.transcript import identities, identity, read_request
from saga_core.transcript.dialogue import identity_keys
from tests.core.frontend import memory_config


@pytest.mark.parametrize("unit", ["```state\n", "<state>\n", "\ufdfa"])
@pytest.mark.parametrize("role", ["assistant", "user"])
async def test_by_a_whole_turn(unit: str, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: Counter[Any] = Counter()

    def counted(module: Any, name: str) -> None:
        inner = getattr(module, name)

        def call(text: str, *more: Any) -> Any:
            if len(text) > 20_000:
                looked[name, len(text), more] += 1
                assert threading.current_thread() is not threading.main_thread(), name
            return inner(text, *more)

        monkeypatch.setattr(module, name, call)

    counted(filters, "_hide")
    counted(identities, "_identity")
    text = f"The road goes on, {role}. " + unit * (140_000 // len(unit))
    said = [("user", "I go."), (role, text), ("user", "On.")]
    history = [{"role": each, "content": content} for each, content in said]
    async with Saga.open(memory_config()) as saga:
        turn = await saga.begin(history)
        turn.replies[0].feed("The lamps are lit.")
        await turn.commit()
        assert turn.session.id
    assert looked and max(looked.values()) == 1, looked


async def test_thousands_of_short_ones_are_read_beside_the_loop_until_they_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_the_loop: list[bool] = []
    inner = identities._identity

    def call(text: str) -> str:
        if "tavern" in text:
            on_the_loop.append(threading.current_thread() is threading.main_thread())
        return inner(text)

    monkeypatch.setattr(identities, "_identity", call)
    history = [
        {"role": ("assistant", "user")[n % 2], "content": f"At the tavern of the {n}th day, {'rain ' * 20}"}
        for n in range(800)
    ]
    assert not (await read_request(history[:20])).greeting[1:]
    assert not on_the_loop, "a short one is read when it is asked about"
    transcript = await read_request(history)
    assert on_the_loop == [False] * 800
    identity_keys(transcript.utterances)
    await read_request([*history, {"role": "user", "content": "On."}])
    assert len(on_the_loop) == 800


@pytest.mark.parametrize("fence", ["```", "~~~~", "``` ", "```\t\u3000"])
@pytest.mark.parametrize("word", ["state", "STATE", "State:", "상태", "状態", "状态", "static", "x", ""])
def test_what_is_told_quickly_is_what_the_filter_tells(fence: str, word: str) -> None:
    text = f"It rains.\n\n{fence}{word}\nlocation: Mill\n```\n\nOn."
    shown = filters.FenceFilter()
    assert hide(text, loose=False).visible == shown.feed(text) + shown.finish()
    assert hide(text, loose=False).blocks == shown.raw_blocks


def test_what_is_remembered_is_no_other_texts() -> None:
    long = "The road goes on. " * 400
    for end in ("```state\nhp: 3\n```", "```state\nhp: 4\n```"):
        assert hide(long + end).blocks[0].body.strip() == end[9:14].strip()
        assert identity(long + end).endswith(end[-12:].replace("\n", "").replace(" ", ""))


@pytest.mark.parametrize("unit", ["```state\nhp: 3\n```\n", "<state>\nhp: 3\n</state>\n", "\ufdfa", "word "])
async def test_what_another_process_found_out_is_remembered(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes back is all that is asked about a text; it was pickled on its way."""
    text = f"The road goes on, and {unit!r} stands in it. " + unit * (140_000 // len(unit))
    asked: list[str] = []

    async def elsewhere(work: Any, texts: Any) -> Any:
        asked.extend(texts)
        found = pickle.loads(pickle.dumps(work(texts)))
        identities._KNOWN.clear()
        filters._HIDDEN.clear()
        return found

    def refused(looked_at: str, *_: Any) -> Any:
        assert len(looked_at) < 20_000
        return inner(looked_at, *_)

    def known() -> tuple[Any, ...]:
        fenced = hide(text, loose=False) if "`" in text else None  # asked of no other text
        return hide(text), fenced, identity(text), identities.clean(text)

    before = known()
    transcript = await read_request([{"role": "user", "content": text}], elsewhere)
    assert asked == [text]
    inner = filters._hide
    monkeypatch.setattr(filters, "_hide", refused)
    monkeypatch.setattr(identities, "_identity", lambda looked_at: pytest.fail(looked_at[:80]))
    assert known() == before and transcript.utterances[0].text == before[-1]

"""A long text is looked through once for a request, beside the event loop, however often something asks about it."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import Counter
from typing import Any

import pytest

from saga_core import Saga
from saga_core.prompt import client_blocks, read_client_blocks
from saga_core.state_block import SCANNED, BlockFilter, hide, unscanned
from saga_core.state_block import filter as filters
from saga_core.transcript import identities, identity, read_request
from saga_core.transcript.dialogue import identity_keys
from tests.core.frontend import memory_config


@pytest.mark.parametrize(("unit", "role"), [("```state\n", "assistant"), ("<state>\n", "user"), ("\ufdfa", "user")])
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


@pytest.mark.parametrize(
    ("unit", "length", "count"),
    [
        ("```state\n", 63_000, 3),
        ("<state>\n", 3_900, 40),
        ("hp_change: 1\n", 300, 400),
        *(
            pytest.param(unit, *much, marks=pytest.mark.deep)
            for unit in ("<state>\n", "---\n_<state>\n", "```static\n")
            for much in ((63_000, 3), (300, 400))
        ),
    ],
)
async def test_many_that_may_hold_blocks_are_scanned_beside_the_loop_and_once(
    unit: str, length: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum over all messages decides, not the length of one: scanning a megabyte takes seconds."""
    looked: Counter[Any] = Counter()
    on_the_loop: list[str] = []
    inner = filters._hide

    def call(text: str, loose: bool) -> Any:
        looked[text, loose] += 1
        if threading.current_thread() is threading.main_thread():
            on_the_loop.append(text)
        return inner(text, loose)

    monkeypatch.setattr(filters, "_hide", call)
    key = hashlib.sha256(unit.encode()).hexdigest()[:8]
    tale = (unit * (length // len(unit) + 1))[:length]
    replies = [f"On day {n} of {length} it rains ({key}). {tale}\n```state\nhp: 3\n```" for n in range(count)]
    history = [
        {"role": role, "content": text} for reply in replies for role, text in (("user", "Go."), ("assistant", reply))
    ]
    async with Saga.open(memory_config()) as saga:
        for words in ("On.", "And on."):
            await saga.begin([*history, {"role": "user", "content": words}])
        await saga.drain(60)
    assert len(looked) >= count and max(looked.values()) == 1, looked.most_common(1)
    assert sum(map(len, on_the_loop)) < SCANNED, on_the_loop[0][:80]


async def test_what_the_cache_has_lost_is_scanned_beside_the_loop_again(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    inner = filters._hide

    def call(text: str, loose: bool) -> Any:
        threads.append(threading.current_thread())
        return inner(text, loose)

    monkeypatch.setattr(filters, "_hide", call)
    replies = [f"On day {n} it snows. " + "<state>\n" * 40 for n in range(60)]
    messages: list[dict[str, Any]] = [{"role": "assistant", "content": reply} for reply in replies]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": replies[0] + "!"}]})
    await read_request(messages)
    filters._HIDDEN.clear()
    threads.clear()
    assert await read_client_blocks(messages) == client_blocks(messages)
    assert len(threads) == len(messages) and threading.main_thread() not in threads


@pytest.mark.parametrize(
    "line", ["<a>", "<b>bold</b>", "<think>", "</think>", "<", "<<", "<s>", "<stats>", "a_b", "_", "<p q>"]
)
def test_a_line_that_can_begin_no_report_is_not_scanned(line: str) -> None:
    """Also if a thousand others stand beside it."""
    assert not unscanned([f"{line}\n" * 1_000 + "It rains, and the road goes on along the river."])


def test_very_many_different_tags_are_scanned() -> None:
    assert unscanned(["".join(f"<s{n}>" for n in range(1_000))])


@pytest.mark.parametrize(
    "tag", ["state", "STATE", "s-t-a-t-e", "상태", "ＳＴＡＴＥ", "stat", "state x", "x", "_state_", "ſtate"]
)
@pytest.mark.parametrize("before", ["", "It rains. ", "<<", "<s>" * 100, "<think>no</think>"])
def test_what_is_told_quickly_of_a_tag_is_what_the_filter_tells(tag: str, before: str) -> None:
    text = f"{before}<{tag}>\nplace: Mill\nmood: calm\nhp: 3\n</{tag}>\nOn."
    shown = BlockFilter()
    assert hide(text).visible == "".join([*map(shown.feed, text), shown.finish()])
    assert hide(text).blocks == shown.raw_blocks


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
    assert hide(text, unfenced=False).visible == shown.feed(text) + shown.finish()
    assert hide(text, unfenced=False).blocks == shown.raw_blocks


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
        fenced = hide(text, unfenced=False) if "`" in text else None  # asked of no other text
        return hide(text), fenced, identity(text), identities.clean(text)

    before = known()
    transcript = await read_request([{"role": "user", "content": text}], elsewhere)
    assert asked == [text]
    inner = filters._hide
    monkeypatch.setattr(filters, "_hide", refused)
    monkeypatch.setattr(identities, "_identity", lambda looked_at: pytest.fail(looked_at[:80]))
    assert known() == before and transcript.utterances[0].text == before[-1]

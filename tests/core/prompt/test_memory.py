"""The memory of a session's prompts: stored small, and recalled as it was."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core import codec
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.prompt import Pin, PromptMemory, StoredMemory, StoredVolatile, keep, only, recall
from saga_core.prompt.memory import StoredBook, StoredPrompt
from saga_core.prompt.prefix import AccruedCost, Begin
from saga_core.upstream import facts_of

SONNET = facts_of("claude-sonnet-4-5", "anthropic")
PLAN = PromptPlan(
    (
        Block("system", "비밀은 지킨다. " * 900, Origin.CLIENT),
        Block("user", "가자 " * 400, Origin.HISTORY),
        Block("assistant", "간다. " * 400, Origin.HISTORY),
        Block("user", "더", Origin.WORDS),
    )
)


def played() -> PromptMemory:
    memory = PromptMemory()
    memory.prompts.record_request(1_000.0004)
    memory.prompts.mark(PLAN, SONNET, "m", len, turn="t2")
    first, second = Pin("t0", "t0", "first", "ko"), Pin("t2", "t2", "cost", "ko")
    for turn, pin in (("t0", first), ("t1", first), ("t2", second)):
        memory.pins.decide(turn, pin)
    memory.pins.note_changes(second, 40, full=True)
    memory.cuts.decide("t1", Begin(7, None))
    memory.cuts.decide("t2", Begin(7, 9))
    memory.volatile.depths.update((4, 2))
    memory.volatile.moving.update({5: None})
    memory.volatile.talked = 11
    return memory


SCALES = {("anthropic", "m"): 1.2, ("anthropic", "other"): 3.0}


def test_what_was_stored_is_recalled_and_stored_as_the_same() -> None:
    kept, volatile = keep(played(), SCALES)
    again, scales = recall(
        codec.decode(codec.encode(kept), StoredMemory), codec.decode(codec.encode(volatile), StoredVolatile)
    )
    assert scales == {("anthropic", "m"): 1.2}, "of the models that the session asked"
    assert keep(again, scales) == (kept, volatile)
    assert again.pins.accrued(Pin("t2", "t2", "cost")) == AccruedCost(40, full=True)
    assert again.volatile.talked == 11 and again.volatile.depths == {2, 4}


def test_a_recalled_memory_expects_what_the_other_would() -> None:
    one = played()
    other, _ = recall(*keep(one, {}))
    expected = []
    for memory in (one, other):
        memory.prompts.record_request(1_010.0)
        planned = memory.prompts.mark(PLAN, SONNET, "m", len, turn="t2")
        expected.append((planned.request.outlook, planned.shared, planned.plan, planned.before and planned.before.turn))
    assert expected[0] == expected[1] and expected[0][0].read > 1_000


def test_no_text_is_stored_of_messages_and_little_of_system_prompts() -> None:
    raw = codec.encode(keep(played(), {})[0]).decode()
    assert "가자" not in raw and "간다" not in raw and raw.count("비밀은 지킨다") < 8
    assert len(raw) < 2_000


def test_an_empty_memory_is_an_empty_record() -> None:
    kept, volatile = keep(PromptMemory(), {})
    assert codec.to_plain(kept) == {} and codec.to_plain(volatile) == {}
    assert keep(recall(kept, volatile)[0], {}) == (kept, volatile)


@pytest.mark.parametrize(
    "damaged",
    [
        StoredMemory(books=(StoredBook("p", "m", "no base64!"),)),
        StoredMemory(books=(StoredBook("p", "m", "AAAAAAAAAAA=", ("5m", "5m"), (1.0,)),)),
        StoredMemory(pinned=(("t1", 3),)),
        StoredMemory(begun=(("t1", 0),)),
        StoredMemory(last=StoredPrompt(0.0, "AA==", 1, 0)),
    ],
)
def test_what_is_damaged_is_refused(damaged: StoredMemory) -> None:
    with pytest.raises((ValueError, IndexError)):
        recall(damaged, StoredVolatile())


def test_of_turns_that_are_gone_no_trace_is_left() -> None:
    kept, _ = keep(played(), {})
    kept = evolve(kept, pages=(("t0", "ko"), ("t2", "ko")))
    left = only(kept, lambda turn: turn != "t0")
    assert left.pins == (Pin("t2", "t2", "cost", "ko"),) and set(left.pinned) == {("t2", 0)}
    assert left.rents == ((0, 40, True),) and left.pages == (("t2", "ko"),)
    assert b"t0" not in codec.encode(left)
    gone = only(kept, lambda turn: turn not in ("t1", "t2"))
    assert gone.last is not None and kept.last == evolve(gone.last, turn="t2") and gone.last.turn == ""
    assert gone.begun == () and gone.rents == ()
    assert only(kept, lambda _: True) == kept

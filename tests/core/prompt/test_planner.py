"""The planner: breakpoints from what it knows of the prompts before, and what it says when a prompt parts from them."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.messages import Block, Origin, PromptPlan
from saga_core.prompt import Planned, SessionPrompts
from saga_core.upstream import ModelFacts, facts_of

SONNET = facts_of("claude-sonnet-4-5", "anthropic")
RULES = "\n".join(f"Rule {number}." for number in range(200))


def plan(*history: str, system: str = RULES, words: str = "더 간다.", **fields: str) -> PromptPlan:
    told = [Block("assistant" if at % 2 else "user", text, Origin.HISTORY) for at, text in enumerate(history)]
    notes = [Block("system", fields["note"], Origin.HISTORY)] if "note" in fields else []
    return PromptPlan((Block("system", system, Origin.CLIENT), *told, *notes, Block("user", words, Origin.WORDS)))


def mark(
    prompts: SessionPrompts, given: PromptPlan, now: float, facts: ModelFacts = SONNET, **options: object
) -> Planned:
    prompts.record_request(now)
    return prompts.mark(given, facts, "m", len, **options)  # type: ignore[arg-type]


def marks(planned: Planned) -> list[int]:
    return [at for at, block in enumerate(planned.plan.blocks) if block.breakpoint]


def test_the_clients_own_blocks_are_marked_wherever_they_stand() -> None:
    system, words = Block("system", "s" * 9_000, Origin.CLIENT), Block("user", "더 간다.", Origin.WORDS)
    rules, world = Block("system", "r" * 20_000, Origin.RULES), Block("system", "w" * 9_000, Origin.WORLD)
    note, said = Block("system", "n" * 2_000, Origin.CLIENT), Block("assistant", "a" * 900, Origin.HISTORY)
    assert marks(mark(SessionPrompts(), PromptPlan((rules, system, note, world, said, words)), 0.0)) == [1, 2, 3, 4]
    assert marks(mark(SessionPrompts(), PromptPlan((system, note, rules, world, said, words)), 0.0)) == [0, 1, 3, 4]


def test_what_goes_out_is_read_by_the_next_and_nothing_new_is_marked() -> None:
    prompts = SessionPrompts()
    first = mark(prompts, plan("a" * 900, "b" * 900), 0.0, turn="t1")
    assert marks(first) and max(marks(first)) == 2 and first.before is None and first.shared == 0
    second = mark(prompts, plan("a" * 900, "b" * 900, "c" * 900, "d" * 900), 10.0, turn="t2")
    assert second.before is first.request and second.shared == 3 and second.diverged == ""
    assert second.request.outlook.read >= 1_800 and (second.request.turn, second.request.at) == ("t2", 10.0)
    bare = [evolve(block, breakpoint=None) for block in second.plan.blocks]
    assert PromptPlan(tuple(bare)) == plan("a" * 900, "b" * 900, "c" * 900, "d" * 900)


def test_the_earlier_request_that_shares_most_is_compared() -> None:
    prompts = SessionPrompts()
    branch = mark(prompts, plan("a", "b", "c", "d"), 0.0)
    mark(prompts, plan("x", "y"), 1.0)
    assert mark(prompts, plan("a", "b", "c", "d", "e", "f"), 2.0).before is branch.request


def test_a_changed_line_of_a_system_block_is_told() -> None:
    prompts = SessionPrompts()
    mark(prompts, plan("a", "b"), 0.0)
    said = mark(prompts, plan("a", "b", system=RULES.replace("Rule 7.", "Law 7.")), 1.0).diverged
    was, now = said.split(", is ")
    assert was.startswith("block 0 was system from line 8 on 'Rule 7. Rule 8. ") and was.endswith("…'")
    assert now.startswith("system from line 8 on 'Law 7. Rule 8. ")


def test_a_changed_message_is_told_by_its_place_and_what_it_is_now() -> None:
    prompts = SessionPrompts()
    mark(prompts, plan("a", "b", "c", "d"), 0.0)
    assert mark(prompts, plan("a", "에르겐이 웃는다.", "c", "d"), 1.0).diverged == (
        "block 2 was another message, is assistant '에르겐이 웃는다.'"
    )


def test_new_words_and_a_longer_history_are_no_divergence() -> None:
    prompts = SessionPrompts()
    mark(prompts, plan("a", "b"), 0.0)
    assert mark(prompts, plan("a", "b", words="다른 말"), 1.0).diverged == ""
    assert mark(prompts, plan("a", "b", "c", "d"), 2.0).diverged == ""


def test_a_note_that_was_not_there_before_is_not_expected_to_stay() -> None:
    prompts = SessionPrompts()
    first = mark(prompts, plan("a", "b", note="It is noon."), 0.0)
    assert first.request.end == 2, "before the note"
    stays = mark(prompts, plan("a", "b", note="It is noon."), 1.0)
    assert stays.request.end == 3


def test_a_side_request_marks_what_it_can_read_and_is_not_remembered() -> None:
    prompts = SessionPrompts()
    first = mark(prompts, plan("a" * 900, "b" * 900), 0.0)
    aside = mark(prompts, plan("a" * 900, "b" * 900, words="요약"), 10.0, reading=True)
    assert marks(aside) == [max(marks(first))] and aside.request.outlook.written == 0
    assert aside.before is None and prompts.requests == [first.request]
    assert marks(mark(prompts, plan("z", system="Another."), 20.0, reading=True)) == []


def test_a_provider_that_takes_no_marks_gets_none() -> None:
    prompts = SessionPrompts()
    automatic = facts_of("deepseek-chat", "deepseek")
    assert marks(mark(prompts, plan("a" * 9_000), 0.0, evolve(SONNET, mark="", breakpoints=0))) == []
    assert marks(mark(SessionPrompts(), plan("a" * 9_000), 0.0, automatic)) == []


def test_the_history_is_warm_while_one_of_its_entries_lives() -> None:
    prompts = SessionPrompts()
    given = plan("a" * 900, "b" * 900)
    assert 0 in marks(mark(prompts, given, 0.0))
    assert not prompts.warm(plan("z" * 900), SONNET, "m", len), "the system prompt alone is no history"
    for now, warm in ((100.0, True), (100_000.0, False)):
        prompts.record_request(now)
        assert prompts.warm(given, SONNET, "m", len) is warm
    assert not prompts.warm(given, SONNET, "another", len)


def test_the_caches_of_four_models_are_remembered_the_latest_ones() -> None:
    prompts = SessionPrompts()
    books = {name: prompts.book(SONNET, name) for name in "abcd"}
    assert prompts.book(SONNET, "a") is books["a"]
    prompts.book(SONNET, "e")
    assert [name for _, name in prompts.books] == ["c", "d", "a", "e"]
    assert prompts.book(evolve(SONNET, provider="openrouter"), "a") is not books["a"]


def test_of_requests_and_moments_the_latest_are_remembered() -> None:
    prompts = SessionPrompts()
    for number in range(60):
        mark(prompts, plan(f"{number}"), float(number))
    assert len(prompts.requests) == 8 and prompts.requests[-1].at == 59.0
    assert prompts.moments == [float(number) for number in range(12, 60)]


@pytest.mark.parametrize("content", ["", "  \n"])
def test_an_empty_block_is_told_as_one(content: str) -> None:
    prompts = SessionPrompts()
    mark(prompts, plan("a", system="Tell it."), 0.0)
    assert "is system without more than 0 characters" in mark(prompts, plan("a", system=content), 1.0).diverged

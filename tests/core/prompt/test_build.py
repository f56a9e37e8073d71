"""Blocks say whose they are, and stand in one order, whatever a client sends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.messages import FIXED, OWN, Origin, PromptPlan, Stability
from saga_core.prompt.plan import ORDER, build_plan, client_blocks, ranks

SYSTEM = {"role": "system", "content": "You narrate."}
USER = {"role": "user", "content": "I go in."}
REPLY = {"role": "assistant", "content": "It is dark."}
OURS = {"rules": "rules", "world": "world", "pages": "pages", "context": "context"}


def origins(plan: PromptPlan) -> list[Origin]:
    return [block.origin for block in plan.blocks]


def in_order(*given: Origin) -> list[Origin]:
    return sorted(given, key=ORDER.index)


def test_each_block_says_whose_it_is() -> None:
    plan = build_plan(client_blocks([SYSTEM, USER, REPLY, SYSTEM, USER, SYSTEM]), **OURS)
    assert origins(plan) == in_order(*set(ORDER) - {Origin.CONTEXT}, Origin.HISTORY, Origin.HISTORY)
    own = {block.origin: block.content for block in plan.blocks if block.origin in OWN}
    assert own == {Origin.RULES: "rules", Origin.WORLD: "world", Origin.PAGES: "pages"}
    assert [block.lead for block in plan.blocks if block.origin is Origin.WORDS] == ["context"]


def test_without_words_the_context_stands_before_an_unfinished_reply() -> None:
    plan = build_plan(client_blocks([SYSTEM, REPLY]), **OURS)
    assert origins(plan)[-2:] == [Origin.CONTEXT, Origin.HISTORY]
    plan = build_plan(client_blocks([SYSTEM]), **OURS)
    assert origins(plan) == in_order(Origin.CLIENT, *OWN)


@pytest.mark.parametrize("own", [(Origin.RULES, Origin.WORLD), (Origin.WORLD, Origin.RULES)])
def test_the_rules_and_the_world_stand_in_any_order(own: tuple[Origin, ...]) -> None:
    order = (Origin.CLIENT, *own, *(origin for origin in ORDER if origin not in FIXED))
    assert sorted(ORDER, key=ranks(order).__getitem__) == list(order)


@pytest.mark.parametrize(
    ("moved", "before", "told"),
    [
        (Origin.HISTORY, Origin.PAGES, "history cannot stand at place 4 of a prompt"),
        (Origin.WORLD, Origin.CLIENT, "world cannot stand at place 1 of a prompt"),
        (Origin.PAGES, Origin.WORLD, "pages cannot stand at place 3 of a prompt"),
        (Origin.CONTEXT, Origin.HISTORY, "context cannot stand at place 5 of a prompt"),
        (Origin.WORDS, Origin.CLIENT, "words cannot stand at place"),
    ],
)
def test_an_order_that_no_prompt_can_have_is_refused(moved: Origin, before: Origin, told: str) -> None:
    order = [Origin.CLIENT, Origin.RULES, Origin.WORLD, *(origin for origin in ORDER if origin not in FIXED)]
    order.remove(moved)
    order.insert(order.index(before), moved)
    with pytest.raises(ValueError, match=told):
        ranks(order)


def test_what_floats_goes_in_front_of_the_context() -> None:
    plan = build_plan(client_blocks([USER]), context="context", relocated="It is noon.")
    assert plan.blocks[0].lead == "[System prompt, for this reply]\nIt is noon.\n[/System prompt]\n\ncontext"


def test_a_tool_call_keeps_its_empty_content_unless_something_is_put_before_it() -> None:
    call = {"role": "user", "content": None, "name": "dice"}
    assert PromptPlan(client_blocks([call])).to_openai() == [call]
    assert build_plan(client_blocks([call]), context="now").to_openai() == [
        {"role": "user", "content": "now", "name": "dice"}
    ]


def test_a_state_block_that_a_client_kept_is_taken_out_of_replies_alone() -> None:
    block = "\n\n```state\nhp: 3\n```"
    said = [{"role": "assistant", "content": f"Dark.{block}"}, {"role": "user", "content": f"I write{block}"}]
    first, second = client_blocks(said)
    assert first.text.strip() == "Dark." and second.text == f"I write{block}"


messages = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(("system", "developer", "user", "assistant", "tool")),
            "content": st.one_of(
                st.text(max_size=9), st.none(), st.just([{"type": "text", "text": "a"}, {"type": "image_url"}])
            ),
        }
    ),
    min_size=1,
    max_size=9,
)


@given(messages, st.booleans())
def test_any_request_keeps_its_messages_in_their_order(sent: list[dict[str, Any]], ours: bool) -> None:
    client = client_blocks(sent)
    plan = build_plan(client, **(OURS if ours else {}))
    assert [block.origin for block in client] == sorted((block.origin for block in client), key=ORDER.index)
    kept = [(block.role, block.content) for block in plan.blocks if block.origin not in OWN]
    assert kept == [(block.role, block.content) for block in client]
    assert sum(block.origin is Origin.WORDS for block in client) <= 1
    rank = [ORDER.index(block.origin) for block in plan.blocks if block.origin is not Origin.CONTEXT]
    assert rank == sorted(rank)
    if not ours:
        assert plan == PromptPlan(client)
    else:
        leads = [block for block in plan.blocks if block.lead or block.origin is Origin.CONTEXT]
        assert len(leads) == 1 and leads[0].stability is Stability.VOLATILE
    fixed = [block.origin in FIXED for block in plan.blocks]
    assert fixed == sorted(fixed, reverse=True), "what never changes stands first"

"""Prompts of one text are told apart by their templates, and put together again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core.messages import Origin, PromptPlan
from saga_core.prompt import build_plan, client_blocks
from saga_core.text_prompt import TextPrompt, read_prompt, write_prompt
from tests.core.text_prompt.templates import CHATS, STOPS, TEMPLATES, named

RECORDINGS = Path(__file__).resolve().parents[4] / "shared" / "fixtures" / "textcompletion"


def again(prompt: TextPrompt) -> str:
    """What a prompt becomes where SAGA adds nothing."""
    return write_prompt(PromptPlan(client_blocks(prompt.messages)), prompt)


def said(prompt: TextPrompt) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in prompt.messages]


@pytest.mark.parametrize("language", list(CHATS))
@pytest.mark.parametrize("template", list(TEMPLATES))
def test_a_chat_is_told_apart_and_put_together_again(template: str, language: str) -> None:
    story, lines, names = CHATS[language]
    stops = [f"\n{names[0]}:", *STOPS.get(template, [])]
    written = TEMPLATES[template]
    for opened, chat in (("assistant", lines), ("user", lines[:3]), ("", lines[:3])):
        text = written(story, chat, opened)
        prompt = read_prompt(text, stops)
        assert prompt.told
        assert said(prompt) == [("system", story), *chat]
        assert prompt.player == names[0]
        assert prompt.asks_for == (opened or "assistant")
        assert again(prompt) == text
        plan = build_plan(client_blocks(prompt.messages), rules="RULES", pages="PAGES", context="CONTEXT")
        added = write_prompt(plan, prompt)
        assert added.count("RULES\n\nPAGES") == 1
        where = read_prompt(added, stops)
        assert said(where)[0] == ("system", f"{story}\n\nRULES\n\nPAGES"), "in the system part"
        words = max(at for at, (role, _) in enumerate(said(where)) if role == "user")
        assert said(where)[words][1] == f"CONTEXT\n\n{said(prompt)[words][1]}", "before the player's last words"
        assert where.opening == prompt.opening


@pytest.mark.parametrize("language", list(CHATS))
def test_a_chat_of_names_is_told_apart(language: str) -> None:
    story, lines, names = CHATS[language]
    who = {"user": names[0], "assistant": names[1]}
    expected = [("system", f"{story}\n***"), *((role, f"{who[role]}: {text}") for role, text in lines)]
    text = named(story, lines, names, "assistant")
    prompt = read_prompt(text, [f"\n{names[0]}:"])
    assert said(prompt) == expected
    assert (prompt.asks_for, prompt.opening, prompt.player) == ("assistant", f"{names[1]}:", names[0])
    assert again(prompt) == text
    went_on = read_prompt(named(story, lines[:3], names, ""), [f"\n{names[0]}:"])
    assert said(went_on) == expected[:4]
    assert again(went_on) == named(story, lines[:3], names, "")
    theirs = read_prompt(named(story, lines[:3], names, "user"), [f"\n{names[1]}:", f"\n{names[0]}:"])
    assert (theirs.asks_for, theirs.opening, theirs.player) == ("user", f"{names[0]}:", names[0])
    assert said(theirs) == expected[:4]


@pytest.mark.parametrize(
    "text", ["Once upon a time", "", "  \n", "A: b", "<|im_end|>", "[INST]", "</s>", "### Response:"]
)
def test_any_text_is_put_together_again(text: str) -> None:
    assert again(read_prompt(text, ["\n"])) == text


def test_a_text_without_marks_is_one_message() -> None:
    prompt = read_prompt("The rain had stopped.\nAlex: said nothing", [])
    assert not prompt.told
    assert said(prompt) == [("user", "The rain had stopped.\nAlex: said nothing")]


MARKS = {
    "ChatML": "<|im_start|>{}\n{}<|im_end|>\n",
    "Llama 3": "<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>",
    "Phi": "<|{}|>\n{}<|end|>\n",
    "Harmony": "<|start|>{}<|message|>{}<|end|>",
}


@pytest.mark.parametrize("role", ["tool", "ipython", "tool_response", "Mara"])
@pytest.mark.parametrize("form", MARKS.values(), ids=MARKS)
def test_another_role_is_neither_the_player_nor_the_frontend(form: str, role: str) -> None:
    rows = [("system", "A tale."), ("user", "Hi."), ("assistant", "Hm."), (role, "[[saga:session=x]]"), ("user", "Go.")]
    text = "".join(form.format(*row) for row in rows)
    prompt = read_prompt(text)
    assert [who for who, words in said(prompt) if "[[saga:" in words] == ["assistant"]
    assert again(prompt) == text


def test_marks_in_the_story_do_not_decide_against_the_stop_sequences() -> None:
    text = (
        "### Instruction:\nWhat is <|im_start|>system\n in it?\n\n### Response:\nA mark.\n\n"
        "### Instruction:\nGo on.\n\n### Response:\n"
    )
    prompt = read_prompt(text, ["\nAlex:", "\n### Instruction:"])
    assert prompt.template.name == "Alpaca"
    assert [role for role, _ in said(prompt)] == ["user", "assistant", "user"]


def test_examples_are_no_part_of_the_chat() -> None:
    text = TEMPLATES["ChatML"](
        "Story.",
        [
            ("user", "Alex: Is the road open?"),
            ("assistant", "Open is a large word."),
            ("assistant", "State your name."),
            ("user", "I am Alex."),
        ],
        "assistant",
    )
    prompt = read_prompt(text, ["\nAlex:"])
    assert [role for role, _ in said(prompt)] == ["system", "system", "system", "assistant", "user"]
    assert again(prompt) == text
    rules = write_prompt(build_plan(client_blocks(prompt.messages), rules="RULES"), prompt)
    assert rules == text.replace("Story.", "Story.\n\nRULES")


def test_names_in_every_line_are_no_examples() -> None:
    lines = [("user", "Alex: Hello."), ("assistant", "Ysolde: Hm."), ("user", "Alex: I go.")]
    prompt = read_prompt(TEMPLATES["ChatML"]("Story.", lines, "assistant"), ["\nAlex:"])
    assert said(prompt) == [("system", "Story."), *lines]


def test_a_name_behind_the_header_belongs_to_the_opening() -> None:
    text = TEMPLATES["Llama 3"]("Story.", [("user", "Alex: Hello.")], "assistant") + "Ysolde:"
    prompt = read_prompt(text, ["\nAlex:"])
    assert prompt.opening.endswith("<|end_header_id|>\n\nYsolde:")
    assert said(prompt)[-1] == ("user", "Alex: Hello.")


def test_without_a_system_part_the_rules_find_a_place() -> None:
    lines = [("user", "Hello."), ("assistant", "Hm."), ("user", "I go.")]
    chatml = TEMPLATES["ChatML"]("", lines, "assistant").replace("<|im_start|>system\n<|im_end|>\n", "")
    prompt = read_prompt(chatml, [])
    plan = build_plan(client_blocks(prompt.messages), rules="RULES")
    assert write_prompt(plan, prompt) == f"<|im_start|>system\nRULES<|im_end|>\n{chatml}"
    gemma = TEMPLATES["Gemma"]("", lines, "assistant").replace("<start_of_turn>user\n<end_of_turn>\n", "")
    prompt = read_prompt(gemma, [])
    plan = build_plan(client_blocks(prompt.messages), rules="RULES", context="CONTEXT")
    expected = gemma.replace("Hello.", "Hello.\n\nRULES").replace("I go.", "CONTEXT\n\nI go.")
    assert write_prompt(plan, prompt) == expected, "what is said first may be the story"
    first = TEMPLATES["Mistral V7"]("", lines[:1], "assistant").replace("[SYSTEM_PROMPT] [/SYSTEM_PROMPT]", "")
    prompt = read_prompt(first, [])
    plan = build_plan(client_blocks(prompt.messages), rules="RULES", context="CONTEXT")
    assert write_prompt(plan, prompt) == first.replace("Hello.", "RULES\n\nCONTEXT\n\nHello.")


def test_messages_of_the_server_are_written_in_the_template() -> None:
    text = TEMPLATES["Mistral V7"]("Story.", [("user", "I go.")], "assistant")
    prompt = read_prompt(text, [])
    told = ({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hm."})
    messages = (prompt.messages[0], *told, prompt.messages[1])
    expected = TEMPLATES["Mistral V7"](
        "Story.", [("user", "Hello."), ("assistant", "Hm."), ("user", "I go.")], "assistant"
    )
    assert write_prompt(PromptPlan(client_blocks(messages)), prompt) == expected


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
def test_recorded_prompts_are_told_apart_and_put_together_again() -> None:
    seen = 0
    for path in sorted(RECORDINGS.glob("*.json")):
        for operation in json.loads(path.read_text("utf-8"))["operations"]:
            for request in operation["requests"]:
                body = request["body"] or {}
                stops = body.get("stop") or body.get("stop_sequence")
                if "prompt" not in body or not stops:
                    continue
                prompt = read_prompt(body["prompt"], stops)
                assert again(prompt) == body["prompt"]
                assert prompt.player == "Alex"
                roles = [message["role"] for message in prompt.messages]
                assert roles[:4] == ["system", "system", "system", "assistant"], "story, example, greeting"
                op = operation["op"]
                assert prompt.asks_for == ("user" if op == "impersonate" else "assistant")
                assert (prompt.opening == "") == (op == "continue")
                assert roles[-1] == {"continue": "assistant", "impersonate": "assistant", "quiet": "system"}.get(
                    op, "user"
                )
                origins = [block.origin for block in client_blocks(prompt.messages)]
                assert origins[:3] == [Origin.CLIENT] * 3
                seen += 1
    assert seen >= 60


@pytest.mark.parametrize(
    "piece", ["\n", " ", "<|im_start|>", "[INST]", "### Response", "Alex:", "Alex: \n", "<", "[/INST]"]
)
def test_a_long_prompt_is_read_in_linear_steps(piece: str) -> None:
    text = piece * 40_000
    assert again(read_prompt(text, ["\nAlex:"])) == text

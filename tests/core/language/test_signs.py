"""SAGA's own signs in the text of a story are made harmless, however they are spelled."""

from __future__ import annotations

import pytest

from saga_core.language import without_signs
from saga_core.text_prompt import TOKENS


@pytest.mark.parametrize(
    "text",
    [
        "[SAGA: rules]",
        "[/SAGA]",
        "[/S\u200bAGA]",
        "[\u00adSAGA: rules]",
        "[SA\u2060GA: rules]",
        "[\ufeff/SAGA]",
        "\uff3b\uff33\uff21\uff27\uff21: rules]",
        "[\u0405\u0410G\u0410: rules]",
        "[ SAGA: rules]",
        "[/ SAGA]",
        "[ / S A G A ]",
        "[/\u3164SAGA]",
        "[/S\u115fAGA]",
        "[/SAG\u0301A]",
        "[/SA\u01f4A]",
        "[/\u017fAGA]",
        "[\\SAGA]",
        "[**SAGA**]",
        "\u3010/SAGA\u3011",
        "\u2772/SAGA\u2773",
        "\u3014SAGA: rules\u3015",
        "[/ՏAGA]",
        "[/SΛGΛ]",
        "[/S∀GA]",
        "[/$AGA]",
        "[/ႽAGA]",
        "⌈/SAGA⌉",
        "⌊/SAGA⌋",
        "[丿SAGA]",
        "[ノSAGA]",
        "[/ꮪꭺᏀᎪ]",
        "[/\U0001d412\U0001d400\U0001d406\U0001d400]",
    ],
)
def test_a_sign_loses_its_bracket(text: str) -> None:
    assert without_signs(f"a {text} b", TOKENS).startswith("a (")


@pytest.mark.parametrize(
    "text",
    [
        "[S] AGA",
        "the saga of old",
        "[OOC: wait]",
        "［注］",
        "【注】",
        "[",
        "[ sag",
        "[Sam] saga",
        "⌈x⌉",
        "[$agg]",
        "[ノート]",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert without_signs(text, TOKENS) == text


@pytest.mark.parametrize(
    "text",
    [
        "<start_of_turn>user",
        "<start_of_turn> ",
        "<end_of_turn>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "</s>",
        "<|im_end|>",
        "<|eom_id|>",
        "[SYSTEM_PROMPT]",
        "<｜User｜>",
        "<｜end▁of▁sentence｜>",
        "[|user|]",
        "### Instruction:",
        "{{[INPUT]}}",
        "<bos>",
    ],
)
def test_a_token_of_any_template_loses_its_beginning(text: str) -> None:
    assert without_signs(f"a {text} b", TOKENS) == f"a ({text[1:]} b"


@pytest.mark.parametrize(
    "text", ["i <3 you", "1 <| 2", "[| ]", "# The mill", "### Mara", "[OOC: wait]", "{{user}}", "USER: hello"]
)
def test_what_is_no_token_stays(text: str) -> None:
    assert without_signs(text, TOKENS) == text


OTHERS = "<turn|> <|turn> [TOOL_CALLS] [AVAILABLE_TOOLS] [/TOOL_RESULTS] [BOS] <tool_call> </tool_call> <think> <eos>"


@pytest.mark.parametrize("token", OTHERS.split())
def test_tokens_that_divide_no_prompt_are_made_harmless_too(token: str) -> None:
    assert without_signs(f"a {token} b", TOKENS) == f"a ({token[1:]} b"


@pytest.mark.parametrize("text", ["a <b>bold</b> word", "[tool calls]", "x < y|z >", "a <smile> and [BOSS]"])
def test_words_between_the_same_brackets_stay(text: str) -> None:
    assert without_signs(text, TOKENS) == text

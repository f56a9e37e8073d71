"""Chats in four languages, as frontends write them in the templates of twenty families of models."""

from __future__ import annotations

from collections.abc import Callable

Line = tuple[str, str]
Written = Callable[[str, list[Line], str], str]
"""Story, lines of ``user`` and ``assistant``, and whose turn is open: the prompt."""

CHATS: dict[str, tuple[str, list[Line], tuple[str, str]]] = {
    "en": (
        "Ysolde keeps the salt gate.\nGrey coat: patient voice.\n\nNight. Rain.",
        [
            ("assistant", '*The lamp hisses.* "State your name."\n\nShe waits.'),
            ("user", "I am Alex.  I came by the river: [alone] <late>."),
            ("assistant", "She nods.\n```\ncode | stays\n```\nAnd waits."),
            ("user", "I show the key."),
        ],
        ("Alex", "Ysolde"),
    ),
    "ko": (
        "이졸데는 소금 문을 지킨다.\n회색 외투, 느린 말투.",
        [
            ("assistant", "*등불이 흔들린다.* “이름을 말해.”"),
            ("user", "나는 민호다. 강을 따라 왔다."),
            ("assistant", "그녀가 고개를 끄덕인다.\n\n비가 온다."),
            ("user", "열쇠를 보여준다."),
        ],
        ("민호", "이졸데"),
    ),
    "ja": (
        "イゾルデは塩の門を守る。\n灰色の外套。",
        [
            ("assistant", "「名を名乗れ」と彼女は言う。"),
            ("user", "私はアキラ。川から来た。"),
            ("assistant", "彼女はうなずく。\n雨が降る。"),
            ("user", "鍵を見せる。"),
        ],
        ("アキラ", "イゾルデ"),
    ),
    "zh": (
        "伊索尔德守着盐门。\n灰色的外衣。",
        [
            ("assistant", "“报上名来。”她说。"),
            ("user", "我叫阿力，沿河而来。"),
            ("assistant", "她点点头。\n下雨了。"),
            ("user", "我拿出钥匙。"),
        ],
        ("阿力", "伊索尔德"),
    ),
}


def _by_roles(heads: dict[str, str], tails: dict[str, str], start: str = "") -> Written:
    def written(story: str, lines: list[Line], opened: str) -> str:
        said = "".join(heads[role] + text + tails[role] for role, text in [("system", story), *lines])
        return start + said + (heads[opened].rstrip(" ") if opened else "")

    return written


def _same(head: str, between: str, tail: str, names: tuple[str, str, str], start: str = "") -> Written:
    roles = dict(zip(("system", "user", "assistant"), names, strict=True))
    return _by_roles({role: head + name + between for role, name in roles.items()}, dict.fromkeys(roles, tail), start)


_PLAIN = ("system", "user", "assistant")


def _instructed(system: tuple[str, str], ends: str, space: str, start: str) -> Written:
    """``[INST] … [/INST] …``: the user's marks are closed, the model's text is not opened."""

    def written(story: str, lines: list[Line], opened: str) -> str:
        text, inside = start + system[0] + story + system[1], system[1].startswith("\n<</SYS>>")
        for role, said in lines:
            if role == "user":
                text += ("" if inside else f"[INST]{space}") + said + f"{space}[/INST]"
            else:
                text += f" {said}{ends}" if not inside else f"{space}[/INST] {said}{ends}"
            inside = False
        return text + (f"[INST]{space}" if opened == "user" else "")

    return written


TEMPLATES: dict[str, Written] = {
    "ChatML": _same("<|im_start|>", "\n", "<|im_end|>\n", _PLAIN),
    "Llama 2": _instructed(("[INST] <<SYS>>\n", "\n<</SYS>>\n\n"), " </s><s>", " ", "<s>"),
    "Llama 3": _same("<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>", _PLAIN, "<|begin_of_text|>"),
    "Llama 4": _same("<|header_start|>", "<|header_end|>\n\n", "<|eot|>", _PLAIN, "<|begin_of_text|>"),
    "Mistral V7": _instructed(("[SYSTEM_PROMPT] ", "[/SYSTEM_PROMPT]"), "</s>", " ", "<s>"),
    "Mistral V3": _instructed(("[INST] ", "[/INST]"), "</s>", " ", "<s>"),
    "Mistral Tekken": _instructed(("[INST]", "[/INST]"), "</s>", "", ""),
    "Alpaca": _by_roles(
        {"system": "", "user": "### Instruction:\n", "assistant": "### Response:\n"},
        {"system": "\n\n", "user": "\n\n", "assistant": "\n\n"},
    ),
    "Vicuna": _by_roles(
        {"system": "", "user": "USER: ", "assistant": "ASSISTANT: "},
        {"system": "\n\n", "user": "\n", "assistant": "</s>\n"},
    ),
    "Gemma": _same("<start_of_turn>", "\n", "<end_of_turn>\n", ("user", "user", "model"), "<bos>"),
    "Metharme": _by_roles(
        {"system": "<|system|>", "user": "<|user|>", "assistant": "<|model|>"}, dict.fromkeys(_PLAIN, "")
    ),
    "Command R": _same(
        "<|START_OF_TURN_TOKEN|><|", "_TOKEN|>", "<|END_OF_TURN_TOKEN|>", ("SYSTEM", "USER", "CHATBOT"), "<BOS_TOKEN>"
    ),
    "DeepSeek": _by_roles(
        {"system": "", "user": "<｜User｜>", "assistant": "<｜Assistant｜>"},
        {"system": "\n\n", "user": "", "assistant": "<｜end▁of▁sentence｜>"},
        "<｜begin▁of▁sentence｜>",
    ),
    "Phi-4": _same("<|im_start|>", "<|im_sep|>", "<|im_end|>", _PLAIN),
    "Harmony": _by_roles(
        {
            "system": "<|start|>developer<|message|>",
            "user": "<|start|>user<|message|>",
            "assistant": "<|start|>assistant<|channel|>final<|message|>",
        },
        dict.fromkeys(_PLAIN, "<|end|>"),
    ),
    "KoboldCpp": _by_roles(
        {"system": "{{[SYSTEM]}}", "user": "{{[INPUT]}}", "assistant": "{{[OUTPUT]}}"},
        {"system": "{{[SYSTEM_END]}}", "user": "{{[INPUT_END]}}", "assistant": "{{[OUTPUT_END]}}"},
    ),
    "EXAONE": _by_roles(
        {role: f"[|{role}|]" for role in _PLAIN},
        {"system": "[|endofturn|]\n", "user": "\n", "assistant": "[|endofturn|]\n"},
    ),
    "Granite": _same("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>\n", _PLAIN),
    "StableLM": _same("<|", "|>", "", ("SYSTEM", "USER", "ASSISTANT")),
    "Kimi": _by_roles(
        {role: f"<|im_{role}|>{role}<|im_middle|>" for role in _PLAIN}, dict.fromkeys(_PLAIN, "<|im_end|>")
    ),
    "OpenChat": _by_roles(
        {role: f"GPT4 Correct {role.capitalize()}: " for role in _PLAIN}, dict.fromkeys(_PLAIN, "<|end_of_turn|>")
    ),
    "Custom": _by_roles(
        {"system": "", "user": "@@Q@@ ", "assistant": "@@A@@ "}, {"system": "\n\n", "user": "\n", "assistant": "\n"}
    ),
}
STOPS: dict[str, list[str]] = {"Custom": ["@@Q@@", "@@A@@"]}
"""The stop sequences without which a template is not known."""


def named(story: str, lines: list[Line], names: tuple[str, str], opened: str) -> str:
    """A chat without a template: lines that begin with a name."""
    who = {"user": names[0], "assistant": names[1]}
    said = "\n".join(f"{who[role]}: {text}" for role, text in lines)
    return f"{story}\n***\n{said}" + (f"\n{who[opened]}:" if opened else "")

"""Instruct templates: the marks that begin and end the messages of a prompt.

The patterns of marks have no white space at their ends; adjacent white space always belongs to the mark. All patterns
are literals or have a bounded middle part, so that parsing takes time linear in the length of the prompt.
"""

from __future__ import annotations

import re
from functools import cached_property

from attrs import define, frozen

from saga_core.language import fold_name
from saga_core.messages import Frame

_ROLES = {
    "system": "system",
    "developer": "system",
    "input": "system",
    "user": "user",
    "human": "user",
    "instruction": "user",
}


@frozen
class Mark:
    """One mark. ``opens`` is the role whose message begins here, ``?`` if the mark names the role, or empty."""

    pattern: str
    opens: str = ""
    around: tuple[str, str] = ("", "")
    """The text before and after the name in the mark."""
    ends: bool = False
    """Whether a mark that opens a message also belongs to the message before it."""

    def role(self, text: str, player: str) -> str:
        """Return the role whose message this mark with the text ``text`` opens."""
        if self.opens != "?":
            return self.opens
        return role_of(text.removeprefix(self.around[0]).removesuffix(self.around[1]), player)


@define(eq=False)
class Template:
    """The marks of one family of models."""

    name: str
    marks: tuple[Mark, ...]
    frames: dict[str, tuple[str, str]]
    """The text around a message by role, used if the prompt itself has no such message."""
    loose: str = "system"
    """The role of text between the end of a message and the next beginning."""
    by_lines: bool = False
    """Whether each user message is one line, and the text after it is the model's."""
    outside: bool = False
    """Whether SAGA's text is put before the mark of a message instead of after it."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of all marks, with a group for each."""
        return re.compile("|".join(f"({mark.pattern})" for mark in self.marks), re.MULTILINE)

    @cached_property
    def openers(self) -> re.Pattern[str]:
        """The pattern of the marks that begin a message."""
        return re.compile("|".join(mark.pattern for mark in self.marks if mark.opens), re.MULTILINE)

    def frame(self, role: str) -> Frame:
        """Return the text around a message of ``role``."""
        head, tail = self.frames.get(role) or self.frames.get("user", ("", "\n"))
        return Frame(head, tail, role)


def role_of(name: str, player: str = "") -> str:
    """Return the role of a header's name. Those of tools and characters are the model's."""
    plain = name.strip("#[]: \r\n").lower()
    if player and fold_name(plain) == fold_name(player):
        return "user"
    return _ROLES.get(plain.partition(" ")[0], "assistant")


def _headed(head: str, between: str, end: str) -> dict[str, tuple[str, str]]:
    return {role: (f"{head}{role}{between}", end) for role in ("system", "user", "assistant")}


CHATML = Template(
    "ChatML",
    (
        Mark(
            r"<\|im_start\|>(?:[^\n<>|]{1,60}(?:<\|im_sep\|>|(?=\n|\Z))|(?=\s|\Z))",
            "?",
            ("<|im_start|>", "<|im_sep|>"),  # Phi uses the separator
        ),
        Mark(r"<\|im_end\|>"),
    ),
    _headed("<|im_start|>", "\n", "<|im_end|>\n"),
)
LLAMA_3 = Template(
    "Llama 3",
    (
        Mark(
            r"<\|start_header_id\|>[^\n<>|]{0,60}<\|end_header_id\|>", "?", ("<|start_header_id|>", "<|end_header_id|>")
        ),
        Mark(r"<\|eot_id\|>"),
        Mark(r"<\|begin_of_text\|>"),
    ),
    _headed("<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>"),
)
LLAMA_4 = Template(
    "Llama 4",
    (
        Mark(r"<\|header_start\|>[^\n<>|]{0,60}<\|header_end\|>", "?", ("<|header_start|>", "<|header_end|>")),
        Mark(r"<\|eot\|>"),
        Mark(r"<\|begin_of_text\|>"),
    ),
    _headed("<|header_start|>", "<|header_end|>\n\n", "<|eot|>"),
)
LLAMA_2 = Template(
    "Llama 2",
    (
        Mark(r"\[INST\][ \n]?<<SYS>>", "system"),
        Mark(r"<<SYS>>", "system"),
        Mark(r"<</SYS>>", "user", ends=True),
        Mark(r"\[INST\]", "user"),
        Mark(r"\[/INST\]", "assistant", ends=True),
        Mark(r"</s>"),
        Mark(r"<s>"),
    ),
    {"user": ("[INST] ", " [/INST]"), "assistant": (" ", " </s>")},
    loose="assistant",
)
MISTRAL = Template(
    "Mistral",
    (
        Mark(r"\[SYSTEM_PROMPT\]", "system"),
        Mark(r"\[/SYSTEM_PROMPT\]"),
        Mark(r"\[INST\]", "user"),
        Mark(r"\[/INST\]", "assistant", ends=True),
        Mark(r"</s>"),
        Mark(r"<s>"),
    ),
    {"user": ("[INST] ", "[/INST]"), "assistant": (" ", "</s>")},
    loose="assistant",
)
GEMMA = Template(
    "Gemma",
    (
        Mark(r"<start_of_turn>[a-z]{1,20}", "?", ("<start_of_turn>", "")),
        Mark(r"<end_of_turn>"),
        Mark(r"<bos>"),
    ),
    {
        "user": ("<start_of_turn>user\n", "<end_of_turn>\n"),
        "assistant": ("<start_of_turn>model\n", "<end_of_turn>\n"),
    },
)
METHARME = Template(
    "Metharme",
    (
        Mark(r"<\|(?:system|user|model|assistant|observation|SYSTEM|USER|ASSISTANT)\|>", "?", ("<|", "|>")),
        Mark(r"</s>"),
        Mark(r"<\|end\|>"),
        Mark(r"<\|endoftext\|>"),
        Mark(r"\[gMASK\](?:<sop>)?"),
    ),
    {"system": ("<|system|>", ""), "user": ("<|user|>", ""), "assistant": ("<|model|>", "")},
)
COMMAND_R = Template(
    "Command R",
    (
        Mark(
            r"<\|START_OF_TURN_TOKEN\|><\|(?:SYSTEM|USER|CHATBOT)_TOKEN\|>",
            "?",
            ("<|START_OF_TURN_TOKEN|><|", "_TOKEN|>"),
        ),
        Mark(r"<\|END_OF_TURN_TOKEN\|>"),
        Mark(r"<BOS_TOKEN>"),
    ),
    {
        role: (f"<|START_OF_TURN_TOKEN|><|{name}_TOKEN|>", "<|END_OF_TURN_TOKEN|>")
        for role, name in (("system", "SYSTEM"), ("user", "USER"), ("assistant", "CHATBOT"))
    },
)
DEEPSEEK = Template(
    "DeepSeek",
    (
        Mark("<｜(?:User|Assistant)｜>", "?", ("<｜", "｜>")),
        Mark("<｜end▁of▁sentence｜>"),
        Mark("<｜begin▁of▁sentence｜>"),
    ),
    {"user": ("<｜User｜>", ""), "assistant": ("<｜Assistant｜>", "<｜end▁of▁sentence｜>"), "system": ("", "\n\n")},
)
HARMONY = Template(
    "Harmony",
    (
        Mark(r"<\|start\|>(?:system|developer)(?:<\|message\|>)?", "system"),
        Mark(r"<\|start\|>user(?:<\|message\|>)?", "user"),
        Mark(r"<\|start\|>assistant(?:<\|channel\|>[a-z]{1,20})?(?:<\|message\|>)?", "assistant"),
        Mark(r"<\|(?:end|return|call)\|>"),
    ),
    {
        "system": ("<|start|>developer<|message|>", "<|end|>"),
        "user": ("<|start|>user<|message|>", "<|end|>"),
        "assistant": ("<|start|>assistant<|channel|>final<|message|>", "<|end|>"),
    },
)
KOBOLDCPP = Template(
    "KoboldCpp",  # placeholders that KoboldCpp replaces by the marks of its model
    (
        Mark(r"\{\{\[SYSTEM\]\}\}", "system"),
        Mark(r"\{\{\[INPUT\]\}\}", "user"),
        Mark(r"\{\{\[OUTPUT\]\}\}", "assistant"),
        Mark(r"\{\{\[(?:SYSTEM|INPUT|OUTPUT)_END\]\}\}"),
    ),
    {
        role: (f"{{{{[{name}]}}}}", f"{{{{[{name}_END]}}}}")
        for role, name in (("system", "SYSTEM"), ("user", "INPUT"), ("assistant", "OUTPUT"))
    },
)
EXAONE = Template(
    "EXAONE",
    (Mark(r"\[\|(?:system|user|assistant)\|\]", "?", ("[|", "|]")), Mark(r"\[\|endofturn\|\]")),
    {
        "system": ("[|system|]", "[|endofturn|]\n"),
        "user": ("[|user|]", "\n"),
        "assistant": ("[|assistant|]", "[|endofturn|]\n"),
    },
)
GRANITE = Template(
    "Granite",
    (
        Mark(r"<\|start_of_role\|>[a-z]{1,20}<\|end_of_role\|>", "?", ("<|start_of_role|>", "<|end_of_role|>")),
        Mark(r"<\|end_of_text\|>"),
    ),
    _headed("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>\n"),
)
KIMI = Template(
    "Kimi",
    (
        Mark(r"<\|im_system\|>[^\n<>|]{1,60}<\|im_middle\|>", "system"),
        Mark(r"<\|im_user\|>[^\n<>|]{1,60}<\|im_middle\|>", "user"),
        Mark(r"<\|im_assistant\|>[^\n<>|]{1,60}<\|im_middle\|>", "assistant"),
        Mark(r"<\|im_end\|>"),
    ),
    {role: (f"<|im_{role}|>{role}<|im_middle|>", "<|im_end|>") for role in ("system", "user", "assistant")},
)
OPENCHAT = Template(
    "OpenChat",
    (
        Mark(r"(?:^|(?<=<\|end_of_turn\|>))GPT4 Correct System:", "system"),
        Mark(r"(?:^|(?<=<\|end_of_turn\|>))GPT4 Correct User:", "user"),
        Mark(r"(?:^|(?<=<\|end_of_turn\|>))GPT4 Correct Assistant:", "assistant"),
        Mark(r"<\|end_of_turn\|>"),
    ),
    {
        "system": ("GPT4 Correct System: ", "<|end_of_turn|>"),
        "user": ("GPT4 Correct User: ", "<|end_of_turn|>"),
        "assistant": ("GPT4 Correct Assistant: ", "<|end_of_turn|>"),
    },
)
ALPACA = Template(
    "Alpaca",
    (
        Mark(r"^### ?(?:Instruction|Response|Input|System|Human|User|Assistant)\b[^\n:]{0,80}:", "?"),
        Mark(r"</s>"),
    ),
    {
        "system": ("### Input:\n", "\n\n"),
        "user": ("### Instruction:\n", "\n\n"),
        "assistant": ("### Response:\n", "\n\n"),
    },
)
VICUNA = Template(
    "Vicuna",
    (Mark(r"(?:^|(?<=</s>))(?:USER|HUMAN|ASSISTANT|SYSTEM):|(?<= )(?:USER|ASSISTANT):", "?"), Mark(r"</s>")),
    {"system": ("SYSTEM: ", "\n"), "user": ("USER: ", "\n"), "assistant": ("ASSISTANT: ", "</s>\n")},
)

ADVENTURE = Template(
    "adventure",
    (Mark(r"^>(?=[ \t]*\S)", "user"),),
    {"user": ("> ", "\n"), "assistant": ("", "\n"), "system": ("", "\n\n")},
    by_lines=True,
    outside=True,
)
"""The player's actions are lines that begin with ``>``. Used only if the stop sequences show this format."""

TEMPLATES = (
    KOBOLDCPP,
    CHATML,
    LLAMA_3,
    LLAMA_4,
    HARMONY,
    COMMAND_R,
    GEMMA,
    DEEPSEEK,
    LLAMA_2,
    MISTRAL,
    METHARME,
    EXAONE,
    GRANITE,
    KIMI,
    OPENCHAT,
    ALPACA,
    VICUNA,
)
"""Most distinctive first. If nothing else decides, the first template whose marks occur is used."""


def _tokens(mark: Mark) -> tuple[str, ...]:
    """The patterns of what a model could take for this mark, also within a line. Plain words ("USER:") are none."""
    before, after = map(re.escape, mark.around)
    named = before if before.endswith(">") else before and rf"{before}\w{{1,40}}{after}"
    found = (mark.pattern.removeprefix("^"), named)
    return tuple(each for each in found if each and not each.startswith("(?"))


_NO_MARKS = (
    r"<\|\w{1,40}>",
    r"<\w{1,40}\|>",
    r"</?(?:tool_calls?|tool_responses?|tools|function_calls?|think|thinking|bos|eos|unk|pad|sop|eop|mask)>",
    r"\[/?(?:TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|THINK|BOS|EOS|UNK|PAD)\]",
)
"""Tokens of models that no prompt is divided by."""
_EVERY = "|".join((*(each for form in TEMPLATES for mark in form.marks for each in _tokens(mark)), *_NO_MARKS))
TOKENS = re.compile(rf"[<\[{{#](?<=(?={_EVERY}).)")
"""The first character of a token in any template."""

"""Prompts of frontends of every kind, with the stop sequences that they send: odd templates, names, and no marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from tests.core.text_prompt.templates import Line

USER, MODEL, SYSTEM = "user", "assistant", "system"
Written = Callable[[Sequence[Line], str], str]
"""Lines, and whose turn is open ("" for none): the prompt."""
STORY = "Ysolde keeps the salt gate. She trusts nobody who comes by night.\nScenario: It rains. Alex stands outside."


@frozen
class Talk:
    """A chat that is written."""

    greeting: str
    words: tuple[str, str, str]
    replies: tuple[str, str, str]


EN = Talk(
    '*The gate lamp hisses.* "State your name, traveller."',
    ("I came by the river road, alone.", "I show her the brass key.", "I bow, and step inside."),
    (
        "She lifts the lamp and looks at you for a long while.",
        "She turns the key over in her hand, twice.",
        "The hall behind the gate smells of salt.",
    ),
)
KO = Talk(
    '*문등이 지직거린다.* "이름을 대라."',
    ("강길을 따라 혼자 왔어요.", "놋쇠 열쇠를 보여 준다.", "고개를 숙이고 들어간다."),
    (
        "여우비는 등불을 들어 당신을 한참 바라본다.",
        "그녀는 열쇠를 두 번 뒤집어 본다.",
        "문 뒤의 홀에서는 소금 냄새가 난다.",
    ),
)
JA = Talk(
    "*門灯が鳴る。*「名を名乗れ。」",
    ("川の道から来ました。", "真鍮の鍵を見せます。", "お辞儀をして入ります。"),
    (
        "さくらは灯りを掲げ、あなたを長く見つめる。",
        "彼女は鍵を手の中で二度ひっくり返す。",
        "門の奥の広間は塩の匂いがする。",
    ),
)
ZH = Talk(
    "*门灯嘶嘶作响。*“报上名来。”",
    ("我独自沿着河路来。", "我给她看黄铜钥匙。", "我鞠了一躬，走了进去。"),
    ("她举起灯，久久地看着你。", "她把钥匙翻来覆去看了两遍。", "门后的大厅有盐的味道。"),
)


@frozen
class Frontend:
    """How a frontend writes its prompts."""

    name: str
    written: Written
    stops: Sequence[str] = ()
    path: str = "/v1/completions"
    talk: Talk = EN
    names: tuple[str, str] = ("Alex", "Ysolde")
    player: str = ""
    """The player's name, where the request tells it."""
    for_the_player: Sequence[str] = ()
    """The stop sequences with which the player's own line is asked for, where they are others."""
    asks_for_both: bool = True
    """Whether it also asks for the rest of a reply and for the player's own line."""
    at_once: bool = False
    """Whether the first words and the story stand in one message, and nothing tells them apart yet."""
    fields: Mapping[str, object] = field(factory=dict)


def marked(
    system: tuple[str, str],
    user: tuple[str, str],
    model: tuple[str, str],
    *,
    story: str = STORY,
    start: str = "",
    names: tuple[str, str] = ("", ""),
    begun: str = "",
    last: str = "",
    note: tuple[int, str] | None = None,
) -> Written:
    """With marks around each message. ``begun``: what the reply is to begin with; ``last``: the last header, if it is
    another; ``note``: a message of the system that many lines above the end."""
    around = {SYSTEM: system, USER: user, MODEL: model}
    name = dict(zip((USER, MODEL), (f"{each}: " if each else "" for each in names), strict=True))

    def written(lines: Sequence[Line], opened: str) -> str:
        said = [(role, name.get(role, "") + text) for role, text in lines]
        if note is not None:
            said.insert(max(0, len(said) - note[0]), (SYSTEM, note[1].format(len(said))))
        said = [(SYSTEM, story), *said] if story else said
        text = start + "".join(around[role][0] + line + around[role][1] for role, line in said)
        if not opened:
            return text.removesuffix(around[MODEL][1]) if around[MODEL][1] else text
        head = last if last and opened == MODEL else around[opened][0]
        return text + head + name[opened].rstrip() + (begun if opened == MODEL else "")

    return written


def by_name(story: str, names: tuple[str, str], *, between: str = "\n", form: str = "{}: ") -> Written:
    """Lines that begin with a name."""
    who = {USER: form.format(names[0]), MODEL: form.format(names[1])}

    def written(lines: Sequence[Line], opened: str) -> str:
        parts = [*([story] if story else []), *(who[role] + text for role, text in lines)]
        return between.join([*parts, *([who[opened].rstrip()] if opened else [])])

    return written


def _chatml(**more: object) -> Written:
    between = {role: (f"<|im_start|>{role}\n", "<|im_end|>\n") for role in (SYSTEM, USER, MODEL)}
    return marked(between[SYSTEM], between[USER], between[MODEL], **more)  # type: ignore[arg-type]


def _adventure(lines: Sequence[Line], opened: str) -> str:
    return "The salt gate, at night.\n" + "".join(f"\n> {text}\n" if role == USER else text for role, text in lines)


def _within(head: str, tail: str, name: str) -> Written:
    """The whole chat in one instruction."""
    inside = by_name(head, (name, "Ysolde"))

    def written(lines: Sequence[Line], opened: str) -> str:
        return inside(lines, "") + (tail + {USER: f"{name}:", MODEL: "Ysolde:"}[opened] if opened else "")

    return written


_LITE = "/api/v1/generate"
_BLANK = ("", "\n\n")
_ALPACA = (_BLANK, ("### Instruction:\n", "\n\n"), ("### Response:\n", "\n\n"))
_AGNAI = "### Instruction:\nWrite Ysolde's next reply in a chat between Ysolde and Alex.\n\n### History:"
_WEBUI = "<|im_start|>user\nContinue the chat dialogue below. Write a single reply for Ysolde.\n"
_EOS = "<｜end▁of▁sentence｜>"
_BOTH = ("\nYsolde:", "\nAlex:")

FRONTENDS = (
    Frontend(
        "a name with a title, and both names as stops",
        by_name("Dr. Nael O'Hara is a physician.\n***", ("Alex", "Dr. Nael O'Hara")),
        ("\nAlex:", "\nDr. Nael O'Hara:"),
        names=("Alex", "Dr. Nael O'Hara"),
        player="Alex",
    ),
    Frontend(
        "KoboldAI Lite, chat",
        by_name("", ("User", "KoboldGPT")),
        ("User:", "\nUser ", "\nKoboldGPT: "),
        _LITE,
        names=("User", "KoboldGPT"),
        player="User",
        fields={"memory": "KoboldGPT is a warden.\n", "max_context_length": 16_384},
    ),
    Frontend(
        "KoboldAI Lite, instruct",
        marked(("", ""), ("\n### Instruction:\n", ""), ("\n### Response:\n", ""), story="The salt gate."),
        ("### Instruction:", "### Response:"),
        _LITE,
    ),
    Frontend(
        "KoboldCpp's own marks",
        marked(
            ("{{[SYSTEM]}}", "{{[SYSTEM_END]}}"),
            ("{{[INPUT]}}", "{{[INPUT_END]}}"),
            ("{{[OUTPUT]}}", "{{[OUTPUT_END]}}"),
        ),
        ("{{[INPUT]}}", "{{[OUTPUT]}}"),
        _LITE,
    ),
    Frontend("an adventure", _adventure, ("\n> ",), _LITE, asks_for_both=False),
    Frontend(
        "Pygmalion",
        by_name("Ysolde's Persona: warden.\n<START>", ("You", "Ysolde")),
        ("\nYou:",),
        names=("You", "Ysolde"),
        player="You",
    ),
    Frontend(
        "Vicuna in one line",
        marked(("", " "), ("USER: ", " "), ("ASSISTANT: ", "</s>"), last="ASSISTANT:"),
        ("USER:", "</s>"),
    ),
    Frontend(
        "Alpaca in a group, four stops",
        marked(*_ALPACA, story="夜の塩門。", names=("鈴木 一郎", "田中 さくら")),
        ("\n鈴木 一郎:", "\n山田 花子:", "\n老人:", "\n門番:"),
        talk=JA,
        names=("鈴木 一郎", "田中 さくら"),
        player="鈴木 一郎",
    ),
    Frontend(
        "a picture in a name",
        _chatml(story="", names=("김 민수", "🦊 여우비")),
        ("\n김 민수:", "<|im_end|>"),
        talk=KO,
        names=("김 민수", "🦊 여우비"),
        player="김 민수",
        asks_for_both=False,
    ),
    Frontend("a note that changes", _chatml(note=(1, "[Time: {} o'clock.]")), ("<|im_end|>", "<|im_start|>")),
    Frontend("Agnai", _within(_AGNAI, "\n\n### Response:\n", "Alex"), ("\nAlex:", "###"), player="Alex", at_once=True),
    Frontend(
        "text-generation-webui, chat-instruct",
        _within(_WEBUI, "<|im_end|>\n<|im_start|>assistant\n", "You"),
        ("\nYou:", "\nYsolde:", "<|im_end|>"),
        names=("You", "Ysolde"),
        player="You",
        at_once=True,
    ),
    Frontend(
        "Alpaca, the last header decorated",
        marked(*_ALPACA, names=("Alex", "Ysolde"), last="### Response (2 paragraphs, vivid):\n"),
        ("\nAlex:", "\n### Instruction:", "\n### Response:"),
        player="Alex",
    ),
    Frontend(
        "Harmony",
        marked(
            ("<|start|>system<|message|>", "<|end|>"),
            ("<|start|>user<|message|>", "<|end|>"),
            ("<|start|>assistant<|channel|>final<|message|>", "<|end|>"),
        ),
        ("<|return|>", "<|end|>"),
    ),
    Frontend(
        "RisuAI",
        by_name(f"system: {STORY}", ("Alex", "Ysolde"), between="\n\n"),
        ("\nAlex:", "\n\nAlex:", "\n\nsystem:"),
        player="Alex",
    ),
    Frontend(
        "DeepSeek, no thoughts",
        marked(
            ("", ""),
            ("<｜User｜>", ""),
            ("<｜Assistant｜>", _EOS),
            start="<｜begin▁of▁sentence｜>",
            begun="<think>\n\n</think>\n\n",
        ),
        ("<｜User｜>",),
    ),
    Frontend(
        "one name begins with the other",
        by_name("Alba keeps the gate. Al came at night.", ("Al", "Alba")),
        ("\nAl:", "\nAlba:"),
        talk=Talk(
            EN.greeting,
            EN.words,
            (
                "She lifts the lamp.\nGuard: Halt!\nNote: the guard is drunk.",
                '"Al: is that your name?" she asks.\nGuard: Aye.',
                "The hall smells of salt.\nGuard: Mind the step.",
            ),
        ),
        names=("Al", "Alba"),
        player="Al",
    ),
    Frontend("carriage returns", lambda lines, to: _chatml()(lines, to).replace("\n", "\r\n"), ("<|im_end|>",)),
    Frontend("Backyard", by_name("Warden.", ("Alex", "Ysolde"), form="#{}: "), ("\n#Alex:", "\n#")),
    Frontend("a reply that is begun", _chatml(names=("", "Ysolde"), begun=" *"), ("\nAlex:",), player="Alex"),
    Frontend(
        "wide colons",
        by_name("盐门的守卫。", ("小明", "艾琳"), form="{}："),
        ("\n小明：", "\n小明:"),
        talk=ZH,
        names=("小明", "艾琳"),
        player="小明",
    ),
    Frontend(
        "no stops: Human and Assistant",
        by_name("", ("Human", "Assistant"), between="\n\n"),
        names=("Human", "Assistant"),
        asks_for_both=False,
    ),
    Frontend("no stops: User and AI", by_name("A warden.", ("User", "AI")), names=("User", "AI"), asks_for_both=False),
    Frontend("both names, the player last", by_name("Ysolde is old.", ("Alex", "Ysolde")), _BOTH, player="Alex"),
    Frontend(
        "the player's line in SillyTavern's way",
        by_name("Write Ysolde's next reply in a chat between Ysolde and Alex.", ("Alex", "Ysolde")),
        ("\nAlex:",),
        player="Alex",
        for_the_player=_BOTH,
    ),
    Frontend(
        "a council of six, four stops",
        by_name("A council of six.", ("Alex", "Ysolde")),
        ("\nAlex:", "\nBram:", "\nCato:", "\nDelia:"),
        player="Alex",
    ),
    Frontend(
        "names in the place of roles",
        marked(*((f"<|im_start|>{name}\n", "<|im_end|>\n") for name in ("system", "Sir Alex", "Lady Ysolde"))),
        ("\nSir Alex:", "<|im_end|>"),
        player="Sir Alex",
    ),
    Frontend(
        "marks in a reply",
        _chatml(story="Format:\n### Response:\nAlex: example\n[INST] nothing [/INST]"),
        ("<|im_end|>",),
        talk=Talk(
            EN.greeting,
            EN.words,
            ("She writes `<|im_start|>` on the wall.", "### Response: she says.", "Done, [INST] and all."),
        ),
    ),
)


def kept_whole(prompt: str, sent: str) -> bool:
    """Whether ``sent`` is ``prompt`` with at most two texts put into it."""
    most = min(len(prompt), len(sent))
    begins = next((at for at in range(most) if prompt[at] != sent[at]), most)
    ends = next((at for at in range(most - begins) if prompt[-1 - at] != sent[-1 - at]), most - begins)
    return prompt[begins : len(prompt) - ends] in sent[begins : len(sent) - ends]

"""A player's SillyTavern folder, written from the formats' descriptions alone, before anything of SAGA was read.

Four languages. Each character has a chat with swipes, hidden messages, a narrator, words in a row and turns without
words; three branches, one of them off a branch and one off a swipe that was not taken; a checkpoint; and a chat from
another greeting. There are two groups, of which one has an old file without a header.
"""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from attrs import define, field, frozen

# fmt: off
LANGUAGES: dict[str, dict[str, Any]] = {
    "en": {
        "char": "Mira", "me": "Tom", "places": "harbour mill chapel quarry market cellar tower ferry",
        "things": "lantern key rope map coin dagger flute ledger", "short": ["Yes.", '"Maybe."', "*nods*"],
        "said": ["I walk to the {p} and look for the {t}.", '"Where did you leave the {t}?" I ask at the {p}.',
                 "*I sit down.* Tell me about the {p}, {n}.", "Go on."],
        "told": ['*She nods slowly.* "The {t} is at the {p}, where my brother hid it {n} winters ago." She waits.',
                 'Rain drums on the {p}. Mira counts to {n} and hands you the {t}.\n\n"Do not lose it," she says.',
                 '"Number {n}? I never saw the {t}." She laughs, and the {p} answers with an echo.'],
        "greeting": '*Rain.* Mira looks up. "You must be {{user}}. I am {{char}}, and the mill is closed."',
        "next": "And now for something quite new here.",
    },
    "ko": {
        "char": "서연", "me": "민준", "places": "항구 방앗간 성당 채석장 시장 지하실 탑 나루터",
        "things": "등불 열쇠 밧줄 지도 동전 단검 피리 장부", "short": ["응.", "“글쎄.”", "*끄덕*"],
        "said": ["나는 {p} 쪽으로 걸어가서 {t} 하나를 찾는다.", "“{t}, 어디에 두었어?” {p}에서 묻는다.",
                 "*자리에 앉는다.* {p} 이야기를 해 줘, {n}번째로.", "계속해."],
        "told": ["*천천히 고개를 끄덕인다.* “{t}? {p}에 있어. {n}년 전 겨울에 오빠가 숨겼거든.” 그녀는 기다린다.",
                 "{p}에 비가 쏟아진다. 서연은 {n}까지 세고 {t}부터 건넨다.\n\n“잃어버리지 마.”",
                 "“{n}번? {t}, 그건 본 적 없어.” 그녀가 웃자 {p} 쪽에서 메아리가 답한다."],
        "greeting": "*비가 온다.* 서연이 고개를 든다. “네가 {{user}}구나. 나는 {{char}}이고, 방앗간은 닫았어.”",
        "next": "이제 아주 새로운 일을 해 보자.",
    },
    "ja": {
        "char": "美咲", "me": "健太", "places": "港 水車小屋 礼拝堂 採石場 市場 地下室 塔 渡し場",
        "things": "ランタン 鍵 ロープ 地図 硬貨 短剣 笛 帳簿", "short": ["うん。", "「たぶん。」", "*うなずく*"],
        "said": ["{p}へ歩いて{t}を探す。", "「{t}はどこに置いたの?」と{p}で尋ねる。",
                 "*座る。* {p}のことを話して、{n}回目だけど。", "続けて。"],
        "told": ["*ゆっくりうなずく。* 「{t}は{p}にあるわ。{n}年前の冬に兄が隠したの。」彼女はフードをかぶって待つ。",
                 "{p}に雨が降る。美咲は{n}まで数えて{t}を手渡す。\n\n「なくさないでね。」",
                 "「{n}番? {t}なんて見たことない。」彼女が笑うと{p}がこだまで答える。"],
        "greeting": "*雨。* 美咲が顔を上げる。「{{user}}さんね。私は{{char}}、水車は閉まってるわ。」",
        "next": "さあ、まったく新しいことをしよう。",
    },
    "zh": {
        "char": "小雨", "me": "阿明", "places": "港口 磨坊 教堂 采石场 市场 地窖 塔楼 渡口",
        "things": "灯笼 钥匙 绳子 地图 硬币 匕首 笛子 账本", "short": ["嗯。", "“也许。”", "*点头*"],
        "said": ["我走到{p}去找{t}。", "“{t}放在哪里了?”我在{p}问。", "*坐下。* 给我讲讲{p},第{n}次了。", "继续。"],
        "told": ["*她慢慢点头。* “{t}在{p},{n}年前的冬天我哥哥藏的。”她拉上兜帽等着。",
                 "雨打在{p}上。小雨数到{n},把{t}递给你。\n\n“别弄丢了。”",
                 "“{n}号?我没见过{t}。”她笑了,{p}用回声作答。"],
        "greeting": "*雨。* 小雨抬起头。“你就是{{user}}吧。我是{{char}},磨坊关了。”",
        "next": "现在来做点全新的事情吧。",
    },
}
# fmt: on
Message = dict[str, Any]


@frozen
class Place:
    """A place in a chat, with what the frontend sends there: roles and texts, up to the last reply."""

    file: str
    what: str
    history: tuple[tuple[str, str], ...]
    next: str


@define
class Folder:
    """The files of a folder, and places in its chats."""

    turns: int
    seed: int = 7
    files: dict[str, bytes] = field(factory=dict)
    places: list[Place] = field(factory=list)
    _count: int = 0
    _dice: random.Random = field(factory=random.Random)

    def __attrs_post_init__(self) -> None:
        self._dice.seed(self.seed)
        for language in LANGUAGES:
            self._character(language)
        self._group("en", headed=True)
        self._group("ko", headed=False)
        power_user = {
            "personas": {f"{key}.png": each["me"] for key, each in LANGUAGES.items()},
            "persona_descriptions": {f"{key}.png": {"description": key, "position": 0} for key in LANGUAGES},
        }
        self._json("settings.json", {"username": "Tom", "power_user": power_user, "temp_openai": 1})

    # -- messages ------------------------------------------------------------------------------------------------

    def _text(self, language: str, what: str) -> str:
        words = LANGUAGES[language]
        self._count += 1
        place, thing = (self._dice.choice(words[each].split()) for each in ("places", "things"))
        text: str = self._dice.choice(words[what]).format(p=place, t=thing, n=self._count)
        return text

    def _user(self, language: str, number: int) -> Message:
        return {
            "name": LANGUAGES[language]["me"], "is_user": True, "is_system": False, "send_date": _date(number),
            "mes": self._text(language, "said"), "extra": {}, "force_avatar": f"User Avatars/{language}.png",
        }  # fmt: skip

    def _bot(self, language: str, number: int, name: str = "") -> Message:
        dice = self._dice
        extra: Message = {"api": "openai", "model": "m", "token_count": 40, "reasoning": f"I think about {number}."}
        text = self._text(language, "told")
        if dice.random() < 0.06:
            text = dice.choice(LANGUAGES[language]["short"])
        if dice.random() < 0.05:
            extra["display_text"] = f"<b>{text}</b>"
        swipes, taken = [text], 0
        if dice.random() < 0.25 or number == self.turns // 2:
            swipes = [self._text(language, "told") for _ in range(dice.randint(2, 5))]
            taken = dice.randrange(len(swipes))
            swipes[taken] = text
        return {
            "name": name or LANGUAGES[language]["char"], "is_user": False, "is_system": False,
            "send_date": _date(number), "mes": text, "extra": extra, "swipe_id": taken, "swipes": swipes,
            "swipe_info": [{"send_date": _date(number), "extra": {"reasoning": "r"}} for _ in swipes],
            "gen_started": "2024-11-01T10:00:00Z", "gen_finished": "2024-11-01T10:00:09Z",
        }  # fmt: skip

    def _greeting(self, language: str, taken: int = 0) -> Message:
        both = [LANGUAGES[language]["greeting"], LANGUAGES[language]["greeting"] + " (2)"]
        return {
            "name": LANGUAGES[language]["char"], "is_user": False, "is_system": False, "send_date": _date(0),
            "mes": both[taken], "extra": {}, "swipe_id": taken, "swipes": both, "swipe_info": [{}, {}],
        }  # fmt: skip

    def _play(self, language: str, rows: list[Message], turns: int) -> list[Message]:
        for number in range(turns):
            chance = self._dice.random()
            if chance < 0.05:
                rows += [self._user(language, number), self._user(language, number)]
            elif chance >= 0.09:  # else the character goes on by itself
                rows.append(self._user(language, number))
            if self._dice.random() < 0.03:
                narrator = {**self._bot(language, number), "name": "Narrator", "mes": f"The clock strikes {number}."}
                rows.append({**narrator, "swipes": [], "extra": {"type": "narrator", "isSmallSys": True}})
            rows.append(self._bot(language, number))
        return rows

    # -- files ---------------------------------------------------------------------------------------------------

    def _json(self, path: str, plain: Any) -> None:
        self.files[f"data/{path}"] = json.dumps(plain, ensure_ascii=False).encode()

    def _chat(self, path: str, header: Message | None, rows: Sequence[Message], *, end: str, mark: bool) -> None:
        lines = [json.dumps(each, ensure_ascii=False) for each in ([header] if header else []) + list(rows)]
        raw = end.join(lines).encode() + (end.encode() if self._dice.random() < 0.5 else b"")
        self.files[f"data/{path}"] = (b"\xef\xbb\xbf" if mark else b"") + raw

    def _character(self, language: str) -> None:
        words = LANGUAGES[language]
        char = words["char"]
        data = {"name": char, "description": "{{char}}: a guide.", "first_mes": words["greeting"],
                "alternate_greetings": [words["greeting"] + " (2)"], "extensions": {
                    "world": f"Lore {language}"}}  # fmt: skip
        self.files[f"data/characters/{char}.png"] = _picture({"spec": "chara_card_v2", "data": data})
        entry = {"uid": 0, "key": [words["places"].split()[0]], "content": "Lore.", "comment": "harbour", "order": 100}
        self._json(f"worlds/Lore {language}.json", {"entries": {"0": entry}})
        base = f"{char} - 2024-11-01"
        old = {"user_name": words["me"], "character_name": char, "create_date": "2024-11-01@10h00m00s"}
        new = {"user_name": "unused", "character_name": "unused"}
        main = self._play(language, [self._greeting(language)], self.turns)
        for row in main[self.turns // 3 : self.turns // 3 + 6]:
            row["is_system"] = True
        half, late = len(main) // 2, len(main) * 4 // 5
        shown = [at for at, row in enumerate(main) if len(row.get("swipes", [])) > 1 and not row["is_system"]]
        swiped = next(at for at in shown if at > 8)
        other = _copy(main[: swiped + 1])
        taken = (other[-1]["swipe_id"] + 1) % len(other[-1]["swipes"])
        other[-1] |= {"swipe_id": taken, "mes": other[-1]["swipes"][taken]}
        first = self._play(language, _copy(main[:half]), 9)
        main[late - 1]["extra"]["bookmark_link"] = f"Checkpoint #1 - {base}"
        files: dict[str, tuple[Message, str, list[Message]]] = {
            base: (new if language == "ja" else old, "", main),
            f"Branch #1 - {base}": (old, base, first),
            f"Branch #2 - {base}": (old, f"Branch #1 - {base}", self._play(language, _copy(first[:-3]), 5)),
            f"Branch #3 - {base}": (old, base, self._play(language, other, 6)),
            f"Checkpoint #1 - {base}": (new, base, self._play(language, _copy(main[:late]), 7)),
            f"{char} - 2024-12-24": (old, "", self._play(language, [self._greeting(language, 1)], 6)),
        }
        for name, (head, parent, rows) in files.items():
            meta: Message = {"integrity": f"x-{language}", "variables": {"gold": 3}, "persona": f"{language}.png"}
            header = {**head, "chat_metadata": {**meta, "main_chat": parent} if parent else meta}
            end = "\r\n" if language == "ko" else "\n"
            self._chat(f"chats/{char}/{name}.jsonl", header, rows, end=end, mark=language == "zh")
            self._place(name, "end", language, rows)
            self._place(name, "middle", language, rows[: len(rows) * 2 // 3])
            for swipe in rows[-1]["swipes"]:
                if swipe != rows[-1]["mes"]:
                    self._place(name, "swipe", language, [*rows[:-1], {**rows[-1], "mes": swipe}])

    def _group(self, language: str, *, headed: bool) -> None:
        tongues = dict.fromkeys((language, "ja", "zh"))
        names = {LANGUAGES[each]["char"]: each for each in tongues}
        rows = [{**self._greeting(each), "original_avatar": f"{name}.png"} for name, each in names.items()]
        for number in range(self.turns // 5):
            rows.append(self._user(language, number))
            for name in self._dice.sample(list(names), self._dice.randint(1, 3)):
                rows.append({**self._bot(language, number, name), "original_avatar": f"{name}.png"})
        name = f"17000000000{language}"
        group = {"id": name, "name": f"The three {language}", "members": [f"{each}.png" for each in names]}
        self._json(f"groups/{name}.json", {**group, "chat_id": f"{name}c", "chats": [f"{name}c"], "chat_metadata": {}})
        header = {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"} if headed else None
        self._chat(f"group chats/{name}c.jsonl", header, rows, end="\n", mark=False)
        self._place(f"{name}c", "group", language, rows)
        self._place(f"{name}c", "group with names", language, rows, named=True)

    def _place(self, file: str, what: str, language: str, rows: Sequence[Message], *, named: bool = False) -> None:
        told = []
        for row in rows:
            if row["is_system"] or row["extra"].get("type"):
                continue  # hidden ones are not sent, and the narrator's are the system's
            text = row["mes"].replace("{{user}}", LANGUAGES[language]["me"]).replace("{{char}}", row["name"])
            text = f"{row['name']}: {text}" if named and not row["is_user"] else text
            told.append(("user" if row["is_user"] else "assistant", text))
        while told[-1][0] == "user":
            told.pop()
        self.places.append(Place(file, what, tuple(told), LANGUAGES[language]["next"]))


def _copy(rows: Sequence[Message]) -> list[Message]:
    copied: list[Message] = json.loads(json.dumps(rows))
    return copied


def _date(number: int) -> Any:
    day, minute = 1 + number % 28, number % 60
    return (
        f"2024-11-{day:02}T10:{minute:02}:00.000Z",
        f"June {day}, 2024 {1 + number % 11}:{minute:02}pm",
        f"2023-8-{day} @{number % 24:02}h {minute:02}m 11s 22ms",
        1_700_000_000_000 + number * 60_000,
    )[number % 4]


def _picture(card: Any) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    text = b"chara\0" + base64.b64encode(json.dumps(card, ensure_ascii=False).encode())
    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"tEXt", text), (b"IDAT", zlib.compress(b"\0\1\2\3")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)

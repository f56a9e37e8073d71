"""Made-up books and chats: every rule of the page, keys of four languages, few words so that entries meet.

Nothing is left to chance: probabilities are 0 or 100, and of the entries of a group the rules choose one.
"""

from __future__ import annotations

import random
from typing import Any

from tests.core.recall.lore_page.oracle import Said

ENGLISH = (
    "king|dragon|Rose|rose garden|castle|iron gate|harbour|lantern|wolf|moon|sword|bell|café|Straße|raven|mill".split(
        "|"
    )
)
KOREAN = "용|왕국|성문|푸른 달|마녀|검|등대".split("|")
KANJI = "竜|王国|魔女|ドラゴン|月の門|龙|城门|皇帝|青铜 钥匙".split("|")
WORDS = [*ENGLISH, *KOREAN, *KANJI]
# Words that hold others: found only where whole words are not asked for.
LONGER = "liking|rosewood|swordfish|Wolfgang|castles|bellow|millstone|cafés|moonlight|ravenous|2moon|sword_7".split("|")
PATTERNS = [
    r"/drag(?:on|oon)s?/i",
    r"/\bking\b/",
    r"/\bKing\b/i",
    r"/성문|城门/",
    r"/(?:red|blue) lantern/",
    r"/\d+ swords?/i",
    r"/용(?:이|은|을)/",
    r"/[가-힣]+에서/",
    r"/\b용\b/",
    r"/(?:wolf[\s\S]*raven|raven[\s\S]*wolf)/i",  # may reach over messages
    r"/iron.gate/s",
    r"/and\/or/",
    r"/^The mill/m",
    r"/王国$/m",
    r"/ドラゴン+/",
    r"/bell{2,}ow/i",
    r"/CAFÉ/i",
    r"/the (?!harbour)/z",  # no flag of JavaScript: words, which stand nowhere
    "/broken(/",
    "/usr/bin",
]
SENTENCES = [
    "Nobody spoke of the {} that night.",
    "The {}, at last!",
    "{} and the old road.",
    "the {} stood 3 swords away, and/or nearer.",
    "{}에서 종이 울렸다.",
    "{}은 잠들지 않는다.",
    "낡은 {}이 보였다.",
    "{}の前で待った。",
    "あの{}は遠い",
    "他们走向{}。",
    "He looked in /usr/bin/ for the {}.",
    "The mill had no {}.",
    "\"Mira,\" Ysolde said, \"the blue lantern of the {}.\"",
    "It was /broken(/ like the {}",
]  # fmt: skip
GROUPS = ["camp", "guard", "weather", "날씨"]


def _cased(dice: random.Random, word: str) -> str:
    return dice.choice([word, word, word.lower(), word.upper(), word.title()])


def _text(dice: random.Random) -> str:
    words = [dice.choice(LONGER) if dice.random() < 0.25 else dice.choice(WORDS) for _ in range(dice.randint(1, 3))]
    return dice.choice(["\n", " "]).join(dice.choice(SENTENCES).format(_cased(dice, word)) for word in words)


def chat(dice: random.Random, texts: int) -> list[Said]:
    """As many texts, the player's and the character's by turns."""
    return [Said("user" if place % 2 == 0 else "char", _text(dice)) for place in range(texts)]


def _keys(dice: random.Random, most: int) -> list[str]:
    keys = []
    for _ in range(dice.randint(1, most)):
        roll = dice.random()
        if roll < 0.2:
            keys.append(dice.choice(PATTERNS))
        elif roll < 0.25:
            keys.append(dice.choice(["{{user}}", "{{char}}"]))
        else:
            keys.append(_cased(dice, dice.choice(WORDS)))
    return keys


def _content(dice: random.Random, name: str) -> str:
    told = f"{name} is known."
    return f"{told} It names the {dice.choice(WORDS)}." if dice.random() < 0.3 else told


def _maybe(dice: random.Random, odds: float, yes: Any, no: Any) -> Any:
    return yes if dice.random() < odds else no


def world_info(dice: random.Random, entries: int, title: str = "B") -> dict[str, Any]:
    found = [_world_info_entry(dice, place, f"{title}{place}") for place in range(entries)]
    orders = dice.sample(range(10 * entries), entries)  # no two alike, so that a group's winner is sure
    for entry, order in zip(found, orders, strict=True):
        entry["order"] = order
    pairs = dice.sample([entry for entry in found if not entry["group"]], 6)
    for number, (one, other) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
        # Two that the same words open, of which the weights leave only one to win.
        other.update(key=one["key"], group=f"pair{number}", groupWeight=0)
        one.update(group=f"pair{number}", groupWeight=100)
    return {"entries": {str(entry["uid"]): entry for entry in found}}


def _world_info_entry(dice: random.Random, uid: int, name: str) -> dict[str, Any]:
    groups = dice.sample(GROUPS, _maybe(dice, 0.3, 2, 1)) if dice.random() < 0.2 else []
    decorator = _maybe(
        dice, 0.06, dice.choice(["@@activate\n", "@@dont_activate\n", "@@activate\n@@dont_activate\n"]), ""
    )
    names = _maybe(dice, 0.08, dice.sample(["Ysolde", "Teren"], dice.randint(1, 2)), [])
    chance = dice.choice([0, 50, 100]) if dice.random() < 0.1 else 100
    return {
        "uid": uid,
        "key": _maybe(dice, 0.97, _keys(dice, 3), []),
        "keysecondary": _maybe(dice, 0.4, _keys(dice, 3), []),
        "comment": name,
        "content": decorator + _content(dice, name),
        "constant": dice.random() < 0.03,
        "vectorized": False,
        "selective": dice.random() < 0.85,
        "selectiveLogic": dice.randrange(4),
        "addMemo": True,
        "order": 100,
        "position": dice.randrange(7),
        "disable": dice.random() < 0.04,
        "excludeRecursion": dice.random() < 0.2,
        "preventRecursion": dice.random() < 0.25,
        "delayUntilRecursion": dice.choice([True, 1, 2, 3]) if dice.random() < 0.12 else dice.choice([0, False]),
        "probability": chance,
        "useProbability": chance != 50,  # half a chance stands there only where it is not used
        "depth": 4,
        "group": ", ".join(groups),
        "groupOverride": bool(groups),
        "groupWeight": 100,
        "scanDepth": dice.choice([0, 1, 2, 3, 5, 9]) if dice.random() < 0.4 else None,
        "caseSensitive": dice.choice([True, False, None]),
        "matchWholeWords": dice.choice([True, False, None]),
        "useGroupScoring": _maybe(dice, 0.3, True, None),
        "automationId": "",
        "role": 0,
        "sticky": _maybe(dice, 0.12, dice.randint(1, 9), 0),
        "cooldown": _maybe(dice, 0.12, dice.randint(1, 9), 0),
        "delay": _maybe(dice, 0.1, dice.randint(1, 40), 0),
        "displayIndex": uid,
        "ignoreBudget": dice.random() < 0.05,
        "triggers": _maybe(dice, 0.08, dice.choice([["normal"], ["swipe", "regenerate"], ["continue", "normal"]]), []),
        "characterFilter": {"isExclude": dice.random() < 0.5, "names": names, "tags": []},
    }  # fmt: skip


_EXTENSIONS = {
    "useGroupScoring": "use_group_scoring", "groupOverride": "group_override", "groupWeight": "group_weight",
    "excludeRecursion": "exclude_recursion", "preventRecursion": "prevent_recursion", "scanDepth": "scan_depth",
    "delayUntilRecursion": "delay_until_recursion", "matchWholeWords": "match_whole_words",
    "caseSensitive": "case_sensitive", "characterFilter": "character_filter", "ignoreBudget": "ignore_budget",
    **{name: name for name in (
        "selectiveLogic", "probability", "useProbability", "group", "sticky", "cooldown", "delay", "triggers",
        "position",
    )},
}  # fmt: skip


def tavern_card_book(dice: random.Random, entries: int, title: str = "C") -> dict[str, Any]:
    """A World Info as SillyTavern writes it into a card: with use_regex at every entry."""
    plain = world_info(dice, entries, title)["entries"].values()
    rows = [
        {
            "keys": entry["key"],
            "secondary_keys": entry["keysecondary"],
            "name": entry["comment"],
            "content": entry["content"],
            "constant": entry["constant"],
            "selective": entry["selective"],
            "insertion_order": entry["order"],
            "enabled": not entry["disable"],
            "position": "before_char",
            "use_regex": True,
            "extensions": {new: entry[old] for old, new in _EXTENSIONS.items()},
        }
        for entry in plain
    ]
    return {"spec": "lorebook_v3", "data": {"extensions": {}, "entries": rows}}


DECORATORS = [
    "@@activate_only_after {n}",
    "@@activate_only_every {n}",
    "@@keep_activate_after_match",
    "@@dont_activate_after_match",
    "@@scan_depth {n}",
    "@@additional_keys {a},{b}",
    "@@exclude_keys {a},{b}",
    "@@activate",
    "@@dont_activate",
    "@@depth {n}",
    "@@role assistant",
    "@@position after_desc",
    "@@match_full_word",
    "@@match_partial_word",
    "@@unrecursive",
    "@@no_recursive_search",
    "@@probability 0",
    "@@probability 100",
    "@@scan_depth many\n@@@scan_depth {n}",
    "@@moon_phase {n}\n@@@tide {n}\n@@@exclude_keys {a}\n@@@exclude_keys {b}",
    "@@scan_depth {n}\n@@@dont_activate",
    "@@scan_depth 1\n@@scan_depth 9",
    "@@instruct_scan_depth 1\n@@@scan_depth {n}",
    "@@end",
]


def v3_book(dice: random.Random, entries: int, title: str = "V") -> dict[str, Any]:
    book: dict[str, Any] = {"entries": [_v3_entry(dice, f"{title}{place}") for place in range(entries)]}
    book["name"] = title
    book["extensions"] = {}
    if dice.random() < 0.6:
        book["scan_depth"] = dice.choice([1, 2, 4])
    if dice.random() < 0.7:
        book["recursive_scanning"] = dice.random() < 0.6
    orders = dice.sample(range(10 * entries), entries)
    for entry, order in zip(book["entries"], orders, strict=True):
        entry["insertion_order"] = order
    return {"spec": "lorebook_v3", "data": book}


def _v3_entry(dice: random.Random, name: str) -> dict[str, Any]:
    patterns = dice.random() < 0.2
    keys = [dice.choice(PATTERNS[:17]) for _ in range(dice.randint(1, 2))] if patterns else _plain(dice, 3)
    if patterns and dice.random() < 0.4:
        keys = [key.rpartition("/")[0][1:] for key in keys]  # the pattern alone
    if patterns and dice.random() < 0.1:
        keys.append("broken(")
    lines = dice.sample(DECORATORS, dice.choice([0, 0, 1, 1, 2, 3]))
    head = "\n".join(line.format(n=dice.randint(1, 6), a=dice.choice(WORDS), b=dice.choice(WORDS)) for line in lines)
    return {
        "keys": keys,
        "secondary_keys": _maybe(dice, 0.3, _plain(dice, 2), []),
        "content": (head + "\n" if head else "") + _content(dice, name),
        "extensions": {},
        "enabled": dice.random() < 0.96,
        "insertion_order": 100,
        "case_sensitive": dice.random() < 0.4,
        "name": name,
        "selective": dice.random() < 0.8,
        "constant": dice.random() < 0.03,
        "position": "before_char",
        "use_regex": patterns,
    }


def _plain(dice: random.Random, most: int) -> list[str]:
    return [_cased(dice, dice.choice(WORDS)) for _ in range(dice.randint(1, most))]

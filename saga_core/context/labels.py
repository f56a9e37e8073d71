"""The words of the volatile block, in Korean and English."""

from __future__ import annotations

from attrs import frozen

from saga_core.context.model import Section


@frozen
class Labels:
    """Everything in the block that is not from the story."""

    opening: str
    closing: str
    sections: dict[Section, str]
    place: str
    hp: str
    inventory: str
    mood: str
    player: str
    present: str
    nearby: str
    ways: str
    dead: str
    changed: str
    nothing: str
    since_turn: str
    turn: str
    secret: str
    secret_of_none: str
    is_dead: str
    renamed: str
    alive_again: str
    gone: str
    more: str
    not_there: str
    formerly: str
    wish: str
    limit: str
    edges: dict[str, str]


_KO = Labels(
    opening="[SAGA: 지금 사실인 것]",
    closing="[/SAGA]",
    sections={
        Section.NOW: "[최신 변경]",
        Section.RELATED: "[관련 연결]",
        Section.LORE: "[관련 로어북]",
        Section.REMEMBERED: "[기억]",
        Section.EARLIER: "[지난 일]",
        Section.EVENTS: "[이벤트]",
    },
    place="위치",
    hp="HP",
    inventory="인벤토리",
    mood="기분",
    player="플레이어",
    present="곁에 있는 인물",
    nearby="근처 인물",
    ways="갈 수 있는 곳",
    dead="사망",
    changed="변경",
    nothing="없음",
    since_turn="{name} ({depth}턴부터)",
    turn="({depth}턴)",
    secret="(비밀: {names}만 안다)",
    secret_of_none="(비밀: 아무도 모른다)",
    is_dead="(지금은 사망)",
    renamed="{old}의 지금 이름은 {name}",
    alive_again="{name} 살아 있음",
    gone="{name} 관계 없음",
    more="외 {count}",
    not_there="({names} 없었음)",
    formerly="(전에는: {text})",
    wish="플레이어의 바람",
    limit="플레이어의 한계, 서술하지 말 것",
    edges={
        "LOCATED_AT": "있는 곳",
        "OWNS": "가진 것",
        "ADJACENT": "이어짐",
        "INVOLVED_IN": "겪은 일",
        "CAUSED": "일으킴",
        "KNOWS": "아는 것",
        "RELATED": "관련",
        "HAS_LORE": "로어",
        "ITEM_LORE": "로어",
    },
)

_EN = Labels(
    opening="[SAGA: what is true now]",
    closing="[/SAGA]",
    sections={
        Section.NOW: "[Now]",
        Section.RELATED: "[Related]",
        Section.LORE: "[Lore]",
        Section.REMEMBERED: "[Remembered]",
        Section.EARLIER: "[Earlier]",
        Section.EVENTS: "[Events]",
    },
    place="Place",
    hp="HP",
    inventory="Inventory",
    mood="Mood",
    player="Player",
    present="Present",
    nearby="Nearby",
    ways="Ways",
    dead="Dead",
    changed="Changed",
    nothing="none",
    since_turn="{name} (since turn {depth})",
    turn="(turn {depth})",
    secret="(secret, known only to {names})",
    secret_of_none="(secret, known to nobody)",
    is_dead="(dead now)",
    renamed="{old} is now called {name}",
    alive_again="{name} is alive",
    gone="{name}: no relation",
    more="{count} more",
    not_there="({names} not there)",
    formerly="(before: {text})",
    wish="The player's wish",
    limit="The player's limit, not to be told",
    edges={
        "LOCATED_AT": "is at",
        "OWNS": "has",
        "ADJACENT": "leads to",
        "INVOLVED_IN": "took part",
        "CAUSED": "caused",
        "KNOWS": "knows",
        "RELATED": "related",
        "HAS_LORE": "lore",
        "ITEM_LORE": "lore",
    },
)


def labels(language: str) -> Labels:
    """The words of a language; English for one that has none."""
    return _KO if language == "ko" else _EN

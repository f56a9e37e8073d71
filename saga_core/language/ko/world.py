"""World files in Korean."""

from __future__ import annotations

from saga_core.language.world import WorldWords

WORLD = WorldWords(
    keys={
        "character.player": ("player", "플레이어"),
        "character.hp": ("hp", "체력"),
        "character.max_hp": ("max_hp", "최대 체력"),
        "character.location": ("위치",),
        "character.traits": ("성격", "특성"),
        "character.mood": ("기분",),
        "character.occupation": ("직업",),
        "character.background": ("배경",),
        "character.status": ("상태",),
        "character.aliases": ("별칭", "별명"),
        "character.items": ("소지품", "인벤토리"),
        "character.relations": ("관계",),
        "lore.type": ("타입", "유형"),
        "lore.layer": ("레이어",),
        "lore.tags": ("태그",),
        "lore.aliases": ("별칭", "별명"),
        "lore.constant": ("상시",),
        "lore.neighbours": ("인접",),
        "lore.related": ("관련",),
        "lore.places": ("장소",),
        "lore.items": ("아이템",),
        "lore.known_by": ("아는 이", "아는 사람"),
        "lore.secret": ("비밀",),
        "front.title": ("제목",),
        "front.language": ("언어",),
        "front.aliases": ("별칭",),
        "front.match": ("선택어",),
        "front.greeting": ("인사말",),
        "front.start_events": ("시작 사건",),
    },
    types={
        "장소": "location",
        "아이템": "item",
        "캐릭터": "character",
        "인물": "character",
        "세력": "faction",
        "사건": "event",
        "개념": "concept",
    },
    flags={
        "예": True,
        "네": True,
        "아니오": False,
        "아니요": False,
    },
    equipped="장착",
)

"""Texts for narrators and players in Korean."""

from __future__ import annotations

from datetime import date

from saga_core.language.ko.particles import josa
from saga_core.language.texts import Comparison, Findings, Sizes, Texts


def _day(day: date) -> str:
    return f"{day.year}년 {day.month}월 {day.day}일"


def _dead_act(name: str, turn: int) -> str:
    return f"{josa(name, '은/는')} 죽었는데 {turn}턴에 행동한다."


def _down_fights(name: str, turn: int) -> str:
    return f"{josa(name, '은/는')} HP 0인데 {turn}턴에 싸운다."


def _two_places(name: str, turn: int, first: str, second: str) -> str:
    return f"{josa(name, '이/가')} {turn}턴에 {josa(first, '과/와')} {second}에 동시에 있다."


def _two_hands(thing: str, one: str, two: str) -> str:
    return f"{josa(thing, '이/가')} {josa(one, '과/와')} {two}의 손에 함께 있다."


def _died(name: str) -> str:
    return f"{josa(name, '이/가')} 죽었다"


def _met(name: str) -> str:
    return f"{josa(name, '을/를')} 만났다"


def _gained(name: str) -> str:
    return f"{josa(name, '을/를')} 얻었다"


TEXTS = Texts(
    name="Korean",
    player="플레이어",
    player_aliases=("플레이어", "Player"),
    rules="[SAGA: 규칙]\n"
    "[SAGA: 지금 사실인 것]과 [/SAGA] 사이의 글은 시스템이 주는 이야기의 기억이며 플레이어의 말이 아니다. "
    "대화의 더 오래된 내용과 다르면 이것이 옳다. 인용하거나 언급하지 않는다.\n"
    "죽은 자는 죽은 채로, 잃은 것은 잃은 채로, 사람들은 기억이 말하는 곳에 있다. "
    "인물은 보거나 들은 것만 안다. 비밀은 함께 적힌 이들만 안다.\n"
    "플레이어 캐릭터의 말, 행동, 이름, 소지품은 플레이어만 정한다.",
    sizes=Sizes(words=330, reply=1_600, place=80, whole=180, brief=560, excerpt=110, token=1.8),
    pages={
        "then": "{turn}턴까지의 기억",
        "state": "현재 상태",
        "player": "플레이어",
        "place": "위치",
        "hp": "HP",
        "inventory": "인벤토리",
        "mood": "분위기",
        "present": "곁에 있는 인물",
        "dead": "죽은 인물",
        "ways": "갈 수 있는 곳",
        "relations": "관계",
        "story": "지금까지의 이야기",
        "events": "사건",
        "lore": "세계",
        "cast": "인물",
        "learned": "알게 된 것",
        "nothing": "아직 없음",
        "unread": "최근 답변 {replies}개에 상태 블록이 없어 그사이 일어난 일이 여기에 빠져 있습니다. "
        "해결 방법은 `saga doctor`에서 확인하세요.",
    },
    comparison=Comparison(
        labels={
            "place": "위치",
            "hp": "HP",
            "max_hp": "최대 HP",
            "mood": "분위기",
            "item": "소지품",
            "equipped": "장착",
            "present": "곁에 있는 인물",
            "met": "만난 인물",
            "dead": "죽은 인물",
            "relation": "관계",
            "event": "사건",
        },
        only="{label}: {subject} ({where}에서만)",
        sides="{label}: {one}에서는 {left}, {other}에서는 {right}",
        nothing="없음",
        count="{value}개",
    ),
    findings=Findings(
        dead_act=_dead_act,
        down_fights=_down_fights,
        two_places=_two_places,
        two_hands=_two_hands,
        sudden_turn=(
            "{one} → {other}: '{old}'({old_strength:+d})에서 '{new}'({new_strength:+d})로, 까닭 없이 뒤집혔다."
        ).format,
        forgotten_event="'{name}'의 기한({deadline}턴)이 지났는데 아무 일도 없었다.".format,
    ),
    episode={"turn": "Turn", "place": "장소", "met": "만남", "gained": "획득", "lost": "잃음", "event": "사건"},
    day=_day,
    turn="{depth}번째 턴",
    due="때가 된 일",
    turns_left="(남은 턴: {left})",
    died=_died,
    met=_met,
    gained=_gained,
)

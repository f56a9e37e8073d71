"""The words of the context block in Korean."""

from __future__ import annotations

from saga_core.language.labels import Labels

LABELS = Labels(
    opening="[SAGA: 지금 사실인 것]",
    closing="[/SAGA]",
    sections={
        "now": "[최신 변경]",
        "related": "[관련 연결]",
        "lore": "[관련 로어북]",
        "remembered": "[기억]",
        "earlier": "[지난 일]",
        "events": "[이벤트]",
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
    same_as="{old} = {name}(같은 대상)",
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

"""The words of the context block in Chinese."""

from __future__ import annotations

from saga_core.language.labels import Labels

LABELS = Labels(
    opening="[SAGA: 当前事实]",
    sections={
        "now": "[最新变化]",
        "related": "[相关联系]",
        "lore": "[相关设定]",
        "remembered": "[记忆]",
        "earlier": "[往事]",
        "elsewhere": "[另一个故事：不是这个故事里的事]",
        "events": "[事件]",
    },
    place="地点",
    inventory="物品",
    mood="心情",
    player="玩家",
    present="在场人物",
    nearby="附近人物",
    ways="可去之处",
    dead="死亡",
    changed="变化",
    nothing="无",
    since_turn="{name}（自第{depth}回合）",
    turn="(第{depth}回合)",
    secret="（秘密：只有{names}知道）",
    secret_of_none="（秘密：无人知道）",
    is_dead="（现已死亡）",
    renamed="{old}现在名叫{name}",
    same_as="{old}就是{name}",
    alive_again="{name}还活着",
    gone="{name}：没有关系",
    unnoted="不属实：“{text}”",
    more="另有{count}项",
    not_there="（{names}当时不在场）",
    formerly="（此前：{text}）",
    wish="玩家的愿望",
    limit="玩家的底线，不要描写",
    edges={
        "LOCATED_AT": "所在",
        "OWNS": "持有",
        "ADJACENT": "通往",
        "INVOLVED_IN": "参与",
        "CAUSED": "引起",
        "KNOWS": "知道",
        "RELATED": "相关",
        "HAS_LORE": "设定",
        "ITEM_LORE": "设定",
    },
)

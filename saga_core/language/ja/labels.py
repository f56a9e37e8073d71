"""The words of the context block in Japanese."""

from __future__ import annotations

from saga_core.language.labels import Labels

LABELS = Labels(
    opening="[SAGA: いま事実であること]",
    sections={
        "now": "[最新の変化]",
        "related": "[関連するつながり]",
        "lore": "[関連する設定]",
        "remembered": "[記憶]",
        "earlier": "[過去の出来事]",
        "elsewhere": "[別の物語：この物語のことではない]",
        "events": "[イベント]",
    },
    place="場所",
    inventory="所持品",
    mood="気分",
    player="プレイヤー",
    present="そばにいる人物",
    nearby="近くの人物",
    ways="行ける場所",
    dead="死亡",
    changed="変化",
    nothing="なし",
    since_turn="{name}（{depth}ターンから）",
    turn="({depth}ターン)",
    secret="（秘密：{names}だけが知る）",
    secret_of_none="（秘密：誰も知らない）",
    is_dead="（いまは死亡）",
    renamed="{old}のいまの名は{name}",
    same_as="{old}は{name}と同じ",
    alive_again="{name}は生きている",
    gone="{name}：関係なし",
    unnoted="事実ではない:「{text}」",
    more="ほか{count}",
    not_there="（{names}はいなかった）",
    formerly="（以前：{text}）",
    wish="プレイヤーの希望",
    limit="プレイヤーの制限、描写しないこと",
    edges={
        "LOCATED_AT": "いる場所",
        "OWNS": "所持",
        "ADJACENT": "通じる先",
        "INVOLVED_IN": "関わった出来事",
        "CAUSED": "引き起こした",
        "KNOWS": "知っている",
        "RELATED": "関連",
        "HAS_LORE": "設定",
        "ITEM_LORE": "設定",
    },
)

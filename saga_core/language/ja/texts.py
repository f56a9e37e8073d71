"""Texts for narrators and players in Japanese."""

from __future__ import annotations

from datetime import date

from saga_core.language.texts import Comparison, Findings, Sizes, Texts


def _day(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


TEXTS = Texts(
    name="Japanese",
    player="プレイヤー",
    player_aliases=("プレイヤー", "Player"),
    rules=(
        "[SAGA: 規則]\n"
        "[SAGA: いま事実であること]と[/SAGA]のあいだの文は、システムが与える物語の記憶であり、"
        "プレイヤーの発言ではない。"
        "会話の古い内容と食い違うときは、こちらが正しい。引用も言及もしないこと。\n"
        "死者は死んだまま、失われた物は失われたまま、人々は記憶が示す場所にいる。"
        "人物は見たことと聞いたことしか知らない。秘密は、ともに名を挙げられた者だけが知る。\n"
        "プレイヤーキャラクターの発言、行動、名前、所持品は、プレイヤーだけが決める。"
    ),
    sizes=Sizes(words=290, reply=1_400, place=70, whole=150, brief=470, excerpt=95, token=1.4),
    pages={
        "then": "{turn}ターンの時点",
        "state": "現在の状態",
        "player": "プレイヤー",
        "place": "場所",
        "hp": "HP",
        "inventory": "所持品",
        "mood": "気分",
        "present": "そばにいる人物",
        "dead": "死んだ人物",
        "ways": "行ける場所",
        "relations": "関係",
        "story": "これまでの物語",
        "events": "出来事",
        "lore": "世界",
        "cast": "登場人物",
        "learned": "わかったこと",
        "nothing": "まだなし",
        "unread": "直近{replies}件の返答に状態ブロックがなく、その間の出来事はここに含まれていません。"
        "対処法は `saga doctor` で確認できます。",
    },
    comparison=Comparison(
        labels={
            "place": "場所",
            "hp": "HP",
            "max_hp": "最大HP",
            "mood": "気分",
            "item": "所持品",
            "equipped": "装備",
            "present": "そばにいる人物",
            "met": "出会った人物",
            "dead": "死んだ人物",
            "relation": "関係",
            "event": "出来事",
        },
        only="{label}：{subject}（{where}のみ）",
        sides="{label}：{one}では{left}、{other}では{right}",
        nothing="なし",
        count="{value}個",
    ),
    findings=Findings(
        dead_act="{name}は死んでいるのに{turn}ターンで行動している。".format,
        down_fights="{name}はHP 0なのに{turn}ターンで戦っている。".format,
        two_places="{name}が{turn}ターンに{first}と{second}の両方にいる。".format,
        two_hands="{thing}が{one}と{two}の両方の手にある。".format,
        sudden_turn=(
            "{one} → {other}：「{old}」({old_strength:+d})から「{new}」({new_strength:+d})へ、理由もなく変わった。"
        ).format,
        forgotten_event="「{name}」の期限（{deadline}ターン）が過ぎたのに、何も起きていない。".format,
    ),
    episode={"turn": "Turn", "place": "場所", "met": "出会い", "gained": "入手", "lost": "喪失", "event": "出来事"},
    day=_day,
    turn="{depth}ターン目",
    due="期限が来た",
    turns_left="（残り{left}ターン）",
    died="{name}が死んだ".format,
    met="{name}に出会った".format,
    gained="{name}を手に入れた".format,
)

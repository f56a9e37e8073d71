"""Texts for narrators and players in Chinese."""

from __future__ import annotations

from datetime import date

from saga_core.language.texts import Comparison, Findings, Sizes, Texts


def _day(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


TEXTS = Texts(
    name="Chinese",
    player="玩家",
    player_aliases=("玩家", "Player"),
    rules=(
        "[SAGA: 规则]\n"
        "[SAGA: 当前事实]与[/SAGA]之间的文字是系统提供的故事记忆，不是玩家说的话。"
        "它与对话中较早的内容不一致时，以它为准。不要引用，也不要提及。\n"
        "死者不会复生，失去的东西不会回来，人物就在记忆所说的地方。"
        "人物只知道自己见过或听过的事；秘密只有与它一同列出的人知道。\n"
        "玩家角色说什么、做什么、叫什么、带着什么，只由玩家决定。"
    ),
    sizes=Sizes(words=230, reply=1_200, place=55, whole=120, brief=380, excerpt=75, token=1.4),
    pages={
        "then": "截至第{turn}回合",
        "state": "当前状态",
        "player": "玩家",
        "place": "地点",
        "hp": "HP",
        "inventory": "物品",
        "mood": "心情",
        "present": "在场人物",
        "dead": "已故人物",
        "ways": "可去之处",
        "relations": "关系",
        "story": "迄今的故事",
        "events": "事件",
        "lore": "世界",
        "cast": "人物",
        "learned": "已知之事",
        "nothing": "暂无",
        "unread": "最近 {replies} 条回复没有状态块，其间发生的事未记录在此。可运行 `saga doctor` 查看解决办法。",
    },
    comparison=Comparison(
        labels={
            "place": "地点",
            "hp": "HP",
            "max_hp": "最大HP",
            "mood": "心情",
            "item": "物品",
            "equipped": "装备",
            "present": "在场人物",
            "met": "遇见的人物",
            "dead": "已故人物",
            "relation": "关系",
            "event": "事件",
        },
        only="{label}：{subject}（仅在{where}）",
        sides="{label}：在{one}为{left}，在{other}为{right}",
        nothing="无",
        count="{value}个",
    ),
    findings=Findings(
        dead_act="{name}已死，却在第{turn}回合行动。".format,
        down_fights="{name}的HP为0，却在第{turn}回合战斗。".format,
        two_places="{name}在第{turn}回合同时身处{first}和{second}。".format,
        two_hands="{thing}同时在{one}和{two}手中。".format,
        sudden_turn=("{one} → {other}：无缘无故地从“{old}”({old_strength:+d})变成“{new}”({new_strength:+d})。").format,
        forgotten_event="“{name}”的期限（第{deadline}回合）已过，却什么也没有发生。".format,
    ),
    episode={"turn": "Turn", "place": "地点", "met": "相遇", "gained": "获得", "lost": "失去", "event": "事件"},
    day=_day,
    turn="第{depth}回合",
    due="到期",
    turns_left="（剩余{left}回合）",
    died="{name}死了".format,
    met="遇见了{name}".format,
    gained="得到了{name}".format,
)

"""The state block in Chinese, in simplified and traditional characters."""

from __future__ import annotations

from saga_core.language.block import BlockWords, Request

_NUMBERS = {
    **{word: number for number, word in enumerate("一 二 三 四 五 六 七 八 九 十".split(), 1)},
    "两": 2,
    "兩": 2,
}

BLOCK = BlockWords(
    request=Request(
        lead=(
            "在每次回复的最后、故事之后，务必附上一个如下形式的区块。玩家看不到它。"
            "只写本次回复中发生的变化，其余保留 null 或 []。"
            "名字按故事中的写法书写，含逗号的名字请加引号。"
        ),
        place="玩家所在的地点",
        item="物品",
        name="名字",
        mood="一个词",
        notes="一行备注",
    ),
    openers=("状态", "狀態"),
    headers="状态 狀態 状态块 狀態塊 状态区块 狀態區塊 状态更新 狀態更新",
    fields={
        "location": "地点 地點 位置 当前位置 當前位置 当前地点 當前地點 所在地",
        "location_moved": "移动 移動 是否移动 是否移動 已移动 已移動",
        "hp_change": "生命值 生命 体力 體力 hp变化 hp變化 生命值变化 生命值變化 体力变化 體力變化",
        "items_gained": "获得 獲得 获得物品 獲得物品 得到物品 获得道具 獲得道具",
        "items_lost": "失去 失去物品 失去道具 消耗 消耗物品 丢失物品 丟失物品",
        "items_transferred": "转移 轉移 物品转移 物品轉移 转交 轉交 交付",
        "npc_met": "遇见 遇見 相遇 遇到的人物 遇见的人 遇見的人 登场人物 登場人物",
        "npc_separated": "分别 分別 离别 離別 分开的人物 分開的人物 离开的人物 離開的人物",
        "relationship_changes": "关系 關係 关系变化 關係變化 好感度变化 好感度變化",
        "status_changes": "状态变化 狀態變化 人物状态 人物狀態 生死",
        "mood": "心情 情绪 情緒 气氛 氣氛 氛围 氛圍",
        "event_trigger": "事件 触发事件 觸發事件 事件触发 事件觸發",
        "notes": "备注 備註 笔记 筆記 说明 說明 摘要",
    },
    templates={
        "location": "地点 地點 玩家所在的地点",
        "items_gained": "物品 道具",
        "items_lost": "物品 道具",
        "items_transferred": "物品 道具",
        "npc_met": "名字 人物 npc名字",
        "npc_separated": "名字 人物 npc名字",
        "relationship_changes": "名字 关系 關係",
        "status_changes": "名字 人物",
        "mood": "心情 气氛 一个词",
        "event_trigger": "事件",
        "notes": "备注 一行备注",
    },
    keys={
        "name": "名字 名称 名稱 姓名 人物",
        "item": "物品 物品名 道具",
        "quantity": "数量 數量 个数 個數",
        "from": "从 從 来源 來源 给予者 給予者 来自 來自",
        "to": "到 给 給 接收者 对象 對象 目标 目標",
        "type": "类型 類型 关系 關係 种类 種類",
        "status": "状态 狀態 生死",
        "delta": "变化 變化 变化量 變化量 好感度",
    },
    levels="生命值 生命 体力 體力",
    nothing="无,無,没有,沒有,暂无,暫無,无变化,無變化,没有变化,沒有變化,不变,不變,同上,未知,不适用,无伤害,无事件,無事件",
    nothing_said=r"(?:没有|沒有|无|無)(?:新(?:的)?)?(?:物品|人物|变化|變化|事件|人)?[。.]?",
    nothing_ends="无|無|没有|沒有",
    unchanged="无变化 無變化 没有变化 沒有變化 没有任何变化 沒有任何變化 什么都没有变 什麼都沒有變",
    yes="真",
    no="假",
    true="是 是的 对 對 移动 移動 已移动 已移動 移动了 移動了",
    false="否 不 不是 没有 沒有 未移动 未移動 没有移动 沒有移動 没移动 停留",
    minus="负|負|减|減",
    plus="正|加",
    loss="伤害|傷害|损失|損失|减少|減少|失去|消耗|受伤|受傷|流血|扣",
    gain="恢复|恢復|治愈|治癒|增加|获得|獲得|回复|回復|提升",
    negation="没有|沒有|无|無|未",
    units="生命值|生命|体力|體力|点|點|变化|變化",
    hit_points="生命值|体力|體力",
    becomes="变为|變為|变成|變成|降到|升到|到",
    counters="个|個|把|张|張|瓶|只|隻|条|條|件|枚|本|根|颗|顆|块|塊|支|份|袋|箱|双|雙|匹|杯|串|束|封",
    money="金币|金幣|银币|銀幣|铜币|銅幣|箭",
    numbers=_NUMBERS,
    counted="的|(?<=[一-鿿])(?=[一-鿿])",
    numbered=r"第\d+(?:章|卷|张|張)",
    labels="变化量|變化量|好感度|类型|類型",
    gives=(
        r"(?P<giver>\S.*?)(?:把|将|將)(?P<item>\S.*?)(?:交给|交給|给了|給了|递给|遞給|送给|送給|还给"
        r"|還給)(?P<receiver>\S.*?)[。.]?",
    ),
    tells_giving="(?:交给|交給|给了|給了|递给|遞給|送给|送給|得到了)",
    statuses="死亡|死了|阵亡|陣亡|存活|复活|復活|昏迷|失踪|失蹤|被俘|被捕|受伤|受傷",
    subject="(?<=[一-鿿])",
    dead="死亡 死了 已死 已死亡 死 阵亡 陣亡 被杀 被殺 去世 身亡",
    alive="存活 活着 活著 生还 生還 复活 復活 还活着 還活著",
)

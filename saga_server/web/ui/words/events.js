// What happens in a story, in short: an event's kind. A test compares the keys with the events that SAGA knows.
export default {
  en: {
    introduced: "introduced", renamed: "renamed", moved: "moved", hp_changed: "hit points changed", hp_set: "hit points set", mood_changed: "mood", status_changed: "status", item_gained: "got",
    item_lost: "lost", item_counted: "counted", item_transferred: "handed over", met: "met", separated: "parted", relation_changed: "relation", event_triggered: "happened", played: "played as",
    noted: "noted", mentioned: "mentioned", attribute_set: "fact", value_set: "value", merged: "are one", split: "are two", forgotten: "forgotten", found: "contradiction",
    settled: "decided", story_told: "story told", lore_learned: "lore learned", event_scheduled: "will happen", event_closed: "closed", block_written: "state block", remembered: "remembered", unremembered: "no longer remembered",
  },
  ko: {
    introduced: "등장", renamed: "이름 변경", moved: "이동", hp_changed: "체력 변화", hp_set: "체력 설정", mood_changed: "기분", status_changed: "상태", item_gained: "얻음",
    item_lost: "잃음", item_counted: "수량 확인", item_transferred: "건넴", met: "만남", separated: "헤어짐", relation_changed: "관계", event_triggered: "사건 발생", played: "플레이어 지정",
    noted: "메모", mentioned: "언급됨", attribute_set: "사실", value_set: "값", merged: "하나로 합침", split: "둘로 나눔", forgotten: "잊음", found: "모순 발견",
    settled: "결정", story_told: "줄거리", lore_learned: "로어 추가", event_scheduled: "예정된 일", event_closed: "종료된 일", block_written: "상태 블록", remembered: "기억함", unremembered: "기억 삭제",
  },
  ja: {
    introduced: "登場", renamed: "改名", moved: "移動", hp_changed: "体力の変化", hp_set: "体力の設定", mood_changed: "気分", status_changed: "状態", item_gained: "入手",
    item_lost: "喪失", item_counted: "数の確認", item_transferred: "譲渡", met: "出会い", separated: "別れ", relation_changed: "関係", event_triggered: "出来事", played: "プレイヤーの指定",
    noted: "メモ", mentioned: "言及", attribute_set: "事実", value_set: "値", merged: "一つに統合", split: "二つに分割", forgotten: "忘却", found: "矛盾",
    settled: "決定", story_told: "あらすじ", lore_learned: "設定の追加", event_scheduled: "予定", event_closed: "終了", block_written: "状態ブロック", remembered: "記憶", unremembered: "記憶の削除",
  },
  zh: {
    introduced: "登场", renamed: "改名", moved: "移动", hp_changed: "生命值变化", hp_set: "生命值设定", mood_changed: "心情", status_changed: "状态", item_gained: "获得",
    item_lost: "失去", item_counted: "清点", item_transferred: "转交", met: "相遇", separated: "分开", relation_changed: "关系", event_triggered: "发生事件", played: "扮演",
    noted: "备注", mentioned: "被提及", attribute_set: "事实", value_set: "数值", merged: "合为一个", split: "分为两个", forgotten: "忘记", found: "发现矛盾",
    settled: "决定", story_told: "故事梗概", lore_learned: "增加设定", event_scheduled: "预定事件", event_closed: "结束事件", block_written: "状态块", remembered: "记住", unremembered: "删除记忆",
  },
};

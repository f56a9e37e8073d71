// What happens in a story, in short: a sentence for each kind of event. `{name}` is a field of the event, with names for
// ids; a test compares the keys with the events that SAGA knows.
export default {
  en: {
    introduced: "first heard of: {name}", renamed: "is called {name} now", moved: "{who} → {to}", hp_changed: "{who}: hit points {amount}", hp_set: "{who}: {hp} hit points",
    mood_changed: "{who}: mood “{mood}”", status_changed: "{who}: {status}", item_gained: "{owner} gets {item}", item_lost: "{owner} loses {item}", item_counted: "{owner} has {item}",
    item_transferred: "{giver} gives {receiver}: {item}", met: "{who} is here", separated: "{who} is no longer here", relation_changed: "{source} → {target}: {type} {amount}",
    event_triggered: "happened: {name}", played: "you play {who}", noted: "note: {text}", mentioned: "spoken of: {lore}", attribute_set: "{who}, {name}: {value}", value_set: "{key}: {value}",
    merged: "{gone} and {into} are one", split: "{name} is not {id}", forgotten: "{id} was forgotten", found: "contradiction: {text}", settled: "decided: {verdict}",
    story_told: "turns {first}–{last} in fewer words: {text}", lore_learned: "lore, {entry}: {text}", event_scheduled: "to come: {name}", event_closed: "over: {event}",
    block_written: "curator’s note “{name}”: {text}", remembered: "remembered: {text}", unremembered: "a memory was removed",
    unnoted: "no longer so: {text}",
  },
  ko: {
    introduced: "처음 등장: {name}", renamed: "이제 이름은 {name}", moved: "{who} → {to}", hp_changed: "{who}: 체력 {amount}", hp_set: "{who}: 체력 {hp}",
    mood_changed: "{who}: 기분 ‘{mood}’", status_changed: "{who}: {status}", item_gained: "{owner}: {item} 얻음", item_lost: "{owner}: {item} 잃음", item_counted: "{owner}: {item} 가짐",
    item_transferred: "{giver} → {receiver}: {item} 건넴", met: "{who}: 함께 있음", separated: "{who}: 더는 함께 있지 않음", relation_changed: "{source} → {target}: {type} {amount}",
    event_triggered: "일어난 일: {name}", played: "플레이어: {who}", noted: "메모: {text}", mentioned: "언급됨: {lore}", attribute_set: "{who}, {name}: {value}", value_set: "{key}: {value}",
    merged: "{gone} = {into} (하나로 합침)", split: "{name} ≠ {id} (둘로 나눔)", forgotten: "잊음: {id}", found: "모순: {text}", settled: "결정: {verdict}",
    story_told: "{first}–{last}턴 요약: {text}", lore_learned: "로어, {entry}: {text}", event_scheduled: "예정: {name}", event_closed: "끝남: {event}",
    block_written: "큐레이터의 메모 ‘{name}’: {text}", remembered: "기억함: {text}", unremembered: "기억 하나를 삭제함",
    unnoted: "사실 아님: {text}",
  },
  ja: {
    introduced: "初登場: {name}", renamed: "いまの名前は{name}", moved: "{who} → {to}", hp_changed: "{who}: 体力 {amount}", hp_set: "{who}: 体力 {hp}",
    mood_changed: "{who}: 気分「{mood}」", status_changed: "{who}: {status}", item_gained: "{owner}: {item} を入手", item_lost: "{owner}: {item} を喪失", item_counted: "{owner}: {item} を所持",
    item_transferred: "{giver} → {receiver}: {item} を渡した", met: "{who} が一緒にいる", separated: "{who} はもういない", relation_changed: "{source} → {target}: {type} {amount}",
    event_triggered: "起きたこと: {name}", played: "プレイヤー: {who}", noted: "メモ: {text}", mentioned: "言及: {lore}", attribute_set: "{who}、{name}: {value}", value_set: "{key}: {value}",
    merged: "{gone} = {into}（一つに統合）", split: "{name} ≠ {id}（二つに分割）", forgotten: "忘れた: {id}", found: "矛盾: {text}", settled: "判定: {verdict}",
    story_told: "{first}–{last} ターンの要約: {text}", lore_learned: "世界設定「{entry}」: {text}", event_scheduled: "予定: {name}", event_closed: "終了: {event}",
    block_written: "キュレーターのメモ「{name}」: {text}", remembered: "記憶: {text}", unremembered: "記憶を一つ削除",
    unnoted: "事実ではない: {text}",
  },
  zh: {
    introduced: "首次出现：{name}", renamed: "现在叫{name}", moved: "{who} → {to}", hp_changed: "{who}：生命值 {amount}", hp_set: "{who}：生命值 {hp}",
    mood_changed: "{who}：心情“{mood}”", status_changed: "{who}：{status}", item_gained: "{owner}获得{item}", item_lost: "{owner}失去{item}", item_counted: "{owner}持有{item}",
    item_transferred: "{giver} → {receiver}：转交{item}", met: "{who}在场", separated: "{who}不再在场", relation_changed: "{source} → {target}：{type} {amount}",
    event_triggered: "发生：{name}", played: "扮演{who}", noted: "备注：{text}", mentioned: "被提及：{lore}", attribute_set: "{who}，{name}：{value}", value_set: "{key}：{value}",
    merged: "{gone}就是{into}（合为一个）", split: "{name}不是{id}（分为两个）", forgotten: "已忘记：{id}", found: "矛盾：{text}", settled: "已决定：{verdict}",
    story_told: "第 {first}–{last} 回合概要：{text}", lore_learned: "设定，{entry}：{text}", event_scheduled: "将发生：{name}", event_closed: "已结束：{event}",
    block_written: "整理器的备注“{name}”：{text}", remembered: "记住：{text}", unremembered: "删除了一条记忆",
    unnoted: "不再属实：{text}",
  },
};

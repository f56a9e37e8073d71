const en = {
  told: "What the narrator was told before turn {n}", anew: "Read anew: this turn's context is no longer at hand. As for a request that shows only the reply above it.", kept: "As it was sent.",
  tokens: { one: "{n} token", other: "{n} tokens" }, nothing: "Nothing was told: an opening, or nothing fitted.", whole: "The block as it was sent", skipped: "Found, but there was no room", skippedHelp: "These were worth less than what was told, or did not fit their section.",
  late: "Left out, because they were late: {names}", took: "Took {n} ms.", before: "Turn before", after: "Turn after", ask: "Why was this not told?", askHelp: "Type what you expected the narrator to know.", askLabel: "Text", askDo: "Look", known: "Nothing that SAGA knows says this. It may never have been reported.",
  reason_told: "It was told.", reason_no_room: "It was found, but there was no room for it.", reason_no_signal: "Nothing in the scene led to it: no name, no place, no word.", reason_faded_or_hidden: "This lore waits until it is mentioned, or its last mention is too long ago.",
  kind_piece: "state", kind_turn: "turn {n}", kind_lore: "lore", kind_memory: "memory", share: "has {n} % of your words", tryIt: "What would be told to …?", tryHelp: "Words that you might say next. Nothing is sent to a model.", tryDo: "Try", wouldTell: "What would be told",
  s_deaths: "somebody dead", s_briefing: "the state", s_recollection: "an earlier turn", s_connections: "a tie in the graph", s_events: "an event", s_lorebook: "lore", s_memories: "a memory", s_story: "the story so far", source: "Source",
  w_location: "you are there", w_nearby: "somebody is near", w_graph: "near in the graph", w_mention: "was mentioned", w_similar: "similar words", w_layer: "its layer", w_fused: "ranks together", w_lexical: "same words", w_base: "always", w_recency: "recent", w_vector: "same meaning", w_dense: "same meaning", w_words: "its words", w_neighbours: "the turns beside it", w_names: "names", w_closeness: "close to each other", w_time: "the time that was named", w_new: "new", w_kind: "its kind", w_touch: "concerns the scene", w_RELATES_TO: "a relation", w_LOCATED_AT: "is there", w_OWNS: "a belonging", w_ADJACENT: "next to it", w_INVOLVED_IN: "took part", worth: "worth {n}", always: "always told",
};
const ko = {
  told: "{n}턴 전에 내레이터에게 전달된 내용", anew: "다시 읽음: 이 턴의 컨텍스트는 더 보관되어 있지 않습니다. 바로 위 응답만 보여 주는 요청을 가정했습니다.", kept: "보낸 그대로입니다.",
  tokens: "{n}토큰", nothing: "전달된 것이 없습니다. 시작이거나 맞는 것이 없었습니다.", whole: "보낸 블록 전체", skipped: "찾았지만 자리가 없던 것", skippedHelp: "전달된 것보다 가치가 낮았거나 구역에 들어가지 못했습니다.",
  late: "늦어서 빠진 것: {names}", took: "{n}ms 걸렸습니다.", before: "이전 턴", after: "다음 턴", ask: "왜 이것은 전달되지 않았나요?", askHelp: "내레이터가 알고 있어야 했던 것을 적으세요.", askLabel: "내용", askDo: "찾기", known: "SAGA가 아는 것 중에 이런 내용이 없습니다. 보고된 적이 없을 수 있습니다.",
  reason_told: "전달되었습니다.", reason_no_room: "찾았지만 자리가 없었습니다.", reason_no_signal: "장면에서 이것으로 이어지는 것이 없었습니다. 이름도, 장소도, 낱말도 없었습니다.", reason_faded_or_hidden: "언급되기를 기다리는 로어이거나, 마지막 언급이 너무 오래되었습니다.",
  kind_piece: "상태", kind_turn: "{n}턴", kind_lore: "로어", kind_memory: "기억", share: "입력한 낱말의 {n}% 포함", tryIt: "이렇게 말하면 무엇이 전달될까요?", tryHelp: "다음에 할 말을 적어 보세요. 모델에는 아무것도 보내지 않습니다.", tryDo: "시험", wouldTell: "전달될 내용",
  s_deaths: "죽은 인물", s_briefing: "상태", s_recollection: "이전 턴", s_connections: "그래프의 연결", s_events: "사건", s_lorebook: "로어", s_memories: "기억", s_story: "지금까지의 이야기", source: "출처",
  w_location: "그곳에 있음", w_nearby: "가까이 있음", w_graph: "그래프에서 가까움", w_mention: "언급됨", w_similar: "비슷한 말", w_layer: "계층", w_fused: "종합 순위", w_lexical: "같은 낱말", w_base: "기본", w_recency: "최근", w_vector: "같은 뜻", w_dense: "같은 뜻", w_words: "낱말", w_neighbours: "앞뒤 턴", w_names: "이름", w_closeness: "낱말이 가까이 있음", w_time: "언급한 때", w_new: "새로움", w_kind: "종류", w_touch: "장면과 관련됨", w_RELATES_TO: "관계", w_LOCATED_AT: "있는 곳", w_OWNS: "소유", w_ADJACENT: "이웃한 곳", w_INVOLVED_IN: "관련된 사건", worth: "가치 {n}", always: "항상 전달",
};
const ja = {
  told: "{n} ターンの前にナレーターに伝えられたこと", anew: "読み直し: このターンのコンテキストはもうありません。直前の返事だけを示すリクエストを想定しています。", kept: "送信されたままです。",
  tokens: "{n} トークン", nothing: "何も伝えられていません。冒頭か、合うものがありませんでした。", whole: "送信されたブロック", skipped: "見つかったが入りきらなかったもの", skippedHelp: "伝えられたものより価値が低いか、区画に入りませんでした。",
  late: "遅れて省かれたもの: {names}", took: "{n} ms かかりました。", before: "前のターン", after: "次のターン", ask: "なぜこれは伝えられなかったのか", askHelp: "ナレーターが知っているはずだったことを入力してください。", askLabel: "内容", askDo: "調べる", known: "SAGA の知ることの中にこの内容はありません。報告されていない可能性があります。",
  reason_told: "伝えられました。", reason_no_room: "見つかりましたが、入りきりませんでした。", reason_no_signal: "場面の中にこれへ導くものがありませんでした。名前も場所も言葉もありません。", reason_faded_or_hidden: "この設定は言及を待っているか、最後の言及が古すぎます。",
  kind_piece: "状態", kind_turn: "{n} ターン", kind_lore: "設定", kind_memory: "記憶", share: "入力した言葉の {n} % を含む", tryIt: "こう言ったら何が伝えられるか", tryHelp: "次に言うかもしれない言葉です。モデルには何も送りません。", tryDo: "試す", wouldTell: "伝えられる内容",
  s_deaths: "死者", s_briefing: "状態", s_recollection: "以前のターン", s_connections: "グラフのつながり", s_events: "出来事", s_lorebook: "設定", s_memories: "記憶", s_story: "これまでの物語", source: "出典",
  w_location: "そこにいる", w_nearby: "近くにいる", w_graph: "グラフで近い", w_mention: "言及された", w_similar: "似た言葉", w_layer: "層", w_fused: "総合順位", w_lexical: "同じ言葉", w_base: "常に", w_recency: "最近", w_vector: "同じ意味", w_dense: "同じ意味", w_words: "言葉", w_neighbours: "前後のターン", w_names: "名前", w_closeness: "言葉が近い", w_time: "言われた時期", w_new: "新しい", w_kind: "種類", w_touch: "場面に関わる", w_RELATES_TO: "関係", w_LOCATED_AT: "居場所", w_OWNS: "所有", w_ADJACENT: "隣の場所", w_INVOLVED_IN: "関わった出来事", worth: "価値 {n}", always: "常に伝える",
};
const zh = {
  told: "第 {n} 回合之前告知叙述者的内容", anew: "重新读取：此回合的上下文已不在手边。按只显示上一条回复的请求计算。", kept: "与发送时一致。",
  tokens: "{n} 个令牌", nothing: "没有告知任何内容：是开场，或没有合适的内容。", whole: "发送的完整区块", skipped: "找到了但放不下", skippedHelp: "它们的价值低于已告知的内容，或放不进其分区。",
  late: "因迟到而省略：{names}", took: "用时 {n} 毫秒。", before: "上一回合", after: "下一回合", ask: "为什么没有告知这个？", askHelp: "输入你认为叙述者应该知道的内容。", askLabel: "内容", askDo: "查找", known: "SAGA 所知道的内容中没有这个。可能从未被报告。",
  reason_told: "已告知。", reason_no_room: "找到了，但放不下。", reason_no_signal: "场景中没有任何线索指向它：没有名字、地点或词语。", reason_faded_or_hidden: "此设定等待被提及，或上次提及已太久。",
  kind_piece: "状态", kind_turn: "第 {n} 回合", kind_lore: "设定", kind_memory: "记忆", share: "包含你输入词语的 {n}%", tryIt: "如果这样说会告知什么？", tryHelp: "你接下来可能说的话。不会发送给模型。", tryDo: "试试", wouldTell: "将会告知的内容",
  s_deaths: "死者", s_briefing: "状态", s_recollection: "先前的回合", s_connections: "图中的联系", s_events: "事件", s_lorebook: "设定", s_memories: "记忆", s_story: "至今的故事", source: "来源",
  w_location: "你在那里", w_nearby: "有人在附近", w_graph: "图中相近", w_mention: "被提及", w_similar: "相似的词", w_layer: "层级", w_fused: "综合排名", w_lexical: "相同的词", w_base: "总是", w_recency: "最近", w_vector: "相同含义", w_dense: "相同含义", w_words: "词语", w_neighbours: "前后回合", w_names: "名字", w_closeness: "词语相近", w_time: "提到的时间", w_new: "新的", w_kind: "种类", w_touch: "与场景有关", w_RELATES_TO: "关系", w_LOCATED_AT: "所在", w_OWNS: "拥有", w_ADJACENT: "相邻", w_INVOLVED_IN: "参与的事件", worth: "价值 {n}", always: "总是告知",
};
export default { en, ko, ja, zh };

export default {
  en: {
    learned: "What was learned", off: "Learning from play costs calls, and is off unless memory_strategies says otherwise. What you add yourself needs one, too.", none: "Nothing yet.", told: "told now", untold: "not told now", strategy: "from {name}", byHand: "by hand",
    proof: "Proved by", elsewhere: "learned in another session", edit: "Edit", remove: "Remove", add: "Add a memory", text: "Text", namespace: "Where it belongs", search: "Search", look: "Search",
    changes: "What was changed besides the story", noChanges: "Nobody changed anything.", undone: "undone", undo: "Undo", redo: "Undo the undoing", by_edit: "a person", by_curation: "the curator",
    findings: "What the rules noticed", noFindings: "No contradictions.", settle_error: "It is an error", settle_deliberate: "It is meant so", verdict: "decided: {name}", reviews: "Reviews", noReviews: "No review yet.",
    span: "Turns {first}–{last}, by {name}", accepted: { one: "{n} accepted", other: "{n} accepted" }, refused: { one: "{n} refused", other: "{n} refused" }, story: "The story in fewer words", noStory: "Not yet: scenes are told after ten turns.",
    lore: "What play added to the lore", saved: "Changed.", version: "version {n}", expires: "until {date}", learns: "Nothing was learned yet.", more: "Older ones",
  },
  ko: {
    learned: "배운 것", off: "플레이에서 배우는 데는 모델 호출이 들므로 memory_strategies를 설정해야 켜집니다. 직접 추가하려 해도 전략이 하나 필요합니다.", none: "아직 없습니다.", told: "지금 전달됨", untold: "지금은 전달되지 않음", strategy: "{name}에서", byHand: "직접 추가",
    proof: "근거", elsewhere: "다른 세션에서 배움", edit: "수정", remove: "삭제", add: "기억 추가", text: "내용", namespace: "속한 곳", search: "검색", look: "검색",
    changes: "이야기 밖에서 바뀐 것", noChanges: "바꾼 것이 없습니다.", undone: "되돌림", undo: "되돌리기", redo: "되돌리기 취소", by_edit: "사람", by_curation: "큐레이터",
    findings: "규칙이 찾은 것", noFindings: "모순이 없습니다.", settle_error: "오류입니다", settle_deliberate: "의도한 것입니다", verdict: "결정: {name}", reviews: "검토", noReviews: "아직 검토가 없습니다.",
    span: "{first}–{last}턴, {name}", accepted: "{n}건 수락", refused: "{n}건 거부", story: "줄인 이야기", noStory: "아직 없습니다. 열 턴 뒤에 장면이 요약됩니다.",
    lore: "플레이가 로어에 더한 것", saved: "변경했습니다.", version: "버전 {n}", expires: "{date}까지", learns: "아직 배운 것이 없습니다.", more: "더 오래된 것",
  },
  ja: {
    learned: "学んだこと", off: "プレイから学ぶには呼び出しの費用がかかるため、memory_strategies で有効にします。手で加える場合も必要です。", none: "まだありません。", told: "今伝えている", untold: "今は伝えていない", strategy: "{name} から", byHand: "手で追加",
    proof: "根拠", elsewhere: "別のセッションで学習", edit: "編集", remove: "削除", add: "記憶を追加", text: "内容", namespace: "属する場所", search: "検索", look: "検索",
    changes: "物語の外で変えられたこと", noChanges: "誰も変更していません。", undone: "取り消し済み", undo: "元に戻す", redo: "取り消しを戻す", by_edit: "人", by_curation: "キュレーター",
    findings: "規則が気づいたこと", noFindings: "矛盾はありません。", settle_error: "誤りです", settle_deliberate: "意図したものです", verdict: "決定: {name}", reviews: "レビュー", noReviews: "レビューはまだありません。",
    span: "{first}–{last} ターン、{name}", accepted: "{n} 件採用", refused: "{n} 件却下", story: "短くした物語", noStory: "まだありません。十ターン後に場面がまとめられます。",
    lore: "プレイが設定に加えたこと", saved: "変更しました。", version: "版 {n}", expires: "{date} まで", learns: "まだ何も学んでいません。", more: "さらに古いもの",
  },
  zh: {
    learned: "学到的内容", off: "从游玩中学习需要调用模型，须在 memory_strategies 中启用。手动添加也需要启用一个。", none: "还没有。", told: "现在会告知", untold: "现在不告知", strategy: "来自 {name}", byHand: "手动添加",
    proof: "依据", elsewhere: "在另一会话中学到", edit: "编辑", remove: "删除", add: "添加记忆", text: "内容", namespace: "所属", search: "搜索", look: "搜索",
    changes: "故事之外的更改", noChanges: "没有任何更改。", undone: "已撤销", undo: "撤销", redo: "取消撤销", by_edit: "人", by_curation: "策展者",
    findings: "规则注意到的", noFindings: "没有矛盾。", settle_error: "是错误", settle_deliberate: "有意为之", verdict: "已决定：{name}", reviews: "审阅", noReviews: "还没有审阅。",
    span: "第 {first}–{last} 回合，{name}", accepted: "接受 {n} 项", refused: "拒绝 {n} 项", story: "精简的故事", noStory: "还没有：十个回合后会概括场景。",
    lore: "游玩为设定增加的内容", saved: "已更改。", version: "版本 {n}", expires: "至 {date}", learns: "还没有学到内容。", more: "更早的",
  },
};

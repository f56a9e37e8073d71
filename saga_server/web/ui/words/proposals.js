export default {
  en: {
    waiting: "Waiting for you", waitingHelp: "None of this counts until you accept it. The story goes on meanwhile.", accept: "Accept", refuse: "Refuse", acceptAll: "Accept all ({n})", acceptEdit: "Accept and correct", edit: "Edit", text: "Text",
    deciding: "{done} of {n} are decided.", stop: "Stop", by_edit: "by hand", by_curation: "SAGA’s review", by_rules: "SAGA’s rules", by_extraction: "read from the reply",
    always: "Always…", alwaysAccept: "Always accept", alwaysRefuse: "Always refuse", alwaysHelp: "This decides from now on, in this story, all proposals of one kind: {what}.", alwaysNow: { one: "The one that waits now is decided as well.", other: "The {n} that wait now are decided as well." },
    of_contradiction: "contradictions that {by} finds", of_compress: "summaries that {by} writes", of_event: "events to come that {by} notes", of_lore: "lore that {by} adds", of_remember: "memories of the strategy “{by}”", of_reading: "what a model reads in turns that nobody reported", of_other: "what {by} proposes ({kind})",
    standing: "Always decided the same way", standingHelp: "SAGA decides these proposals in this story as you said, without asking. What came of it is among the corrections below, and can be undone there.", rule_accept: "Always accept: {what}", rule_refuse: "Always refuse: {what}", since: "since {date}", askAgain: "Ask me again",
    refused: "Refused. It does not count.", asked: "From now on, SAGA asks you again.",
  },
  ko: {
    waiting: "결정을 기다리는 제안", waitingHelp: "수락하기 전에는 아무것도 적용되지 않습니다. 그동안에도 이야기는 계속됩니다.", accept: "수락", refuse: "거부", acceptAll: "모두 수락 ({n})", acceptEdit: "수락하고 수정", edit: "수정", text: "내용",
    deciding: "{n}개 중 {done}개를 처리했습니다.", stop: "중지", by_edit: "직접 수정", by_curation: "SAGA의 검토", by_rules: "SAGA의 규칙", by_extraction: "응답에서 읽음",
    always: "항상…", alwaysAccept: "항상 수락", alwaysRefuse: "항상 거부", alwaysHelp: "이 이야기에서 앞으로 같은 종류의 제안을 모두 이대로 결정합니다. 대상: {what}.", alwaysNow: "지금 기다리는 {n}건도 함께 결정합니다.",
    of_contradiction: "{by}의 모순 지적", of_compress: "{by}의 이야기 요약", of_event: "{by}의 예정된 사건", of_lore: "{by}의 로어 추가", of_remember: "기억 전략 ‘{by}’의 기억", of_reading: "보고되지 않은 턴에서 모델이 읽은 내용", of_other: "{by}의 제안 ({kind})",
    standing: "항상 같은 방식으로 결정", standingHelp: "이 이야기에서 이런 제안은 묻지 않고 정한 대로 처리합니다. 처리한 내용은 아래 수정 내역에 남고, 거기에서 되돌릴 수 있습니다.", rule_accept: "항상 수락: {what}", rule_refuse: "항상 거부: {what}", since: "{date}부터", askAgain: "다시 묻기",
    refused: "거부했습니다. 적용되지 않습니다.", asked: "이제부터 다시 묻습니다.",
  },
  ja: {
    waiting: "決定待ちの提案", waitingHelp: "承認するまで何も有効になりません。その間も物語は続きます。", accept: "承認", refuse: "却下", acceptAll: "すべて承認（{n}）", acceptEdit: "承認して訂正", edit: "編集", text: "内容",
    deciding: "{n} 件中 {done} 件を処理しました。", stop: "中止", by_edit: "手動で訂正", by_curation: "SAGA のレビュー", by_rules: "SAGA のルール", by_extraction: "応答から読み取り",
    always: "常に…", alwaysAccept: "常に承認", alwaysRefuse: "常に却下", alwaysHelp: "この物語では今後、同じ種類の提案をすべてこのとおりに決めます。対象: {what}。", alwaysNow: "現在待っている {n} 件も同じように決めます。",
    of_contradiction: "{by} が指摘する矛盾", of_compress: "{by} が書く物語の要約", of_event: "{by} が記す今後の出来事", of_lore: "{by} が加える世界設定", of_remember: "記憶戦略「{by}」の記憶", of_reading: "報告のないターンからモデルが読み取った内容", of_other: "{by} の提案（{kind}）",
    standing: "常に同じように決める提案", standingHelp: "この物語では、次の提案を確認せず、決めたとおりに処理します。結果は下の訂正の履歴に残り、そこで元に戻せます。", rule_accept: "常に承認: {what}", rule_refuse: "常に却下: {what}", since: "{date} から", askAgain: "もう一度確認する",
    refused: "却下しました。有効にはなりません。", asked: "今後はもう一度確認します。",
  },
  zh: {
    waiting: "等待你决定的提议", waitingHelp: "在你接受之前都不生效。故事照常继续。", accept: "接受", refuse: "拒绝", acceptAll: "全部接受（{n}）", acceptEdit: "接受并更正", edit: "编辑", text: "内容",
    deciding: "已处理 {n} 项中的 {done} 项。", stop: "停止", by_edit: "手动更正", by_curation: "SAGA 的审阅", by_rules: "SAGA 的规则", by_extraction: "从回复中读出",
    always: "始终…", alwaysAccept: "始终接受", alwaysRefuse: "始终拒绝", alwaysHelp: "本故事中，今后同类的提议都照此决定：{what}。", alwaysNow: "现在等待的 {n} 项也一并决定。",
    of_contradiction: "{by} 指出的矛盾", of_compress: "{by} 写的故事概要", of_event: "{by} 记下的将来事件", of_lore: "{by} 补充的设定", of_remember: "记忆策略“{by}”的记忆", of_reading: "模型从未报告的回合中读出的内容", of_other: "{by} 的提议（{kind}）",
    standing: "始终照此决定的提议", standingHelp: "本故事中，这些提议不再询问，直接照你的决定处理。结果列在下方的更正记录中，可在那里撤销。", rule_accept: "始终接受：{what}", rule_refuse: "始终拒绝：{what}", since: "自 {date} 起", askAgain: "重新询问",
    refused: "已拒绝，不会生效。", asked: "今后会重新询问。",
  },
};

export default {
  en: {
    read: "Turns that nobody reported", title: { one: "What changed in {n} turn is not known", other: "What changed in {n} turns is not known" }, help: "These turns were played before SAGA was there, imported, or told without a report. A small model can read them; nothing is spent before you say so.",
    noReader: "There is no model for it: set models.extraction in saga.yaml.", estimate: "What would reading them cost?", begin: "Read them", goOn: "Go on reading", stop: "Stop", reading: "Reading", progress: "{done} of {n} turns are read.",
    turns: "Turns", model: "Model", price: "Price, about", unpriced: "the model’s prices are not known", tokens: "Tokens, about", inOut: "{input} in, {output} out, in {calls} calls", time: "Time, about", minutes: { one: "{n} minute", other: "{n} minutes" },
    budget: "Stop before more is spent than (US dollars, optional)", over_done: "All {n} turns are read.", over_stopped: "Stopped: {done} of {n} turns are read. It goes on from there whenever you want.",
    over_budget: "Stopped: {done} of {n} turns are read, and the next step may cost more than you set.", over_failed: "{done} of {n} turns are read; the next ones could not be.", failed: { one: "{n} turn could not be read: see Health", other: "{n} turns could not be read: see Health" },
  },
  ko: {
    read: "보고 없이 지나간 턴", title: "무엇이 바뀌었는지 모르는 턴 {n}개", help: "SAGA 없이 플레이했거나, 가져왔거나, 보고 없이 서술된 턴입니다. 작은 모델이 읽어 낼 수 있으며, 동의하기 전에는 비용이 들지 않습니다.",
    noReader: "읽을 모델이 없습니다. saga.yaml에 models.extraction을 설정하세요.", estimate: "읽는 데 비용이 얼마나 드나요?", begin: "읽기 시작", goOn: "이어서 읽기", stop: "중지", reading: "읽는 중", progress: "{n}턴 중 {done}턴을 읽었습니다.",
    turns: "턴", model: "모델", price: "예상 비용", unpriced: "모델의 가격을 알 수 없음", tokens: "예상 토큰", inOut: "입력 {input}, 출력 {output}, 호출 {calls}회", time: "예상 시간", minutes: "{n}분",
    budget: "비용 한도 (미국 달러, 선택)", over_done: "{n}턴을 모두 읽었습니다.", over_stopped: "중지했습니다. {n}턴 중 {done}턴을 읽었고, 언제든 이어서 읽을 수 있습니다.",
    over_budget: "중지했습니다. {n}턴 중 {done}턴을 읽었고, 다음 단계에서 한도를 넘을 수 있습니다.", over_failed: "{n}턴 중 {done}턴을 읽었고, 그다음은 읽지 못했습니다.", failed: "읽지 못한 턴 {n}개: ‘상태’ 페이지 보기",
  },
  ja: {
    read: "報告のなかったターン", title: "何が変わったか分からないターン: {n} 件", help: "SAGA を使う前のターン、取り込んだターン、または報告なしに語られたターンです。小さなモデルに読ませることができます。承諾するまで費用はかかりません。",
    noReader: "読み取るモデルがありません。saga.yaml の models.extraction を設定してください。", estimate: "読み取りの費用を見積もる", begin: "読み取りを始める", goOn: "続きを読み取る", stop: "中止", reading: "読み取り中", progress: "{n} ターン中 {done} ターンを読み取りました。",
    turns: "ターン", model: "モデル", price: "費用の目安", unpriced: "モデルの価格が不明です", tokens: "トークンの目安", inOut: "入力 {input}、出力 {output}、呼び出し {calls} 回", time: "時間の目安", minutes: "{n} 分",
    budget: "費用の上限（米ドル、任意）", over_done: "{n} ターンすべてを読み取りました。", over_stopped: "中止しました。{n} ターン中 {done} ターンを読み取りました。いつでも続きから再開できます。",
    over_budget: "中止しました。{n} ターン中 {done} ターンを読み取りました。次の段階で上限を超えるおそれがあります。", over_failed: "{n} ターン中 {done} ターンを読み取りましたが、その先は読み取れませんでした。", failed: "読み取れなかったターン {n} 件:「状態」ページを見る",
  },
  zh: {
    read: "没有报告的回合", title: "有 {n} 个回合不知道改变了什么", help: "这些回合是在使用 SAGA 之前进行的、导入的，或叙述时没有报告。可以让小模型读取；在你同意之前不会产生费用。",
    noReader: "没有可用的模型：请在 saga.yaml 中设置 models.extraction。", estimate: "估算读取费用", begin: "开始读取", goOn: "继续读取", stop: "停止", reading: "读取中", progress: "已读取 {n} 个回合中的 {done} 个。",
    turns: "回合", model: "模型", price: "预计费用", unpriced: "模型价格未知", tokens: "预计 Token", inOut: "输入 {input}，输出 {output}，调用 {calls} 次", time: "预计时间", minutes: "{n} 分钟",
    budget: "费用上限（美元，可选）", over_done: "已读取全部 {n} 个回合。", over_stopped: "已停止：读取了 {n} 个回合中的 {done} 个，随时可以继续。",
    over_budget: "已停止：读取了 {n} 个回合中的 {done} 个，下一步可能超出上限。", over_failed: "读取了 {n} 个回合中的 {done} 个，之后的无法读取。", failed: "{n} 个回合无法读取：查看“运行状况”页面",
  },
};

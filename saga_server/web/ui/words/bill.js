export default {
  en: {
    total: "In all", noBills: "Nothing was billed in this session yet.", unpriced: { one: "The prices of {n} call are not known.", other: "The prices of {n} calls are not known." }, paid: "Paid, with SAGA", uncached: "The same without a cache", without: "Without a cache and without SAGA", saved: "Saved: {n} %", costs: "More than without: {n} %",
    byKind: "By kind", kind: "Kind", calls: "Calls", input: "Tokens in", read: "of them cached", output: "Tokens out", dollars: "US dollars", narration: "narration", extraction: "extraction", curation: "curation", byModel: "By model", model: "Model",
    plot: "Turn by turn", plotHelp: "Each bar is a call: below, what the cache gave; above, what was paid in full; on top, the reply.", cached: "from the cache", full: "paid in full", reply: "the reply", table: "The same as a table", when: "When",
    broken: "Where the cache failed", noBroken: "The cache never failed.", pinned: "When the pages in the prompt changed", earlier: "Earlier", later: "Later", unknown: "not known",
    p_first: "the first prompt", p_expired: "the cache had expired", p_cut: "the history was cut", p_curation: "a curator changed something", p_cost: "reporting the changes cost more", p_full: "the history no longer shows everything", p_turns: "as often as set",
    unit: "Bars show", tokens: "tokens", plotDollars: "Each bar is a call, as high as what it cost. A call whose price is not known has none.",
  },
  ko: {
    total: "전체", noBills: "이 세션에는 아직 청구 내역이 없습니다.", unpriced: "호출 {n}건의 가격을 알 수 없습니다.", paid: "실제로 지불한 금액 (SAGA 사용)", uncached: "캐시가 없었다면", without: "캐시도 SAGA도 없었다면", saved: "{n}% 절약", costs: "오히려 {n}% 더 지출",
    byKind: "종류별", kind: "종류", calls: "호출", input: "입력 토큰", read: "그중 캐시", output: "출력 토큰", dollars: "미국 달러", narration: "내레이션", extraction: "추출", curation: "큐레이션", byModel: "모델별", model: "모델",
    plot: "턴별", plotHelp: "막대 하나가 호출 한 번입니다. 아래부터 캐시에서 읽은 토큰, 정가로 청구된 토큰, 응답입니다.", cached: "캐시에서", full: "정가 청구", reply: "응답", table: "표로 보기", when: "시각",
    broken: "캐시를 쓰지 못한 곳", noBroken: "캐시를 쓰지 못한 적이 없습니다.", pinned: "프롬프트의 요약 페이지가 바뀐 시점", earlier: "이전", later: "다음", unknown: "알 수 없음",
    p_first: "첫 프롬프트", p_expired: "캐시가 만료됨", p_cut: "기록이 잘림", p_curation: "큐레이터가 내용을 바꿈", p_cost: "변경 사항을 따로 전달하는 비용이 더 커짐", p_full: "기록에 전체 이야기가 더는 들어 있지 않음", p_turns: "설정한 간격",
    unit: "막대 단위", tokens: "토큰", plotDollars: "막대 하나가 호출 한 번이며, 높이는 비용입니다. 가격을 알 수 없는 호출에는 막대가 없습니다.",
  },
  ja: {
    total: "合計", noBills: "このセッションにはまだ請求がありません。", unpriced: "{n} 件の呼び出しの価格が不明です。", paid: "実際の費用（SAGA あり）", uncached: "キャッシュなしの場合", without: "キャッシュも SAGA もない場合", saved: "{n}% の節約", costs: "使わない場合より {n}% 高くなっています",
    byKind: "種類別", kind: "種類", calls: "呼び出し", input: "入力トークン", read: "うちキャッシュ", output: "出力トークン", dollars: "米ドル", narration: "ナレーション", extraction: "抽出", curation: "キュレーション", byModel: "モデル別", model: "モデル",
    plot: "ターンごと", plotHelp: "棒 1 本が 1 回の呼び出しです。下からキャッシュ分、通常料金分、応答です。", cached: "キャッシュ", full: "通常料金", reply: "応答", table: "表で表示", when: "日時",
    broken: "キャッシュが使えなかった箇所", noBroken: "キャッシュが使えなかったことはありません。", pinned: "プロンプトの要約ページが変わった時点", earlier: "前へ", later: "次へ", unknown: "不明",
    p_first: "最初のプロンプト", p_expired: "キャッシュの期限切れ", p_cut: "履歴が切り詰められた", p_curation: "キュレーターが内容を変更", p_cost: "変更を伝え続ける費用の方が高くなった", p_full: "履歴がすべてを示さなくなった", p_turns: "設定した間隔",
    unit: "棒の単位", tokens: "トークン", plotDollars: "棒 1 本が 1 回の呼び出しで、高さは費用です。価格が不明な呼び出しには棒がありません。",
  },
  zh: {
    total: "总计", noBills: "此会话还没有账单。", unpriced: "{n} 次调用的价格未知。", paid: "实际花费（使用 SAGA）", uncached: "没有缓存时", without: "没有缓存也没有 SAGA 时", saved: "节省：{n}%", costs: "比不使用时多 {n}%",
    byKind: "按种类", kind: "种类", calls: "调用", input: "输入 Token", read: "其中缓存", output: "输出 Token", dollars: "美元", narration: "叙述", extraction: "提取", curation: "整理", byModel: "按模型", model: "模型",
    plot: "逐回合", plotHelp: "每根柱是一次调用：自下而上依次为来自缓存、按全价计费、回复。", cached: "来自缓存", full: "按全价计费", reply: "回复", table: "以表格显示", when: "时间",
    broken: "缓存失效之处", noBroken: "缓存从未失效。", pinned: "提示词中的页面何时变化", earlier: "更早", later: "更晚", unknown: "未知",
    p_first: "第一个提示词", p_expired: "缓存已过期", p_cut: "历史被截短", p_curation: "整理器更改了内容", p_cost: "继续报告变化更贵", p_full: "历史不再包含全部内容", p_turns: "到达设定的间隔",
    unit: "柱形单位", tokens: "Token", plotDollars: "每根柱形是一次调用，高度为费用。价格未知的调用没有柱形。",
  },
};

export default {
  en: {
    graph: "Who, where, what", list: "Everybody and everything", character: "People", location: "Places", item: "Things", event: "Events",
    relates: "relations", where: "who is where", owns: "who owns what", ways: "ways between places", part: "who took part", least: "Strength at least {n}", slider: "As of turn {n} of {all}",
    search: "Search by name", none: "Nobody and nothing of that name.", dead: "dead", here: "here", you: "you", back: "All", names: "Also called", facts: "Facts", place: "Where", since: "since turn {n}",
    things: "Has", owners: "Belongs to", present: "Here are", relations: "Relations", knowledge: "What is known", history: "History", noHistory: "Nothing has changed since the opening.",
    rename: "Rename", newName: "New name", merge: "Is the same as …", into: "Joins", mergeHelp: "The other keeps its name and takes over names, belongings and relations.", split: "Is really two", splitName: "The name of the other", forget: "Forget",
    saved: "Changed.", undo: "Undo", canvas: "Graph of {n} names and {ties} ties. The list has the same.", tooMany: "{n} more are left out; narrow the choice.", nothing: "Nothing to draw with this choice.", fit: "Show all", show: "Show the graph", ties: "Ties", nodes: "Names", turn: "turn {n}",
  },
  ko: {
    graph: "누가, 어디에, 무엇을", list: "모든 이름", character: "인물", location: "장소", item: "물건", event: "사건",
    relates: "관계", where: "누가 어디에", owns: "누가 무엇을", ways: "장소 사이의 길", part: "사건에 관련된 인물", least: "강도 {n} 이상", slider: "{all}턴 중 {n}턴 기준",
    search: "이름으로 찾기", none: "그런 이름이 없습니다.", dead: "사망", here: "여기", you: "나", back: "전체", names: "다른 이름", facts: "사실", place: "있는 곳", since: "{n}턴부터",
    things: "가진 것", owners: "가진 인물", present: "여기 있는 인물", relations: "관계", knowledge: "알려진 것", history: "기록", noHistory: "시작 이후 바뀐 것이 없습니다.",
    rename: "이름 변경", newName: "새 이름", merge: "같은 인물/물건입니다 …", into: "합칠 대상", mergeHelp: "합칠 대상의 이름이 남고, 다른 이름과 소지품, 관계를 넘겨받습니다.", split: "둘로 나누기", splitName: "나눌 이름", forget: "잊기",
    saved: "변경했습니다.", undo: "되돌리기", canvas: "이름 {n}개, 연결 {ties}개의 그래프. 목록에 같은 내용이 있습니다.", tooMany: "{n}개가 더 있습니다. 범위를 좁히세요.", nothing: "이 조건으로 그릴 것이 없습니다.", fit: "전체 보기", show: "그래프 보기", ties: "연결", nodes: "이름", turn: "{n}턴",
  },
  ja: {
    graph: "誰が、どこに、何を", list: "すべての名前", character: "人物", location: "場所", item: "物", event: "出来事",
    relates: "関係", where: "誰がどこに", owns: "誰が何を", ways: "場所の間の道", part: "関わった人", least: "強さ {n} 以上", slider: "{all} ターン中 {n} ターン時点",
    search: "名前で探す", none: "その名前はありません。", dead: "死亡", here: "ここ", you: "あなた", back: "すべて", names: "別名", facts: "事実", place: "居場所", since: "{n} ターンから",
    things: "持ち物", owners: "持ち主", present: "ここにいる人", relations: "関係", knowledge: "知られていること", history: "履歴", noHistory: "冒頭から変わっていません。",
    rename: "名前を変更", newName: "新しい名前", merge: "同一です …", into: "統合先", mergeHelp: "統合先の名前が残り、別名、持ち物、関係を引き継ぎます。", split: "二つに分ける", splitName: "分ける名前", forget: "忘れる",
    saved: "変更しました。", undo: "元に戻す", canvas: "名前 {n}、つながり {ties} のグラフ。一覧に同じ内容があります。", tooMany: "他に {n} 件あります。絞り込んでください。", nothing: "この条件で描くものはありません。", fit: "全体を表示", show: "グラフを表示", ties: "つながり", nodes: "名前", turn: "{n} ターン",
  },
  zh: {
    graph: "谁、在哪、有什么", list: "所有名字", character: "人物", location: "地点", item: "物品", event: "事件",
    relates: "关系", where: "谁在哪里", owns: "谁拥有什么", ways: "地点之间的路", part: "谁参与其中", least: "强度至少 {n}", slider: "共 {all} 回合，第 {n} 回合时",
    search: "按名字搜索", none: "没有这个名字。", dead: "已死", here: "在场", you: "你", back: "全部", names: "别名", facts: "事实", place: "所在", since: "自第 {n} 回合",
    things: "拥有", owners: "属于", present: "在这里的人", relations: "关系", knowledge: "已知的事", history: "经历", noHistory: "开场以来没有变化。",
    rename: "重命名", newName: "新名字", merge: "其实是同一个 …", into: "并入", mergeHelp: "对方保留名字，并接管别名、物品和关系。", split: "其实是两个", splitName: "另一个的名字", forget: "忘记",
    saved: "已更改。", undo: "撤销", canvas: "{n} 个名字、{ties} 条联系的图。列表内容相同。", tooMany: "另有 {n} 个未显示；请缩小范围。", nothing: "此条件下没有可画的内容。", fit: "显示全部", show: "显示图", ties: "联系", nodes: "名字", turn: "第 {n} 回合",
  },
};

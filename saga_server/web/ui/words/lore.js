export default {
  en: {
    entries: "The lore of this story", none: "This story has no world, or its world has no lore. Worlds are optional; you can begin a new story in one.", search: "Search", layer: "layer {n}", constant: "always a candidate", secret: "secret, known to {names}", added: "Play added", mentioned: "mentioned last at turn {n}", never: "not mentioned yet",
    told: { one: "told {n} time lately", other: "told {n} times lately" }, untold: "not told lately", noneLooked: "SAGA has no turn at hand since it started, so nothing can be said of what was told lately.", looked: "“Lately” means the last turns that SAGA still has at hand: {n}.", why: "because", edit: "Correct what play added", text: "Text (empty removes it)", saved: "Changed.",
    worlds: "Worlds", world: "World", file: "File", shipped: "This world came with SAGA, or cannot be written. Copy its folder to worlds/ beside saga.yaml, and edit the copy.", check: "Check", write: "Save", checked: "No fault. It can be saved.", wrote: "Saved. New stories begin with it; this one keeps the world that it began with.",
    problems: { one: "{n} fault", other: "{n} faults" }, line: "{file}, line {n}", go: "Go there", warnings: "Warnings", changed: "not saved",
    of: "World: {name}",
  },
  ko: {
    entries: "이 이야기의 로어", none: "이 이야기에는 월드가 없거나 월드에 로어가 없습니다. 월드는 선택 사항이며, 새 이야기는 월드를 정해 시작할 수 있습니다.", search: "검색", layer: "계층 {n}", constant: "항상 후보", secret: "비밀, 아는 인물: {names}", added: "플레이 중 추가된 내용", mentioned: "{n}턴에 마지막으로 언급됨", never: "아직 언급되지 않음",
    told: "최근 {n}번 전달됨", untold: "최근 전달되지 않음", noneLooked: "SAGA를 시작한 뒤로 살펴볼 턴이 아직 없어서, 최근에 전달된 것을 알 수 없습니다.", looked: "‘최근’은 SAGA가 아직 보관 중인 마지막 턴 {n}개를 뜻합니다.", why: "이유", edit: "플레이 중 추가된 내용 수정", text: "내용 (비우면 삭제)", saved: "변경했습니다.",
    worlds: "월드", world: "월드", file: "파일", shipped: "SAGA에 포함된 월드이거나 쓸 수 없는 폴더입니다. 폴더를 saga.yaml 옆 worlds/로 복사해 수정하세요.", check: "검사", write: "저장", checked: "오류가 없습니다. 저장할 수 있습니다.", wrote: "저장했습니다. 새 이야기부터 적용되고, 이 이야기는 시작할 때의 월드를 그대로 씁니다.",
    problems: "오류 {n}건", line: "{file} {n}행", go: "이동", warnings: "경고", changed: "저장 안 됨",
    of: "월드: {name}",
  },
  ja: {
    entries: "この物語の世界設定", none: "この物語はワールドを使っていないか、ワールドに世界設定がありません。ワールドは任意です。新しい物語はワールドを選んで始められます。", search: "検索", layer: "レイヤー {n}", constant: "常に候補", secret: "秘密（知っている人: {names}）", added: "プレイ中に加わったこと", mentioned: "最後の言及: {n} ターン", never: "まだ言及なし",
    told: "最近 {n} 回伝えました", untold: "最近は伝えていません", noneLooked: "SAGA を起動してからまだターンがないため、最近伝えたことは分かりません。", looked: "「最近」とは、SAGA がまだ保持している直近の {n} ターンです。", why: "理由", edit: "プレイ中に加わったことを訂正", text: "内容（空にすると削除）", saved: "変更しました。",
    worlds: "ワールド", world: "ワールド", file: "ファイル", shipped: "SAGA に付属のワールドか、書き込めないフォルダーです。saga.yaml の隣の worlds/ にコピーして編集してください。", check: "検査", write: "保存", checked: "エラーはありません。保存できます。", wrote: "保存しました。新しい物語から使われます。この物語は開始時のワールドのままです。",
    problems: "エラー {n} 件", line: "{file} の {n} 行目", go: "移動", warnings: "警告", changed: "未保存",
    of: "ワールド: {name}",
  },
  zh: {
    entries: "此故事的设定", none: "此故事没有世界，或其世界没有设定。世界是可选的；可以在某个世界开始新故事。", search: "搜索", layer: "层级 {n}", constant: "始终作为候选", secret: "秘密，知情者：{names}", added: "游戏中新增的内容", mentioned: "上次提及于第 {n} 回合", never: "尚未提及",
    told: "近期告知 {n} 次", untold: "近期未告知", noneLooked: "SAGA 启动以来还没有回合，因此不知道最近告知了什么。", looked: "“近期”指 SAGA 仍保留的最近 {n} 个回合。", why: "原因", edit: "更正游戏中新增的内容", text: "内容（留空则删除）", saved: "已更改。",
    worlds: "世界", world: "世界", file: "文件", shipped: "这个世界随 SAGA 附带，或无法写入。请将其文件夹复制到 saga.yaml 旁的 worlds/ 再编辑。", check: "检查", write: "保存", checked: "没有错误，可以保存。", wrote: "已保存。新故事将使用它；此故事保持开始时的世界。",
    problems: "{n} 处错误", line: "{file} 第 {n} 行", go: "前往", warnings: "警告", changed: "未保存",
    of: "世界：{name}",
  },
};

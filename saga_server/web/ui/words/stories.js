// The words of the page about all stories.
export default {
  en: {
    search: "Find a story", count: { one: "{n} story", other: "{n} stories" }, whole: "{n} with all branches and swipes", size: { one: "{n} turn · played {when}", other: "{n} turns · played {when}" },
    rename: "Rename", delete: "Delete", trash: "Deleted", trashHelp: "A deleted story can be brought back for a day. Then it is gone for good.",
    until: "until {when}", restore: "Bring back", discard: "Delete for good", discardAsk: "It cannot be brought back afterwards.", ephemeral: "in the server's memory only", shared: "shares {world}",
  },
  ko: {
    search: "이야기 찾기", count: "이야기 {n}개", whole: "분기와 스와이프까지 총 {n}턴", size: "{n}턴 · 마지막 플레이 {when}",
    rename: "이름 바꾸기", delete: "삭제", trash: "삭제한 이야기", trashHelp: "삭제한 이야기는 하루 동안 되살릴 수 있습니다. 그 뒤에는 완전히 사라집니다.",
    until: "{when}까지", restore: "되살리기", discard: "완전히 삭제", discardAsk: "삭제한 뒤에는 되살릴 수 없습니다.", ephemeral: "서버 메모리에만 있음", shared: "{world} 세계를 함께 씀",
  },
  ja: {
    search: "物語を探す", count: "物語 {n} 件", whole: "分岐とスワイプを含めて {n} ターン", size: "{n} ターン · 最終プレイ {when}",
    rename: "名前を変更", delete: "削除", trash: "削除した物語", trashHelp: "削除した物語は 1 日のあいだ元に戻せます。その後は完全に消えます。",
    until: "{when} まで", restore: "元に戻す", discard: "完全に削除", discardAsk: "削除すると元に戻せません。", ephemeral: "サーバーのメモリにのみ存在", shared: "{world} を共有",
  },
  zh: {
    search: "查找故事", count: "{n} 个故事", whole: "含分支和重新生成共 {n} 回合", size: "{n} 回合 · 上次游玩 {when}",
    rename: "重命名", delete: "删除", trash: "已删除", trashHelp: "删除的故事在一天内可以恢复，之后将彻底消失。",
    until: "保留至 {when}", restore: "恢复", discard: "彻底删除", discardAsk: "删除后将无法恢复。", ephemeral: "仅保存在服务器内存中", shared: "共享 {world}",
  },
};

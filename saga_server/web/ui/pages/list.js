// The pages, in the order in which they are offered; `admin`: to administrators. A page is a file that exports `Page` and has its words beside it.
export const PAGES = [
  {
    id: "start",
    title: { en: "Start", ko: "시작", ja: "はじめに", zh: "开始" },
    load: () => import("./start.js"),
  },
  {
    id: "stories",
    title: { en: "Stories", ko: "이야기 목록", ja: "物語の一覧", zh: "故事列表" },
    load: () => import("./stories.js"),
  },
  {
    id: "now",
    title: { en: "Now", ko: "지금", ja: "現在", zh: "现在" },
    session: true,
    load: () => import("./now.js"),
  },
  {
    id: "story",
    title: { en: "Story", ko: "이야기", ja: "物語", zh: "故事" },
    session: true,
    load: () => import("./story.js"),
  },
  {
    id: "people",
    title: { en: "People and places", ko: "인물과 장소", ja: "人と場所", zh: "人物与地点" },
    session: true,
    load: () => import("./people.js"),
  },
  {
    id: "memories",
    title: { en: "Memories", ko: "기억", ja: "記憶", zh: "记忆" },
    session: true,
    load: () => import("./memories.js"),
  },
  {
    id: "why",
    title: { en: "Why", ko: "왜", ja: "なぜ", zh: "为什么" },
    session: true,
    load: () => import("./why.js"),
  },
  {
    id: "lore",
    title: { en: "Lore", ko: "로어", ja: "世界設定", zh: "设定" },
    session: true,
    load: () => import("./lore.js"),
  },
  {
    id: "bill",
    title: { en: "Bill", ko: "비용", ja: "費用", zh: "账单" },
    session: true,
    load: () => import("./bill.js"),
  },
  {
    id: "transfer",
    title: { en: "Import and export", ko: "가져오기와 내보내기", ja: "取り込みと書き出し", zh: "导入与导出" },
    load: () => import("./transfer.js"),
  },
  {
    id: "settings",
    admin: true,
    title: { en: "Settings", ko: "설정", ja: "設定画面", zh: "设置" },
    load: () => import("./settings.js"),
  },
  {
    id: "health",
    admin: true,
    title: { en: "Health", ko: "상태", ja: "状態", zh: "运行状况" },
    load: () => import("./health.js"),
  },
];

// The panel's words, in the languages of the pages.
const WORDS = {
  en: {
    on: "Tell SAGA which chat this is, and show its memory", none: "SAGA does not know this chat yet. Send a message.", unreachable: "SAGA at {address} does not answer. Is it running, and does server.origins name {origin}?",
    turn: "Turn {n}", pages: "All pages", now: "Now", changed: "Changed by the last turn", corrections: "Corrections", correct: "Correct something", why: "Why: what the narrator was told", warnings: "Warnings", settings: "Settings", address: "SAGA's address", key: "SAGA's key, if it wants one",
    undo: "Undo", close: "Close", gone: "No longer so", save: "Save", nothing: "Nothing.", noMore: "no longer", unknown: "not known", here: "Here", place: "Place", hp: "hit points",
    k_note: "Remember a fact", k_move: "I am at …", k_met: "… is here", k_parted: "… is not here", k_give: "I have …", k_take: "I no longer have …", k_mood: "Mood of …", k_hp: "Hit points of …", k_dead: "… is dead", k_merge: "Two names, one person", k_rename: "Rename …",
    f_text: "The fact", f_place: "Place", f_who: "Who", f_item: "Thing", f_quantity: "How many", f_mood: "Mood", f_hp: "Hit points", f_one: "This one …", f_into: "… is this one", f_name: "New name",
  },
  ko: {
    on: "SAGA에 이 채팅을 알리고 기억을 보여 줍니다", none: "SAGA가 아직 이 채팅을 모릅니다. 메시지를 보내세요.", unreachable: "{address}의 SAGA가 응답하지 않습니다. 실행 중인지, server.origins에 {origin}이 있는지 확인하세요.",
    turn: "{n}턴", pages: "모든 페이지", now: "지금", changed: "마지막 턴에서 바뀐 것", corrections: "수정한 것", correct: "수정하기", why: "이유: 내레이터에게 전달된 내용", warnings: "경고", settings: "설정", address: "SAGA 주소", key: "SAGA 키 (필요한 경우)",
    undo: "되돌리기", close: "닫기", gone: "더는 아님", save: "저장", nothing: "없습니다.", noMore: "사라짐", unknown: "알려지지 않음", here: "함께 있음", place: "장소", hp: "체력",
    k_note: "사실 기억하기", k_move: "내가 있는 곳은 …", k_met: "…이(가) 여기 있음", k_parted: "…은(는) 여기 없음", k_give: "가지고 있는 것 …", k_take: "더는 없는 것 …", k_mood: "기분 …", k_hp: "체력 …", k_dead: "… 사망", k_merge: "두 이름, 한 인물", k_rename: "이름 바꾸기 …",
    f_text: "사실", f_place: "장소", f_who: "누구", f_item: "물건", f_quantity: "수량", f_mood: "기분", f_hp: "체력", f_one: "이 인물은 …", f_into: "… 이 인물입니다", f_name: "새 이름",
  },
  ja: {
    on: "このチャットを SAGA に知らせ、記憶を表示する", none: "SAGA はまだこのチャットを知りません。メッセージを送ってください。", unreachable: "{address} の SAGA が応答しません。起動しているか、server.origins に {origin} があるか確認してください。",
    turn: "{n} ターン", pages: "すべてのページ", now: "現在", changed: "最後のターンで変わったこと", corrections: "訂正", correct: "訂正する", why: "理由: ナレーターに伝えた内容", warnings: "警告", settings: "設定", address: "SAGA のアドレス", key: "SAGA のキー（必要な場合）",
    undo: "元に戻す", close: "閉じる", gone: "もう違う", save: "保存", nothing: "ありません。", noMore: "なくなる", unknown: "不明", here: "ここにいる", place: "場所", hp: "体力",
    k_note: "事実を覚える", k_move: "私がいるのは…", k_met: "…がここにいる", k_parted: "…はここにいない", k_give: "持っている物…", k_take: "もう持っていない物…", k_mood: "気分…", k_hp: "体力…", k_dead: "…は死んだ", k_merge: "二つの名前、一人の人物", k_rename: "改名…",
    f_text: "事実", f_place: "場所", f_who: "誰", f_item: "物", f_quantity: "数", f_mood: "気分", f_hp: "体力", f_one: "この人は…", f_into: "…この人", f_name: "新しい名前",
  },
  zh: {
    on: "告诉 SAGA 这是哪个聊天，并显示它的记忆", none: "SAGA 还不知道这个聊天。请发送一条消息。", unreachable: "{address} 的 SAGA 没有回应。它在运行吗？server.origins 里有 {origin} 吗？",
    turn: "第 {n} 回合", pages: "所有页面", now: "现在", changed: "上一回合的变化", corrections: "更正", correct: "更正", why: "原因：告知叙述者的内容", warnings: "警告", settings: "设置", address: "SAGA 的地址", key: "SAGA 的密钥（如果需要）",
    undo: "撤销", close: "关闭", gone: "不再如此", save: "保存", nothing: "没有。", noMore: "不再", unknown: "未知", here: "在场", place: "地点", hp: "生命值",
    k_note: "记住一个事实", k_move: "我在……", k_met: "……在场", k_parted: "……不在场", k_give: "我有……", k_take: "我不再有……", k_mood: "……的心情", k_hp: "……的生命值", k_dead: "……死了", k_merge: "两个名字，同一个人", k_rename: "改名……",
    f_text: "事实", f_place: "地点", f_who: "谁", f_item: "物品", f_quantity: "数量", f_mood: "心情", f_hp: "生命值", f_one: "这个人……", f_into: "……是这个人", f_name: "新名字",
  },
};

/** The words of a language, or the English ones. */
export const wordsIn = (wanted) => WORDS[String(wanted).slice(0, 2).toLowerCase()] ?? WORDS.en;

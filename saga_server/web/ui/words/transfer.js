export default {
  en: {
    bring: "Bring something in", help: "A card, a lorebook, a chat of another frontend, an archive of them, or a session that SAGA exported. Nothing is written before you confirm.", drop: "Drop files here, or", choose: "choose files", reading: "Reading …", files: "Files: {names}",
    would: "This would come of it", nothing: "Nothing in these files can be taken in.", new: "new", grown: "grows", known: "already here", read: "becomes nothing by itself", refused: "Not taken in", mapped: "kept in another form", dropped: "left out", losses: { one: "{n} field is not as it was", other: "{n} fields are not as they were" },
    confirm: "Take it in", cancel: "Call it off", done: "Taken in.", open: "Look at it", edited: "Take a session file in although it was changed after the export", world: "World for chats (optional)", tellCard: "Also tell the card in every prompt", stop: "Stop", times: "× {n}",
    export: "Take this session with you", exportHelp: "The whole tree with its world, as one file. It can be brought in again here or elsewhere.", save: "Download", backups: "For all sessions, see the backups on the page “Health”.", large: "{name} has {n} MB.",
    noWorld: "none",
    c_turns: "turns", c_swipes: "swipes", c_branches: "branches", c_entries: "lore entries", c_greetings: "greetings", c_assets: "pictures and other files", k_card: "a character card", k_world_info: "a lorebook of SillyTavern (World Info)", k_character_book: "a lorebook as cards have it (V2, Chub)", k_lorebook_v3: "a lorebook of the V3 specification", k_risu_lorebook: "a lorebook of RisuAI", k_novelai_lorebook: "a lorebook of NovelAI", k_agnai_book: "a memory book of Agnai", k_sillytavern_chat: "a chat of SillyTavern", k_risu_chat: "a chat of RisuAI", k_ooba_chat: "a chat of text-generation-webui", k_kobold_chat: "a story of Kobold Lite", k_cai_chat: "a chat of CAI Tools", k_agnai_chat: "a chat of Agnai", k_backyard_chat: "a chat of Backyard", k_openai_messages: "a list of messages", k_personas: "personas of SillyTavern", k_group: "a group of SillyTavern", k_saga_session: "a session that SAGA exported",
  },
  ko: {
    bring: "가져오기", help: "카드, 로어북, 다른 프런트엔드의 대화, 그 압축 파일, SAGA가 내보낸 세션을 가져올 수 있습니다. 확인하기 전에는 아무것도 쓰지 않습니다.", drop: "파일을 여기에 놓거나", choose: "파일 선택", reading: "읽는 중 …", files: "파일: {names}",
    would: "이렇게 됩니다", nothing: "이 파일에서 가져올 수 있는 것이 없습니다.", new: "새로 만듦", grown: "이어 붙임", known: "이미 있음", read: "그 자체로는 만들 것이 없음", refused: "가져오지 않음", mapped: "다른 형태로 보관", dropped: "제외", losses: "그대로가 아닌 항목 {n}개",
    confirm: "가져오기", cancel: "취소", done: "가져왔습니다.", open: "보기", edited: "내보낸 뒤 고친 세션 파일도 가져오기", world: "대화에 쓸 월드 (선택)", tellCard: "카드도 매번 전달", stop: "중지", times: "× {n}",
    export: "이 세션 내보내기", exportHelp: "월드를 포함한 전체 트리를 파일 하나로 받습니다. 여기나 다른 곳에서 다시 가져올 수 있습니다.", save: "내려받기", backups: "모든 세션을 백업하려면 ‘상태’ 페이지를 보세요.", large: "{name}: {n}MB",
    noWorld: "없음",
    c_turns: "턴", c_swipes: "스와이프", c_branches: "분기", c_entries: "로어 항목", c_greetings: "첫 메시지", c_assets: "그림과 다른 파일", k_card: "캐릭터 카드", k_world_info: "SillyTavern 로어북 (World Info)", k_character_book: "카드에 들어 있는 로어북 (V2, Chub)", k_lorebook_v3: "V3 규격 로어북", k_risu_lorebook: "RisuAI 로어북", k_novelai_lorebook: "NovelAI 로어북", k_agnai_book: "Agnai 메모리 북", k_sillytavern_chat: "SillyTavern 채팅", k_risu_chat: "RisuAI 채팅", k_ooba_chat: "text-generation-webui 채팅", k_kobold_chat: "Kobold Lite 이야기", k_cai_chat: "CAI Tools 채팅", k_agnai_chat: "Agnai 채팅", k_backyard_chat: "Backyard 채팅", k_openai_messages: "메시지 목록", k_personas: "SillyTavern 페르소나", k_group: "SillyTavern 그룹", k_saga_session: "SAGA가 내보낸 세션",
  },
  ja: {
    bring: "取り込む", help: "カード、ロアブック、他のフロントエンドの会話、その書庫、SAGA が書き出したセッション。確認するまで何も書きません。", drop: "ここにファイルを置くか、", choose: "ファイルを選ぶ", reading: "読み込み中 …", files: "ファイル: {names}",
    would: "こうなります", nothing: "これらのファイルから取り込めるものはありません。", new: "新規", grown: "追加", known: "既にある", read: "単独では何も作られない", refused: "取り込まない", mapped: "別の形で保持", dropped: "除外", losses: "元のままでない項目 {n} 件",
    confirm: "取り込む", cancel: "やめる", done: "取り込みました。", open: "見る", edited: "書き出した後に変更したセッションファイルも取り込む", world: "会話の世界（任意）", tellCard: "カードも毎回伝える", stop: "中止", times: "× {n}",
    export: "このセッションを書き出す", exportHelp: "世界を含む木全体を一つのファイルにします。ここや他の場所で取り込めます。", save: "ダウンロード", backups: "全セッションは「状態」ページのバックアップを参照してください。", large: "{name} は {n} MB です。",
    noWorld: "なし",
    c_turns: "ターン", c_swipes: "スワイプ", c_branches: "分岐", c_entries: "設定の項目", c_greetings: "最初のメッセージ", c_assets: "画像などのファイル", k_card: "キャラクターカード", k_world_info: "SillyTavern のロアブック（World Info）", k_character_book: "カード形式のロアブック（V2、Chub）", k_lorebook_v3: "V3 規格のロアブック", k_risu_lorebook: "RisuAI のロアブック", k_novelai_lorebook: "NovelAI のロアブック", k_agnai_book: "Agnai のメモリーブック", k_sillytavern_chat: "SillyTavern のチャット", k_risu_chat: "RisuAI のチャット", k_ooba_chat: "text-generation-webui のチャット", k_kobold_chat: "Kobold Lite の物語", k_cai_chat: "CAI Tools のチャット", k_agnai_chat: "Agnai のチャット", k_backyard_chat: "Backyard のチャット", k_openai_messages: "メッセージの一覧", k_personas: "SillyTavern のペルソナ", k_group: "SillyTavern のグループ", k_saga_session: "SAGA が書き出したセッション",
  },
  zh: {
    bring: "导入", help: "角色卡、设定集、其他前端的聊天、它们的压缩包，或 SAGA 导出的会话。确认之前不会写入任何内容。", drop: "将文件拖到这里，或", choose: "选择文件", reading: "读取中 …", files: "文件：{names}",
    would: "结果将是", nothing: "这些文件中没有可导入的内容。", new: "新建", grown: "追加", known: "已存在", read: "本身不产生内容", refused: "未导入", mapped: "以其他形式保留", dropped: "省略", losses: "{n} 个字段与原来不同",
    confirm: "导入", cancel: "取消", done: "已导入。", open: "查看", edited: "即使会话文件在导出后被修改，也导入", world: "聊天所用的世界（可选）", tellCard: "每次也告知角色卡", stop: "停止", times: "× {n}",
    export: "导出此会话", exportHelp: "将整棵树及其世界存为一个文件，可在此处或别处再次导入。", save: "下载", backups: "全部会话请见“健康”页面的备份。", large: "{name}：{n} MB",
    noWorld: "无",
    c_turns: "回合", c_swipes: "重掷", c_branches: "分支", c_entries: "设定条目", c_greetings: "开场白", c_assets: "图片等文件", k_card: "角色卡", k_world_info: "SillyTavern 设定集（World Info）", k_character_book: "角色卡格式的设定集（V2、Chub）", k_lorebook_v3: "V3 规范的设定集", k_risu_lorebook: "RisuAI 设定集", k_novelai_lorebook: "NovelAI 设定集", k_agnai_book: "Agnai 记忆书", k_sillytavern_chat: "SillyTavern 聊天", k_risu_chat: "RisuAI 聊天", k_ooba_chat: "text-generation-webui 聊天", k_kobold_chat: "Kobold Lite 故事", k_cai_chat: "CAI Tools 聊天", k_agnai_chat: "Agnai 聊天", k_backyard_chat: "Backyard 聊天", k_openai_messages: "消息列表", k_personas: "SillyTavern 人设", k_group: "SillyTavern 群组", k_saga_session: "SAGA 导出的会话",
  },
};

"""The state block in Japanese."""

from __future__ import annotations

from saga_core.language.block import BlockWords, Request
from saga_core.language.han_counts import BEHIND, COUNTABLE, SPELLED, value

_NUMBERS = "一 二 三 四 五 六 七 八 九 十".split()

BLOCK = BlockWords(
    request=Request(
        lead=(
            "すべての返答の最後、物語のあとに、次の形のブロックを必ず一つ付けてください。プレイヤーには見えません。"
            "この返答で変わったことだけを書き、それ以外は null または [] のままにしてください。"
            "ただし present には、返答の終わりにプレイヤーのキャラクターと一緒にいる人をいつも全員書き、"
            "誰もいなければ [] としてください。"
            "プレイヤーのキャラクターは必ず プレイヤー と書き、"
            "ほかの名前は物語に出てくるとおりに書き、読点やコンマを含む名前は引用符で囲んでください。"
        ),
        place="プレイヤーがいる場所",
        item="アイテム",
        name="名前",
        mood="一語",
        notes="一行のメモ",
        tools=(
            "ツールを呼び出すときはブロックを書かないでください。ツールの結果を受けたあとの返答の最後に、一度だけ付けます。"
        ),
    ),
    openers=("状態",),
    headers="状態 状態ブロック ステータス",
    fields={
        "location": "場所 現在地 位置 居場所",
        "location_moved": "移動 移動したか 移動した",
        "present": "同席 同席者 同行者 一緒にいる人 その場にいる人 現在いる人物 いる人 在席 同行",
        "hp": "現在hp 現在の体力 残り体力 残りhp",
        "money": "所持金 お金 金額 残金",
        "hp_change": "体力 体力変化 hp変化 hpの変化 体力の変化",
        "items_gained": "入手 入手アイテム 獲得 獲得アイテム 手に入れた物",
        "items_lost": "喪失 喪失アイテム 失った物 消費 消費アイテム",
        "items_transferred": "譲渡 受け渡し アイテムの受け渡し",
        "npc_met": "出会い 出会った人物 出会ったnpc 登場人物",
        "npc_separated": "別れ 別れた人物 別れたnpc",
        "relationship_changes": "関係 関係変化 関係の変化 好感度変化",
        "status_changes": "状態変化 人物の状態 生死",
        "mood": "気分 雰囲気 ムード 感情",
        "event_trigger": "イベント 出来事 発生したイベント",
        "notes": "メモ 備考 ノート 要約",
    },
    templates={
        "location": "場所 プレイヤーがいる場所",
        "items_gained": "アイテム 物",
        "items_lost": "アイテム 物",
        "items_transferred": "アイテム 物",
        "present": "名前 人物 npc名",
        "npc_met": "名前 人物 npc名",
        "npc_separated": "名前 人物 npc名",
        "relationship_changes": "名前 関係",
        "status_changes": "名前 人物",
        "mood": "気分 雰囲気 一語",
        "event_trigger": "イベント 出来事",
        "notes": "メモ 一行のメモ",
    },
    fillers="現在 現在の 今 今の の 新しい 新たな 新規 ここ ここに 入力 他の その この と または",
    enumerators="甲乙丙丁一二三四五六七八九十",
    keys={
        "name": "名前 名称 人物",
        "whom": "対象 対象者 相手 誰 人 主体 キャラクター キャラ 登場人物 人物名",
        "item": "アイテム アイテム名 物 品",
        "quantity": "数 数量 個数",
        "from": "から 元 渡した人 与えた人 主体",
        "to": "へ 先 受け取った人 相手 対象",
        "type": "種類 関係 タイプ",
        "status": "状態 生死 新しい状態 現在の状態 状態変化 変化",
        "delta": "変化 変化量 好感度",
    },
    levels="体力",
    nothing="なし,無し,ない,ありません,特になし,変化なし,変更なし,同じ,そのまま,不明,該当なし,ダメージなし,イベントなし",
    nothing_said=r"(?:特に|何も|誰も|新しい(?:\S{1,8})は)?(?:なし|無し|いない|ありません|いません)[。.]?",
    unknown="不明,未知,不詳,誰か,何者か,謎,正体不明,行方不明,誰でもない",
    nobody="なし,無し,いない,誰もいない,一人,ひとり,独り",
    nothing_ends="なし",
    unchanged="変化なし 変更なし 何も変わっていません 何も変わらなかった 変化はありません",
    yes="真",
    no="偽 いいえ",
    true="はい 移動 移動した した うん",
    false="いや 移動していない 移動なし していない とどまった 変わらず",
    minus="マイナス",
    plus="プラス",
    loss="ダメージ|損失|減少|失っ|消耗|負傷|出血|受け",
    gain="回復|治癒|増加|獲得|得た",
    negation="なし|ない|ません",
    units="体力|生命力|ポイント|変化",
    hit_points="体力",
    becomes="から",
    became="へ|に",
    counters="個|本|枚|匹|頭|冊|つ|束|杯|袋|箱|着|足|粒|切れ|瓶|丁|発|人分|枚分|振り|振|挺|台|通|缶|皿|膳|俵|片|滴|株|錠|両|円|斤",
    money="小判|金貨|銀貨|銅貨|ゴールド|矢",
    numbers={word: number for number, word in enumerate(_NUMBERS, 1)},
    spelled=SPELLED,
    value=value,
    joined=f"{BEHIND}{SPELLED}",
    named=(
        rf"(?:\d[\d,]*+|{SPELLED})円(?!の?現金)|十文字|[十八]束の?剣|二枚貝|一枚岩|[二三]枚[舌目]|二本差|三本柱"
        r"|一本(?:道|気|槍|釣|松|杉|桜|橋)|[一二三四五六七八九\d]丁目|[三八九][頭头](?:龍|竜|龙|蛇)"
        r"|[一二三四五六七八九]つ(?:目|葉|編|折|子|道具|巴|揃|橋)"
    ),
    countable=COUNTABLE,
    currency="円|両|文",
    counted="の|\\s+",
    numbered=r"第\d+(?:章|巻)",
    labels="変化量|好感度|種類",
    debt=r"借り|借金|負債|ツケ|貸し|債務|立替|立て替え",
    paid=r"(?<!未)(?:完済|返済|清算|精算|支払い済)|帳消し|棒引き|貸し借り(?:なし|は?ない)|返した",
    over=r"終了|終わり|終わった|解消|消滅|完了",
    settled="完済",
    gives=(
        r"(?P<giver>\S.*?)[がは](?P<receiver>\S.*?)に(?P<item>\S.*?)を"
        r"(?:渡した|渡す|与えた|与える|あげた|手渡した|贈った|返した)[。.]?",
    ),
    tells_giving="(?:渡した|渡す|与えた|あげた|手渡した|受け取った|もらった)[。.]?$",
    statuses="死亡|死んだ|戦死|生存|復活|気絶|行方不明|捕虜|逮捕|負傷",
    subject="(?<=(?-i:[ァ-ヺー々一-鿿ぁ-ゖ]))(?:は|が)",
    dead_ends=("死亡", "死去", "絶命", "戦死"),
    well="健康 回復 回復した 全快 完治 治った 正常 無事 元気 解毒",
    gone="焼失|消滅|燃え|灰に",
    broken="破壊|砕け|壊れ|沈没|爆破|爆沈|崩落",
    dead="絶命 息絶えた 落命 死亡 死亡した 死んだ 死んでいる 死 死去 戦死 殺された 亡くなった",
    alive="生存 生きている 生き返った 復活 蘇生 生存している",
)

"""The vocabulary of Japanese plays."""

# ruff: noqa: E501 - Japanese letters count twice

from __future__ import annotations

from tests.bench.story.words import Vocabulary, lines, words

JAPANESE = Vocabulary(
    spaced=False,
    nouns=words(
        "扉 窓 階段 灯火 蝋燭 松明 壁 屋根 橋 川 小川 霧 風 雨 雪 雲 月明かり 日差し 影 灰 煙 埃 石 岩 木 根 枝 葉 花 草 茂み 苔 "
        "狼 鴉 馬 猫 蛇 蜘蛛 刃 矢 盾 鎧 外套 長靴 手袋 頭巾 指輪 首飾り 鍵 錠前 箱 袋 地図 手紙 本 巻物 インク 封印 硬貨 宝石 "
        "水晶 銀貨 パン 肉 酒 水筒 薬草 水薬 包帯 縄 梯子 荷車 船 帆 錨 鐘 太鼓 笛 歌 噂 約束 誓い 秘密 嘘 夢 記憶 傷 傷跡 手 "
        "まなざし 声 足音 息 心臓 肩 髪 微笑み 涙 沈黙 市場 路地 広場 井戸 宿屋 鍛冶場 神殿 墓 牢獄 塔 城壁 城門 屋根裏 地下室 台所 "
        "食卓 椅子 寝台 鏡 絵 旗 王冠 玉座 軍勢 兵士 商人 狩人 司祭 盗人 子供 老人 魔法 呪文 呪い 祝福 炎 氷 稲妻 毒 血"
    ),
    adjectives=words(
        "古びた 濡れた 冷たい 熱い 暗い かすかな 赤い 青い 白い 黒い 灰色の 金色の 銀色の 壊れた 錆びた 深い 狭い 広い 高い 低い "
        "新しい 見知らぬ 見慣れた 静かな 騒がしい 鋭い 鈍い 重い 軽い 粗い 柔らかな 乾いた 腐った 香り高い 苦い 空っぽの 凍りついた "
        "燃える 輝く 隠された 忘れられた 呪われた 祝福された 危うい 震える 疲れた 怒れる 悲しげな"
    ),
    adverbs=words(
        "ゆっくりと 静かに 突然 ふと ふたたび すでに かろうじて 慌てて 用心深く 力なく きっぱりと 低く 遠くで 近くで しばらく 長々と "
        "やがて ついに じっと そっと 大きく わずかに 荒々しく やさしく 黙々と はっきりと"
    ),
    heads=words(
        "霜 霧 鴉 銀 石 月 影 熾火 風 茨 沼 泉 星 血 骨 竜 狐 鹿 鷹 熊 水晶 銅 鉄 塩 砂 波 雷 露 暁 黄昏 冬 春 秋 夏 夜 火 水 "
        "土 森 山 川 海 空 根 葉 花 種"
    ),
    tails=words(
        "紋様 欠片 唄 守り 小道 丘 渡し 峠 谷 祭壇 灯台 市 倉 垣 橋詰 織り 香炉 角笛 鉤 鉢 碑 壁画 巾着 彫り 鎖 針 筆 燭台 鈴 護符 帯 "
        "鞘 車輪 帆柱 甲板 棚 引き出し 敷居 雨戸 煙突 炉 軒 床 塀 閂 柄 道標"
    ),
    syllables=words(
        "ア エ ル ゲン ク リ ミ ナ ソ ラ カ オ ダン セ イ ドン ハ ベル ロ ウェン タ モ リン ガ ユ デ シ バ ネ エル"
    ),
    sounds=words(
        "ガル ケム ドル ネス フィン ザグ モル ヴァン ティス オグ ラム シュト ベク ノヴ イル グレ キャス トゥ メル ザン"
    ),
    titles=words("長老 騎士 司祭 商人 鍛冶屋 狩人 魔女 船長 学者 盗賊"),
    sites=words(
        "の森 の丘 の渡し の廃墟 の砦 の塔 の鉱山 の沼 の宿 の市場 の神殿 の墓地 の洞窟 の峡谷 の港 の庭園 の橋 の水車小屋"
    ),
    things=words(
        "の剣 の短剣 の盾 の弓 の水薬 の巻物 の鍵 の指輪 の首飾り の地図 の灯火 の外套 の長靴 の角笛 の鏡 の本 の護符 の仮面"
    ),
    deeds=words(
        "の襲撃 の出会い の決闘 の葬儀 の祭り の裏切り の火事 の洪水 の誓い の追跡 の会議 の脱出 の発見 の儀式 の裁き の帰還"
    ),
    groups=words("騎士団 商会 教団 結社 家門 組合 条約 伝説 予言 慣習 暦 戦争 疫病 王朝 学派 唄"),
    moods=words("緊張 平穏 恐れ 怒り 喜び 悲しみ 好奇心 疲労 安堵 決意"),
    relations=words("信頼 警戒 友情 敵対 尊敬 疑念 愛情 恨み 同盟 借り"),
    narration=lines(
        """
        {who}は{adj}{noun}を{adv}見つめる。
        {adj}{noun}の向こうで{noun}が{adv}揺れている。
        {place}の方から{adj}{noun}の匂いが漂ってくる。
        {who}は{noun}を握る手に{adv}力を込めた。
        誰かが{noun}を置いていったところに、{adj}{noun}だけが残っている。
        {other}が{adv}{who}に近づき、{noun}を差し出す。
        {adj}{noun}と{adj}{noun}が入り混じり、道をふさいでいた。
        {who}は{item}を取り出し、{adj}{noun}にかざしてみる。
        {place}は今日に限って{adv}沈んでいて、{noun}の音しか聞こえない。
        {other}は答える代わりに{adj}{noun}を指さした。
        {noun}が{adv}倒れ、{adj}{noun}が床を転がっていく。
        {who}が足を止めると、{noun}も止まった。
        {adj}{noun}が一つ、{place}の真ん中に置かれている。
        {other}は{item}にまつわる話を{adv}切り出す。
        遠くで{noun}が鳴り、{adj}{noun}が{adv}通り過ぎていった。
        {who}は{adj}{noun}の前で{adv}息を整える。
        {place}へ続く道には{adj}{noun}が並んでいた。
        {other}の目が{adj}{noun}のように光る。
        {noun}を見て、{who}はずっと前の{place}での夜を思い出した。
        {adj}{noun}の上に{noun}が{adv}降りてくる。
        {item}は{adj}光を失わないまま、{who}のかたわらにある。
        {adv}振り返ったところには、{noun}も{noun}もなかった。
        {other}と{who}は{adj}{noun}を挟んで向かい合う。
        {noun}の隙間から{adj}{noun}が{adv}漏れ出している。
        """
    ),
    speech=lines(
        """
        「{noun}を探しているなら{place}へ行くことだ」と{other}が{adv}言う。
        「その{item}をむやみに出すな」{other}が{adj}声でささやいた。
        「{who}、{noun}のことを忘れたのか」{other}は{adv}首を振る。
        「{place}で{noun}を見たという噂があるんです」と{other}が{adv}打ち明ける。
        「{adj}{noun}が来る前に発たなければ」{other}がせき立てる。
        「{noun}より{noun}のほうが怖い」{other}は苦笑いを浮かべた。
        """
    ),
    wishes=lines(
        """
        {place}へ行って{adj}{noun}を探す。
        {other}に{item}をどこで手に入れたのか{adv}尋ねる。
        前に{place}で見た{noun}を覚えてる？　あれは{other}とどんな関係があるんだ？
        {item}を手に、{noun}の方へ{adv}歩み寄る。
        {other}を見つめて「{noun}の話をもっと聞かせて」と言う。
        {adv}あたりを見回し、{adj}{noun}の後ろに身を隠す。
        {other}と一緒に{place}を発つことにする。
        {noun}を拾い上げ、{adj}{noun}と見比べてみる。
        初めて{item}を手に入れたとき、{other}は何と言ったっけ？
        {noun}のそばに腰を下ろし、{adv}休みながら{other}の話を聞く。
        """
    ),
    lore=lines(
        """
        {name}は{adj}{noun}と{noun}で知られている。
        ずっと昔、{place}から{noun}が消えて以来、{adj}噂が絶えない。
        {name}を知る者は{adj}{noun}に気をつけろと言う。
        {noun}の下には{adj}{noun}が眠っているという。
        """
    ),
    rules=lines(
        """
        あなたはこの物語の語り手であり、{adj}{noun}の一つ一つまで生き生きと描く。
        プレイヤーの言動を勝手に決めず、{noun}と{noun}の結果だけを示す。
        すでに起きたことを覆さず、{noun}を失った者は失ったままにする。
        """
    ),
)

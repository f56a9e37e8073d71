"""Japanese titles and honorifics, which hang on a name without a space."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("プレイヤー プレーヤー あなた 私 わたし 僕 俺 君 主人公".split()),
    titles_around=frozenset(
        "先輩 後輩 部長 副部長 会長 副会長 社長 課長 係長 店長 団長 隊長 船長 艦長 校長 教頭 院長 署長 所長 館長 "
        "編集長 委員長 班長 王 女王 王子 王女 姫 皇帝 皇后 公爵 伯爵 男爵 侯爵 将軍 元帥 大臣 宰相 騎士 聖女 巫女 "
        "司祭 司教 神父 博士 教授 医師 刑事 警部 巡査 探偵 師匠 師範 和尚 住職 親方 女将 番頭 婆さん 爺さん "
        "お婆さん お爺さん おばさん おじさん お姉さん お兄さん 姉さん 兄さん 姉 兄 選手 監督 コーチ マスター".split()
    ),
    nicknames=("通称", "通称は", "あだ名は", "愛称は", "別名", "偽名は", "こと"),
    same=(
        r"(?:実は|結局)?、?(?P<names>[^。！？\n]{3,60}?)(?:は|が)、?(?:実は|皆|全員|全て|すべて)?、?同(?:じ|一)人(?:物)?"
        r"(?:である|だった|だ|と判明|と判明した)?[。！]?"
    ),
    reveals=r"(?:正体は|正体が|本名は|実は)(?P<name>[^、。]+?)(?:だった|である|と判明)?",
    honorifics=("さん", "さま", "様", "ちゃん", "くん", "君", "殿", "卿", "氏", "先生", "陛下", "殿下", "閣下"),
    joint=r"(?<=[ァ-ヺー々一-鿿])(?:と|、)(?=[ァ-ヺー々一-鿿])",
    letters="[\u3041-\u3096\u30a1-\u30fa\u30fc\u3005\u4e00-\u9fff]",
)

"""Japanese titles and honorifics, which hang on a name without a space."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("プレイヤー プレーヤー あなた 私 わたし 僕 俺 君 主人公".split()),
    honorifics=("さん", "さま", "様", "ちゃん", "くん", "君", "殿", "卿", "氏", "先生", "陛下", "殿下", "閣下"),
    joint=r"(?<=[ァ-ヺー々一-鿿])(?:と|、)(?=[ァ-ヺー々一-鿿])",
    letters="[\u3041-\u3096\u30a1-\u30fa\u30fc\u3005\u4e00-\u9fff]",
)

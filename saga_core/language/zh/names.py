"""Chinese titles, which hang on a name without a space."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("玩家 你 您 我 主角 用户 用戶".split()),
    honorifics=("先生", "小姐", "女士", "夫人", "大人", "殿下", "陛下", "阁下", "閣下"),
    joint=r"(?<=[一-鿿])[和与與跟、](?=[一-鿿])",
    letters="[\u3400-\u4dbf\u4e00-\u9fff]",
)

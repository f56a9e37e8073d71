"""What frontends and their presets ask in Japanese."""

from __future__ import annotations

from saga_core.language.requests import RequestWords

REQUESTS = RequestWords(
    goes_on=r"(?:返答|返信|応答|物語|メッセージ)[^\n]{0,20}続け",
    next_speaker=r"次の(?:返答|返信|応答|台詞|セリフ)",
    tool=r"あなたは[^。\n]{0,20}(?:翻訳|要約)(?:者|家|機|を行う|する)|(?:次|以下)の[^。\n]{0,40}(?:要約|翻訳|分類)し",
    payload=r"(?:次|以下|上記)の[^。\n]{0,40}(?:要約|翻訳|分類)し",
    task=(
        r"[^\n]{0,20}(?:題名|タイトル)を[^\n]{0,20}(?:付け|つけ|作|考え|生成)"
        r"|[^\n]*(?:要約|翻訳)して(?:ください|下さい|くれ)?[。.:!]?[ \t]*(?:\n|\Z)"
    ),
    nudges=(
        r"(?:前|最後|直前|上)の(?:返答|返信|応答|メッセージ)(?:を|から)続け",
        r"次の(?:返答|返信|応答|台詞|セリフ)[はをに]",
    ),
    errands=(r"(?!ooc\b)[^\]\n]{0,60}(?:要約|翻訳)して(?:ください|下さい|くれ)?[。.!]?\s*\]",),
    stops=(r"ロールプレイを(?:一旦|いったん|一時)?(?:中断|中止|停止)",),
)

"""What is said of the player's character in Japanese."""

from __future__ import annotations

from saga_core.language.persona import WORD, PersonaWords, behind

PERSONA = PersonaWords(
    between=(behind(r"の(?:架空|フィクション|仮想)", rf"{WORD}[と、](?P<all>{WORD})$"),),
    about=(
        behind(r"のペルソナ"),
        behind(r"の(?:台詞|セリフ|行動|発言)[^\n。]{0,16}(?:書か|決め|描写し|操作し)"),
    ),
    own=(r"(?:私|僕|俺|わたし|ぼく|おれ)の名前は(?P<name>[^\s、。！!「」]{1,12}?)(?:です|だ|と|。|、|」)",),
)

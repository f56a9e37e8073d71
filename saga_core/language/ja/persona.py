"""Japanese phrases that name the player's character."""

from __future__ import annotations

from saga_core.language.persona import WORD, PersonaWords, behind, bracketed, headed

_MINE = "私|僕|俺|自分|わたし|ぼく|おれ|プレイヤー|主人公"

PERSONA = PersonaWords(
    between=(behind(r"の(?:架空|フィクション|仮想)", rf"{WORD}[と、](?P<all>{WORD})$"),),
    about=(
        bracketed(_MINE, r"(?P<name>[^\s、。，,（(：:|*]{1,10}?)\**(?=[ \t]*(?:$|[\n、，,.。(|（]|- ))"),
        behind(r"のペルソナ"),
        headed(
            r"(?:プレイヤー(?:キャラクター)?|主人公|ユーザー|ペルソナ)(?:の)?(?:情報|設定|プロフィール|紹介)?",
            r"(?P<name>[^\s、。，,（(：:はがの|*]{1,10}?)\**(?=[ \t]*(?:$|[\n、,（(|]|は))",
            "名前|氏名",
        ),
        behind(r"の(?:台詞|セリフ|行動|発言)[^\n。]{0,16}(?:書か|決め|描写し|操作し)"),
    ),
    mine=_MINE,
    own=(r"(?:私|僕|俺|わたし|ぼく|おれ)の名前は(?P<name>[^\s、。！!「」]{1,12}?)(?:です|だ|と|。|、|」)",),
)

"""Chinese phrases that name the player's character."""

from __future__ import annotations

from saga_core.language.persona import WORD, PersonaWords, before, behind, bracketed, headed

_MINE = "我|玩家|主角|用户|用戶|本人"

PERSONA = PersonaWords(
    between=(behind(r"的?(?:虚构|虛構)", rf"{WORD}[与與和、](?P<all>[^\s与與和、]{{1,20}}?)的?$"),),
    about=(
        bracketed(_MINE, r"(?P<name>[^\s，。、,（(：:|*]{1,6}?)\**(?=[ \t]*(?:$|[\n、，,.。(|（]|- ))"),
        headed(
            r"(?:玩家(?:角色)?|主角|主人公|用户|用戶|使用者)(?:的)?(?:信息|資訊|设定|設定|资料|資料|简介|簡介|人设|人設)?",
            r"(?P<name>[^\s，。、,（(：:是的|*]{1,4}?)\**(?=[ \t]*(?:$|[\n，、,（(|]|是))",
            "姓名|名字|名称|名稱",
        ),
        behind(r"的(?:人设|人設|用户设定|使用者設定)"),
        before(
            r"(?:不要|不得|绝不|絕不|禁止|请勿|請勿|不可)代?替",
            rf"(?P<name>{WORD})(?:说|說|做|行动|行動|决定|決定|发言|發言)",
        ),
        before(r"除了?(?=\S)", rf"(?P<name>{WORD})(?:以外|之外|外)的?(?:所有|其他|全部)"),
    ),
    mine=_MINE,
    own=(r"我(?:的名字)?叫(?:做|作)?(?P<name>[^\s，。！!、“”]{1,8})",),
)

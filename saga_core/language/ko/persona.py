"""Korean phrases that name the player's character."""

from __future__ import annotations

from saga_core.language.persona import WORD, PersonaWords, behind, bracketed, headed

_MINE = "나|저|내 캐릭터|플레이어|유저|주인공"

PERSONA = PersonaWords(
    between=(behind(r"의 (?:가상|허구)", rf"{WORD}(?:와|과|,)\s*(?P<all>{WORD})$"),),
    about=(
        bracketed(_MINE, r"(?P<name>[가-힣]{2,5}?)\**(?=[ \t]*(?:$|[\n、，,.。(|（]|- ))"),
        behind(r"의 페르소나"),
        headed(
            r"(?:플레이어(?: ?캐릭터)?|주인공|유저|사용자|페르소나)(?:의)?(?: ?(?:정보|설정|프로필|소개|캐릭터))?",
            r"(?P<name>[가-힣]{2,4}?)\**(?=[ \t]*(?:$|[\n,(|，（]|- )|[은는]\s)",
            "이름|성명",
        ),
        behind(r"의 (?:대사|행동|말)[^\n.]{0,12}(?:쓰지|하지|묘사하지|서술하지|정하지)"),
        behind(r"[을를] 제외한 (?:모든|다른)"),
    ),
    mine=_MINE,
    own=(
        r"(?:제|내) 이름은 (?P<name>[가-힣]{2,5}?)(?:이에요|예요|입니다|이다|이야|야|이라고|라고|[.,!])",
        r"(?:저는|나는|난|전) (?P<name>[가-힣]{2,5}?)(?:이라고|라고) (?:해|합니다|해요|부르|불러)",
    ),
)

"""Hypothesis strategies for what a state block can state, in Korean and English."""

from __future__ import annotations

from unicodedata import category

from hypothesis import strategies as st

from saga_core.language import clean_name, without_needless_marks
from saga_core.state_block import BlockFields, ItemAmount, ItemTransfer, RelationChange, StatusChange
from tests.blocks import render_block

_WORDS = (
    *(
        "어둠의 숲",
        "불꽃 검",
        "고블린왕 크룩",
        "치유 물약",
        "아리아",
        "The Dark Forest",
        "healing potion",
        "Krook",
        "tense",
    ),
    *(
        "없음",
        "none",
        "null",
        "NPC",
        "아이템",
        "item",
        "<item>",
        "...",
        "-",
        "true",
        "아니오",
        "[검]",
        "이름",
        "unknown",
        "someone",
        "???",
    ),
    *("물약 x2", "2x potion", "물약 2개", "3 potions", "사과 두 개", "검 +2", "열쇠: 3", "(없음)", "없음 (변화 없음)"),
    *("```", "```state", "~~~", "</think>", "<think>", "a -> b", "a → b: c", "# x", "a  # b", "\\", "\\n", '"', "'검'"),
    *(
        "검, 불타는",
        "[",
        "]",
        "{",
        "}",
        "from: a, to: b",
        "**검**",
        "｛：，｝",
        "“검”",
        "'",
        "hp_change: -5",
        "- 검",
        "> 검",
    ),
    *("mood", "state:", "\x00", "\u200b", "\u0301", "é", "각", "🙂", "x", "|", "~", "=", "１２", "|-"),
)
_raw = st.sampled_from(_WORDS) | st.lists(st.sampled_from(_WORDS), max_size=4).map(" ".join)
_raw = _raw | st.lists(st.sampled_from(_WORDS), max_size=4).map("".join) | st.text(max_size=20)
_QUOTES = frozenset("\"'“”„‘’‚«»‹›「」『』＂＇")
_BRACES = frozenset("{｛")


def _statable(name: str) -> bool:
    """Not with quotation marks that open nothing, no macro of the player, and something that shows: of other names a
    block cannot be made, and says so."""
    if without_needless_marks(name) != name or all(category(sign) == "Cf" for sign in name):
        return False
    if not (_QUOTES | _BRACES) & set(name):
        return True
    try:
        render_block(BlockFields(npc_met=(name,), status_changes=(StatusChange(name, name),)))
    except ValueError:
        return False
    return True


names = _raw.map(clean_name).filter(lambda name: 0 < len(name) <= 200 and _statable(name))
quantities = st.just(1) | st.integers(1, 10**12)
amounts = st.builds(ItemAmount, names, quantities)
_hands = st.none() | st.just("") | names
few = 3


def _some(elements: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(elements, max_size=few).map(tuple)


fields = st.builds(
    BlockFields,
    location=st.none() | names,
    location_moved=st.none() | st.booleans(),
    hp_change=st.none() | st.integers(-1_000_000, 1_000_000),
    items_gained=_some(amounts),
    items_lost=_some(amounts),
    items_transferred=_some(st.builds(ItemTransfer, names, _hands, _hands, quantities)),
    npc_met=_some(names),
    npc_separated=_some(names),
    relationship_changes=_some(
        st.builds(RelationChange, names, names, st.just("") | names, st.integers(-1_000, 1_000))
    ),
    mood=st.none() | names,
    event_trigger=st.none() | names,
    notes=st.none() | names,
    status_changes=_some(st.builds(StatusChange, names, names)),
)
stories = st.sampled_from(
    [
        "",
        "그녀는 숲으로 걸어 들어갔다.",
        "She walked into the forest.\n\n> 'Who is there?'\n",
        "```python\nprint('state')\n```",
        "코드:\n```\n열린 채",
        "<think>고민</think>\n문이 열렸다.\n\n",
        "```state\nlocation: 초안\n```\n이어서",
        "```state\nlocation: 초안",
        "끝 ``",
    ]
)

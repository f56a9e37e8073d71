"""Decides by grammar, without a list of verbs, whether an English sentence says that a character does something.

A name must begin a clause, and a verb in the present, the past or the progressive must follow. Sentences about earlier
events look the same, so verbs that mostly describe those are excluded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LIFELESS = (
    r"drowned|drowns|looks|looked|appears|appeared|sounds|sounded|feels|felt|knows|knew|is|was|has|does|lies"
    r"|rests|remains"
    r"|dies|falls|floats|drifts|sinks|rots|hangs|burns|bleeds|sleeps|means"
    r"|deserves|haunts"
    r"|seems|needs|owes|belongs|stays|less|always|this|its|his|perhaps|besides|sometimes|afterwards|vanishes"
    r"|disappears|died"
    r"|owed|loved|lived|owned|liked|used|wanted|believed|feared|promised|named|called|belonged|hated|remained"
    r"|rested|vanished"
    r"|disappeared|seemed|needed|deserved|perished|collapsed|failed|ended|built|killed|murdered|buried|missed"
    r"|indeed|red"
    r"|wanted|planned|dreamed|hoped|trusted|raised|married|tired|bed|decayed|floated|drifted|stayed|mattered"
    r"|worked|served"
)
_STILL = (
    r"lying|dying|missing|rotting|bleeding|hanging|floating|burning|sleeping|decaying|being|going|nothing|resting"
    r"|drifting"
)
_CLAUSE = r"(?:^|[,;:]\s|\b(?:and|(?<!one )(?<!all )(?<!body )but|then|while)\s)(?:the\s)?"


def does(sentence: str, names: Sequence[str]) -> bool:
    """Whether a character with one of ``names`` does something in a clause of an English sentence."""
    named = "|".join(map(re.escape, (name for name in names if name.isascii())))
    if not named:
        return False
    begins = rf"{_CLAUSE}(?:\w+\s)?(?:{named})(?:\s\w+ly)?\s"
    return (
        re.search(rf"{begins}(?!(?:{_LIFELESS})\b)[a-z]+(?:[^s\W\d]s|ed)\b", sentence, re.I) is not None
        or re.search(
            rf"{begins}(?:is|was)\s(?:still\s|already\s|now\s)?(?!(?:{_STILL})\b)[a-z]{{2,}}ing\b", sentence, re.I
        )
        is not None
    )

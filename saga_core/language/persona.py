"""The phrases around the name of the player's character, in frontends' texts, cards and messages of players."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

ABBREVIATED = r"(?:(?:Mrs?|Ms|Mx|Dr|Prof|St|Capt|Lt|Sgt|Cpl|Col|Gen|Rev|Fr|Sr|Mme|Mlle|[A-Z])\.(?=[ \w]))"
"""A pattern of what ends in a period within a name: an abbreviated title, or an initial."""
NAME_PATTERN = rf"(?:{ABBREVIATED} ?){{0,2}}[^\W\d_][^\n.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{{}}*]{{0,39}}?"
"""A pattern of a name, which may have several words."""
WORD = r"[^\s.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{}*]{1,20}?"
"""A pattern of a name without a space."""
_WINDOW = 220
"""The number of characters next to the fixed words that are searched for a name."""


@frozen
class Telling:
    """A phrase with a name: fixed words before the name, or after it if ``behind``.

    Only a window next to the fixed words is searched for the name, so that a long text is scanned once.
    """

    fixed: re.Pattern[str]
    name: re.Pattern[str]
    """A pattern with the group ``name``, or ``all`` for all speakers in the opening sentence of a chat."""
    behind: bool = False

    def names(self, text: str) -> Iterator[re.Match[str]]:
        """The names in ``text``, in order."""
        for found in self.fixed.finditer(text):
            at = max(0, found.start() - _WINDOW) if self.behind else found.end()
            window = text[at : found.start() if self.behind else at + _WINDOW]
            name = self.name.search(window) if self.behind else self.name.match(window)
            if name is not None:
                yield name


def before(fixed: str, name: str = rf"(?P<name>{NAME_PATTERN})\s*(?:[\n.,:;\])(]|$)") -> Telling:
    """A phrase with fixed words before the name."""
    return Telling(re.compile(fixed, re.I), re.compile(name))


def behind(fixed: str, name: str = rf"(?:^|[\s\[【\]】。.,、，:：])(?P<name>{WORD})$") -> Telling:
    """A phrase with fixed words after the name."""
    return Telling(re.compile(fixed, re.I), re.compile(name), behind=True)


def bracketed(mine: str, name: str) -> Telling:
    """A phrase for a name after a heading at the start of a line that ends with one of ``mine`` in parentheses."""
    return before(rf"(?:^|\n)[^\n:：]{{1,40}}[(（](?:{mine})[)）][ \t*]{{0,4}}[:：=–—-][ \t*]{{0,8}}", name)


def headed(headings: str, name: str, key: str) -> Telling:
    """A phrase for a name below or after a heading about the player: ``# The player``, ``[User: Alex, ...]``. ``key``
    is a pattern of a label that may precede the name, as in a form (``Name:``)."""
    mark = r"[#>*\[【<_(~=-]{0,8}[ \t]{0,8}"
    behind_it = (
        r"[ \t]{0,4}[\])*_】>:：#~=]{0,8}[ \t]{0,8}(?:[:：=–—-][ \t*]{0,8}|(?<=[:：])[ \t*]{0,8}|\n[\s>*•-]{0,12})"
    )
    keyed = rf"(?:(?:{key})[ \t*]{{0,4}}[:：=][ \t*]{{0,6}})?"
    return Telling(re.compile(rf"(?:^|\n)[ \t]{{0,8}}{mark}(?:{headings}){behind_it}{keyed}", re.I), re.compile(name))


@frozen(kw_only=True, eq=False, repr=False)
class PersonaWords:
    """The phrases of one language. Fields that a language does not need keep their defaults."""

    between: tuple[Telling, ...] = ()
    """The opening sentence of frontends, which names all speakers. The player is the one who is not asked to reply."""
    about: tuple[Telling, ...] = ()
    """Other phrases of frontends and cards about the player's character."""
    mine: str = "(?!)"
    """A pattern of the parenthesis after a heading about the player's own character: ``The captain (me): …``. It does
    not include "you", because many cards address the model."""
    own: tuple[str, ...] = ()
    """Patterns of players introducing themselves. They are case-sensitive."""
    claims: tuple[str, ...] = ()
    """Patterns of players' words that introduce the character or mean something else: "I'm Dana", "I'm fine". A name
    found by them counts only if a report bears it out. They are case-sensitive."""
    noted: tuple[str, ...] = ()
    """Patterns of notes that tell the name of the player's character: "The player's name is Dana"."""
    no_names: frozenset[str] = frozenset()
    """Words that cannot begin a name, in lower case. Cards use them when they mention the player without a name."""

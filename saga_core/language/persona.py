"""What frontends, cards and players say of the player's character, around the name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

NAME_PATTERN = r"[^\W\d_][^\n.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{}*]{0,39}?"
"""A name of several words."""
WORD = r"[^\s.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{}*]{1,20}?"
"""A name without a space."""
_WINDOW = 220
"""Characters beside fixed words in which a name is looked for."""


@frozen
class Telling:
    """A form of words around a name: what stands before it, or ``behind`` it.

    Only a window at the fixed words is read for the name, so that a long text is gone through once.
    """

    fixed: re.Pattern[str]
    name: re.Pattern[str]
    """With the group ``name``; in the sentence that opens a chat ``all`` who speak."""
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
    """Fixed words that stand before the name."""
    return Telling(re.compile(fixed, re.I), re.compile(name))


def behind(fixed: str, name: str = rf"(?:^|[\s\[【\]】。.,、，:：])(?P<name>{WORD})$") -> Telling:
    """Fixed words that stand behind the name."""
    return Telling(re.compile(fixed, re.I), re.compile(name), behind=True)


def bracketed(mine: str, name: str) -> Telling:
    """The name that a line begins with, behind a heading that ends with one of ``mine`` in brackets."""
    return before(rf"(?:^|\n)[^\n:：]{{1,40}}[(（](?:{mine})[)）][ \t*]{{0,4}}[:：=–—-][ \t*]{{0,8}}", name)


def headed(headings: str, name: str, key: str) -> Telling:
    """The name at the beginning of what stands under a heading of the player's, or behind it: ``# The player``,
    ``[User: Alex, ...]``. ``key``: words that may stand before the name, as those of a form (``Name:``)."""
    mark = r"[#>*\[【<_(~=-]{0,8}[ \t]{0,8}"
    behind_it = (
        r"[ \t]{0,4}[\])*_】>:：#~=]{0,8}[ \t]{0,8}(?:[:：=–—-][ \t*]{0,8}|(?<=[:：])[ \t*]{0,8}|\n[\s>*•-]{0,12})"
    )
    keyed = rf"(?:(?:{key})[ \t*]{{0,4}}[:：=][ \t*]{{0,6}})?"
    return Telling(re.compile(rf"(?:^|\n)[ \t]{{0,8}}{mark}(?:{headings}){behind_it}{keyed}", re.I), re.compile(name))


@frozen(kw_only=True, eq=False, repr=False)
class PersonaWords:
    """What a language does not have is left out."""

    between: tuple[Telling, ...] = ()
    """Frontends' opening sentence, which names all who speak: the player is the one whose reply is not asked for."""
    about: tuple[Telling, ...] = ()
    """What else frontends and cards write about the player's character."""
    mine: str = "(?!)"
    """A pattern of what stands in brackets behind a heading about the player's own character: ``The captain (me): …``.
    Not "you": many cards are written to the model."""
    own: tuple[str, ...] = ()
    """What players say of themselves; case counts."""
    no_names: frozenset[str] = frozenset()
    """Words with which no name begins; lower case. They stand where cards tell of the player without a name."""

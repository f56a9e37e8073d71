"""What may stand around a name, and what is called so without being a name."""

from __future__ import annotations

from attrs import field, frozen

_NONE: frozenset[str] = frozenset()


@frozen(kw_only=True, eq=False, repr=False)
class NameWords:
    """All of it is compared folded, as ``fold_name`` does. What a language does not have is left out."""

    player: frozenset[str] = _NONE
    """Words that mean the player's character."""
    titles: frozenset[str] = _NONE
    """Titles that may stand anywhere among the words of a name."""
    titles_around: frozenset[str] = _NONE
    """Titles at the beginning or the end of a name, where they are told from names by their place."""
    title_suffixes: tuple[str, ...] = ()
    """What may hang on a title."""
    honorifics: tuple[str, ...] = ()
    """What hangs on a name of at least two letters."""
    many: frozenset[str] = _NONE
    """Titles that many bear at the same place: they name nobody."""
    diminutives: tuple[str, ...] = ()
    """What may stand before a family name of one letter, or before a given name, among friends."""
    nicknames: tuple[str, ...] = ()
    """What stands between somebody's name and another name, or before the other one alone."""
    reveals: str = "(?!)"
    """A pattern of a status that tells who somebody really is, with the group ``name``."""
    same: str = "(?!)"
    """A pattern of a sentence that tells that those whom the group ``names`` joins are one person."""
    also: str = ""
    """A pattern of a sentence that tells another name of somebody, with the groups ``name`` and ``other``; case
    counts."""
    alias: str = ""
    """A pattern of a sentence or clause that tells under which name somebody goes for a while, with the same groups."""
    group: str = "(?!)"
    """A pattern of a card's heading under which several people are listed: ``Party members``."""
    women: frozenset[str] = _NONE
    men: frozenset[str] = _NONE
    families: frozenset[str] = _NONE
    """Family names of one syllable before a given name of two."""
    long_families: frozenset[str] = _NONE
    """Family names of two syllables, before a given name of one or two."""
    addresses: frozenset[str] = _NONE
    """Titles by which the bearer of another one is spoken to, behind it: 폐하 of 황제 폐하."""
    between: frozenset[str] = _NONE
    """What stands between a given and a family name."""
    ordinal: str = "(?!)"
    """A pattern of what numbers the bearers of one name."""
    joint: str = "(?!)"
    """A pattern of what joins two names."""
    letters: str = field(default="(?!)")
    """A pattern of one letter that names are written with, of a script without capitals."""

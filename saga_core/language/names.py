"""The words that may surround a name, and words for persons that are no names."""

from __future__ import annotations

from attrs import field, frozen

_NONE: frozenset[str] = frozenset()


@frozen(kw_only=True, eq=False, repr=False)
class NameWords:
    """The words around names in one language. Words are compared in the form returned by ``fold_name``. Fields that a
    language does not need keep their defaults."""

    player: frozenset[str] = _NONE
    """Words that mean the player's character."""
    titles: frozenset[str] = _NONE
    """Titles that may stand anywhere among the words of a name."""
    titles_around: frozenset[str] = _NONE
    """Titles that are recognized only at the beginning or the end of a name."""
    title_suffixes: tuple[str, ...] = ()
    """Suffixes of titles."""
    appositions: tuple[str, ...] = ()
    """What may stand between a title and the name after it, with no space: ``の`` in ``座長の夏目源治郎``."""
    honorifics: tuple[str, ...] = ()
    """Honorifics attached to a name of at least two letters."""
    many: frozenset[str] = _NONE
    """Titles that several people at one place have, so that they identify nobody."""
    diminutives: tuple[str, ...] = ()
    """Familiar prefixes of a family name of one letter, or of a given name."""
    nicknames: tuple[str, ...] = ()
    """Words between a name and a nickname, or before the nickname alone."""
    reveals: str = "(?!)"
    """A pattern of a status that reveals who a person really is, with the group ``name``."""
    same: str = "(?!)"
    """A pattern of a sentence that says that the people joined in the group ``names`` are one person."""
    also: str = ""
    """A pattern of a sentence that tells another name of somebody, with the groups ``name`` and ``other``; case
    counts."""
    alias: str = ""
    """A pattern of a sentence or clause that tells under which name somebody goes for a while, with the same groups."""
    nicknaming: str = ""
    """A pattern of a part of a sentence that says that somebody gets a nickname, with the same groups."""
    identity: str = ""
    """A pattern of a sentence or clause that tells that two are one person, with the same groups: 夜莺就是秦少白."""
    unmasks: str = ""
    """A pattern of a remark that tells whom somebody turns out to be, with the group ``name``, or the group ``whose``
    where words follow the name: 黒騎士の正体."""
    posing: str = ""
    """A pattern of a remark that tells as whom somebody has posed, with the same groups: the false Father Quinn."""
    group: str = "(?!)"
    """A pattern of a card's heading under which several people are listed: ``Party members``."""
    role: str = "(?!)"
    """A pattern of a card's heading that says what somebody is, before the name: ``Leader: Marcus Oyelaran, 41``."""
    women: frozenset[str] = _NONE
    men: frozenset[str] = _NONE
    families: frozenset[str] = _NONE
    """Family names of one syllable before a given name of two."""
    long_families: frozenset[str] = _NONE
    """Family names of two syllables, before a given name of one or two."""
    addresses: frozenset[str] = _NONE
    """Forms of address that follow another title: 폐하 in 황제 폐하."""
    between: frozenset[str] = _NONE
    """Particles between a given and a family name."""
    ordinal: str = "(?!)"
    """A pattern of ordinals that distinguish people of the same name."""
    apart: tuple[str, ...] = ()
    """Patterns of the words that tell two of a kind apart, one for each sort: the first floor and the second. A group
    holds the ways to write one mark; without groups each match is its own mark. Names are in lower case, and Han
    characters in simplified form."""
    joint: str = "(?!)"
    """A pattern of a conjunction between two names."""
    letters: str = field(default="(?!)")
    """A pattern of one letter of a script without capitals that names are written in."""

"""What a language's files hold: ``words.toml`` the words that SAGA reads, ``texts.toml`` the texts that it writes.

Each class is one section of these files, and each attribute one row. A row that a language does not need is left out. A
pattern may be split over several lines; the line ends and the white space around them do not belong to it. ``«name»``
in a pattern stands for a pattern of the section ``[fragments]``, or for one that the language's grammar has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from string import Formatter
from typing import Any, Self, TypeAlias

from attrs import frozen

NEVER = "(?!)"
"""A pattern that never matches."""
Pattern: TypeAlias = str
"""A regular expression."""
Words: TypeAlias = frozenset[str]
"""Words separated by white space."""
Phrases: TypeAlias = tuple[str, ...]
"""Phrases separated by commas, or a list of patterns. The order counts."""
Filled: TypeAlias = Callable[..., str]
"""A text with fields in braces, as a function of their values. ``{name:은/는}`` adds the particle that fits."""

_LINE = re.compile(r"\s*\n\s*")
_NO_WORDS: Words = frozenset()
_NO_NUMBERS: Mapping[str, int] = {}


class Table:
    """One section of a file, with its rows as attributes. Read-only."""

    def __init__(self, rows: Mapping[str, Any], where: str = "") -> None:
        """Take the rows of a section. ``where`` names the file and the section in errors.

        Raises ``ValueError`` for a row that the section does not have, for a value of another type, and for a missing
        row without which there is no text to show.
        """
        kinds = _kinds(type(self))
        for name, value in rows.items():
            if name not in kinds:
                raise ValueError(f"{where} has a row {name!r}, which is none of its rows: {', '.join(kinds)}")
            object.__setattr__(self, name, _read(kinds[name], value, f"{where}: {name}"))
        for name in kinds:
            if name not in rows and not hasattr(type(self), name):
                raise ValueError(f"{where} lacks the row {name!r}; copy it from the file of another language")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only; use with_rows({name}=...)")

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The rows with their values."""
        return ((name, getattr(self, name)) for name in _kinds(type(self)))

    def with_rows(self, **values: Any) -> Self:
        """A copy in which rows have other values, as they are after reading."""
        other = object.__new__(type(self))
        for name, value in (*self, *values.items()):
            object.__setattr__(other, name, value)
        return other


def _kinds(table: type[Table]) -> dict[str, str]:
    """The rows of a table with their kinds."""
    return table.__annotations__


def _read(kind: str, value: Any, where: str) -> Any:
    """The value of a row in the form of its kind."""
    if kind in _TABLES:
        return _TABLES[kind](value, where)
    read, accepted = _KINDS[kind]
    if not isinstance(value, accepted) or isinstance(value, bool):
        wanted = " or ".join(each.__name__ for each in accepted)
        raise ValueError(f"{where} is {value!r}, where {wanted} belongs")
    return read(value)


def _pattern(value: str) -> str:
    return _LINE.sub("", value.strip("\n"))


def _phrases(value: str | list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(" ".join(each.split()) for each in value.split(",") if each.strip())
    return tuple(map(_pattern, value))


class _Filling(Formatter):
    """Fills texts. A format of two particles with a slash between them takes the one that fits the value."""

    def format_field(self, value: Any, format_spec: str) -> str:
        from saga_core.language.ko.grammar import josa

        return josa(str(value), format_spec) if "/" in format_spec else str(super().format_field(value, format_spec))


def _filled(value: str) -> Filled:
    return partial(_Filling().format, value)


_KINDS: dict[str, tuple[Callable[[Any], Any], tuple[type, ...]]] = {
    "str": (str, (str,)),
    "int": (int, (int,)),
    "float": (float, (int, float)),
    "Pattern": (_pattern, (str,)),
    "Words": (lambda value: frozenset(value.split()), (str,)),
    "Phrases": (_phrases, (str, list)),
    "Filled": (_filled, (str,)),
    "Mapping[str, str]": (lambda value: {key: " ".join(words.split()) for key, words in value.items()}, (dict,)),
    "Mapping[str, Phrases]": (lambda value: {key: _phrases(each) for key, each in value.items()}, (dict,)),
    "Mapping[str, int]": (dict, (dict,)),
    "Mapping[str, float]": (dict, (dict,)),
    "Mapping[str, bool]": (dict, (dict,)),
    "Mapping[str, Any]": (dict, (dict,)),
    "tuple[WorkedExample, ...]": (lambda rows: tuple(WorkedExample(row, "an example") for row in rows), (list,)),
}


# -- phrases with a name ---------------------------------------------------------------------------------------------

ABBREVIATED = r"(?:(?:Mrs?|Ms|Mx|Dr|Prof|St|Capt|Lt|Sgt|Cpl|Col|Gen|Rev|Fr|Sr|Mme|Mlle|[A-Z])\.(?=[ \w]))"
"""What ends in a period within a name: an abbreviated title, or an initial."""
_BY_LENGTH = ("Mr|Ms|Mx|Dr|St|Lt", "Mrs|Sgt|Col|Gen|Rev", "Prof|Capt")
SENTENCE_TITLE = rf"\b(?:{'|'.join(_BY_LENGTH)})\.(?=\s)"
"""An abbreviated title, whose period ends no sentence."""
AFTER_NO_TITLE = "".join(rf"(?<!\b(?:{titles})\.)" for titles in _BY_LENGTH)
"""Behind a period: it is not that of such a title."""
NAME_PATTERN = rf"(?:{ABBREVIATED} ?){{0,2}}[^\W\d_][^\n.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{{}}*]{{0,39}}?"
"""A name, which may have several words."""
WORD = r"[^\s.,:;!?。、，：；！？\"“”「」『』()（）\[\]<>{}*]{1,20}?"
"""A name without a space."""
FRAGMENTS = {"name_pattern": NAME_PATTERN, "word": WORD, "abbreviated": ABBREVIATED}
_AFTER = rf"(?P<name>{NAME_PATTERN})\s*(?:[\n.,:;\])(]|$)"
_BEFORE = rf"(?:^|[\s\[【\]】。.,、，:：])(?P<name>{WORD})$"
_WINDOW = 220
"""The number of characters next to the fixed words that are searched for a name."""


_OPENED = re.compile(r"\A\s*[\[【<({][^\])】>}]*\Z")
"""Fixed words behind a bracket that is closed behind the name: ``[Persona: Nell]``."""
_CLOSED = re.compile(r"[\])】>}].*", re.DOTALL)


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
            if not self.behind and _OPENED.search(found[0]):
                window = _CLOSED.sub("", window, count=1)
            name = self.name.search(window) if self.behind else self.name.match(window)
            if name is not None:
                yield name


def _telling(row: Mapping[str, str]) -> Telling:
    """A phrase, by one of these keys: the words ``before`` the name or ``behind`` it, those of a heading above it
    (``headed``, with the label ``key`` that may precede the name, as in a form), or the ``remark`` in parentheses
    behind another heading. ``name`` is the pattern of the name."""
    name = _pattern(row.get("name", ""))
    if "behind" in row:
        return Telling(re.compile(_pattern(row["behind"]), re.I), re.compile(name or _BEFORE), behind=True)
    if "headed" in row:
        mark = r"[#>*\[【<{_(~=-]{0,8}[ \t]{0,8}"
        ends = r"[:：=–—-][ \t*]{0,8}|(?<=[:：])[ \t*]{0,8}|\n[\s>*•-]{0,12}"
        after = rf"[ \t]{{0,4}}[\])*_】>:：#~=]{{0,8}}[ \t]{{0,8}}(?:{ends})"
        key = rf"(?:(?:{row['key']})[ \t*]{{0,4}}[:：=][ \t*]{{0,6}})?"
        fixed = rf"(?:^|\n)[ \t]{{0,8}}{mark}(?:{_pattern(row['headed'])}){after}{key}"
    elif "remark" in row:
        fixed = rf"(?:^|\n)[^\n:：]{{1,40}}[(（](?:{row['remark']})[)）][ \t*]{{0,4}}[:：=–—-][ \t*]{{0,8}}"
    else:
        fixed = _pattern(row["before"])
    return Telling(re.compile(fixed, re.I), re.compile(name or _AFTER))


Tellings: TypeAlias = tuple[Telling, ...]
_KINDS["Tellings"] = (lambda rows: tuple(map(_telling, rows)), (list,))


# -- words.toml: the state block -------------------------------------------------------------------------------------


class BlockWords(Table):
    """Names in a state block, which is read in the same way in every story, because models mix languages. They are
    written without spaces and punctuation."""

    openers: Words = _NO_WORDS
    """Words besides "state" that make a fence the opener of a block."""
    headers: Words = _NO_WORDS
    """Names for the block as a whole, in a line above its fields."""
    fields: Mapping[str, str] = {}
    """Other names of the fields."""
    slots: Mapping[str, str]
    """The words for the placeholders of the form: ``place``, ``item``, ``name``, ``mood`` and ``notes``."""
    templates: Mapping[str, str] = {}
    """Words that a template contains in place of a field's value, by field."""
    fillers: Words = _NO_WORDS
    """Filler words in a placeholder, beside the words of its field: [name of the NPC]."""
    enumerators: str = ""
    """Characters other than digits and Latin letters that number placeholders."""
    keys: Mapping[str, str] = {}
    """Other names of the keys inside records. ``whom`` lists further names of the key for a person."""
    levels: Words = _NO_WORDS
    """The names of ``hp_change`` that mean the hit points themselves and not a change of them."""
    labels: Pattern = NEVER
    """The keys in a relation that is written on one line."""
    gives: Phrases = ()
    """Sentences with the groups ``giver``, ``receiver`` and ``item``."""
    tells_giving: Pattern = NEVER
    """Words for giving, to detect sentences that none of ``gives`` matches."""
    statuses: Pattern = NEVER
    """Statuses at the end of a sentence."""
    subject: Pattern = NEVER
    """Particles between a name and a status without a space. Put ranges of thousands of letters into ``(?-i:...)``,
    because compiling them case-insensitively takes long."""


class ValueWords(Table):
    """Values that are no names."""

    nothing: Phrases = ()
    """Words for a missing value."""
    nothing_said: Pattern = NEVER
    """A list element that says that there are no elements."""
    nothing_ends: Pattern = NEVER
    """A word for "nothing" at the end of a text. Such a text is complete."""
    unknown: Phrases = ()
    """Words for an unknown person."""
    unknown_one: Pattern = NEVER
    """An unknown person of whom a little is said: an unknown thief, 정체불명의 도둑."""
    nobody: Phrases = ()
    """Words for an empty list of names."""
    ended: Words = _NO_WORDS
    """Words that say of a quest or promise that it is over."""
    unchanged: Words = _NO_WORDS
    """The answers that small models give instead of an empty block."""
    yes: Words = _NO_WORDS
    no: Words = _NO_WORDS
    true: Words = _NO_WORDS
    """Further words for a true flag, besides ``yes``."""
    false: Words = _NO_WORDS
    minus: Pattern = NEVER
    plus: Pattern = NEVER
    loss: Pattern = NEVER
    gain: Pattern = NEVER
    paid: Pattern = NEVER
    earned: Pattern = NEVER
    """Further words for a loss and a gain, which say so of money alone."""
    negation: Pattern = NEVER
    units: Pattern = NEVER
    """Words that mark a number as hit points, but say nothing about its sign."""
    hit_points: Pattern = NEVER
    """Words for hit points before a level."""
    becomes: Pattern = NEVER
    """Words between two levels."""
    became: Pattern = NEVER
    """Words behind the second of two levels."""


class CountedWords(Table):
    """Names of what stories often count, and of options and coins. Words of one row mean the same in every language, so
    that a narrator who writes ``hunger`` in a Korean story reports what the story declares as ``허기``."""

    endings: Words = _NO_WORDS
    """What may be joined to such a name, in languages without spaces: particles, and words for a measure."""
    owners: Words = _NO_WORDS
    """What a model puts before such a name: ``player.hunger``."""
    hunger: Phrases = ()
    thirst: Phrases = ()
    fatigue: Phrases = ()
    stamina: Phrases = ()
    stress: Phrases = ()
    sanity: Phrases = ()
    mana: Phrases = ()
    money: Phrases = ()
    mood: Phrases = ()
    affection: Phrases = ()
    trust: Phrases = ()
    jealousy: Phrases = ()
    suspicion: Phrases = ()
    reputation: Phrases = ()
    outfit: Phrases = ()
    weather: Phrases = ()
    time: Phrases = ()
    day: Phrases = ()
    clues: Phrases = ()
    plans: Phrases = ()
    alarm: Phrases = ()
    visits: Phrases = ()
    level: Phrases = ()
    experience: Phrases = ()
    clear: Phrases = ()
    cloudy: Phrases = ()
    rain: Phrases = ()
    snow: Phrases = ()
    storm: Phrases = ()
    fog: Phrases = ()
    wind: Phrases = ()
    gold: Phrases = ()
    silver: Phrases = ()
    copper: Phrases = ()


class AmountWords(Table):
    """Amounts of things. The grammar of a language reads numbers in words that are put together from several."""

    counters: Pattern = NEVER
    """Counter words behind a number of things."""
    counters_behind: Pattern = NEVER
    """The same for counter words that are read only behind a name. Before one they mostly belong to it: 三节棍."""
    money: Pattern = NEVER
    """Things that are counted but never numbered. A bare number behind them is a quantity."""
    whole: Pattern = NEVER
    """All of a thing, with its name in a group."""
    numbers: Mapping[str, int] = _NO_NUMBERS
    """Numbers in words before a counter, longer words first."""
    named: Pattern = NEVER
    """Names that begin like a count, but are names: 三件套, 千円札."""
    currency: Pattern = NEVER
    """Currency words. They count money and also name it if nothing else is named: 200만 원, 二百块."""
    counted: Pattern = NEVER
    """Words between a counter and the name of the thing counted."""
    countable: Pattern = NEVER
    """A whole name after which a bare number is a quantity and not a part of the name."""
    numbered: Pattern = NEVER
    """Names that contain a number, such as those of chapters."""
    plurals: Mapping[str, int] = _NO_NUMBERS
    """Numbers in words before a plural name."""
    places: Mapping[str, int] = _NO_NUMBERS
    """Words behind digits for hundreds, thousands and ten thousands."""


class StatusWords(Table):
    """Statuses of people, things and debts, and remarks behind a name."""

    dead: Words = _NO_WORDS
    dead_ends: Words = _NO_WORDS
    """Words for dead at the end of a longer status, in languages without spaces: 坠楼身亡."""
    died: Pattern = NEVER
    """A whole status of several words for dead, with its cause: ``passed away``, ``died of fever``, 총에 맞아 사망."""
    undone: Pattern = NEVER
    """Words in such a status or behind it that say that nobody died, or not for good: ``dead until``."""
    alive: Words = _NO_WORDS
    lives: Pattern = NEVER
    """What a sentence about somebody who was dead says behind the name, if she is not: ``only feigned death``."""
    well: Words = _NO_WORDS
    """Statuses of a character who has recovered."""
    body: Pattern = NEVER
    """A part of the body. Wounds of two parts are two wounds; one of the same part takes the place of the other."""
    left: Pattern = NEVER
    right: Pattern = NEVER
    supposed: Pattern = NEVER
    """Words before a word for dead. They say that the death is a rumour or a guess: 传闻已死, presumed dead."""
    averted: Pattern = NEVER
    """The same for words that say that somebody did not die, or feigned to: 险些身亡, left for dead."""
    gone: Pattern = NEVER
    """Statuses that say that a thing no longer exists."""
    broken: Pattern = NEVER
    """The same for statuses that hardly ever describe a person. An unknown name with one is a thing or a place."""
    worn: Pattern = NEVER
    """A whole status that says how a thing is that still exists: ``cracked``."""
    unreal: Pattern = NEVER
    """A whole remark behind a place or a person: it is a dream, a memory or a vision."""
    remote: Pattern = NEVER
    """A whole remark behind a person who is not there: ``over the radio``."""
    calling: Pattern = NEVER
    """The same for remarks that also fit somebody who is there and makes a call: ``on the phone``."""
    absent: Pattern = NEVER
    """In a remark of these kinds: the person does not hear what is said, as the writer of a letter."""
    away: Pattern = NEVER
    """A whole status that says that somebody has left, or what an event says of somebody: ``gone ashore``, 사라졌다."""
    held: Pattern = NEVER
    """In a status or the name of a place: a prison or a hospital."""
    lies: Pattern = NEVER
    """In a sentence about somebody who is dead: that the body is where it is told."""
    unaware: Pattern = NEVER
    """A whole remark behind a person who is there and does not notice what happens, or such a status: ``asleep``."""
    debt: Pattern = NEVER
    """Relation types that are debts."""
    paid: Pattern = NEVER
    """Words that say that a debt is settled, in a relation type or beside it."""
    over: Pattern = NEVER
    """Words that say that a relation of any type has ended."""
    settled: str = ""
    """The relation type that replaces a debt when it is settled."""


# -- words.toml: names -----------------------------------------------------------------------------------------------


class NameWords(Table):
    """The words around names, and words for persons that are no names, compared in the form of ``fold_name``."""

    player: Words = _NO_WORDS
    """Words that mean the player's character."""
    common: Words = _NO_WORDS
    """Pronouns, articles and words for who takes part. Any system prompt has them, so they choose no world."""
    titles: Words = _NO_WORDS
    """Titles that may stand anywhere among the words of a name."""
    titles_around: Words = _NO_WORDS
    """Titles that are recognized only at the beginning or the end of a name."""
    title_suffixes: Words = _NO_WORDS
    same_titles: Phrases = ()
    """Titles in Latin letters for one office: "doctor dr physician"."""
    appositions: Words = _NO_WORDS
    """What may stand between a title and the name after it, with no space: ``の`` in ``座長の夏目源治郎``."""
    entitles: Phrases = ()
    """Sentences that give the person NAMED the title in the group ``title``, where names with two titles are not one
    person's as they stand: 교장은 백운 선생이다."""
    possessives: Words = _NO_WORDS
    """What makes another's of a name before it: ``的`` in ``林晚晴的二姨``."""
    definite: Words = _NO_WORDS
    """What stands before a thing that is known, in Latin letters: the watch, and not "I watch"."""
    prepositions: Words = _NO_WORDS
    """What stands behind the kind in the name of a thing, in Latin letters: letter of the duke."""
    inside: Words = _NO_WORDS
    """What stands between the name of a part of a place and the place, in Latin letters: deck of the barge."""
    somewhere: Words = _NO_WORDS
    """Words that may stand for a place that was named before."""
    nobody_else: Pattern = NEVER
    """A text that tells of nobody who was named before: one without a pronoun, where the language demands one."""
    endearments: Words = _NO_WORDS
    """What is attached to a given name of one syllable: ``이`` in ``단이``."""
    honorifics: Phrases = ()
    """Honorifics attached to a name of at least two letters."""
    many: Words = _NO_WORDS
    """Titles that several people at one place have, or that address anybody, so that they identify nobody."""
    diminutives: Words = _NO_WORDS
    """Familiar prefixes of a family name of one letter, or of a given name."""
    nicknames: Phrases = ()
    """Words between a name and a nickname, or before the nickname alone."""
    naming: Pattern = NEVER
    """A word that says that somebody is called something: "calls", 부른다."""
    called: Pattern = ""
    """A nickname in the group ``name`` and the words behind it that say so: 까마귀라고 부른, 「黒田」と名乗."""
    subject: Pattern = NEVER
    """What stands behind the subject with which a sentence begins: " is ", は."""
    pronoun: Pattern = NEVER
    """A pronoun for somebody who was named before, in languages without capitals."""
    object: Pattern = NEVER
    """What stands behind the one who is called something: 蓮を「先生」と呼ぶ."""
    topic: Pattern = NEVER
    """What stands behind the one who is called something, at the end of a text: 딸 윤채령은 before 아씨라 불린다."""
    calls: Pattern = NEVER
    """A verb behind a nickname whose subject are those who use it: 「女将さん」と呼ぶ, not と呼ばれる."""
    name_keys: Phrases = ()
    """Keys behind which a card's sheet has the name: ``Full name: …``."""
    reveals: Pattern = NEVER
    """A status that reveals who a person really is, with the group ``name``."""
    same: Pattern = NEVER
    """A sentence that says that the people joined in the group ``names`` are one person."""
    also: Pattern = ""
    """A sentence that tells another name of somebody, with the groups ``name`` and ``other``; case counts."""
    truly: Pattern = ""
    """A part of a sentence that tells somebody's real name, whatever follows, with the same groups. The group ``own``
    has a word that stands for her name: ``her real name is``, 자신의 본명은."""
    since: Pattern = NEVER
    """Words of a sentence about a name that say that it holds from now on."""
    alias: Pattern = ""
    """A sentence or clause that tells under which name somebody goes for a while, with the same groups."""
    nicknaming: Pattern = ""
    """A part of a sentence that says that somebody gets a nickname, with the same groups."""
    identity: Pattern = ""
    """A sentence or clause that tells that two are one person, with the same groups: 夜莺就是秦少白."""
    linked: Pattern = ""
    """A part of a sentence that may tell that NAMED and OTHER are one person. It is no more than asked."""
    unmasks: Pattern = ""
    """A remark that tells whom somebody turns out to be, with the group ``name``, or the group ``whose`` where words
    follow the name: 黒騎士の正体."""
    group: Pattern = NEVER
    """A card's heading under which several people are listed: ``Party members``."""
    role: Pattern = NEVER
    """A card's heading that says what somebody is, before the name: ``Leader: Marcus Oyelaran, 41``."""
    women: Words = _NO_WORDS
    men: Words = _NO_WORDS
    families: Words = _NO_WORDS
    """Family names of one syllable before a given name of two."""
    long_families: Words = _NO_WORDS
    """Family names of two syllables, before a given name of one or two."""
    addresses: Words = _NO_WORDS
    """Forms of address that follow another title: 폐하 in 황제 폐하."""
    between: Words = _NO_WORDS
    """Particles between a given and a family name."""
    ordinal: Pattern = NEVER
    """Ordinals that distinguish people of the same name."""
    apart: Phrases = ()
    """The words that tell two of a kind apart, a pattern for each sort: the first floor and the second. A group holds
    the ways to write one mark; without groups each match is its own mark. Names are in lower case, and Han characters
    in simplified form."""
    joint: Pattern = NEVER
    """A conjunction between two names."""
    letters: Pattern = NEVER
    """One letter of a script without capitals that names are written in."""


class PersonaWords(Table):
    """The phrases by which frontends, cards and players name the player's character."""

    between: Tellings = ()
    """The opening sentence of frontends, which names all speakers. The player is the one who is not asked to reply."""
    about: Tellings = ()
    """Other phrases of frontends and cards about the player's character."""
    mine: Pattern = NEVER
    """The parenthesis after a heading about the player's own character: ``The captain (me): …``. It does not include
    "you", because many cards address the model."""
    own: Phrases = ()
    """Players introducing themselves. Case counts."""
    claims: Phrases = ()
    """Players' words that introduce the character or mean something else: "I'm Dana", "I'm fine". A name found by them
    counts only if a report bears it out. Case counts."""
    noted: Phrases = ()
    """Notes that tell the name of the player's character: "The player's name is Dana"."""
    no_names: Words = _NO_WORDS
    """Words that cannot begin a name, in lower case. Cards use them when they mention the player without a name."""


# -- words.toml: prose -----------------------------------------------------------------------------------------------


class PastWords(Table):
    """Phrases of players about the past, and of stories in which days pass. They are searched in case-folded text."""

    now: Pattern = NEVER
    """Questions for the hour or the day, which ask for nothing that was."""
    aside: Pattern = NEVER
    """What a narrator says to the player in brackets, and is no story."""
    asking: Pattern = NEVER
    """A word that asks for something or refers to the past."""
    asking_unmarked: Pattern = NEVER
    """A question or a request for information without a question mark."""
    ago: Pattern = NEVER
    """A length of time before now, with the groups ``number`` and ``unit``, or ``days``."""
    numbers: Mapping[str, int] = _NO_NUMBERS
    """The values of the group ``number``, if it is not in digits."""
    units: Mapping[str, int] = _NO_NUMBERS
    """The number of days in each unit."""
    days: Mapping[str, int] = _NO_NUMBERS
    """The values of the group ``days``: words that mean a number of days by themselves."""
    named_days: Mapping[str, int] = _NO_NUMBERS
    """Patterns of words such as "yesterday", with the number of days ago, longest word first."""
    meeting: Pattern = NEVER
    """A reference to the first meeting with a character."""
    beginning: Pattern = NEVER
    """A reference to the beginning of the story."""
    latest: Pattern = NEVER
    """A reference to the last time that something happened."""
    date: Pattern = NEVER
    """A calendar date in digits, possibly with the month in letters. It has the groups ``month1``, ``day1`` and
    optionally ``year1``. If there is a second notation, its groups are ``month2`` and so on."""
    months: Mapping[str, int] = _NO_NUMBERS
    """The number of a month in letters, by its first three letters."""
    asks_amount: Pattern = NEVER
    """A question about how much or how many. ``asks_when`` is a question about time."""
    asks_when: Pattern = NEVER
    amount: Pattern = NEVER
    """A number in a sentence, in digits or in words."""
    moment: Pattern = NEVER
    """A day, a month or a time without a number."""
    other_story: Pattern = NEVER
    """A reference to a story that was played in another chat."""
    hints: Phrases = ()
    """Parts of words without which none of the patterns above can match. Searching for them costs a tenth."""
    later: Pattern = NEVER
    """The beginning of a sentence that says that a day has passed; with the groups of ``ago``, several days."""
    turn: Words = _NO_WORDS
    """The words before the turn number at the beginning of an episode's line of facts: that of ``Texts.episode``,
    unless another language has it, and those of earlier versions."""
    dated: Pattern = NEVER
    """A date as formatted by ``Texts.day``, with the groups ``rest`` and ``year``. Every language needs it."""


class RequestWords(Table):
    """The instructions by which a frontend requests something else than a turn of the story, taken literally from
    frontends and presets. Case does not count."""

    goes_on: Pattern = NEVER
    """Inside a note: continue the last reply."""
    next_speaker: Pattern = NEVER
    """Inside a note: another character speaks next."""
    lines_of: Phrases = ()
    """Inside such a note: the character whose words are requested, with NAME for the name."""
    tool: Pattern = NEVER
    """The beginning of a system prompt that makes the model a tool and not a narrator."""
    payload: Pattern = NEVER
    """The beginning of a message that supplies a text to process."""
    task: Pattern = NEVER
    """The beginning of a message that is a task if no other message accompanies it."""
    nudges: Phrases = ()
    """In brackets: continue, or let another character speak."""
    impersonation: Phrases = ()
    """In brackets: write the player's next line."""
    errands: Phrases = ()
    """In brackets, in place of the player's message: a task outside the story. After the player's message, such a note
    may be a standing instruction of a story that continues."""
    stops: Phrases = ()
    """With or without brackets, also after the player's message: the story stops for a task."""


class StoryWords(Table):
    """Events in prose: actions, deaths, important facts. Case does not count. The patterns prefer precision to
    completeness: a wrong finding costs a player's trust, a missed one costs nothing.

    Some rows have NAMED in them, which stands for a pattern of a character's names, WHERE for one of a place, and VERBS
    for the verbs of ``acts`` or ``attacks``.
    """

    died: Pattern = NEVER
    """A clause about a death."""
    bonds: Pattern = NEVER
    """A clause about something that binds people: promises, debts, wounds, secrets."""
    deadlines: Pattern = NEVER
    """A clause about what must be done by a time, or else something happens."""
    secrets: Pattern = NEVER
    """A clause about something that few are told: a confession, a secret, who somebody really is."""
    who_really: Pattern = NEVER
    """Words about who somebody really is."""
    informed: Pattern = NEVER
    """NAMED was told something, or has learned it."""
    confessed: Pattern = NEVER
    """NAMED says who somebody is."""
    beast: Pattern = NEVER
    """A text says that NAMED is one of BEASTS."""
    beasts: Pattern = NEVER
    """Animals that live with people."""
    kept: Pattern = NEVER
    """A clause that says from whom something is kept: somebody does not or must not know it."""
    few: Pattern = NEVER
    """Only NAMED knows or is told it, perhaps beside others."""
    telling_few: Pattern = NEVER
    """NAMED tells it to few."""
    whose: Pattern = NEVER
    """A sentence that begins by telling whose a character NAMED is."""
    doer: Pattern = NEVER
    """A statement in which NAMED did what it tells, although it begins with something else."""
    that: Pattern = NEVER
    """What stands between who says or knows something and what that is."""
    owed: Pattern = NEVER
    """A sentence about a debt."""
    settled: Pattern = NEVER
    """A sentence that says that a debt is settled."""
    partly: Pattern = NEVER
    """Words in such a sentence that say that a part of the debt is left, or that it is not settled yet."""
    still_owed: Pattern = NEVER
    """A sentence that says how much of a debt is left."""
    negation: Pattern = NEVER
    """Words that negate a statement."""
    stacked: Pattern = NEVER
    """Things that exist in identical copies."""
    hostile: Pattern = NEVER
    """Hostile relation types."""
    friendly: Pattern = NEVER
    reasons: Pattern = NEVER
    """Possible reasons for a change of heart."""
    travel: Pattern = NEVER
    """Ways in which a character may have come along."""
    unreal: Pattern = NEVER
    """Dreams, memories, ghosts and the like."""
    body: Pattern = NEVER
    """A corpse or a grave."""
    revived: Pattern = NEVER
    """Explanations for a dead character being alive."""
    helpless: Pattern = NEVER
    """A character is unconscious or down, or recovers."""
    untrue: Pattern = NEVER
    """A sentence about something that does not happen: a negation, a condition, or a comparison."""
    untrue_of_death: Pattern = NEVER
    """The same for a sentence about a death."""
    acts: Pattern = NEVER
    attacks: Pattern = NEVER
    act: Pattern = NEVER
    """NAMED does one of VERBS."""
    speech: Pattern = NEVER
    """NAMED said the quotation before the name."""
    death: Pattern = NEVER
    """NAMED dies."""
    stay: Pattern = NEVER
    """NAMED is at WHERE."""
    own_fight: Pattern = NEVER
    """The player's character fights: the words for it, or NAMED, and VERBS."""
    fights: Pattern = NEVER
    """Words for fighting in the player's message."""
    fights_alone: Pattern = NEVER
    """A sentence about fighting with any subject, in languages whose sentences need no subject."""
    subject: Pattern = NEVER
    """Any subject of a sentence, in languages whose sentences need no subject."""

    parting: Pattern = NEVER
    """In a sentence of the player's own words: she leaves NAMED, or sends NAMED away."""
    alone: Pattern = NEVER
    """The same: she goes somewhere alone."""
    leaving: Pattern = NEVER
    """The beginning of a sentence: NAMED goes away, and not with the player."""

    def acting(self, named: str, fighting: bool) -> str:
        """A pattern of the character doing something, or only of fighting."""
        return self.act.replace("VERBS", self.attacks if fighting else self.acts).replace("NAMED", named)

    def saying(self, named: str) -> str:
        """A pattern of a quotation that the character said."""
        return self.speech.replace("NAMED", named)

    def learning(self, named: str) -> str:
        """A pattern of the character being told something, or learning it."""
        return self.informed.replace("NAMED", named)

    def confessing(self, named: str) -> str:
        """A pattern of the character saying who somebody is."""
        return self.confessed.replace("NAMED", named)

    def done_by(self, named: str) -> str:
        """A pattern of the character having done what a statement tells."""
        return self.doer.replace("NAMED", named)

    def belonging(self, named: str) -> str:
        """A pattern of the character being somebody's: a daughter, a debtor."""
        return self.whose.replace("NAMED", named)

    def among_few(self, named: str) -> str:
        """A pattern of the character being one of the few who know something."""
        return self.few.replace("NAMED", named)

    def telling_to_few(self, named: str) -> str:
        """A pattern of the character telling few of something."""
        return self.telling_few.replace("NAMED", named)

    def being_beast(self, named: str) -> str:
        """A pattern of the character being called an animal."""
        return self.beast.replace("BEASTS", self.beasts).replace("NAMED", named)

    def dying(self, named: str) -> str:
        """A pattern of the character's death."""
        return self.death.replace("NAMED", named)

    def staying(self, named: str, where: str) -> str:
        """A pattern of the character being at a place."""
        return self.stay.replace("WHERE", where).replace("NAMED", named)

    def parted(self, named: str, own: bool) -> str:
        """A pattern of the character going away. ``own``: or of the player leaving the character."""
        return (f"{self.leaving}|{self.parting}" if own else self.leaving).replace("NAMED", named)

    def you_fighting(self, named: str) -> str:
        """A pattern of the player's character fighting."""
        return self.own_fight.replace("VERBS", self.attacks).replace("NAMED", named)


class ClockWords(Table):
    """How narrators write the time of a story. Searched in case-folded text."""

    weekdays: Phrases = ()
    """A pattern for each day of the week, Monday first."""
    minutes: Pattern = NEVER
    hours: Pattern = NEVER
    days: Pattern = NEVER
    weeks: Pattern = NEVER
    """Units of time behind a number."""
    numbers: Mapping[str, float] = _NO_NUMBERS
    """Numbers in words before these units."""
    vague: Mapping[str, float] = _NO_NUMBERS
    """Words for no certain number before these units, and what they count as: a few hours. They name no hour."""
    spelled: Mapping[str, float] = _NO_NUMBERS
    """Words that mean a number of days by themselves."""
    half: Pattern = NEVER
    """Half an hour behind an hour, and half a unit behind a length of time."""
    day_number: Pattern = NEVER
    """A day counted from the first, with the group ``day``."""
    date: Pattern = NEVER
    """The same, where it is a length of time unless an hour or a part of the day follows. In a plan it may stand alone,
    or with what makes of it the latest day, in the group ``by``."""
    days_ahead: Mapping[str, int] = _NO_NUMBERS
    """Patterns of days by how far they are ahead: today 0, tomorrow 1. The first that is found counts."""
    weeks_ahead: Mapping[str, int] = _NO_NUMBERS
    """Patterns of weeks by how far they are ahead: next week 1. The first that is found counts."""
    week_later: Pattern = NEVER
    """What makes of a day, ``DAY``, the same day a week later, in a named group: Friday week."""
    oclock: Pattern = NEVER
    """What stands behind the number of an hour."""
    between: Pattern = NEVER
    """An hour with the minutes before it, ``NUMBER`` for each, with the groups ``hour``, ``minute`` and, for what takes
    minutes away, ``to``: ten to six, at nine. Half an hour is in the group ``thirty``, a quarter in ``quarter``."""
    parts: Mapping[str, int] = _NO_NUMBERS
    """Patterns of parts of the day, with the hour at which they begin."""
    meals: Mapping[str, int] = _NO_NUMBERS
    """Patterns of what has its hour: supper at seven is in the evening."""


class GenreWords(Table):
    """Words by which a card shows what sort of story it is for. Searched in case-folded text."""

    romance: Pattern = ""
    mystery: Pattern = ""
    adventure: Pattern = ""


class WorldWords(Table):
    """The keys and words of world files. English ones are read in every world."""

    keys: Mapping[str, Phrases] = {}
    """Words for keys, by names such as ``character.hp`` or ``lore.type``. The first word is written."""
    types: Mapping[str, str] = {}
    """Words for the types of lore, mapped to the types."""
    flags: Mapping[str, bool] = {}
    equipped: str = "equipped"
    """The mark in parentheses after an equipped item."""


# -- texts.toml ------------------------------------------------------------------------------------------------------


class BlockRequest(Table):
    """The request for a state block."""

    lead: str
    tools: str = ""
    """An additional text for a narrator that may call tools."""
    call: str = ""
    """The request to report by a call of the tool ``saga_report`` instead."""
    counted: str
    """The text before the trackers of a story."""


class ProfileTexts(Table):
    """The trackers that stories of a profile count by themselves, each declared in a line."""

    romance: Phrases
    mystery: Phrases


class Labels(Table):
    """The words of the context block: its first and last line, headings, and labels. Fields in braces are filled in."""

    opening: str
    closing: str = "[/SAGA]"
    note: str
    """The block as a note of one paragraph, with ``{facts}``."""
    sections: Mapping[str, str] = {}
    """Headings in brackets, by the name of the section. A section without an entry keeps its own English heading."""
    place: str
    hp: str = "HP"
    inventory: str
    mood: str
    player: str
    present: str
    nearby: str
    ways: str
    dead: str
    changed: str
    nothing: str
    there_since: str
    """The remark on where somebody is who is not here, with ``{depth}``."""
    was_there: str
    """The remark on a place that somebody has left for an unknown one."""
    since_turn: str
    turn: str
    secret: str
    secret_of_none: str
    is_dead: str
    renamed: str
    same_as: str
    alive_again: str
    gone: str
    unnoted: str
    retold: str
    """What a person wrote of the turns ``{first}`` to ``{last}``."""
    more: str
    not_there: str
    not_known: str
    informed: str
    speaks: str
    formerly: str
    story_day: str
    week: Phrases
    """The days of the week, Monday first."""
    yes: str
    no: str
    secret_count: Mapping[str, str]
    """The mark of a value that is kept from the player or the characters."""
    wish: str
    limit: str
    edges: Mapping[str, str]
    """Labels by edge type. An edge without an entry is labelled with its type."""


class Sizes(Table):
    """Lengths of texts in characters, chosen so that they hold about the same content in each language."""

    words: int
    """The length of a player's message that is kept for recall."""
    reply: int
    """The length of a reply that is kept for recall."""
    place: int
    """The length of one passage in a text: a sentence or two."""
    whole: int
    """The maximum length of a text that is quoted completely."""
    brief: int
    """The maximum length of a turn in a conversation that is quoted completely, among the best matches."""
    excerpt: int
    """The length of an excerpt from a longer text."""
    token: float
    """The approximate length of a token, to estimate how many turns are worth an excerpt."""


class Comparison(Table):
    """The texts of a comparison of two states, with fields in braces."""

    labels: Mapping[str, str]
    """Labels by the kind of difference."""
    only: str
    """A fact that exists on one side only, with ``{label}``, ``{subject}`` and ``{where}``."""
    sides: str
    """A fact that differs, with ``{label}``, ``{one}``, ``{left}``, ``{other}`` and ``{right}``."""
    nothing: str
    count: str = "{value}"


class Findings(Table):
    """The texts of contradictions, with the fields listed below each."""

    dead_act: Filled
    """``name``, ``turn``."""
    down_fights: Filled
    """``name``, ``turn``."""
    two_places: Filled
    """``name``, ``turn``, ``first``, ``second``."""
    two_hands: Filled
    """``thing``, ``one``, ``two``."""
    sudden_turn: Filled
    """``one``, ``other``, ``old``, ``old_strength``, ``new``, ``new_strength``."""
    forgotten_event: Filled
    """``name``, ``deadline``."""
    one_person: Filled
    """``one``, ``other``."""


class Texts(Table):
    """Texts for narrators and players."""

    name: str
    """The English name of the language."""
    player: str
    """The name of a player's character that has no name of its own yet."""
    player_aliases: Phrases
    """Further names of such a character. They are recorded in states, so those of an existing language must not change.
    """
    rules: str
    """The instructions to the narrator about the memory, the same in every turn."""
    note: str
    """The second line of ``rules``, if the memory is a note."""
    sizes: Sizes
    pages: Mapping[str, str]
    """Headings and labels on the pages."""
    comparison: Comparison
    findings: Findings
    episode: Mapping[str, str]
    """Labels in the line of facts of an episode."""
    calendar: str
    """How a date is written, with ``{day}``, ``{month}`` and ``{year}``."""
    months: Phrases = ()
    """The names of the months, where dates are written with them."""
    turn: str
    """The name of a turn, with ``{depth}``."""
    due: str
    """The mark of an event that is due."""
    elsewhere: str
    """The mark of what others did in a shared world."""
    to_come: str
    """The mark of something planned, with ``{when}``. It has not happened."""
    overdue: str
    """The mark of something whose time has passed, with ``{when}``."""
    in_days: str
    """A time of another week, with ``{when}`` and ``{days}``."""
    turns_left: str
    """The text after such an event, with ``{left}``."""
    died: Filled
    """With ``name``."""
    fared: Filled
    """With ``name`` and ``status``."""
    met: Filled
    """With ``who`` and ``name``."""
    gained: Filled
    """With ``who`` and the thing's ``name``."""
    lost: Filled
    """With ``who`` and the thing's ``name``."""
    recovered: Filled
    """With ``name`` and the ``status`` that is over."""
    gave: Filled
    """With ``who``, ``receiver`` and the thing's ``name``."""
    stop: str
    """What a sentence ends with."""

    def day(self, day: date) -> str:
        """A date in the usual way."""
        month = self.months[day.month - 1] if self.months else day.month
        return self.calendar.format(day=day.day, month=month, year=day.year)


class WorkedExample(Table):
    """A turn with the right answer. ``answer`` leaves out what is empty. Its names occur in no other text of SAGA."""

    place: str
    present: str
    words: str
    reply: str
    answer: Mapping[str, Any]


class ExtractionWords(Table):
    """The texts of the question to an extraction model. ``again`` contains ``{reason}``.

    ``task`` is the task for one turn, ``window`` that for several turns in one question. ``keys`` says what the keys of
    an answer mean, ``more`` what the keys mean that only larger models are asked for. In a window, ``turn`` precedes
    the number of each turn.
    """

    task: str
    window: str
    keys: str
    more: str
    counted: str
    """What the key ``counted`` means. The names of the trackers follow."""
    examples: tuple[WorkedExample, ...]
    answer: str
    turn: str
    before: str
    player: str
    place: str
    hp: str = "HP"
    inventory: str
    present: str
    known: str
    words: str
    reply: str
    again: str


class CurationWords(Table):
    """The texts of the question to a curator model. ``state`` contains ``{depth}``, ``again`` contains ``{reason}``."""

    task: str
    answer: str
    calls: str
    state: str
    known: str
    story: str
    schedule: str
    facts: str
    turns: str
    memory: str
    done: str
    nothing: str
    again: str


class LearningWords(Table):
    """The texts of a memory strategy's question. ``frame`` contains ``{limit}``, ``again`` contains ``{reason}``."""

    frame: str
    form: str
    known: str
    turns: str
    nothing: str
    again: str


class CardWords(Table):
    """The texts of the question about a card, with an example of a card and of the answer about it."""

    task: str
    card: str
    example: str
    answer: str
    result: Mapping[str, Any]


class OnePersonWords(Table):
    """The texts of the question whether two characters are one person, with an example of it and of the answer."""

    task: str
    example: str
    answer: str
    result: Mapping[str, Any]


class ChapterWords(Table):
    """The texts of the request to tell some turns in a style."""

    task: str
    styles: Mapping[str, str]
    answer: str


class Questions(Table):
    """The texts of all questions to small models."""

    card: CardWords
    one_person: OnePersonWords
    chapter: ChapterWords
    extraction: ExtractionWords
    curation: CurationWords
    learning: LearningWords
    strategies: Mapping[str, str]
    """The texts of the built-in memory strategies, by ``strategy.task`` or ``strategy.kind``."""
    nudge: str
    """The request to a model to continue a reply that it has begun."""


_TABLES: dict[str, type[Table]] = {each.__name__: each for each in Table.__subclasses__()}

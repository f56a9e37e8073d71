"""The rules of the dynamic lorebook: which entries may enter the prompt, and how each is scored.

Candidates are the entries nearest in meaning, entries mentioned in the last two messages, entries with an open gate,
and constant entries. The score of an entry is the sum of:

=============  =====  ==============================================================================
``location``   3.0    the place's name equals the entry's name, an alias or a tag; otherwise
               1.5    a tag of the entry is a whole word of the place's name
``nearby``     2.0    the name of a nearby character equals the entry's name, an alias or a tag
``graph``      1.0    the entry is one hop away in the graph; 0.5 for two hops
``mention``    2.5    the entry's name, an alias or a key is mentioned in the last two messages
``similar``    2·cos  with the embedder's baseline subtracted first, never below 0
``layer``             A1 2.0, A2 1.5, A3 0.5, A4 0.0
=============  =====  ==============================================================================

``location`` and ``nearby`` are gates. Entries of the layers A3 and A4 decay: they stay out if their last mention is
more than 7 (A3) or 3 (A4) turns ago. For an entry that was never mentioned, decay counts from depth 0 in A3; in A4 such
an entry stays out. An open gate, a mention or ``constant`` overrides decay. Injection into the prompt is not a mention.

Entries in mode ``keep`` follow the activation rules that their author wrote for another tool instead; docs/import.md
describes them. Random decisions are seeded by the turn: reading the same turn again gives the same entries, and a swipe
draws again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import fsum
from typing import Generic, TypeVar

from attrs import define, field, frozen

from saga_core.config import LorebookConfig
from saga_core.ids import entity_id
from saga_core.language import caseless, fold_name, hangs_on, match_name, match_text, mentions_folded, nfc, standing
from saga_core.world import (
    KEEP,
    READ,
    USER,
    KeySearch,
    LoreEntry,
    LoreRule,
    PatternSearch,
    draw,
    is_pattern,
    key_search,
)

# -- many names in a text --------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")

K = TypeVar("K", bound=Hashable)


@frozen
class Passage:
    """A text prepared for name search by any number of indexes."""

    folded: str
    words: frozenset[str]
    heads: Mapping[str, Sequence[str]]
    """The words by their first two letters."""

    @classmethod
    def of(cls, *texts: str) -> Passage:
        """Return the passage of one or more texts. No name is found across two texts."""
        if len(texts) == 1:
            return _passage(texts[0])
        parts = list(map(_passage, texts))
        words = frozenset[str]().union(*(part.words for part in parts))
        return cls("\n".join(part.folded for part in parts), words, _heads(words))


@lru_cache(maxsize=64)
def _passage(text: str) -> Passage:
    """Cached: a reply is searched when it is recorded, when it is continued and at each swipe of the next turn."""
    words: set[str] = set()
    rough: list[str] = []
    parts = match_text(nfc(text)).split()
    for part in set(parts):
        # Most words need no pattern, which is several times as slow.
        if part.isalnum():
            words.add(part)
        else:
            rough.append(part)
    words.update(_WORD.findall(" ".join(rough)))
    return Passage(" ".join(parts), frozenset(words), _heads(words))


def _heads(words: Iterable[str]) -> dict[str, list[str]]:
    heads: dict[str, list[str]] = {}
    for word in words:
        if (head := word[:2]) in heads:
            heads[head].append(word)
        else:
            heads[head] = [word]
    return heads


_SINGLE, _SEVERAL, _SHORT, _ODD, _UNSPACED = range(5)
"""How a name is looked up: one word, several words, one letter, without letters, in a script without spaces."""


@lru_cache(maxsize=8_192)
def _filed(name: str) -> tuple[tuple[int, str, str], ...]:
    """Return how a name is looked up, under which beginning, and the folded name. Cached: a story's names are indexed
    again whenever one of them changes."""
    folded = " ".join(match_name(nfc(name)).split())
    if not folded:
        return ()
    first = _WORD.match(folded)
    if standing(folded) is not None:
        return ((_UNSPACED, folded[:2], folded),)
    if first is None:
        return ((_ODD, folded, folded),)
    if first.end() == len(folded):
        return ((_SHORT, folded, folded),) if len(folded) == 1 else ((_SINGLE, folded[:2], folded),)
    several = (_SEVERAL, first.group(), folded)
    joined = folded.replace(" ", "")
    if caseless(joined[0]) and joined != folded and _WORD.fullmatch(joined):
        return several, *_filed(joined)
    return (several,)


class NameIndex(Generic[K]):
    """An index from names to keys. A name may have several keys, and a key several names.

    A Korean name with spaces is also found without them, because the spacing of compounds varies. A name of one word is
    looked up by its first two letters among the words of the text, a name of several words by its first word. A name in
    a script without spaces is looked up by its first two letters at each position of the text.
    """

    def __init__(self, entries: Iterable[tuple[K, Iterable[str]]]) -> None:
        # Lists of pairs instead of dicts of names: few names share a beginning, and a dict is large.
        self._single: dict[str, list[tuple[str, K]]] = {}
        self._short: dict[str, list[K]] = {}
        self._several: dict[str, list[tuple[str, K]]] = {}
        self._odd: dict[str, list[K]] = {}
        self._unspaced: dict[str, list[tuple[str, K]]] = {}
        pairs = {_SINGLE: self._single, _SEVERAL: self._several, _UNSPACED: self._unspaced}
        alone = {_SHORT: self._short, _ODD: self._odd}
        for key, names in entries:
            for name in names:
                for kind, head, folded in _filed(name):
                    if kind in pairs:
                        pairs[kind].setdefault(head, []).append((folded, key))
                    else:
                        alone[kind].setdefault(head, []).append(key)

    def found_in(self, passage: Passage) -> set[K]:
        """Return the keys of the names that the passage mentions."""
        found: set[K] = set()
        single, short = self._single, self._short
        for head in passage.heads.keys() & single.keys():
            for word in passage.heads[head]:
                for name, key in single[head]:
                    if word == name or (word.startswith(name) and _is_name(word, name)):
                        found.add(key)
        if short:
            for word in [word for word in passage.words if word[0] in short]:
                if _is_name(word, word[0]):
                    found.update(short[word[0]])
        for first in self._several.keys() & passage.words:
            for name, key in self._several[first]:
                if key not in found and mentions_folded(passage.folded, name):
                    found.add(key)
        found.update(key for _, _, key in self._standing_in(passage.folded))
        for name, keys in self._odd.items():
            if mentions_folded(passage.folded, name):
                found.update(keys)
        return found

    def _standing_in(self, folded: str) -> Iterator[tuple[int, int, K]]:
        """Yield start, end and key of each name in a script without spaces."""
        if not self._unspaced or folded.isascii():
            return
        starts = self._unspaced
        for at in range(len(folded)):
            for head in (folded[at : at + 2], folded[at]):
                for name, key in starts.get(head, ()):
                    end = at + len(name)
                    stands = standing(name)
                    if stands is not None and folded.startswith(name, at) and stands(folded, at, end):
                        yield at, end, key
                if len(head) < 2:
                    break

    def _is_meant(self, word: str) -> bool:
        """Whether ``word`` is an indexed one-word name of two or more letters, with or without a particle."""
        return any(_is_name(word, name) for name, _ in self._single.get(word[:2], ()))

    def cut_from(self, text: str) -> str:
        """Return ``text`` without the mentioned names and their particles, with spaces collapsed."""
        text = " ".join(nfc(text).split())
        folded = match_text(text)
        if len(folded) != len(text):
            text = folded
        cuts = [(start, end) for start, end, _ in self._standing_in(folded)]
        for match in _WORD.finditer(folded):
            start, end = match.span()
            word = match.group()
            if self._is_meant(word) or (word[0] in self._short and _is_name(word, word[0])):
                cuts.append((start, end))
            for name, _ in self._several.get(word, ()):
                if folded.startswith(name, start):
                    tail = _WORD.match(folded, start + len(name))
                    if tail is None or hangs_on(tail.group(), name):
                        cuts.append((start, tail.end() if tail else start + len(name)))
        if not cuts:
            return text
        kept: list[str] = []
        at = 0
        for start, end in sorted(cuts):
            if start > at:
                kept.append(text[at:start])
            at = max(at, end)
        kept.append(text[at:])
        return " ".join(" ".join(kept).split())


def _is_name(word: str, name: str) -> bool:
    """Whether ``word`` is ``name``, or ``name`` with a particle."""
    if not word.startswith(name):
        return False
    return len(word) == len(name) or hangs_on(word[len(name) :], name)


# -- the rules -------------------------------------------------------------------------------------------------

SCAN = 2
"""Default scan depth of an entry in messages: the player's words and the last reply."""
PER_TURN = 2
"""Messages of a turn: the player's words and the reply."""
_GREETING = 1
"""Replies in a chat before its first turn."""
_ROUNDS = 64


@frozen(kw_only=True)
class LoreMoment:
    """The input of the rules."""

    messages: Sequence[str]
    """The last messages, newest first."""
    count: int
    """Number of messages so far, including the player's words."""
    replies: int
    """Number of replies so far, without the greeting."""
    seed: str
    """Seed of random decisions: identifies the turn to come."""
    triggers: frozenset[str] = frozenset({"normal"})
    """The kinds of reply that are requested."""
    characters: frozenset[str] = frozenset()
    """The names of the played characters, case folded."""
    user: str = ""
    """The player's name, which replaces ``{{user}}`` in keys."""
    told: Mapping[str, int] = field(factory=dict)
    """For each timed entry, the message count at its last activation that was not ``sticky`` or ``kept``."""
    budget: int | None = None
    tokens: Callable[[str], int] = len


@frozen
class ActiveEntry:
    """An active entry and the reason: ``constant``, ``sticky``, ``kept`` or ``key``."""

    entry: LoreEntry
    why: str
    later: bool = False
    """Whether the entry became active in a recursion round, by the text of other entries."""


class _Group:
    """Keys of one kind, compiled for searching."""

    def __init__(self, keys: Iterable[str], search: Callable[[str], KeySearch | None]) -> None:
        self.words: list[KeySearch] = []
        self.patterns: list[PatternSearch] = []
        self.unread = 0
        for key in keys:
            found = search(key)
            if found is None:
                self.unread += 1
            elif isinstance(found, PatternSearch):
                self.patterns.append(found)
            else:
                self.words.append(found)


class _TooLong(Exception):
    """The patterns of this run have taken as long as they may."""


class _Keys:
    """The keys of an entry, compiled for searching."""

    def __init__(self, rule: LoreRule, user: str = "") -> None:
        self.case = bool(rule.case_sensitive)
        search = partial(key_search, case=self.case, words=bool(rule.whole_words))
        self.first = _Group(_with_name(rule.keys, user), search)
        self.second = _Group(_with_name(rule.second_keys, user), search)
        self.additional = _Group(_with_name(rule.additional_keys, user), search)
        self.excluded = _Group(_with_name(rule.exclude_keys, user), search)
        groups = (self.first, self.second, self.additional, self.excluded)
        self.unread = sum(each.unread for each in groups)
        self.size = sum(pattern.size for each in groups for pattern in each.patterns)


def _with_name(keys: Iterable[str], user: str) -> list[str]:
    """Return the keys with the player's name filled in. Without a name, keys that need one are left out."""
    found = []
    for key in keys:
        if USER in key:
            if not user:
                continue
            key = key.replace(USER, re.escape(user) if is_pattern(key) else user)
        found.append(key)
    return found


_LARGE, _TOO_LARGE = 5_000, 20_000
"""Number of entries above which the rules run in a thread: an entry takes about 7 microseconds in a short scene. With
more than ``_TOO_LARGE`` entries, a thread would miss the read's deadline and its result would be dropped."""


_LONG_WORK = 1 << 22
"""Instructions times characters of patterns, at worst, above which the rules run in a thread: some 50 ms."""
_PATIENCE = 0.1
"""Seconds of the processor that patterns may take in one run. What they leave unsearched is left out."""


class AuthoredLore:
    """The entries of a world that follow their own rules."""

    def __init__(self, lore: Iterable[LoreEntry]) -> None:
        self.entries = [entry for entry in lore if entry.rule is not None and entry.rule.mode == KEEP]
        self._keys = {entry.name: _Keys(_rule(entry)) for entry in self.entries}
        self._naming = [entry for entry in self.entries if any(USER in key for key in _rule(entry).all_keys)]
        self._named: tuple[str, dict[str, _Keys]] = ("", self._keys)
        self._levels = sorted({_rule(entry).recursion_level for entry in self.entries} - {0})
        self._size = sum(keys.size for keys in self._keys.values())
        self._recursing = sum(len(entry.text) for entry in self.entries if not _rule(entry).no_recursion_from)
        self.deepest = max((_rule(each).scan_depth or SCAN for each in self.entries), default=0)
        """The largest scan depth of all entries, in messages."""
        self.timed = frozenset(each.name for each in self.entries if _rule(each).timed)
        """Entries whose rules depend on when they were active before."""
        self.unread = tuple(name for name, keys in self._keys.items() if keys.unread)
        """Entries with patterns that are ignored because they cannot be matched in bounded time."""

    def large(self, moment: LoreMoment | None) -> bool:
        """Whether the rules should run in a thread: they would block the event loop, but finish before the deadline.

        Patterns may be dear whatever their number; RE2 leaves the loop to others while it searches.
        """
        if _LARGE < len(self.entries) <= _TOO_LARGE:
            return True
        if moment is None or not self._size:
            return False
        length = sum(min(len(text), READ) for text in moment.messages[: self.deepest]) + self._recursing
        return self._size * length > _LONG_WORK

    def fire(self, moment: LoreMoment, left: set[str] | None = None) -> list[ActiveEntry]:
        """Return the active entries, sorted by ``order`` and name.

        ``left`` gets the names of those whose patterns there was no time for.
        """
        left = set() if left is None else left
        return _Firing(self._keys_for(moment.user), moment, self.entries, self._levels, left).run()

    def _keys_for(self, user: str) -> Mapping[str, _Keys]:
        """Return the keys with the player's name filled in. Those of the last name are cached."""
        if not self._naming:
            return self._keys
        named = self._named
        if named[0] != user:
            own = {entry.name: _Keys(_rule(entry), user) for entry in self._naming}
            named = self._named = (user, {**self._keys, **own})
        return named[1]


def _rule(entry: LoreEntry) -> LoreRule:
    assert entry.rule is not None
    return entry.rule


@define
class _Firing:
    """One run of the rules."""

    keys: Mapping[str, _Keys]
    moment: LoreMoment
    entries: Sequence[LoreEntry]
    levels: Sequence[int]
    """The recursion levels of the entries, lowest first."""
    left: set[str]
    """Entries whose patterns there was no time for."""
    spent: float = 0.0
    found: dict[str, ActiveEntry] = field(factory=dict)
    out: set[str] = field(factory=set)
    """Entries that failed their probability check and stay inactive in this run."""
    said: list[str] = field(factory=list)
    """The texts of active entries, which later rounds scan for keys."""
    used: int = 0
    full: bool = False
    _texts: dict[tuple[int, bool], tuple[str, str]] = field(factory=dict)

    def run(self) -> list[ActiveEntry]:
        able = [entry for entry in self.entries if self._able(entry)]
        self._round([each for each in able if not _rule(each).recursion_level or self._stays(each)], False)
        level, waiting = (self.levels[0], list(self.levels[1:])) if self.levels else (0, [])
        news = bool(self.said)
        for _ in range(_ROUNDS):
            if not news:
                if not waiting:
                    break
                level = waiting.pop(0)
            self._texts.clear()
            within = [
                entry for entry in able if _rule(entry).recursion_level <= level and not _rule(entry).no_recursion_into
            ]
            before = len(self.said)
            self._round(within, True)
            news = len(self.said) > before
        return sorted(self.found.values(), key=lambda kept: (_rule(kept.entry).order, kept.entry.name))

    # -- which entries are eligible ------------------------------------------------------------------------------

    def _able(self, entry: LoreEntry) -> bool:
        rule, moment = _rule(entry), self.moment
        if not rule.enabled or (rule.triggers and not moment.triggers & set(rule.triggers)):
            return False
        named = set(map(fold_name, rule.only_characters))
        if named and not named & moment.characters:
            return False
        if set(map(fold_name, rule.not_characters)) & moment.characters:
            return False
        last = moment.told.get(entry.name)
        if last is not None and rule.not_after_match:
            return False
        if last is not None and rule.keep_after_match:
            return True
        replies = moment.replies + _GREETING
        if moment.count < rule.delay or replies < rule.only_after:
            return False
        if rule.only_every and replies % rule.only_every:
            return False
        if last is None:
            return True
        since, rested = moment.count - last, rule.sticky + rule.sticky % PER_TURN
        return not (rule.cooldown and rested <= since < rested + rule.cooldown)

    def _stays(self, entry: LoreEntry) -> bool:
        """Whether an entry stays active because it was active before."""
        return self._standing(entry) in ("sticky", "kept")

    def _standing(self, entry: LoreEntry) -> str:
        """Return why an entry is active regardless of its keys, or an empty string if its keys decide."""
        rule, last = _rule(entry), self.moment.told.get(entry.name)
        if last is not None and self.moment.count - last < rule.sticky:
            return "sticky"
        if last is not None and rule.keep_after_match:
            return "kept"
        return "constant" if entry.constant else ""

    # -- one round -----------------------------------------------------------------------------------------------

    def _round(self, entries: Sequence[LoreEntry], later: bool) -> None:
        whys: dict[str, str] = {}
        new: list[LoreEntry] = []
        for entry in entries:
            if entry.name in self.found or entry.name in self.out:
                continue
            why = self._standing(entry) or ("key" if self._opened(entry, later) else "")
            if why:
                whys[entry.name] = why
                new.append(entry)
        chosen = self._out_of_groups(new, whys, later)
        told = []
        for entry in sorted(chosen, key=worth):
            why = whys[entry.name]
            chance = draw(self.moment.seed, f"chance:{entry.name}", 100)
            if why not in ("sticky", "kept") and chance >= _rule(entry).probability:
                self.out.add(entry.name)
                continue
            if not self._fits(entry):
                continue
            self.found[entry.name] = ActiveEntry(entry, why, later)
            told.append(entry)
        self.said += [entry.text for entry in told if not _rule(entry).no_recursion_from]

    def _fits(self, entry: LoreEntry) -> bool:
        if self.moment.budget is None:
            return True
        cost = self.moment.tokens(entry.text)
        if _rule(entry).ignore_budget:
            self.used += cost
            return True
        if self.full or self.used + cost > self.moment.budget:
            self.full = True
            return False
        self.used += cost
        return True

    def _opened(self, entry: LoreEntry, recursing: bool) -> bool:
        """Whether the entry's keys match its scanned texts under its logic."""
        try:
            return self._matches(entry, recursing)
        except _TooLong:
            self.left.add(entry.name)
            return False

    def _matches(self, entry: LoreEntry, recursing: bool) -> bool:
        keys, rule = self.keys[entry.name], _rule(entry)
        texts = self._texts_for(entry, recursing)
        if not self._count(keys.first, *texts) or self._count(keys.excluded, *texts):
            return False
        if rule.additional_keys and not self._count(keys.additional, *texts):
            return False
        if not rule.second_keys:
            return True
        second, all_of = self._count(keys.second, *texts), len(rule.second_keys)
        return {
            "and_any": second > 0,
            "not_all": second < all_of,
            "not_any": second == 0,
            "and_all": second == all_of,
        }[rule.logic]

    def _score(self, entry: LoreEntry, recursing: bool) -> int:
        """Return how many of the entry's keys match. Second keys count only with the logic ``and_any`` or
        ``and_all``."""
        keys, rule = self.keys[entry.name], _rule(entry)
        texts = self._texts_for(entry, recursing)
        try:
            first, second = self._count(keys.first, *texts), self._count(keys.second, *texts)
        except _TooLong:
            return 0
        counted = rule.logic == "and_any" or (rule.logic == "and_all" and second == len(rule.second_keys))
        return first + second if first and counted else first

    def _count(self, group: _Group, folded: str, text: str) -> int:
        """Return how many keys match. Words are searched in ``folded``, patterns in ``text``."""
        found = sum(search(folded) for search in group.words)
        for search in group.patterns:
            if self.spent > _PATIENCE:
                raise _TooLong
            began = time.thread_time()
            found += search(text)
            self.spent += time.thread_time() - began
        return found

    def _texts_for(self, entry: LoreEntry, recursing: bool) -> tuple[str, str]:
        """Return the texts that the entry scans, once for its word keys and once for its patterns."""
        depth = _rule(entry).scan_depth
        text, folded = self._text(SCAN if depth is None else depth, recursing)
        return (text if self.keys[entry.name].case else folded), text

    def _text(self, depth: int, recursing: bool) -> tuple[str, str]:
        """Return the scanned texts unchanged and in lower case."""
        found = self._texts.get((depth, recursing))
        if found is None:
            parts = [text[:READ] for text in self.moment.messages[:depth]]
            parts += self.said if recursing else []
            text = "\n".join(parts)
            found = self._texts[depth, recursing] = (text, text.lower())
        return found

    # -- groups --------------------------------------------------------------------------------------------------

    def _out_of_groups(self, entries: list[LoreEntry], whys: Mapping[str, str], recursing: bool) -> list[LoreEntry]:
        """Return the entries that are left when each group has one; an entry in several groups must win all of them.

        The group of the entry with the highest order is decided first. An entry that loses may become active in a later
        round if the winner fails its probability check.
        """
        left = {entry.name: entry for entry in entries}
        groups: dict[str, list[LoreEntry]] = {}
        grouped = [entry for entry in entries if _rule(entry).groups]
        for entry in sorted(grouped, key=lambda entry: (-_rule(entry).order, entry.name)):
            for name in dict.fromkeys(_rule(entry).groups):
                groups.setdefault(name, []).append(entry)
        taken = {name for kept in self.found.values() for name in _rule(kept.entry).groups} if groups else set()
        for group in groups:
            members = [entry for entry in groups[group] if entry.name in left]
            if not members:
                continue
            # Sticky entries stay active, even two of one group that became active at different times.
            stay = {entry.name for entry in members if whys[entry.name] == "sticky"}
            if not stay and group not in taken:
                stay = {self._winner(group, members, recursing).name}
            for entry in members:
                if entry.name not in stay:
                    del left[entry.name]
        return list(left.values())

    def _winner(self, group: str, members: list[LoreEntry], recursing: bool) -> LoreEntry:
        if any(_rule(entry).group_scoring for entry in members):
            scores = {entry.name: self._score(entry, recursing) for entry in members}
            best = max(scores.values())
            members = [each for each in members if not _rule(each).group_scoring or scores[each.name] == best]
        above = [entry for entry in members if _rule(entry).group_override]
        if above:
            return min(above, key=lambda entry: (-_rule(entry).order, entry.name))
        members = sorted(members, key=lambda entry: entry.name)
        total = sum(_rule(entry).group_weight for entry in members)
        if not total:
            return members[0]
        at = draw(self.moment.seed, f"group:{group}", total)
        for entry in members:
            at -= _rule(entry).group_weight
            if at < 0:
                return entry
        return members[-1]


def worth(entry: LoreEntry) -> tuple[int, bool, int, str]:
    """Return the sort key for budget use in a round: highest priority, then constant entries, then highest order."""
    rule = _rule(entry)
    return -(1 if rule.priority is None else rule.priority), not entry.constant, -rule.order, entry.name


_fold = lru_cache(maxsize=16_384)(fold_name)


class LoreIndex:
    """Lore entries by name, by key and by mention.

    Of two entries with the same name the last one counts. An entry is *mentioned* by its name, an alias or a word key
    of its rule. It is *keyed* by its name, an alias or a tag that equals another name (case and spacing ignored), or by
    a tag that is a whole word of another name. Entries that follow their own rules are ``kept``. Disabled entries are
    never included.
    """

    def __init__(self, lore: Iterable[LoreEntry]) -> None:
        by_name = {_fold(entry.name): entry for entry in lore}
        self.entries: Mapping[str, LoreEntry] = {entry.name: entry for entry in by_name.values()}
        self.kept = AuthoredLore(self.entries.values())
        self.ruled: frozenset[str] = frozenset(
            name
            for name, each in self.entries.items()
            if each.rule is not None and (each.rule.mode == KEEP or not each.rule.enabled)
        )
        """Entries that are not included by relevance."""
        self.constants: tuple[str, ...] = tuple(sorted(name for name, each in self.entries.items() if each.constant))
        self._mentions = NameIndex(
            (each.name, (each.name, *each.aliases, *_words(each))) for each in self.entries.values()
        )
        self._tags = NameIndex((each.name, each.tags) for each in self.entries.values())
        self._keys: dict[str, set[str]] = {}
        self._named: dict[str, set[str]] = {}
        for each in self.entries.values():
            for name in (each.name, *each.aliases):
                self._named.setdefault(_fold(name), set()).add(each.name)
            for name in (each.name, *each.aliases, *each.tags):
                self._keys.setdefault(_fold(name), set()).add(each.name)
        # Cached: the same entity names are looked up often, and most match no entry.
        self._named_once = lru_cache(maxsize=8_192)(self._named_by)
        # Cached: a player stays in a place for several turns.
        self._tagged_once = lru_cache(maxsize=256)(lambda names: frozenset(self._tags.found_in(Passage.of(*names))))
        self.nodes: Mapping[str, str] = {entity_id("lore", name): name for name in self.entries}
        """The name of each entry by the id of its Lore node in the graph."""

    def __len__(self) -> int:
        return len(self.entries)

    def mentioned_in(self, text: str) -> tuple[str, ...]:
        """Return the entries that ``text`` mentions, ordered by name."""
        return self.mentioned(Passage.of(text))

    def mentioned(self, passage: Passage) -> tuple[str, ...]:
        """As ``mentioned_in``, for a prepared text."""
        return tuple(sorted(self._mentions.found_in(passage)))

    def keyed(self, names: Iterable[str]) -> set[str]:
        """Return the entries whose name, alias or tag equals one of ``names``."""
        return {entry for name in names for entry in self._keys.get(_fold(name), ())}

    def named(self, names: Iterable[str]) -> frozenset[str]:
        """Return the entries whose name or alias equals one of ``names``."""
        return self._named_once(tuple(names))

    def _named_by(self, names: tuple[str, ...]) -> frozenset[str]:
        return frozenset(entry for name in names for entry in self._named.get(_fold(name), ()))

    def tagged_in(self, names: Iterable[str]) -> set[str]:
        """Return the entries with a tag that matches one or more whole words of one of ``names``, ignoring particles.

        The tag '성' matches "성의 뜰" but not "여성".
        """
        return set(self._tagged_once(tuple(names)))


def _words(entry: LoreEntry) -> tuple[str, ...]:
    """Return the keys of the entry's rule that are words, not patterns."""
    return tuple(key for key in entry.rule.keys if not is_pattern(key)) if entry.rule is not None else ()


SIMILAR = 30
"""Number of nearest entries that are candidates."""

LOCATION, LOCATION_WORD, NEARBY, MENTION, SIMILARITY = 3.0, 1.5, 2.0, 2.5, 2.0
GRAPH: Mapping[int, float] = {1: 1.0, 2: 0.5}
LAYERS: Mapping[str, float] = {"A1": 2.0, "A2": 1.5, "A3": 0.5, "A4": 0.0}
HIDDEN = "A4"
"""The layer whose entries stay out until they are first mentioned."""


@frozen(kw_only=True)
class LoreSituation:
    """The input of the rules."""

    depth: int = 0
    """Turns played: the depth of the state."""
    place: Collection[str] = ()
    """The name of the player's place, and its aliases."""
    nearby: Collection[str] = ()
    """Names and aliases of the characters near the player."""
    mentioned: Collection[str] = ()
    """Entries mentioned in the last two messages, by name."""
    last_mention: Mapping[str, int] = field(factory=dict)
    """The depth of the last turn that mentioned each entry."""
    distance: Mapping[str, int] = field(factory=dict)
    """The hops in the graph from the scene's seeds to each entry."""
    similar: Mapping[str, float] = field(factory=dict)
    """The cosines of the ``SIMILAR`` entries nearest to the player's words."""
    baseline: float = 0.0
    """The cosine of unrelated texts."""


@frozen
class ScoredLore:
    """An entry that may enter the prompt. ``why`` has the nonzero parts of its score."""

    entry: LoreEntry
    score: float
    why: Mapping[str, float]


def rank_lore(index: LoreIndex, situation: LoreSituation, config: LorebookConfig) -> list[ScoredLore]:
    """Return the entries that may enter the prompt, ordered by score (highest first), layer and name."""
    equal = index.keyed(situation.place)
    word = index.tagged_in(situation.place) - equal
    near = index.keyed(situation.nearby)
    mentioned = {name for name in situation.mentioned if name in index.entries}
    similar = {name: cosine for name, cosine in situation.similar.items() if name in index.entries}
    opened = equal | word | near
    ranked: list[ScoredLore] = []
    for name in {*opened, *mentioned, *similar, *index.constants}:
        entry = index.entries[name]
        if entry.layer not in config.character_layers or name in index.ruled:
            continue
        if not (name in opened or name in mentioned or entry.constant) and stays_out(
            entry, situation.last_mention.get(name), situation.depth, config
        ):
            continue
        why: dict[str, float] = {}
        if name in equal:
            why["location"] = LOCATION
        elif name in word:
            why["location"] = LOCATION_WORD
        if name in near:
            why["nearby"] = NEARBY
        hops = situation.distance.get(name, 0)
        if hops in GRAPH and hops <= config.propagation_depth:
            why["graph"] = GRAPH[hops]
        if name in mentioned:
            why["mention"] = MENTION
        if similar.get(name, situation.baseline) > situation.baseline:
            why["similar"] = SIMILARITY * (similar[name] - situation.baseline)
        if LAYERS[entry.layer]:
            why["layer"] = LAYERS[entry.layer]
        ranked.append(ScoredLore(entry, fsum(why.values()), why))
    ranked.sort(key=lambda each: (-each.score, each.entry.layer, each.entry.name))
    return ranked


def stays_out(entry: LoreEntry, last: int | None, depth: int, config: LorebookConfig) -> bool:
    """Whether an entry has decayed at ``depth``. ``last`` is the depth of its last mention, None if there was none."""
    if last is None and entry.layer == HIDDEN:
        return True
    allowed = config.decay.get(entry.layer)
    return allowed is not None and depth - (last or 0) > allowed

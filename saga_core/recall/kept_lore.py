"""Lore that is told by its own rules, as its author meant them in another tool (mode ``keep``).

docs/import.md has the rules in words. What chance decides is decided by the turn: the same turn read again tells the
same, and a swipe rolls anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from attrs import define, field, frozen

from saga_core.world import KEEP, READ, USER, KeySearch, LoreEntry, LoreRule, draw, is_pattern, key_search

SCAN = 2
"""Messages that an entry without a scan depth of its own looks at: the player's words and the last reply."""
PER_TURN = 2
"""Messages of a turn: the player's words and the reply."""
_GREETING = 1
"""Replies of a chat before its first turn."""
_ROUNDS = 64


@frozen(kw_only=True)
class KeptMoment:
    """What the rules look at."""

    messages: Sequence[str]
    """The last messages, the newest first."""
    count: int
    """Messages told so far, the player's words among them."""
    replies: int
    """Replies given so far, without the greeting."""
    seed: str
    """What decides chances: the turn to come."""
    triggers: frozenset[str] = frozenset({"normal"})
    """What kind of reply is asked for."""
    characters: frozenset[str] = frozenset()
    """Who is played, case folded."""
    user: str = ""
    """The player's name, which stands for ``{{user}}`` in keys."""
    told: Mapping[str, int] = field(factory=dict)
    """Timed entries to the count of messages at which they were told last by themselves."""
    budget: int | None = None
    tokens: Callable[[str], int] = len


@frozen
class Kept:
    """An entry that is told, and why: ``constant``, ``sticky``, ``kept``, or ``key``."""

    entry: LoreEntry
    why: str
    later: bool = False
    """Whether other lore opened it."""


class _Group:
    """Keys of one kind, ready to be looked for."""

    def __init__(self, keys: Iterable[str], search: Callable[[str], KeySearch | None]) -> None:
        self.words: list[KeySearch] = []
        self.patterns: list[KeySearch] = []
        self.unread = 0
        for key in keys:
            found = search(key)
            if found is None:
                self.unread += 1
            else:
                (self.patterns if is_pattern(key) else self.words).append(found)

    def count(self, folded: str, text: str) -> int:
        """How many of them stand there. Patterns want the text as it is."""
        return sum(search(folded) for search in self.words) + sum(search(text) for search in self.patterns)


class _Keys:
    """The keys of an entry, ready to be looked for."""

    def __init__(self, rule: LoreRule, user: str = "") -> None:
        self.case = bool(rule.case_sensitive)
        search = partial(key_search, case=self.case, words=bool(rule.whole_words))
        self.first = _Group(_with_name(rule.keys, user), search)
        self.second = _Group(_with_name(rule.second_keys, user), search)
        self.additional = _Group(_with_name(rule.additional_keys, user), search)
        self.excluded = _Group(_with_name(rule.exclude_keys, user), search)
        self.unread = sum(each.unread for each in (self.first, self.second, self.additional, self.excluded))


def _with_name(keys: Iterable[str], user: str) -> list[str]:
    """The keys with the player's name in them; without one, keys that want it stand nowhere."""
    found = []
    for key in keys:
        if USER in key:
            if not user:
                continue
            key = key.replace(USER, re.escape(user) if is_pattern(key) else user)
        found.append(key)
    return found


_LARGE, _TOO_LARGE = 5_000, 20_000
"""Entries from which on the rules are applied in a thread: about 7 microseconds each in a short scene. Of still more a
thread would not be done within a read's deadline, and what is found late is not told."""


class KeptLore:
    """The entries of a world that are told by their own rules."""

    def __init__(self, lore: Iterable[LoreEntry]) -> None:
        self.entries = [entry for entry in lore if entry.rule is not None and entry.rule.mode == KEEP]
        self._keys = {entry.name: _Keys(_rule(entry)) for entry in self.entries}
        self._naming = [entry for entry in self.entries if any(USER in key for key in _rule(entry).all_keys)]
        self._named: tuple[str, dict[str, _Keys]] = ("", self._keys)
        self._levels = sorted({_rule(entry).recursion_level for entry in self.entries} - {0})
        self.deepest = max((_rule(each).scan_depth or SCAN for each in self.entries), default=0)
        """Messages that have to be looked at, at most."""
        self.timed = frozenset(each.name for each in self.entries if _rule(each).timed)
        """Entries for which it counts when they were told before."""
        self.unread = sum(keys.unread for keys in self._keys.values())
        """Patterns that cannot be matched in bounded time, and open nothing."""

    @property
    def large(self) -> bool:
        """Whether finding out what is told takes so long that nobody else should wait for it, and is done in time."""
        return _LARGE < len(self.entries) <= _TOO_LARGE

    def fire(self, moment: KeptMoment) -> list[Kept]:
        """The entries that are told, by their order."""
        return _Firing(self._keys_for(moment.user), moment, self.entries, self._levels).run()

    def _keys_for(self, user: str) -> Mapping[str, _Keys]:
        """The keys with the player's name where they want it; the last player's are kept."""
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
    """One moment."""

    keys: Mapping[str, _Keys]
    moment: KeptMoment
    entries: Sequence[LoreEntry]
    levels: Sequence[int]
    """The levels of recursion that entries wait for, the lowest first."""
    found: dict[str, Kept] = field(factory=dict)
    out: set[str] = field(factory=set)
    """Entries that are not told at this turn, whatever comes."""
    said: list[str] = field(factory=list)
    """What entries that were told say, for others to look at."""
    used: int = 0
    full: bool = False
    _texts: dict[tuple[int, bool], tuple[str, str]] = field(factory=dict)

    def run(self) -> list[Kept]:
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

    # -- who may be told -----------------------------------------------------------------------------------------

    def _able(self, entry: LoreEntry) -> bool:
        rule, moment = _rule(entry), self.moment
        if not rule.enabled or (rule.triggers and not moment.triggers & set(rule.triggers)):
            return False
        named = {name.casefold() for name in rule.only_characters}
        if named and not named & moment.characters:
            return False
        if {name.casefold() for name in rule.not_characters} & moment.characters:
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
        """Whether an entry is told for having been told before."""
        return self._standing(entry) in ("sticky", "kept")

    def _standing(self, entry: LoreEntry) -> str:
        """Why an entry is told whatever its keys say; empty when its keys decide."""
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
            self.found[entry.name] = Kept(entry, why, later)
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
        """Whether its keys stand in the texts that the entry looks at, as its logic wants."""
        keys, rule = self.keys[entry.name], _rule(entry)
        texts = self._texts_for(entry, recursing)
        if not keys.first.count(*texts) or keys.excluded.count(*texts):
            return False
        if rule.additional_keys and not keys.additional.count(*texts):
            return False
        if not rule.second_keys:
            return True
        second, all_of = keys.second.count(*texts), len(rule.second_keys)
        return {
            "and_any": second > 0,
            "not_all": second < all_of,
            "not_any": second == 0,
            "and_all": second == all_of,
        }[rule.logic]

    def _score(self, entry: LoreEntry, recursing: bool) -> int:
        """How many of its keys stand there; second keys only where the logic wants them."""
        keys, rule = self.keys[entry.name], _rule(entry)
        texts = self._texts_for(entry, recursing)
        first, second = keys.first.count(*texts), keys.second.count(*texts)
        counted = rule.logic == "and_any" or (rule.logic == "and_all" and second == len(rule.second_keys))
        return first + second if first and counted else first

    def _texts_for(self, entry: LoreEntry, recursing: bool) -> tuple[str, str]:
        """What the entry looks at, as its words want it and as its patterns do."""
        depth = _rule(entry).scan_depth
        text, folded = self._text(SCAN if depth is None else depth, recursing)
        return (text if self.keys[entry.name].case else folded), text

    def _text(self, depth: int, recursing: bool) -> tuple[str, str]:
        """What an entry looks at: as it is, and in lower case."""
        found = self._texts.get((depth, recursing))
        if found is None:
            parts = [text[:READ] for text in self.moment.messages[:depth]]
            parts += self.said if recursing else []
            text = "\n".join(parts)
            found = self._texts[depth, recursing] = (text, text.lower())
        return found

    # -- groups --------------------------------------------------------------------------------------------------

    def _out_of_groups(self, entries: list[LoreEntry], whys: Mapping[str, str], recursing: bool) -> list[LoreEntry]:
        """One entry of each group; an entry of several groups has to be the one of all of them.

        The group of the entry with the highest order is settled first. Who loses may come in a later round, if the
        winner has failed by chance.
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
            # Those that are sticky stay what they are, even two that came at different times.
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
    """In what order the entries of a round take room: by priority, constant ones, and by order, the highest first."""
    rule = _rule(entry)
    return -(1 if rule.priority is None else rule.priority), not entry.constant, -rule.order, entry.name

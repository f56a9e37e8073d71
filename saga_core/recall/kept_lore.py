"""Lore that is told by its own rules, as its author meant them in another tool (mode ``keep``).

docs/import.md has the rules in words. What chance decides is decided by the turn: the same turn read again tells the
same, and a swipe rolls anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from attrs import define, field, frozen

from saga_core.world import KEEP, READ, KeySearch, LoreEntry, LoreRule, draw, key_search

SCAN = 2
"""Messages that an entry without a scan depth of its own looks at: the player's words and the last reply."""
_ROUNDS = 64


@frozen(kw_only=True)
class KeptMoment:
    """What the rules look at."""

    messages: Sequence[str]
    """The last messages, the newest first."""
    count: int
    """Messages told so far, the player's words among them."""
    replies: int
    """Replies given so far."""
    seed: str
    """What decides chances: the turn to come."""
    triggers: frozenset[str] = frozenset({"normal"})
    """What kind of reply is asked for."""
    characters: frozenset[str] = frozenset()
    """Who is played, case folded."""
    told: Mapping[str, int] = field(factory=dict)
    """Timed entries to the count of messages at which they were told last by themselves."""
    budget: int | None = None
    tokens: Callable[[str], int] = len


@frozen
class Kept:
    """An entry that is told, and why: ``constant``, ``sticky``, ``kept``, or ``key``."""

    entry: LoreEntry
    why: str


class _Keys:
    """The keys of an entry, ready to be looked for."""

    def __init__(self, rule: LoreRule) -> None:
        case, words = bool(rule.case_sensitive), bool(rule.whole_words)
        search = partial(key_search, case=case, words=words)
        self.case = case
        self.first = [search(key) for key in rule.keys]
        self.second = [search(key) for key in rule.second_keys]
        self.excluded = [search(key) for key in rule.exclude_keys]
        self.unread = sum(each is None for each in (*self.first, *self.second, *self.excluded))


_LARGE, _TOO_LARGE = 5_000, 20_000
"""Entries from which on the rules are applied in a thread: about 7 microseconds each in a short scene. Of still more a
thread would not be done within a read's deadline, and what is found late is not told."""


class KeptLore:
    """The entries of a world that are told by their own rules."""

    def __init__(self, lore: Iterable[LoreEntry]) -> None:
        self.entries = [entry for entry in lore if entry.rule is not None and entry.rule.mode == KEEP]
        self._keys = {entry.name: _Keys(_rule(entry)) for entry in self.entries}
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
        return _Firing(self._keys, moment, self.entries).run()


def _rule(entry: LoreEntry) -> LoreRule:
    assert entry.rule is not None
    return entry.rule


@define
class _Firing:
    """One moment."""

    keys: Mapping[str, _Keys]
    moment: KeptMoment
    entries: Sequence[LoreEntry]
    found: dict[str, Kept] = field(factory=dict)
    out: set[str] = field(factory=set)
    """Entries that are not told at this turn, whatever comes."""
    said: list[str] = field(factory=list)
    """What entries that were told say, for others to look at."""
    used: int = 0
    full: bool = False
    _texts: dict[tuple[int, bool, bool], str] = field(factory=dict)

    def run(self) -> list[Kept]:
        able = [entry for entry in self.entries if self._able(entry)]
        self._round([entry for entry in able if not _rule(entry).recursion_level], 0)
        levels = sorted({_rule(entry).recursion_level for entry in able} - {0})
        level = levels.pop(0) if levels else 0
        news = bool(self.said)
        for _ in range(_ROUNDS):
            if not news and not level:
                break
            self._texts.clear()
            within = [
                entry for entry in able if _rule(entry).recursion_level <= level and not _rule(entry).no_recursion_into
            ]
            before = len(self.said)
            self._round(within, 1)
            news = len(self.said) > before
            if not news:
                if not levels:
                    break
                level = levels.pop(0)
        return sorted(self.found.values(), key=lambda kept: (_rule(kept.entry).order, kept.entry.name))

    # -- who may be told -----------------------------------------------------------------------------------------

    def _able(self, entry: LoreEntry) -> bool:
        rule, moment = _rule(entry), self.moment
        if not rule.enabled or moment.count < rule.delay or moment.replies < rule.only_after:
            return False
        if rule.only_every and (moment.replies + 1) % rule.only_every:
            return False
        if rule.triggers and not moment.triggers & set(rule.triggers):
            return False
        named = {name.casefold() for name in rule.only_characters}
        if named and not named & moment.characters:
            return False
        if {name.casefold() for name in rule.not_characters} & moment.characters:
            return False
        last = moment.told.get(entry.name)
        if last is None:
            return True
        if rule.not_after_match:
            return False
        since = moment.count - last
        return not (rule.cooldown and rule.sticky <= since < rule.sticky + rule.cooldown)

    def _standing(self, entry: LoreEntry) -> str:
        """Why an entry is told whatever its keys say; empty when its keys decide."""
        rule, last = _rule(entry), self.moment.told.get(entry.name)
        if last is not None and self.moment.count - last < rule.sticky:
            return "sticky"
        if last is not None and rule.keep_after_match:
            return "kept"
        return "constant" if entry.constant else ""

    # -- one round -----------------------------------------------------------------------------------------------

    def _round(self, entries: Sequence[LoreEntry], number: int) -> None:
        hits: dict[str, int] = {}
        new: list[tuple[LoreEntry, str]] = []
        for entry in entries:
            if entry.name in self.found or entry.name in self.out:
                continue
            why = self._standing(entry)
            hits[entry.name] = self._hits(entry, number > 0)
            if not why and hits[entry.name]:
                why = "key"
            if why:
                new.append((entry, why))
        whys = {entry.name: why for entry, why in new}
        chosen = self._out_of_groups([entry for entry, _ in new], whys, hits)
        told = []
        for entry in sorted(chosen, key=_rank):
            why = whys[entry.name]
            chance = draw(self.moment.seed, f"chance:{entry.name}", 100)
            if why not in ("sticky", "kept") and chance >= _rule(entry).probability:
                self.out.add(entry.name)
                continue
            if not self._fits(entry):
                continue
            self.found[entry.name] = Kept(entry, why)
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

    def _hits(self, entry: LoreEntry, recursing: bool) -> int:
        """How many of the keys stand in the texts that the entry looks at; 0 when the logic is not content."""
        keys, rule = self.keys[entry.name], _rule(entry)
        depth = SCAN if rule.scan_depth is None else rule.scan_depth
        text = self._text(depth, keys.case, recursing)
        if not text or _count(keys.excluded, text):
            return 0
        first = _count(keys.first, text)
        if not first or not rule.second_keys:
            return first
        second, all_of = _count(keys.second, text), len(rule.second_keys)
        content = {
            "and_any": second > 0,
            "not_all": second < all_of,
            "not_any": second == 0,
            "and_all": second == all_of,
        }[rule.logic]
        return first + second if content else 0

    def _text(self, depth: int, case: bool, recursing: bool) -> str:
        found = self._texts.get((depth, case, recursing))
        if found is None:
            parts = [text[:READ] for text in self.moment.messages[:depth]]
            parts += self.said if recursing else []
            found = "\n".join(parts)
            found = found if case else found.lower()
            self._texts[depth, case, recursing] = found
        return found

    # -- groups --------------------------------------------------------------------------------------------------

    def _out_of_groups(
        self, entries: list[LoreEntry], whys: Mapping[str, str], hits: Mapping[str, int]
    ) -> list[LoreEntry]:
        """One entry of each group; an entry of several groups has to be the one of all of them."""
        left = {entry.name: entry for entry in entries}
        groups: dict[str, list[LoreEntry]] = {}
        for entry in entries:
            for name in dict.fromkeys(_rule(entry).groups):
                groups.setdefault(name, []).append(entry)
        taken = {name for kept in self.found.values() for name in _rule(kept.entry).groups} if groups else set()
        for group in sorted(groups):
            members = [entry for entry in groups[group] if entry.name in left]
            if not members:
                continue
            winner = None if group in taken else self._winner(group, members, whys, hits)
            for entry in members:
                if winner is None or entry.name != winner.name:
                    del left[entry.name]
                    self.out.add(entry.name)
        return list(left.values())

    def _winner(
        self, group: str, members: list[LoreEntry], whys: Mapping[str, str], hits: Mapping[str, int]
    ) -> LoreEntry:
        sticky = [entry for entry in members if whys[entry.name] == "sticky"]
        members = sticky or members
        scored = [entry for entry in members if _rule(entry).group_scoring]
        if scored:
            best = max(hits[entry.name] for entry in members)
            members = [each for each in members if not _rule(each).group_scoring or hits[each.name] == best]
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


def _rank(entry: LoreEntry) -> tuple[int, int, str]:
    """In what order entries take room: by priority, by order, the highest first."""
    rule = _rule(entry)
    return -(1 if rule.priority is None else rule.priority), -rule.order, entry.name


def _count(searches: Sequence[KeySearch | None], text: str) -> int:
    return sum(search is not None and search(text) for search in searches)

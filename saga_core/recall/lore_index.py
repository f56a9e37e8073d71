"""LoreIndex: a world's lore prepared for recall. Built once per world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from saga_core.ids import entity_id
from saga_core.language import fold_name
from saga_core.recall.kept_lore import KeptLore
from saga_core.recall.mentions import NameIndex, Passage
from saga_core.world import KEEP, LoreEntry, is_pattern

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
        self.kept = KeptLore(self.entries.values())
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

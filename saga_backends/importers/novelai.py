"""Lorebooks of NovelAI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saga_backends.importers.lore import ANY, PLACE, entries_of, first_entry_has, item_of, key_texts, keys_of, order_of
from saga_core.imports import (
    KEPT,
    OWN_EDITOR,
    OWN_TOOL,
    Fit,
    ForeignFile,
    Lorebook,
    Record,
    dropped,
    fates,
    mapped,
)
from saga_core.world import LoreRule

ENTRY = fates(
    (OWN_EDITOR, "id lastUpdatedAt"),
    (KEPT, "text displayName keys enabled forceActivation"),
    (dropped("it counts letters of a text; SAGA looks through messages"), "searchRange"),
    (PLACE, "keyRelative"),
    (mapped("entries open one another in mode keep"), "nonStoryActivatable"),
    (mapped("a note"), "category"),
    (dropped("SAGA does not change the model's odds of words"), "loreBiasGroups"),
    (mapped("budgetPriority is the order; the other fields place the text, which SAGA does itself"), "contextConfig"),
)


class NovelAi:
    """Reads ``.lorebook`` files."""

    kinds: Mapping[str, str] = {"novelai_lorebook": "a lorebook of NovelAI"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        if {"lorebookVersion", "entries"} <= file.fields.keys():
            return Fit.DECLARED
        return Fit.LIKELY if first_entry_has(file.fields, "text", "displayName") else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        losses, items = file.losses, []
        for entry in entries_of(file.fields, losses):
            entry.account(ENTRY)
            rule = LoreRule(
                keys=keys_of(key_texts(entry, "keys")),
                enabled=entry.flag("enabled") is not False,
                order=order_of(entry.inner("contextConfig").whole("budgetPriority", least=ANY)),
            )
            constant = bool(entry.flag("forceActivation"))
            items.append(item_of(entry, entry.text("displayName"), entry.text("text"), constant, rule))
        for name, fate in (("categories", OWN_EDITOR), ("settings", OWN_TOOL)):
            if file.fields.get(name):
                losses.add(name, "dropped", fate.why)
        return [("novelai_lorebook", Lorebook(items=tuple(items)))]


IMPORTER = NovelAi()

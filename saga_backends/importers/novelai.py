"""Lorebooks of NovelAI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saga_backends.importers.lore import ANY, PLACE, entries_of, first_entry_has, item_of, key_texts, keys_of, order_of
from saga_core.imports import (
    KEPT,
    OWN_EDITOR,
    OWN_TOOL,
    Fate,
    Fields,
    Fit,
    ForeignFile,
    Lorebook,
    Record,
    dropped,
    mapped,
)
from saga_core.world import LoreRule

ENTRY: dict[str, Fate] = {
    "id": OWN_EDITOR,
    "text": KEPT,
    "displayName": KEPT,
    "keys": KEPT,
    "searchRange": dropped("it counts letters of a text; SAGA looks through messages"),
    "enabled": KEPT,
    "forceActivation": KEPT,
    "keyRelative": PLACE,
    "nonStoryActivatable": mapped("entries open one another in mode keep"),
    "category": mapped("a note"),
    "loreBiasGroups": dropped("SAGA does not change the model's odds of words"),
    "contextConfig": mapped("budgetPriority is the order; the other fields place the text, which SAGA does itself"),
    "lastUpdatedAt": OWN_EDITOR,
}


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
        for where, each in entries_of(file.fields, losses):
            entry = Fields(each, losses, where)
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

"""SillyTavern and character cards: an importer, and writers of the same formats."""

from __future__ import annotations

from saga_backends.importers.tavern.writing import card_of, chat_of, lorebook_of

__all__ = ["card_of", "chat_of", "lorebook_of"]

"""A scripted game master without a model, for the demo and for tests."""

from saga_backends.chat.offline.narrator import BACKEND, MODEL, OfflineNarrator

__all__ = ["BACKEND", "MODEL", "OfflineNarrator"]

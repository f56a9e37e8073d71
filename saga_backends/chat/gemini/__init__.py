"""Google's Gemini API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_backends.chat.gemini.client import BACKEND, GeminiChat

__all__ = ["BACKEND", "GeminiChat"]

__getattr__ = lazy_face(
    {"BACKEND": "saga_backends.chat.gemini.client:BACKEND", "GeminiChat": "saga_backends.chat.gemini.client:GeminiChat"}
)

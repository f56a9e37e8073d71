"""The OpenAI API and servers that are compatible with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_backends.chat.openai.client import BACKEND, OpenAIChat, dialect_at

__all__ = ["BACKEND", "OpenAIChat", "dialect_at"]

__getattr__ = lazy_face(
    {
        "BACKEND": "saga_backends.chat.openai.client:BACKEND",
        "OpenAIChat": "saga_backends.chat.openai.client:OpenAIChat",
        "dialect_at": "saga_backends.chat.openai.client:dialect_at",
    }
)

"""Anthropic's Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_backends.chat.anthropic.client import BACKEND, AnthropicChat

__all__ = ["BACKEND", "AnthropicChat"]

__getattr__ = lazy_face(
    {
        "BACKEND": "saga_backends.chat.anthropic.client:BACKEND",
        "AnthropicChat": "saga_backends.chat.anthropic.client:AnthropicChat",
    }
)

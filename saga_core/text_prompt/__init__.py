"""Prompts that are one text: splits the text into messages, and joins them again byte for byte."""

from __future__ import annotations

from saga_core.text_prompt.reading import TextPrompt, read_prompt, write_prompt
from saga_core.text_prompt.templates import TOKENS

"""World files in Japanese: keys and types are written in English."""

from __future__ import annotations

from saga_core.language.world import WorldWords

WORLD = WorldWords()

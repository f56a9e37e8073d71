"""The state block: the fenced block in which the narrator reports what a reply changed.

``BlockFilter`` and ``hide`` remove it from the text for the player, ``read_reply`` and ``parse_block`` read it, and
``instruction`` asks the narrator for it. The grammar is in ``fences``.
"""

from __future__ import annotations

from saga_core.state_block.fences import THINK_END, RawBlock
from saga_core.state_block.fields import (
    FIELDS,
    BlockFields,
    CountReport,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
)
from saga_core.state_block.filter import SCANNED, BlockFilter, Hidden, hide, note_hidden, unscanned, without_echoes
from saga_core.state_block.instructions import block_form, instruction
from saga_core.state_block.merging import merged
from saga_core.state_block.parser import (
    UNFENCED,
    BlockStatus,
    StateReading,
    parse_block,
    read_ended,
    read_hidden,
    read_reply,
    says_nothing,
    unknown_field,
)
from saga_core.state_block.prose import prose_of
from saga_core.state_block.thoughts import BehindThoughts, thinks_only, without_thoughts
from saga_core.state_block.values import names_nobody, tells_little

__all__ = [
    "FIELDS",
    "SCANNED",
    "THINK_END",
    "UNFENCED",
    "BehindThoughts",
    "BlockFields",
    "BlockFilter",
    "BlockStatus",
    "CountReport",
    "Hidden",
    "ItemAmount",
    "ItemTransfer",
    "RawBlock",
    "RelationChange",
    "StateReading",
    "StatusChange",
    "block_form",
    "hide",
    "instruction",
    "merged",
    "names_nobody",
    "note_hidden",
    "parse_block",
    "prose_of",
    "read_ended",
    "read_hidden",
    "read_reply",
    "says_nothing",
    "tells_little",
    "thinks_only",
    "unknown_field",
    "unscanned",
    "without_echoes",
    "without_thoughts",
]

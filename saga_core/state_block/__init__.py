"""The state block: the fenced block in which the narrator states what a reply changed.

``BlockFilter`` and ``hide`` keep it from the player, ``read_reply`` and ``parse_block`` read it,
``instruction`` asks for it and ``render_block`` writes it. ``syntax`` says what opens and closes one.
"""

from saga_core.state_block.fields import BlockFields, ItemAmount, ItemTransfer, RelationChange, StatusChange
from saga_core.state_block.filter import BlockFilter, Hidden, RawBlock, hide
from saga_core.state_block.instruction import instruction, render_block
from saga_core.state_block.parser import (
    BlockStatus,
    ParsedBlock,
    StateReading,
    parse_block,
    read_hidden,
    read_reply,
)
from saga_core.state_block.thoughts import without_thoughts

__all__ = [
    "BlockFields",
    "BlockFilter",
    "BlockStatus",
    "Hidden",
    "ItemAmount",
    "ItemTransfer",
    "ParsedBlock",
    "RawBlock",
    "RelationChange",
    "StateReading",
    "StatusChange",
    "hide",
    "instruction",
    "parse_block",
    "read_hidden",
    "read_reply",
    "render_block",
    "without_thoughts",
]

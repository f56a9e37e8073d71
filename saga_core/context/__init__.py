"""Context: builds the block of text about the current scene from parallel sources, with a deadline and a token budget.

```python
reader = default_reader(config, counter, clock=clock, vectors=vectors, embedder=embedder)
context = await reader.read(ReadRequest(session=..., state=..., world=..., lore=..., player_words=...))
block.lead = context.text
```
"""

from __future__ import annotations

from saga_core.context.model import (
    Ignorance,
    OtherStory,
    Piece,
    ReadRequest,
    Section,
    Slot,
    TurnContext,
    as_note,
    as_prose,
    in_window,
    lines_of,
)
from saga_core.context.reader import (
    USEFUL_HOPS,
    ContextReader,
    RecentContexts,
    default_reader,
    explain_context,
    own_sources,
)
from saga_core.context.recollection import Recollection
from saga_core.context.scene import Scene, answers_at_once, resident_read
from saga_core.context.source import NOTHING_GIVEN, ContextSource, Given, open_plugin_source, plugin_source
from saga_core.context.sources import Connections, Lorebook, Memories

__all__ = [
    "NOTHING_GIVEN",
    "USEFUL_HOPS",
    "Connections",
    "ContextReader",
    "ContextSource",
    "Given",
    "Ignorance",
    "Lorebook",
    "Memories",
    "OtherStory",
    "Piece",
    "ReadRequest",
    "RecentContexts",
    "Recollection",
    "Scene",
    "Section",
    "Slot",
    "TurnContext",
    "answers_at_once",
    "as_note",
    "as_prose",
    "default_reader",
    "explain_context",
    "in_window",
    "lines_of",
    "open_plugin_source",
    "own_sources",
    "plugin_source",
    "resident_read",
]

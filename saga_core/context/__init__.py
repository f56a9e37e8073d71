"""Context: what the prompt is told about now. Sources in parallel, a deadline, a budget, one block of text.

```python
reader = default_reader(config, counter, clock=clock, vectors=vectors, embedder=embedder)
context = await reader.read(ReadRequest(session=..., state=..., world=..., lore=..., player_words=...))
block.lead = context.text
```
"""

from __future__ import annotations

from saga_core.context.model import Piece, ReadRequest, Section, Slot, TurnContext
from saga_core.context.reader import ContextReader, default_reader
from saga_core.context.scene import Scene
from saga_core.context.sources import ContextSource, Given

__all__ = [
    "ContextReader",
    "ContextSource",
    "Given",
    "Piece",
    "ReadRequest",
    "Scene",
    "Section",
    "Slot",
    "TurnContext",
    "default_reader",
]

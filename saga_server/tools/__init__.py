"""Memory as tools for models: which endpoints they are, their schemas, and the forms that hosts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.tools.catalog import SESSION, Call, Risk, Tool, offered
    from saga_server.tools.manuals import FORMATS, manual
    from saga_server.tools.narration import NARRATOR_TOOLS
    from saga_server.tools.over_mcp import MOST_BYTES, SECONDS, mcp_server, serve_stdio

# Imported on first use: the door is loaded at the start, and needs none of it; some needs the extra ``mcp``.
__getattr__ = lazy_face(__name__)

"""Memory as tools for models: which endpoints they are, their schemas, and the forms that hosts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.tools.catalog import Call, Risk, offered
    from saga_server.tools.manuals import FORMATS, manual
    from saga_server.tools.narration import NARRATOR_TOOLS
    from saga_server.tools.over_mcp import mcp_server, serve_stdio

__all__ = [
    "FORMATS",
    "NARRATOR_TOOLS",
    "Call",
    "Risk",
    "manual",
    "mcp_server",
    "offered",
    "serve_stdio",
]

# Imported on first use: the door is loaded at the start, and needs none of it; some needs the extra ``mcp``.
__getattr__ = lazy_face(
    {
        **{name: f"{__name__}.catalog:{name}" for name in ("Call", "Risk", "offered")},
        **{name: f"{__name__}.manuals:{name}" for name in ("FORMATS", "manual")},
        "NARRATOR_TOOLS": f"{__name__}.narration:NARRATOR_TOOLS",
        **{name: f"{__name__}.over_mcp:{name}" for name in ("mcp_server", "serve_stdio")},
    }
)

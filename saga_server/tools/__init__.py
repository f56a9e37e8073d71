"""Memory as tools for models: which endpoints they are, their schemas, and the forms that hosts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face
from saga_server.tools.catalog import Call, Risk, offered
from saga_server.tools.manuals import FORMATS, manual

if TYPE_CHECKING:
    from saga_server.tools.over_mcp import mcp_server, serve_stdio

__all__ = ["FORMATS", "Call", "Risk", "manual", "mcp_server", "offered", "serve_stdio"]

# What needs the extra ``mcp`` is imported on first use.
__getattr__ = lazy_face({name: f"{__name__}.over_mcp:{name}" for name in ("mcp_server", "serve_stdio")})

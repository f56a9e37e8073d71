from __future__ import annotations

from tests.server.conftest import client, serve, upstream

__all__ = ["client", "serve", "upstream"]

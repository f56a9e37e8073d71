"""The settings and providers that requests are served with now. A reload replaces them."""

from __future__ import annotations

from attrs import define

from saga_core.config import Config
from saga_server.providers import Narrators


@define(eq=False)
class Current:
    """The settings and providers in force, and whether the server is stopping."""

    config: Config
    narrators: Narrators
    stopping: bool = False
    """Whether the server is shutting down."""

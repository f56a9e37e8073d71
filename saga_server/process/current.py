"""The settings and the providers that hold now: what a request is served by. Reading settings again replaces them."""

from __future__ import annotations

from attrs import define

from saga_core.config import Config
from saga_server.providers import Narrators


@define(eq=False)
class Current:
    """What holds now."""

    config: Config
    narrators: Narrators
    stopping: bool = False
    """Whether the server is shutting down."""

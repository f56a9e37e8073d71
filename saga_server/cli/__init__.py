"""The command line: ``saga`` and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.cli.saga_command import main

__all__ = [
    "main",
]

# Names are imported on first use, so that each command imports only what it needs.
__getattr__ = lazy_face(
    {
        "main": "saga_server.cli.saga_command:main",
    }
)
